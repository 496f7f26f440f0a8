"""What must hold for any mechanism, however it is built: two formulations, one motion.

`examine` runs a model in generalized and in maximal coordinates, which share neither tables nor unknowns, and checks
what needs no reference solution: nothing breaks, loops stay closed, limits hold, no energy comes from nowhere, what
is locked stays, and both formulations tell the same motion.

A method of order p errs by h^p. Where the two differ by more than rounding, the step is halved and differences are
extrapolated to h = 0: what is left there is of order p + 1 if both converge to the same motion, and stays if they do
not. So a wrong term of a per mille is told from an error of a per cent that the step accounts for, and no tolerance
has to be fitted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ..analysis.readings import (
    apart,
    floating_coordinates,
    is_smooth,
    largest,
    limited_coordinates,
    travelled,
    turned,
)
from ..compile.system import System
from ..engine.coordinates.dynamics import body_pose
from ..engine.tables import COORDINATE
from ..mechanism.kinematics import Kinematics
from ..mechanism.mobility import analyse
from ..model import Model
from ..model.rotation import Array, quaternion
from ..results.record import Record
from .random_mechanisms import RANK
from .runner import (
    DIRECT,
    DURATION,
    IMPULSES,
    STEP,
    Finding,
    RunError,
    Runner,
    bounds_of,
    touches,
)

# Motions that steps of a millisecond are meant for change at some 10 rad/s: a method of order p errs by a share
# (h PACE)^p of what has moved, or of the energy in play [1/s].
PACE = 10.0
# Poses that agree to this need no second look; far from the origin, where numbers have fewer digits, times the distance
# in metres [m or rad].
AGREE = 1e-8
# Penetration that contact leaves alone [m]: the default of methods, and rounding.
SLOP = 1.1e-5
# Halvings of the step before a difference that does not vanish is believed.
HALVINGS = 5
# Energies are sums of products of n rounded numbers: some hundred steps and bodies of them.
ENERGY_ROUNDING = 1e-12
_UNIQUE = ("locked", "energy", "disagree")  # kinds of findings that suppose that the motion is determined


@dataclass
class Facts:
    """What a mechanism is."""

    mobility: int = 0
    """Degrees of freedom at the start."""
    redundant: int = 0
    """Joint equations and couplings that others imply at the start."""
    stiffness: float = 1.0
    """Smallest singular value of the row-scaled Jacobian: a gap φ leaves positions uncertain by φ over it."""
    closed: bool = True
    """Loops are closed at the start as written."""
    singular: bool = False
    """The start is a singular position; only asked where that would explain a finding."""


def examine(
    model: Model, *, solver: str = "direct", dt: float = STEP, duration: float = DURATION
) -> list[Finding]:
    """Everything about the motion of a mechanism that must not be; empty if all is well."""
    return Examination(Runner(model, bounds_of(solver, model), dt, duration)).findings()


class Examination:
    """The checks of one mechanism; `facts` is known after `findings`."""

    def __init__(self, runner: Runner):
        self.runner, self.bounds = runner, runner.bounds
        self.flat = runner.flat
        self.facts = Facts()
        self.methods = runner.methods
        self.switched = [joint.name for joint in self.flat.joints.values() if joint.attached is not None]
        self.touching = touches(self.flat)
        self.smooth = is_smooth(self.flat) and not self.touching
        self.order = self.bounds.order if self.smooth else self.bounds.order_at_events
        # At first order an event anywhere within a step leaves errors without a smooth expansion in the step.
        self.extrapolates = self.smooth or self.order > 1

    def findings(self) -> list[Finding]:
        """All of them, the most basic ones first; after a run that breaks there is nothing more to see."""
        found: list[Finding] = []
        for method in self.methods:
            try:
                record = self.runner.record(method)
            except RunError as error:
                found.append(error.finding)
                continue
            groups = ("coordinates", "rates", "positions", "rotations", "energy")
            wrong = [name for name in groups if not np.isfinite(record.array(name)).all()]
            if wrong:
                what = f"{', '.join(wrong)} hold numbers that are not finite"
                found.append(Finding("not_finite", method, what))
        if found:
            return found
        if any(self._crowded(method) for method in self.methods):
            self.order, self.extrapolates = IMPULSES.order, False
        self._look()
        checks = [check(method) for method in self.methods for check in (self._gaps, self._limits)]
        if self.facts.closed:
            basic = (self._start, self._locked, self._energy, self._sunk)
            checks += [check(method) for method in self.methods for check in basic]
            checks += [self._agreement(method) for method in self.methods[1:]]
        for check in checks:
            try:
                found += check
            except RunError as error:  # only with a smaller step
                found.append(error.finding)
        if any(finding.kind in _UNIQUE for finding in found) and self._branches():
            found = [finding for finding in found if finding.kind not in _UNIQUE]
            found += [finding for method in self.methods for finding in self._energy(method)]
        return list(dict.fromkeys(found))

    def _branches(self) -> bool:
        """Whether the start is a singular position.

        There a mechanism may go on in more ways than one, and velocities that no way allows are lost: its motion is not
        determined, and formulations need not agree. Energy must not be gained all the same, beyond the first order at
        which a step chooses the way.
        """
        system = self._at_start("simgc")
        self.facts.singular = analyse(system, system.q0).singular
        if self.facts.singular:
            self.order, self.extrapolates = 1, False
        return self.facts.singular

    def _at_start(self, method: str) -> System:
        """The tables of a method with the joints that hold at the start, whatever holds after a run."""
        simulation = self.runner.simulation(method)
        simulation.reset()
        return simulation.system

    def _look(self) -> None:
        """Mobility and redundancy, from the tree and its loops at the start as it is written."""
        system = self._at_start("simgc")
        kinematics = Kinematics(system)
        kinematics.place(system.q0)
        # Couplings keep the relation that they start in, whatever it is.
        equations = kinematics.constraints.rows[kinematics.hold]["kind"] != COORDINATE
        gap = largest(kinematics.gaps[kinematics.hold][equations])
        poses = [body_pose(kinematics.tables, index) for index in range(len(system.bodies))]
        positions, turns = [p for p, _ in poses], [quaternion(np.reshape(R, (3, 3))) for _, R in poses]
        self.start = np.reshape(positions, (1, -1)), np.reshape(turns, (1, -1))
        J = kinematics.jacobian()[kinematics.hold]
        lengths = np.linalg.norm(J, axis=1)
        J = J[lengths > RANK] / lengths[lengths > RANK, None]
        values = np.linalg.svd(J, compute_uv=False) if J.size else np.zeros(0)
        values = values[values > RANK * values.max(initial=0.0)]
        self.facts.mobility = system.nv - len(values)
        self.facts.redundant = len(kinematics.hold) - len(values)
        self.facts.stiffness = float(values.min(initial=1.0))
        self.size = 1.0 + largest(self.start[0])
        self.facts.closed = gap <= DIRECT.gap * self.size

    # --- what a single run must keep ---

    def gaps(self, record: Record) -> Array:
        """Of all joints and couplings at every sample, read off the poses of the bodies [m or rad]."""
        system = self.runner.simulation("simmc").system
        kinematics = Kinematics(system)
        rows = kinematics.constraints.rows[kinematics.hold]
        coupled = rows["kind"] == COORDINATE
        self.names = [kinematics.names[i] for i in kinematics.hold]
        # A joint that takes hold does so where the bodies are: as it is written it says nothing then, nor do couplings
        # of its coordinates.
        needs, switched = system.row_table.needs, set(self.switched)
        steady = [not (switched and switched & set(needs[i])) for i in kinematics.hold]
        gaps = []
        for q in floating_coordinates(system, self.flat, record):
            kinematics.place(q)
            gaps.append(kinematics.gaps[kinematics.hold])
        return (np.array(gaps) - np.where(coupled, gaps[0], 0.0)) * steady

    def _gaps(self, method: str) -> Iterator[Finding]:
        record = self.runner.record(method)
        gaps = np.abs(self.gaps(record))[0 if self.facts.closed else 1 :]
        least = IMPULSES.gap if self._crowded(method) else 0.0
        bound = max(self.bounds.gap, least) * self.size
        if gaps.max(initial=0.0) > bound:
            sample, row = np.unravel_index(int(gaps.argmax()), gaps.shape)
            when = record.time[len(record) - len(gaps) + int(sample)]
            what = f"'{self.names[int(row)]}' is open by {gaps.max():.3g} at {when:.3g} s"
            yield Finding("gap", method, what, float(gaps.max()), bound)

    def _crowded(self, method: str) -> bool:
        """Whether events crowded, so that what was left of a step was taken by impulses: the method says so."""
        return bool(self.runner.record(method).info.get("steps_by_impulses", 0))

    def _limits(self, method: str) -> Iterator[Finding]:
        record = self.runner.record(method)
        worst, where = 0.0, ""
        for name, low, high, values in limited_coordinates(self.flat, record):
            if name.rpartition(".")[0] in self.switched:  # it has none while it does not hold
                continue
            beyond = float(max(np.max(low - values), np.max(values - high)))
            if beyond > worst:
                worst, where = beyond, name
        bound = self.bounds.limit * self.size
        if worst > bound:
            yield Finding("limit", method, f"'{where}' is beyond its limit by {worst:.3g}", worst, bound)

    def _start(self, method: str) -> Iterator[Finding]:
        """Where loops are closed as written, there is nothing to assemble."""
        record = self.runner.record(method)
        positions = record.array("positions")[:1] - self.start[0]
        moved = max(largest(positions), largest(turned(record.array("rotations")[:1], self.start[1])))
        bound = AGREE * self.size
        if moved > bound:
            what = f"it begins {moved:.3g} away from where it was drawn"
            yield Finding("start", method, what, moved, bound)

    def _locked(self, method: str) -> Iterator[Finding]:
        if self.facts.mobility > 0 or self.switched:
            return
        moved = travelled(self.runner.record(method))
        bound = self.bounds.gap * self.size / self.facts.stiffness
        if moved > bound:
            yield Finding("locked", method, f"it cannot move, but did so by {moved:.3g}", moved, bound)

    # --- what must vanish with the step ---

    def _energy(self, method: str) -> Iterator[Finding]:
        """No energy comes from nowhere or goes there: what the balance strays by vanishes with the step."""
        energy = self.runner.record(method).array("energy")
        change = np.abs(energy - energy[0]).max(axis=0)
        in_play = energy[:, 0].max() + change[1:5].sum()
        mass = sum(body.mass_properties.mass for body in self.flat.bodies.values())
        # A joint that is open by a gap lets the weight move as far.
        weight = mass * float(np.linalg.norm(self.runner.model.gravity))
        rounding = ENERGY_ROUNDING * np.abs(energy).max() + mass * self.bounds.rest**2
        rounding += weight * largest(self.gaps(self.runner.record(method)))

        def strayed(halvings: int) -> Array:
            balance = self.runner.record(method, halvings)["energy.balance"]
            # At first order friction and impacts may lose energy that a coarse step cannot tell.
            return balance if self.extrapolates else np.maximum(balance, 0.0)

        verdict = self._vanishes(strayed, float(in_play), float(rounding))
        if verdict is not None:
            value, bound = verdict
            share = f"{value / in_play:.2g} of the energy in play" if in_play > 0.0 else "at rest"
            what = f"the balance strays by {value:.3g} J, {share}, which does not vanish with the step"
            yield Finding("energy", method, what, value, bound)

    def _sunk(self, method: str) -> Iterator[Finding]:
        """What touches gets into each other by no more than what vanishes with the step, and the slop."""
        if not self.touching:
            return
        moved = travelled(self.runner.record(method))

        def depth(halvings: int) -> Array:
            return np.maximum(self.runner.record(method, halvings)["contact.depth"] - SLOP, 0.0)

        verdict = self._vanishes(depth, moved, AGREE)
        if verdict is not None:
            value, bound = verdict
            what = f"something sinks {value:.3g} m into another, which does not vanish with the step"
            yield Finding("sunk", method, what, value, bound)

    def _agreement(self, other: str) -> Iterator[Finding]:
        """Of one method with the first."""
        pair = self.methods[0], other
        moved = max(travelled(self.runner.record(method)) for method in pair)

        def difference(halvings: int) -> Array:
            a, b = (self.runner.record(method, halvings) for method in pair)
            return apart(a, b)

        verdict = self._vanishes(difference, moved, AGREE * self.size)
        if verdict is not None and not (self.touching and self._scattered(pair)):
            value, bound = verdict
            a, b = (self.runner.record(method) for method in pair)
            worst = int(np.abs(apart(a, b)).max(axis=0).argmax())
            columns = [*a.groups["positions"].columns, *a.groups["rotations"].columns]
            what = f"formulations differ by {value:.3g} in '{columns[worst]}', which does not vanish with the step"
            yield Finding("disagree", " and ".join(pair), what, value, bound)

    def _scattered(self, pair: tuple[str, str]) -> bool:
        """Whether two methods agree, at the smallest step, as well as each does with itself at twice that step.

        Steps of first order take a hit in two parts: in the step in which a gap closes, what comes keeps the
        velocity that just closes it. Positions that are off by C h move that by a share C/v of a step, however small
        the step is, and with friction, or a stop that is reached as well, what comes out depends on the share. So
        poses after a hit scatter, also those of one method. What is really different stays where this is small.
        """

        def poses(method: str, halvings: int) -> Record:
            return self.runner.record(method, halvings)

        own = max(largest(apart(poses(m, HALVINGS), poses(m, HALVINGS - 1))) for m in pair)
        first, second = (poses(method, HALVINGS) for method in pair)
        return largest(apart(first, second)) <= own

    def _vanishes(
        self, error: Callable[[int], Array], scale: float, rounding: float
    ) -> tuple[float, float] | None:
        """None if an error (an array, by the number of halvings) vanishes with the step; else (left, allowed).

        Of order p in the step, errors halve p times with each halving, and extrapolated ones p + 1 times. Half of these
        must be seen: for some halvings, since motions that are fast for the coarsest steps reach their order late.
        """
        order = self.order
        if not self.smooth:  # moments of events are found to as many digits as poses
            rounding += AGREE * scale
        errors = [error(0)]
        first = largest(errors[0])
        if first <= rounding:
            return None
        extrapolated: list[float] = []
        left, allowed = first, rounding
        for k in range(1, HALVINGS + 1):
            errors.append(error(k))
            share = (self.runner.dt / 2 ** (k - 1) * PACE) ** (order + 1)
            extrapolated.append(largest((2**order * errors[k] - errors[k - 1]) / (2**order - 1)))
            left, allowed = extrapolated[-1], share * scale + rounding
            if left <= allowed or largest(errors[k]) <= rounding:
                return None
            if self.extrapolates and k > 1 and left <= extrapolated[0] * 2.0 ** (-(order + 1) * (k - 1) / 2):
                return None
            # Errors themselves tell less: one that stays passes if it is a small share, 2^(-order k/2), of the first.
            enough = 3 if order > 1 else 2 if not self.extrapolates else HALVINGS + 1
            if k >= enough and largest(errors[k]) <= first * 2.0 ** (-order * k / 2):
                return None
        return left, allowed
