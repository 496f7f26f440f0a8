"""What pictures are made of: a few meshes, stretched and set on bodies."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..errors import LinkworkError, MissingExtraError
from ..item import GROUND
from ..rotation import IDENTITY, Array, Quaternion, Vector, about, frame_from_axis, matrix, quaternion
from ..shapes import Box, Capsule, Cylinder, HeightField, Mesh, Plane, Shape, Sphere
from ..stage import Poses, SeenFreedom, SeenJoint, Stage

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
AXIS_COLORS: tuple[Color, ...] = ((220, 50, 47), (60, 160, 60), (38, 110, 210))

_TURNS, _COIL = 9, 16  # turns of a coil spring, and points of a turn
_ROUND = 32  # corners of circles
_ARC = 16  # pieces of the arc that shows the limits of a turn
_MESH, _HEIGHTS = "mesh:", "heights:"
_PLANE, _THICK = 10.0, 0.01  # sides of the square that shows a plane, and how thick it is [m]


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


class Triangles(NamedTuple):
    """A surface."""

    vertices: Array
    """n × 3"""
    faces: npt.NDArray[np.int32]
    """m × 3, counter-clockwise from outside"""


@lru_cache(maxsize=256)
def mesh(name: str) -> Triangles:
    """A unit box, sphere (radius 1), cylinder (radius 1, height 1 about z), cone (the same, tip at the top), or the
    mesh of a file: `mesh:<path>`; or a height field over a unit square, its numbers in the name."""
    if name.startswith(_HEIGHTS):
        return _field(name)
    if name.startswith(_MESH):
        return _from_file(name.removeprefix(_MESH))
    makers = {"box": _box, "sphere": _sphere, "cylinder": _cylinder, "cone": _cone}
    return makers[name]()


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
            pieces += _shape_pieces(shape, i, color)
    return pieces


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


def extent(stage: Stage, positions: Array, rotations: Array) -> tuple[Array, Array]:
    """Lowest and highest corner [m] of the bodies, over any number of poses (… × bodies × 3 and × 4)."""
    far = reach(stage, positions, rotations, np.vstack([-np.eye(3), np.eye(3)]))
    if not np.isfinite(far).all():
        return np.full(3, -0.5), np.full(3, 0.5)
    return -far[:3], far[3:]


def reach(stage: Stage, positions: Array, rotations: Array, directions: Array) -> Array:
    """How far bodies, and where they hang, reach along each direction (k × 3, of any length), over any number of poses:
    the largest dot product with it, minus infinity if there is nothing."""
    positions, rotations = (
        positions.reshape(-1, *positions.shape[-2:]),
        rotations.reshape(-1, *rotations.shape[-2:]),
    )
    R = turns(rotations)
    far = np.full(len(directions), -np.inf)
    for piece in body_pieces(stage):
        centres = positions[:, piece.body] + R[:, piece.body] @ np.array(piece.at)
        stretch = R[:, piece.body] @ (matrix(piece.rotation) * piece.scale)
        along = centres @ directions.T + _support(piece.mesh, directions @ stretch)
        far = np.maximum(far, along.max(axis=0))
    # What slides or flies may have left its joint's place far behind.
    hung = [j.at_a for j in stage.joints if j.a == GROUND and all(freedom.turns for freedom in j.freedoms)]
    hung += [at for s in stage.springs for end, at in ((s.a, s.at_a), (s.b, s.at_b)) if end == GROUND]
    for at in hung:
        far = np.maximum(far, directions @ np.array(at))
    return far


def typical_size(stage: Stage) -> float:
    """Length of a body of the middle size [m]; 0 if there are none."""
    spans: dict[int, Array] = {}
    axes = np.vstack([-np.eye(3), np.eye(3)])
    for piece in body_pieces(stage):
        stretch = matrix(piece.rotation) * piece.scale
        far = axes @ np.array(piece.at) + _support(piece.mesh, axes @ stretch)
        spans[piece.body] = np.maximum(far, spans.get(piece.body, far))
    lengths = [float(np.linalg.norm(far[:3] + far[3:])) for far in spans.values()]
    return float(np.median(lengths or [0.0]))


def _support(name: str, d: Array) -> Array:
    """The largest dot product of a point of a mesh with each of some vectors (… × 3)."""
    round_, level = np.hypot(d[..., 0], d[..., 1]), np.abs(d[..., 2]) / 2
    if name == "sphere":
        return np.hypot(round_, d[..., 2])
    if name == "cylinder":
        return round_ + level
    if name == "cone":
        return np.maximum(round_ - d[..., 2] / 2, d[..., 2] / 2)
    v = mesh(name).vertices
    if name == "box" or not len(v):
        far: Array = np.abs(d).sum(axis=-1) / 2
        return far
    # The box around a mesh of a file, which may have any number of corners.
    low, high = v.min(axis=0), v.max(axis=0)
    boxed: Array = d @ ((low + high) / 2) + np.abs(d) @ ((high - low) / 2)
    return boxed


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


def floor(stage: Stage, poses: Poses, low: Array, high: Array) -> float:
    """How high along `up` the ground is drawn [m]: under what is welded to it, else under the whole motion.

    `low` and `high` are the corners of the motion, `poses` one of it.
    """
    held = {
        joint.b if joint.a == GROUND else joint.a
        for joint in stage.joints
        if not joint.freedoms and GROUND in (joint.a, joint.b)
    }
    fixed = [i for i, body in enumerate(stage.bodies) if body.name in held]
    size = float((high - low).max())
    if fixed:
        part = replace(stage, bodies=tuple(stage.bodies[i] for i in fixed), joints=(), springs=())
        low, high = extent(part, poses.positions[fixed], poses.rotations[fixed])
    up = np.array(stage.up)
    return float(np.minimum(low * up, high * up).sum()) - 1e-3 * size


def coil(start: Array, end: Array, radius: float) -> Array:
    """A helix between two points, with straight ends."""
    axis = end - start
    length = float(np.linalg.norm(axis))
    if length == 0.0:
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


def _shape_pieces(shape: Shape, body: int, color: Color) -> Iterator[Piece]:
    at, turn = shape.at, shape.rotation
    if isinstance(shape, Box):
        yield Piece("box", body, at, turn, shape.size, color)
    elif isinstance(shape, Sphere):
        yield Piece("sphere", body, at, turn, (shape.radius,) * 3, color)
    elif isinstance(shape, Cylinder):
        yield Piece("cylinder", body, at, turn, (shape.radius, shape.radius, shape.length), color)
    elif isinstance(shape, Capsule):
        r, length = shape.radius, shape.length
        yield Piece("cylinder", body, at, turn, (r, r, length), color)
        for side in (-0.5, 0.5):
            end = _vector(np.array(at) + matrix(turn)[:, 2] * side * length)
            yield Piece("sphere", body, end, turn, (r, r, r), color)
    elif isinstance(shape, Mesh):
        s = -shape.scale if shape.inverted else shape.scale
        yield Piece(f"{_MESH}{shape.file}", body, at, turn, (s, s, s), color)
    elif isinstance(shape, Plane):
        below = _vector(np.array(at) - matrix(turn)[:, 2] * _THICK / 2)
        yield Piece("box", body, below, turn, (_PLANE, _PLANE, _THICK), color)
    elif isinstance(shape, HeightField):
        yield Piece(_field_name(shape.grid()), body, at, turn, (*shape.size, 1.0), color)
    else:
        raise LinkworkError(f"pictures cannot show the shape {type(shape).__name__}")


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


def _faces(rows: Iterable[tuple[int, int, int]]) -> npt.NDArray[np.int32]:
    return np.array(list(rows), np.int32)


def _box() -> Triangles:
    corners = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    quads = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
    faces = [face for a, b, c, d in quads for face in ((a, b, c), (a, c, d))]
    return Triangles(corners, _faces(faces))


def _sphere() -> Triangles:
    rings = _ROUND // 2
    rows = [(0.0, 0.0, -1.0)]
    for i in range(1, rings):
        polar = np.pi * i / rings
        rows += [
            (np.sin(polar) * np.cos(a), np.sin(polar) * np.sin(a), -np.cos(polar))
            for a in 2 * np.pi * np.arange(_ROUND) / _ROUND
        ]
    rows.append((0.0, 0.0, 1.0))
    top = len(rows) - 1
    faces = []
    for k in range(_ROUND):
        n = (k + 1) % _ROUND
        faces.append((0, 1 + n, 1 + k))
        faces.append((top, top - _ROUND + k, top - _ROUND + n))
        for i in range(rings - 2):
            a, b = 1 + i * _ROUND + k, 1 + i * _ROUND + n
            faces += [(a, b, b + _ROUND), (a, b + _ROUND, a + _ROUND)]
    return Triangles(np.array(rows), _faces(faces))


def _round(top: float) -> Triangles:
    """A cylinder (top 1) or cone (top 0), the rims doubled so that edges are sharp."""
    a = 2 * np.pi * np.arange(_ROUND) / _ROUND
    c, s, n = np.cos(a), np.sin(a), _ROUND
    side = [np.column_stack([k * c, k * s, np.full(n, z)]) for k, z in ((1.0, -0.5), (top, 0.5))]
    vertices = np.vstack([*side, *side, [[0, 0, -0.5], [0, 0, 0.5]]])
    faces = []
    for k in range(n):
        m = (k + 1) % n
        faces += [(k, m, n + m), (k, n + m, n + k)]
        faces += [(4 * n, 2 * n + m, 2 * n + k), (4 * n + 1, 3 * n + k, 3 * n + m)]
    return Triangles(vertices, _faces(faces))


def _cylinder() -> Triangles:
    return _round(1.0)


def _cone() -> Triangles:
    return _round(0.0)


def _field_name(grid: Array) -> str:
    """A name that tells all: meshes are known by their names, in whatever process draws them."""
    numbers = base64.b64encode(np.ascontiguousarray(grid, "<f8").tobytes()).decode()
    return f"{_HEIGHTS}{grid.shape[1]}:{numbers}"


def _field(name: str) -> Triangles:
    """The surface of a height field, two triangles a cell."""
    columns, numbers = name.removeprefix(_HEIGHTS).split(":")
    z = np.frombuffer(base64.b64decode(numbers), "<f8").reshape(-1, int(columns))
    rows = len(z)
    x, y = np.meshgrid(np.linspace(-0.5, 0.5, z.shape[1]), np.linspace(-0.5, 0.5, rows))
    node = np.arange(z.size, dtype=np.int32).reshape(z.shape)
    a, b = node[:-1, :-1].ravel(), node[:-1, 1:].ravel()
    c, d = node[1:, 1:].ravel(), node[1:, :-1].ravel()
    faces = np.concatenate([np.column_stack([a, b, c]), np.column_stack([a, c, d])])
    return Triangles(np.column_stack([x.ravel(), y.ravel(), z.ravel()]), faces)


def _from_file(file: str) -> Triangles:
    try:
        import trimesh
    except ImportError:
        raise MissingExtraError("trimesh", "mesh", f"drawing the mesh '{file}'") from None
    try:
        loaded = trimesh.load_mesh(file)
        return Triangles(np.asarray(loaded.vertices, float), np.asarray(loaded.faces, np.int32))
    except Exception as error:  # trimesh raises whatever the format's reader raises
        raise LinkworkError(f"mesh '{file}' cannot be drawn: {error}") from None
