"""Live plots of chosen signals."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from ...live.view import View
from .tab import Tab

_PLOTS = 3
_NOTHING = "nothing"
_COLORS = ("#0072b2", "#d55e00", "#009e73")
_POINTS = 400  # of a curve on the screen


class PlotsTab(Tab):
    """Curves of the last seconds."""

    title, icon = "Plots", "chart-line"

    def build(self) -> None:
        session, gui = self.session, self.gui
        names = (_NOTHING, *session.signals)
        wanted = self._first_choice()
        self._seconds = gui.add_slider("Seconds", 2.0, 30.0, 1.0, 10.0)
        self.on(self._seconds, lambda _: self._choose())
        self._choices: list[Any] = []
        self._charts: dict[str, Any] = {}
        self._lock = threading.Lock()
        self._folder = gui.add_folder("Curves")
        with self._folder:
            for k in range(_PLOTS):
                choice = gui.add_dropdown(f"Signal {k + 1}", names, initial_value=wanted[k])
                self.on(choice, lambda _: self._choose())
                self._choices.append(choice)
        self._choose()

    def _first_choice(self) -> list[str]:
        """Signals that the scene finds worth plotting."""
        session = self.session
        patterns = session.scene.plot if session.scene is not None else ("*",)
        found = [name for pattern in patterns for name in session.find(pattern)]
        return [*dict.fromkeys(found), *[_NOTHING] * _PLOTS][:_PLOTS]

    def _chart(self, name: str, color: str, order: float) -> Any:
        empty = np.zeros(1)
        return self.gui.add_uplot(
            (empty, empty),
            (
                {"label": "time [s]"},
                {"label": f"{name} [{self.session.unit(name)}]", "stroke": color, "width": 2},
            ),
            scales={"x": {"time": False}, "y": {"auto": True}},
            legend={"show": True},
            height=170,
            order=order,
        )

    def _choose(self) -> None:
        """New charts: one that is told of other signals may keep a window of time that shows none of them."""
        with self._lock:
            chosen = {c.value: c for c in reversed(self._choices) if c.value != _NOTHING}
            self.session.watch(tuple(chosen), float(self._seconds.value))
            for chart in self._charts.values():
                chart.remove()
            with self._folder:
                self._charts = {
                    name: self._chart(name, _COLORS[self._choices.index(choice)], choice.order + 0.5)
                    for name, choice in chosen.items()
                }

    def refresh(self, view: View) -> None:
        with self._lock:
            history = self.session.history
            times = history.times
            if len(times) < 2:
                return
            stride = max(1, len(times) // _POINTS)
            for name, chart in self._charts.items():
                chart.data = (times[::stride].copy(), history.of(name)[::stride].copy())
