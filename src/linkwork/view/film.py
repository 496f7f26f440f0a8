"""Films of records: MP4 for players, GIF for pages. Nothing is shown on a display."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..model.errors import LinkworkError
from ..model.rotation import Array
from ..results.files import atomic, need, target_of
from ..results.record import Record
from ..stage.stage import Stage
from .motion import Motion, fine_traces, motion, stage_in
from .painter import TRACE_COLORS, USUAL, Image, Painter, check_size, close_painter

ENDINGS = (".mp4", ".gif")
# Frames a second: durations are whole hundredths of a second, and players slow down a single one.
_GIF_FASTEST = 50.0
_GIF_COLORS, _GIF_SAMPLES = 255, 8  # one colour is left for what does not change
_GIF_STRIP = 12  # pixels of every column that are given to the colour of a trace
_FINEST = 8  # points of a trace from frame to frame, where the record has so many rows
_LEFT_OUT = 1e-9  # share of a frame by which a record may end too early for its last frame


def film(
    record: Record | Sequence[Record],
    path: Path | str,
    *,
    stage: Stage | None = None,
    fps: float = 30.0,
    speed: float = 1.0,
    width: int = 800,
    height: int = 512,
    preset: str = "best",
    traces: Iterable[str] | None = None,
    show: Sequence[str] = USUAL,
    start: float | None = None,
    end: float | None = None,
    progress: Callable[[float], object] | None = None,
) -> int:
    """Write a film of a record, as MP4 or GIF by the ending of the path, and return its number of frames.

    Several records are shown one after the other, each by a camera of its own; `start` and `end` count in each of them.
    `fps` is frames a second of the film, `speed` how many seconds of the record pass in one second of it. The camera
    sees the whole motion from `start` to `end` [s] (default: all of the record). `traces` names markers whose ways are
    drawn while they move (default: all). `progress(share)` is told how far it is. Without a `stage` the record's own
    is taken. MP4 needs the extra `video`, GIF the extra `plot`. An old file is replaced in the end, if all went well.
    """
    # Many arguments: each is a wish of its own, none is needed, and all are told by name.
    path = Path(path)
    kind = check_film(path)
    _positive("fps", fps)
    _positive("speed", speed)
    if kind == ".gif" and fps > _GIF_FASTEST:
        raise LinkworkError(f"GIF shows at most {_GIF_FASTEST:g} frames a second, not {fps:g}")
    if kind == ".mp4" and (width % 2 or height % 2):
        raise LinkworkError(f"the size of an MP4 must be even, not {width} × {height} pixels")
    check_size(width, height)
    scenes = []
    for one in [record] if isinstance(record, Record) else record:
        shown = stage or stage_in(one)
        times = _times(one, fps, speed, start, end)
        moving = motion(one, shown, times)
        fine = int(np.clip(len(one) // len(times), 1, _FINEST))
        lines = fine_traces(one, shown, times, fine, traces)
        painter = close_painter(shown, moving.every, lines, preset, width, height, show)
        scenes.append(_Scene(painter, moving, lines, fine))
    if not scenes:
        raise LinkworkError("a film needs a record at least")
    pictures = _Pictures(scenes, progress)
    with atomic(path) as temporary:
        if kind == ".mp4":
            _write_mp4(temporary, pictures, fps, width, height)
        else:
            _write_gif(temporary, pictures, fps)
    return len(pictures)


def check_film(path: Path) -> str:
    """The ending of a film's file; refuses what could not be written, before there is anything to show."""
    kind = path.suffix.lower()
    if kind not in ENDINGS:
        raise LinkworkError(f"{path}: films are not written as '{kind}', but as one of {', '.join(ENDINGS)}")
    if kind == ".mp4":
        need("imageio_ffmpeg", "video", "an MP4")
    else:
        need("PIL.Image", "video", "a GIF")
    target_of(path)
    return kind


