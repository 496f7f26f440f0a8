"""Joints: what they do now, levers for the drives, and which of them hold."""

from __future__ import annotations

from functools import partial

from ...live.view import View
from ..gui import Control
from .tab import Tab, number, table

_STEPS = 200  # of a lever from end to end
_MOST = 60  # joints in the table


class JointsTab(Tab):
    """Levers of the drives, switches and readings of the joints."""

    title = "Joints"

    def build(self) -> None:
        session, gui = self.session, self.gui
        self._sliders: dict[str, Control] = {}
        if any(lever.automatic for lever in session.levers) or session.manual:
            manual = gui.add_checkbox(
                "Drive by hand", session.manual, hint="Drives obey the levers instead of the scene's program"
            )
            self.on(manual, self._by_hand)
        self._folder = gui.add_folder("Drives") if session.levers else None
        self._add_levers()
        self._holds: dict[str, Control] = {}
        for joint, holds in session.switches.items():
            box = gui.add_checkbox(f"{joint} attached", holds, hint="The joint holds, or is let go")
            self._holds[joint] = box
            self.on(box, partial(session.attach, joint))
        joints = [joint for joint in session.stage.joints if joint.freedoms]
        rows = [
            (joint.name, freedom.name)
            for joint in joints
            for freedom in joint.freedoms
            if f"{joint.name}.{freedom.name}" in session.view.values
        ]
        self._rows = rows[:_MOST]
        self._left_out = len(rows) - len(self._rows)
        self._readings = gui.add_html("")
        self.refresh(session.view)

    def _add_levers(self) -> None:
        for lever in self.session.levers:
            assert self._folder is not None
            with self._folder:
                command = self.session.commands.get(lever.drive, lever.command)
                slider = self.gui.add_slider(
                    lever.drive, lever.low, lever.high, (lever.high - lever.low) / _STEPS,
                    min(max(command, lever.low), lever.high), unit=lever.unit, hint=lever.coordinate,
                )  # fmt: skip
            self._sliders[lever.drive] = slider
            self.on(slider, partial(self.session.command, lever.drive))

    def _by_hand(self, manual: bool) -> None:
        self.session.take_the_levers(manual).result()
        for slider in self._sliders.values():
            slider.remove()
        self._sliders.clear()
        self._add_levers()

    def refresh(self, view: View) -> None:
        for drive, value in list(self.session.commands.items()):  # a button may have moved it
            slider = self._sliders.get(drive)
            if slider is not None and slider.value != value and slider.low <= value <= slider.high:
                slider.value = value
        for joint, holds in self.session.switches.items():  # the scene's program may have switched it
            if joint in self._holds and self._holds[joint].value != holds:
                self._holds[joint].value = holds
        values, rows = view.values, []
        for joint, freedom in self._rows:
            name = f"{joint}.{freedom}"
            rate = values.get(f"{name}_rate")
            unit = self.session.unit(name)
            rows.append((name, number(values[name]), "" if rate is None else number(rate), unit))
        content = table([("joint", "now", "per s", ""), *rows], numbers=2, head=True)
        if self._left_out:
            content += f"<div class='soft'>and {self._left_out} more (see Plots)</div>"
        self._readings.content = content
