"""What is drawn, and from where."""

from __future__ import annotations

from functools import partial

from ..camera import PRESETS
from ..nodes import LAYERS
from .tab import Tab

_NOBODY = "nothing"
_LABELS = {"coms": "Centres of mass"}
_COLORS = ("per body", "by component")


class LooksTab(Tab):
    """Layers, colours, cameras, traces."""

    title = "View"

    def build(self) -> None:
        gui, page, session = self.gui, self.page, self.session
        cameras = gui.add_buttons("Camera", PRESETS)
        cameras.on_event(lambda event: page.shown.cameras.turn(event.value, event.visitor))
        names = tuple(body.name for body in session.stage.bodies)
        follow = gui.add_dropdown("Follow", (_NOBODY, *names), page.shown.followed or _NOBODY)
        self.on(follow, lambda value: page.shown.follow(None if value == _NOBODY else value))
        colors = gui.add_dropdown("Colours", _COLORS, _COLORS[page.shown.by_component])
        self.on(colors, lambda value: page.shown.color(value == _COLORS[True]))
        with gui.add_folder("Layers"):
            empty = {"scenery": not session.stage.scenery, "contacts": not session.touching}
            for layer in (layer for layer in LAYERS if not empty.get(layer)):
                box = gui.add_checkbox(_LABELS.get(layer, layer.capitalize()), page.nodes.shows(layer))
                self.on(box, partial(page.show, layer))
                if layer == "reactions" and (why := session.without_reactions) is not None:
                    box.change(disabled=True, value=False, hint=why)
        if session.markers:
            with gui.add_folder("Traces"):
                for name in session.markers:
                    box = gui.add_checkbox(name, name in session.traces)
                    self.on(box, partial(self._trace, name))

    def _trace(self, name: str, on: bool) -> None:
        chosen = [*self.session.traces]
        self.session.trace([*chosen, name] if on else [other for other in chosen if other != name])
        self.page.draw_traces()
