"""What a slip comes to when nothing changes any more."""

from __future__ import annotations

import math

from .patch import Slip


def steady(slip: Slip, velocity: float) -> float:
    """F = F₀ - D V, which u' = 0 leaves [N]; of a contact that holds, which has an infinite D, nan unless V is 0."""
    if slip.ease > 0.0:
        return float(slip.offset - slip.weight * velocity / slip.ease)
    return 0.0 if velocity == 0.0 else math.nan
