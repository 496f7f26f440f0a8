"""Which scene runs, how, and how well."""

from __future__ import annotations

import html
from functools import partial
from typing import Any

from ...live.view import View
from ...scenes import scene_names
from .tab import Tab, number, table

_SPEEDS = ("0.02", "0.1", "0.25", "0.5", "1", "2", "5")
_RED = "color:#c62828;font-weight:600"


class RunTab(Tab):
    """Scene, method, pause, speed, gauges and the buttons of the scene."""

    title, icon = "Run", "player-play"

    def build(self) -> None:
        session, gui = self.session, self.gui
        scene = session.scene
        name = scene.name if scene is not None else session.written.name
        about = html.escape(scene.description) if scene is not None else ""
        source = f"<div style='color:#777'>{html.escape(scene.source)}</div>" if scene is not None else ""
        gui.add_html(
            f"<div style='padding:2px 8px;font-size:12px'><b style='font-size:15px'>{html.escape(name)}</b> "
            f"<a href='/gallery' style='float:right'>gallery</a><div>{about}</div>{source}</div>"
        )
        names = scene_names()
        chosen = name if name in names else f"{name} (file)"
        options = tuple(names) if chosen in names else (chosen, *names)
        scenes = gui.add_dropdown("Scene", options, initial_value=chosen)
        self.on(scenes, lambda value: self.page.open(value) if value in names else None)
        methods = {method.name: method for method in session.methods()}
        now = next(m.name for m in methods.values() if (m.method, m.solver) == session.names)
        method = gui.add_dropdown("Method", tuple(methods), initial_value=now)
        self.on(
            method,
            lambda value: self._choose_method(methods[value].method, methods[value].solver, method, now),
        )

        self._pause = gui.add_button("Pause", icon="player-pause", color="blue")
        self.click(self._pause, self._toggle)
        more = gui.add_button_group(
            "By hand", ("Step", "Reset"), hint="Step: one step of the simulation, then pause"
        )
        self.click(more, lambda: session.loop.step() if more.value == "Step" else session.reset())
        speed = f"{session.status.speed:g}"
        speeds = _SPEEDS if speed in _SPEEDS else (*_SPEEDS, speed)
        pace = gui.add_dropdown("Speed", speeds, initial_value=speed, hint="Simulated time per time")
        self.on(pace, lambda value: session.loop.set_speed(float(value)))
        self._gauges = gui.add_html("")
        if session.buttons:
            with gui.add_folder("Actions"):
                for label in session.buttons:
                    self.click(gui.add_button(label), partial(session.press, label))
        gui.add_html(
            "<div style='padding:4px 8px;font-size:11px;color:#777'>Drag a body to pull it. "
            "Drag beside it to turn the view, right-drag to move it.</div>"
        )
        self.refresh(session.view)

    def _choose_method(self, method: str, solver: str | None, control: Any, now: str) -> None:
        try:
            self.page.reopen(method, solver)
        except Exception:
            control.value = now  # what still runs
            raise

    def _toggle(self) -> object:
        loop = self.session.loop
        return loop.resume() if self.session.status.paused else loop.pause()

    def refresh(self, view: View) -> None:
        status, report, values = self.session.status, self.session.report, view.values
        paused = status.paused
        label = "Run" if paused else "Pause"
        if self._pause.label != label:
            self._pause.label = label
            self._pause.icon = "player-play" if paused else "player-pause"
        rows = [
            ("time", number(view.time), "s"),
            ("real-time factor", "paused" if paused else f"{status.factor:.2f}", ""),
            ("time per step", number(1e6 * status.step_time), "µs"),
            ("steps begin late by (99 %)", number(1e3 * max(status.lateness, 0.0)), "ms"),
            ("pictures", f"{self.page.rate:.0f}", "1/s"),
        ]
        if status.lost:
            rows.append(("time given up", number(status.lost), "s"))
        if "evaluations" in report:
            rows.append(("evaluations a step", number(report["evaluations_mean"]), ""))
        if "iterations" in report:
            rows.append(("iterations", str(report["iterations"]), f"mean {report['iterations_mean']:.1f}"))
        overruns = report.get("steps_over_budget", report.get("steps_cut_short", 0))
        if overruns:
            rows.append(("steps beyond budget", str(overruns), ""))
        if "contacts" in report:
            rows.append(("contacts", str(report["contacts"]), ""))
            rows.append(("deepest penetration", number(1e3 * report["depth"]), "mm"))
        rows.append(("energy from nowhere", number(values["energy.balance"]), "J"))
        rows.append(("kinetic energy", number(values["energy.kinetic"]), "J"))
        if report.get("worst_row"):
            joint = str(report["worst_row"]).partition(":")[0]
            rows.append(("gap now", number(values.get("solver.gap", 0.0)), "m"))
            rows.append((f"worst gap, {joint}", number(report["worst_gap_m"]), "m"))
        content = table(rows)
        for text in self._troubles():
            content += f"<div style='padding:2px 6px;font-size:12px;{_RED}'>{html.escape(text)}</div>"
        self._gauges.content = content

    def _troubles(self) -> list[str]:
        status, found = self.session.status, []
        if status.failure is not None:
            found.append(f"stopped: {status.failure}. Reset begins again.")
        elif not status.keeps_up:
            found.append(
                f"this machine cannot keep up: {status.factor:.2f} instead of {status.speed:g} times real time"
            )
        return found + self.page.troubles
