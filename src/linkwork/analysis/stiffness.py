"""Springs, dampers and servos that are too stiff for a step, judged by the inertia that they really move."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt, tau
from typing import Literal

from ..compile.system import System
from ..mechanism.softness import softness
from ..model.rotation import Array

# Implicit steps damp a vibration by a share ω h/2 of the critical: beyond this it is lost, at this it is kept.
_LOST, _KEPT = 0.5, 0.02

Level = Literal["error", "warning", "note"]


def stiff_parts(system: System, q: Array, explicit: bool, h: float) -> Iterator[tuple[Level, str, str]]:
    """(level, where, what) of every part too stiff for steps of h [s], at a pose that closes the loops."""
    soft = softness(system, q)
    implicit, slopes = set(soft.implicit(h)), soft.slopes
    for k, row in enumerate(soft.names):
        name, _, what = row.partition(": ")
        mobility = soft.mobility[k, k]
        frequency, decay = sqrt(slopes.stiffness[k] * mobility), slopes.damping[k] * mobility
        if slopes.stiffness[k] == 0.0:
            what = "damping"
        if explicit and h > soft.limit and row in implicit:
            advice = f"take dt below {soft.limit:.2g} s, the integrator 'adaptive', or the method 'simgc'"
            yield "warning", name, f"its {what} is too stiff for the default step of {h:g} s: {advice}"
        elif not explicit and h * frequency > _LOST and decay < 2.0 * frequency:
            fact = (
                f"its {what} vibrates at {frequency / tau:.3g} Hz, too fast for the default step of {h:g} s"
            )
            advice = f"where that matters take dt below {_KEPT / frequency:.2g} s"
            yield "note", name, f"{fact}: the motion is stable but the vibration is damped out; {advice}"
