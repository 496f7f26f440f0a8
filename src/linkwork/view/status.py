"""What the status bar of the page tells: what is shown, its time, how it fares against the clock, what is wrong."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..scenes import is_scene

if TYPE_CHECKING:
    from .page import Page

_NOTHING = "–"


def status_of(page: Page) -> dict[str, Any]:
    """As web/main.js shows it."""
    session, player = page.session, page.player
    name = page.subject
    known = {
        "subject": name, "scene": name if is_scene(name) else "", "about": page.about, "time": _NOTHING,
        "factor": _NOTHING, "method": _NOTHING, "badge": "", "warnings": [*page.pictures.troubles],
    }  # fmt: skip
    if player is not None:
        return {**known, "time": f"{player.time:.2f}", "badge": "recorded"}
    if session is None:
        return {**known, "badge": "starting position" if name else ""}
    status, dt = session.status, session.loop.simulation.dt
    return {
        **known,
        "time": clock(session.view.time, dt),
        "factor": "paused" if status.paused else f"{status.factor:.2f}×",
        "method": ", ".join(part for part in session.names if part),
        "warnings": [*_warnings(page), *page.pictures.troubles],
    }


def clock(time: float, dt: float) -> str:
    """A time [s] in so many digits that a step of dt [s] changes the last ones."""
    digits = min(max(2, math.ceil(-math.log10(dt) - 1e-9)), 9) if dt > 0.0 else 2
    return f"{time:.{digits}f}"


def _warnings(page: Page) -> list[str]:
    assert page.session is not None
    status = page.session.status
    recording = [] if page.session.trouble is None else [f"recording: {page.session.trouble}"]
    if status.failure is not None:
        return [f"stopped: {status.failure}. Reset begins again.", *recording]
    if not status.keeps_up:
        slow = f"{status.factor:.2f} instead of {status.speed:g} times real time"
        return [f"this machine cannot keep up: {slow}", *recording]
    return recording
