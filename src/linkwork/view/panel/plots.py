"""Live plots of chosen signals."""

from __future__ import annotations

import threading
from collections.abc import Iterable

from ...live.view import View
from ...model.rotation import Array
from ...stage.stage import Stage
from ..gui import Control
from .tab import Tab

_PLOTS = 3
_NOTHING = "nothing"
_COLORS = ("#0072b2", "#d55e00", "#009e73")
_POINTS = 400  # of a curve on the screen


class PlotsTab(Tab):
    """Curves of the last seconds."""

    title = "Plots"

    def build(self) -> None:
        session, gui = self.session, self.gui
        groups = {"": (_NOTHING,), **grouped(session.signals, session.stage)}
        wanted = self._first_choice()
        self._seconds = gui.add_slider("Seconds", 2.0, 30.0, 1.0, 10.0, unit="s")
        self.on(self._seconds, lambda _: self._choose())
        self._choices: list[Control] = []
        self._charts: dict[str, Control] = {}
        self._lock = threading.Lock()
        self._folder = gui.add_folder("Curves")
        with self._folder:
            for k in range(_PLOTS):
                choice = gui.add_picker(f"Signal {k + 1}", groups, wanted[k])
                self.on(choice, lambda _: self._choose())
                self._choices.append(choice)
        self._choose()

    def _first_choice(self) -> list[str]:
        """Signals that the scene finds worth plotting."""
        session = self.session
        patterns = session.scene.plot if session.scene is not None else ("*",)
        found = [name for pattern in patterns for name in session.find(pattern)]
        return [*dict.fromkeys(found), *[_NOTHING] * _PLOTS][:_PLOTS]

    def _choose(self) -> None:
        """A chart for every signal that is chosen."""
        with self._lock:
            chosen = {c.value: c for c in reversed(self._choices) if c.value != _NOTHING}
            self.session.watch(tuple(chosen), float(self._seconds.value))
            for chart in self._charts.values():
                chart.remove()
            with self._folder:
                self._charts = {
                    name: self.gui.add_plot(
                        f"{name} [{self.session.unit(name)}]", _COLORS[self._choices.index(choice)]
                    )
                    for name, choice in reversed(chosen.items())
                }

    def refresh(self, view: View) -> None:
        with self._lock:
            history = self.session.history
            times = history.times
            if len(times) < 2:
                return
            stride = max(1, len(times) // _POINTS)
            for name, chart in self._charts.items():
                chart.data = [_short(times[::stride]), _short(history.of(name)[::stride])]


def _short(values: Array) -> list[float | None]:
    """With as many digits as a screen has room for."""
    return [float(f"{value:.6g}") if value == value else None for value in values.tolist()]


def grouped(signals: Iterable[str], stage: Stage) -> dict[str, list[str]]:
    """Names of signals by the body or joint that they belong to; of others by what stands before the first dot."""
    owners = {body.name for body in stage.bodies} | {joint.name for joint in stage.joints}
    groups: dict[str, list[str]] = {}
    for signal in signals:
        parts = signal.split(".")
        heads = (".".join(parts[:k]) for k in range(len(parts) - 1, 0, -1))
        owner = next((head for head in heads if head in owners), parts[0])
        groups.setdefault(owner, []).append(signal)
    return groups
