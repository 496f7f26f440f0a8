"""Pictures of mechanisms, without a display, a browser or any package beyond the usual ones."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..model.errors import LinkworkError
from ..model.rotation import Array, vector
from ..results.files import atomic
from ..results.record import Record
from ..stage.bounds import floor
from ..stage.stage import Poses, Stage
from .camera import Camera, close_camera, spread
from .layers import SLIDES_COLOR, STICKS_COLOR, Bounds
from .motion import Motion, motion, stage_in
from .motion import traces as ways
from .painter import (
    LAYERS,
    USUAL,
    Arrow,
    Image,
    Painter,
    bounds_of,
    close_painter,
)

if TYPE_CHECKING:
    from ..methods.touching import TouchArrays

__all__ = ["LAYERS", "USUAL", "Arrow", "Image", "contact_arrows", "draw", "save_png", "snapshot", "thumbnail"]

THUMBNAIL = (480, 300)
# Of a scene: how long it is simulated for its thumbnail [s], how long traces are, and how many moments are compared.
_TRACED, _MOMENTS = 2.0, 24


def draw(
    stage: Stage,
    poses: Poses,
    camera: Camera,
    *,
    width: int = 800,
    height: int = 500,
    show: Sequence[str] = USUAL,
    traces: Mapping[str, Array] | None = None,
    arrows: Iterable[Arrow] = (),
    bounds: Bounds | None = None,
) -> Image:
    """A picture, height × width × 3: red, green and blue.

    `show` names layers (see LAYERS), `traces` are lines by name (n × 3 [m]). Where scenery has no level plane, the
    floor lies under `bounds`, two corners [m], to which joints and arrows are in proportion too: by default what this
    picture shows.
    """
    # Many arguments: each is a wish of its own, told by name.
    bounds = bounds or bounds_of(stage, poses, traces)
    ground = floor(stage, *bounds)
    painter = Painter(stage, camera, bounds, width=width, height=height, show=show, floor=ground)
    return painter.draw(poses, traces, arrows)


def snapshot(
    record: Record,
    stage: Stage | None = None,
    t: float | None = None,
    preset: str = "best",
    *,
    width: int = 800,
    height: int = 500,
    show: Sequence[str] = USUAL,
    traces: Iterable[str] | None = None,
) -> Image:
    """A picture of a record at a time [s], by default in the middle of it, with traces of markers until then.

    Without a `stage` the record's own is taken, without `traces` all markers are traced.
    """
    stage = stage or stage_in(record)
    if t is None and len(record):
        t = float(record.time[0] + record.time[-1]) / 2
    now = motion(record, stage, None if t is None else [t])
    until = motion(record, stage, [*record.time[record.time < now.time[0]], now.time[0]])
    poses, lines = now.poses(0), ways(stage, until, traces)
    try:
        whole = motion(record, stage).every
    except LinkworkError:  # it goes wrong later on
        whole = until.every
    return close_painter(stage, poses, lines, preset, width, height, show, whole).draw(poses, lines)


def contact_arrows(touching: TouchArrays, newton: float) -> list[Arrow]:
    """Arrows for the forces of contacts on bodies, friction included, `newton` long a newton [m/N]; in one colour where
    they stick and in another where they slide, as on the live page."""
    return [
        Arrow(vector(point), vector(newton * force), SLIDES_COLOR if slides else STICKS_COLOR)
        for point, force, slides in zip(touching.points, touching.forces, touching.slides, strict=True)
    ]


def save_png(path: Path | str, image: Image) -> None:
    """Write an image (height × width × 3, uint8) as PNG, whole or not at all."""
    content = png(image)
    with atomic(path) as temporary:
        temporary.write_bytes(content)


def png(image: Image) -> bytes:
    """An image (height × width × 3, uint8) as a PNG file."""
    if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8 or not image.size:
        raise LinkworkError(f"a picture is height × width × 3 bytes, not {image.shape} of {image.dtype}")
    rows, columns, _ = image.shape
    # Each row as its difference from the row above (filter 2), which packs much smaller.
    lines = np.full((rows, 1 + 3 * columns), 2, np.uint8)
    flat = image.reshape(rows, -1)
    lines[0, 1:] = flat[0]
    lines[1:, 1:] = flat[1:] - flat[:-1]
    header = struct.pack(">IIBBBBB", columns, rows, 8, 2, 0, 0, 0)
    chunks = (b"IHDR", header), (b"IDAT", zlib.compress(lines.tobytes(), 9)), (b"IEND", b"")
    parts = [
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def thumbnail(scene: str, width: int = THUMBNAIL[0], height: int = THUMBNAIL[1]) -> Image:
    """A small picture of a scene that comes with Linkwork, at a moment at which there is much to see of it."""
    from ..run.simulate import Simulation
    from ..scenes import find_scene
    from ..stage.stage import stage_of

    found = find_scene(scene)
    model = found.build()
    stage = stage_of(model)
    record = Simulation(model, method=found.method, dt=found.dt).run(
        min(found.duration, found.watched), reactions=False
    )
    moving = motion(record, stage)
    row = _moment(stage, moving)
    first = _since(stage, moving, row)
    part = Motion(*(array[first : row + 1] for array in moving))
    poses, lines = moving.poses(row), ways(stage, part)
    painter = close_painter(stage, poses, lines, "best", width, height, USUAL, moving.every)
    return painter.draw(poses, lines)


def _moment(stage: Stage, moving: Motion) -> int:
    """The first row at which bodies are spread out about as much as they ever are; among scenery, where they may part
    for good, the first at which a camera can be about as near to them as ever."""
    rows = np.unique(np.linspace(0.15, 1.0, _MOMENTS) * (len(moving.time) - 1)).astype(int)
    of = _nearness if stage.scenery else spread
    worth = np.array([of(stage, moving.poses(row)) for row in rows])
    return int(rows[int(np.argmax(worth >= 0.97 * worth.max()))])


def _nearness(stage: Stage, poses: Poses) -> float:
    """Of the camera of a picture [1/m]."""
    camera = close_camera(stage, poses)
    return 1.0 / float(np.linalg.norm(np.subtract(camera.position, camera.look_at)))


def _since(stage: Stage, moving: Motion, row: int) -> int:
    """The row from which on traces stay near the bodies, so that they do not make the picture of these small."""
    low, high = bounds_of(stage, moving.poses(row))
    slack = 0.3 * float(np.linalg.norm(high - low))
    first = int(np.searchsorted(moving.time, moving.time[row] - _TRACED))
    for way in ways(stage, moving).values():
        recent = way[first:row]
        outside = np.any((recent < low - slack) | (recent > high + slack), axis=1)
        first += int(np.flatnonzero(outside).max(initial=-1)) + 1
    return first
