"""Residuals of implicit steps and their tangents at any state, and what differences make of the residuals."""

from __future__ import annotations

import numpy as np

from linkwork import Model
from linkwork.compile.compiler import Compiled
from linkwork.compile.rank import null_space
from linkwork.engine.kernels.skyline import FIRST, LOWER, START, UNKNOWN, UPPER, Skyline
from linkwork.engine.steppers.balance import evaluate, evaluate_rows, is_natural, move
from linkwork.methods.implicit import TRAPEZOIDAL, Hybrid, Topological
from linkwork.methods.natural import Global
from linkwork.model.rotation import Array

STEP = 1e-5
"""Of central differences [rad, m, rad/s or m/s]: rounding leaves 1e-11 of the residual, curvature 1e-10 of its third
derivative."""


def dense(matrix: Skyline) -> Array:
    """A sparse matrix, numbered like the unknowns."""
    shape, values = matrix.shape, matrix.values
    n = shape.shape[1]
    A = np.zeros((n, n))
    for i in range(n):
        for j in range(shape[FIRST, i], i + 1):
            x, y, k = shape[UNKNOWN, i], shape[UNKNOWN, j], shape[START, i] + j
            A[x, y] = values[LOWER, k]
            if i != j:
                A[y, x] = values[UPPER, k]
    return A


class Residual:
    """What `evaluate` says of a model, as functions of unknowns, their rates and their accelerations."""

    def __init__(self, model: Model, method: str = "hybrid", t: float = 0.37):
        kind = {"hybrid": Hybrid, "topological": Topological, "global": Global}[method]
        self.method = kind(integrator=TRAPEZOIDAL).build(Compiled(model), 1e-3)
        self.method.advance([0])  # on the constraints
        self.equations, self.t = self.method.equations, t
        self.tables, self.constraints, self.work = self.equations
        self.n = len(self.work.residual)
        self.start = self.method.memory().get("path_q", self.method.state.q).copy()

    def moved(self, q: Array, delta: Array) -> Array:
        out = np.empty_like(q)
        move(self.tables, self.work, q, delta, out)
        return out

    def __call__(self, q: Array, v: Array, a: Array) -> Array:
        evaluate(self.equations, q, v, a, self.t, 0.0, 0.0, False)
        return self.work.residual.copy()

    def tangents(self, q: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
        """∂r/∂a, ∂r/∂v and ∂r/∂q."""
        found = []
        for on_v, on_q in ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0)):
            evaluate(self.equations, q, v, a, self.t, on_v, on_q, True)
            found.append(dense(self.work.matrix))
        M, C, K = found
        return M, C - M, K - M

    def differences(self, q: Array, v: Array, a: Array, along: Array) -> tuple[Array, Array, Array]:
        """The same times the columns of `along`, by central differences."""
        found: list[list[Array]] = [[], [], []]
        for x in STEP * along.T:
            found[0].append(self(q, v, a + x) - self(q, v, a - x))
            found[1].append(self(q, v + x, a) - self(q, v - x, a))
            found[2].append(self(self.moved(q, x), v, a) - self(self.moved(q, -x), v, a))
        M, C, K = (np.reshape(columns, (along.shape[1], self.n)).T / (2.0 * STEP) for columns in found)
        return M, C, K

    def rigid(self, q: Array) -> Array:
        """Motions that leave bodies rigid, as columns: all of them, but in natural coordinates."""
        if not is_natural(self.work):
            return np.eye(self.n)
        evaluate_rows(self.equations, q, np.zeros(self.n))
        ptr, idx, val = self.work.ptr, self.work.idx, self.work.val
        G = np.zeros((len(ptr) - 1, self.n))
        for r, row in enumerate(G):
            np.add.at(row, idx[ptr[r] : ptr[r + 1]], val[ptr[r] : ptr[r + 1]])
        return null_space(G[len(self.constraints.rows) :], 1e-9)

    def misses(self, q: Array, v: Array, a: Array) -> list[float]:
        """How far the three tangents are from differences, as shares of the largest forces and derivatives.

        In natural coordinates forces along the gradients of rigid rows move nothing, and no motion goes there.
        """
        N = self.rigid(q)
        force = np.abs(N.T @ self(q, v, a)).max(initial=0.0)
        found = []
        for exact, measured in zip(self.tangents(q, v, a), self.differences(q, v, a, N), strict=True):
            wanted = N.T @ measured
            size = max(1.0, force, np.abs(wanted).max(initial=0.0))
            found.append(float(np.abs(N.T @ exact @ N - wanted).max(initial=0.0)) / size)
        return found
