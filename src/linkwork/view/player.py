"""A recording played on the page, with a slider for its time."""

from __future__ import annotations

import html
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from ..live.sight import TRACE
from ..model.rotation import Array
from ..results.record import Record
from ..stage.stage import Poses
from .motion import motion, stage_in, traces

if TYPE_CHECKING:
    from .page import Page

_SPEEDS = ("0.1", "0.25", "0.5", "1", "2", "5")


class Player:
    """Where a recording is now; `look` moves it on with the clock."""

    def __init__(self, record: Record, name: str):
        self.name = name
        self.record = record
        self.stage = stage_in(record)
        self.motion = motion(record, self.stage)
        self.times = self.motion.time
        self._ways = traces(self.stage, self.motion)
        self.time = float(self.times[0])
        self.playing, self.speed = True, 1.0
        self._last = time.perf_counter()
        self._moved = True

    def build(self, page: Page) -> None:
        """Controls on the panel."""
        gui = page.server.viser.gui
        # Both may come from elsewhere, so they are text and nothing more.
        name, title = html.escape(self.name), html.escape(self.record.title)
        gui.add_html(f"<div style='padding:2px 8px'><b>{name}</b><div>{title}</div></div>")
        self._button = gui.add_button("Pause", icon="player-pause", color="blue")
        self._button.on_click(lambda _: self.play(not self.playing))
        end = float(self.times[-1])
        step = max((end - float(self.times[0])) / 1000, 1e-3)
        self._slider = gui.add_slider(
            "Time", float(self.times[0]), max(end, self.time + step), step, self.time
        )

        def sought(event: Any) -> None:
            if event.client is not None:
                self.seek(float(self._slider.value))

        self._slider.on_update(sought)
        pace = gui.add_dropdown("Speed", _SPEEDS, initial_value="1")
        pace.on_update(lambda _: setattr(self, "speed", float(pace.value)))
        back = gui.add_button("Back to the simulation", icon="arrow-back")
        back.on_click(lambda event: page.attempt(event.client, page.back))

    def play(self, playing: bool) -> None:
        """Go on or stand still."""
        self.playing = playing
        if playing and self.time >= self.times[-1]:
            self.seek(float(self.times[0]))
        self._button.label = "Pause" if playing else "Play"
        self._button.icon = "player-pause" if playing else "player-play"

    def seek(self, t: float) -> None:
        """Jump to a time [s]."""
        self.time = min(max(t, float(self.times[0])), float(self.times[-1]))
        self._moved = True

    def look(self, panel: bool) -> Poses | None:
        """The poses now, or None if nothing moved."""
        now = time.perf_counter()
        passed, self._last = now - self._last, now
        if self.playing:
            self.seek(self.time + passed * self.speed)
            if self.time >= self.times[-1]:
                self.play(False)
        if panel and abs(self._slider.value - self.time) > 1e-9:
            self._slider.value = self.time
        if not self._moved:
            return None
        self._moved = False
        k = self._row()
        return self.motion.poses(k)

    def traces(self) -> dict[str, Array]:
        """Where the markers have been until now."""
        k = self._row() + 1
        return {name: way[max(0, k - TRACE) : k] for name, way in self._ways.items()}

    def _row(self) -> int:
        return int(np.searchsorted(self.times, self.time + 1e-9, side="right")) - 1
