"""Controls of the panel: described here, drawn by the page in every browser (web/controls.js).

A control is a kind and some properties, which are set like attributes; pages follow. What a visitor does to a control
changes its `value` for all and calls those who asked for it. Kinds: tabs, tab, folder, button, buttons, checkbox,
slider, dropdown, picker, number, text, html, plot.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from .channel import Channel, Message, Visitor

_LONGEST = 300  # characters of a text that a visitor writes


class Event(NamedTuple):
    """What a visitor did to a control."""

    visitor: Visitor
    target: Control
    value: Any
    """What the visitor set it to; `target.value` may be something else by now, of the server or another visitor."""


Callback = Callable[[Event], object]


class _Shared:
    """A property of a control that pages know, too."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, control: Control, owner: type | None = None) -> Any:
        return control.properties.get(self._name)

    def __set__(self, control: Control, value: Any) -> None:
        control.change(**{self._name: value})


class Control:
    """One control, or a container of others (`with folder: gui.add_button(...)`)."""

    label, value, content, options = _Shared(), _Shared(), _Shared(), _Shared()
    hint, low, high, data, disabled = _Shared(), _Shared(), _Shared(), _Shared(), _Shared()

    def __init__(self, gui: Gui, key: int, kind: str, parent: Control | None, properties: dict[str, Any]):
        # Many arguments: the gui alone makes them.
        self._gui, self.id, self.kind, self.parent, self.properties = gui, key, kind, parent, properties
        self._callbacks: list[Callback] = []

    def change(self, **properties: Any) -> None:
        """Set several properties at once."""
        self._gui.change(self, properties)

    def on_event(self, callback: Callback) -> None:
        """Call this when a visitor moves or presses it."""
        self._callbacks.append(callback)

    def happen(self, visitor: Visitor, value: Any = None) -> None:
        """(gui) A visitor moved or pressed it."""
        for callback in self._callbacks:
            callback(Event(visitor, self, value))

    def remove(self) -> None:
        """Take it off the panel, with all that is in it."""
        self._gui.remove(self)

    def described(self) -> Message:
        """As pages are told."""
        parent = None if self.parent is None else self.parent.id
        return {"id": self.id, "kind": self.kind, "in": parent, **self.properties}

    def __enter__(self) -> Control:
        self._gui.open_containers.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        self._gui.open_containers.pop()


