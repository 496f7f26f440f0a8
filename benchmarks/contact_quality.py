"""How well an engine does on the cases of the suite `contact`: slips, creep, depths, gaps."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from linkwork.model.errors import LinkworkError

from . import fingers, heaps
from .contact_peer import Engine

DT = 1e-3
SAMPLE = 10
"""Steps between two looks at poses and penetrations."""


def gripper_quality(engine: Engine, duration: float) -> dict[str, float]:
    """Slip of the box along the pads, deepest penetration."""
    from linkwork.scenes.gripper import LIFTING, OPENING

    places, deepest = [], 0.0
    for t in _samples(engine, duration):
        deepest = max(deepest, engine.depth())
        if LIFTING - 1e-9 <= t < OPENING - SAMPLE * DT / 2:
            (p, _), (q, R) = engine.pose("box"), engine.pose("hand")
            places.append((R.T @ (p - q))[[0, 2]])
    away = np.array(places) - places[0]
    return {"slip_m": float(np.linalg.norm(away, axis=1).max()), "depth_m": deepest}


def fingers_quality(engine: Engine, duration: float) -> dict[str, float]:
    """Slip of the box along the pads once they have closed, deepest penetration."""
    places, deepest = [], 0.0
    for t in _samples(engine, duration):
        deepest = max(deepest, engine.depth())
        if t > 0.3 - 1e-9:
            places.append(fingers.slip(engine))
    away = np.array(places) - places[0]
    return {"slip_m": float(np.linalg.norm(away, axis=1).max()), "depth_m": deepest}


def vehicle_quality(engine: Engine, duration: float) -> dict[str, float]:
    """Deepest penetration of the wheels, largest gap of the joints."""
    deepest = max(engine.depth() for _ in _samples(engine, duration))
    return {"depth_m": deepest} | ({} if engine.gap is None else {"gap_m": engine.gap})


def stack_quality(engine: Engine, duration: float) -> dict[str, float]:
    """Creep of the boxes, height of the top, deepest penetration."""
    from linkwork.scenes.stack10 import build

    model = build()
    deepest, creep = 0.0, 0.0
    for _ in _samples(engine, duration):
        deepest = max(deepest, engine.depth())
    for name, body in model.bodies.items():
        p, _ = engine.pose(name)
        creep = max(creep, float(np.linalg.norm((p - np.array(body.at))[:2])))
        height = float(p[2] - body.at[2])
    return {"creep_m": creep, "height_m": height, "depth_m": deepest}


def pile_quality(engine: Engine, duration: float) -> dict[str, float]:
    """Mean height, deepest penetration in the last half second."""
    deepest, left = 0.0, 0.0
    for t in _samples(engine, duration):
        if t > duration - 0.5:
            deepest = max(deepest, engine.depth())
            left = max(left, engine.residual() or 0.0)
    heights = []
    for k in range(max(heaps.SIZES)):
        try:
            heights.append(engine.pose(f"thing{k + 1}")[0][2])
        except (LinkworkError, KeyError):  # a smaller pile
            break
    found = {"height_m": float(np.mean(heights)), "depth_m": deepest}
    return found if engine.residual() is None else found | {"residual_m_s": left}


def depth_quality(engine: Engine, duration: float) -> dict[str, float]:
    """Deepest penetration."""
    return {"depth_m": max(engine.depth() for _ in _samples(engine, duration))}


def _samples(engine: Engine, duration: float) -> Iterator[float]:
    """Times of looks [s]; the engine moves on between them."""
    engine.reset()
    for k in range(round(duration / (SAMPLE * DT))):
        engine.run(SAMPLE)
        yield (k + 1) * SAMPLE * DT
