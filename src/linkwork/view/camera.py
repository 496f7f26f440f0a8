"""Where pictures are taken from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import LinkworkError, nearest
from ..rotation import Array, Vector, matrix
from ..stage import Poses, Stage

FOV = 0.6  # vertical, [rad]
PRESETS = ("best", "front", "side", "top")
_MARGIN = 1.08


@dataclass(frozen=True)
class Camera:
    """A pinhole camera."""

    position: Vector
    """[m]"""
    look_at: Vector
    """[m]"""
    up: Vector
    fov: float = FOV
    """Vertical angle of view [rad]."""


def camera(
    stage: Stage, poses: Poses, low: Array, high: Array, preset: str = "best", aspect: float = 1.6
) -> Camera:
    """A camera that sees all between two corners [m], from one of the presets.

    "best" looks at planar mechanisms almost along their axes, at others from a corner; "front", "side" and "top" look
    along axes that stand upright in the picture.
    """
    if preset not in PRESETS:
        raise LinkworkError(f"there is no camera '{preset}'{nearest(preset, PRESETS)}")
    up, axis = np.array(stage.up), planar_axis(stage, poses)
    towards, sideways = _horizontal(axis, up)
    if preset == "front":
        back = towards
    elif preset == "side":
        back = sideways
    elif preset == "top":
        back, up = up, -towards
    elif axis is not None:
        back = towards + 0.28 * sideways + 0.22 * up
    else:
        back = towards + 0.75 * sideways + 0.55 * up
    back = back / np.linalg.norm(back)
    middle = (low + high) / 2
    return Camera(
        _triple(middle + _distance(low, high, back, up, aspect) * back), _triple(middle), _triple(up)
    )


def planar_axis(stage: Stage, poses: Poses) -> Array | None:
    """The common axis of all turns, in world axes, if there is one and slides are square to it."""
    turns: list[Array] = []
    slides: list[Array] = []
    for joint in stage.joints:
        if len(joint.freedoms) > 1:
            return None
        a = stage.index(joint.a)
        R = matrix(joint.rotation_a) if a < 0 else matrix(poses.rotations[a]) @ matrix(joint.rotation_a)
        for freedom in joint.freedoms:
            (turns if freedom.turns else slides).append(R[:, freedom.axis])
    if not turns:
        return None
    axis = turns[0]
    parallel = all(abs(float(axis @ turn)) > 1 - 1e-6 for turn in turns)
    square = all(abs(float(axis @ slide)) < 1e-3 for slide in slides)
    return axis if parallel and square else None


def _horizontal(axis: Array | None, up: Array) -> tuple[Array, Array]:
    """Two level directions: towards the camera in front, and to its right."""
    towards = np.array([0.0, -1.0, 0.0]) if axis is None else axis
    if axis is not None and float(axis.sum()) < 0.0:
        towards = -axis
    towards = towards - (towards @ up) * up
    if np.linalg.norm(towards) < 1e-3:
        towards = np.array([1.0, 0.0, 0.0]) - up[0] * up
    towards /= np.linalg.norm(towards)
    return towards, np.cross(up, towards)


def _distance(low: Array, high: Array, back: Array, up: Array, aspect: float) -> float:
    """How far from the middle every corner is within the picture."""
    right = np.cross(up, back)
    right /= np.linalg.norm(right)
    over = np.cross(back, right)
    half = np.maximum((high - low) / 2, 1e-3)
    tangent = np.tan(FOV / 2)
    needed = 0.0
    for signs in np.ndindex(2, 2, 2):
        corner = half * (2 * np.array(signs) - 1)
        wide = max(abs(float(corner @ over)), abs(float(corner @ right)) / aspect)
        needed = max(needed, float(corner @ back) + _MARGIN * wide / tangent)
    return needed


def _triple(a: Array) -> Vector:
    return float(a[0]), float(a[1]), float(a[2])
