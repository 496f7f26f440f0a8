"""What pictures are made of: a few meshes, stretched and set on bodies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..model.rotation import IDENTITY, Array, Quaternion, Vector, about, frame_from_axis, matrix, quaternion
from ..model.shapes import HeightField, Mesh, Plane, Shape
from .meshes import mesh_name, own_color
from .stage import SeenFreedom, SeenJoint, Stage

Color = tuple[int, int, int]

# Okabe and Ito's colours, told apart by the colour-blind too; yellow and black left out.
PALETTE: tuple[Color, ...] = (
    (86, 180, 233), (230, 159, 0), (0, 158, 115), (204, 121, 167), (0, 114, 178), (213, 94, 0), (140, 150, 165),
)  # fmt: skip
TURN_COLOR, SLIDE_COLOR, LIMIT_COLOR, COM_COLOR = (
    (220, 50, 47),
    (38, 110, 210),
    (250, 150, 30),
    (250, 220, 40),
)
BEARING_COLOR: Color = (70, 76, 86)
SCENERY_COLOR: Color = (176, 184, 192)
AXIS_COLORS: tuple[Color, ...] = ((220, 50, 47), (60, 160, 60), (38, 110, 210))

_TURNS, _COIL = 9, 16  # turns of a coil spring, and points of a turn
_ARC = 16  # pieces of the arc that shows the limits of a turn
_LEVEL = 1e-6  # sine of the slope below which a plane is the ground itself
_PLANE = 2.0  # side of the square that shows a plane, in diagonals of what there is to see


class Piece(NamedTuple):
    """A mesh, stretched, turned and set on a body."""

    mesh: str
    """A name that `mesh` knows."""
    body: int
    """Index on the stage; -1 for the ground."""
    at: Vector
    """In the body's frame [m]."""
    rotation: Quaternion
    scale: Vector
    color: Color


def body_pieces(stage: Stage, by_component: bool = False) -> list[Piece]:
    """The bodies themselves, each in its own colour or in that of its component."""
    families = list(dict.fromkeys(body.component for body in stage.bodies))
    pieces: list[Piece] = []
    for i, body in enumerate(stage.bodies):
        if by_component:
            color = PALETTE[families.index(body.component) % len(PALETTE)]
        else:
            color = rgb(body.color) if body.color else PALETTE[i % len(PALETTE)]
        for shape in body.shapes:
            pieces += shape_pieces(shape, i, color, stated=by_component or body.color is not None)
    return pieces


def scenery_pieces(stage: Stage) -> list[Piece]:
    """What never moves and has an end."""
    pieces: list[Piece] = []
    for shape, color in _scenery(stage):
        if not isinstance(shape, Plane):
            pieces += shape_pieces(shape, -1, color or SCENERY_COLOR)
    return pieces


def plane_pieces(stage: Stage, bounds: tuple[Array, Array]) -> list[Piece]:
    """Planes of the scenery, which have no end: squares that reach beyond `bounds`, two corners [m]. Those that are
    level are the ground itself, see `levels`."""
    middle, side = (bounds[0] + bounds[1]) / 2, _PLANE * float(np.linalg.norm(bounds[1] - bounds[0]))
    up, pieces = np.array(stage.up), []
    for shape, color in _scenery(stage):
        if isinstance(shape, Plane) and not _is_level(shape, up):
            normal = matrix(shape.rotation)[:, 2]
            at = _vector(middle - (middle - np.array(shape.at)) @ normal * normal)
            scale = (side, side, 1.0)
            pieces.append(Piece("plane", -1, at, shape.rotation, scale, color or SCENERY_COLOR))
    return pieces


def levels(stage: Stage) -> list[tuple[float, Color | None]]:
    """How high along `up` level planes of the scenery are [m], and their colours, the highest first."""
    up = np.array(stage.up)
    found = [
        (float(up @ np.array(shape.at)), color)
        for shape, color in _scenery(stage)
        if isinstance(shape, Plane) and _is_level(shape, up)
    ]
    return sorted(found, key=lambda ground: -ground[0])


def _scenery(stage: Stage) -> Iterator[tuple[Shape, Color | None]]:
    for thing in stage.scenery:
        for shape in thing.shapes:
            yield shape, rgb(thing.color) if thing.color else None


