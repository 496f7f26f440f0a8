"""How a corner moves: its joints solved in NumPy, without compiling anything, for building and for suspension rigs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from ..model import Body
from ..model.errors import LinkworkError
from ..model.joints import Joint
from ..model.rotation import Array
from .linkage import CLOSED, Linkage, OutOfReach, Pose, Row, cross, height_row, joint_axes

_NOTHING = 1e-10  # parts of a motion that count as none
_STRETCHES = 2  # of the way to a pose; in halves of these, until
_SMOOTH = 0.1  # share of a rise, or of a turn, by which its rates may miss it
_FINEST = 1e-6  # share of a way to which it is told how far a corner reaches


class Chain(Linkage):
    """A corner, which moves in one way: the wheel's centre, at the origin, goes up and down.

    `carrier` is the body that the wheel turns on, `travel` the joint whose first coordinate is the suspension's.
    """

    def __init__(
        self,
        what: str,
        mount: str,
        bodies: Sequence[Body],
        joints: Sequence[Joint],
        carrier: str,
        travel: str,
    ):
        super().__init__(what, bodies, joints)
        self.carrier = self.number[carrier]
        self.travel = self.joints[travel]
        assert self.travel.a == mount, "the coordinate of a suspension counts from the mount"
        motion, F = self.travel.motions()[0], joint_axes(self.travel)
        self._turns, self._mover, self._at = (
            bool(motion.rot),
            self.number[self.travel.b],
            np.array(self.travel.at, float),
        )
        # Turns are read as coordinates of joints are: an axis of b against two of a, cyclic behind the turn's own.
        self._axes: Array = F[:, [(motion.axis + 1) % 3, (motion.axis + 2) % 3, motion.axis]]
        self.motion = self._only_motion()
        """Of all bodies at the neutral pose, per rate of the suspension's coordinate: turning [rad], shift [m]."""

    # --- what moves how ---

    def velocity(self, body: int, x: Array, pose: Pose | None = None, motion: Array | None = None) -> Array:
        """Of the point of a body that stands at x in the neutral pose, per rate of the suspension's coordinate [m].

        At a pose with its `motion`, by default the neutral one."""
        turning, shift = (self.motion if motion is None else motion)[body]
        arm = x if pose is None else pose.R[body] @ x
        moved: Array = cross(turning, arm) + shift
        return moved

    @property
    def lift(self) -> float:
        """How fast the wheel's centre rises at the neutral pose, per rate of the coordinate [m/rad or m/m]."""
        return float(self.velocity(self.carrier, np.zeros(3))[2])

    def motion_at(self, pose: Pose) -> Array:
        """Of all bodies at a pose, per rate of the suspension's coordinate: turning [rad], shift [m]."""
        motion = self.motions(pose)[-1]
        _, line = self.coordinate_row(self.coordinate(pose))(pose)
        made: Array = (motion / float(line @ motion)).reshape(-1, 2, 3)
        return made

    def steering_at(self, pose: Pose) -> Array:
        """Of all bodies at a pose, per way of the rack, the suspension's coordinate held: turning [rad/m], shift."""
        return self.steered(pose, [self.coordinate_row(self.coordinate(pose))])

    def coordinate(self, pose: Pose) -> float:
        """The suspension's coordinate [rad or m]."""
        F = self._axes
        if self._turns:
            x = pose.R[self._mover] @ F[:, 0]
            return math.atan2(float(F[:, 1] @ x), float(F[:, 0] @ x))
        return float(F[:, 2] @ (pose.point(self._mover, self._at) - self._at))

    def height(self, pose: Pose) -> float:
        """How far the wheel's centre is above its neutral place [m]."""
        return float(pose.p[self.carrier, 2])

    def at_height(self, z: float, rack: float = 0.0) -> Pose:
        """The pose with the wheel's centre so far above its neutral place, and the rack to the left [m]."""
        return self._led(z, self.height_row, rack)

    def at(self, coordinate: float, rack: float = 0.0) -> Pose:
        """The pose at a coordinate [rad or m], and the rack to the left [m]."""
        return self._led(coordinate, self.coordinate_row, rack)

    # --- rows ---

    def height_row(self, wanted: float) -> Row:
        """The wheel's centre at a height above its neutral place [m]."""
        return height_row(self.carrier, len(self.bodies), wanted)

    def coordinate_row(self, wanted: float) -> Row:
        """The suspension's coordinate at a value [rad or m]."""
        F, b = self._axes, self._mover

        def turned(pose: Pose) -> tuple[float, Array]:
            aside = -math.sin(wanted) * F[:, 0] + math.cos(wanted) * F[:, 1]
            x = pose.R[b] @ F[:, 0]
            J = np.zeros((len(self.bodies), 6))
            # Of a universal joint b's axis stays square to the first turn's, so that the length of x across it is one.
            J[b, :3] = cross(x, aside)
            return float(aside @ x), J.ravel()

        def slid(pose: Pose) -> tuple[float, Array]:
            x = pose.point(b, self._at)
            J = np.zeros((len(self.bodies), 6))
            J[b] = *cross(x - pose.p[b], F[:, 2]), *F[:, 2]
            return float(F[:, 2] @ (x - self._at)) - wanted, J.ravel()

        return turned if self._turns else slid

    # --- solving ---

    def _only_motion(self) -> Array:
        ways = self.motions(self.neutral)
        if len(ways) != 1:
            why = (
                "cannot move: its hard points do not close a mechanism whose joints go together (axes of its hinges "
                "must be parallel, a strut must slide in the plane across them)"
                if len(ways) < 1
                else f"moves in {len(ways)} ways instead of one: hard points coincide or lie on one line"
            )
            raise LinkworkError(f"{self.what}: {why}")
        motion = ways[-1].reshape(-1, 6)
        _, line = self.coordinate_row(0.0)(self.neutral)
        rate = float(line @ motion.ravel())
        lift = float(motion[self.carrier, 5])
        if abs(lift) <= _NOTHING * max(1.0, float(np.abs(motion).max())) or abs(rate) <= _NOTHING:
            raise LinkworkError(
                f"{self.what}: its motion does not lift the wheel; move its pivot away from above or below the "
                "wheel's centre, turn its slide towards the vertical, or put a tie rod's end off the kingpin"
            )
        made: Array = (motion / rate).reshape(-1, 2, 3)
        return made

    def _led(self, goal: float, row: Callable[[float], Row], rack: float) -> Pose:
        """First to the goal, then along the rack."""
        pose = self.neutral
        if goal:
            pose = self._stretched(pose, lambda share: (row(share * goal), 0.0), self._smooth)
        if rack == 0.0:
            return pose
        held = row(goal)
        try:
            return self._stretched(
                pose, lambda share: (held, share * rack), lambda one, other: self._steady(one, other, held)
            )
        except OutOfReach as short:
            raise LinkworkError(
                f"{self.what}: {1e3 * rack:+.4g} mm of the rack are beyond the mechanism, which goes to "
                f"{1e3 * short.share * rack:+.4g} mm; shorten the rack's travel, or lengthen the steering arm"
            ) from None

    def _stretched(
        self, pose: Pose, wanted: Callable[[float], tuple[Row, float]], smooth: Callable[[Pose, Pose], bool]
    ) -> Pose:
        reached, step = 0.0, 1.0 / _STRETCHES
        while reached < 1.0:
            share = min(1.0, reached + step)
            row, rack = wanted(share)
            found = self.closed(pose, [row], rack)
            if found is not None and smooth(pose, found):
                pose, reached = found, share
                continue
            step *= 0.5
            if step < _FINEST:
                raise OutOfReach(reached)
        return pose

    def _smooth(self, one: Pose, other: Pose) -> bool:
        """Whether the wheel rose from one pose to another as fast as it does at both: if not, its arms have passed
        through one line on the way, behind which there is another branch."""
        rates = [float(self.motion_at(pose)[self.carrier, 1, 2]) for pose in (one, other)]
        way = self.coordinate(other) - self.coordinate(one)
        rise = self.height(other) - self.height(one)
        return abs(rise - 0.5 * sum(rates) * way) <= _SMOOTH * abs(rise) + CLOSED * self.size

    def _steady(self, one: Pose, other: Pose, held: Row) -> bool:
        """The same of how the wheel is steered: where tie rod and arm are in one line, another branch begins."""
        rates = [self.steered(pose, [held])[self.carrier, 0, 2] for pose in (one, other)]
        way = other.rack - one.rack
        turn = toe_out(other.R[self.carrier]) - toe_out(one.R[self.carrier])
        expected = 0.5 * float(sum(rates)) * way
        return abs(turn - expected) <= _SMOOTH * abs(turn) + 1e-9


def toe_out(R: Array) -> float:
    """How far a left wheel is turned to the left, seen from above [rad]."""
    return math.atan2(-R[0, 1], R[1, 1])


__all__ = ["Chain", "OutOfReach", "Pose", "toe_out"]
