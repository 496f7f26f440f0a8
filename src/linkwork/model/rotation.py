"""Rotations and rigid placements for the model layer, in NumPy. Quaternions are [w x y z]."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]

IDENTITY: Quaternion = (1.0, 0.0, 0.0, 0.0)


def matrix(q: Quaternion | Array) -> Array:
    """Rotation matrix of a quaternion of any length but zero."""
    w, x, y, z = np.asarray(q, float) / np.linalg.norm(q)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def quaternion(R: Array) -> Quaternion:
    """Unit quaternion of a rotation matrix, w >= 0; the largest component is found first (Shepperd)."""
    t = np.array([np.trace(R), R[0, 0], R[1, 1], R[2, 2]])
    k = int(np.argmax(t))
    if k == 0:
        q = np.array([1 + t[0], R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    else:
        i, j, m = k - 1, k % 3, (k + 1) % 3
        q = np.empty(4)
        q[0] = R[m, j] - R[j, m]
        q[1 + i] = 1 + R[i, i] - R[j, j] - R[m, m]
        q[1 + j] = R[i, j] + R[j, i]
        q[1 + m] = R[i, m] + R[m, i]
    q /= np.linalg.norm(q)
    if q[0] < 0:
        q = -q
    return float(q[0]), float(q[1]), float(q[2]), float(q[3])


def about(axis: Vector | Array, angle: float) -> Quaternion:
    """Quaternion of a turn by `angle` [rad] about `axis` (any length)."""
    a = np.asarray(axis, float)
    a = a / math.hypot(*a) * np.sin(angle / 2)  # hypot: no overflow, however long the axis
    return float(np.cos(angle / 2)), float(a[0]), float(a[1]), float(a[2])


def frame_from_axis(axis: Vector, reference: Vector | None = None) -> Array:
    """Rotation matrix whose z axis is `axis` and whose x axis lies towards `reference`.

    Without a reference, x is the world axis least aligned with `axis`, made perpendicular to it.
    """
    z = np.asarray(axis, float)
    z = z / np.linalg.norm(z)
    x = np.eye(3)[int(np.argmin(np.abs(z)))] if reference is None else np.asarray(reference, float)
    x = x - (x @ z) * z
    x = x / np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


@dataclass(frozen=True)
class Placement:
    """Where an instance of a component stands: mirrored first (optionally), then turned, then moved.

    A mirror M (a reflection) is no rotation, but -M is. All frames of a mirrored mechanism are turned by
    -M, points are mapped by M; then vectors fixed in a local frame change sign (polar) or stay
    (axial), and every joint keeps its coordinates, with translations running against the axes.
    """

    at: Vector = (0.0, 0.0, 0.0)
    """Translation [m]."""
    rotation: Quaternion = IDENTITY
    mirror: Vector | None = None
    """Normal of the mirror plane through the component's origin, or None."""
    _R: Array = field(init=False, repr=False, compare=False)
    _M: Array = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        R = matrix(self.rotation)
        M = np.eye(3)
        if self.mirror is not None:
            n = np.asarray(self.mirror, float) / np.linalg.norm(self.mirror)
            M = M - 2 * np.outer(n, n)
        object.__setattr__(self, "_M", R @ M)
        object.__setattr__(self, "_R", R @ (-M if self.mirror is not None else M))

    def point(self, p: Vector) -> Vector:
        """A position in the component to the position in the surroundings [m]."""
        return vector(self._M @ np.asarray(p) + np.asarray(self.at))

    def polar(self, a: Vector) -> Vector:
        """A direction or force."""
        return vector(self._M @ np.asarray(a))

    def axial(self, a: Vector) -> Vector:
        """A rotation axis or torque."""
        return vector(self._R @ np.asarray(a))

    def turn(self, q: Quaternion) -> Quaternion:
        """An orientation."""
        return quaternion(self._R @ matrix(q))

    def local_polar(self, a: Vector) -> Vector:
        """A direction or offset written in a frame that moves along."""
        return vector(-np.asarray(a)) if self.mirror is not None else a


def vector(a: npt.ArrayLike) -> Vector:
    """Three numbers as models write them."""
    x, y, z = np.asarray(a, float).tolist()
    return x, y, z


def quaternions_of(phi: Array) -> Array:
    """Unit quaternions (n × 4) of rotation vectors (n × 3) [rad]."""
    half = 0.5 * np.linalg.norm(phi, axis=1, keepdims=True)
    return np.hstack([np.cos(half), 0.5 * np.sinc(half / np.pi) * phi])


def rotation_vectors(q: Array) -> Array:
    """Rotation vectors (n × 3) [rad] of unit quaternions (n × 4), of at most half a turn."""
    w, u = q[:, :1], q[:, 1:]
    sine = np.linalg.norm(u, axis=1, keepdims=True)
    turn = 2.0 * np.arctan2(sine, np.abs(w)) * np.where(w < 0.0, -1.0, 1.0)
    vectors: Array = np.divide(turn, sine, out=np.zeros_like(sine), where=sine > 0.0) * u
    return vectors
