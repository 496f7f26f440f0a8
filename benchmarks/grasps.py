"""How much a grasp hangs on rounding: the scene `gripper` from starts a nanometre apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

STARTS, STARTS_QUICK = 200, 4
APART = 1e-9
"""Between two starts [m]."""
EVERY = 0.1
"""Between two looks [s]."""
HOW = {
    "grasps": f"scene gripper, {STARTS} starts of the box {APART:g} m apart, default settings: farthest that it moves "
    "along the pads while it is held; spread: between the least and the most of them",
}


def grasps(*, quick: bool, tick: Callable[[], object]) -> list[dict[str, Any]]:
    """Slips of all starts, in both formulations."""
    from linkwork.run.simulate import Simulation
    from linkwork.scenes import scene

    starts = STARTS_QUICK if quick else STARTS
    rows = []
    for method in ("simgc", "simmc"):
        slips, cut = np.empty(starts), 0
        for k in range(starts):
            offset = 0.003 + APART * (k - starts // 2)
            simulation = Simulation(scene("gripper", offset=offset), method=method, dt=1e-3)
            slips[k] = slip(simulation)
            cut += int(simulation.method.outcome()["steps_cut_short"])
        rows.append(
            {
                "method": method, "starts": starts, "least_m": float(slips.min()), "most_m": float(slips.max()),
                "spread_m": float(np.ptp(slips)), "cut_short": cut,
            }
        )  # fmt: skip
        tick()
    return rows


def slip(simulation: Any) -> float:
    """Farthest that the box moves along the pads from when it is held until they open [m]."""
    from linkwork.scenes.gripper import LIFTING, OPENING

    step = round(EVERY * 1e3)
    simulation.step(round(LIFTING * 1e3))
    places = []
    for _ in range(round((OPENING - LIFTING) / EVERY)):
        hand, axes = simulation.point("hand")[0], np.eye(3)
        turned = np.array([simulation.point("hand", axis)[0] for axis in axes]) - hand
        middle = 0.5 * (simulation.point("left_jaw")[0] + simulation.point("right_jaw")[0])
        places.append((turned @ (simulation.point("box")[0] - middle))[[0, 2]])
        simulation.step(step)
    away = np.array(places) - places[0]
    return float(np.linalg.norm(away, axis=1).max())
