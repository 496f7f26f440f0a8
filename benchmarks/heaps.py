"""Many bodies: piles whose height or floor grows with the number, what accuracy costs, thousands falling into a box."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .mechanisms import exponent

if TYPE_CHECKING:
    from linkwork.model import Model

SIZES, SIZES_QUICK = (50, 100, 200, 400), (10, 20)
"""Bodies of the piles that grow in height: 25 in a layer."""
FLOORS, FLOORS_QUICK = (4, 6, 8, 10), (2, 3)
"""Things across the floors of the piles that grow sideways, in LAYERS layers."""
LAYERS = 4
COARSE = 1.0
"""Residual of the coarse setting [m/s²]: a tenth of gravity."""
PRECISION = (0.01, 0.1, 1.0, 10.0)
"""Residuals of the work-precision curve [m/s²]."""
PRECISE = 200
"""Bodies of the pile that it is of."""
FALLING, FALLING_QUICK = (500, 1000, 2000), (20, 40)
"""Bodies that fall into a box."""
FALL, FALL_QUICK = 400, 20
"""Steps that they are followed for."""
FALL_DT = 2e-3
HOW = {
    "height grows": "25 things in a layer, from 1.5 s on",
    "floor grows": f"{LAYERS} layers in bins of {', '.join(str(n) for n in FLOORS)} things across",
    "falling": f"{FALL} steps of {1e3 * FALL_DT:g} ms from the start, residual {COARSE:g} m/s², things across a bin so "
    "many that they stay in it; memory is that of the method's tables",
}


def pile(count: int) -> Model:
    """Of all shapes, in layers of 25."""
    from linkwork.scenes import scene

    return scene("pile200", count=count)


def floor(across: int) -> Model:
    """Of all shapes, in so many layers whatever their number."""
    from linkwork.scenes import scene

    return scene("pile200", count=LAYERS * across * across, across=across)


def falling(*, quick: bool, tick: Callable[[], object]) -> dict[str, Any]:
    """Runs of many bodies that fall into a box: time of a step, memory, steps cut short."""
    from linkwork.run.simulate import Simulation
    from linkwork.scenes import scene

    rows: list[dict[str, Any]] = []
    sizes, steps = (FALLING_QUICK, FALL_QUICK) if quick else (FALLING, FALL)
    for count in sizes:
        across = max(2, round((count / 10) ** 0.5))
        model = scene("pile200", count=count, across=across)
        simulation = Simulation(model, method="simgc", solver="direct", dt=FALL_DT, residual=COARSE)
        simulation.step(1)
        began = time.thread_time()
        simulation.step(steps - 1)
        took = time.thread_time() - began
        method: Any = simulation.method
        outcome: dict[str, Any] = method.outcome()
        rows.append(
            {
                "bodies": count,
                "step_ms": 1e3 * took / (steps - 1),
                "memory_MB": 1e-6 * _size(vars(method)),
                "contacts": int(method.report()["contacts"]),
                "sweeps": float(outcome["iterations_mean"]),
                "cut_short": int(outcome["steps_cut_short"]),
                "steps": steps,
                "deepest_m": float(outcome["deepest_m"]),
            }
        )
        tick()
    memory = exponent([row["bodies"] for row in rows], [row["memory_MB"] for row in rows])
    return {"rows": rows, "memory_exponent": memory}


def _size(thing: Any) -> int:
    """Bytes of all arrays in a tree of tuples and dictionaries, each counted once."""
    seen: dict[int, int] = {}

    def walk(part: Any) -> None:
        if isinstance(part, np.ndarray):
            whole = part if part.base is None or not isinstance(part.base, np.ndarray) else part.base
            seen[id(whole)] = whole.nbytes
        elif isinstance(part, dict):
            for value in part.values():
                walk(value)
        elif isinstance(part, tuple | list):
            for value in part:
                walk(value)

    walk(thing)
    return sum(seen.values())
