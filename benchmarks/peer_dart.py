"""DART as a contender: a mechanism of hinges, loops closed by ball joint constraints, one call a step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .hinges import Closure, read_mechanism
from .peer import Peer, starts, widest

if TYPE_CHECKING:
    from linkwork.compile.system import System
    from linkwork.model.rotation import Array

HOW = "World.step() in a Python loop, Dantzig LCP, default error reduction; loops by BallJointConstraint"


class DartLoops(Peer):
    """The same mechanism in DART."""

    def __init__(self, system: System, friction: float, dt: float):
        import dartpy as dart

        links, closures, gravity = read_mechanism(system)
        self._world = dart.simulation.World()
        self._world.setGravity(gravity)
        self._world.setTimeStep(dt)
        self._skeleton = dart.dynamics.Skeleton()
        self._bodies: dict[int, Any] = {}
        for d, link in links.items():
            properties = dart.dynamics.RevoluteJointProperties()
            properties.mAxis = np.array([0.0, 0.0, 1.0])
            frame = np.eye(4)
            frame[:3, :3], frame[:3, 3] = link.R, link.p
            properties.mT_ParentBodyToJoint = dart.math.Isometry3(frame)
            parent = self._bodies.get(link.parent)
            joint, body = self._skeleton.createRevoluteJointAndBodyNodePair(parent, properties)
            body.setInertia(dart.dynamics.Inertia(link.mass, link.com, np.diag(link.moments)))
            if friction:
                joint.setCoulombFriction(0, friction)
            self._bodies[d] = body
        self._world.addSkeleton(self._skeleton)
        solver = self._world.getConstraintSolver()
        self._held = [self._constraint(dart, closure) for closure in closures]  # the solver only borrows them
        for constraint in self._held:
            solver.addConstraint(constraint)
        self._closures = closures
        self._start = starts(links)

    def _constraint(self, dart: Any, closure: Closure) -> Any:
        point = closure.point
        if closure.a == 0:
            return dart.constraint.BallJointConstraint(self._bodies[closure.b], point)
        return dart.constraint.BallJointConstraint(self._bodies[closure.a], self._bodies[closure.b], point)

    def reset(self) -> None:
        self._skeleton.resetVelocities()
        self._skeleton.setPositions(self._start[0])
        self._skeleton.setVelocities(self._start[1])

    def run(self, steps: int) -> None:
        """Take steps, one call each."""
        step = self._world.step
        for _ in range(steps):
            step()

    @property
    def angles(self) -> Array:
        return np.array(self._skeleton.getPositions())

    @property
    def rates(self) -> Array:
        return np.array(self._skeleton.getVelocities())

    @property
    def gap(self) -> float:
        return widest((self._point(c.a, c.on_a), self._point(c.b, c.on_b)) for c in self._closures)

    def _point(self, link: int, point: Array) -> Array:
        return np.array(point if link == 0 else self._bodies[link].getTransform().multiply(point))
