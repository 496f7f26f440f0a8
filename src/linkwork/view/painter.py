"""Draws a stage over and over: what does not change from one picture to the next is prepared once."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..engine.kernels.raster.buffers import PIECE, Buffers, Mesh
from ..engine.kernels.raster.camera import View
from ..engine.kernels.raster.image import Floor, develop
from ..engine.kernels.raster.lines import STROKE, draw_lines
from ..engine.kernels.raster.shadows import LAMPS, cast_shadows
from ..engine.kernels.raster.triangles import draw_pieces
from ..engine.kernels.record import named
from ..model.errors import LinkworkError, nearest
from ..model.rotation import IDENTITY, Array, Vector, frame_from_axis, matrix, quaternion, vector
from ..stage import bounds as stage_bounds
from ..stage.geometry import Color, Piece, turns
from ..stage.stage import Poses, Stage
from .camera import Camera, close_camera
from .layers import Bounds, Layers, ground_color
from .motion import check
from .surface import surface

Image = npt.NDArray[np.uint8]

LAYERS = ("ground", "scenery", "bodies", "joints", "springs", "limits", "coms", "frames")
USUAL = ("ground", "scenery", "bodies", "joints", "springs")
LARGEST = 8192  # pixels of an edge

TOP, BOTTOM, FLOOR, GRID = (203, 216, 232), (246, 248, 250), (240, 243, 246), (196, 204, 214)
SPRING_COLOR, ARROW_COLOR = (90, 98, 110), (200, 30, 60)
TRACE_COLORS: tuple[Color, ...] = ((214, 30, 90), (20, 90, 200), (20, 140, 60), (150, 60, 190), (220, 110, 0))
_SHADOW = 0.42
_NEARER = 4e-4  # from body to body that may share a place, see kernels.raster
_THROUGH = 2500  # rank of what is seen through bodies, as it lies within them
# Beyond the numbers of bodies and joints.
_LOOSE_TAGS, _LINE_TAGS, _SCENERY_TAGS = 1_000_000, 2_000_000, 3_000_000
_FOCAL = 1616.0  # samples per unit of tangent of a picture 500 pixels high
_GLOSS = 1.0
_SHINES = 0.5  # light of what stands behind scenery, as in a box that would hide all that happens


class Arrow(NamedTuple):
    """A straight arrow in the world."""

    at: Vector
    """Where it starts [m]."""
    along: Vector
    """To its tip [m]."""
    color: Color = ARROW_COLOR


class Painter:
    """Pictures of one stage from one camera.

    `bounds` are the corners of what there is to see [m]; the floor lies at `floor` [m] along `up`, by default where
    `stage.bounds.floor` has it.
    """

    def __init__(
        self,
        stage: Stage,
        camera: Camera,
        bounds: Bounds,
        *,
        width: int = 800,
        height: int = 500,
        show: Sequence[str] = USUAL,
        floor: float | None = None,
    ):
        check_size(width, height)
        for layer in show:
            if layer not in LAYERS:
                raise LinkworkError(f"pictures have no layer '{layer}'{nearest(layer, LAYERS)}")
        self.stage = stage
        self.show = frozenset(show)
        self.size = float(np.linalg.norm(bounds[1] - bounds[0])) or 1.0
        """Diagonal of what there is to see [m]."""
        self.layers = Layers(stage, bounds, self.size)
        self.view = _view(stage, camera, 2.0 * height)
        self.pixel = 2.0 * math.dist(camera.position, camera.look_at) / self.view.focal
        """Width of a pixel where the camera looks at [m]."""
        self.floor = _floor(stage, bounds, self.size, floor, "ground" in self.show)
        self.lamps = _lamps(self.view.lamp)
        self._pieces = _Pieces(self._solids())
        rows, columns = 2 * height, 2 * width
        self.buffers = Buffers(
            np.zeros((rows, columns, 3), np.float32),
            np.zeros((rows, columns), np.float32),
            np.zeros((rows, columns), np.int32),
            np.zeros((height, width), np.uint8),
        )
        self._scenery = self._draw_scenery() if stage.scenery and "scenery" in self.show else None

    def draw(
        self, poses: Poses, traces: Mapping[str, Array] | None = None, arrows: Iterable[Arrow] = ()
    ) -> Image:
        """A picture, height × width × 3: red, green and blue."""
        check(self.stage, poses)
        ways = {name: _way(name, way) for name, way in (traces or {}).items()}
        self._clear()
        for group in (self._pieces, _Pieces(self._loose(ways, arrows))):
            self._draw(group, poses)
        draw_lines(self.buffers, self.view, *self._lines(poses, ways))
        if self._scenery is not None:
            self._add(self._scenery)
        image = np.empty((*self.buffers.shade.shape, 3), np.uint8)
        develop(image, self.buffers, self.view, self.floor, _linear(TOP), _linear(BOTTOM))
        return image

    @property
    def coverage(self) -> float:
        """Share of the last picture in which something stands, the floor and the background apart."""
        return float(np.count_nonzero(self.buffers.depth) / self.buffers.depth.size)

    def _clear(self) -> None:
        self.buffers.depth[:] = 0.0
        self.buffers.tag[:] = -1
        self.buffers.shade[:] = 0

    def _draw(self, group: _Pieces, poses: Poses) -> None:
        """Pieces and their shadows."""
        pieces = group.placed(poses)
        draw_pieces(self.buffers, self.view, group.mesh, pieces)
        if "ground" in self.show:
            cast_shadows(self.buffers.shade, self.view, self.floor, self.lamps, group.mesh, pieces)

    def _draw_scenery(self) -> Buffers:
        """What is the same in all pictures. A plane without end casts no shadow, or all would be dark."""
        pieces = enumerate(self.layers.pieces("scenery"), _SCENERY_TAGS)
        solids = [_Solid(piece, tag, 0, piece.mesh != "plane") for tag, piece in pieces]
        self._clear()
        self._draw(_Pieces(solids), Poses(np.empty((0, 3)), np.empty((0, 4))))
        return Buffers(*(array.copy() for array in self.buffers))

    def _add(self, scenery: Buffers) -> None:
        """Scenery before and behind what moves, which shines through it."""
        here = self.buffers
        before = scenery.depth > here.depth
        shines = np.flatnonzero(before & (here.depth > 0.0))
        light = here.light.reshape(-1, 3)
        behind = light[shines]
        np.copyto(here.light, scenery.light, where=before[..., None])
        np.copyto(here.tag, scenery.tag, where=before)
        np.copyto(here.depth, scenery.depth, where=before)
        light[shines] += _SHINES * (behind - light[shines])
        here.shade[:] |= scenery.shade

    def _solids(self) -> list[_Solid]:
        """All pieces that move with bodies, layer by layer."""
        solids: list[_Solid] = []
        if "bodies" in self.show:
            ranks = _ranks(self.stage)
            solids += [_Solid(p, p.body, ranks[p.body], True) for p in self.layers.pieces("bodies")]
        # Markings have tags of their own, one for each place, so that they get an outline.
        tags = itertools.count(len(self.stage.bodies))
        for layer, rank in (("joints", 1), ("limits", 1), ("coms", _THROUGH), ("frames", _THROUGH)):
            if layer in self.show:
                pieces = self.layers.pieces(layer)
                solids += [_Solid(piece, next(tags), rank, layer == "joints") for piece in pieces]
        return solids

    def _loose(self, traces: Mapping[str, Array], arrows: Iterable[Arrow]) -> list[_Solid]:
        """Pieces that are in this picture only: arrows, and balls at the heads of traces."""
        tags = itertools.count(_LOOSE_TAGS)
        r = max(0.012 * self.layers.mark, 2.0 * self.pixel)
        solids = []
        for way, color in zip(traces.values(), itertools.cycle(TRACE_COLORS), strict=False):
            if len(way):
                at = vector(way[-1])
                solids.append(
                    _Solid(Piece("sphere", -1, at, IDENTITY, (r, r, r), color), next(tags), 2, False)
                )
        for arrow in arrows:
            tag = next(tags)
            solids += [
                _Solid(piece, tag, 2, False) for piece in _arrow(arrow, max(0.005 * self.size, self.pixel))
            ]
        return solids

    def _lines(self, poses: Poses, traces: Mapping[str, Array]) -> tuple[Array, Any]:
        """Points and strokes (`STROKE`) of springs and traces."""
        lines: list[tuple[Array, Color, float]] = []
        scale = self.view.focal / _FOCAL
        if "springs" in self.show:
            width = max(3.2 * scale, 1.3)
            lines += [(winding, SPRING_COLOR, width) for winding in self.layers.coils(poses)]
        for way, color in zip(traces.values(), itertools.cycle(TRACE_COLORS), strict=False):
            lines.append((way, color, max(2.4 * scale, 1.3)))
        ends = np.cumsum([0, *(len(points) for points, _, _ in lines)])
        table = [
            (ends[i], ends[i + 1] - 1, _LINE_TAGS + i, _linear(color), radius, 0.0)
            for i, (_, color, radius) in enumerate(lines)
        ]
        points = np.concatenate([np.empty((0, 3)), *(points for points, _, _ in lines)])
        return points, named(np.array(table, STROKE))


class _Solid(NamedTuple):
    piece: Piece
    tag: int
    rank: int
    """The higher of two that share a place is seen."""
    casts: bool


class _Pieces:
    """Pieces as the kernels take them."""

    def __init__(self, solids: Sequence[_Solid]):
        names = list(dict.fromkeys(solid.piece.mesh for solid in solids))
        surfaces = [surface(name) for name in names]
        ends = itertools.accumulate(len(s.corners) for s in surfaces)
        firsts = {name: end - len(s.corners) for name, s, end in zip(names, surfaces, ends, strict=True)}
        empty = np.empty((0, 3, 3))
        self.mesh = Mesh(
            np.concatenate([empty, *(s.corners for s in surfaces)]),
            np.concatenate([empty, *(s.normals for s in surfaces)]),
        )
        known = dict(zip(names, surfaces, strict=True))
        self._records = np.zeros(len(solids), PIECE)
        for record, (p, tag, rank, casts) in zip(self._records, solids, strict=True):
            record["first"], record["count"] = firsts[p.mesh], len(known[p.mesh].corners)
            record["tag"], record["closed"], record["casts"] = tag, known[p.mesh].closed, casts
            record["color"], record["gloss"], record["nearer"] = _linear(p.color), _GLOSS, _NEARER * rank
        turn = np.array([matrix(p.rotation) for p, _, _, _ in solids]).reshape(-1, 3, 3)
        scale = np.array([p.scale for p, _, _, _ in solids]).reshape(-1, 1, 3)
        self._body = np.array([p.body for p, _, _, _ in solids], np.intp)
        self._stretch = turn * scale
        self._normals = turn / scale
        self._at = np.array([p.at for p, _, _, _ in solids]).reshape(-1, 3)

    def placed(self, poses: Poses) -> Any:
        """Records of `PIECE` for a pose."""
        # The ground stands last, where index -1 finds it.
        R = turns(np.vstack([poses.rotations, IDENTITY]))[self._body]
        p = np.vstack([poses.positions, np.zeros(3)])[self._body]
        place = np.concatenate([R @ self._stretch, (p[:, :, None] + R @ self._at[:, :, None])], axis=2)
        self._records["transform"] = place.reshape(-1, 12)
        self._records["normals"] = (R @ self._normals).reshape(-1, 9)
        return named(self._records)


def _ranks(stage: Stage) -> list[int]:
    """A small number for every body, another than those of bodies with which it may share a pin: those it is joined to,
    and those they are joined to."""
    joined: list[set[int]] = [set() for _ in stage.bodies]
    for joint in stage.joints:
        a, b = stage.index(joint.a), stage.index(joint.b)
        if a >= 0 and b >= 0:
            joined[a].add(b)
            joined[b].add(a)
    ranks: list[int] = []
    for i, near in enumerate(joined):
        around = near.union(*(joined[k] for k in near))
        taken = {ranks[k] for k in around if k < i}
        ranks.append(next(k for k in itertools.count() if k not in taken))
    return ranks


def _view(stage: Stage, camera: Camera, rows: float) -> View:
    eye, target = np.array(camera.position, float), np.array(camera.look_at, float)
    forward = target - eye
    distance = float(np.linalg.norm(forward))
    if not (np.isfinite(eye).all() and np.isfinite(target).all() and distance > 0.0):
        raise LinkworkError(f"a camera at {camera.position} cannot look at {camera.look_at}")
    forward /= distance
    right = np.cross(forward, camera.up)
    if not np.linalg.norm(right) > 1e-9 * float(np.linalg.norm(camera.up)):
        raise LinkworkError("a camera cannot look along its own upward direction")
    right /= np.linalg.norm(right)
    over = np.cross(right, forward)
    up = np.array(stage.up)
    # From above, from the left and a little from behind the camera: every picture is lit the same way.
    back = -forward + (forward @ up) * up
    back = back / np.linalg.norm(back) if np.linalg.norm(back) > 1e-3 else -over
    lamp = 1.0 * up + 0.62 * back - 0.55 * (right - (right @ up) * up)
    return View(
        vector(eye), vector(right), vector(over), vector(forward),
        0.5 * rows / math.tan(camera.fov / 2), 1e-3 * distance, vector(lamp / np.linalg.norm(lamp)), vector(up),
    )  # fmt: skip


def _floor(stage: Stage, bounds: Bounds, size: float, floor: float | None, shown: bool) -> Floor:
    up = np.array(stage.up)
    low, high = bounds
    height = stage_bounds.floor(stage, *bounds) if floor is None else floor
    centre = (low + high) / 2
    R = frame_from_axis(vector(up))
    wide = max(float(np.linalg.norm(high - low - ((high - low) @ up) * up)), 0.5 * size)
    color = ground_color(stage) or FLOOR
    return Floor(
        1.0 if shown else 0.0, height, vector(centre + (height - centre @ up) * up), vector(R[:, 0]),
        vector(R[:, 1]), 2.2 * wide, _round_number(wide / 8), _linear(color), _linear(GRID), _SHADOW,
    )  # fmt: skip


def _lamps(lamp: Vector) -> Array:
    """Points of a round lamp, so that shadows are soft where they are far from what casts them."""
    R = frame_from_axis(lamp)
    angles = 2 * np.pi * np.arange(LAMPS) / LAMPS
    radii = np.where(np.arange(LAMPS) % 2, 0.035, 0.015)
    rays = R[:, 2] + radii[:, None] * (np.outer(np.cos(angles), R[:, 0]) + np.outer(np.sin(angles), R[:, 1]))
    result: Array = rays / np.linalg.norm(rays, axis=1, keepdims=True)
    return result


def _round_number(x: float) -> float:
    """The next of 1, 2, 5, 10 ... that is not less."""
    decade = 10.0 ** math.floor(math.log10(x))
    return next(k * decade for k in (1.0, 2.0, 5.0, 10.0) if k * decade >= x * (1 - 1e-9))


def _arrow(arrow: Arrow, r: float) -> list[Piece]:
    along = np.array(arrow.along, float)
    length = float(np.linalg.norm(along))
    if not (np.isfinite(along).all() and np.isfinite(arrow.at).all()):
        raise LinkworkError(f"an arrow at {arrow.at} along {arrow.along} cannot be drawn")
    if length == 0.0:
        return []
    turn = quaternion(frame_from_axis(vector(along / length)))
    head = min(8.0 * r, 0.5 * length)
    start, axis = np.array(arrow.at), along / length
    return [
        Piece("cylinder", -1, vector(start + axis * (length - head) / 2), turn, (r, r, length - head), arrow.color),
        Piece("cone", -1, vector(start + axis * (length - head / 2)), turn, (2.6 * r, 2.6 * r, head), arrow.color),
    ]  # fmt: skip


def _way(name: str, way: Array) -> Array:
    way = np.asarray(way, float)
    if way.ndim != 2 or way.shape[1] != 3 or not np.isfinite(way).all():
        raise LinkworkError(f"the trace '{name}' must be n × 3 finite numbers [m]")
    return way


def check_size(width: int, height: int) -> None:
    """Refuse sizes that no picture can have [pixels]."""
    for name, pixels in (("width", width), ("height", height)):
        if not (isinstance(pixels, int | np.integer) and 1 <= pixels <= LARGEST):
            raise LinkworkError(f"the {name} of a picture must be 1 to {LARGEST} pixels, not {pixels!r}")


def _linear(color: Color) -> Vector:
    """Shares of light of a colour of the screen, see kernels.raster."""
    return (color[0] / 255) ** 2, (color[1] / 255) ** 2, (color[2] / 255) ** 2


def bounds_of(stage: Stage, poses: Poses, traces: Mapping[str, Array] | None = None) -> Bounds:
    """Lowest and highest corner [m] of bodies and traces, over any number of poses."""
    low, high = stage_bounds.extent(stage, poses.positions, poses.rotations)
    for way in (traces or {}).values():
        if len(way):
            low, high = np.minimum(low, way.min(axis=0)), np.maximum(high, way.max(axis=0))
    return low, high


def close_painter(
    stage: Stage,
    poses: Poses,
    traces: Mapping[str, Array],
    preset: str,
    width: int,
    height: int,
    show: Sequence[str],
    motion: Poses | None = None,
) -> Painter:
    """Pictures with all bodies in them, over one or many poses, and all traces, as large as they can be.

    The floor lies under the `motion` that the poses are of, by default under these alone.
    """
    check_size(width, height)
    points = np.concatenate([np.empty((0, 3)), *traces.values()])
    camera = close_camera(stage, poses, preset, width / height, points)
    bounds = bounds_of(stage, poses, traces)
    floor = stage_bounds.floor(stage, *bounds)
    if motion is not None:
        # What falls for ever has its shadow near it all the same.
        size = float(np.linalg.norm(bounds[1] - bounds[0]))
        floor = max(stage_bounds.floor(stage, *bounds_of(stage, motion)), floor - size)
    return Painter(stage, camera, bounds, width=width, height=height, show=show, floor=floor)
