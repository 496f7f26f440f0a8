"""PyBullet as a contender: a mechanism of hinges, loops closed by point constraints, one call a step."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from linkwork.model.rotation import Array, quaternion

from .hinges import read_mechanism
from .peer import Peer, widest

if TYPE_CHECKING:
    from linkwork.compile.system import System

HOW = "stepSimulation() in a Python loop, 50 iterations; loops by JOINT_POINT2POINT, friction by a motor of rate zero"


class BulletLoops(Peer):
    """The same mechanism in PyBullet."""

    def __init__(self, system: System, friction: float, dt: float):
        import pybullet
        from pybullet_utils.bullet_client import BulletClient

        links, closures, gravity = read_mechanism(system)
        with _hushed():
            self._engine = engine = BulletClient(connection_mode=pybullet.DIRECT)
        engine.setGravity(*gravity)
        engine.setTimeStep(dt)
        # Links hang on their parents' centres of mass here, so frames are given from there.
        middle = {0: np.zeros(3)} | {d: link.com for d, link in links.items()}
        count = len(links)
        self._body = engine.createMultiBody(
            baseMass=0.0,
            linkMasses=[link.mass for link in links.values()],
            linkCollisionShapeIndices=[-1] * count,
            linkVisualShapeIndices=[-1] * count,
            linkPositions=[list(link.p) for link in links.values()],
            linkOrientations=[_last(quaternion(link.R)) for link in links.values()],
            linkInertialFramePositions=[link.com for link in links.values()],
            linkInertialFrameOrientations=[(0, 0, 0, 1)] * count,
            linkParentIndices=[link.parent for link in links.values()],
            linkJointTypes=[pybullet.JOINT_REVOLUTE] * count,
            linkJointAxis=[(0, 0, 1)] * count,
        )
        self._index = {d: k for k, d in enumerate(links)}
        for d, link in links.items():
            engine.changeDynamics(
                self._body, self._index[d], localInertiaDiagonal=list(link.moments), linearDamping=0.0,
                angularDamping=0.0, jointDamping=0.0,
            )  # fmt: skip
            engine.setJointMotorControl2(
                self._body, self._index[d], pybullet.VELOCITY_CONTROL, targetVelocity=0.0, force=friction
            )
        engine.changeDynamics(self._body, -1, linearDamping=0.0, angularDamping=0.0)
        self._points = []
        for closure in closures:
            ends = [(closure.a, closure.on_a), (closure.b, closure.on_b)]
            a, b = ((self._index.get(k, -1), x - middle[k]) for k, x in ends)
            engine.createConstraint(
                self._body,
                b[0],
                self._body,
                a[0],
                pybullet.JOINT_POINT2POINT,
                (0, 0, 0),
                list(b[1]),
                list(a[1]),
            )
            self._points.append((a, b))
        self._start = [(self._index[d], link.start, link.rate) for d, link in links.items()]

    def reset(self) -> None:
        for index, angle, rate in self._start:
            self._engine.resetJointState(self._body, index, angle, rate)

    def run(self, steps: int) -> None:
        """Take steps, one call each."""
        step = self._engine.stepSimulation
        for _ in range(steps):
            step()

    @property
    def angles(self) -> Array:
        return np.array([self._engine.getJointState(self._body, k)[0] for k, _, _ in self._start])

    @property
    def rates(self) -> Array:
        return np.array([self._engine.getJointState(self._body, k)[1] for k, _, _ in self._start])

    @property
    def gap(self) -> float:
        return widest((self._world(*a), self._world(*b)) for a, b in self._points)

    def _world(self, index: int, x: Array) -> Array:
        """A point given from the centre of mass of a link, in the world [m]."""
        if index < 0:
            return x
        p, q = self._engine.getLinkState(self._body, index, computeForwardKinematics=1)[:2]
        return np.array(self._engine.multiplyTransforms(p, q, list(x), (0, 0, 0, 1))[0])


@contextmanager
def _hushed() -> Iterator[None]:
    """The engine greets on standard output, which may be a JSON document: let it speak elsewhere."""
    sys.stdout.flush()
    kept = os.dup(1)
    with Path(os.devnull).open("w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        try:
            yield
        finally:
            os.dup2(kept, 1)
            os.close(kept)


def _last(q: tuple[float, ...]) -> tuple[float, ...]:
    """A quaternion with its scalar at the end."""
    return (*q[1:], q[0])