class Gui:
    """All controls of a panel."""

    def __init__(self, channel: Channel):
        self._channel = channel
        self._lock = threading.RLock()
        self._controls: dict[int, Control] = {}
        self._ids = itertools.count(1)
        self._local = threading.local()
        self._rebuilding = 0
        channel.show(self._show)
        channel.listeners.append(self._hear)

    @property
    def open_containers(self) -> list[Control]:
        """Containers that this thread fills, the innermost last."""
        if not hasattr(self._local, "open"):
            self._local.open = []
        found: list[Control] = self._local.open
        return found

    @contextlib.contextmanager
    def rebuilt(self) -> Iterator[None]:
        """Build another panel; pages see it when it is complete."""
        with self._lock:
            self._controls.clear()
            self._rebuilding += 1
        try:
            yield
        finally:
            with self._lock:
                self._rebuilding -= 1
                if not self._rebuilding:
                    self._channel.send({"panel": self._described()})

    # What there is to add

    def add_tabs(self) -> Control:
        """A group of tabs, one of which is seen."""
        return self._add("tabs")

    def add_tab(self, group: Control, label: str) -> Control:
        """A tab, to be filled: `with gui.add_tab(group, "Run"): ...`."""
        with group:
            return self._add("tab", label=label)

    def add_folder(self, label: str) -> Control:
        """A group of controls under a heading, which visitors may close."""
        return self._add("folder", label=label)

    def add_button(self, label: str, *, look: str = "", hint: str = "") -> Control:
        """A button; `look` is "", "main" or "alarm"."""
        return self._add("button", label=label, look=look, hint=hint)

    def add_buttons(self, label: str, options: Sequence[str], *, hint: str = "") -> Control:
        """Buttons in a row; `value` is the one that was pressed last."""
        return self._add("buttons", label=label, options=[*options], value=None, hint=hint)

    def add_checkbox(self, label: str, value: bool, *, hint: str = "") -> Control:
        """On or off."""
        return self._add("checkbox", label=label, value=value, hint=hint)

    def add_slider(
        self,
        label: str,
        low: float,
        high: float,
        step: float,
        value: float,
        *,
        unit: str = "",
        hint: str = "",
    ) -> Control:
        """A number between two others."""
        # Many arguments: a slider has as many numbers.
        return self._add(
            "slider", label=label, low=low, high=high, step=step, value=value, unit=unit, hint=hint
        )  # fmt: skip

    def add_dropdown(self, label: str, options: Sequence[str], value: str, *, hint: str = "") -> Control:
        """One of several texts."""
        return self._add("dropdown", label=label, options=[*options], value=value, hint=hint)

    def add_picker(self, label: str, groups: Mapping[str, Sequence[str]], value: str) -> Control:
        """One of very many texts, in groups, with a field to search them."""
        grouped = [[group, [*names]] for group, names in groups.items()]
        return self._add("picker", label=label, options=grouped, value=value)

    def add_number(self, label: str, value: float, *, unit: str = "", hint: str = "") -> Control:
        """A number; whole if the first is."""
        return self._add(
            "number", label=label, value=value, unit=unit, hint=hint, whole=isinstance(value, int)
        )

    def add_text(self, label: str, value: str, *, hint: str = "") -> Control:
        """A line of text."""
        return self._add("text", label=label, value=value, hint=hint)

    def add_html(self, content: str) -> Control:
        """Text with tags, which must be our own: what comes from elsewhere is to be escaped."""
        return self._add("html", content=content)

    def add_plot(self, label: str, color: str) -> Control:
        """A curve; `data` is a list of times and one of values."""
        return self._add("plot", label=label, color=color, data=[[], []])

    # Within

    def _add(self, kind: str, **properties: Any) -> Control:
        with self._lock:
            parent = self.open_containers[-1] if self.open_containers else None
            control = Control(self, next(self._ids), kind, parent, properties)
            self._controls[control.id] = control
            if not self._rebuilding:
                self._channel.send({"add": control.described()})
            return control

    def change(self, control: Control, properties: Mapping[str, Any], but: Visitor | None = None) -> None:
        """(control) Set properties; pages are told of those that differ."""
        with self._lock:
            differ = {
                name: value
                for name, value in properties.items()
                if name == "data" or control.properties.get(name) != value
            }
            control.properties.update(differ)
            if differ and control.id in self._controls and not self._rebuilding:
                self._channel.send({"set": {"id": control.id, **differ}}, but)

    def remove(self, control: Control) -> None:
        """(control) Take it off the panel, with all that is in it."""
        with self._lock:
            if self._controls.pop(control.id, None) is None:
                return
            for child in [one for one in self._controls.values() if one.parent is control]:
                self._controls.pop(child.id)
            if not self._rebuilding:
                self._channel.send({"remove": control.id})

    def _show(self, visitor: Visitor) -> None:
        with self._lock:  # no control comes or goes meanwhile
            visitor.send({"panel": self._described()})

    def _described(self) -> list[Message]:
        return [control.described() for control in self._controls.values()]

    def _hear(self, visitor: Visitor, message: Message) -> None:
        match message:
            case {"click": key}:
                control = self._controls.get(key)
                if control is not None and control.kind == "button":
                    control.happen(visitor)
            case {"set": [key, value]}:
                control = self._controls.get(key)
                if control is None:  # of a panel that is no more
                    return
                good, meant = _meant(control, value)
                if good:
                    self.change(control, {"value": meant}, but=visitor)
                    control.happen(visitor, meant)
                else:  # the page shows again what holds
                    visitor.send({"set": {"id": key, "value": control.value}})
                    visitor.tell(f"'{control.label}' cannot be {str(value)[:40]!r}")


def _meant(control: Control, value: Any) -> tuple[bool, Any]:
    """Whether a visitor may set a control so, and to what."""
    own = control.properties
    match control.kind:
        case "checkbox":
            return isinstance(value, bool), value
        case "slider" | "number" if isinstance(value, int | float) and not isinstance(value, bool):
            if not math.isfinite(value):
                return False, value
            if control.kind == "slider":
                return True, min(max(float(value), own["low"]), own["high"])
            return (value == round(value), round(value)) if own["whole"] else (True, float(value))
        case "dropdown" | "buttons":
            return value in own["options"], value
        case "picker":
            return any(value in names for _, names in own["options"]), value
        case "text":
            return isinstance(value, str) and len(value) <= _LONGEST, value
    return False, value
