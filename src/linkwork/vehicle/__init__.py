"""Vehicles: wheels with suspension, spring and drive, each chosen by a few words or described by hard points.

`wheel(suspension="macpherson", ...)` is a component with bodies, joints, spring, limits and motor; `fit` places it at a
chassis. Equations and names: Strashnov and Torgashev, on the dynamics of suspensions of wheeled robots.
"""

from .axle import Axle, axle
from .car import Car, car
from .constructor import Wheel, fit, wheel
from .drivelines import Driveline, WheelBrake
from .driver import Driver, Path, circle, drive_by
from .single_track import SingleTrack
from .springs import Coil, HubMotor, Torsion
from .steering import AntiRollBar, Rack
from .suspensions import (
    AXLES,
    OF_THE_PAPER,
    SUSPENSIONS,
    DoubleLongitudinal,
    DoubleTransverse,
    DoubleWishbone,
    MacPherson,
    MacPhersonStrut,
    MultiLink,
    SlidingPillar,
    SolidAxle,
    SwingAxle,
    TrailingArm,
    TwistBeam,
)
from .tracks import Track, track
from .travel import Travel
from .tyres import Brush, Magic

__all__ = [
    "AXLES",
    "OF_THE_PAPER",
    "SUSPENSIONS",
    "AntiRollBar",
    "Axle",
    "Brush",
    "Car",
    "Coil",
    "DoubleLongitudinal",
    "DoubleTransverse",
    "DoubleWishbone",
    "Driveline",
    "Driver",
    "HubMotor",
    "MacPherson",
    "MacPhersonStrut",
    "Magic",
    "MultiLink",
    "Path",
    "Rack",
    "SingleTrack",
    "SlidingPillar",
    "SolidAxle",
    "SwingAxle",
    "Torsion",
    "Track",
    "TrailingArm",
    "Travel",
    "TwistBeam",
    "Wheel",
    "WheelBrake",
    "axle",
    "car",
    "circle",
    "drive_by",
    "fit",
    "track",
    "wheel",
]  # fmt: skip
