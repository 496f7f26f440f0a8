"""Replays in one file: a page that opens from disk and plays, without a server and without a network."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..model.errors import LinkworkError, nearest
from ..model.rotation import Array
from ..results.files import atomic, need, target_of
from ..results.record import Record
from ..stage.bounds import extent, floor
from ..stage.geometry import body_pieces, joint_pieces
from ..stage.stage import Stage
from .camera import close_camera
from .motion import Motion, fine_traces, motion, stage_in
from .nodes import LAYERS, SHOWN, Nodes, light
from .server import Server, new_token

# Poses are seven numbers a piece: what a page may hold of them.
_MOST_NUMBERS = 25_000_000
# A trace is drawn anew whenever it grows: points that it keeps, and numbers of all drawings.
_TRACE_POINTS, _TRACE_NUMBERS = 1500, 4_000_000
# Samples of a trace for every pose, and the least distance between its points, as a share of the stage's size.
_TRACE_SAMPLES, _TRACE_SPACING = 4, 0.002
# What viser has to say about browsers lies on the picture.
_QUIET = "<style>.mantine-Notifications-root { display: none !important; }</style>"
# Width to height of a window, less the bar with the buttons.
_ASPECT = 1.7


class _Trace(NamedTuple):
    """Where a marker went."""

    points: Array
    counts: list[int]
    """How many of them are reached at every pose."""

    def until(self, pose: int) -> Array:
        """The last of the points that are reached."""
        end = self.counts[pose]
        return self.points[max(0, end - _TRACE_POINTS) : end]


class _Play(NamedTuple):
    """What is shown."""

    stage: Stage
    moving: Motion
    fps: float
    layers: set[str]
    low: Array
    """Lowest corner of it all [m]."""
    high: Array
    traces: dict[str, _Trace]
    forces: dict[str, Array]
    """Of joints, by signal [N]."""
    captions: list[tuple[float, str]]
    """What is written above from a time on [s], as `info["captions"]` of a record has it."""

    @property
    def size(self) -> float:
        """Of the stage [m]."""
        return float((self.high - self.low).max())


def save_html(
    record: Record,
    path: Path | str,
    *,
    stage: Stage | None = None,
    fps: float = 30.0,
    traces: Iterable[str] | None = None,
    layers: Iterable[str] = SHOWN,
    reactions: bool = False,
    progress: Callable[[float], object] | None = None,
) -> None:
    """Write a replay of a record as one HTML file that plays by itself, with buttons to pause, seek and speed up.

    `fps` is the number of poses per second; `traces` names the markers that leave a trace, by default all of them;
    `layers` are those of `nodes.LAYERS` to be seen; with `reactions`, arrows show the forces in the joints;
    `progress(share)` is told how far it is. Without a `stage` the record's own is taken. Needs the extra `view`.
    """
    target_of(path)
    need("viser", "view", "a replay")
    shown = {*layers, "reactions"} if reactions else set(layers)
    shown.discard("contacts")  # of which a record knows nothing
    play = _play(record, stage or stage_in(record), fps, traces, shown)
    title = html.escape(record.title or play.stage.name)
    page = re.sub("<title>.*?</title>", lambda _: f"<title>{title}</title>", _page(play, progress), count=1)
    with atomic(path) as temporary:
        temporary.write_text(page.replace("<head>", f"<head>{_QUIET}", 1), encoding="utf-8")


def _play(record: Record, stage: Stage, fps: float, traces: Iterable[str] | None, layers: set[str]) -> _Play:
    for layer in layers:
        if layer not in LAYERS:
            raise LinkworkError(f"there is no layer '{layer}'{nearest(layer, LAYERS)}")
    if len(record):
        _refuse_long(stage, float(np.ptp(record.time)) * fps, fps)
    frames = record.resample(rate=fps) if len(record) else record
    moving = motion(frames, stage)
    low, high = extent(stage, moving.positions, moving.rotations)
    forces = _forces(frames, stage) if "reactions" in layers else {}
    captions = [(float(begin), str(text)) for begin, text in record.info.get("captions", ())]
    play = _Play(stage, moving, fps, layers, low, high, {}, forces, captions)
    if "traces" not in layers:
        return play
    found = _traces(record, play, traces)
    ends = np.vstack([low, high, *(trace.points for trace in found.values())])
    return play._replace(traces=found, low=ends.min(axis=0), high=ends.max(axis=0))


def _refuse_long(stage: Stage, poses: float, fps: float) -> None:
    pieces = len(body_pieces(stage)) + len(joint_pieces(stage, 1.0))
    if 7 * pieces * poses > _MOST_NUMBERS:
        raise LinkworkError(
            f"{poses:.0f} poses of {pieces} pieces are too much for a page: take fewer than {fps:g} a second, or a "
            "part of the record, as record.between(start, end) gives it"
        )


def _page(play: _Play, progress: Callable[[float], object] | None) -> str:
    """What viser records while a scene of its own moves from pose to pose."""
    count, redrawn = len(play.moving.time), _redrawn(play)
    server = Server(port=0, token=new_token())  # nobody else is to look in
    try:
        nodes = _nodes(server, play)
        if play.forces:  # the strongest first, so that arrows keep one scale
            _react(nodes, play, _strongest(play.forces))
        recorder, labels = None, _labels(server, play)
        for k in range(count):
            nodes.place(play.moving.poses(k))
            now = play.moving.time[k] + 1e-9
            reached = sum(begin <= now for begin, _ in play.captions) - 1
            for i, label in enumerate(labels):
                label.visible = i == reached
            if play.forces:
                _react(nodes, play, k)
            if k % redrawn == 0 or k == count - 1:
                nodes.trace({name: trace.until(k) for name, trace in play.traces.items()})
            if recorder is None:  # it begins with all that is there
                recorder = server.viser.get_scene_serializer()
            if count > 1:
                recorder.insert_sleep(1.0 / play.fps)
            if progress is not None:
                progress((k + 1) / count)
        assert recorder is not None
        return str(recorder.as_html())
    finally:
        server.stop()


def _nodes(server: Server, play: _Play) -> Nodes:
    """The scene, and where it is looked at from.

    Lights stay viser's own: others would flash, since it puts its own back whenever a replay begins anew.
    """
    height = floor(play.stage, play.low, play.high)
    light(server.viser.scene, play.stage.up)
    nodes = Nodes(server.viser.scene, play.stage, (play.low, play.high), height)
    for layer in LAYERS:
        if (layer in play.layers) != nodes.shows(layer):
            nodes.show(layer, layer in play.layers)
    named = [_above(play)] if play.captions else []
    points = np.vstack([np.empty((0, 3)), *(trace.points for trace in play.traces.values()), *named])
    view = close_camera(play.stage, play.moving.every, "best", _ASPECT, points)
    start = server.viser.initial_camera
    start.position, start.look_at, start.up, start.fov = view.position, view.look_at, view.up, view.fov
    away = float(np.linalg.norm(np.subtract(view.position, view.look_at)))
    start.near, start.far = 0.005 * away, 50.0 * away
    return nodes


def _labels(server: Server, play: _Play) -> list[Any]:
    """Captions; the first one is seen."""
    scene, place = server.viser.scene, tuple(_above(play).tolist())
    return [
        scene.add_label(f"/captions/{k}", text, position=place, visible=k == 0)
        for k, (_, text) in enumerate(play.captions)
    ]


def _above(play: _Play) -> Array:
    """A place above the middle of it all [m]."""
    up = np.array(play.stage.up, float)
    half = 0.5 * (play.high - play.low)
    return np.array(play.low + half + up * (abs(up @ half) + 0.1 * play.size))


# Traces


def _traces(record: Record, play: _Play, names: Iterable[str] | None) -> dict[str, _Trace]:
    """Traces of markers, by name."""
    times, spacing = play.moving.time, _TRACE_SPACING * play.size
    fine = min(_TRACE_SAMPLES, max(1, _TRACE_POINTS // len(times)))
    found = fine_traces(record, play.stage, times, fine, names)
    return {name: thin_out(way, fine, spacing) for name, way in found.items()}


def thin_out(way: Array, fine: int, spacing: float) -> _Trace:
    """A way without points that are close to the one before; `fine` of it belong to a pose."""
    points, counts = [way[0]], []
    for k, place in enumerate(way):
        if float(np.linalg.norm(place - points[-1])) > spacing:
            points.append(place)
        if k % fine == 0:
            counts.append(len(points))
    return _Trace(np.array(points), counts)


def _redrawn(play: _Play) -> int:
    """Poses from one drawing of the traces to the next."""
    numbers = sum(6 * min(n, _TRACE_POINTS) for trace in play.traces.values() for n in trace.counts)
    return max(1, -(-numbers // _TRACE_NUMBERS))


# Reactions


def _forces(frames: Record, stage: Stage) -> dict[str, Array]:
    names = [f"{joint.name}.force.{axis}" for joint in stage.joints for axis in "xyz"]
    forces = {name: np.nan_to_num(frames[name]) for name in names if name in frames}
    if not forces:
        raise LinkworkError(
            "the record has no forces in joints to show: impulses have none, and run(reactions=False) leaves them out"
        )
    return forces


def _strongest(forces: dict[str, Array]) -> int:
    """The pose with the largest force."""
    parts = np.array([*forces.values()])  # x, y and z of each joint
    sizes = np.linalg.norm(parts.reshape(-1, 3, parts.shape[1]), axis=1)
    return int(np.argmax(sizes.max(axis=0)))


def _react(nodes: Nodes, play: _Play, pose: int) -> None:
    nodes.react(play.moving.poses(pose), {name: float(force[pose]) for name, force in play.forces.items()})
