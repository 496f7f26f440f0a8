"""The few surfaces that pictures are made of, by name."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..model.errors import LinkworkError, MissingExtraError
from ..model.rotation import Array
from ..model.shape_files import file_version
from ..model.shapes import HeightField, Mesh
from ..model.spline import refined

_ROUND = 32  # corners of circles
_MESH, _HEIGHTS, _TORUS = "mesh:", "heights:", "torus:"
_FINE, _NODES = (
    6,
    200_000,
)  # pieces that a cell of smooth terrain is drawn in, if there are not more nodes then
_CHANGED = "?changed="  # a mesh file that was saved again is another mesh


class Triangles(NamedTuple):
    """A surface."""

    vertices: Array
    """n × 3"""
    faces: npt.NDArray[np.int32]
    """m × 3, counter-clockwise from outside"""


@lru_cache(maxsize=256)
def mesh(name: str) -> Triangles:
    """A unit box, sphere (radius 1), cylinder (radius 1, height 1 about z), cone (the same, tip at the top), plane (a
    unit square that faces z), "torus:t" (radius 1 about z, with a tube of radius t), or what `mesh_name` names."""
    if name.startswith(_MESH):
        return _from_file(name.removeprefix(_MESH))[0]
    if name.startswith(_HEIGHTS):
        return _field(name)
    if name.startswith(_TORUS):
        return _torus(float(name.removeprefix(_TORUS)))
    makers = {"box": _box, "sphere": _sphere, "cylinder": _cylinder, "cone": _cone, "plane": _plane}
    return makers[name]()


def own_color(name: str) -> tuple[int, int, int] | None:
    """The colour that the file of a mesh gives to most of it, by the name of the mesh."""
    return _from_file(name.removeprefix(_MESH))[1] if name.startswith(_MESH) else None


def mesh_name(shape: Mesh | HeightField) -> str:
    """The name of the mesh of a shape, unscaled. It tells all: meshes are known by their names alone."""
    if isinstance(shape, Mesh):
        file, changed, _ = file_version(shape.file)
        return f"{_MESH}{file}{_CHANGED}{changed}"
    grid = shape.grid()
    numbers = base64.b64encode(np.ascontiguousarray(grid, "<f8").tobytes()).decode()
    x, y = shape.size
    pieces = max(1, min(_FINE, int((_NODES / grid.size) ** 0.5))) if shape.smooth else 1
    return f"{_HEIGHTS}{x!r}:{y!r}:{grid.shape[1]}:{pieces}:{numbers}"


def is_open(name: str) -> bool:
    """Whether a mesh is to be drawn from both sides: terrain, and files, of which nobody knows."""
    return name.startswith((_MESH, _HEIGHTS))


def support(name: str, d: Array) -> Array:
    """The largest dot product of a point of a mesh with each of some vectors (… × 3)."""
    round_, level = np.hypot(d[..., 0], d[..., 1]), np.abs(d[..., 2]) / 2
    if name == "sphere":
        return np.hypot(round_, d[..., 2])
    if name == "cylinder":
        return round_ + level
    if name.startswith(_TORUS):
        return round_ + float(name.removeprefix(_TORUS)) * np.hypot(round_, d[..., 2])
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


def _torus(tube: float) -> Triangles:
    around, n = 2 * np.pi * np.arange(_ROUND) / _ROUND, _ROUND
    a, b = (angle.ravel() for angle in np.meshgrid(around, around, indexing="ij"))
    far = 1.0 + tube * np.cos(b)
    k, m = np.divmod(np.arange(n * n), n)
    p, q = (k + 1) % n * n + m, (k + 1) % n * n + (m + 1) % n
    own, s = k * n + m, k * n + (m + 1) % n
    faces = np.concatenate([np.column_stack([own, p, q]), np.column_stack([own, q, s])])
    return Triangles(
        np.column_stack([far * np.cos(a), far * np.sin(a), tube * np.sin(b)]), faces.astype(np.int32)
    )


def _plane() -> Triangles:
    corners = np.array([(-0.5, -0.5, 0.0), (0.5, -0.5, 0.0), (0.5, 0.5, 0.0), (-0.5, 0.5, 0.0)])
    return Triangles(corners, _faces([(0, 1, 2), (0, 2, 3)]))


def _field(name: str) -> Triangles:
    """The surface of a height field, two triangles a cell."""
    width, depth, columns, pieces, numbers = name.removeprefix(_HEIGHTS).split(":")
    z = np.frombuffer(base64.b64decode(numbers), "<f8").reshape(-1, int(columns))
    if int(pieces) > 1:
        z = refined(z, int(pieces))
    rows, half = len(z), np.array([float(width), float(depth)]) / 2
    x, y = np.meshgrid(np.linspace(-half[0], half[0], z.shape[1]), np.linspace(-half[1], half[1], rows))
    node = np.arange(z.size, dtype=np.int32).reshape(z.shape)
    a, b = node[:-1, :-1].ravel(), node[:-1, 1:].ravel()
    c, d = node[1:, 1:].ravel(), node[1:, :-1].ravel()
    faces = np.concatenate([np.column_stack([a, b, c]), np.column_stack([a, c, d])])
    return Triangles(np.column_stack([x.ravel(), y.ravel(), z.ravel()]), faces)


@lru_cache(maxsize=256)
def _from_file(named: str) -> tuple[Triangles, tuple[int, int, int] | None]:
    """The surface of a file, and the colour that it has of its own; `named` tells the version of the file, too."""
    file = named.partition(_CHANGED)[0]
    try:
        import trimesh
    except ImportError:
        raise MissingExtraError("trimesh", "mesh", f"drawing the mesh '{file}'") from None
    try:
        scene = trimesh.load_scene(file)
        loaded = scene.to_mesh()
        found = Triangles(np.asarray(loaded.vertices, float), np.asarray(loaded.faces, np.int32))
        return found, _main_color(scene.geometry.values())
    except Exception as error:  # trimesh raises whatever the format's reader raises
        raise LinkworkError(f"mesh '{file}' cannot be drawn: {error}") from None


def _color_of(look: Any) -> Any:
    """Of a part: its colour, or the mean of its picture where that meets corners."""
    if look.kind != "texture":
        return look.main_color
    pictures = (getattr(look.material, name, None) for name in ("image", "baseColorTexture"))
    if look.uv is not None and any(picture is not None for picture in pictures):
        return np.asarray(look.to_color().vertex_colors).reshape(-1, 4).mean(axis=0)
    return look.material.main_color


def _main_color(parts: Iterable[Any]) -> tuple[int, int, int] | None:
    """The colour of most of the area of parts that have one."""
    areas: dict[tuple[int, int, int], float] = {}
    for part in parts:
        look = getattr(part, "visual", None)
        if look is not None and look.defined:
            r, g, b = (int(share) for share in _color_of(look)[:3])
            areas[r, g, b] = areas.get((r, g, b), 0.0) + float(part.area)
    return max(areas, key=lambda color: areas[color], default=None)
