"""Gains of the linear-quadratic regulator of a linearised mechanism."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..model.errors import LinkworkError
from ..model.rotation import Array
from .linear_system import LinearSystem

_ON_THE_AXIS = 1e-9  # real part of an eigenvalue, of the largest one, that counts as none


def lqr(system: LinearSystem, Q: npt.ArrayLike, R: npt.ArrayLike) -> Array:
    """Gains K of u = -K x that make the integral of xᵀQx + uᵀRu least, x and u being the states and inputs of `system`.

    Q and R are matrices, or their diagonals, in the order of `system.states` and `system.inputs`. An error if no such
    gains bring every state to rest.
    """
    A, B = system.A, system.B
    weights = _matrix("Q", Q, len(A)), _matrix("R", R, B.shape[1])
    if np.linalg.eigvalsh(weights[1]).min() <= 0.0:
        raise LinkworkError("R must be positive definite: every input has to cost something")
    if np.linalg.eigvalsh(weights[0]).min() < 0.0:
        raise LinkworkError("Q must not be negative: no state may be worth being away from rest")
    # The stable subspace of the Hamiltonian matrix (Laub 1979), in units in which its states are of one size.
    scale = system.scales if len(system.scales) else np.ones(len(A))
    A, B, Q = A / scale[:, None] * scale, B / scale[:, None], weights[0] * scale[:, None] * scale
    spread = B @ np.linalg.solve(weights[1], B.T)
    values, vectors = np.linalg.eig(np.block([[A, -spread], [-Q, -A.T]]))
    stable = values.real < -_ON_THE_AXIS * np.abs(values).max()
    if stable.sum() != len(A):
        raise LinkworkError(
            "no gains bring every state to rest: some motion is beyond the reach of the inputs, or costs nothing in Q"
        )
    upper, lower = vectors[: len(A), stable], vectors[len(A) :, stable]
    if np.linalg.cond(upper) > 1e12:
        raise LinkworkError(
            "no gains bring every state to rest: some motion is beyond the reach of the inputs"
        )
    P = np.linalg.solve(upper.T, lower.T).T.real
    found: Array = np.linalg.solve(weights[1], B.T @ (P + P.T) / 2.0) / scale
    return found


def _matrix(name: str, value: npt.ArrayLike, size: int) -> Array:
    given = np.asarray(value, float)
    made = np.diag(given) if given.ndim == 1 else given
    if (
        made.shape != (size, size)
        or not np.isfinite(made).all()
        or np.abs(made - made.T).max(initial=0.0) > 0.0
    ):
        raise LinkworkError(f"{name} must be a symmetric {size} × {size} matrix of numbers, or its diagonal")
    return made
