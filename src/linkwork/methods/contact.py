"""Mechanisms and bodies that touch: time stepping with contact, by the direct solver or by sequential impulses."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compile.compiler import Compiled
from ..compile.reach import enlarged, new_reach
from ..engine.contact.detect import enlarge_detection, make_detection
from ..engine.kernels.record import named
from ..engine.solvers.patch_basis import make_subspace
from ..engine.steppers.contact import NO_PAIRS, NO_POOL, Contact
from ..engine.steppers.impulse import FULL
from ..engine.steppers.touch_log import EVENT, REPORT
from ..model.rotation import Array, vector
from ..observe.observer import ContactObserver
from .base import Method
from .capabilities import WITH_CONTACT
from .impulse import ImpulseMethod
from .options import RowOptions
from .rows import Start, embedded_rows, unembedded_rows
from .touching import Touch, TouchArrays, TouchEvent, touch_arrays

_EVENTS = 8192  # that wait to be read
_KEPT_EVENTS = 100_000  # that are remembered: a live session has no end
_NEAR = 10.0  # times the slop: shapes nearer than this are looked at even if nothing moves
DEFAULT_ERP, DEFAULT_SLOP = 0.8, 1e-5
TOLERANCE, SWEPT = 1e-6, 0.1
"""Residual at which the direct solver is done with a step, over its length [m/s²], and the same for islands too large
to be solved at once."""

SUNK = 0.1
"""Share of the thinner one's thickness from which on a penetration is told."""


