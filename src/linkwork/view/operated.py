"""What an operator's panel consists of, as pages are told (web/operator.js draws it).

A panel has groups, a group elements, an element a kind, a label and inputs; an input has its range, where it springs
back to (null: nowhere), keys of the keyboard [less, more], by their place on it
(`KeyboardEvent.code`), and an axis or buttons of the gamepad.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..live.drives import Lever

if TYPE_CHECKING:
    from ..live.session import Session

PAUSE, RESET, BY_HAND = "Pause", "Reset", "Drive by hand"
_PATIENCE = 5.0  # [s]
# Columns of a keyboard: a lever is pulled by the lower key and pushed by the upper one.
_KEYS = tuple((f"Key{less}", f"Key{more}") for less, more in zip("ASDFGHJK", "QWERTYUI", strict=True))
# Axes of the standard gamepad, and which way is more: sticks up and to the right.
_AXES = ((1, -1), (3, -1), (0, 1), (2, 1))


def operated(session: Session) -> dict[str, Any]:
    """The panel of a session: a lever for each drive, grouped by component."""
    groups: dict[str, list[dict[str, Any]]] = {}
    springing = 0
    for number, lever in enumerate(session.levers):
        owner, _, label = lever.drive.rpartition(".")
        one = session.desk.inputs[lever.drive]
        pad = None
        if one.rest is not None and springing < len(_AXES):
            axis, sign = _AXES[springing]
            pad, springing = {"axis": axis, "sign": sign}, springing + 1
        groups.setdefault(owner, []).append(
            {
                "kind": "lever",
                "label": label,
                "inputs": [
                    {
                        "name": one.name, "low": one.low, "high": one.high, "rest": one.rest, "step": one.step,
                        "unit": lever.unit, "keys": _KEYS[number] if number < len(_KEYS) else None, "pad": pad,
                    }
                ],
                "reading": _reading(session, lever),
            }
        )  # fmt: skip
    by_hand = session.manual or any(lever.automatic for lever in session.levers)
    return {
        "actions": [PAUSE, RESET, *([BY_HAND] if by_hand else []), *session.buttons],
        "groups": [{"label": owner, "elements": elements} for owner, elements in groups.items()],
    }


def act(session: Session, action: str) -> None:
    """Do an action of the panel."""
    if action == PAUSE:
        _ = session.loop.resume() if session.status.paused else session.loop.pause()
    elif action == RESET:
        session.reset()
    elif action == BY_HAND:
        session.take_the_levers(not session.manual).result(timeout=_PATIENCE)
    else:
        session.press(action)


def pressed(session: Session) -> list[str]:
    """Actions that hold now."""
    return [
        *([PAUSE] if session.loop.paused else []),
        *([BY_HAND] if session.manual else []),
    ]


def _reading(session: Session, lever: Lever) -> dict[str, str] | None:
    """The coordinate that a lever moves, if it can be read."""
    if lever.coordinate not in session.view.values:
        return None
    return {"signal": lever.coordinate, "unit": session.unit(lever.coordinate)}
