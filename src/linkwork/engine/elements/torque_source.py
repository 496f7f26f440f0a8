"""A torque or force on command."""

from __future__ import annotations

from typing import ClassVar

from ...model.drive import Drive
from ...model.item import item
from .law import Law, Response


@item
class TorqueSource(Drive):
    """A torque or force between the bodies of a joint; the command is its size [N m or N]."""

    kind = "torque_source"
    law: ClassVar[Law]


def _respond(p, m, x, phi, rate, u):
    return Response(u, 0.0, 0.0, 0.0, 0.0, u * rate, 0.0)


TorqueSource.law = TORQUE = Law("torque", _respond)
