"""Turns blocks of states into the labelled columns of a record: measures what `measured.py` declares."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..compile.compiler import Compiled
from ..compile.scratch import Scratch
from ..compile.spanning import FLOATING
from ..compile.system import System, coordinate_columns, rate_columns
from ..engine.coordinates.observe import (
    observe_accelerations,
    observe_bodies,
    observe_energies,
    observe_idle,
    observe_reactions,
)
from ..engine.tables import LAW, Constraints
from ..mechanism.switching import Attachment
from ..model.errors import LinkworkError, nearest
from ..model.rotation import Array
from ..results.frames import GROUND, Frame, Frames, MovingFrames
from ..results.measured import ENERGIES, REACTIONS, BodyMotion, Columns, derivable, derive, measurable
from ..results.record import Group, RecordBuilder
from .element_forces import ElementForces
from .reactions import Reactions

STRAIN, BALANCE = 2, len(ENERGIES) - 1
# A mechanism at rest high above the origin: its potential is rounded, and nothing is in play.
_ROUNDING = 1e-9
_KEPT = 8  # stretches of one configuration whose reactions can be asked for at once

Block = tuple[Array, ...]
"""Times, coordinates, rates and work of a stretch of samples, and what else the method sampled."""


@dataclass
class _Memory:
    """What an observer carries from block to block."""

    start: float | None = None
    """Energy at the first sample [J]."""
    rest: Array = field(default_factory=lambda: np.zeros(len(ENERGIES)))
    """And its parts."""
    rotations: Array | None = None
    """The last quaternions."""
    largest: Array = field(default_factory=lambda: np.zeros(3))
    """Worst balance (signed), most energy in play, largest amount."""


class BlockSamples:
    """A block of samples; what is measured of it is computed when first asked for (see `measured.Sampled`)."""

    def __init__(self, observer: Observer, block: Block):
        self._observer = observer
        self.block = tuple(np.ascontiguousarray(array) for array in block)
        self.t, self.q, self.v, self.work = self.block[:4]

    @cached_property
    def a(self) -> Array:
        return self._observer.state_accelerations(self)

    @cached_property
    def bodies(self) -> BodyMotion:
        return self._observer.body_motion(self)

    @cached_property
    def frames(self) -> MovingFrames:
        motion = self.bodies
        named = {
            "positions": motion.positions,
            "rotations": motion.rotations,
            "body_velocities": motion.velocities,
            "body_angular_velocities": motion.angular_velocities,
            "body_accelerations": motion.accelerations,
            "body_angular_accelerations": motion.angular_accelerations,
        }
        return MovingFrames(self._observer.frames, self._observer.bodies, named.__getitem__)

    @cached_property
    def _joints(self) -> tuple[Array, Array]:
        return self._observer.joints(self.block)

    @property
    def coordinates(self) -> Array:
        return self._joints[0]

    @property
    def rates(self) -> Array:
        return self._joints[1]

    @cached_property
    def energy(self) -> Array:
        return self._observer.energies(self)

    @cached_property
    def transmitted(self) -> tuple[Array, Array]:
        return self._observer.reactions(self)

    @property
    def element_forces(self) -> Array:
        return self._observer.forces_of_elements(self)

    @property
    def states(self) -> Array:
        return self.block[9]

    @property
    def contact_forces(self) -> Array:
        return self.block[6][:, 1 + len(self._observer.report) :]

    @property
    def report(self) -> Array:
        return self.block[6][:, 1 : 1 + len(self._observer.report)]


class Observer(ABC):
    """Computes what is recorded of a motion, with tables of its own."""

    groups: tuple[Group, ...]
    """What is recorded."""
    coordinates: Columns
    rates: Columns
    accelerating: Columns | None = None
    transmitting: Sequence[str] | None = None
    touching: Sequence[str] = ()
    report: Columns = ()
    states: Columns = ()

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
        self._memory = _Memory()

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

    def restart(self) -> None:
        """Begin a new record: the energy balance counts from its first sample."""
        self._memory = _Memory()

    def take_over(self, other: Observer) -> None:
        """Go on with the record of another one, of a changed model; the energy balance counts anew."""
        self._memory = _Memory(rotations=other._memory.rotations, largest=other._memory.largest)
        self.set_frames(replace(self.frames, points=other.frames.points))
        self.choose(reactions={group.name for group in other.groups} >= set(REACTIONS))

    def append(self, builder: RecordBuilder, block: Block) -> None:
        """Observe a block of samples and append it to a record."""
        if len(block[0]):
            builder.append(block[0], self.observe(block))

    def observe(self, block: Block) -> dict[str, Array]:
        """The columns of all groups for a block of one or more samples."""
        sampled = BlockSamples(self, block)
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
        memory, self._memory = self._memory, replace(self._memory, largest=self._memory.largest.copy())
        try:
            sampled = BlockSamples(self, block)
            for stored, group in self._known.values():
                if found := group.find(name):
                    return stored.measure(sampled)[:, found]
            for derived, group in self._derived.values():
                if found := group.find(name):
                    return derive(derived, sampled.frames, len(block[0]))[:, found]
        finally:
            self._memory = memory
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
    def state_accelerations(self, sampled: BlockSamples) -> Array:
        """Derivatives of the rates of the state."""

    @abstractmethod
    def joints(self, block: Block) -> tuple[Array, Array]:
        """Coordinates and rates of joints as they are recorded."""

    def reactions(self, sampled: BlockSamples) -> tuple[Array, Array]:
        """Forces and torques in the joints of `transmitting`."""
        raise NotImplementedError

    def forces_of_elements(self, sampled: BlockSamples) -> Array:
        """Of drives, springs, bushings ..."""
        return self._elements.measure(self._tables, sampled.t, sampled.q, sampled.v, ())

    def body_motion(self, sampled: BlockSamples) -> BodyMotion:
        """Poses, velocities and accelerations of all bodies."""
        n, bodies = len(sampled.t), len(self.bodies)
        motion = BodyMotion(*(np.empty((n, width * bodies)) for width in (3, 4, 3, 3, 3, 3)))
        observe_bodies(self._tables, sampled.q, sampled.v, np.ascontiguousarray(sampled.a), *motion)
        self._keep_sign(motion.rotations)
        return motion

    def energies(self, sampled: BlockSamples) -> Array:
        """Energies and their balance."""
        energy = np.empty((len(sampled.t), len(ENERGIES)))
        observe_energies(self._tables, sampled.t, sampled.q, sampled.v, sampled.work, energy)
        energy[:, STRAIN] += self._strain(sampled.block)
        self._balance(energy)
        return energy

    def _strain(self, block: Block) -> Array | float:
        """Energy in springs that are rows [J]."""
        return 0.0

    @property
    def indeterminate(self) -> list[str]:
        """Joints whose reactions do not follow from the motion: of these the smallest are recorded."""
        return []

    def _keep_sign(self, rotations: Array) -> None:
        """Join a block of quaternions to the one before without a jump to the opposite sign."""
        last = self._memory.rotations
        if last is not None:
            same = np.einsum("bk,bk->b", rotations[0].reshape(-1, 4), last.reshape(-1, 4))
            flips = np.where(same < 0, -1.0, 1.0)
            rotations *= np.repeat(flips, 4)
        self._memory.rotations = rotations[-1].copy()

    def _balance(self, energy: Array) -> None:
        """Energy that came from nowhere since the first sample: stored - supplied + dissipated."""
        memory = self._memory
        stored = energy[:, 0] + energy[:, 1] + energy[:, 2] - energy[:, 3] + energy[:, 4]
        if memory.start is None:
            memory.start = float(stored[0])
            memory.rest = energy[0].copy()
        energy[:, BALANCE] = stored - memory.start
        worst = energy[np.argmax(np.abs(energy[:, BALANCE])), BALANCE]
        if abs(worst) > abs(memory.largest[0]):
            memory.largest[0] = worst
        in_play = energy[:, 0].max() + np.abs(energy[:, 3:5] - memory.rest[3:5]).max()
        memory.largest[1] = max(memory.largest[1], in_play)
        memory.largest[2] = max(memory.largest[2], np.abs(energy[:, :BALANCE]).max())

    def warnings(self, budget: float) -> list[str]:
        """A warning if the balance strayed by more than `budget` of the energy in play."""
        worst, in_play, amount = self._memory.largest
        if abs(worst) <= budget * in_play + _ROUNDING * amount:
            return []
        verb = "gained" if worst > 0 else "lost"
        share = f"{abs(worst) / in_play:.1%} of the energy in play" if in_play > 0 else "at rest"
        advice = "take smaller steps, or a method of higher order"
        return [f"the run {verb} {abs(worst):.3g} J from nowhere, {share}: {advice}"]


class TreeObserver(Observer):
    """Of a tree, whose accelerations and reactions follow from its state."""

    def __init__(self, system: System, scratch: Scratch | None = None):
        super().__init__(system, scratch)
        placed = [joint for joint in system.joints.values() if joint.dofs]
        self._outermost = np.array([joint.dofs[-1] for joint in placed], np.int64)
        self._sign = np.array([-1.0 if joint.reversed else 1.0 for joint in placed])
        self.coordinates, self.rates = system.coordinates, system.rates
        self.accelerating = system.rates
        self.transmitting = [joint.name for joint in placed]
        self._declare()

    def choose(self, *, reactions: bool) -> None:
        super().choose(reactions=True)  # they cost next to nothing

    def joints(self, block: Block) -> tuple[Array, Array]:
        return block[1], block[2]

    def state_accelerations(self, sampled: BlockSamples) -> Array:
        qdd = np.empty_like(sampled.v)
        observe_accelerations(self._tables, sampled.t, sampled.q, sampled.v, qdd)
        return qdd

    def reactions(self, sampled: BlockSamples) -> tuple[Array, Array]:
        n, joints = len(sampled.t), len(self._outermost)
        forces, torques = np.empty((n, 3 * joints)), np.empty((n, 3 * joints))
        observe_reactions(
            self._tables, sampled.t, sampled.q, sampled.v, sampled.a, self._outermost, self._sign, forces, torques,
            np.empty(self._system.nv),
        )  # fmt: skip
        return forces, torques


class RowObserver(Observer):
    """Of a method with rows, which samples coordinates and rates of all joints, accelerations and forces of rows."""

    report: Columns = (("solver.iterations", "1"), ("solver.gap", "m"))

    def __init__(self, system: System, scratch: Scratch | None = None):
        super().__init__(system, scratch)
        assert system.rows is not None
        self._rows = system.rows
        self.coordinates = [column for joint in self._rows.joints for column in coordinate_columns(joint)]
        self.rates = [column for joint in self._rows.joints for column in rate_columns(joint)]
        self.states = (self._rows.whole or self._rows).recorded
        self._stretches: list[_Configuration] = []
        self._idle_rows: dict[int, tuple[tuple[str, ...], Constraints, Any]] = {}
        self._declare()

    def configure(self, system: System, rows: Sequence[str], attachment: Attachment, tree_q: Array) -> int:
        """Joints were attached or released: samples have forces of these rows from now on; the number of this stretch.

        `tree_q` is a pose of the mechanism's tree in which these joints fit. Where joints can be switched at all, the
        forces of a sample begin with that number.
        """
        self._stretches.append(_Configuration(system, tuple(rows), attachment, tree_q))
        return len(self._stretches) - 1

    def state_accelerations(self, sampled: BlockSamples) -> Array:
        return sampled.block[7]

    def forces_of_elements(self, sampled: BlockSamples) -> Array:
        t, q, v = sampled.t, sampled.q, sampled.v
        named = []
        for number, here, solved in self._by_stretch(sampled.block[8]):
            idle, constraints, which = self._idle(number)
            forces = np.empty((len(solved), len(which)))
            if len(which):
                observe_idle(self._tables, constraints, which, t[here], q[here], v[here], forces)
            named.append(((*self._stretches[number].rows, *idle), np.hstack([solved, forces])))
        return self._elements.measure(self._tables, t, q, v, named)

    def _idle(self, number: int) -> tuple[tuple[str, ...], Constraints, Any]:
        """Elements that methods leave out in a stretch, since no motion changes what they measure; they push all the
        same."""
        if number not in self._idle_rows:
            table, solved = self._stretches[number].system.rows, self._stretches[number].rows
            assert table is not None
            rows = table.constraints.rows
            lawful = np.flatnonzero((rows["role"] == LAW) & (rows["input"] < 0))
            which = np.array([i for i in lawful if table.names[i] not in solved], np.int64)
            names = tuple(table.names[i] for i in which)
            self._idle_rows[number] = names, table.fresh(), which
        return self._idle_rows[number]

    def _by_stretch(self, given: Array) -> list[tuple[int, slice, Array]]:
        """Sampled forces of rows by stretches of the same joints attached: its number, which samples, forces."""
        if not self._rows.switchable:
            return [(0, slice(0, len(given)), given)]
        ends = [*(np.flatnonzero(np.diff(given[:, 0])) + 1), len(given)]
        parts, begin = [], 0
        for end in ends:
            number, here = int(given[begin, 0]), slice(begin, end)
            parts.append((number, here, given[here, 1 : 1 + len(self._stretches[number].rows)]))
            begin = end
        return parts

    def _strain(self, block: Block) -> Array:
        return block[6][:, 0]

    def joints(self, block: Block) -> tuple[Array, Array]:
        """Coordinates and rates as they are recorded: of a ball, the quaternion of its rotation vector."""
        values, rates = block[4:6]
        columns: list[Array] = []
        k = 0
        for joint in self._rows.joints:
            for motion in joint.motions():
                count = len(motion.rates)
                part = values[:, k : k + count]
                columns.append(_quaternions(part) if motion.ball else part)
                k += count
        return np.hstack([np.empty((len(values), 0)), *columns]), rates


class ContactObserver(RowObserver):
    """The same with how many patches touch and how deep, and the force of all contacts on each thing that may touch."""

    report = (*RowObserver.report, ("contact.patches", "1"), ("contact.depth", "m"))

    def __init__(self, system: System, scratch: Scratch | None = None):
        assert system.colliders is not None
        self.touching = system.colliders.owners
        super().__init__(system, scratch)


class DirectObserver(RowObserver):
    """The same with accelerations and what every joint transmits."""

    def __init__(self, compiled: Compiled, system: System, scratch: Scratch | None = None):
        self._compiled = compiled
        self._reactions: dict[int, Reactions] = {}
        if not any(column.name.startswith(FLOATING) for column in system.rates):
            self.accelerating = system.rates  # rates of the state are those of joints
        assert system.rows is not None
        self.transmitting = [joint.name for joint in system.rows.joints]
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

    def reactions(self, sampled: BlockSamples) -> tuple[Array, Array]:
        """Forces and torques in all joints, stretch by stretch of the same ones attached."""
        t, q, v, a = sampled.t, sampled.q, sampled.v, sampled.a
        parts = [
            self._reactions_in(number).of(t[here], q[here], v[here], a[here], forces)
            for number, here, forces in self._by_stretch(sampled.block[8])
        ]
        return np.vstack([forces for forces, _ in parts]), np.vstack([torques for _, torques in parts])


class _Configuration(NamedTuple):
    """A stretch of motion with the same joints attached."""

    system: System
    rows: tuple[str, ...]
    attachment: Attachment
    tree_q: Array


def _quaternions(phi: Array) -> Array:
    """Unit quaternions of rotation vectors."""
    half = 0.5 * np.linalg.norm(phi, axis=1, keepdims=True)
    return np.hstack([np.cos(half), 0.5 * np.sinc(half / np.pi) * phi])