class _Scene(NamedTuple):
    """The frames of one record, drawn when they are asked for."""

    painter: Painter
    moving: Motion
    traces: dict[str, Array]
    fine: int

    def frame(self, row: int) -> Image:
        """One of them, with traces until then."""
        traces = {name: way[: row * self.fine + 1] for name, way in self.traces.items()}
        return self.painter.draw(self.moving.poses(row), traces)


class _Pictures:
    """The frames of all scenes, one after the other."""

    def __init__(self, scenes: Sequence[_Scene], progress: Callable[[float], object] | None):
        self._frames = [(scene, row) for scene in scenes for row in range(len(scene.moving.time))]
        self._progress = progress
        self.lines = max(len(scene.traces) for scene in scenes)
        """Most traces of a scene."""

    def __len__(self) -> int:
        return len(self._frames)

    def frame(self, k: int) -> Image:
        """One of them, by its number."""
        scene, row = self._frames[k]
        return scene.frame(row)

    def __iter__(self) -> Iterator[Image]:
        for k in range(len(self)):
            yield self.frame(k)
            if self._progress is not None:
                self._progress((k + 1) / len(self))


def _times(record: Record, fps: float, speed: float, start: float | None, end: float | None) -> Array:
    """Times of the frames [s]; `motion` refuses those outside of the record."""
    if not len(record):
        raise LinkworkError("the record has no rows: there is nothing to see")
    first = float(record.time[0]) if start is None else start
    last = float(record.time[-1]) if end is None else end
    if not first <= last:
        raise LinkworkError(f"a film cannot start at {first:g} s and end at {last:g} s")
    step = speed / fps
    count = int(np.floor((last - first) / step + _LEFT_OUT)) + 1
    times: Array = np.minimum(first + step * np.arange(count), last)
    return times


def _write_mp4(path: Path, pictures: _Pictures, fps: float, width: int, height: int) -> None:
    ffmpeg = need("imageio_ffmpeg", "video", "an MP4")
    try:
        writer = ffmpeg.write_frames(
            str(path),
            (width, height),
            fps=fps,
            codec="libx264",
            macro_block_size=1,  # any even size is fine
            quality=None,
            # Drawings have large even areas: they need few bits, and show where these are missing.
            output_params=[
                "-crf",
                "20",
                "-preset",
                "veryfast",
                "-tune",
                "animation",
                "-movflags",
                "+faststart",
            ],
            ffmpeg_log_level="error",
        )
        # Closed whatever happens, so that no process is left that writes on.
        with contextlib.closing(writer):
            writer.send(None)
            for picture in pictures:
                writer.send(np.ascontiguousarray(picture))
    except RuntimeError as error:  # it finds no program to run
        raise LinkworkError(f"an MP4 cannot be written: {error}") from error


def _write_gif(path: Path, pictures: _Pictures, fps: float) -> None:
    """One palette for all frames, chosen from some of them: frames then differ where something moves only."""
    images = need("PIL.Image", "video", "a GIF")
    rows = np.unique(np.linspace(0, len(pictures) - 1, _GIF_SAMPLES).astype(int))
    frames = [pictures.frame(int(row)) for row in rows]
    # Thin lines have few pixels: without more of them, their colours would not be among the palette's.
    strips = [np.full((_GIF_STRIP, *frames[0].shape[1:]), color, np.uint8) for color in TRACE_COLORS]
    some = np.concatenate(frames + strips[: pictures.lines])
    palette = images.fromarray(some).quantize(_GIF_COLORS, method=images.Quantize.MEDIANCUT)
    reduced = (
        images.fromarray(picture).quantize(palette=palette, dither=images.Dither.NONE) for picture in pictures
    )
    # Whole hundredths of a second whose sums keep the pace.
    ends = np.round(100 * np.arange(len(pictures) + 1) / fps).astype(int)
    durations = [int(10 * length) for length in np.diff(ends)]
    first = next(reduced)
    first.save(
        path, format="GIF", save_all=True, append_images=reduced, duration=durations, loop=0, optimize=False
    )


def _positive(name: str, value: float) -> None:
    if not 0.0 < value < np.inf:
        raise LinkworkError(f"{name} of a film must be positive, not {value:g}")
