"""The kernels as functions of a mechanism's state: dynamics, poses and runs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from helpers.trees import Plan, build, random_state, triple
from linkwork.compile.compiler import compile_model
from linkwork.compile.system import System
from linkwork.engine.coordinates.dynamics import (
    body_pose,
    body_twist,
    derive,
    energies,
    inverse_dynamics,
    momentum,
)
from linkwork.engine.coordinates.tree import mass_matrix, place, point_jacobian, retract
from linkwork.engine.kernels.math3 import quat_mul
from linkwork.engine.steppers import explicit
from linkwork.engine.steppers.integrators import INTEGRATORS, Integrator, dormand_prince
from linkwork.engine.steppers.motion import RUNGE_KUTTA, new_run
from linkwork.engine.steppers.samples import new_samples
from linkwork.engine.steppers.state import OK
from linkwork.model import Model

EULER, RK4, ADAMS, ADAPTIVE = (INTEGRATORS[name] for name in ("euler", "rk4", "adams", "adaptive"))
DOPRI = Integrator(RUNGE_KUTTA, dormand_prince())


class Trajectory(NamedTuple):
    """Samples of a motion; work is (supplied, dissipated) since its start [J]."""

    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    work: np.ndarray


class Probe:
    """A compiled mechanism with tables of its own, and the kernels as functions of its state."""

    def __init__(self, model: Model | Plan):
        self.system = compile_model(build(model) if isinstance(model, Plan) else model)
        self.tables = self.system.fresh_tables()
        self.nv = self.system.nv

    def state(self, seed=0, speed=2.0):
        return random_state(self.system, seed, speed)

    def derive(self, q, v, t=0.0):
        """(joint accelerations, power supplied, power dissipated)."""
        qdd = np.zeros(self.nv)
        supplied, dissipated = derive(self.tables, q, v, t, qdd)
        return qdd, supplied, dissipated

    def qdd(self, q, v, t=0.0):
        return self.derive(q, v, t)[0]

    def inverse(self, q, v, qdd, t=0.0):
        """Generalised forces needed beside all loads."""
        tau = np.zeros(self.nv)
        inverse_dynamics(self.tables, q, v, t, qdd, tau)
        return tau

    def bias(self, q, v, t=0.0):
        return self.inverse(q, v, np.zeros(self.nv), t)

    def mass_matrix(self, q):
        H = np.zeros((self.nv, self.nv))
        place(self.tables.dofs, self.tables.islands, q, np.zeros(self.nv))
        mass_matrix(self.tables.dofs, H)
        return H

    def energies(self, q, v, t=0.0):
        """(kinetic, gravity's, springs')."""
        return np.array(energies(self.tables, q, v, t))

    def momentum(self, q, v):
        """[angular about the world's origin; linear]."""
        out = np.zeros(6)
        momentum(self.tables, q, v, out)
        return out

    def retract(self, q, delta):
        """q ⊕ delta."""
        out = np.zeros(self.system.nq)
        retract(self.tables.dofs, q, delta, out)
        return out

    def place(self, q, v=None):
        """Put the tables into a state."""
        place(self.tables.dofs, self.tables.islands, q, np.zeros(self.nv) if v is None else v)

    def pose(self, body: str):
        """(position, rotation matrix) in the state last placed."""
        p, R = body_pose(self.tables, self.system.body(body))
        return np.array(p), np.array(R).reshape(3, 3)

    def twist(self, body: str):
        """[ω; velocity of the origin] in the state last placed."""
        return np.concatenate(body_twist(self.tables, self.system.body(body)))

    def rates(self, q, v):
        """Derivative of the coordinates: v, and q ω / 2 for a quaternion."""
        out = np.zeros(self.system.nq)
        for placed in self.system.joints.values():
            if len(placed.joint.coordinates) == len(placed.joint.rates):
                out[placed.q] = v[placed.v]
            else:  # all coordinates before the quaternion are plain
                plain = len(placed.joint.rates) - 3
                out[placed.q][:plain] = v[placed.v][:plain]
        for i, k in ball_columns(self.system):
            out[i : i + 4] = 0.5 * np.array(quat_mul(tuple(q[i : i + 4]), (0.0, *v[k : k + 3])))
        return out

    def poses(self, q):
        """All positions (n, 3) and rotation matrices (n, 3, 3)."""
        self.place(q)
        pairs = [self.pose(body) for body in self.system.bodies]
        return np.array([p for p, _ in pairs]), np.array([R for _, R in pairs])

    def jacobian(self, body: str):
        """[ω; velocity of the origin] per rate, in the state last placed."""
        link = int(self.tables.bodies["link"][self.system.body(body)])
        island = self.tables.dofs["island"][link]
        J = np.zeros((6, self.nv))
        point_jacobian(
            self.tables.dofs, link, triple(self.pose(body)[0] - self.tables.islands["o"][island]), J
        )
        return J

    def run(self, q, v, h, steps, integrator=RK4, stride=1) -> Trajectory:
        """Samples every `stride` of `steps` equal steps, the start not among them."""
        targets = np.arange(stride, steps + 1, stride)
        return self._steps(q, v, h, targets, integrator)

    def run_adaptive(self, q, v, times, tolerance, first_step=1e-3) -> Trajectory:
        """Samples at `times`, with the local error kept at `tolerance`."""
        return self._steps(q, v, first_step, times, ADAPTIVE, tolerance)

    def _steps(self, q, v, h, targets, integrator, tolerance=1e-8) -> Trajectory:
        out = new_samples(len(targets), self.system.nq, self.system.nv, 0, 0, 0)
        run = new_run(q, v, 0, 0, h)
        run.course.integrator, run.course.tolerance = integrator.kind, tolerance
        status = explicit.run(
            self.tables, None, None, None, None, None, run.motion, run.books, integrator.tableau,
            np.asarray(targets, float), out,
        )  # fmt: skip
        assert status == (len(targets), OK)
        return Trajectory(*out[:4])


def ball_columns(system: System):
    """(first coordinate, first rate) of every quaternion in the state."""
    for placed in system.joints.values():
        i, k = placed.q.start, placed.v.start
        for motion in placed.joint.motions():
            if motion.ball:
                yield i, k
            i, k = i + len(motion.coordinates), k + len(motion.rates)
