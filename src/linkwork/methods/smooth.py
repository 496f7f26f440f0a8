"""Contact in explicit steps of higher order: smooth between events, impulses at them."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from ..compile.compiler import Compiled
from ..compile.constrain import RowTable
from ..control.tape import carry_tape
from ..engine.contact.detect import enlarge_detection, make_detection
from ..engine.elements.respond import read_states
from ..engine.kernels.record import named
from ..engine.solvers.layout import Work
from ..engine.steppers import explicit
from ..engine.steppers.motion import ADAPTIVE
from ..engine.steppers.samples import Samples, new_samples
from ..engine.steppers.state import OK
from ..engine.steppers.touch_log import EVENT, REPORT
from ..engine.steppers.touch_modes import NEAR
from ..engine.steppers.touch_survey import GIVE_UP, NO_PAIRS
from ..engine.steppers.touch_tables import FREE, SLIDES, new_touch
from ..mechanism.dependence import Dependence
from ..model.rotation import Array, vector
from ..observe.observer import SmoothObserver
from . import capabilities
from .base import Method
from .capabilities import RESISTING, SLEEP, SMOOTHLY, SWITCHING
from .components import ComponentMethod
from .contact import DEFAULT_SLOP, TOLERANCE, ContactMethod
from .direct import Direct, DirectMethod
from .features import features, resisting
from .part import Steps
from .rows import Start, carry, coupled_rows
from .sampled import ExplicitMethod
from .touching import Touch, TouchArrays, TouchEvent

if TYPE_CHECKING:
    from ..engine.steppers.motion import Run

_THEIRS = "impulses_"  # names of what the solver of impulses remembers
_EVENTS, _KEPT_EVENTS = 8192, 100_000  # that wait to be read, and that are remembered
_INSTANT = 1e-9  # how long an impact takes, for the solver of impulses [s]
_SHARP = 1e-9  # and what may be left of its equations [m/s]
_STRIKES = 20  # one after the other at one moment
_PARTS = 10  # of a step, each of them by impulses, where events crowd
_SUNK = 10.0  # times the slop: what is deeper than that is got out by impulses


def refuse_unsmooth(way: str, compiled: Compiled, sleep: float | None = None) -> None:
    """Raise if a model with contact has, or is asked for, what steps by impulses alone do."""
    wanted = {RESISTING: resisting(compiled.flat), **features(compiled.flat, [SWITCHING])}
    wanted[SLEEP] = [] if sleep is None else ["`sleep` is given"]
    capabilities.refuse([way, SMOOTHLY], {name: items for name, items in wanted.items() if items})


class SmoothContact(ExplicitMethod):
    """Contact of the integrator's order between events, for a method of explicit steps: to be mixed into it.

    Where something hits, and where events crowd, `_impulses` takes over: a whole method, which is lent the state.
    """

    observer: SmoothObserver
    circumstances = (SMOOTHLY,)
    _run: Run
    _touch: Any

    def _contact(self, compiled: Compiled, options: Direct, dt: float) -> None:
        """What is needed before the model is launched; `options` are those of the steps by impulses."""
        self._slop = options.slop or DEFAULT_SLOP
        self._impulses = ContactMethod(
            compiled, dataclasses.replace(options, integrator="euler", tolerance=None), dt
        )
        self.colliders = self._impulses.colliders
        self._pairs = np.zeros((0, 2), np.int64)
        self._found = make_detection(self.colliders.colliders)

    def _new_observer(self, start: Start) -> SmoothObserver:
        return SmoothObserver(start.compiled, start.system, self.scratch)

    def _prepare(self, start: Start) -> None:
        rows, waiting = len(start.system.row_table.every.names), named(np.zeros(_EVENTS, EVENT))
        self._touch = new_touch(
            self.colliders.colliders, self._found, start.system.tables.dofs, rows, waiting, self._pairs,
            10.0 * self._slop, _SUNK * self._slop,
        )  # fmt: skip
        super()._prepare(start)  # type: ignore[safe-super]  # of the method that it is mixed into

    def _begin(self) -> None:
        super()._begin()  # type: ignore[safe-super]
        self._impulses.reset()
        self.events: list[TouchEvent] = []
        self._strikes, self._struck = 0, -1.0
        state, touch = self._touch.state[0], self._touch
        for name in ("slots", "closed", "events", "waiting", "events_lost", "deepest", "hit", "renew", "bad"):
            state[name] = 0
        touch.slots["mode"] = FREE

    @property
    def _report(self) -> int:  # type: ignore[override]
        return REPORT + 3 * (len(self.colliders.owners) + len(self._pairs))

    def _go_on(self, status: int, wanted: Array) -> int:
        touch, clock = self._touch, self.state.clock
        self._read_events()
        touch.state[0]["bad"] = 0
        if status == NO_PAIRS:
            pairs = 2 * int(touch.found.counts[0]["wanted_pairs"])
            self._found = enlarge_detection(touch.colliders, touch.found, pairs)
            self._touch = touch._replace(found=self._found)
            return explicit.GO_ON
        if status == explicit.HIT:
            if clock.now - self._run.course.left != self._struck:
                self._strikes, self._struck = 0, clock.now - self._run.course.left
            self._strikes += 1
            if self._strikes <= _STRIKES:
                self._strike()
                return explicit.GO_ON
        if status in (GIVE_UP, explicit.HIT):
            self._leap(wanted)
            return explicit.GO_ON
        return super()._go_on(status, wanted)

    def _now(self) -> float:
        """The time of the state, which may be in the midst of a step [s]."""
        course, now = self._run.course, float(self.state.clock.now)
        within = course.integrator != ADAPTIVE and course.left > 0.0
        return now + float(course.step - course.left) if within else now

    def _strike(self) -> None:
        """Impulses at the present moment: forces have no time to act."""
        self._lend(_INSTANT, _SHARP)
        self.state.v[:] = self._impulses.state.v
        self.state.work[:] = self._impulses.state.work

    def _leap(self, wanted: Array) -> None:
        """What is left of the step by impulses, for events crowd."""
        course, clock = self._run.course, self.state.clock
        if course.integrator == ADAPTIVE:
            h = min(self._dt, float(wanted[0]) - float(clock.now)) if len(wanted) else self._dt
        else:
            h = float(course.left) or float(course.step)
        self._lend(h, TOLERANCE * h, _PARTS)
        other = self._impulses
        self._touch.mean[:] = other._mean
        self.state.q[:], self.state.v[:], self.state.work[:] = other.state.q, other.state.v, other.state.work
        mine, theirs = self._constraints.rows, other._constraints.rows
        for i, name in enumerate(self._rows.names):
            if name in other._rows.names:
                k = other._rows.names.index(name)
                for field in ("x", "memory", "samples"):
                    mine[i][field] = theirs[k][field]
        if (told := self._rows.diagram) is not None:
            names = told.tape.names
            carry_tape(names, self._constraints.tape, names, other._constraints.tape)
        if self._rows.states:
            read_states(self._constraints, self._run.motion.y, 2 * self.system.nv + 2)
        clock.taken += 1
        if course.integrator == ADAPTIVE:
            clock.now = float(wanted[0]) if len(wanted) and h < self._dt else clock.now + h
            clock.proposed = self._dt
        else:
            clock.steps += 1
            clock.now = clock.origin + clock.steps * course.step
        course.left, course.crowd = 0.0, 0
        self._stats.leaps += 1

    def _lend(self, h: float, tolerance: float, parts: int = 1) -> None:
        """A step of h by impulses, in some parts, from the present state, which stays as it is."""
        other, t = self._impulses, self._now()
        carry(other._rows, other._constraints, self._rows, self._constraints)
        other.state.q[:], other.state.v[:], other.state.work[:] = self.state.q, self.state.v, self.state.work
        clock, told = other.state.clock, other._options
        clock.origin, clock.now, clock.steps = t, t, 0
        told.step, told.tolerance, told.slop, told.near = h / parts, tolerance / parts, NEAR, 10.0 * NEAR
        out = new_samples(1, self.system.nq, self.system.nv, len(other._constraints.coords), len(other._rows.names),
                          len(other._rows.recorded), other._report)  # fmt: skip
        other._travel(np.full(1, parts), out)

    def _read_events(self) -> None:
        """Take over the events that wait."""
        state = self._touch.state[0]
        waiting = int(state["waiting"])
        if not waiting:
            return
        owners, mounts = self.colliders.owners, self.colliders.colliders.mounts
        for event in self._touch.events[:waiting]:
            a, b = (owners[mounts["owner"][event[k]]] for k in ("i", "j"))
            self.events.append(TouchEvent(float(event["time"]), a, b, bool(event["began"])))
        state["waiting"] = 0
        del self.events[:-_KEPT_EVENTS]

    # --- what is told ---

    def _closed(self) -> Any:
        """Slots that carry a load now."""
        slots = self._touch.slots[: int(self._touch.state[0]["slots"])]
        return [slot for slot in slots if slot["mode"] != FREE and slot["p"][0] > 0.0]

    def touches(self) -> list[Touch]:
        owners, mounts, made = self.colliders.owners, self.colliders.colliders.mounts, []
        for slot in self._closed():
            a, b = (owners[mounts["owner"][slot[k]]] for k in ("i", "j"))
            n, t, s = slot["axes"].reshape(3, 3)
            along = slot["p"][1] * t + slot["p"][2] * s
            made.append(
                Touch(
                    a, b, vector(slot["x"]), vector(n), float(slot["gap"]), float(slot["p"][0]), vector(along),
                    bool(slot["mode"] == SLIDES),
                )
            )  # fmt: skip
        return made

    def touch_arrays(self) -> TouchArrays:
        slots = self._closed()
        ways = np.array([-1.0 if slot["b"] == 0 else 1.0 for slot in slots]).reshape(-1, 1)
        axes = np.array([slot["axes"] for slot in slots]).reshape(-1, 3, 3)
        p = np.array([slot["p"] for slot in slots]).reshape(-1, 3, 1)
        points = np.array([slot["x"] for slot in slots]).reshape(-1, 3)
        slides = np.array([slot["mode"] == SLIDES for slot in slots], np.bool_)
        return TouchArrays(points, ways * axes[:, 0], ways * (p * axes).sum(axis=1), slides)

    def measure_pair(self, a: str, b: str) -> None:
        pairs = self.observer.with_pair(a, b)
        owners = list(self.colliders.owners)
        self._pairs = np.array([(owners.index(x), owners.index(y)) for x, y in pairs], np.int64)
        self._touch, self._only = self._touch._replace(pairs=self._pairs), None
        self.observer.set_pairs(pairs)

    def memory(self) -> dict[str, Array]:
        touch = self._touch
        theirs = {f"{_THEIRS}{name}": array for name, array in self._impulses.memory().items()}
        return {
            **super().memory(),
            **theirs,
            "slots": touch.slots,
            "touching": touch.state,
            "mean": touch.mean,
        }

    def make_room(self, data: dict[str, Array]) -> None:
        super().make_room(data)
        theirs = {name.removeprefix(_THEIRS): x for name, x in data.items() if name.startswith(_THEIRS)}
        self._impulses.make_room(theirs)

    def take_over(self, other: Method) -> None:
        super().take_over(other)
        if isinstance(other, SmoothContact):
            for a, b in other.observer.pairs:
                if {a, b} <= set(self.colliders.owners):
                    self.measure_pair(a, b)
            self.events = other.events

    def info(self) -> dict[str, Any]:
        return {**super().info(), "slop": self._slop}

    def outcome(self) -> dict[str, Any]:
        self._read_events()
        state = self._touch.state[0]
        said = super().outcome()
        return {
            **said,
            "events": said["events"] + int(state["events"]),
            "deepest_m": float(state["deepest"]),
            "contact_events": [event._asdict() for event in self.events],
        }

    def warnings(self) -> list[str]:
        found, lost = super().warnings(), int(self._touch.state[0]["events_lost"])
        if lost:
            found.append(f"{lost} beginnings and ends of contact were too many to list")
        return found


class SmoothMethod(SmoothContact, DirectMethod):
    """Contact by the direct solver, in generalized (`simgc`) or maximal coordinates (`simmc`)."""

    def __init__(self, compiled: Compiled, options: Direct, dt: float):
        self._contact(compiled, options, dt)
        super().__init__(compiled, options, dt)

    def _eliminated(self, dependence: Dependence) -> tuple[RowTable, Work]:
        # What touches couples what it touches, wherever that is: `touch_forces` asks for responses of dofs alone.
        return coupled_rows(self.system, set(dependence.idle))


class TouchingComponents(SmoothContact, ComponentMethod):
    """Contact between bodies of any subsystems of one process."""

    def __init__(self, compiled: Compiled, steps: Steps):
        refuse_unsmooth(self.name, compiled)
        options = Direct(coordinates="maximal", integrator="euler", budget=steps.budget)
        self._contact(compiled, options, steps.dt)
        super().__init__(compiled, steps)

    @property
    def _run(self) -> Run:  # type: ignore[override]
        return self.part.run

    def _travel(self, wanted: Array, out: Samples) -> tuple[int, int]:
        done, phase, status = 0, explicit.PLAN, OK
        while phase != explicit.END:
            self.part.touch = self._touch
            rest = Samples(*(part[done:] for part in out))
            reached, status = self.part.advance(wanted[done:], rest, phase=phase)
            done += reached
            phase = self._go_on(status, wanted[done:])
        return done, status
