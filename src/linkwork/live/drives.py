"""How an operator moves a drive: the range of its lever, and what it means."""

from __future__ import annotations

import math
from typing import NamedTuple

from ..elements import DCMotor, Drive, PositionServo, TorqueSource, VelocityServo
from ..model import Flat
from ..signals import Sine, Table

_UNITS: dict[type[Drive], tuple[str, str]] = {
    TorqueSource: ("N m", "N"),
    VelocityServo: ("rad/s", "m/s"),
    PositionServo: ("rad", "m"),
    DCMotor: ("of nominal voltage", "of nominal voltage"),
}
# Where the model gives no hint of a sensible range: turns [rad], ways [m], rates, torques.
_ANGLE, _WAY, _RATE, _TORQUE = math.pi, 1.0, 10.0, 10.0


class Lever(NamedTuple):
    """The range of a drive's command."""

    drive: str
    unit: str
    low: float
    high: float
    command: float
    """At the start."""
    coordinate: str
    """Name of the coordinate that it moves."""
    automatic: bool
    """True if a signal over time scales the command; the lever is then a factor."""


def levers(flat: Flat, automatic: bool) -> list[Lever]:
    """Of all drives; not `automatic`, of drives without their signals."""
    return [_lever(flat, drive, automatic and drive.signal is not None) for drive in flat.drives.values()]


def _lever(flat: Flat, drive: Drive, automatic: bool) -> Lever:
    joint = flat.joints[drive.joint]
    name = drive.coordinate or joint.coordinates[0]
    place = joint.coordinates.index(name) if name in joint.coordinates else 0
    turns = name not in ("travel", "x", "y") and joint.coordinates[0] != "travel"
    motions = {motion.name: motion for motion in joint.motions()}
    if name in motions:
        turns = motions[name].rot != 0.0
    coordinate = f"{joint.name}.{name}"
    if automatic:
        most = max(2.0 * abs(drive.command), 1.0)
        return Lever(drive.name, "× signal", 0.0, most, drive.command, coordinate, True)
    unit = _UNITS.get(type(drive), ("", ""))[0 if turns else 1]
    bounds = joint.bounds()
    low, high = bounds[min(place, len(bounds) - 1)]
    reach = _largest(drive)
    if isinstance(drive, DCMotor):
        low, high = -1.0, 1.0
    elif isinstance(drive, PositionServo) and (low is None or high is None):
        span = 1.25 * reach if reach > 0.0 else (_ANGLE if turns else _WAY)
        low, high = (-span if low is None else low), (span if high is None else high)
    elif not isinstance(drive, PositionServo):
        strength = getattr(drive, "strength", math.inf)
        usual = _RATE if isinstance(drive, VelocityServo) else min(strength, _TORQUE)
        most = 2.0 * reach if reach > 0.0 else usual
        low, high = -most, most
    assert low is not None
    assert high is not None
    command = min(max(drive.command, low), high)
    return Lever(drive.name, unit, low, high, command, coordinate, False)


def _largest(drive: Drive) -> float:
    """The largest command that the model itself ever gives."""
    signal = drive.signal
    if isinstance(signal, Table):
        factor = max(map(abs, signal.values), default=0.0)
    elif isinstance(signal, Sine):
        factor = abs(signal.offset) + abs(signal.amplitude)
    else:
        factor = 1.0
    return abs(drive.command) * factor
