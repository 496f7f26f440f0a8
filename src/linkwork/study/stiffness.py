"""Springs, dampers and servos that are too stiff for a step, judged by the inertia that they really move."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt, tau
from typing import Literal

import numpy as np

from ..closure import Closure, yielding
from ..rotation import Array
from ..system import System
from ..tables import SERVO_PLACE, SPRING

# Explicit methods diverge beyond this product of step and frequency or decay (RK4: 2.8).
_STABLE = 2.0
# Implicit steps damp a vibration by a share ω h/2 of the critical: beyond this it is lost, at this it is kept.
_LOST, _KEPT = 0.5, 0.02

Level = Literal["error", "warning", "note"]


def stiff_parts(system: System, q: Array, explicit: bool, h: float) -> Iterator[tuple[Level, str, str]]:
    """(level, where, what) of every part too stiff for steps of h [s], at a pose that closes the loops."""
    assert system.rows is not None
    closure = Closure(system, q)
    rows = closure.kin.constraints.rows
    soft = np.flatnonzero((rows["role"] == SPRING) | (rows["role"] == SERVO_PLACE))
    if not len(soft):
        return
    for i, mobility in zip(soft, yielding(closure, q, soft), strict=True):
        first = 1 if rows["role"][i] == SERVO_PLACE else 0
        stiffness, damping = (float(x) for x in rows["value"][i, first : first + 2])
        if stiffness * mobility <= 0.0 and damping * mobility <= 0.0:
            continue
        name, _, what = closure.kin.names[i].partition(": ")
        frequency, decay = sqrt(stiffness * mobility), damping * mobility
        worst = max(frequency, decay)
        if stiffness == 0.0:
            what = "damping"
        if explicit and h * worst > _STABLE:
            advice = (
                f"take dt below {_STABLE / worst:.2g} s, the integrator 'adaptive', or the method 'simgc'"
            )
            yield "warning", name, f"its {what} is too stiff for the default step of {h:g} s: {advice}"
        elif not explicit and h * frequency > _LOST and decay < 2.0 * frequency:
            fact = (
                f"its {what} vibrates at {frequency / tau:.3g} Hz, too fast for the default step of {h:g} s"
            )
            advice = f"where that matters take dt below {_KEPT / frequency:.2g} s"
            yield "note", name, f"{fact}: the motion is stable but the vibration is damped out; {advice}"
