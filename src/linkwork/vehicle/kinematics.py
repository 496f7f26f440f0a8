"""How a corner moves: its joints solved in NumPy, without compiling anything, for building and for suspension rigs.

Every body has six displacements from the drawn, neutral pose; rows are the joints' own equations, and one more that
says how high the wheel's centre or how far the suspension's coordinate is to be. Newton's method, shortest steps:
equations that repeat others do no harm.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..model import Body
from ..model.errors import LinkworkError
from ..model.joints import Joint
from ..model.joints.base import AX, AZ, BX, BZ, WZ, D
from ..model.rotation import Array, frame_from_axis, matrix

_NEWTONS = 30
_CLOSED, _NOTHING = (
    1e-11,
    1e-10,
)  # gaps, and parts of a motion, that count as none [shares of a corner's size]
_STRETCHES = 2  # of the way to a pose; in halves of these, until
_NEAR = 0.4  # bodies move by no more than this at once, so that a corner stays on its branch [rad or sizes]
_SMOOTH = 0.1  # share of a rise by which its rates may miss it
_FINEST = 1e-6  # share of a way to which it is told how far a corner reaches


@dataclass(frozen=True)
class Pose:
    """Where the bodies of a corner are: displacements x -> R x + p from the neutral pose."""

    R: Array
    """A rotation matrix for each body."""
    p: Array
    """A shift for each body [m]."""

    def point(self, body: int, x: Array) -> Array:
        """Where a point of a body is that stood at x [m]."""
        moved: Array = self.R[body] @ x + self.p[body]
        return moved


class OutOfReach(Exception):  # noqa: N818 - caught by those who know what was asked for
    """The corner goes only this share of the way."""

    def __init__(self, share: float):
        super().__init__(f"{share:.0%} of the way")
        self.share = share


class Chain:
    """Bodies that hang on a fixed mount by joints, and move in one way: the wheel's centre goes up and down.

    `carrier` is the body that the wheel turns on, `travel` the joint whose coordinate is the suspension's.
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
        self.what = what
        self.bodies = tuple(bodies)
        self._number = {body.name: i for i, body in enumerate(bodies)}
        self._joints = [
            (self._number.get(j.a, -1), self._number.get(j.b, -1), _frame(j), np.array(j.at, float), j)
            for j in joints
        ]  # fmt: skip
        self.carrier = self._number[carrier]
        by_name = {joint.name: joint for joint in joints}
        self.travel = by_name[travel]
        assert self.travel.a == mount, "the coordinate of a suspension counts from the mount"
        self._turns = bool(self.travel.motions()[0].rot)
        at = [np.abs(np.array(joint.at, float)).max() for joint in joints]
        self.size = float(max(*at, 1e-3))
        """A length against which gaps are judged [m]."""
        n = len(bodies)
        self.neutral = Pose(np.tile(np.eye(3), (n, 1, 1)), np.zeros((n, 3)))
        self.motion = self._only_motion()
        """Of all bodies at the neutral pose, per rate of the suspension's coordinate: turning [rad], shift [m]."""

    # --- what moves how ---

    def velocity(self, body: int, x: Array, pose: Pose | None = None, motion: Array | None = None) -> Array:
        """Of the point of a body that stands at x in the neutral pose, per rate of the suspension's coordinate [m].

        At a pose with its `motion`, by default the neutral one."""
        turning, shift = (self.motion if motion is None else motion)[body]
        arm = x if pose is None else pose.R[body] @ x
        moved: Array = _cross(turning, arm) + shift
        return moved

    @property
    def lift(self) -> float:
        """How fast the wheel's centre rises at the neutral pose, per rate of the coordinate [m/rad or m/m]."""
        return float(self.velocity(self.carrier, np.zeros(3))[2])

    def motion_at(self, pose: Pose) -> Array:
        """Of all bodies at a pose, per rate of the suspension's coordinate: turning [rad], shift [m]."""
        _, J = self._rows(pose)
        scale = self._scale()
        motion: Array = scale * np.linalg.svd(J * scale, full_matrices=True)[2][-1]
        row = (self._turned_row if self._turns else self._slid_row)(pose, self.coordinate(pose))
        made: Array = (motion / float(row[1] @ motion)).reshape(-1, 2, 3)
        return made

    def _scale(self) -> Array:
        scale: Array = np.tile([1.0, 1.0, 1.0, self.size, self.size, self.size], len(self.bodies))
        return scale

    def coordinate(self, pose: Pose) -> float:
        """The suspension's coordinate [rad or m]."""
        _, b, F, P, _ = next(entry for entry in self._joints if entry[4] is self.travel)
        if self._turns:
            x = pose.R[b] @ F[:, 0]
            return math.atan2(float(F[:, 1] @ x), float(F[:, 0] @ x))
        return float(F[:, 2] @ (pose.point(b, P) - P))

    def height(self, pose: Pose) -> float:
        """How far the wheel's centre is above its neutral place [m]."""
        return float(pose.p[self.carrier, 2])

    def at_height(self, z: float) -> Pose:
        """The pose with the wheel's centre so far above its neutral place [m]."""
        return self._led(z, self._height_row)

    def at(self, coordinate: float) -> Pose:
        """The pose at a coordinate [rad or m]."""
        return self._led(coordinate, self._turned_row if self._turns else self._slid_row)

    # --- rows ---

    def _height_row(self, pose: Pose, wanted: float) -> tuple[float, Array]:
        J = np.zeros((len(self.bodies), 6))
        J[self.carrier] = 0.0, 0.0, 0.0, 0.0, 0.0, 1.0  # the wheel's centre is where the origin was
        return self.height(pose) - wanted, J.ravel()

    def _turned_row(self, pose: Pose, wanted: float) -> tuple[float, Array]:
        _, b, F, _, _ = next(entry for entry in self._joints if entry[4] is self.travel)
        aside = -math.sin(wanted) * F[:, 0] + math.cos(wanted) * F[:, 1]
        x = pose.R[b] @ F[:, 0]
        J = np.zeros((len(self.bodies), 6))
        J[b, :3] = _cross(x, aside)
        return float(aside @ x), J.ravel()

    def _slid_row(self, pose: Pose, wanted: float) -> tuple[float, Array]:
        _, b, F, P, _ = next(entry for entry in self._joints if entry[4] is self.travel)
        x = pose.point(b, P)
        J = np.zeros((len(self.bodies), 6))
        J[b] = *_cross(x - pose.p[b], F[:, 2]), *F[:, 2]
        return float(F[:, 2] @ (x - P)) - wanted, J.ravel()

    def _rows(self, pose: Pose) -> tuple[Array, Array]:
        """Gaps of all joint equations [1 or m], and how they follow displacements (turning, shift) of the bodies."""
        gaps, lines = [], []
        for a, b, F, P, joint in self._joints:
            xa, xb = (pose.point(i, P) if i >= 0 else P for i in (a, b))
            for alpha, beta in joint.equations():
                J = np.zeros((len(self.bodies), 6))
                u, v = (self._vector(side, k, F, pose, a, b) for side, k in (_which(alpha), _which(beta)))
                if beta == D:
                    v = xb - xa
                    for i, x, sign in ((a, xa, -1.0), (b, xb, 1.0)):
                        if i >= 0:
                            J[i, :3] += sign * _cross(x - pose.p[i], u)
                            J[i, 3:] += sign * u
                for (side, _), mine, other in ((_which(alpha), u, v), (_which(beta), v, u)):
                    i = {"a": a, "b": b}.get(side, -1)
                    if i >= 0:
                        J[i, :3] += _cross(mine, other)
                gaps.append(float(u @ v))
                lines.append(J.ravel())
        return np.array(gaps), np.array(lines)

    @staticmethod
    def _vector(side: str, k: int, F: Array, pose: Pose, a: int, b: int) -> Array:
        if side == "world":
            world: Array = np.eye(3)[k]
            return world
        i = a if side == "a" else b
        axis: Array = F[:, k % 3] if i < 0 or side == "distance" else pose.R[i] @ F[:, k % 3]
        return axis

    # --- solving ---

    def _only_motion(self) -> Array:
        _, J = self._rows(self.neutral)
        scale = self._scale()
        _, s, Vt = np.linalg.svd(J * scale, full_matrices=True)
        ways = Vt.shape[1] - int((s > 1e-9 * s[0]).sum())
        if ways != 1:
            why = (
                "cannot move: its hard points do not close a mechanism whose joints go together (axes of its hinges "
                "must be parallel, a strut must slide in the plane across them)"
                if ways < 1
                else f"moves in {ways} ways instead of one: hard points coincide or lie on one line"
            )
            raise LinkworkError(f"{self.what}: {why}")
        motion = (scale * Vt[-1]).reshape(-1, 6)
        pose = self.neutral
        row = self._turned_row(pose, 0.0) if self._turns else self._slid_row(pose, 0.0)
        rate = float(row[1] @ motion.ravel())
        lift = float(motion[self.carrier, 5])
        if abs(lift) <= _NOTHING * max(1.0, float(np.abs(motion).max())) or abs(rate) <= _NOTHING:
            raise LinkworkError(
                f"{self.what}: its motion does not lift the wheel; move its pivot away from above or below the "
                "wheel's centre, or turn its slide towards the vertical"
            )
        made: Array = (motion / rate).reshape(-1, 2, 3)
        return made

    def _led(self, goal: float, row: object) -> Pose:
        pose, reached = self.neutral, 0.0
        step = 1.0 / _STRETCHES
        while reached < 1.0:
            share = min(1.0, reached + step)
            found = self._closed(pose, share * goal, row)
            if found is not None and self._smooth(pose, found):
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
        return abs(rise - 0.5 * sum(rates) * way) <= _SMOOTH * abs(rise) + _CLOSED * self.size

    def _closed(self, pose: Pose, wanted: float, row: object) -> Pose | None:
        """The pose near another at which all joints are closed and a row is as wanted; None if there is none."""
        start, least = pose, math.inf
        scale = self._scale()
        for _ in range(_NEWTONS):
            gaps, J = self._rows(pose)
            gap, line = row(pose, wanted)  # type: ignore[operator]
            f, A = np.append(gaps, gap), np.vstack([J, line]) * scale
            size = float(np.abs(f).max())
            if size >= 0.5 * least and size <= _CLOSED * self.size:
                break  # rounding is what is left
            if size > 1e3 * self.size:
                return None
            least = size
            y = -scale * np.linalg.lstsq(A, f, rcond=1e-12)[0]
            pose = _moved(pose, y.reshape(-1, 6))
        near = _far(start, pose, self.size)
        return pose if least <= _CLOSED * self.size and near < _NEAR else None


