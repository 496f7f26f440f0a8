"""Turns blocks of states into the labelled columns of a record: measures what `measured.py` declares."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType

import numpy as np

from ..compile.compiler import Compiled
from ..compile.scratch import Scratch
from ..compile.spanning import FLOATING
from ..compile.system import System, as_coordinates, coordinate_columns, rate_columns
from ..engine.coordinates.observe import (
    JointEnds,
    observe_accelerations,
    observe_bodies,
    observe_energies,
    observe_idle,
    observe_reactions,
)
from ..mechanism.switching import Attachment
from ..model.errors import LinkworkError, UnsupportedError, nearest
from ..model.rotation import Array
from ..results.builder import RecordBuilder
from ..results.frames import GROUND, Frame, Frames, MovingFrames
from ..results.measured import ENERGIES, REACTIONS, derivable, measurable, why_missing
from ..results.quantity import BodyMotion, Columns, Derived, Sampled, derive
from ..results.record import Group
from .element_forces import ElementForces
from .memory import KINETIC, STRAIN, Memory
from .reactions import Reactions
from .stretches import Stretch, Stretches

_KEPT = 8  # stretches of one configuration whose reactions can be asked for at once

Block = tuple[Array, ...]
"""Times, coordinates, rates and work of a stretch of samples, and what else the method sampled."""


class Observer(ABC):
    """Computes what is recorded of a motion, with tables of its own."""

    groups: tuple[Group, ...]
    """What is recorded."""
    coordinates: Columns
    rates: Columns
    accelerating: Columns | None = None
    transmitting: Sequence[str] | None = None
    touching: Sequence[str] = ()
    pairs: Sequence[tuple[str, str]] = ()
    report: Columns = ()
    states: Columns = ()
    unavailable: Mapping[str, str] = MappingProxyType({})
    """Groups that the method cannot have, and why."""

    def __init__(self, system: System, scratch: Scratch | None = None):
        """`scratch`: of the simulation whose motion it is."""
        self._system = system
        self._scratch = Scratch() if scratch is None else scratch
        self._tables = self._scratch.tables("observe", system)
        self.bodies: Sequence[str] = system.bodies
        self._elements = ElementForces(system)
        self.elements: Columns = self._elements.columns
        self.frames = Frames(
            markers={
                name: Frame(system.bodies[body] if body >= 0 else GROUND, (at[0], at[1], at[2]), rotation)
                for name, body, at, rotation in system.markers
            }
        )
        self._memory = Memory()

    def _declare(self) -> None:
        """Find out what of all that is declared there is here; the last thing that a constructor does."""
        self._known = measurable(self)
        self.set_frames(self.frames)
        self.choose(reactions=False)

    def set_frames(self, frames: Frames) -> None:
        """Measure other points, markers and centres of mass from now on."""
        self.frames = frames
        self._derived = derivable(frames, list(self._known))

    def choose(self, *, reactions: bool) -> None:
        """Whether to record what joints transmit, where that takes extra time."""
        left_out = () if reactions else REACTIONS
        self.groups = tuple(group for name, (_, group) in self._known.items() if name not in left_out)

    @property
    def missing(self) -> dict[str, str]:
        """Groups that are not recorded, and why: the method cannot have them, or they were not chosen."""
        recorded = {group.name for group in self.groups}
        left_out = dict.fromkeys(self._known, "it was left out: record with reactions=True")
        return {**self.unavailable, **{n: why for n, why in left_out.items() if n not in recorded}}

    def restart(self) -> None:
        """Begin a new record: the energy balance counts from its first sample."""
        self._memory = Memory()

    def take_over(self, other: Observer) -> None:
        """Go on with the record of another one, of a changed model; the energy balance counts anew."""
        self._memory = other._memory.carried_over()
        self.set_frames(replace(self.frames, points=other.frames.points))
        self.choose(reactions={group.name for group in other.groups} >= set(REACTIONS))

    def append(self, builder: RecordBuilder, block: Block) -> None:
        """Observe a block of samples and append it to a record."""
        if len(block[0]):
            builder.append(block[0], self.observe(block))

    def observe(self, block: Block) -> dict[str, Array]:
        """The columns of all groups for a block of one or more samples."""
        sampled = Sampled(self, block)
        return {group.name: self._known[group.name][0].measure(sampled) for group in self.groups}

    # --- single signals ---

    @property
    def signals(self) -> dict[str, str]:
        """Names and units of everything that can be read."""
        both = [*(group for _, group in self._known.values()), *self.derived]
        return {name: unit for group in both for name, unit in zip(group.columns, group.units, strict=True)}

    @property
    def derived(self) -> tuple[Group, ...]:
        """What follows from what is recorded."""
        return tuple(group for _, group in self._derived.values())

    def read(self, name: str, block: Block) -> Array:
        """A signal of the samples of a block, or several side by side: `arm.velocity` is all of its components.

        What a record goes on with (the energy balance, signs of quaternions) is left as it is.
        """
        return self.reader(name)(block)

    def reader(self, name: str) -> Callable[[Block], Array]:
        """What reads a signal from blocks, found once."""
        measure, columns = self._measured_as(name)

        def read(block: Block) -> Array:
            memory, self._memory = self._memory, self._memory.copy()
            try:
                return measure(Sampled(self, block))[:, columns]
            finally:
                self._memory = memory

        return read

    def _measured_as(self, name: str) -> tuple[Callable[[Sampled], Array], list[int]]:
        """What measures the group that a signal is in, and its columns there."""
        for stored, group in self._known.values():
            if found := group.find(name):
                return stored.measure, found
        for derived, group in self._derived.values():
            if found := group.find(name):
                return partial(_derive, derived), found
        reason = why_missing(name, [rate for rate, _ in self.rates], self.unavailable, self._system.joints)
        if reason is not None:
            raise UnsupportedError(f"there is no signal '{name}': {reason}")
        raise LinkworkError(f"there is no signal '{name}'{nearest(name, self.signals)}")

    def column(self, name: str, data: dict[str, Array]) -> Array | None:
        """A signal of a block that was observed, recorded or derived; None if it is neither."""
        for group in self.groups:
            if found := group.find(name):
                return data[group.name][:, found[0]]
        for derived, group in self._derived.values():
            if found := group.find(name):
                motion = MovingFrames(self.frames, self.bodies, data.__getitem__)
                return derive(derived, motion, len(data["positions"]))[:, found[0]]
        return None

    # --- what quantities are measured with ---

    @abstractmethod
    def state_accelerations(self, sampled: Sampled) -> Array:
        """Derivatives of the rates of the state."""

    @abstractmethod
    def joints(self, block: Block) -> tuple[Array, Array]:
        """Coordinates and rates of joints as they are recorded."""

    def reactions(self, sampled: Sampled) -> tuple[Array, Array]:
        """Forces and torques in the joints of `transmitting`."""
        raise NotImplementedError

    def forces_of_elements(self, sampled: Sampled) -> Array:
        """Of drives, springs, bushings ..."""
        return self._elements.measure(self._tables, sampled.t, sampled.q, sampled.v, ())

    def body_motion(self, sampled: Sampled) -> BodyMotion:
        """Poses, velocities and accelerations of all bodies."""
        n, bodies = len(sampled.t), len(self.bodies)
        motion = BodyMotion(*(np.empty((n, width * bodies)) for width in (3, 4, 3, 3, 3, 3)))
        observe_bodies(self._tables, sampled.q, sampled.v, np.ascontiguousarray(sampled.a), motion)
        self._memory.keep_signs(motion.rotations)
        return motion

    def energies(self, sampled: Sampled) -> Array:
        """Energies and their balance."""
        energy = np.empty((len(sampled.t), len(ENERGIES)))
        observe_energies(self._tables, sampled.t, sampled.q, sampled.v, sampled.work, energy)
        energy[:, STRAIN] += self._strain(sampled.block)
        energy[:, KINETIC] += self.spin(sampled.block)
        self._memory.balance(energy)
        return energy

    def _strain(self, block: Block) -> Array | float:
        """Energy in springs that are rows [J]."""
        return 0.0

    def spin(self, block: Block) -> Array | float:
        """Kinetic energy of rotors that are rows [J]."""
        return 0.0

    @property
    def indeterminate(self) -> list[str]:
        """Joints whose reactions do not follow from the motion: of these the smallest are recorded."""
        return []

    def warnings(self, budget: float) -> list[str]:
        """A warning if the balance strayed by more than `budget` of the energy in play."""
        return self._memory.warnings(budget)


def _derive(quantity: Derived, sampled: Sampled) -> Array:
    """A derived quantity of a block."""
    return derive(quantity, sampled.frames, len(sampled.t))


class TreeObserver(Observer):
    """Of a tree, whose accelerations and reactions follow from its state."""

    def __init__(self, system: System, scratch: Scratch | None = None):
        super().__init__(system, scratch)
        placed = [joint for joint in system.joints.values() if joint.dofs]
        self._ends = JointEnds(
            np.array([joint.dofs[-1] for joint in placed], np.int64),
            np.array([-1.0 if joint.reversed else 1.0 for joint in placed]),
        )
        self.coordinates, self.rates = system.coordinates, system.rates
        self.accelerating = system.rates
        self.transmitting = [joint.name for joint in placed]
        self._declare()

    def choose(self, *, reactions: bool) -> None:
        super().choose(reactions=True)  # they cost next to nothing

    def joints(self, block: Block) -> tuple[Array, Array]:
        return block[1], block[2]

    def state_accelerations(self, sampled: Sampled) -> Array:
        qdd = np.empty_like(sampled.v)
        observe_accelerations(self._tables, sampled.t, sampled.q, sampled.v, qdd)
        return qdd

    def reactions(self, sampled: Sampled) -> tuple[Array, Array]:
        n, joints = len(sampled.t), len(self._ends.outermost)
        out = np.empty((n, 3 * joints)), np.empty((n, 3 * joints))
        tau = np.empty(self._system.nv)
        observe_reactions(self._tables, sampled.t, sampled.q, sampled.v, sampled.a, self._ends, out, tau)
        return out


class RowObserver(Observer):
    """Of a method with rows, which samples coordinates and rates of all joints, accelerations and forces of rows."""

    report: Columns = (("solver.iterations", "1"), ("solver.gap", "m"))

    def __init__(self, system: System, scratch: Scratch | None = None):
        super().__init__(system, scratch)
        self._rows = system.row_table
        self.coordinates = [column for joint in self._rows.joints for column in coordinate_columns(joint)]
        self.rates = [column for joint in self._rows.joints for column in rate_columns(joint)]
        self.states = self._rows.every.recorded
        self._stretches = Stretches(switchable=bool(self._rows.switchable))
        self._declare()

    def configure(self, system: System, rows: Sequence[str], attachment: Attachment, tree_q: Array) -> int:
        """Joints were attached or released: samples have forces of these rows from now on; the number of this stretch.

        `tree_q` is a pose of the mechanism's tree in which these joints fit. Where joints can be switched at all, the
        forces of a sample begin with that number.
        """
        return self._stretches.add(Stretch(system, tuple(rows), attachment, tree_q))

    def state_accelerations(self, sampled: Sampled) -> Array:
        return sampled.block[7]

    def forces_of_elements(self, sampled: Sampled) -> Array:
        t, q, v = sampled.t, sampled.q, sampled.v
        named = []
        for number, here, solved in self._stretches.split(sampled.block[8]):
            idle, constraints, which = self._stretches.idle(number)
            forces = np.empty((len(solved), len(which)))
            if len(which):
                observe_idle(self._tables, constraints, which, t[here], q[here], v[here], forces)
            named.append(((*self._stretches[number].rows, *idle), np.hstack([solved, forces])))
        return self._elements.measure(self._tables, t, q, v, named)

    def _strain(self, block: Block) -> Array:
        return block[6][:, 0]

    def spin(self, block: Block) -> Array | float:
        whole = self._rows.every
        rows = whole.constraints.rows
        turning = np.flatnonzero(rows["inertia"] > 0.0)
        if not len(turning):
            return 0.0
        energy = np.zeros((len(block[0]), len(turning)))
        for k, r in enumerate(turning):
            rate = block[5][:, rows["first"][r]]
            if rows["second"][r] >= 0:  # it turns with two joints
                rate = rate - rows["ratio"][r] * block[5][:, rows["second"][r]]
            energy[:, k] = 0.5 * rows["inertia"][r] * rate**2
        if whole.switchable:  # that of a joint that was released is not there
            for number, here, _ in self._stretches.split(block[8]):
                there = set(self._stretches[number].rows)
                energy[here] *= [whole.names[r] in there for r in turning]
        return np.asarray(energy.sum(axis=1))

    def joints(self, block: Block) -> tuple[Array, Array]:
        return as_coordinates(self._rows.joints, block[4]), block[5]


class PairObserver(RowObserver):
    """Of a method with contact, which also samples how many patches touch, how deep, what is left of their equations,
    and forces of contacts."""

    report = (
        *RowObserver.report, ("contact.patches", "1"), ("contact.depth", "m"), ("contact.residual", "m/s"),
    )  # fmt: skip

    def with_pair(self, a: str, b: str) -> list[tuple[str, str]]:
        """The pairs that are measured, and one more."""
        for name in (a, b):
            if name in self.bodies and name not in self.touching:
                raise LinkworkError(
                    f"pair '{a}', '{b}': body '{name}' touches nothing; give it a material and shapes"
                )
            if name not in self.touching:
                hint = nearest(name, self.touching)
                raise LinkworkError(
                    f"pair '{a}', '{b}': there is no body or scenery '{name}' that may touch{hint}"
                )
        if a == b:
            raise LinkworkError(f"pair '{a}', '{b}': shapes of one body never touch; name two")
        return list(dict.fromkeys([*self.pairs, (a, b)]))

    def set_pairs(self, pairs: Sequence[tuple[str, str]]) -> None:
        """Measure what the first of each gives the second from now on; samples have it."""
        self.pairs = tuple(pairs)
        self._declare()


class ContactObserver(PairObserver):
    """Of a method with contact that works with impulses."""

    def __init__(self, system: System, scratch: Scratch | None = None):
        assert system.colliders is not None
        self.touching = system.colliders.owners
        super().__init__(system, scratch)


class DirectObserver(RowObserver):
    """Of a method with rows that knows accelerations, hence what every joint transmits."""

    def __init__(self, compiled: Compiled, system: System, scratch: Scratch | None = None):
        self._compiled = compiled
        self._reactions: dict[int, Reactions] = {}
        if not any(column.name.startswith(FLOATING) for column in system.rates):
            self.accelerating = system.rates  # rates of the state are those of joints
        self.transmitting = [joint.name for joint in system.row_table.joints]
        super().__init__(system, scratch)

    def _reactions_in(self, number: int) -> Reactions:
        """What joints transmit in a stretch; those of the last few stretches are kept."""
        if number not in self._reactions:
            if len(self._reactions) >= _KEPT:
                del self._reactions[next(iter(self._reactions))]
            system, rows, attachment, tree_q = self._stretches[number]
            self._reactions[number] = Reactions(
                self._compiled, system, rows, attachment, tree_q, self._scratch
            )
        return self._reactions[number]

    @property
    def indeterminate(self) -> list[str]:
        if not any(group.name in REACTIONS for group in self.groups):
            return []
        return list(dict.fromkeys(name for made in self._reactions.values() for name in made.indeterminate))

    def reactions(self, sampled: Sampled) -> tuple[Array, Array]:
        """Forces and torques in all joints, stretch by stretch of the same ones attached."""
        t, q, v, a = sampled.t, sampled.q, sampled.v, sampled.a
        parts = [
            self._reactions_in(number).of(t[here], q[here], v[here], a[here], forces)
            for number, here, forces in self._stretches.split(sampled.block[8])
        ]
        return np.vstack([forces for forces, _ in parts]), np.vstack([torques for _, torques in parts])


class SmoothObserver(PairObserver, DirectObserver):
    """Of a method with contact that knows accelerations."""

    def __init__(self, compiled: Compiled, system: System, scratch: Scratch | None = None):
        assert system.colliders is not None
        self.touching = system.colliders.owners
        super().__init__(compiled, system, scratch)
        self.transmitting = None  # what contacts give to bodies is not part of their balance
        self._declare()
