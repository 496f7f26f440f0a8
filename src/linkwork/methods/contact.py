"""Mechanisms and bodies that touch: time stepping with contact, by the direct solver or by sequential impulses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..compile.compiler import Compiled
from ..compile.constrain import RowTable
from ..compile.order import new_work, touched
from ..engine.contact.detect import PATCHES, SIDE, WANTED_PAIRS, enlarge_detection, make_detection
from ..engine.kernels.clock import cycles_per_second
from ..engine.solvers import layout
from ..engine.solvers.subspace import make_subspace
from ..engine.solvers.touch import CLUSTER, Reach
from ..engine.steppers import contact
from ..engine.steppers.samples import Samples
from ..engine.steppers.state import new_state
from ..engine.tables import Constraints, Tables
from ..model import Model
from ..model.rotation import Array
from ..observe.observer import Block, ContactObserver
from .base import NO_BUDGET, Method
from .capabilities import WITH_CONTACT
from .rows import Start, carry, ordered_rows, settle
from .switching import RowMethod
from .touching import TouchArrays, touch_arrays

_EVENTS = 8192  # that wait to be read
_KEPT_EVENTS = 100_000  # that are remembered: a live session has no end
_NEAR = 10.0  # times the slop: shapes nearer than this are looked at even if nothing moves
DEFAULT_ERP, DEFAULT_SLOP = 0.8, 1e-5
TOLERANCE = 1e-6
"""Change of an acceleration at which the direct solver's iterations end [m/s² or rad/s²]; a thousand times that after
eight of them, for what is still changing then hardly matters to the motion."""


class Touch(NamedTuple):
    """A point where two things touch now."""

    a: str
    b: str
    point: tuple[float, float, float]
    """In the world [m]."""
    normal: tuple[float, float, float]
    """From a to b."""
    distance: float
    """Negative in a penetration [m]."""
    force: float
    """That pushes them apart, mean of the last step [N]."""
    friction: tuple[float, float, float]
    """Of a on b, mean of the last step [N]."""
    slides: bool
    """Whether friction is at its bound."""


class TouchEvent(NamedTuple):
    """Two things began (`began`) or ceased to push each other."""

    time: float
    a: str
    b: str
    began: bool


class ContactMethod(RowMethod):
    """Contact in generalized (`simgc`) or maximal coordinates (`simmc`); semi-implicit Euler.

    `solver` "direct" eliminates rows and iterates contact until accelerations change by less than 1e-6 m/s²;
    "impulses" iterates all rows until no impulse changes by more than `epsilon` [N s]. `slop`: penetration that is
    left alone [m]; `erp`: share of what is beyond it, and of gaps, that is removed in a step; `sleep`: islands that
    have been at rest for so long [s] are left alone until something touches them.
    """

    observer: ContactObserver
    circumstances = (WITH_CONTACT,)

    def __init__(
        self,
        model: Model | Compiled,
        name: str,
        solver: str,
        dt: float,
        epsilon: float,
        iterations: int,
        budget: float | None,
        erp: float,
        slop: float,
        sleep: float | None,
    ):
        self.name, self.solver, self._dt = name, solver, dt
        compiled = Compiled.of(model)
        start = Start(compiled, name == "simmc")
        assert start.system.colliders is not None
        self.colliders = start.system.colliders
        self._begin_scratch(compiled, start)
        self.observer = ContactObserver(start.system, self.scratch)
        self._report = contact.REPORT + 3 * len(self.colliders.owners)
        self._open(start)
        self._space = make_subspace(self.system.nv)
        ticks = NO_BUDGET if budget is None else budget * cycles_per_second()
        direct = solver == "direct"
        self._options = np.zeros(contact.OPTIONS)
        self._options[contact.ERP] = erp
        self._options[contact.TOLERANCE] = TOLERANCE * dt if direct else 0.0
        self._options[contact.EPSILON] = 0.0 if direct else epsilon
        self._options[contact.LIMIT_SWEEPS] = iterations
        self._options[contact.BUDGET] = ticks
        self._options[contact.ELIMINATE] = float(direct)
        self._options[contact.SLOP] = slop
        self._options[contact.NEAR] = _NEAR * slop
        self._options[contact.SLEEP] = sleep or 0.0
        self._settings: dict[str, Any] = {
            "iterations": iterations, "budget": budget, "erp": erp, "slop": slop, "sleep": sleep,
        }  # fmt: skip
        if not direct:
            self._settings["epsilon"] = epsilon
        self._events = np.zeros((_EVENTS, 4))
        self.reset()

    def _prepare(self, start: Start) -> None:
        self._start, self.system = start, start.system
        self._redundant = start.dependence.names
        self._rows = ordered_rows(self.system, set(self._redundant))
        self._work = new_work(self._tables, self._rows.constraints)
        self._reach = _new_reach(
            self._tables, self._rows.constraints, self._work, len(self.colliders.colliders.shapes)
        )

    def _fill(self) -> None:
        self._constraints = self._rows.fresh()

    def _marks(self) -> list[tuple[int, RowTable]]:
        return [(contact.GAP_ROW, self._rows), (contact.LAST_ROW, self._rows)]

    def reset(self) -> None:
        self._rewind()
        self.state = new_state(self._start.q, self._start.v, self._dt)
        self._mean = np.full(self.system.nv, np.nan)
        self._stats = np.zeros(contact.STATS)
        self._stats[[contact.GAP_ROW, contact.LAST_ROW]] = -1.0
        self._fill()
        self._found = make_detection(self.colliders.colliders)
        self.disturb()
        self._event_count = np.zeros(1, np.int64)
        self.events: list[TouchEvent] = []
        settle(self._tables, self._constraints, self._start.q)

    def advance(self, targets: Sequence[float]) -> tuple[int, int, Block]:
        steps = np.array(targets, np.int64)
        out = self._room(len(targets))
        done = 0
        while True:
            more, status = contact.run_contact(
                self._tables, self._constraints, self.colliders.colliders, self._work, self._found, self._reach,
                self._space, self.state, self._mean, self._stats, self._events, self._event_count,
                self._dt, self._options, steps[done:], Samples(*(part[done:] for part in out)),
            )  # fmt: skip
            done += more
            self._drain()
            if status == contact.NO_PAIRS:
                pairs = 2 * int(self._found.counts[WANTED_PAIRS])
                self._found = enlarge_detection(self.colliders.colliders, self._found, pairs)
            elif status == contact.NO_POOL:
                self._reach = _enlarged(self._reach)
            elif status != contact.FULL:
                return done, status, self._block(out)

    def _drain(self) -> None:
        owners, mounts = self.colliders.owners, self.colliders.colliders.mounts
        for t, i, j, sign in self._events[: self._event_count[0]]:
            a, b = (owners[mounts["owner"][int(k)]] for k in (i, j))
            self.events.append(TouchEvent(float(t), a, b, bool(sign > 0.0)))
        self._event_count[0] = 0
        del self.events[:-_KEPT_EVENTS]

    def touches(self) -> list[Touch]:
        found, owners = self._found, self.colliders.owners
        side, mounts, h = int(found.counts[SIDE]), self.colliders.colliders.mounts, self._dt
        made = []
        for patch in found.patches[side, : found.counts[PATCHES]]:
            a, b = (owners[mounts["owner"][patch[k]]] for k in ("i", "j"))
            for point in found.points[side, patch["first"] : patch["first"] + patch["count"]]:
                if point["p"][0] <= 0.0:
                    continue
                along = (point["p"][1] * point["t"] + point["p"][2] * point["s"]) / h
                made.append(
                    Touch(
                        a, b, _three(point["x"]), _three(point["n"]), float(point["gap"]),
                        float(point["p"][0]) / h, _three(along), bool(point["slides"]),
                    )
                )  # fmt: skip
        return made

    def touch_arrays(self) -> TouchArrays:
        return touch_arrays(self)

    def change_step(self, dt: float) -> None:
        ratio = dt / self._dt  # the forces go on, so the impulses scale
        self._constraints.rows["p"] *= ratio
        self._found.points["p"] *= ratio
        self._options[contact.TOLERANCE] *= ratio
        super().change_step(dt)

    def disturb(self) -> None:
        self._reach.still[:] = 0.0  # wakes everything

    def take_over(self, other: Method) -> None:
        super().take_over(other)
        if isinstance(other, ContactMethod):
            self._mean[:] = other._mean
            if self._rows.names == other._rows.names:
                self._stats[:] = other._stats
            carry(self._rows, self._constraints, other._rows, other._constraints)
            if self.colliders.labels == other.colliders.labels:
                self._found = enlarge_detection(
                    self.colliders.colliders, other._found, other._found.patches.shape[1]
                )
            self.events = other.events

    def memory(self) -> dict[str, Array]:
        constraints, found = self._constraints, self._found
        return {
            **super().memory(),
            "impulses": constraints.rows["p"],
            "element_states": constraints.rows["x"],
            "element_memory": constraints.rows["memory"],
            "element_samples": constraints.rows["samples"],
            "mean_accelerations": self._mean,
            "coordinates": constraints.coords["value"],
            "commands": constraints.inputs,
            "stats": self._stats,
            "patches": found.patches,
            "points": found.points,
            "contact_counts": found.counts,
            "still": self._reach.still,
        }

    def make_room(self, data: dict[str, Array]) -> None:
        super().make_room(data)
        pairs = data["patches"].shape[1]
        if pairs != self._found.patches.shape[1]:
            self._found = make_detection(self.colliders.colliders, pairs)

    def info(self) -> dict[str, Any]:
        return {"solver": self.solver, "integrator": "euler", **self._settings}

    def report(self) -> dict[str, Any]:
        """The last step: sweeps, whether it was cut short, largest gap of a joint, contacts, deepest penetration."""
        s = self._stats
        return {
            "iterations": int(s[contact.LAST_SWEEPS]),
            "cut_short": bool(s[contact.LAST_CUT]),
            "gap": float(s[contact.LAST_GAP]),
            "contacts": int(s[contact.CONTACTS]),
            "depth": float(s[contact.LAST_DEPTH]),
        }

    def outcome(self) -> dict[str, Any]:
        s, steps = self._stats, max(int(self.state.clock.taken), 1)
        return {
            **super().outcome(),
            "iterations_mean": float(s[contact.SWEEPS]) / steps,
            "iterations_max": int(s[contact.MOST_SWEEPS]),
            "steps_cut_short": int(s[contact.CUT]),
            "worst_gap_m": float(s[contact.GAP]),
            "worst_row": self._row_name(s[contact.GAP_ROW], self._rows),
            "deepest_m": float(s[contact.DEEPEST]),
            "redundant_rows": list(self._redundant),
            "contact_events": [event._asdict() for event in self.events],
        }

    def warnings(self) -> list[str]:
        s, found = self._stats, list(self._start.notes)
        if s[contact.CUT]:
            limits = f"{self._settings['iterations']} iterations or the time budget"
            found.append(
                f"{int(s[contact.CUT])} steps ended at {limits} before impulses settled; velocities still changed by "
                f"up to {s[contact.RESIDUAL]:.2g} m/s"
            )
        if s[contact.EVENTS_LOST]:
            found.append(
                f"{int(s[contact.EVENTS_LOST])} beginnings and ends of contact were too many to list"
            )
        return found


def _three(x: Any) -> tuple[float, float, float]:
    a, b, c = x
    return float(a), float(b), float(c)


def _new_reach(tables: Tables, constraints: Constraints, work: layout.Work, shapes: int) -> Reach:
    """Lists and pools of the contact solver."""
    n, m, depth = len(tables.dofs) - 1, len(constraints.rows), work.H.shape[1]
    touching = touched(tables, constraints)
    cluster, count = _clusters(tables, touching)
    order = np.argsort(cluster, kind="stable")
    first = np.searchsorted(cluster[order], np.arange(count + 1))
    sizes = np.diff(first)
    row_z = np.zeros((4, m), np.int64)
    row_z[CLUSTER] = [cluster[min(dofs)] if dofs else 0 for dofs in touching]
    pool = 64 + 16 * shapes * min(2 * depth, n)
    rows_pool = int(sum(sizes[row_z[CLUSTER]])) + 1
    return Reach(
        yi=np.zeros(pool, np.int64), Y=np.zeros((pool, 6)),
        zi=np.zeros(pool + n, np.int64), Z=np.zeros((pool + n, 6)), used=np.zeros(3, np.int64),
        slot=np.full(n, -1, np.int64), u=np.zeros((5, n)),
        row_first=np.cumsum([0, *(len(dofs) for dofs in touching)]),
        row_dofs=np.array([d for dofs in touching for d in sorted(dofs)], np.int64),
        rzi=np.zeros(rows_pool, np.int64), RZ=np.zeros(rows_pool), row=np.zeros((8, m)), row_z=row_z,
        cluster=cluster, cluster_first=first, cluster_dofs=order, held=np.zeros(count, np.int64),
        part=np.zeros((2, count), np.int64), order=np.zeros(pool, np.int64), row_order=np.zeros(m, np.int64),
        armature=np.zeros(n + 1), still=np.zeros(count), rest=np.zeros(count),
        restless=_restless(tables, constraints, cluster, row_z[CLUSTER], count),
        starts=np.zeros((2, count + 1), np.int64),
    )  # fmt: skip


def _restless(
    tables: Tables, constraints: Constraints, cluster: Array, of_rows: Array, count: int
) -> np.ndarray:
    """1 for clusters with loads or drives: what is commanded may change at any time."""
    found = np.zeros(count, np.int64)
    for side in ("a", "b"):
        links = tables.loads[side]
        found[cluster[links[links > 0] - 1]] = 1
    found[of_rows[constraints.rows["input"] >= 0]] = 1
    return found


def _clusters(tables: Tables, touching: list[set[int]]) -> tuple[Array, int]:
    """The mechanism that each dof belongs to: what joints or rows hold together; and how many there are."""
    parent = tables.dofs["parent"]
    leader = list(range(len(parent) - 1))

    def find(d: int) -> int:
        while leader[d] != d:
            leader[d] = leader[leader[d]]
            d = leader[d]
        return d

    for d in range(1, len(parent)):
        if parent[d] != 0:
            leader[find(d - 1)] = find(int(parent[d]) - 1)
    for dofs in touching:
        one = min(dofs, default=0)
        for d in dofs:
            leader[find(d)] = find(one)
    roots = [find(d) for d in range(len(leader))]
    number = {root: k for k, root in enumerate(dict.fromkeys(roots))}
    return np.array([number[root] for root in roots], np.int64), len(number)


def _enlarged(reach: Reach) -> Reach:
    """The same with pools of twice the size."""
    yi, zi = 2 * len(reach.yi), 2 * len(reach.zi)
    return reach._replace(
        yi=np.zeros(yi, np.int64), Y=np.zeros((yi, 6)), zi=np.zeros(zi, np.int64), Z=np.zeros((zi, 6)),
        order=np.zeros(yi, np.int64),
    )  # fmt: skip
