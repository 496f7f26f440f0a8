"""Signals of a model that diagrams can take by name, with their units: what a sensor can be put to."""

from __future__ import annotations

from typing import NamedTuple

from ..model.component import Flat
from ..model.item import GROUND

COORDINATE, RATE, POSITION, ROTATION, VELOCITY, ANGULAR_VELOCITY, ACCELERATION, FORCE = range(8)
"""What is measured."""
_OF_BODIES = (
    ("position", POSITION, "m", "xyz"),
    ("rotation", ROTATION, "1", "wxyz"),
    ("velocity", VELOCITY, "m/s", "xyz"),
    ("angular_velocity", ANGULAR_VELOCITY, "rad/s", "xyz"),
    ("acceleration", ACCELERATION, "m/s²", "xyz"),
)


class Signal(NamedTuple):
    """A signal of the model."""

    name: str
    unit: str
    what: int
    owner: str
    """Joint, body, marker or drive that it belongs to."""
    part: int
    """Which of its coordinates or components, from 0."""


def signals_of(flat: Flat) -> dict[str, Signal]:
    """Every signal that diagrams of a model can take, by name.

    Coordinates and rates of joints, pose and motion of bodies and markers, and forces of drives. Accelerations and
    forces are those at the end of the last step.
    """
    found: dict[str, Signal] = {}

    def note(name: str, unit: str, what: int, owner: str, part: int) -> None:
        found.setdefault(name, Signal(name, unit, what, owner, part))

    for joint in flat.joints.values():
        k = 0
        for motion in joint.motions():
            for i, rate in enumerate(motion.rates):
                if not motion.ball:
                    note(f"{joint.name}.{motion.coordinates[i]}", motion.unit, COORDINATE, joint.name, k)
                note(f"{joint.name}.{rate}", motion.rate_unit, RATE, joint.name, k)
                k += 1
    moving = [marker.name for marker in flat.markers.values() if marker.body != GROUND]
    for owners in (list(flat.bodies), moving):
        for owner in owners:
            for quantity, what, unit, axes in _OF_BODIES:
                for i, axis in enumerate(axes):
                    note(f"{owner}.{quantity}.{axis}", unit, what, owner, i)
    for drive in flat.drives.values():
        driven = flat.joints.get(drive.joint)
        if driven is None:
            continue
        units = [m.unit for m in driven.motions() for _ in m.rates]
        names = [rate.removesuffix("_rate") for rate in driven.rates]
        k = names.index(drive.coordinate) if drive.coordinate in names else 0
        slides = bool(units) and units[min(k, len(units) - 1)] == "m"
        note(f"{drive.name}.force", "N" if slides else "N m", FORCE, drive.name, 0)
    return found
