"""Functions of an open chain's state in MuJoCo: a batch in compiled code, and one state from Python."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from .peer_mujoco import _function, _library, build

if TYPE_CHECKING:
    from linkwork.compile.system import System
    from linkwork.model.rotation import Array

HOW = (
    "the fewest functions of its C library that yield it, called from a compiled loop: mj_kinematics, mj_comPos and, "
    "as needed, mj_comVel, mj_makeM, mj_factorM, mj_rne, mj_solveM, mj_jacBody"
)
HOW_BATCH = "mujoco.batch.Batch on one thread: forward(), or jac()"
HOW_SINGLE = "mj_forward, mj_inverse; mj_fwdPosition and mj_fullM; mj_kinematics, mj_comPos and mj_jacBody"


class MujocoFunctions:
    """Forward and inverse dynamics, mass matrix and Jacobian of the last body."""

    def __init__(self, system: System, q: Array, v: Array, a: Array):
        import mujoco

        self.mujoco = mujoco
        self.model = build(system, lean=True)
        self.data = mujoco.MjData(self.model)
        self.states = tuple(np.ascontiguousarray(part) for part in (q, v, a))
        n = self.model.nv
        self.results = {
            "forward": np.empty_like(v), "inverse": np.empty_like(v), "mass matrix": np.empty((len(q), n, n)),
            "jacobian": np.empty((len(q), 6, n)),
        }  # fmt: skip
        self._loops: dict[str, Callable[..., None]] = _loops(self.model, self.data)
        self._batch = self._new_batch()

    def _new_batch(self) -> Any:
        batches: Any = import_module("mujoco.batch")
        batch = batches.Batch(self.model, len(self.states[0]), 1)
        batch.bind("qpos")[:], batch.bind("qvel")[:] = self.states[:2]
        return batch

    def lean(self, what: str) -> None:
        """A batch, by the fewest calls."""
        self._loops[what](*self.states, self.results[what].reshape(len(self.states[0]), -1))

    def batch(self, what: str) -> None:
        """A batch, by the engine's own way; None where it has none."""
        if what == "forward":
            self._batch.forward()
        else:
            self._batch.jac(self.model.nbody - 1, np.zeros(3))

    def single(self, what: str) -> Callable[[], object]:
        """A function of the first state, from Python."""
        mujoco, model, data = self.mujoco, self.model, self.data
        q, v, a = (part[0].copy() for part in self.states)
        n = model.nv
        H, Jp, Jr, body = np.zeros((n, n)), np.zeros((3, n)), np.zeros((3, n)), model.nbody - 1
        qpos, qvel, qacc = data.qpos, data.qvel, data.qacc

        def forward() -> Any:
            qpos[:], qvel[:] = q, v
            mujoco.mj_forward(model, data)
            return data.qacc

        def inverse() -> Any:
            qpos[:], qvel[:], qacc[:] = q, v, a
            mujoco.mj_inverse(model, data)
            return data.qfrc_inverse

        def mass_matrix() -> Any:
            qpos[:] = q
            mujoco.mj_fwdPosition(model, data)
            mujoco.mj_fullM(model, data, H)
            return H

        def jacobian() -> Any:
            qpos[:] = q
            mujoco.mj_kinematics(model, data)
            mujoco.mj_comPos(model, data)
            mujoco.mj_jacBody(model, data, Jp, Jr, body)
            return np.vstack([Jr, Jp])

        return {"forward": forward, "inverse": inverse, "mass matrix": mass_matrix, "jacobian": jacobian}[
            what
        ]


def _loops(model: Any, data: Any) -> dict[str, Callable[[Array, Array, Array, Array], None]]:
    """What goes through a batch for each function, compiled."""
    # Not through linkwork.engine.kernels: addresses of a foreign library must never end up in the cache.
    njit = import_module("numba").njit
    m, d, n, body = model._address, data._address, model.nv, model.nbody - 1
    qpos, qvel, qacc, bias = data.qpos, data.qvel, data.qacc, data.qfrc_bias
    force = np.zeros(n)
    bias_at, force_at, qacc_at = bias.ctypes.data, force.ctypes.data, qacc.ctypes.data
    library = _library()
    kinematics, com_pos = _function(library, "mj_kinematics", 2), _function(library, "mj_comPos", 2)
    make_m, factor_m = _function(library, "mj_makeM", 2), _function(library, "mj_factorM", 2)
    com_vel, rne = _function(library, "mj_comVel", 2), _function(library, "mj_rne", 4)
    solve_m, full_m = _function(library, "mj_solveM", 5), _function(library, "mj_fullM", 3)
    jac = _function(library, "mj_jacBody", 5)

    def forward(q, v, a, out, qpos, qvel, qacc, bias, force):  # type: ignore[no-untyped-def]
        for i in range(q.shape[0]):
            qpos[:] = q[i]
            qvel[:] = v[i]
            kinematics(m, d)
            com_pos(m, d)
            make_m(m, d)
            factor_m(m, d)
            com_vel(m, d)
            rne(m, d, 0, bias_at)
            for k in range(n):
                force[k] = -bias[k]
            solve_m(m, d, qacc_at, force_at, 1)
            out[i] = qacc

    def inverse(q, v, a, out, qpos, qvel, qacc, bias, force):  # type: ignore[no-untyped-def]
        for i in range(q.shape[0]):
            qpos[:] = q[i]
            qvel[:] = v[i]
            qacc[:] = a[i]
            kinematics(m, d)
            com_pos(m, d)
            com_vel(m, d)
            rne(m, d, 1, out.ctypes.data + 8 * n * i)

    def mass_matrix(q, v, a, out, qpos, qvel, qacc, bias, force):  # type: ignore[no-untyped-def]
        for i in range(q.shape[0]):
            qpos[:] = q[i]
            kinematics(m, d)
            com_pos(m, d)
            make_m(m, d)
            full_m(m, d, out.ctypes.data + 8 * n * n * i)

    def jacobian(q, v, a, out, qpos, qvel, qacc, bias, force):  # type: ignore[no-untyped-def]
        for i in range(q.shape[0]):
            qpos[:] = q[i]
            kinematics(m, d)
            com_pos(m, d)
            at = out.ctypes.data + 8 * 6 * n * i
            jac(m, d, at + 8 * 3 * n, at, body)

    def bound(function: Any) -> Callable[[Array, Array, Array, Array], None]:
        compiled = njit(function)
        return lambda q, v, a, out: compiled(q, v, a, out, qpos, qvel, qacc, bias, force)

    return {
        "forward": bound(forward), "inverse": bound(inverse), "mass matrix": bound(mass_matrix),
        "jacobian": bound(jacobian),
    }  # fmt: skip
