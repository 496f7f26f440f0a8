"""What an operator's panel consists of, as pages are told (web/operator.js draws it).

A panel has groups, a group elements, an element a kind, a label and inputs; an input has its range, where it springs
back to (null: nowhere), keys of the keyboard [less, more], by their place on it (`KeyboardEvent.code`), an axis or
buttons of the gamepad, and the time that a held key takes from end to end (0: none). What is shown is a `reading`: a
signal and a factor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..control.blocks.panel import Element, Gauge, Joystick, Knob, Lamp, Selector, Text
from ..control.blocks.panel import Lever as PanelLever
from ..control.diagram import Diagram
from ..live.drives import Lever
from ..live.inputs import elements_of

if TYPE_CHECKING:
    from ..live.session import Session

PAUSE, RESET, BY_HAND = "Pause", "Reset", "Drive by hand"
_PATIENCE = 5.0  # [s]
# Columns of a keyboard: a lever is pulled by the lower key and pushed by the upper one.
_KEYS = tuple((f"Key{less}", f"Key{more}") for less, more in zip("ASDFGHJK", "QWERTYUI", strict=True))
# Axes of the standard gamepad, and which way is more: sticks up and to the right.
_AXES = ((1, -1), (3, -1), (0, 1), (2, 1))


def operated(session: Session) -> dict[str, Any]:
    """The panel of a session: elements of the model's own panel, and a lever for each drive that it leaves alone."""
    by_hand = session.manual or any(lever.automatic for lever in session.levers)
    actions = [PAUSE, RESET, *([BY_HAND] if by_hand else []), *session.buttons]
    own = _own_groups(session)
    return {"actions": actions, "groups": [*own, *_drives(session, default_keys=not own)]}


def act(session: Session, action: str) -> None:
    """Do an action of the panel."""
    if action == PAUSE:
        _ = session.loop.resume() if session.loop.paused else session.loop.pause()
    elif action == RESET:
        session.reset()
    elif action == BY_HAND:
        session.take_the_levers(not session.manual).result(timeout=_PATIENCE)
    else:
        session.press(action)


def pressed(session: Session) -> list[str]:
    """Actions that hold now."""
    return [*([PAUSE] if session.loop.paused else []), *([BY_HAND] if session.manual else [])]


def _drives(session: Session, *, default_keys: bool) -> list[dict[str, Any]]:
    """Levers of drives, grouped by component."""
    groups: dict[str, list[dict[str, Any]]] = {}
    springing = 0
    for number, lever in enumerate(session.levers):
        owner, _, label = lever.drive.rpartition(".")
        one = session.desk.inputs[lever.drive]
        keys = _KEYS[number] if default_keys and number < len(_KEYS) else None
        pad = None
        if default_keys and one.rest is not None and springing < len(_AXES):
            axis, sign = _AXES[springing]
            pad, springing = {"axis": axis, "sign": sign}, springing + 1
        groups.setdefault(owner, []).append(
            {
                "kind": "lever",
                "label": label,
                "inputs": [_input(session, lever.drive, lever.unit, keys=keys, pad=pad)],
                "reading": _reading(session, lever),
            }
        )
    return [{"label": owner, "elements": elements} for owner, elements in groups.items()]


def _reading(session: Session, lever: Lever) -> dict[str, Any] | None:
    """The coordinate that a lever moves, if it can be read."""
    if lever.coordinate not in session.view.values:
        return None
    return {"signal": lever.coordinate, "unit": session.unit(lever.coordinate), "factor": 1.0}


def _input(session: Session, name: str, unit: str, **more: Any) -> dict[str, Any]:
    one = session.desk.inputs[name]
    return {
        "name": name,
        "low": one.low,
        "high": one.high,
        "rest": one.rest,
        "step": one.step,
        "unit": unit,
        **more,
    }


def _own_groups(session: Session) -> list[dict[str, Any]]:
    """The panel that the model describes, group by group."""
    flat, diagram = session.flat, session.loop.simulation.diagram
    if diagram is None:
        return []
    groups: dict[str | None, list[dict[str, Any]]] = {name: [] for name in (None, *flat.panel)}
    for name, element in elements_of(flat).items():
        groups[element.group].append(_element(session, diagram, name, element))
    told = []
    for group, elements in groups.items():
        about = flat.panel.get(group) if group is not None else None
        if elements:
            told.append(
                {
                    "label": "" if about is None else about.label or about.name,
                    "hint": "" if about is None else about.hint,
                    "place": about and about.cell and [about.cell[1], about.cell[0]],
                    "elements": elements,
                }
            )
    return told


def _element(session: Session, diagram: Diagram, name: str, element: Element) -> dict[str, Any]:
    channels = [f"{name}.{channel}" for channel in element.channels]
    inputs = [
        _input(session, channel, diagram.outputs[channel].unit or "", **ways)
        for channel, ways in zip(channels, _ways(element), strict=True)
    ]
    return {
        "kind": element.kind,
        "label": element.label if element.label is not None else name.rpartition(".")[2],
        "hint": element.hint,
        "place": element.cell and [element.cell[1], element.cell[0]],
        "inputs": inputs,
        "reading": _shown(diagram, name, element),
        **_looks(element),
    }


def _ways(element: Element) -> list[dict[str, Any]]:
    """Keys and parts of the gamepad of each input of an element."""
    moved = {"travel": getattr(element, "travel_time", 0.0), "dead": getattr(element, "dead_zone", 0.0)}
    if isinstance(element, PanelLever):
        pad = None if element.axis is None else {"axis": element.axis, "sign": -1 if element.inverted else 1}
        return [{"keys": element.keys, "pad": pad, **moved}]
    if isinstance(element, Joystick):
        pads = [
            None if element.axes is None else {"axis": axis, "sign": sign}
            for axis, sign in zip(element.axes or (0, 0), (1, -1), strict=True)
        ]
        keys = [None, None] if element.keys is None else [element.keys[:2], element.keys[2:]]
        return [{"keys": key, "pad": pad, **moved} for key, pad in zip(keys, pads, strict=True)]
    if isinstance(element, Knob):
        return [{"keys": element.keys, "pad": None, **moved}]
    key, button = getattr(element, "key", None), getattr(element, "button", None)
    pad = None if button is None else {"more": button}
    return [{"keys": key and [None, key], "pad": pad} for _ in element.channels]


def _shown(diagram: Diagram, name: str, element: Element) -> dict[str, Any] | None:
    """What an element shows."""
    for wire in diagram.into(name):
        factor = (-1.0 if wire.negative else 1.0) * getattr(element, "factor", 1.0)
        unit = getattr(element, "unit", None) or wire.unit
        return {"signal": wire.source or None, "fixed": wire.number, "factor": factor, "unit": unit}
    return None


def _looks(element: Element) -> dict[str, Any]:
    """How an element looks, beside what all have."""
    if isinstance(element, PanelLever):
        return {"direction": "horizontal" if element.sideways else "vertical"}
    if isinstance(element, Selector):
        return {"options": list(element.choices)}
    if isinstance(element, Lamp):
        return {"color": element.color}
    if isinstance(element, Gauge):
        return {"low": element.low, "high": element.high}
    if isinstance(element, Text):
        return {"text": element.text, "digits": element.digits}
    return {}
