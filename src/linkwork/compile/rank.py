"""The one decision of rank: which equations say something new, with room for numbers as people write them.

Jacobians come in dimensionless rows and columns (`Closure.dimensionless`): angles in radians, lengths in sizes of the
loop that they belong to. Then a row that should follow from others but is written with six to ten digits misses that by
1e-6 to 1e-10, rounding of the computation by 1e-15, and an equation that really holds something by 1e-3 or more,
wherever the mechanism is not near a singular position.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..model.rotation import Array
from .union import Union

ROOM = 1e-5
"""What is left of a row less than this follows from the others but for the digits it is written with; singular values
below this share of the largest are zero."""
EXACT = 1e-12
"""What is left of a row less than this is rounding of the computation."""
_FEW = 100  # equations whose singular values are found in less than a tenth of a second
_LEAST, _POWERS = (
    1e-14,
    10,
)  # damping of many, and products by which their largest singular value is known to 10 %


class Independent(NamedTuple):
    """Rows of a matrix that say something new, and what is left of each row beside the others."""

    kept: Array
    """Indices, sorted."""
    left: Array
    """Length of each row that was not kept, less its part along those that were; of the others 0."""


def rank_of(values: Array) -> int:
    """How many singular values are not zero."""
    return int((values > ROOM * max(float(values.max(initial=0.0)), 1e-300)).sum())


def alive(J: Array, tolerance: float = EXACT) -> Any:
    """Rows that some motion changes: in planar mechanisms of spatial joints less than half."""
    return np.abs(J).max(axis=1, initial=0.0) > tolerance


def spectrum(A: Array) -> Array:
    """Singular values of a matrix, largest first: those of its triangle, which is as large as its shorter side."""
    A = A[alive(A)]
    if not A.size:
        return np.zeros(0)
    R = np.linalg.qr(A if len(A) > A.shape[1] else A.T, mode="r")
    return np.linalg.svd(R, compute_uv=False)


def null_space(A: Array, tolerance: float = ROOM) -> Array:
    """Orthonormal columns that A takes to zero, up to a share of its largest singular value."""
    A = A[alive(A)]
    if not A.size:
        return np.eye(A.shape[1])
    if len(A) > A.shape[1]:
        _, s, Vt = np.linalg.svd(np.linalg.qr(A, mode="r"))
    elif 2 * len(A) < A.shape[1]:  # wide: what A does not reach at all is found by plain orthogonalisation
        Q, R = np.linalg.qr(A.T, mode="complete")
        _, s, small = np.linalg.svd(R[: len(A)].T)
        Vt = np.vstack([small @ Q[:, : len(A)].T, Q[:, len(A) :].T])
    else:
        _, s, Vt = np.linalg.svd(A)
    return Vt[int((s > tolerance * max(s[0], 1e-300)).sum()) :].T


def shortest(A: Array, b: Array, tolerance: float = ROOM) -> Array:
    """The shortest x that brings A x nearest to b, by singular values above a share of the largest."""
    if not A.size:
        return np.zeros(A.shape[1])
    return np.array(np.linalg.lstsq(A, b, rcond=tolerance)[0])


def damped_steps(J: Array, f: Array) -> Callable[[float], Array]:
    """Steps y that bring f + J y towards zero, by their damping, in squares of the largest singular value s of J.

    -Jᵀ (J Jᵀ + damping s²)⁻¹ f, by singular values above EXACT s. Of many equations those would take minutes: then as
    it stands, and no damping is some rounding of the products, which keeps back what hardly moves anything.
    """
    if len(J) <= _FEW:
        U, s, Vt = np.linalg.svd(J, full_matrices=False)
        kept = s > EXACT * s[0]
        along, s, Vt = U.T[kept] @ f, s[kept], Vt[kept]
        return lambda damping: -Vt.T @ (along * s / (s * s + damping * s[0] ** 2))
    products = J @ J.T
    x = np.ones(len(J))
    for _ in range(_POWERS):
        x = products @ (x / np.linalg.norm(x))
    most, identity = float(np.linalg.norm(x)), np.eye(len(J))

    def step(damping: float) -> Array:
        return -J.T @ np.linalg.solve(products + max(damping, _LEAST) * most * identity, f)

    return step


def along_null_space(J: Array, x: Array) -> Array:
    """The part of x that J does not see."""
    J = J[alive(J)]
    if not J.size:
        return x
    _, s, Vt = np.linalg.svd(J, full_matrices=False)
    seen = Vt[: rank_of(s)]
    unseen: Array = x - seen.T @ (seen @ x)
    return unseen


def independent(J: Array) -> Independent:
    """Rows of a dimensionless J that are independent and as far from dependent as can be."""
    kept, left = [np.zeros(0, np.int64)], np.zeros(len(J))
    for rows, columns in clusters(J):
        chosen, rest = pivoted(J[np.ix_(rows, columns)])
        kept.append(rows[chosen])
        left[rows] = rest
    return Independent(np.sort(np.concatenate(kept)), left)


def pivoted(J: Array, tolerance: float = ROOM) -> tuple[list[int], Array]:
    """Rows that are longest beside those chosen before them, and the lengths that are left of the others.

    The columns of a Cholesky factor of J Jᵀ, diagonally pivoted, tell which: squares of a `tolerance` of 1e-7 or more
    are not lost in rounding. What is left is then found by orthogonalisation, to rounding.
    """
    products = J @ J.T
    size = np.diag(products).copy()
    factor = np.zeros((min(J.shape), len(J)))
    chosen: list[int] = []
    for k in range(min(J.shape)):
        i = int(np.argmax(size))
        if size[i] <= tolerance * tolerance:
            break
        chosen.append(i)
        near = np.flatnonzero(factor[:k, i])  # few in long chains
        before = factor[:k] if 2 * len(near) > k else factor[near]
        factor[k] = (products[i] - before[:, i] @ before) / np.sqrt(size[i])
        size -= factor[k] * factor[k]
        size[chosen] = 0.0
    left = np.zeros(len(J))
    others = np.setdiff1d(np.arange(len(J)), chosen)
    rest = J[others]
    if rest.any():
        Q = np.linalg.qr(J[chosen].T).Q
        for _ in range(2):
            rest = rest - (rest @ Q) @ Q.T
        left[others] = np.linalg.norm(rest, axis=1)
    return chosen, left


def clusters(J: Array) -> list[tuple[Any, Any]]:
    """Rows of J and columns that have to do with each other; a column that no row has is alone.

    Dense algebra takes the cube of the size: loops that share no joint are better looked at one by one.
    """
    together = Union(range(J.shape[1]))
    size = np.abs(J)
    touched = [np.flatnonzero(line > EXACT * line.max(initial=0.0)).tolist() for line in size]
    for columns in touched:
        for c in columns[1:]:
            together.join(c, columns[0])
    found: dict[int, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for c in range(J.shape[1]):
        found[together.find(c)][1].append(c)
    for i, columns in enumerate(touched):
        if columns:
            found[together.find(columns[0])][0].append(i)
    return [(np.array(rows, np.int64), np.array(columns, np.int64)) for rows, columns in found.values()]
