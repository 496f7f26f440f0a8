"""Turns blocks of states into the labelled columns of a record."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .compile import Compiled
from .coordinates.observe import (
    observe_accelerations,
    observe_energies,
    observe_poses,
    observe_reactions,
)
from .errors import LinkworkError, nearest
from .reactions import Reactions
from .record import Group, RecordBuilder
from .rotation import Array
from .scratch import Scratch
from .spanning import FLOATING
from .switching import Attachment
from .system import System, coordinate_columns, rate_columns

_ENERGIES = ("kinetic", "gravity", "strain", "supplied", "dissipated", "balance")
STRAIN, BALANCE = 2, len(_ENERGIES) - 1
# A mechanism at rest high above the origin: its potential is rounded, and nothing is in play.
_ROUNDING = 1e-9
_KEPT = 8  # stretches of one configuration whose reactions can be asked for at once

Block = tuple[Array, ...]
"""Times, coordinates, rates and work of a stretch of samples, and what else the method sampled."""


class Observer(ABC):
    """Computes what is recorded of a motion, with tables of its own."""

    groups: tuple[Group, ...]

    def __init__(self, system: System, scratch: Scratch | None = None):
        """`scratch`: of the simulation whose motion it is."""
        self._system = system
        self._scratch = Scratch() if scratch is None else scratch
        self._tables = self._scratch.tables("observe", system)
        self._poses: tuple[Group, ...] = (
            _group("positions", "position", system.bodies, "xyz", "m"),
            _group("rotations", "rotation", system.bodies, "wxyz", "1"),
        )
        self._markers = _group("markers", "position", [mark.name for mark in system.markers], "xyz", "m")
        if system.markers:
            self._poses = (*self._poses, self._markers)
        self.restart()
        self._energy = Group("energy", tuple(f"energy.{name}" for name in _ENERGIES), ("J",) * len(_ENERGIES))

    def restart(self) -> None:
        """Begin a new record: the energy balance counts from its first sample."""
        self._start: float | None = None
        self._last: Array | None = None
        self._largest = np.zeros(3)  # worst balance (signed), most energy in play, largest amount

    def take_over(self, other: Observer) -> None:
        """Go on with the record of another one, of a changed model; the energy balance counts anew."""
        self.restart()
        self._last, self._largest = other._last, other._largest

    def append(self, builder: RecordBuilder, block: Block) -> None:
        """Observe a block of samples and append it to a record."""
        if len(block[0]):
            builder.append(block[0], self.observe(block))

    def observe(self, block: Block) -> dict[str, Array]:
        """The columns of all groups for a block of one or more samples."""
        t, q, v, work = (np.ascontiguousarray(array) for array in block[:4])
        bodies = len(self._system.bodies)
        positions, rotations = np.empty((len(t), 3 * bodies)), np.empty((len(t), 4 * bodies))
        observe_poses(self._tables, q, v, positions, rotations)
        self._keep_sign(rotations)
        energy = np.empty((len(t), len(_ENERGIES)))
        observe_energies(self._tables, t, q, v, work, energy)
        data = self._joints((t, q, v, work, *block[4:]), energy)
        self._balance(energy)
        data |= {"positions": positions, "rotations": rotations, "energy": energy}
        if self._system.markers:
            data["markers"] = self._marked(positions, rotations)
        return data

    def _marked(self, positions: Array, rotations: Array) -> Array:
        """Positions of the markers."""
        marks = self._system.markers
        found = np.empty((len(positions), len(marks), 3))
        for k, (_, body, at) in enumerate(marks):
            if body < 0:
                found[:, k] = at
                continue
            w, u = rotations[:, 4 * body, None], rotations[:, 4 * body + 1 : 4 * body + 4]
            twice = 2.0 * np.cross(u, at)
            found[:, k] = positions[:, 3 * body : 3 * body + 3] + at + w * twice + np.cross(u, twice)
        return found.reshape(len(positions), -1)

    def choose(self, *, reactions: bool) -> None:  # noqa: B027
        """Whether to record what joints transmit, where that is a matter of choice."""

    @property
    def indeterminate(self) -> list[str]:
        """Joints whose reactions do not follow from the motion: of these the smallest are recorded."""
        return []

    @abstractmethod
    def _joints(self, block: Block, energy: Array) -> dict[str, Array]:
        """The groups that depend on the coordinates of the method; may add strain to the energy."""

    def _keep_sign(self, rotations: Array) -> None:
        """Join a block of quaternions to the one before without a jump to the opposite sign."""
        if self._last is not None:
            same = np.einsum("bk,bk->b", rotations[0].reshape(-1, 4), self._last.reshape(-1, 4))
            flips = np.where(same < 0, -1.0, 1.0)
            rotations *= np.repeat(flips, 4)
        self._last = rotations[-1].copy()

    def _balance(self, energy: Array) -> None:
        """Energy that came from nowhere since the first sample: stored - supplied + dissipated."""
        stored = energy[:, 0] + energy[:, 1] + energy[:, 2] - energy[:, 3] + energy[:, 4]
        if self._start is None:
            self._start = float(stored[0])
            self._rest = energy[0].copy()
        energy[:, BALANCE] = stored - self._start
        worst = energy[np.argmax(np.abs(energy[:, BALANCE])), BALANCE]
        if abs(worst) > abs(self._largest[0]):
            self._largest[0] = worst
        in_play = energy[:, 0].max() + np.abs(energy[:, 3:5] - self._rest[3:5]).max()
        self._largest[1] = max(self._largest[1], in_play)
        self._largest[2] = max(self._largest[2], np.abs(energy[:, :BALANCE]).max())

    def warnings(self, budget: float) -> list[str]:
        """A warning if the balance strayed by more than `budget` of the energy in play."""
        worst, in_play, amount = self._largest
        if abs(worst) <= budget * in_play + _ROUNDING * amount:
            return []
        verb = "gained" if worst > 0 else "lost"
        share = f"{abs(worst) / in_play:.1%} of the energy in play" if in_play > 0 else "at rest"
        advice = "take smaller steps, or a method of higher order"
        return [f"the run {verb} {abs(worst):.3g} J from nowhere, {share}: {advice}"]


class TreeObserver(Observer):
    """Coordinates, rates, accelerations and reactions of a tree."""

    def __init__(self, system: System, scratch: Scratch | None = None):
        super().__init__(system, scratch)
        placed = [joint for joint in system.joints.values() if joint.dofs]
        self._outermost = np.array([joint.dofs[-1] for joint in placed], np.int64)
        self._sign = np.array([-1.0 if joint.reversed else 1.0 for joint in placed])
        joints = [joint.name for joint in placed]
        self.groups = (
            Group("coordinates", *_columns(system.coordinates)),
            Group("rates", *_columns(system.rates)),
            _accelerations(system),
            *self._poses,
            _group("forces", "force", joints, "xyz", "N"),
            _group("torques", "torque", joints, "xyz", "N m"),
            self._energy,
        )

    def _joints(self, block: Block, energy: Array) -> dict[str, Array]:
        t, q, v, _ = block
        n, joints, nv = len(t), len(self._outermost), self._system.nv
        qdd = np.empty((n, nv))
        observe_accelerations(self._tables, t, q, v, qdd)
        forces, torques = np.empty((n, 3 * joints)), np.empty((n, 3 * joints))
        observe_reactions(
            self._tables, t, q, v, qdd, self._outermost, self._sign, forces, torques, np.empty(nv)
        )
        return {"coordinates": q, "rates": v, "accelerations": qdd, "forces": forces, "torques": torques}


class RowObserver(Observer):
    """Coordinates and rates of all joints, those that close loops included, whatever the method's coordinates."""

    def __init__(self, system: System, scratch: Scratch | None = None):
        super().__init__(system, scratch)
        assert system.rows is not None
        self._rows = system.rows
        joints = self._rows.joints
        self.groups = (
            Group("coordinates", *_columns([c for joint in joints for c in coordinate_columns(joint)])),
            Group("rates", *_columns([c for joint in joints for c in rate_columns(joint)])),
            *self._poses,
            self._energy,
            Group("solver", ("solver.iterations", "solver.gap"), ("1", "m")),
        )

    def _joints(self, block: Block, energy: Array) -> dict[str, Array]:
        coordinates, rates = self.joints(block)
        solver = block[6]
        energy[:, STRAIN] += solver[:, 0]
        return {"coordinates": coordinates, "rates": rates, "solver": solver[:, 1:]}

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

    def read(self, name: str, block: Block) -> float:
        """A coordinate or rate of the first sample of a block."""
        for group, data in zip(self.groups[:2], self.joints(block), strict=True):
            if name in group.columns:
                return float(data[0, group.columns.index(name)])
        known = [column for group in self.groups[:2] for column in group.columns]
        raise LinkworkError(f"there is no coordinate or rate '{name}'{nearest(name, known)}")