def _is_level(plane: Plane, up: Array) -> bool:
    normal = matrix(plane.rotation)[:, 2]
    return float(np.linalg.norm(np.cross(normal, up))) < _LEVEL and float(normal @ up) > 0.0


def joint_pieces(stage: Stage, size: float, bounds: tuple[Array, Array] | None = None) -> list[Piece]:
    """An axle for every turn, a rail for every slide, a ball for a ball, a bearing where it stands on the ground.

    `size` [m] is that of the whole stage or of what is typical on it; rails on the ground reach through `bounds`, two
    corners [m].
    """
    pieces: list[Piece] = []
    for joint in stage.joints:
        body, at, turn = _stand(stage, joint)
        if len(joint.freedoms) == 3 and all(freedom.turns for freedom in joint.freedoms):
            r = (0.025 if body < 0 else 0.012) * size
            pieces.append(Piece("sphere", body, at, IDENTITY, (r, r, r), TURN_COLOR))
        for freedom in joint.freedoms:
            if len(joint.freedoms) >= 3:
                break
            rotation = _along(turn, freedom.axis)
            if freedom.turns:
                r, length = 0.006 * size, (0.075 if len(joint.freedoms) == 1 else 0.05) * size
                pieces.append(Piece("cylinder", body, at, rotation, (r, r, length), TURN_COLOR))
                if body < 0:
                    r, length = 2.5 * r, 0.45 * length
                    pieces.append(Piece("cylinder", body, at, rotation, (r, r, length), BEARING_COLOR))
            else:
                pieces.append(_rail(body, at, rotation, freedom, size, bounds))
    return pieces


def limit_pieces(stage: Stage, size: float) -> list[Piece]:
    """An arc for the range of a turn, end plates for that of a slide, on body a of the joint."""
    pieces: list[Piece] = []
    for joint in stage.joints:
        body, at, turn = _stand(stage, joint)
        for freedom in joint.freedoms:
            low, high = freedom.limits
            if low is None and high is None:
                continue
            if freedom.turns and len(joint.freedoms) < 3:
                pieces += _arc(body, at, turn, freedom.axis, low, high, 0.07 * size)
            elif not freedom.turns:
                axis = matrix(turn)[:, freedom.axis]
                for bound in (low, high):
                    if bound is not None:
                        end = _vector(np.array(at) + bound * axis)
                        r = 0.02 * size
                        pieces.append(
                            Piece(
                                "cylinder",
                                body,
                                end,
                                _along(turn, freedom.axis),
                                (r, r, 0.003 * size),
                                LIMIT_COLOR,
                            )
                        )
    return pieces


def com_pieces(stage: Stage, size: float) -> list[Piece]:
    """A ball at every centre of mass, larger for larger masses."""
    heaviest = max((body.mass for body in stage.bodies), default=1.0) or 1.0
    pieces: list[Piece] = []
    for i, body in enumerate(stage.bodies):
        r = 0.018 * size * max(0.3, float(np.cbrt(body.mass / heaviest)))
        pieces.append(Piece("sphere", i, body.com, IDENTITY, (r, r, r), COM_COLOR))
    return pieces


def frame_pieces(stage: Stage, size: float) -> list[Piece]:
    """Axes of every body's frame and of the markers: x red, y green, z blue."""
    stands = [(i, (0.0, 0.0, 0.0), IDENTITY) for i in range(len(stage.bodies))]
    stands += [(stage.index(point.body), point.at, point.rotation) for point in stage.points]
    r, length = 0.003 * size, 0.07 * size
    pieces: list[Piece] = []
    for body, at, turn in stands:
        for axis, color in enumerate(AXIS_COLORS):
            middle = _vector(np.array(at) + matrix(turn)[:, axis] * length / 2)
            pieces.append(Piece("cylinder", body, middle, _along(turn, axis), (r, r, length), color))
    return pieces


