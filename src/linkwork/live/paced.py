"""A simulation in step with the clock, with a function of one's own at a chosen rate: `Simulation.run_realtime`."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..model.errors import LinkworkError
from ..run.simulate import Simulation
from .realtime import positive

Controller = Callable[[Simulation], Mapping[str, float] | bool | None]
"""Reads the simulation and commands it; may return commands of drives by name. False ends the run."""
_BACKLOG = 0.1  # how much it may lag behind the clock and still catch up [s]


class Pace(NamedTuple):
    """How a run kept up with the clock."""

    time: float
    """Simulated in it [s]."""
    calls: int
    """Of the controller."""
    lateness: float
    """Of 99 percent of the calls not more [s]."""
    longest: float
    """Longest time that the controller took [s]."""
    lost: float
    """Time given up because the machine could not keep up [s]."""


def run_realtime(
    simulation: Simulation,
    duration: float,
    controller: Controller,
    *,
    rate: float = 100.0,
    speed: float = 1.0,
    clock: Callable[[], float] = time.perf_counter,
    sleep: Callable[[float], object] = time.sleep,
) -> Pace:
    """Simulate `duration` seconds as the clock goes, the controller being called `rate` times a second of it.

    In each period first the controller is called, when its instant has come, then the steps up to the next are taken
    at once: what it reads belongs to the instant, what it commands holds from there on.
    """
    period, count = _whole(simulation, positive("rate", rate))
    ticks = math.inf if duration == math.inf else round(positive("duration", duration) / period)
    positive("speed", speed)
    late: list[float] = []
    longest = lost = 0.0
    began, tick = simulation.time, 0
    anchor = clock()
    while tick < ticks:
        due = anchor + tick * period / speed
        while (wait := due - clock()) > 0.0:
            sleep(wait)
        now = clock()
        late.append(now - due)
        if now - due > _BACKLOG:
            excess = now - due - _BACKLOG
            anchor, lost = anchor + excess, lost + excess
        if not _controlled(simulation, controller):
            break
        longest = max(longest, clock() - now)
        simulation.step(count)
        tick += 1
    most = float(np.percentile(late, 99)) if late else 0.0
    return Pace(simulation.time - began, len(late), most, longest, lost)


def _whole(simulation: Simulation, rate: float) -> tuple[float, int]:
    """Time between two calls [s], and the steps in it."""
    count = round(1.0 / (rate * simulation.dt))
    if count < 1 or abs(count * simulation.dt * rate - 1.0) > 1e-6:
        near = 1.0 / (max(count, 1) * simulation.dt)
        raise LinkworkError(
            f"a rate of {rate:g} per second does not fit steps of {simulation.dt:g} s: choose {near:g}, or another dt"
        )
    return count * simulation.dt, count


def _controlled(simulation: Simulation, controller: Controller) -> bool:
    """Let the controller act; False if it wants no more."""
    wanted: Any = controller(simulation)
    if wanted is None or isinstance(wanted, bool):
        return wanted is not False
    if not isinstance(wanted, Mapping):
        raise LinkworkError(f"a controller returns commands of drives by name, or nothing, not {wanted!r}")
    for drive, value in wanted.items():
        if not math.isfinite(value):
            raise LinkworkError(f"the command of drive '{drive}' must be a finite number, not {value}")
    for drive, value in wanted.items():
        simulation.command(drive, value)
    return True
