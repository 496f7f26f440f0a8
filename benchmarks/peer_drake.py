"""Drake as a contender: a mechanism of hinges, loops closed by ball constraints, stepped inside the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .hinges import read_mechanism
from .peer import Peer, starts, widest

if TYPE_CHECKING:
    from linkwork.compile.system import System
    from linkwork.model.rotation import Array

HOW = (
    "Simulator.AdvanceTo() over many steps, discrete plant, SAP, default settings, no sampled outputs; loops by ball "
    "constraints, friction by a damping actuator with an effort limit"
)
# The engine has no dry friction: an actuator that damps this much for its effort slips below 1e-6 rad/s.
_DAMPING = 1e6


class DrakeLoops(Peer):
    """The same mechanism in Drake."""

    def __init__(self, system: System, friction: float, dt: float):
        from pydrake.math import RigidTransform, RotationMatrix
        from pydrake.multibody.plant import DiscreteContactApproximation, MultibodyPlant
        from pydrake.multibody.tree import (
            FixedOffsetFrame,
            PdControllerGains,
            RevoluteJoint,
            RotationalInertia,
            SpatialInertia,
            WeldJoint,
        )
        from pydrake.systems.analysis import Simulator

        links, closures, gravity = read_mechanism(system)
        self._closures, self._dt, self._start = closures, dt, starts(links)
        self._plant = plant = MultibodyPlant(time_step=dt)
        plant.set_discrete_contact_approximation(DiscreteContactApproximation.kSap)
        plant.SetUseSampledOutputPorts(False)
        plant.mutable_gravity_field().set_gravity_vector(gravity)
        self._bodies = {0: plant.world_body()}
        self._joints = []
        for d, link in links.items():
            about_com = RotationalInertia(*link.moments)
            inertia = SpatialInertia.MakeFromCentralInertia(link.mass, link.com, about_com)
            body = plant.AddRigidBody(f"body{d}", inertia)
            place = RigidTransform(RotationMatrix(link.R), link.p)
            parent = plant.AddFrame(
                FixedOffsetFrame(f"frame{d}", self._bodies[link.parent].body_frame(), place)
            )
            hinge = RevoluteJoint(f"hinge{d}", parent, body.body_frame(), np.array([0.0, 0.0, 1.0]))
            joint = plant.AddJoint(hinge)
            if friction:
                actuator = plant.AddJointActuator(f"friction{d}", joint, effort_limit=friction)
                actuator.set_controller_gains(PdControllerGains(p=0.0, d=_DAMPING * friction))
            self._bodies[d] = body
            self._joints.append(joint)
        # Constraints on the world itself crash Drake 1.51: they hold a body that is welded to it.
        anchor = plant.AddRigidBody("anchor", SpatialInertia.Zero())
        weld = WeldJoint("anchored", plant.world_frame(), anchor.body_frame(), RigidTransform())
        plant.AddJoint(weld)
        for closure in closures:
            a = self._bodies[closure.a] if closure.a else anchor
            plant.AddBallConstraint(a, closure.on_a, self._bodies[closure.b], closure.on_b)
        plant.Finalize()
        self._simulator = Simulator(plant)
        self._context: Any = self._simulator.get_mutable_context()
        if friction:
            desired = plant.get_desired_state_input_port(self._joints[0].model_instance())
            desired.FixValue(self._context, np.zeros(2 * len(self._joints)))
        self._at_q = [joint.position_start() for joint in self._joints]
        self._at_v = [joint.velocity_start() for joint in self._joints]
        self.reset()

    def reset(self) -> None:
        q, v = np.empty(len(self._at_q)), np.empty(len(self._at_v))
        q[self._at_q], v[self._at_v] = self._start
        self._context.SetTime(0.0)
        self._plant.SetPositions(self._context, q)
        self._plant.SetVelocities(self._context, v)
        self._taken = 0
        self._simulator.Initialize()

    def run(self, steps: int) -> None:
        """Take steps in one call."""
        self._taken += steps
        self._simulator.AdvanceTo(self._taken * self._dt)

    @property
    def angles(self) -> Array:
        return np.array(self._plant.GetPositions(self._context)[self._at_q])

    @property
    def rates(self) -> Array:
        return np.array(self._plant.GetVelocities(self._context)[self._at_v])

    @property
    def gap(self) -> float:
        return widest((self._point(c.a, c.on_a), self._point(c.b, c.on_b)) for c in self._closures)

    def _point(self, link: int, point: Array) -> Array:
        pose = self._plant.EvalBodyPoseInWorld(self._context, self._bodies[link])
        return np.asarray(pose.multiply(np.asarray(point)))

    @property
    def energy(self) -> tuple[float, float]:
        """Kinetic energy and potential of gravity now, by the engine itself [J]."""
        plant, context = self._plant, self._context
        return float(plant.CalcKineticEnergy(context)), float(plant.CalcPotentialEnergy(context))
