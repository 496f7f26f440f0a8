"""Numbers of the model: those that may change while it moves, and choices of the scene that need a new start."""

from __future__ import annotations

import html
from functools import partial
from typing import TYPE_CHECKING, Any

from ..channel import Visitor
from ..gui import Control
from .tab import Tab, table

if TYPE_CHECKING:
    from ...scenes import Scene

_STEPS = 200
_MOST = 24  # sliders at once


class ModelTab(Tab):
    """Sliders for gravity, friction, springs; parameters of the scene, with what follows from them."""

    title = "Model"

    def build(self) -> None:
        session = self.session
        self._inputs: dict[str, Control] = {}
        scene = session.scene
        if scene is not None and scene.sheet is not None:
            self._choices(scene)
            self._sheet(scene)
            self._sliders()
        else:
            self._sliders()
            if scene is not None:
                self._choices(scene)

    def _sliders(self) -> None:
        session, gui = self.session, self.gui
        with gui.add_folder("While it moves"):
            for parameter in session.parameters[:_MOST]:
                top = max(parameter.high, parameter.value)
                slider = gui.add_slider(
                    parameter.name, 0.0, float(top), float(top / _STEPS), float(parameter.value), unit=parameter.unit
                )  # fmt: skip
                self.on(slider, partial(session.set_parameter, parameter.name))

    def _choices(self, scene: Scene) -> None:
        """Parameters of the scene; with a sheet every change starts anew, else a button does."""
        gui = self.gui
        shown = {
            name: value
            for name, value in scene.parameters.items()
            if name in scene.choices or isinstance(value, bool | int | float)
        }
        if not shown:
            return
        with gui.add_folder("For a new start"):
            for name, default in shown.items():
                control = self._input(name, self.page.settings.get(name, default), scene)
                self._inputs[name] = control
                if scene.sheet is not None:
                    control.on_event(lambda event: self._again(event.visitor))
            if scene.sheet is None:
                again = gui.add_button("Start with these")
                again.on_event(lambda event: self._again(event.visitor))

    def _input(self, name: str, value: Any, scene: Scene) -> Control:
        if name in scene.choices:
            return self.gui.add_dropdown(name, scene.choices[name], str(value))
        if isinstance(value, bool):
            return self.gui.add_checkbox(name, value)
        return self.gui.add_number(name, value)

    def _sheet(self, scene: Scene) -> None:
        """What follows from the parameters, and their lines in a model file."""
        settings = {**scene.parameters, **self.page.settings}
        assert scene.sheet is not None
        with self.gui.add_folder("What follows"):
            self.gui.add_html(table(scene.sheet(**settings)))
        if scene.written is not None:
            with self.gui.add_folder("In a model file"):
                self.gui.add_html(f"<pre>{html.escape(scene.written(**settings))}</pre>")

    def _again(self, visitor: Visitor) -> None:
        values = {name: control.value for name, control in self._inputs.items()}
        self.page.choose(visitor, self.page.label, settings=values)
