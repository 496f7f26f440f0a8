"""The belt of a track where it passes below a wheel, as users say it. Its law stands in `engine/tyres/belt.py`."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY
from typing import ClassVar

from .item import NonNegative, Positive, item
from .tyres import GRAVITY, Tyre

_PRESSED, _SHEARED = 0.03, 0.02  # deflections under the nominal load, vertically and along the road, in radii
_DAMPED, _CARCASS = 0.1, 0.3  # of critical


@item
class BeltTyre(Tyre):
    """The belt of a track below one of its wheels: a footprint that does not turn with the wheel, full of points that
    slip.

    The belt runs at radius times spin of its wheel. Every point of the footprint slides over the road by itself,
    against dry friction: turning on the spot is resisted by all of them. Pads yield in shear, so that a track stands on
    a slope. `vehicle.track` makes a whole track, whose wheels turn at one belt's speed.
    """

    kind = "belt_tyre"
    law: ClassVar[str] = "belt"

    _: KW_ONLY
    radius: Positive
    """Radius of the wheel with its belt [m]."""
    load: Positive
    """Nominal load [N]."""
    length: Positive
    """Length of the belt that the wheel presses on the road [m]."""
    width: Positive
    """Width of the belt [m]."""
    stiffness: Positive | None = None
    """Vertical stiffness of pads and wheel [N/m]; default: the nominal load presses them in by 0.03 of the radius."""
    damping: NonNegative | None = None
    """Vertical damping [N s/m]; default: 0.1 of critical under the nominal load."""
    friction: Positive = 1.0
    """Coefficient of friction, on a road whose material has friction 1; on others, that times it [1]."""

    def common(self) -> tuple[float, ...]:
        mass = self.load / GRAVITY
        k = self.load / (_PRESSED * self.radius) if self.stiffness is None else self.stiffness
        c = 2.0 * _DAMPED * math.sqrt(k * mass) if self.damping is None else self.damping
        shear = self.load / (_SHEARED * self.radius)
        pads = (shear, 2.0 * _CARCASS * math.sqrt(shear * mass))
        # The belt does not stretch: it runs at the full radius however the wheel is pressed in.
        return (
            self.radius,
            k,
            0.0,
            c,
            0.1 * self.load / k,
            0.0,
            self.length / 4,
            self.width / 4,
            *pads,
            *pads,
            1.0,
        )

    def own(self) -> tuple[float, ...]:
        return self.friction, self.length, self.width
