"""What is drawn, and from where."""

from __future__ import annotations

from functools import partial

from ..camera import PRESETS
from ..nodes import LAYERS
from .tab import Tab

_NOBODY = "nothing"
_LABELS = {"coms": "Centres of mass"}


class LooksTab(Tab):
    """Layers, colours, cameras, traces."""

    title, icon = "View", "eye"

    def build(self) -> None:
        gui, page, session = self.gui, self.page, self.session
        cameras = gui.add_button_group("Camera", PRESETS)
        cameras.on_click(
            lambda event: page.attempt(event.client, lambda: page.aim(cameras.value, event.client))
        )
        names = tuple(body.name for body in session.stage.bodies)
        follow = gui.add_dropdown("Follow", (_NOBODY, *names), initial_value=page.followed or _NOBODY)
        self.on(follow, lambda value: page.follow(None if value == _NOBODY else value))
        colors = gui.add_dropdown("Colours", ("per body", "by component"), initial_value="per body")
        self.on(colors, lambda value: page.color(value == "by component"))
        with gui.add_folder("Layers"):
            empty = {"scenery": not session.stage.scenery, "contacts": not session.touching}
            for layer in (layer for layer in LAYERS if not empty.get(layer)):
                box = gui.add_checkbox(_LABELS.get(layer, layer.capitalize()), page.nodes.shows(layer))
                self.on(box, partial(page.show, layer))
        if session.markers:
            with gui.add_folder("Traces"):
                for name in session.markers:
                    box = gui.add_checkbox(name, name in session.traces)
                    self.on(box, partial(self._trace, name))

    def _trace(self, name: str, on: bool) -> None:
        chosen = [*self.session.traces]
        self.session.trace([*chosen, name] if on else [other for other in chosen if other != name])
        self.page.draw_traces()