class ContactMethod(ImpulseMethod):
    """Contact in generalized (`simgc`) or maximal coordinates (`simmc`); semi-implicit Euler.

    The solver "direct" eliminates rows and solves contact to a residual of `residual` [m/s²] times the step;
    "impulses" iterates all rows until no impulse changes by more than `epsilon` [N s].
    """

    observer: ContactObserver
    circumstances = (WITH_CONTACT,)
    _contact: Contact

    def __init__(self, compiled: Compiled, options: RowOptions, dt: float):
        self.name, self.solver = options.method, options.solver
        self._slop, self._sleep = options.slop or DEFAULT_SLOP, options.sleep
        start, direct = Start(compiled, self.name == "simmc"), self.solver == "direct"
        asked = getattr(options, "residual", None)
        self._residual = (TOLERANCE, SWEPT) if asked is None else (asked, asked)
        small, swept = self._residual if direct else (0.0, 0.0)
        assert start.system.colliders is not None
        self.colliders = start.system.colliders
        self._report = REPORT + 3 * len(self.colliders.owners)
        self._contact = Contact(
            self.colliders.colliders, None, None, None, None,
            named(np.zeros(_EVENTS, EVENT)), np.zeros((0, 2), np.int64),
        )  # fmt: skip
        self._set_up(
            compiled, start, options, dt, tolerance=small * dt, swept=swept * dt, eliminate=direct, slop=self._slop,
            near=_NEAR * self._slop, sleep=self._sleep or 0.0,
        )  # fmt: skip

    def _new_observer(self, start: Start) -> ContactObserver:
        return ContactObserver(start.system, self.scratch)

    def _prepare(self, start: Start) -> None:
        self._redundant = start.dependence.names
        without = set(self._redundant)
        planned = embedded_rows(self.system, without, ()) if self._options.eliminate else None
        self._rows, work, plan = planned or unembedded_rows(self.system, without)
        reach = new_reach(self._tables, self._rows.constraints, plan, len(self.colliders.colliders.shapes))
        self._contact = self._contact._replace(work=work, reach=reach, space=make_subspace(len(plan.order)))

    def _begin(self) -> None:
        super()._begin()
        self._contact = self._contact._replace(found=make_detection(self.colliders.colliders))
        self.disturb()
        self.events: list[TouchEvent] = []

    def _make_way(self, status: int) -> bool:
        self._read_events()
        contact = self._contact
        if status == NO_PAIRS:
            pairs = 2 * int(contact.found.counts[0]["wanted_pairs"])
            self._contact = contact._replace(found=enlarge_detection(contact.colliders, contact.found, pairs))
        elif status == NO_POOL:
            self._contact = contact._replace(reach=enlarged(contact.reach))
        return status in (NO_PAIRS, NO_POOL, FULL)

    def _read_events(self) -> None:
        """Take over the events that wait."""
        waiting = int(self._counted["waiting"][0])
        if not waiting:  # nearly always: attributes of records take a microsecond each
            return
        owners, mounts = self.colliders.owners, self.colliders.colliders.mounts
        for event in self._contact.events[:waiting]:
            a, b = (owners[mounts["owner"][event[k]]] for k in ("i", "j"))
            self.events.append(TouchEvent(float(event["time"]), a, b, bool(event["began"])))
        self._counted["waiting"] = 0
        del self.events[:-_KEPT_EVENTS]

    def touches(self) -> list[Touch]:
        found, owners = self._contact.found, self.colliders.owners
        side, mounts, h = int(found.counts[0]["side"]), self.colliders.colliders.mounts, self._dt
        made = []
        for patch in found.patches[side, : found.counts[0]["patches"]]:
            a, b = (owners[mounts["owner"][patch[k]]] for k in ("i", "j"))
            for point in found.points[side, patch["first"] : patch["first"] + patch["count"]]:
                if point["p"][0] <= 0.0:
                    continue
                along = (point["p"][1] * point["t"] + point["p"][2] * point["s"]) / h
                made.append(
                    Touch(
                        a, b, vector(point["x"]), vector(point["n"]), float(point["gap"]),
                        float(point["p"][0]) / h, vector(along), bool(point["slides"]),
                    )
                )  # fmt: skip
        return made

    def measure_pair(self, a: str, b: str) -> None:
        pairs = self.observer.with_pair(a, b)
        owners = list(self.colliders.owners)
        numbers = np.array([(owners.index(x), owners.index(y)) for x, y in pairs], np.int64)
        self._contact = self._contact._replace(pairs=numbers)
        self._report, self._only = REPORT + 3 * (len(owners) + len(pairs)), None
        self.observer.set_pairs(pairs)

    def touch_arrays(self) -> TouchArrays:
        return touch_arrays(self._contact.found, self._dt)

    def change_step(self, dt: float) -> None:
        ratio = dt / self._dt  # the forces go on, so the impulses scale
        self._contact.found.points["p"] *= ratio
        self._options.tolerance *= ratio
        self._options.swept *= ratio
        super().change_step(dt)

    def disturb(self) -> None:
        self._contact.reach.clusters["still"] = 0.0  # wakes everything

    def take_over(self, other: Method) -> None:
        super().take_over(other)
        if isinstance(other, ContactMethod):
            if self.colliders.labels == other.colliders.labels:
                theirs = other._contact.found
                found = enlarge_detection(self.colliders.colliders, theirs, theirs.patches.shape[1])
                self._contact = self._contact._replace(found=found)
            for a, b in other.observer.pairs:
                if {a, b} <= set(self.colliders.owners):
                    self.measure_pair(a, b)
            self.events = other.events

    def memory(self) -> dict[str, Array]:
        found, reach = self._contact.found, self._contact.reach
        return {
            **super().memory(),
            "patches": found.patches,
            "points": found.points,
            "contact_counts": found.counts,
            "still": reach.clusters["still"],
        }

    def make_room(self, data: dict[str, Array]) -> None:
        super().make_room(data)
        pairs = data["patches"].shape[1]
        if pairs != self._contact.found.patches.shape[1]:
            found = make_detection(self.colliders.colliders, pairs)
            self._contact = self._contact._replace(found=found)

    def info(self) -> dict[str, Any]:
        said = {**super().info(), "slop": self._slop, "sleep": self._sleep}
        if self._options.eliminate:
            del said["epsilon"]
            said["residual"], said["residual_of_large_islands"] = self._residual
        return said

    def report(self) -> dict[str, Any]:
        """The last step: as without contact, and how many contacts there are, the deepest penetration [m] and what is
        left of the equations of contact [m/s]."""
        s = self._stats
        return {
            **super().report(),
            "contacts": int(s.contacts),
            "depth": float(s.last_depth),
            "residual": float(s.last_residual),
        }

    def outcome(self) -> dict[str, Any]:
        return {
            **super().outcome(),
            "deepest_m": float(self._stats.deepest),
            "redundant_rows": list(self._redundant),
            "contact_events": [event._asdict() for event in self.events],
        }

    def warnings(self) -> list[str]:
        found, lost = super().warnings(), int(self._stats.events_lost)
        if lost:
            found.append(f"{lost} beginnings and ends of contact were too many to list")
        counts = self._contact.found.counts[0]
        share = 0.5 * counts["sunk"]  # of the thickness, of which it counts halves
        if share > SUNK:
            a, b = (self.colliders.labels[counts[k]] for k in ("sunk_i", "sunk_j"))
            meaning = "they may pass through each other" if share > 0.5 else "the motion is not to be trusted"
            found.append(
                f"'{a}' and '{b}' got {counts['sunk_depth']:.2g} m into each other, {share:.0%} of what the"
                f" thinner one measures: {meaning}; take a smaller step (dt)"
            )
        return found

    def _unsettled(self) -> str:
        return f"a residual of up to {self._stats.residual:.2g} m/s was left"
