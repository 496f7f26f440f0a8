"""Springs, dampers and servos that are too stiff for a step, judged by the inertia that they really move."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt, tau
from typing import Literal

from ..compile.system import System
from ..engine.elements.stiffness import EXPLICIT, fastest, slopes_of, soft_rows, too_stiff
from ..mechanism.closure import Closure, yielding
from ..model.rotation import Array

# Implicit steps damp a vibration by a share ω h/2 of the critical: beyond this it is lost, at this it is kept.
_LOST, _KEPT = 0.5, 0.02

Level = Literal["error", "warning", "note"]


def stiff_parts(system: System, q: Array, explicit: bool, h: float) -> Iterator[tuple[Level, str, str]]:
    """(level, where, what) of every part too stiff for steps of h [s], at a pose that closes the loops."""
    assert system.rows is not None
    closure = Closure(system, q)
    soft = soft_rows(system.rows.constraints)
    if not len(soft):
        return
    mobility = yielding(closure, q, soft)
    slopes = slopes_of(closure.kin.tables, closure.kin.constraints, soft)
    implicit = set(too_stiff(slopes, mobility, h))
    limit = EXPLICIT / max(fastest(slopes, mobility), 1e-300)
    for k, i in enumerate(soft):
        name, _, what = closure.kin.names[i].partition(": ")
        frequency, decay = sqrt(slopes.stiffness[k] * mobility[k, k]), slopes.damping[k] * mobility[k, k]
        if slopes.stiffness[k] == 0.0:
            what = "damping"
        if explicit and h > limit and k in implicit:
            advice = f"take dt below {limit:.2g} s, the integrator 'adaptive', or the method 'simgc'"
            yield "warning", name, f"its {what} is too stiff for the default step of {h:g} s: {advice}"
        elif not explicit and h * frequency > _LOST and decay < 2.0 * frequency:
            fact = (
                f"its {what} vibrates at {frequency / tau:.3g} Hz, too fast for the default step of {h:g} s"
            )
            advice = f"where that matters take dt below {_KEPT / frequency:.2g} s"
            yield "note", name, f"{fact}: the motion is stable but the vibration is damped out; {advice}"
