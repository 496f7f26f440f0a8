"""The screw joint."""

from math import tau

from ..item import Number
from .base import ALIGN_Z, AX, AY, D, Joint, Motion, Z, item


@item
class Screw(Joint):
    """Rotation about the axis that advances along it by `pitch` a turn.

    Coordinate: `angle` [rad]; rate `angle_rate` [rad/s].
    """

    kind = "screw"

    pitch: Number
    """Advance along the axis per turn [m]; negative for a left-hand thread."""

    def motions(self) -> tuple[Motion, ...]:
        return (Motion(Z, 1.0, self.pitch / tau, "angle"),)

    def equations(self) -> tuple[tuple[int, int], ...]:
        return ((AX, D), (AY, D), *ALIGN_Z)