class ContactObserver(RowObserver):
    """The same with how many patches touch and how deep."""

    def __init__(self, system: System, scratch: Scratch | None = None):
        super().__init__(system, scratch)
        solver = ("solver.iterations", "solver.gap", "contact.patches", "contact.depth")
        self.groups = (*self.groups[:-1], Group("solver", solver, ("1", "m", "1", "m")))


class DirectObserver(RowObserver):
    """The same with accelerations and what every joint transmits."""

    def __init__(self, compiled: Compiled, system: System, scratch: Scratch | None = None):
        super().__init__(system, scratch)
        self._compiled = compiled
        self._with_reactions = False
        self._known: dict[int, _Configuration] = {}
        self._reactions: dict[int, Reactions] = {}
        self._own = not any(column.name.startswith(FLOATING) for column in system.rates)
        if self._own:  # rates of the state are those of joints
            self.groups = (*self.groups, _accelerations(system))
        self._plain = self.groups

    def configure(self, system: System, rows: Sequence[str], attachment: Attachment, tree_q: Array) -> int:
        """Joints were attached or released: samples have forces of these rows from now on; the number of this stretch.

        `tree_q` is a pose of the mechanism's tree in which these joints fit. Where joints can be switched at all, the
        forces of a sample begin with that number.
        """
        number = len(self._known)
        self._known[number] = _Configuration(system, tuple(rows), attachment, tree_q)
        return number

    def _reactions_in(self, number: int) -> Reactions:
        """What joints transmit in a stretch; those of the last few stretches are kept."""
        if number not in self._reactions:
            if len(self._reactions) >= _KEPT:
                del self._reactions[next(iter(self._reactions))]
            system, rows, attachment, tree_q = self._known[number]
            self._reactions[number] = Reactions(
                self._compiled, system, rows, attachment, tree_q, self._scratch
            )
        return self._reactions[number]

    def take_over(self, other: Observer) -> None:
        super().take_over(other)
        self.choose(reactions=isinstance(other, DirectObserver) and other._with_reactions)

    def choose(self, *, reactions: bool) -> None:
        self._with_reactions = reactions
        self.groups = self._plain
        if reactions:
            self.groups = (*self._plain, *self._reactions_in(0).groups)

    @property
    def indeterminate(self) -> list[str]:
        if not self._with_reactions:
            return []
        return list(dict.fromkeys(name for made in self._reactions.values() for name in made.indeterminate))

    def _joints(self, block: Block, energy: Array) -> dict[str, Array]:
        data = super()._joints(block, energy)
        if self._own:
            data["accelerations"] = block[7]
        if self._with_reactions:
            data["forces"], data["torques"] = self._transmitted(block)
        return data

    def _transmitted(self, block: Block) -> tuple[Array, Array]:
        """Forces and torques in all joints, stretch by stretch of the same ones attached."""
        t, q, v, a, given = *block[:3], block[7], block[8]
        if not self._rows.switchable:
            return self._reactions_in(0).of(t, q, v, a, given)
        ends = [*(np.flatnonzero(np.diff(given[:, 0])) + 1), len(t)]
        parts, begin = [], 0
        for end in ends:
            number, here = int(given[begin, 0]), slice(begin, end)
            rows = len(self._known[number].rows)
            parts.append(
                self._reactions_in(number).of(t[here], q[here], v[here], a[here], given[here, 1 : 1 + rows])
            )
            begin = end
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


def _columns(columns: Sequence[tuple[str, str]]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(name for name, _ in columns), tuple(unit for _, unit in columns)


def _accelerations(system: System) -> Group:
    return Group(
        "accelerations",
        tuple(_acceleration(column.name) for column in system.rates),
        tuple(f"{column.unit}²" for column in system.rates),
    )


def _acceleration(rate: str) -> str:
    """`pivot.angle_rate` => `pivot.angle_acceleration`, `ball.wx` => `ball.wx_acceleration`."""
    return f"{rate.removesuffix('_rate')}_acceleration"


def _group(group: str, quantity: str, owners: Sequence[str], axes: str, unit: str) -> Group:
    columns = tuple(f"{owner}.{quantity}.{axis}" for owner in owners for axis in axes)
    return Group(group, columns, (unit,) * len(columns))
