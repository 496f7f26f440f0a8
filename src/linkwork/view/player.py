"""A recording played on the page, with a slider for its time."""

from __future__ import annotations

import html
import threading
import time
from typing import TYPE_CHECKING

import numpy as np

from ..live.view import TRACE
from ..model.rotation import Array
from ..stage.stage import Poses, Stage
from .gui import Gui
from .motion import Motion, traces

if TYPE_CHECKING:
    from .page import Page

_SPEEDS = ("0.1", "0.25", "0.5", "1", "2", "5")


class Player:
    """Where a recording is now; `look` moves it on with the clock. With `again` it begins anew at its end."""

    def __init__(self, name: str, stage: Stage, moving: Motion, *, title: str = "", again: bool = False):
        self.name, self.title, self.stage, self.motion, self.again = name, title, stage, moving, again
        self.times = moving.time
        self._ways = traces(stage, moving)
        self.time = float(self.times[0])
        self.playing, self.speed = True, 1.0
        self._last = time.perf_counter()
        self._moved, self._shown = True, -1
        self._lock = threading.RLock()  # visitors jump and pause while the clock moves it on

    def build(self, page: Page, gui: Gui) -> None:
        """Controls on the panel."""
        # Both may come from elsewhere, so they are text and nothing more.
        name, title = html.escape(self.name), html.escape(self.title)
        gui.add_html(f"<h2>{name}</h2><div>{title}</div>")
        self._button = gui.add_button("Pause", look="main")
        self._button.on_event(lambda _: self.play(not self.playing))
        end = float(self.times[-1])
        step = max((end - float(self.times[0])) / 1000, 1e-3)
        self._slider = gui.add_slider(
            "Time", float(self.times[0]), max(end, self.time + step), step, self.time, unit="s"
        )
        self._slider.on_event(lambda event: self.seek(event.value))
        pace = gui.add_dropdown("Speed", _SPEEDS, "1")
        pace.on_event(lambda event: setattr(self, "speed", float(event.value)))
        if not self.again:
            back = gui.add_button("Back to the simulation")
            back.on_event(lambda event: page.attempt(event.visitor, page.back))

    def play(self, playing: bool) -> None:
        """Go on or stand still."""
        with self._lock:
            self.playing = playing
            if playing and self.time >= self.times[-1]:
                self.seek(float(self.times[0]))
        self._button.label = "Pause" if playing else "Play"

    def seek(self, t: float) -> None:
        """Jump to a time [s]."""
        with self._lock:
            self.time = min(max(t, float(self.times[0])), float(self.times[-1]))
            self._moved = True

    def look(self, panel: bool) -> Poses | None:
        """The poses now, or None if nothing moved."""
        now = time.perf_counter()
        passed, self._last = now - self._last, now
        with self._lock:
            if self.playing:
                self.seek(self.time + passed * self.speed)
                if self.time >= self.times[-1]:
                    if self.again:
                        self.seek(float(self.times[0]))
                    else:
                        self.play(False)
            moved, self._moved = self._moved, False
            t, k = self.time, self._row()
        if panel:
            self._slider.value = t
        if not moved:
            return None
        if k == self._shown:  # browsers need not draw what has not changed
            return None
        self._shown = k
        return self.motion.poses(k)

    def traces(self) -> dict[str, Array]:
        """Where the markers have been until now."""
        k = self._row() + 1
        return {name: way[max(0, k - TRACE) : k] for name, way in self._ways.items()}

    def _row(self) -> int:
        return int(np.searchsorted(self.times, self.time + 1e-9, side="right")) - 1
