"""Live plots of chosen signals."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...live.session import View
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
        self._charts: list[Any] = []
        for k in range(_PLOTS):
            choice = gui.add_dropdown(f"Signal {k + 1}", names, initial_value=wanted[k])
            self.on(choice, lambda _: self._choose())
            self._choices.append(choice)
            self._charts.append(self._chart(wanted[k], _COLORS[k]))
        self._choose()

    def _first_choice(self) -> list[str]:
        """Signals that the scene finds worth plotting."""
        session = self.session
        patterns = session.scene.plot if session.scene is not None else ("*",)
        found = [name for pattern in patterns for name in session.find(pattern)]
        return [*dict.fromkeys(found), *[_NOTHING] * _PLOTS][:_PLOTS]

    def _chart(self, name: str, color: str) -> Any:
        empty = np.zeros(1)
        return self.gui.add_uplot(
            (empty, empty),
            ({"label": "time [s]"}, {"label": self._label(name), "stroke": color, "width": 2}),
            scales={"x": {"time": False}, "y": {"auto": True}},
            legend={"show": True},
            height=170,
        )

    def _label(self, name: str) -> str:
        return name if name == _NOTHING else f"{name} [{self.session.unit(name)}]"

    def _choose(self) -> None:
        chosen = tuple(dict.fromkeys(c.value for c in self._choices if c.value != _NOTHING))
        self.session.watch(chosen, float(self._seconds.value))
        for chart, choice, color in zip(self._charts, self._choices, _COLORS, strict=True):
            label = {"label": self._label(choice.value), "stroke": color, "width": 2}
            chart.series = ({"label": "time [s]"}, label)
            chart.visible = choice.value != _NOTHING

    def refresh(self, view: View) -> None:
        history = self.session.history
        times = history.times
        if len(times) < 2:
            return
        stride = max(1, len(times) // _POINTS)
        for chart, choice in zip(self._charts, self._choices, strict=True):
            if choice.value in history.names:
                chart.data = (times[::stride].copy(), history.of(choice.value)[::stride].copy())
