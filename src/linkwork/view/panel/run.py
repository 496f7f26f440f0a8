"""Which scene runs, how, and how well."""

from __future__ import annotations

import html
from functools import partial

from ...live.view import Method, View
from ..channel import Visitor
from ..gui import Control
from ..status import clock
from .tab import Tab, number, table

_SPEEDS = ("0.02", "0.1", "0.25", "0.5", "1", "2", "5")


class RunTab(Tab):
    """Scene, method, pause, speed, gauges and the buttons of the scene."""

    title = "Run"

    def build(self) -> None:
        session, gui = self.session, self.gui
        scene = session.scene
        name = scene.name if scene is not None else session.written.name
        about = html.escape(scene.description) if scene is not None else ""
        source = f"<div class='soft'>{html.escape(scene.source)}</div>" if scene is not None else ""
        gui.add_html(f"<h2>{html.escape(name)}</h2><div>{about}</div>{source}")
        scenes = gui.add_dropdown("Scene", self.page.names(), self.page.label)
        scenes.on_event(lambda event: self.page.choose(event.visitor, event.value))
        methods = {method.name: method for method in session.methods()}
        now = next(m.name for m in methods.values() if (m.method, m.solver) == session.names)
        hint = "Another method begins again at 0 s, with the numbers of the tab Model as they are"
        method = gui.add_dropdown("Method", tuple(methods), now, hint=hint)
        method.on_event(lambda event: self._choose_method(event.visitor, methods[event.value], method, now))

        self._pause = gui.add_button("Pause", look="main")
        self.click(self._pause, self._toggle)
        more = gui.add_buttons(
            "By hand", ("Step", "Reset"), hint="Step: one step of the simulation, then pause"
        )
        self.on(more, lambda value: session.loop.step() if value == "Step" else session.reset())
        speed = f"{session.status.speed:g}"
        speeds = _SPEEDS if speed in _SPEEDS else (*_SPEEDS, speed)
        pace = gui.add_dropdown("Speed", speeds, speed, hint="Simulated time per time")
        self.on(pace, lambda value: session.loop.set_speed(float(value)))
        if scene is not None:
            again = gui.add_checkbox("Begin again at the end", session.loops)
            self.on(again, lambda value: setattr(session, "loops", value))
        if session.buttons:
            with gui.add_folder("Actions"):
                for label in session.buttons:
                    self.click(gui.add_button(label), partial(session.press, label))
        self._gauges = gui.add_html("")
        gui.add_html(
            "<div class='soft'>Drag a body to pull it. Drag beside it to turn the view, right-drag to move it.</div>"
        )
        self.refresh(session.view)

    def _choose_method(self, visitor: Visitor, method: Method, control: Control, now: str) -> None:
        def change() -> None:
            try:
                self.page.reopen(method.method, method.solver)
            except Exception:
                control.value = now  # what still runs
                raise

        self.page.later(visitor, change)

    def _toggle(self) -> object:
        loop = self.session.loop
        return loop.resume() if self.session.status.paused else loop.pause()

    def refresh(self, view: View) -> None:
        status, report, values = self.session.status, self.session.report, view.values
        paused = status.paused
        label = "Run" if paused else "Pause"
        if self._pause.label != label:
            self._pause.label = label
        rows = [
            ("time", clock(view.time, self.session.loop.simulation.dt), "s"),
            ("real-time factor", "paused" if paused else f"{status.factor:.2f}", "")
            if status.again is None
            else ("begins again in", number(status.again), "s"),
            ("time per step", number(1e6 * status.step_time), "µs"),
            ("steps begin late by (99 %)", number(1e3 * max(status.lateness, 0.0)), "ms"),
            ("pictures", f"{self.page.pictures.rate:.0f}", "1/s"),
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
        self._gauges.content = table(rows)
