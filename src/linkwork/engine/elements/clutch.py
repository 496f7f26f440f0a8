"""A clutch between two joints: a brake of the one against the other."""

from __future__ import annotations

from typing import ClassVar

from ...model.drive import PairDrive
from ...model.item import item
from .brake import Brake, BrakeNumbers
from .law import Law


@item
class Clutch(BrakeNumbers, PairDrive):
    """A clutch between two joints; the command is how hard it is pressed, 0 to 1.

    What it holds together is the coordinate of `joint` and `ratio` times that of `other`: one gear of a gearbox with a
    clutch for each, or, between the wheels of an axle, a differential that is locked or limits slip.
    """

    kind = "clutch"
    law: ClassVar[Law] = Brake.law
    supplies: ClassVar[bool] = False
    command_unit: ClassVar[str] = "1"
    full_command: ClassVar[str] = "the whole torque"
