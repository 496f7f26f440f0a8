"""Numbers of the model: those that may change while it moves, and those of the scene that need a new start."""

from __future__ import annotations

from functools import partial

from ..channel import Visitor
from ..gui import Control
from .tab import Tab

_STEPS = 200
_MOST = 24  # sliders at once


class ModelTab(Tab):
    """Sliders for gravity, friction, springs; parameters of the scene."""

    title = "Model"

    def build(self) -> None:
        session, gui = self.session, self.gui
        with gui.add_folder("While it moves"):
            for parameter in session.parameters[:_MOST]:
                top = max(parameter.high, parameter.value)
                slider = gui.add_slider(
                    parameter.name, 0.0, float(top), float(top / _STEPS), float(parameter.value), unit=parameter.unit
                )  # fmt: skip
                self.on(slider, partial(session.set_parameter, parameter.name))
        scene = session.scene
        self._inputs: dict[str, Control] = {}
        known = {} if scene is None else scene.parameters
        numbers = {name: value for name, value in known.items() if isinstance(value, bool | int | float)}
        if numbers:
            with gui.add_folder("For a new start"):
                for name, default in numbers.items():
                    value = self.page.settings.get(name, default)
                    if isinstance(default, bool):
                        self._inputs[name] = gui.add_checkbox(name, bool(value))
                    else:
                        self._inputs[name] = gui.add_number(name, value)
                again = gui.add_button("Start with these")
                again.on_event(lambda event: self._again(event.visitor))

    def _again(self, visitor: Visitor) -> None:
        values = {name: control.value for name, control in self._inputs.items()}
        self.page.choose(visitor, self.page.label, settings=values)
