"""Sensors that a signal of the model is not enough for; any signal can be taken by its name."""

from __future__ import annotations

from dataclasses import KW_ONLY

from ...model.block import Block, Port
from ...model.item import BodyName, LocalOffset, LocalOrientation, item
from ...model.rotation import IDENTITY

_ORIGIN = (0.0, 0.0, 0.0)


@item
class IMU(Block):
    """An inertial measurement unit on a body, in axes of its own.

    Outputs: angular velocity `wx`, `wy`, `wz` [rad/s], and specific force `ax`, `ay`, `az` [m/s²], the acceleration
    less gravity: at rest it is 9.81 upwards. Accelerations are those at the end of the last step; of methods with
    impulses, the mean over it.
    """

    kind = "imu"

    body: BodyName
    """The body that carries it."""
    _: KW_ONLY
    at: LocalOffset = _ORIGIN
    """Where it sits, in the body's frame [m]."""
    rotation: LocalOrientation = IDENTITY
    """How its axes are turned against the body's."""

    def ports(self) -> tuple[Port, ...]:
        turns = tuple(Port(name, "rad/s") for name in ("wx", "wy", "wz"))
        return turns + tuple(Port(name, "m/s²") for name in ("ax", "ay", "az"))


SENSORS = (IMU,)
