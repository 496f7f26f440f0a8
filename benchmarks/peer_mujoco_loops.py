"""MuJoCo as a contender: a mechanism of hinges, loops closed by connect equalities, stepped inside the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linkwork.model.rotation import Array, quaternion

from .hinges import read_mechanism
from .peer import Peer, starts, widest

if TYPE_CHECKING:
    from linkwork.compile.system import System

HOW = "mj_step(model, data, nstep), Euler, default options; loops by connect, friction by frictionloss"
HOW_TIGHT = "the same with solref = 2 dt and solimp = 0.9999 on loops and friction"


class MujocoLoops(Peer):
    """The same mechanism in MuJoCo."""

    def __init__(self, system: System, friction: float, dt: float, *, tight: bool = False, rk4: bool = False):
        import mujoco

        self._mujoco = mujoco
        links, closures, gravity = read_mechanism(system)
        solver = {"solref": (2 * dt, 1.0), "solimp": (0.9999, 0.9999, 0.001, 0.5, 2.0)} if tight else {}
        spec = mujoco.MjSpec()
        spec.option.gravity = gravity
        bodies = {0: spec.worldbody}
        for d, link in links.items():
            bodies[d] = bodies[link.parent].add_body(
                name=f"body{d}", pos=link.p, quat=quaternion(link.R), mass=link.mass, ipos=link.com,
                inertia=link.moments, explicitinertial=True,
            )  # fmt: skip
            joint = bodies[d].add_joint(
                type=mujoco.mjtJoint.mjJNT_HINGE, axis=(0, 0, 1), frictionloss=friction
            )
            if tight:
                joint.solref_friction, joint.solimp_friction = solver["solref"], solver["solimp"]
        for closure in closures:
            loop = spec.add_equality()
            loop.type, loop.objtype = mujoco.mjtEq.mjEQ_CONNECT, mujoco.mjtObj.mjOBJ_BODY
            loop.name1, loop.name2 = (f"body{end}" if end else "world" for end in (closure.a, closure.b))
            loop.data = np.r_[closure.on_a, np.zeros(9)]
            for key, value in solver.items():
                setattr(loop, key, value)
        self._closures = closures
        self._model = spec.compile()
        self._model.opt.timestep = dt
        if rk4:
            self._model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
        self._data = mujoco.MjData(self._model)
        self._start = starts(links)

    def reset(self) -> None:
        self._mujoco.mj_resetData(self._model, self._data)
        self._data.qpos[:], self._data.qvel[:] = self._start

    def run(self, steps: int) -> None:
        """Take steps in one call."""
        self._mujoco.mj_step(self._model, self._data, nstep=steps)

    @property
    def angles(self) -> Array:
        return np.array(self._data.qpos)

    @property
    def rates(self) -> Array:
        return np.array(self._data.qvel)

    @property
    def gap(self) -> float:
        self._mujoco.mj_kinematics(self._model, self._data)
        return widest((self._point(c.a, c.on_a), self._point(c.b, c.on_b)) for c in self._closures)

    def _point(self, link: int, point: Array) -> Array:
        return np.asarray(self._data.xpos[link] + self._data.xmat[link].reshape(3, 3) @ point)
