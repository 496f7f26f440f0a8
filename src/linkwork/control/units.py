"""Units of wires: which fit each other."""

from __future__ import annotations

from ..model.component import Flat

_SAME = {
    "Nm": "N m",
    "N*m": "N m",
    "N·m": "N m",
    "": "1",
    "-": "1",
    "none": "1",
    "m/s^2": "m/s²",
    "rad/s^2": "rad/s²",
}
_OF_COMMANDS = {"force": ("N m", "N"), "rate": ("rad/s", "m/s"), "place": ("rad", "m")}


def fits(unit: str, wanted: str) -> bool:
    """Whether a wire of one unit may go where another is wanted."""
    a, b = _plain(unit), _plain(wanted)
    return a == b or {a, b} == {"rad", "1"}  # an angle is the ratio of two lengths


def _plain(unit: str) -> str:
    unit = " ".join(unit.split())
    return _SAME.get(unit, unit)


def command_unit(flat: Flat, drive: str) -> str | None:
    """Unit of the commands of a drive; None if it is not known."""
    found = flat.drives.get(drive)
    joint = flat.joints.get(found.joint) if found is not None else None
    if found is None or joint is None:
        return None
    if found.full_command:
        return "1"
    if found.command_unit not in _OF_COMMANDS:
        return found.command_unit or None
    slides = [motion.rot == 0.0 and not motion.ball for motion in joint.motions() for _ in motion.rates]
    names = [rate.removesuffix("_rate") for rate in joint.rates]
    k = names.index(found.coordinate) if found.coordinate in names else 0
    return _OF_COMMANDS[found.command_unit][1 if slides and slides[k] else 0]
