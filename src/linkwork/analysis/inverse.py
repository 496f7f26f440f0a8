"""Inverse dynamics: the forces that drive a mechanism, loops included, through a prescribed motion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..compile.compiler import Compiled
from ..compile.rank import ROOM
from ..mechanism.closure import CLOSED
from ..mechanism.linkage import Lost
from ..methods.capabilities import INVERSE, require
from ..model import Model
from ..model.errors import LinkworkError
from ..model.rotation import Array
from .inverse_result import Conclusion, InverseResult, Troubles
from .mechanism import Mechanism
from .motion import Motion, corners, prescribed

# A rate below this share of the fastest one is rest: dry friction has no direction then.
_AT_REST = 1e-9
# Shares of the forces in play that may be left over.
_LEFT_OVER, _ROUNDING = 1e-7, 1e-11
# Shares of what adds up that count as a contradiction between accelerations.
_CONTRADICTION = 1e-6


def inverse(
    model: Model,
    motion: Mapping[str, Any],
    times: npt.ArrayLike,
    *,
    at: Sequence[str] | None = None,
) -> InverseResult:
    """Forces that make a mechanism move as prescribed.

    `motion` says how coordinates such as `crank.angle` move [rad, m]; of a ball, `hip.wx` ... are the components of its
    rotation vector. Each is

    * a number: it stays there;
    * a `Sine` or `Table`, whose derivatives are known;
    * a function of time [s] that gives the value, or value, rate and acceleration; or three functions. Of the
      value alone, derivatives are found by differences, to some 9 digits, for which it must be defined a little
      beyond the times;
    * values at the times, joined by a spline of degree 5; or values, rates and accelerations there.

    `times` [s] increase. Together the coordinates must determine the motion of every joint; those of loops follow.
    `at` names the coordinates where forces act, by default the prescribed ones. Drives there are replaced by the
    unknown forces, other drives act as they are told; springs, dampers, dry friction and loads act as ever.
    """
    t = _times(times)
    if not motion:
        raise LinkworkError(
            "inverse needs the motion of at least one coordinate, such as {'crank.angle': ...}"
        )
    compiled = Compiled.of(model)
    require([INVERSE], compiled.flat)
    mech = Mechanism(compiled)
    path = _Path(mech, list(motion), [])
    study = _Study(mech, path, None if at is None else list(at))
    path.motions = [prescribed(name, given, t) for name, given in motion.items()]
    for name, given in motion.items():
        study.warn_of_corners(name, corners(given, t))
    return study.run(t)


def _times(times: npt.ArrayLike) -> Array:
    t = np.array(times, float)
    if t.ndim != 1 or not len(t) or not np.isfinite(t).all() or np.any(np.diff(t) <= 0.0):
        raise LinkworkError("times must be a list of finite numbers that increase [s]")
    return t


def _refuse_servos(mech: Mechanism, replaced: set[int]) -> None:
    """Raise if a drive keeps a rate of its own."""
    for row in map(int, mech.servos):
        if row not in replaced:
            c = int(mech.kin.constraints.rows["first"][row])
            raise LinkworkError(
                f"velocity servo '{mech.drive_name(row)}' keeps a rate of its own: prescribe "
                f"'{mech.coordinates[c]}' or let the force there be asked for (`at`)"
            )


class _Path:
    """Poses of a mechanism whose coordinates `names` move as prescribed, on one branch of its loops."""

    def __init__(self, mech: Mechanism, names: list[str], motions: Sequence[Motion]):
        self.mech, self.names, self.motions = mech, names, motions
        self.moved = np.array([mech.index(name) for name in names], np.int64)
        self.rows = np.concatenate([mech.hold, mech.places[self.moved]])
        """Of joints, and of the prescribed coordinates."""

    def wanted(self, t: float) -> tuple[Array, Array, Array]:
        """Value, rate and acceleration of the prescribed coordinates."""
        x = np.array([motion(t) for motion in self.motions], float)
        if not np.isfinite(x).all():
            bad = self.names[int(np.argmin(np.isfinite(x).all(axis=1)))]
            raise LinkworkError(f"the motion of '{bad}' is not finite at {t:g} s")
        return x[:, 0], x[:, 1], x[:, 2]

    def _path(self, t: float) -> tuple[Array, Array]:
        x, xd, _ = self.wanted(t)
        held = np.zeros(len(self.mech.hold))
        return np.concatenate([held, x]), np.concatenate([held, xd])

    def begin(self, t: float) -> Array:
        """From the pose as written to the start of the motion, without leaving the branch."""
        mech = self.mech
        q = mech.assemble()
        places = mech.places[self.moved]
        own = mech.independent(mech.hold, places)  # the others follow, on curves that are not known
        chosen = np.isin(places, own)
        start, goal = mech.values()[self.moved], self.wanted(t)[0]
        held = np.zeros(len(mech.hold))

        def approach(s: float) -> tuple[Array, Array]:
            way = (goal - start)[chosen]
            return np.concatenate([held, start[chosen] + s * way]), np.concatenate([held, way])

        when = f"on the way to the start of the motion at {t:g} s"
        try:
            q = mech.follow(q, np.concatenate([mech.hold, own]), approach, 0.0, 1.0)
        except Lost as lost:
            raise self._refusal(lost, when) from None
        q, gaps = mech.settle_down(q, self.rows, np.concatenate([held, goal]))
        if np.abs(gaps).max(initial=0.0) > CLOSED:
            worst = mech.kin.names[int(self.rows[np.argmax(np.abs(gaps))])]
            raise self._refusal(Lost(t, worst), when)
        return q

    def _refusal(self, lost: Lost, when: str) -> LinkworkError:
        """Why a pose could not be continued: too much was prescribed, or something out of reach."""
        excess = len(self.moved) - self.mech.mobility(self.mech.hold).shape[1]
        names = ", ".join(f"'{name}'" for name in self.names)
        if excess > 0:
            what = f"{excess} of the coordinates {names} {'is' if excess == 1 else 'are'} too many, and they disagree"
        else:
            what = f"{names} cannot go on from there: out of reach, or through a singular position"
        return LinkworkError(f"{when}: {what} ('{lost.row}' stays open)")

    def refuse_freedom(self, t: float, first: bool) -> None:
        """Raise if something can still move."""
        free = self.mech.mobility(self.rows)
        missing = free.shape[1]
        if not missing:
            return
        examples = ", ".join(f"'{name}'" for name in self._movers(free))
        if not first:
            raise LinkworkError(
                f"at {t:g} s the mechanism is in a singular position: the prescribed coordinates leave {examples} free"
            )
        raise LinkworkError(
            f"the motion is not determined: {missing} more coordinate{'s' if missing > 1 else ''} must be prescribed, "
            f"for example {examples}; or the mechanism starts in a singular position"
        )

    def _movers(self, free: Array) -> list[str]:
        """As many coordinates as there are free directions, which together would determine them."""
        left, found = free / self.mech.strides[:, None], []
        for _ in range(free.shape[1]):
            k = int(np.argmax(np.linalg.norm(left, axis=1)))
            found.append(self.mech.system.rates[k].name.removesuffix("_rate"))
            row = left[k] / np.linalg.norm(left[k])
            left = left - np.outer(left @ row, row)
        return found

    def follow(self, q: Array, before: float, t: float) -> Array:
        """The pose at a time t, on from the pose q at the time before [s]."""
        try:
            return self.mech.follow(q, self.rows, self._path, before, t)
        except Lost as lost:
            raise self._refusal(lost, f"at {lost.at:g} s") from None

    def refuse_contradiction(self, t: float, a: Array, wanted: Array) -> None:
        """Raise if accelerations a do not give what is wanted of the rows."""
        sizes = self.mech.sizes[self.rows]
        left = np.abs((self.mech.kin.jacobian(self.rows) @ a - wanted) / sizes)
        size = np.abs(wanted / sizes).max(initial=0.0)
        if left.max(initial=0.0) > _CONTRADICTION * max(size, 1.0):
            names = ", ".join(f"'{name}'" for name in self.names)
            raise LinkworkError(f"at {t:g} s the accelerations prescribed for {names} contradict each other")


class _Study:
    """Forces of a mechanism on its way through the motion."""

    def __init__(self, mech: Mechanism, path: _Path, at: list[str] | None):
        self.mech, self.path = mech, path
        self.driven = path.moved if at is None else np.array([mech.index(n) for n in at], np.int64)
        if len(set(self.driven.tolist())) != len(self.driven):
            raise LinkworkError("`at` names a coordinate twice")
        replaced = [row for c in self.driven for row in self.mech.drives_at(int(c))]
        _refuse_servos(mech, set(replaced))
        self.acting = self.mech.acting(without=replaced)
        self.warnings: list[str] = list(self.mech.system.notes)
        self._troubles = Troubles()

    def warn_of_corners(self, name: str, found: list[float]) -> None:
        if found:
            where = ", ".join(f"{time:g}" for time in found[:3]) + (" ..." if len(found) > 3 else "")
            self.warnings.append(
                f"the rate of '{name}' jumps at {where} s: the impulse that this takes is not among the forces"
            )

    # --- forces ---

    def run(self, times: Array) -> InverseResult:
        rows, q = [], self.path.begin(float(times[0]))
        for i, t in enumerate(map(float, times)):
            if i:
                q = self.path.follow(q, float(times[i - 1]), t)
            self.mech.kin.place(q)
            self.path.refuse_freedom(t, i == 0)
            rows.append(self._instant(q, t))
        return Conclusion(self.mech, self.driven, self.warnings).result(times, rows, self._troubles)

    def _instant(self, q: Array, t: float) -> dict[str, Array]:
        """Rates, accelerations and forces at one time."""
        mech, rows = self.mech, self.path.rows
        _, xd, xdd = self.path.wanted(t)
        held = np.zeros(len(mech.hold))
        v = mech.rates(rows, np.concatenate([held, xd]))
        bias = mech.bias(q, v)
        wanted = np.concatenate([held, xdd]) - bias[rows]
        a = mech.rates(rows, wanted)
        self.path.refuse_contradiction(t, a, wanted)
        J = mech.kin.jacobian()
        rates, accelerations = J @ v, J @ a + bias
        forces = self._forces(t, v, rates, accelerations)
        self._watch_limits(t)
        values, N = mech.values(), mech.mobility(mech.hold)
        parts = J[self.acting] * forces[:, None]
        push, spread = parts.sum(axis=0), np.abs(parts).sum(axis=0)
        needed = mech.kin.demand(q, v, a, t) - push
        B = J[mech.pushes[self.driven]]
        tau = self._drive(t, N, B, needed, spread + np.abs(needed))
        return {
            "q": q, "v": v, "qdd": a, "values": values, "tau": tau, "power": tau * (B @ v),
            "rates": rates[mech.pushes], "accelerations": accelerations[mech.pushes],
            "driven_rates": B @ v, "driven_accelerations": accelerations[mech.pushes[self.driven]],
        }  # fmt: skip

    def _forces(self, t: float, v: Array, rates: Array, accelerations: Array) -> Array:
        """What springs, friction and the drives that are not replaced do [N m or N]."""
        mech, forces = self.mech, []
        still = _AT_REST * np.abs(v).max(initial=0.0)
        friction = set(mech.friction.tolist())
        for row in map(int, self.acting):
            rate = float(rates[row])
            if row in friction and abs(rate) <= still:
                self._troubles.resting[row] = self._troubles.resting.get(row, 0) + 1
                rate = 0.0
            forces.append(mech.law(row, rate, float(accelerations[row]), mech.command(row, t), t))
        return np.array(forces)

    def _watch_limits(self, t: float) -> None:
        gaps = self.mech.kin.gaps
        for row in map(int, self.mech.limits):
            depth = -float(gaps[row])
            if depth / self.mech.sizes[row] > 1e-9 and depth > self._troubles.deepest.get(row, (0.0, 0.0))[0]:
                self._troubles.deepest[row] = depth, t

    def _drive(self, t: float, N: Array, B: Array, needed: Array, size: Array) -> Array:
        """Forces at the driven coordinates that, with those of the loops, give what is needed."""
        A, b = (B @ N).T, N.T @ needed
        if not A.size:
            return np.zeros(len(self.driven))
        tau, _, rank, _ = np.linalg.lstsq(A, b, rcond=ROOM)
        if rank < len(self.driven):
            self._troubles.undetermined = True
        left = A @ tau - b
        play = np.abs(N).T @ size
        if np.any(np.abs(left) > _LEFT_OVER * play + _ROUNDING * play.max()):
            idle = self.mech.busiest(N @ left)
            names = ", ".join(f"'{self.mech.coordinates[c]}'" for c in self.driven)
            raise LinkworkError(
                f"at {t:g} s forces at {names} cannot give this motion: nothing there drives '{idle}'"
            )
        return np.array(tau)
