"""Bodies and joints of a suspension, closed by Newton's method in NumPy, without compiling anything.

Every body has six displacements from the drawn, neutral pose; rows are the joints' own equations. Shortest steps:
equations that repeat others do no harm.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..model import Body
from ..model.joints import Distance, Joint
from ..model.joints.base import AX, AZ, BX, BZ, WZ, D
from ..model.rotation import Array, frame_from_axis, matrix
from .suspensions.base import RACK

_NEWTONS = 30
CLOSED = 1e-11
"""Gaps that count as none [shares of a suspension's size]."""
_NEAR = (
    0.4  # bodies move by no more than this at once, so that a suspension stays on its branch [rad or sizes]
)
_HELD, _ON_RACK = -1, -2
_ALONG_RACK = np.array([0.0, 1.0, 0.0])


@dataclass(frozen=True)
class Pose:
    """Where the bodies of a suspension are: displacements x -> R x + p from the neutral pose."""

    R: Array
    """A rotation matrix for each body."""
    p: Array
    """A shift for each body [m]."""
    rack: float = 0.0
    """How far the steering rack has moved to the left [m]."""

    def point(self, body: int, x: Array) -> Array:
        """Where a point of a body is that stood at x [m]."""
        moved: Array = self.R[body] @ x + self.p[body]
        return moved


Row = Callable[[Pose], tuple[float, Array]]
"""What a number is off at a pose, and how that follows displacements (turning, shift) of the bodies."""


class OutOfReach(Exception):  # noqa: N818 - caught by those who know what was asked for
    """The suspension goes only this share of the way."""

    def __init__(self, share: float):
        super().__init__(f"{share:.0%} of the way")
        self.share = share


class Linkage:
    """Bodies that hang on a fixed mount, and on a rack that is held, by joints."""

    def __init__(self, what: str, bodies: Sequence[Body], joints: Sequence[Joint]):
        self.what = what
        self.bodies = tuple(bodies)
        self.number = {body.name: i for i, body in enumerate(bodies)}
        self.joints = {joint.name: joint for joint in joints}
        self._joints = [
            (self._index(j.a), self._index(j.b), joint_axes(j), np.array(j.at, float), j) for j in joints
        ]
        at = [np.abs(np.array(joint.at, float)).max() for joint in joints]
        self.size = float(max(*at, 1e-3))
        """A length against which gaps are judged [m]."""
        n = len(bodies)
        self.neutral = Pose(np.tile(np.eye(3), (n, 1, 1)), np.zeros((n, 3)))

    def _index(self, body: str) -> int:
        return self.number.get(body, _ON_RACK if body == RACK else _HELD)

    @property
    def scale(self) -> Array:
        """Of displacements: angles, and shifts in sizes."""
        scale: Array = np.tile([1.0, 1.0, 1.0, self.size, self.size, self.size], len(self.bodies))
        return scale

    def motions(self, pose: Pose) -> Array:
        """Ways in which it can move at a pose, the rack held: each a row of (turning, shift) of all bodies."""
        _, J, _ = self.rows(pose)
        scale = self.scale
        _, s, Vt = np.linalg.svd(J * scale, full_matrices=True)
        found: Array = scale * Vt[int((s > 1e-9 * s[0]).sum()) :]
        return found

    def steered(self, pose: Pose, held: Sequence[Row]) -> Array:
        """Motion of all bodies per way of the rack, with rows held: bodies × (turning, shift) [1/m, 1]."""
        _, J, K = self.rows(pose)
        lines = [row(pose)[1] for row in held]
        scale = self.scale
        A = np.vstack([J, *(line[None] for line in lines)]) * scale
        b = -np.concatenate([K, np.zeros(len(lines))])
        moved: Array = (scale * np.linalg.lstsq(A, b, rcond=1e-12)[0]).reshape(-1, 2, 3)
        return moved

    # --- rows ---

    def rows(self, pose: Pose) -> tuple[Array, Array, Array]:
        """Gaps of all joint equations [1 or m], how they follow displacements of the bodies, and how the rack's."""
        gaps, lines, racks = [], [], []
        for a, b, F, P, joint in self._joints:
            ends = [self._place(pose, a, P)]
            if isinstance(joint, Distance):
                ends.append(self._place(pose, b, np.array(joint.to, float)))
                way = ends[1] - ends[0]
                length = math.dist(joint.to, P) if joint.length is None else joint.length  # type: ignore[arg-type]
                now = float(np.linalg.norm(way))
                J, rack = self._line(pose, (a, b), ends, way / now)
                gaps.append(now - length)
                lines.append(J.ravel())
                racks.append(rack)
                continue
            ends.append(self._place(pose, b, P))
            for alpha, beta in joint.equations():
                J, rack = np.zeros((len(self.bodies), 6)), 0.0
                u, v = (_vector(side, k, F, pose, a, b) for side, k in (_which(alpha), _which(beta)))
                if beta == D:
                    v = ends[1] - ends[0]
                    J, rack = self._line(pose, (a, b), ends, u)
                for (side, _), mine, other in ((_which(alpha), u, v), (_which(beta), v, u)):
                    i = {"a": a, "b": b}.get(side, _HELD)
                    if i >= 0:
                        J[i, :3] += cross(mine, other)
                gaps.append(float(u @ v))
                lines.append(J.ravel())
                racks.append(rack)
        return np.array(gaps), np.array(lines), np.array(racks)

    def _place(self, pose: Pose, body: int, x: Array) -> Array:
        if body >= 0:
            return pose.point(body, x)
        return x + pose.rack * _ALONG_RACK if body == _ON_RACK else x

    def _line(
        self, pose: Pose, bodies: tuple[int, int], ends: Sequence[Array], u: Array
    ) -> tuple[Array, float]:
        """How the distance of two points along u follows displacements of their bodies, and the rack's."""
        J, rack = np.zeros((len(self.bodies), 6)), 0.0
        for i, x, sign in ((bodies[0], ends[0], -1.0), (bodies[1], ends[1], 1.0)):
            if i >= 0:
                J[i, :3] += sign * cross(x - pose.p[i], u)
                J[i, 3:] += sign * u
            elif i == _ON_RACK:
                rack += sign * float(u @ _ALONG_RACK)
        return J, rack

    # --- solving ---

    def closed(self, pose: Pose, wanted: Sequence[Row], rack: float) -> Pose | None:
        """The pose near another at which all joints are closed and rows are as wanted; None if there is none."""
        start, least = pose, math.inf
        pose = Pose(pose.R, pose.p, rack)
        scale = self.scale
        for _ in range(_NEWTONS):
            gaps, J, _ = self.rows(pose)
            more = [row(pose) for row in wanted]
            f = np.append(gaps, [gap for gap, _ in more])
            A = np.vstack([J, *(line[None] for _, line in more)]) * scale
            size = float(np.abs(f).max())
            if size >= 0.5 * least and size <= CLOSED * self.size:
                break  # rounding is what is left
            if size > 1e3 * self.size:
                return None
            least = size
            y = -scale * np.linalg.lstsq(A, f, rcond=1e-12)[0]
            pose = _moved(pose, y.reshape(-1, 6))
        near = _far(start, pose, self.size)
        return pose if least <= CLOSED * self.size and near < _NEAR else None


def height_row(body: int, count: int, wanted: float, at: Array | None = None) -> Row:
    """How far a point of a body is above its neutral place; by default the point that stood at the origin [m]."""
    point = np.zeros(3) if at is None else at

    def row(pose: Pose) -> tuple[float, Array]:
        J = np.zeros((count, 6))
        arm = pose.R[body] @ point
        J[body] = *cross(arm, np.array([0.0, 0.0, 1.0])), 0.0, 0.0, 1.0
        return float(pose.point(body, point)[2] - point[2]) - wanted, J.ravel()

    return row


def joint_axes(joint: Joint) -> Array:
    """The frame of a joint, its axes as columns."""
    return frame_from_axis(joint.axis or (0.0, 0.0, 1.0), joint.reference)


def cross(u: Array, v: Array) -> Array:
    """The cross product of two vectors."""
    (a, b, c), (x, y, z) = u.tolist(), v.tolist()  # ten times as fast as NumPy's
    return np.array([b * z - c * y, c * x - a * z, a * y - b * x])


def _vector(side: str, k: int, F: Array, pose: Pose, a: int, b: int) -> Array:
    if side == "world":
        world: Array = np.eye(3)[k]
        return world
    i = a if side == "a" else b
    axis: Array = F[:, k % 3] if i < 0 or side == "distance" else pose.R[i] @ F[:, k % 3]
    return axis


def _which(vector: int) -> tuple[str, int]:
    if AX <= vector <= AZ:
        return "a", vector - AX
    if BX <= vector <= BZ:
        return "b", vector - BX
    return ("world", vector) if vector <= WZ else ("distance", 0)


def _moved(pose: Pose, y: Array) -> Pose:
    R = np.array([_turn(turning) @ R for turning, R in zip(y[:, :3], pose.R, strict=True)])
    return Pose(R, pose.p + y[:, 3:], pose.rack)


def _turn(w: Array) -> Array:
    angle = float(np.linalg.norm(w))
    if angle == 0.0:
        identity: Array = np.eye(3)
        return identity
    half = math.sin(0.5 * angle) / angle
    return matrix((math.cos(0.5 * angle), half * w[0], half * w[1], half * w[2]))


def _far(one: Pose, other: Pose, size: float) -> float:
    """How far two poses are from each other, in radians and sizes."""
    turned = np.abs(np.array(other.R) - np.array(one.R)).max()
    return float(max(turned, np.abs(other.p - one.p).max() / size))
