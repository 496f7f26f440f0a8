"""Free play between two flanks."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY
from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator

from ...model.drive import Ratio, Strength
from ...model.item import Item, JointName, NonNegative, Number, item
from .law import Law, Response


@item
class Backlash(Item):
    """Free play: a joint's coordinate moves freely between two flanks, which push it back.

    Of one joint, its coordinate; of two, that of `a` less `ratio` times that of `b`: a gear with play, where a
    `Repeater` is one without. The flanks are springs with dampers that push and never pull, or rigid (the default):
    then they are a pair of limits. A flank that is let go comes back by itself, without a push.
    """

    kind = "backlash"
    shelf = "couplings"
    law: ClassVar[Law]

    a: JointName
    """The joint that has play."""
    b: JointName | None = None
    """The joint against which it has play; default: none, it has play by itself."""
    _: KW_ONLY
    gap: NonNegative
    """Free way from one flank to the other [rad or m]."""
    stiffness: Annotated[Strength, Field(gt=0)] = math.inf
    """Stiffness of a flank [N m/rad or N/m]; rigid by default."""
    damping: NonNegative = 0.0
    """Viscous damping of a flank that is pushed [N m s/rad or N s/m]."""
    restitution: Annotated[float, Field(strict=True, ge=0, le=1)] = 0.0
    """Share of the speed with which it comes back from a rigid flank [1]."""
    middle: Number | None = None
    """Value halfway between the flanks [rad or m]; by default where it starts."""
    ratio: Ratio = 1.0
    """Way of a per way of b [1, rad/m or m/rad]."""
    coordinate_a: str | None = None
    """Which coordinate of a; default: its first."""
    coordinate_b: str | None = None
    """Which coordinate of b; default: its first."""

    @model_validator(mode="after")
    def _agree(self) -> Self:
        if (self.a, self.coordinate_a) == (self.b, self.coordinate_b):
            raise ValueError(f"has joint '{self.a}' play against itself")
        if self.b is None and (self.coordinate_b is not None or self.ratio != 1.0):
            raise ValueError("has a ratio or a coordinate of b, but no b")
        if self.rigid and self.damping > 0.0:
            raise ValueError(
                "has rigid flanks, which have no damping: give a stiffness, or a restitution instead"
            )
        if not self.rigid and self.restitution > 0.0:
            raise ValueError("has flanks that yield, which have no restitution: give a damping instead")
        return self

    @property
    def rigid(self) -> bool:
        """Whether its flanks do not yield."""
        return math.isinf(self.stiffness)

    def numbers(self) -> tuple[float, ...]:
        return self.stiffness, self.damping, 0.5 * self.gap


# m[0]: the piece of the law that holds, where somebody locates the ends of pieces; 0: that at the measure.
_FREE, _UPPER, _LOWER, _LEFT_UPPER, _LEFT_LOWER = 1.0, 2.0, 3.0, 4.0, 5.0
_BEYOND = 1e-10  # a piece has ended without notice where the measure is so far beyond its end [rad or m]

# A flank is touched while s > 0, s = d + c/k min(0, d'), with d how far the measure is beyond it: when a flank that is
# let go has no force left, k d + c d' = 0, it stays behind (LEFT), and its energy turns into heat on its way back.


def _respond(p, m, x, phi, rate, u):
    """p: stiffness, damping, half of the gap; phi is counted from the middle."""
    piece = m[0]
    if piece == 0.0:
        lag = p[1] / p[0]
        if phi - p[2] > 0.0:
            piece = _UPPER if phi - p[2] + lag * min(0.0, rate) > 0.0 else _LEFT_UPPER
        elif -phi - p[2] > 0.0:
            piece = _LOWER if -phi - p[2] + lag * min(0.0, -rate) > 0.0 else _LEFT_LOWER
        else:
            piece = _FREE
    if piece == _FREE:
        return Response(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    beyond = phi + p[2] if piece == _LOWER or piece == _LEFT_LOWER else phi - p[2]
    stored = 0.5 * p[0] * beyond * beyond
    if piece == _LEFT_UPPER or piece == _LEFT_LOWER:
        return Response(0.0, 0.0, 0.0, 0.0, stored, 0.0, -p[0] * beyond * rate)
    return Response(-p[0] * beyond - p[1] * rate, -p[0], -p[1], 0.0, stored, 0.0, p[1] * rate * rate)


def _margin(p, m, phi, rate, accel):
    lag, piece = p[1] / p[0], m[0]
    upper, lower = phi - p[2] + lag * min(0.0, rate), -phi - p[2] + lag * min(0.0, -rate)
    upper_rate = rate + (lag * accel if rate < 0.0 else 0.0)
    lower_rate = -rate - (lag * accel if rate > 0.0 else 0.0)
    if piece == _UPPER:
        return upper, upper_rate
    if piece == _LOWER:
        return lower, lower_rate
    if piece == _LEFT_UPPER and phi - p[2] < -upper:
        return phi - p[2], rate
    if piece == _LEFT_LOWER and -phi - p[2] < -lower:
        return -phi - p[2], -rate
    if piece == _LEFT_UPPER or (piece != _LEFT_LOWER and upper > lower):
        return -upper, -upper_rate
    return -lower, -lower_rate


def _choose(p, m, phi, rate, ended):
    lag, piece = p[1] / p[0], m[0]
    above, below = phi - p[2], -phi - p[2]
    upper, lower = above + lag * min(0.0, rate), below + lag * min(0.0, -rate)
    if ended:
        if piece == _UPPER:
            m[0] = _LEFT_UPPER if above > _BEYOND else _FREE
        elif piece == _LOWER:
            m[0] = _LEFT_LOWER if below > _BEYOND else _FREE
        elif piece == _LEFT_UPPER:
            m[0] = _FREE if above < -upper else _UPPER
        elif piece == _LEFT_LOWER:
            m[0] = _FREE if below < -lower else _LOWER
        else:
            m[0] = _UPPER if upper > lower else _LOWER
        return
    left = -max(upper, lower)
    if piece == _UPPER:
        left = upper
    elif piece == _LOWER:
        left = lower
    elif piece == _LEFT_UPPER:
        left = min(above, -upper)
    elif piece == _LEFT_LOWER:
        left = min(below, -lower)
    if piece == 0.0 or left < -_BEYOND:
        if above > 0.0:
            m[0] = _UPPER if upper > 0.0 else _LEFT_UPPER
        elif below > 0.0:
            m[0] = _LOWER if lower > 0.0 else _LEFT_LOWER
        else:
            m[0] = _FREE


Backlash.law = Law("backlash", _respond, margin=_margin, choose=_choose)
