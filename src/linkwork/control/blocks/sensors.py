"""Sensors that a signal of the model is not enough for; any signal can be taken by its name."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Self

from pydantic import model_validator

from ...model.block import Block, Port
from ...model.item import BodyName, JointName, LocalOffset, LocalOrientation, Positive, TouchingName, item
from ...model.rotation import IDENTITY

_ORIGIN, _UP = (0.0, 0.0, 0.0), (0.0, 0.0, 1.0)


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


@item
class ContactSensor(Block):
    """Feels what pushes on a body: the sum of its contacts, or of those with one other body or piece of scenery.

    Outputs: force `x`, `y`, `z` [N] in world axes, friction included, its size `force` [N], and `touching` [1]: 1 where
    that is not zero. Forces are means over the last step, looked at every `sample_time` and held until the next time.
    """

    kind = "contact_sensor"

    body: BodyName
    """The body that feels; it must have a material."""
    other: TouchingName | None = None
    """The body or scenery whose push is felt; by default that of everything."""
    sample_time: Positive = 0.01
    """Time between looks [s]; in steps of fixed size it looks at the end of the first step from then on."""

    def ports(self) -> tuple[Port, ...]:
        return (*(Port(name, "N") for name in ("x", "y", "z", "force")), Port("touching", "1"))


@item
class LoadCell(Block):
    """Measures what a joint transmits: force and torque of its body a on its body b, in world axes.

    Outputs: `fx`, `fy`, `fz` [N], and `tx`, `ty`, `tz` [N m] at the joint's frame on the outer body, looked at every
    `sample_time` and held until the next time. Methods that do not know reactions of joints refuse it.
    """

    kind = "load_cell"

    joint: JointName
    """The joint."""
    sample_time: Positive = 0.01
    """Time between looks [s]; in steps of fixed size it looks at the end of the first step from then on."""

    def ports(self) -> tuple[Port, ...]:
        return (*(Port(f"f{axis}", "N") for axis in "xyz"), *(Port(f"t{axis}", "N m") for axis in "xyz"))


@item
class RangeFinder(Block):
    """Measures how far it is, along a ray from a body, to the first shape of scenery or of another body.

    Outputs: `distance` [m], that of `reach` if nothing is nearer, and `hit` [1]: 1 where something is. It sees shapes
    as contact does (meshes as their convex parts, a torus with its hole closed), with a material or without, and looks
    every `sample_time`; what it saw is held until the next time.
    """

    kind = "range_finder"

    body: BodyName
    """The body that carries it, of which it sees nothing."""
    _: KW_ONLY
    at: LocalOffset = _ORIGIN
    """Where the ray begins, in the body's frame [m]."""
    direction: LocalOffset = _UP
    """Where it points, in the body's frame; of any length but zero [1]."""
    reach: Positive = 10.0
    """How far it sees [m]."""
    sample_time: Positive = 0.01
    """Time between looks [s]; in steps of fixed size it looks at the end of the first step from then on."""

    @model_validator(mode="after")
    def _points(self) -> Self:
        if not any(self.direction):
            raise ValueError("direction must not be the zero vector")
        return self

    def ports(self) -> tuple[Port, ...]:
        return Port("distance", "m"), Port("hit", "1")


LOOKING = (ContactSensor, LoadCell, RangeFinder)
"""Sensors that look between steps, at instants of their own."""
SENSORS = (IMU, *LOOKING)
