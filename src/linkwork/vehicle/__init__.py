"""Vehicles: wheels with suspension, spring and drive, each chosen by a few words or described by hard points.

`wheel(suspension="macpherson", ...)` is a component with bodies, joints, spring, limits and motor; `fit` places it at a
chassis. Equations and names: Strashnov and Torgashev, on the dynamics of suspensions of wheeled robots.
"""

from .constructor import Wheel, fit, wheel
from .springs import Coil, HubMotor, Torsion
from .suspensions import (
    SUSPENSIONS,
    DoubleLongitudinal,
    DoubleTransverse,
    MacPherson,
    SlidingPillar,
    SwingAxle,
    TrailingArm,
)
from .travel import Travel
from .tyres import Brush, Magic

__all__ = [
    "SUSPENSIONS",
    "Brush",
    "Coil",
    "DoubleLongitudinal",
    "DoubleTransverse",
    "HubMotor",
    "MacPherson",
    "Magic",
    "SlidingPillar",
    "SwingAxle",
    "Torsion",
    "TrailingArm",
    "Travel",
    "Wheel",
    "fit",
    "wheel",
]  # fmt: skip