def turns(rotations: Array) -> Array:
    """Rotation matrices of quaternions of any length but zero: … × 4 to … × 3 × 3."""
    w, x, y, z = np.moveaxis(rotations / np.linalg.norm(rotations, axis=-1, keepdims=True), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    result: Array = np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
    return result


def coil(start: Array, end: Array, radius: float) -> Array:
    """A helix between two points, with straight ends; without a radius a straight line."""
    axis = end - start
    length = float(np.linalg.norm(axis))
    if length == 0.0 or radius == 0.0:
        return np.array([start, end])
    R = frame_from_axis(_vector(axis / length))
    share = np.linspace(0.0, 1.0, _TURNS * _COIL + 1)
    angle = 2 * np.pi * _TURNS * share
    # It opens and closes over half a turn at each end.
    wide = radius * np.minimum(1.0, 2 * _TURNS * np.minimum(share, 1.0 - share))
    along = length * (0.12 + 0.76 * share)
    way: Array = (
        start
        + np.outer(along, R[:, 2])
        + np.outer(wide * np.cos(angle), R[:, 0])
        + np.outer(wide * np.sin(angle), R[:, 1])
    )
    return np.vstack([start, way, end])


def rgb(color: str) -> Color:
    """#rrggbb as three numbers."""
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def shape_pieces(shape: Shape, body: int, color: Color, stated: bool = True) -> Iterator[Piece]:
    """Of one shape that has an end. Where its colour is not `stated`, a mesh has that of its file, if there is one."""
    at, turn = shape.at, shape.rotation
    color = rgb(shape.color) if shape.color else color
    if isinstance(shape, Mesh):
        x, y, z = shape.scales
        if not stated and shape.color is None:
            color = own_color(mesh_name(shape)) or color
        scale = (-x, -y, -z) if shape.inverted else (x, y, z)
        yield Piece(mesh_name(shape), body, at, turn, scale, color)
    elif isinstance(shape, HeightField):
        yield Piece(mesh_name(shape), body, at, turn, (1.0, 1.0, 1.0), color)
    else:
        for look in shape.looks():
            centre = _vector(np.array(at) + matrix(turn) @ np.array(look.at))
            yield Piece(look.solid, body, centre, turn, look.scale, color)


def _stand(stage: Stage, joint: SeenJoint) -> tuple[int, Vector, Quaternion]:
    """Where the frame of a joint stands on body a."""
    return stage.index(joint.a), joint.at_a, joint.rotation_a


def _along(turn: Quaternion, axis: int) -> Quaternion:
    """The orientation whose z axis lies along an axis of a frame."""
    return quaternion(frame_from_axis(_vector(matrix(turn)[:, axis])))


def _rail(
    body: int,
    at: Vector,
    rotation: Quaternion,
    freedom: SeenFreedom,
    size: float,
    bounds: tuple[Array, Array] | None,
) -> Piece:
    """What slides along it: as long as its limits allow, or else as long as is handy."""
    axis, r = matrix(rotation)[:, 2], 0.004 * size
    low, high = freedom.limits
    if low is None or high is None:
        low, high = -0.03 * size, 0.03 * size
        if body < 0 and bounds is not None:
            middle, half = (bounds[0] + bounds[1]) / 2 - np.array(at), (bounds[1] - bounds[0]) / 2
            far = float(np.abs(axis) @ half)
            low, high = min(low, float(axis @ middle) - far), max(high, float(axis @ middle) + far)
            low, high = low - 0.05 * size, high + 0.05 * size
    centre = _vector(np.array(at) + (low + high) / 2 * axis)
    return Piece("cylinder", body, centre, rotation, (r, r, max(high - low, 2 * r)), SLIDE_COLOR)


def _arc(
    body: int, at: Vector, turn: Quaternion, axis: int, low: float | None, high: float | None, radius: float
) -> Iterator[Piece]:
    """Little rods around the axis, zero towards the next axis of the frame."""
    first = -np.pi if low is None else low
    last = np.pi if high is None else high
    last = min(last, first + 2 * np.pi)
    R = matrix(turn)
    step = (last - first) / _ARC
    x = R[:, (axis + 1) % 3]
    for k in range(_ARC):
        spin = matrix(about(R[:, axis], first + (k + 0.5) * step))
        middle = _vector(np.array(at) + radius * (spin @ x))
        tangent = spin @ np.cross(R[:, axis], x)
        rotation = quaternion(frame_from_axis(_vector(tangent)))
        thin = 0.05 * radius
        yield Piece("box", body, middle, rotation, (thin, thin, max(radius * step, thin)), LIMIT_COLOR)


def _vector(a: Array) -> Vector:
    return float(a[0]), float(a[1]), float(a[2])
