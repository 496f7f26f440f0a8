"""Where pictures are taken from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..model.errors import LinkworkError, nearest
from ..model.rotation import Array, Vector, matrix, vector
from ..stage.bounds import extent, reach
from ..stage.stage import Poses, Stage

FOV = 0.6  # vertical, [rad]
PRESETS = ("best", "front", "side", "top")
_MARGIN, _WIDE_MARGIN = 1.1, 1.2  # of a picture, and where joints are drawn at the edge and messages above it
_SIDES = 32  # of the polygon that measures a spread
_SAME_PLACE = 0.01  # relative change of a place that is none
_NEAREST = 0.7  # distance from the middle, in diagonals of what is seen: closer, perspective is too strong


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
    corners = np.array(np.meshgrid(*zip(low, high, strict=True))).reshape(3, -1).T
    return _fitted(
        *_direction(stage, poses, low, high, preset),
        lambda d: (corners @ d.T).max(axis=0),
        aspect,
        _WIDE_MARGIN,
    )


def close_camera(
    stage: Stage, poses: Poses, preset: str = "best", aspect: float = 1.6, points: Array | None = None
) -> Camera:
    """A camera as close as it can be with all bodies in the picture, over one or many poses (n × bodies × 3 and × 4),
    and all points (n × 3 [m]); the presets are those of `camera`."""
    low, high = extent(stage, poses.positions, poses.rotations)

    def far(directions: Array) -> Array:
        bodies = reach(stage, poses.positions, poses.rotations, directions)
        if points is not None and len(points):
            bodies = np.maximum(bodies, (points @ directions.T).max(axis=0))
        # A stage without bodies is as large as `extent` says.
        return bodies if np.isfinite(bodies).all() else np.abs(directions).sum(axis=1) / 2

    return _fitted(*_direction(stage, first_of(poses), low, high, preset), far, aspect)


def first_of(poses: Poses) -> Poses:
    """The first of many poses, or the only one."""
    return poses if poses.positions.ndim == 2 else Poses(poses.positions[0], poses.rotations[0])


def spread(stage: Stage, poses: Poses, preset: str = "best") -> float:
    """How much there is to see of one pose, to compare it with others of the stage: the area that it takes up in the
    picture of a camera far away, with all that lies between its parts; somewhat less of a picture that is too high.
    Scenery is the same in all of them, and left out."""
    stage = replace(stage, scenery=())
    back, up = _direction(stage, poses, *extent(stage, poses.positions, poses.rotations), preset)
    right, over = _across(back, up)
    step = 2 * np.pi / _SIDES
    angles = step * np.arange(_SIDES)
    far = reach(stage, *poses, np.cos(angles)[:, None] * right + np.sin(angles)[:, None] * over)
    # The polygon that touches it from every side.
    edges = (np.roll(far, 1) + np.roll(far, -1) - 2 * far * np.cos(step)) / np.sin(step)
    half = _SIDES // 2
    wide, tall = far[0] + far[half], far[half // 2] + far[half // 2 + half]
    # Between the area and the share of the picture that it fills: the first likes towers, the second what is end-on.
    return float(far @ edges / np.sqrt(max(tall, wide / 1.6, 1e-9)))


def _direction(stage: Stage, poses: Poses, low: Array, high: Array, preset: str) -> tuple[Array, Array]:
    """Unit vectors towards the camera and upwards."""
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
    elif axis is None:
        back = towards + 0.75 * sideways + 0.55 * up
    elif abs(float(axis @ up)) > 0.9:  # it lies flat: from above, or it would be a line
        back = towards + 0.4 * sideways + 1.3 * up
    else:
        # A long row is looked at along its length, from which it does not look smaller than it must.
        wide, tall = np.abs(high - low) @ np.abs(sideways), np.abs(high - low) @ np.abs(up)
        along = min(max(0.28, 0.2 * (float(wide / max(tall, 1e-9)) - 8.0)), 2.0)
        back = towards + along * sideways + 0.22 * (1.0 + 0.5 * along) * up
    return back / np.linalg.norm(back), up


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


def _fitted(
    back: Array, up: Array, far: Callable[[Array], Array], aspect: float, margin: float = _MARGIN
) -> Camera:
    """The closest camera that looks against `back` and sees everything; `far` tells how far it reaches.

    A point (x, y, z), in axes to the right, over and back, is seen from (0, 0, d) if |x| <= T (d - z), T the tangent of
    half the angle of view. So the largest of x + T z and -x + T z are all there is to know, and give d and the middle.
    """
    right, over = _across(back, up)
    tangent = np.tan(FOV / 2) / margin
    middle, needed = np.zeros(3), []
    for axis, t in ((right, tangent * aspect), (over, tangent)):
        plus, minus = far(np.array([axis + t * back, -axis + t * back]))
        middle += (plus - minus) / 2 * axis
        needed.append((plus + minus) / (2 * t))
    ends = far(np.array([right, -right, over, -over, back, -back]))
    spans = ends[0::2] + ends[1::2]
    depth = float(ends[4] - ends[5]) / 2
    distance = max(*needed, depth + _NEAREST * float(np.linalg.norm(spans)) + 1e-9)
    return Camera(vector(middle + distance * back), vector(middle + depth * back), vector(up))


def _across(back: Array, up: Array) -> tuple[Array, Array]:
    """Unit vectors to the right and upwards in the picture."""
    right = np.cross(up, back)
    right /= np.linalg.norm(right)
    return right, np.cross(back, right)


def stands_at(camera: Any, at: Camera) -> bool:
    """Whether a visitor's camera stands where another does."""
    apart = np.linalg.norm(np.subtract(camera.position, at.position))
    return bool(apart < _SAME_PLACE * np.linalg.norm(np.subtract(at.position, at.look_at)))
