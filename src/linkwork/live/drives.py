"""How an operator moves a drive: the range of its lever, and what it means."""

from __future__ import annotations

import math
from typing import NamedTuple

from ..engine.elements import Drive
from ..model import Flat, Sine, Table

# Units of commands on joints that turn, and that slide.
_UNITS = {"force": ("N m", "N"), "rate": ("rad/s", "m/s"), "place": ("rad", "m")}
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

    @property
    def springs_back(self) -> bool:
        """Whether it goes to zero when it is let go: drives of places stay, and those that the model itself runs."""
        return self.command == 0.0 and not self.automatic and self.unit not in _UNITS["place"]


def levers(flat: Flat, automatic: bool) -> list[Lever]:
    """Of all drives but those that the control diagram commands; not `automatic`, of drives without their signals."""
    commanded = {getattr(block, "drive", None) for block in flat.control.values()}
    return [
        _lever(flat, drive, automatic and drive.signal is not None)
        for drive in flat.drives.values()
        if drive.name not in commanded
    ]


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
    what = drive.command_unit
    unit = f"of {drive.full_command}" if drive.full_command else _UNITS[what][0 if turns else 1]
    bounds = joint.bounds()
    low, high = bounds[min(place, len(bounds) - 1)]
    reach = _largest(drive)
    if drive.full_command:
        low, high = -1.0, 1.0
    elif what == "place" and (low is None or high is None):
        span = 1.25 * reach if reach > 0.0 else (_ANGLE if turns else _WAY)
        low, high = (-span if low is None else low), (span if high is None else high)
    elif what != "place":
        usual = _RATE if what == "rate" else min(drive.bound, _TORQUE)
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
