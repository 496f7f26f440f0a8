"""How an axle of two wheels moves that hang on the chassis together: its joints solved in NumPy."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..model.errors import LinkworkError
from ..model.rotation import Array
from .linkage import Linkage, OutOfReach, Pose, cross, height_row, joint_axes
from .suspensions.base import Size
from .suspensions.whole_axle import SIDES, WholeAxle, on_side

_FIRST, _FINEST = (
    0.5,
    1e-6,
)  # shares of a way: of the first stretch, and to which it is told how far the axle reaches


class Lever(NamedTuple):
    """What both wheels' rise does on one side, at the neutral pose."""

    coordinate: float
    """Rate of the side's coordinate [rad/m]."""
    coil: float
    """How fast its coil spring lengthens [m/m]."""
    fall: float
    """Weights of bodies times how fast they rise, half of them all [N]."""


class Pair(Linkage):
    """An axle, which heaves and rolls: its wheels' centres go up and down."""

    def __init__(self, axle: WholeAxle, size: Size, half: float):
        self.parts = axle.whole(size, half)
        super().__init__(f"suspension '{axle.type}'", self.parts.bodies, self.parts.joints)
        self.carriers = [self.number[name] for name in self.parts.carriers]
        self.centres = [np.array(on_side((0.0, 0.0, 0.0), half, side)) for side in SIDES]
        ways = self.motions(self.neutral)
        if len(ways) != 2:
            raise LinkworkError(
                f"{self.what}: moves in {len(ways)} ways instead of two, heave and roll: hard points coincide, or "
                "links lie on one line"
            )
        lifts = np.array([self.rises(way) for way in ways.reshape(2, -1, 2, 3)]).T
        if abs(np.linalg.det(lifts)) <= 1e-9 * np.abs(lifts).max() ** 2:
            raise LinkworkError(f"{self.what}: its wheels cannot rise by themselves; move links apart")
        self.rising: Array = np.linalg.solve(lifts.T, ways).reshape(2, -1, 2, 3)
        """Motion of all bodies as the left wheel alone rises, and as the right one does: turning [rad/m], shift [1]."""

    def rises(self, motion: Array, pose: Pose | None = None) -> list[float]:
        """How fast both wheels' centres rise."""
        found = []
        for body, centre in zip(self.carriers, self.centres, strict=True):
            arm = centre if pose is None else pose.R[body] @ centre
            found.append(float((cross(motion[body, 0], arm) + motion[body, 1])[2]))
        return found

    def at_heights(self, left: float, right: float) -> Pose:
        """The pose with the wheels' centres so far above their neutral places [m]."""
        pose, reached, step, n = self.neutral, 0.0, _FIRST, len(self.bodies)
        while reached < 1.0 and (left or right):
            share = min(1.0, reached + step)
            rows = [
                height_row(body, n, share * z, centre)
                for body, z, centre in zip(self.carriers, (left, right), self.centres, strict=True)
            ]
            found = self.closed(pose, rows, 0.0)
            if found is not None:
                pose, reached = found, share
                continue
            step *= 0.5
            if step < _FINEST:
                raise OutOfReach(reached)
        return pose

    def coordinate(self, side: int, pose: Pose) -> float:
        """Of a side, 0 the left: the turn of its travel joint about the axis across the vehicle [rad]."""
        joint = self.joints[self.parts.travels[side]]
        motion, F = joint.motions()[0], joint_axes(joint)
        k = 1 if motion.ball else motion.axis
        i, j = (k + 1) % 3, (k + 2) % 3
        x = pose.R[self.number[joint.b]] @ F[:, i]
        return math.atan2(float(F[:, j] @ x), float(F[:, i] @ x))

    def lever(self, side: int, gravity: float) -> Lever:
        """What both wheels' rise does on a side."""
        heave = self.rising.sum(axis=0)
        joint = self.joints[self.parts.travels[side]]
        F, motion = joint_axes(joint), joint.motions()[0]
        axis = F[:, 1 if motion.ball else motion.axis]
        coil = self.parts.coils[side]
        body, foot = self.number[coil.body], np.array(coil.foot)
        way = np.subtract(coil.foot, coil.top)
        stretch = float(way @ (cross(heave[body, 0], foot) + heave[body, 1])) / float(np.linalg.norm(way))
        fall = 0.0
        for i, part in enumerate(self.bodies):
            mass, com, _ = part.mass_properties
            fall += gravity * mass * float((cross(heave[i, 0], np.add(part.at, com)) + heave[i, 1])[2])
        turned = float(axis @ heave[self.number[joint.b], 0])
        return Lever(turned, stretch, 0.5 * fall)


def wheel_angles(R: Array, side: int) -> tuple[float, float]:
    """Camber and toe of a wheel whose carrier is turned by R: positive outwards at the top, inwards in front [rad]."""
    axle, sign = R[:, 1], 1.0 if side == 0 else -1.0
    return -sign * math.asin(axle[2]), sign * math.atan2(axle[0], axle[1])