def _which(vector: int) -> tuple[str, int]:
    if AX <= vector <= AZ:
        return "a", vector - AX
    if BX <= vector <= BZ:
        return "b", vector - BX
    return ("world", vector) if vector <= WZ else ("distance", 0)


def _moved(pose: Pose, y: Array) -> Pose:
    R = np.array([_turn(turning) @ R for turning, R in zip(y[:, :3], pose.R, strict=True)])
    return Pose(R, pose.p + y[:, 3:])


def _turn(w: Array) -> Array:
    angle = float(np.linalg.norm(w))
    if angle == 0.0:
        identity: Array = np.eye(3)
        return identity
    half = math.sin(0.5 * angle) / angle
    return matrix((math.cos(0.5 * angle), half * w[0], half * w[1], half * w[2]))


def _cross(u: Array, v: Array) -> Array:
    (a, b, c), (x, y, z) = u.tolist(), v.tolist()  # ten times as fast as NumPy's
    return np.array([b * z - c * y, c * x - a * z, a * y - b * x])


def _far(one: Pose, other: Pose, size: float) -> float:
    """How far two poses are from each other, in radians and sizes."""
    turned = np.abs(np.array(other.R) - np.array(one.R)).max()
    return float(max(turned, np.abs(other.p - one.p).max() / size))


def _frame(joint: Joint) -> Array:
    return frame_from_axis(joint.axis or (0.0, 0.0, 1.0), joint.reference)
