"""MuJoCo as a contender: the same chain, stepped inside the engine."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.model.rotation import quaternion

from .serial import gravity, serial_links

if TYPE_CHECKING:
    from linkwork.compile.system import System
    from linkwork.model.rotation import Array

STEP = "mj_step(model, data, nstep): Euler, default options, a model without geoms"
STEP_LEAN = "the same with everything but gravity switched off (option/flag)"
FORWARD = "mj_forward over a batch of states, called from a compiled loop through the C library"
FORWARD_LEAN = (
    "mj_kinematics, mj_comPos, mj_makeM, mj_factorM, mj_comVel, mj_rne, mj_solveM alone, called from the "
    "same compiled loop: no call passes through Python"
)
# The compiler refuses moving bodies without mass or inertia; the true values are written afterwards.
_LEAST = 1e-9


def build(system: System, *, dt: float = 1e-3, rk4: bool = False, lean: bool = False) -> Any:
    """An MjModel with the same frames, masses and inertias."""
    import mujoco

    links = serial_links(system)
    spec = mujoco.MjSpec()
    spec.compiler.balanceinertia = True
    spec.option.gravity = gravity(system)
    body = spec.worldbody
    moments = []
    for link in links:
        principal, axes = _principal(link.inertia)
        moments.append(principal)
        body = body.add_body(
            pos=link.p,
            quat=quaternion(link.R),
            mass=max(link.mass, _LEAST),
            ipos=link.com,
            iquat=quaternion(axes),
            inertia=np.maximum(principal, _LEAST),
            explicitinertial=True,
        )
        kind = mujoco.mjtJoint.mjJNT_HINGE if link.hinge else mujoco.mjtJoint.mjJNT_SLIDE
        body.add_joint(type=kind, axis=(0.0, 0.0, 1.0))
    model = spec.compile()
    model.body_mass[1:] = [link.mass for link in links]
    model.body_inertia[1:] = moments
    model.opt.timestep = dt
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4 if rk4 else mujoco.mjtIntegrator.mjINT_EULER
    if lean:
        gravity_bit = int(mujoco.mjtDisableBit.mjDSBL_GRAVITY)
        model.opt.disableflags = (2 ** int(mujoco.mjtDisableBit.mjNDISABLE) - 1) & ~gravity_bit
    # What the engine derives from masses must follow them.
    mujoco.mj_setConst(model, mujoco.MjData(model))
    return model


class MujocoRunner:
    """Steps inside the engine, from the start of the system."""

    def __init__(self, system: System, *, dt: float, rk4: bool = False, lean: bool = False):
        import mujoco

        self._step, self._clear = mujoco.mj_step, mujoco.mj_resetData
        self._model = build(system, dt=dt, rk4=rk4, lean=lean)
        self._data = mujoco.MjData(self._model)
        self._start = system.q0, system.v0
        self.reset()

    def reset(self) -> None:
        """Back to the start."""
        self._clear(self._model, self._data)
        self._data.qpos[:], self._data.qvel[:] = self._start

    def run(self, steps: int) -> None:
        """Take steps in one call."""
        self._step(self._model, self._data, nstep=steps)

    @property
    def q(self) -> Array:
        """Coordinates now."""
        return np.array(self._data.qpos)


class MujocoForward:
    """Joint accelerations of a batch of states in one compiled call."""

    def __init__(self, system: System, q: Array, v: Array, *, lean: bool):
        import mujoco

        self._model = build(system, lean=lean)
        self._data = mujoco.MjData(self._model)
        self._states = np.ascontiguousarray(q), np.ascontiguousarray(v)
        self.accelerations = np.empty_like(v)
        self._loop = _compiled_loop(self._model, self._data, lean)

    def run(self, batches: int) -> None:
        """Go through the batch that many times."""
        for _ in range(batches):
            self._loop(*self._states, self.accelerations)


def _compiled_loop(model: Any, data: Any, lean: bool) -> Callable[[Array, Array, Array], None]:
    # Not through linkwork.engine.kernels: addresses of a foreign library must never end up in the cache.
    njit = import_module("numba").njit
    m, d = model._address, data._address
    qpos, qvel, bias, qacc = data.qpos, data.qvel, data.qfrc_bias, data.qacc
    force = np.zeros(model.nv)
    bias_at, force_at, qacc_at = bias.ctypes.data, force.ctypes.data, qacc.ctypes.data
    library = _library()
    forward = _function(library, "mj_forward", 2)
    kinematics, com_pos = _function(library, "mj_kinematics", 2), _function(library, "mj_comPos", 2)
    make_m, factor_m = _function(library, "mj_makeM", 2), _function(library, "mj_factorM", 2)
    com_vel, rne = _function(library, "mj_comVel", 2), _function(library, "mj_rne", 4)
    solve_m = _function(library, "mj_solveM", 5)

    def loop(q, v, out, qpos, qvel, bias, force, qacc):  # type: ignore[no-untyped-def]
        for i in range(q.shape[0]):
            qpos[:] = q[i]
            qvel[:] = v[i]
            if lean:
                kinematics(m, d)
                com_pos(m, d)
                make_m(m, d)
                factor_m(m, d)
                com_vel(m, d)
                rne(m, d, 0, bias_at)
                for k in range(force.shape[0]):
                    force[k] = -bias[k]
                solve_m(m, d, qacc_at, force_at, 1)
            else:
                forward(m, d)
            out[i] = qacc

    compiled = njit(loop)
    return lambda q, v, out: compiled(q, v, out, qpos, qvel, bias, force, qacc)


def _library() -> ctypes.CDLL:
    """The shared library that the Python binding itself has loaded."""
    import mujoco

    folder = Path(mujoco.__file__).parent
    for path in sorted(folder.iterdir()):
        if path.name.startswith("libmujoco") or path.name == "mujoco.dll":
            return ctypes.CDLL(str(path))
    raise OSError(f"no MuJoCo library in {folder.name}")


def _function(library: ctypes.CDLL, name: str, arguments: int) -> Any:
    """A C function without result; pointers and ints travel in the same 64-bit registers."""
    function = getattr(library, name)
    function.argtypes = [ctypes.c_int64] * arguments
    function.restype = None
    return function


def _principal(inertia: Array) -> tuple[Array, Array]:
    """Principal moments and axes; the axes as they are if the matrix is diagonal already."""
    if not np.any(inertia - np.diag(np.diag(inertia))):
        return np.diag(inertia).copy(), np.eye(3)
    moments, axes = np.linalg.eigh(inertia)
    return moments, axes * np.sign(np.linalg.det(axes))
