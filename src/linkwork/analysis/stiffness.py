"""Vibrations of springs and servos that implicit steps damp out."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt, tau

from ..compile.system import System
from ..mechanism.softness import softness
from ..model.rotation import Array

# Implicit steps damp a vibration by a share ω h/2 of the critical: beyond this it is lost, at this it is kept.
_LOST, _KEPT = 0.5, 0.02


def lost_vibrations(system: System, q: Array, h: float) -> Iterator[tuple[str, str]]:
    """(where, what) of every element that vibrates too fast for steps of h [s], at a pose that closes the loops."""
    soft = softness(system, q)
    for k, row in enumerate(soft.names):
        name, _, what = row.partition(": ")
        mobility = soft.mobility[k, k]
        frequency, decay = sqrt(soft.slopes.stiffness[k] * mobility), soft.slopes.damping[k] * mobility
        if h * frequency > _LOST and decay < 2.0 * frequency:
            fact = (
                f"its {what} vibrates at {frequency / tau:.3g} Hz, too fast for the default step of {h:g} s"
            )
            advice = f"where that matters take dt below {_KEPT / frequency:.2g} s"
            yield name, f"{fact}: the motion is stable but the vibration is damped out; {advice}"
