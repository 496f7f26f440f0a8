"""Statics: a pose in which a mechanism rests, what holds it there, and whether it stays."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ..compile.compiler import Compiled
from ..methods.capabilities import CONTACT
from ..methods.features import features
from ..model import Model
from ..model.errors import LinkworkError, need_positive
from ..model.rotation import Array
from .descent import Descent
from .forces import NEARLY, Forces, Look, symmetric
from .holders import holders, posed
from .resting import Resting
from .statics_result import Equilibrium, Mode, Stability

# Stiffness that counts as none, as shares of what the forces in play and the stiffest motion would have.
_NO_STIFFNESS, _ROUNDING = 1e-9, 1e-12
_NUDGE, _NUDGES = 1e-2, 10


def equilibrium(
    model: Model,
    *,
    hold: Mapping[str, float] | None = None,
    time: float = 0.0,
    stable: bool = False,
    patience: float = 100.0,
    progress: Callable[[float], object] | None = None,
) -> Equilibrium:
    """A pose near the written one in which the mechanism rests.

    Gravity, springs, constant forces and your functions act, signals as they are at `time` [s]; position servos pull
    like springs, DC motors with their stall torque, velocity servos told to stand still lock their coordinate; limits
    carry load. Dry friction is left out. `hold` gives drives other commands, or holds coordinates such as
    `crank.angle` at a value [rad or m], beside their drives. An unstable pose is returned only if the search starts
    there, or if forces have no potential to go down; with `stable`, it is then left for a stable one.

    Where bodies may touch, it is the rest that is reached from the written pose by creeping, with friction of contacts
    and joints: see docs/inverse-and-statics.md. What does not come to rest within `patience` seconds of simulated time
    is refused by name; `progress(share)` is told how far it is.
    """
    return Statics(model, hold=hold, time=time, patience=patience).find(stable=stable, progress=progress)


class Statics:
    """A model, made ready to look for a pose in which it rests: see `equilibrium`."""

    def __init__(
        self,
        model: Model,
        *,
        hold: Mapping[str, float] | None = None,
        time: float = 0.0,
        patience: float = 100.0,
    ):
        need_positive("patience", patience)
        compiled = Compiled(model)
        self.creeps = bool(features(compiled.flat, [CONTACT]))
        """Whether bodies may touch, so that it may take a while."""
        self._forces = Forces(compiled, dict(hold or {}), time, friction=self.creeps)
        self._resting = Resting(self._forces, patience) if self.creeps else None

    def find(self, *, stable: bool = False, progress: Callable[[float], object] | None = None) -> Equilibrium:
        """The rest near the written pose; with `stable`, one that is."""
        if self._resting is not None:
            return self._resting.find(stable, progress)
        forces, descent = self._forces, Descent(self._forces)
        q = forces.start()
        for _ in range(_NUDGES):
            q = descent.find(q)
            found = _described(forces, q, descent.iterations)
            if not stable or found.stability != "unstable":
                return found
            q = forces.moved(q, _NUDGE * found.modes[0].shape)[0]
        raise LinkworkError(
            f"every equilibrium found near the written pose is unstable, the last in '{found.modes[0].coordinate}'"
        )


def _described(forces: Forces, q: Array, iterations: int) -> Equilibrium:
    """Everything about the pose that was found."""
    mech, look = forces.mech, forces.look(q)
    equal, limits = forces.carry(look)
    left = look.Q + look.J.T @ equal + look.J_limits.T @ limits
    modes = _modes(forces, q, look, equal, limits)
    values = dict(zip(mech.coordinates, map(float, mech.values()), strict=True))
    stability: Stability = modes[0].stability if modes else "stable"
    notes = list(forces.notes)
    carried = holders(forces, equal, limits, notes)
    return Equilibrium(
        forces.compiled.name, q, values, stability, modes, carried, float(np.abs(left).max(initial=0.0)),
        iterations, notes, posed(forces, q),
    )  # fmt: skip


def _modes(forces: Forces, q: Array, look: Look, equal: Array, limits: Array) -> list[Mode]:
    mech = forces.mech
    # A limit that barely touches carries nothing.
    carrying = np.flatnonzero(
        limits * np.abs(look.J_limits).max(axis=1, initial=0.0) > NEARLY * look.size.max(initial=0.0)
    )
    N = forces.free(look, carrying)
    if not N.shape[1]:
        return []
    H = forces.inertia(q)
    kappa, shapes = _modal(N.T @ forces.stiffness(q, equal, limits) @ N, N.T @ H @ N)
    modes = []
    for k in np.argsort(kappa.real):
        shape = N @ shapes[:, k]
        shape /= forces.mech.far(shape)
        # Energy of the mode against the work that the forces in play could do on it.
        weight = float(shape @ H @ shape)
        none = _NO_STIFFNESS * float(np.abs(shape) @ look.size) / weight
        none += _ROUNDING * float(np.abs(kappa).max())
        rate = np.sqrt(complex(-kappa[k]))  # exp(rate t)
        stability: Stability = "stable"
        if abs(kappa[k]) <= none:
            stability, rate = "indifferent", 0j
        elif kappa[k].real < 0.0 or abs(kappa[k].imag) > none:
            stability = "unstable"
        modes.append(
            Mode(
                stability,
                mech.busiest(shape),
                float(abs(rate.imag) / math.tau),
                float(abs(rate.real)),
                shape,
            )
        )
    ranks = ("unstable", "indifferent", "stable")
    return sorted(modes, key=lambda mode: ranks.index(mode.stability))


def _modal(K: Array, M: Array) -> tuple[npt.NDArray[np.complexfloating[Any, Any]], Array]:
    """Stiffness over inertia of every mode [1/s²], and shapes as columns; of modes that flutter, their real part."""
    inverse = np.linalg.inv(np.linalg.cholesky(M))
    W = inverse @ K @ inverse.T
    if symmetric(K):
        kappa, V = np.linalg.eigh(0.5 * (W + W.T))
        return kappa.astype(complex), inverse.T @ V
    kappa, V = np.linalg.eig(W)
    return kappa.astype(complex), inverse.T @ np.real(V)
