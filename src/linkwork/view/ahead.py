"""How far what a page opens goes in the next seconds."""

from __future__ import annotations

import time
from typing import Any

from ..live.session import Session
from ..model.errors import LinkworkError

_GLANCE, _PATIENCE = 5.0, 0.5  # simulated time to look ahead to place the camera, and time to spend on it [s]


def look_ahead(session: Session) -> tuple[list[Any], list[Any]]:
    """Poses of the next seconds, as far as they can be computed at once: the camera is to see all of them."""
    positions, rotations = [session.view.poses.positions], [session.view.poses.rotations]
    simulation = session.loop.simulation
    began, steps = time.perf_counter(), max(1, round(0.05 / simulation.dt))
    try:
        until = session.scene.duration if session.scene is not None else _GLANCE
        while simulation.time < until and time.perf_counter() - began < _PATIENCE:
            block = simulation.advance([steps])
            data = simulation.method.observer.observe(block)
            count = len(session.stage.bodies)
            positions.append(data["positions"][0].reshape(count, 3))
            rotations.append(data["rotations"][0].reshape(count, 4))
    except LinkworkError:
        pass  # the run itself will say so
    simulation.reset()
    simulation.method.observer.restart()
    return positions, rotations
