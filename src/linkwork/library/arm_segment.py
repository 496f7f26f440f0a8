"""A segment of a robot's arm: a link on a driven hinge."""

from __future__ import annotations

from ..engine.elements import PositionServo, VelocityServo
from ..model import Body, Capsule, Component, Cylinder, Hinge
from ..model.errors import LinkworkError, nearest
from ..model.rotation import Vector, frame_from_axis, quaternion

DRIVES = ("none", "position", "velocity")


def arm_segment(
    *,
    length: float = 0.5,
    mass: float = 3.0,
    radius: float = 0.04,
    axis: Vector = (0.0, 1.0, 0.0),
    limits: tuple[float, float] | None = None,
    mount_mass: float = 1.0,
    drive: str = "none",
    stiffness: float = 2000.0,
    damping: float = 100.0,
    strength: float = 200.0,
) -> Component:
    """A link that turns against its mount; weld the mount of the next one to its end.

    Origin: at the hinge; the link lies along x and ends at (length, 0, 0).

    Ports: `mount`, the housing of the hinge, whose frame stands at the origin; `link`, whose frame stands there too.
    Its hinge is `joint`; with a drive, its motor is `motor`, told by `sim.command("....motor", value)`.

    * length [m], mass [kg] and radius [m] of the link, a rod with round ends; mount_mass of the housing [kg];
    * axis of the hinge, in the component's axes; limits: lowest and highest angle [rad];
    * drive: "none", "position" (a servo of stiffness [N m/rad] and damping [N m s/rad]) or "velocity", both of at most
      strength [N m].
    """
    # Many arguments: parameters of a part, each with a default, told by name.
    if drive not in DRIVES:
        raise LinkworkError(f"arm_segment: drive '{drive}' is not known{nearest(drive, DRIVES)}")
    part = Component("arm_segment", ports=("mount", "link"))
    along = quaternion(frame_from_axis((1.0, 0.0, 0.0)))
    across = quaternion(frame_from_axis(axis))
    housing = Cylinder(1.6 * radius, 3.0 * radius, rotation=across)
    rod = Capsule(radius, length, at=(length / 2, 0.0, 0.0), rotation=along)
    part.add(Body("mount", mass=mount_mass, shapes=(housing,), color="#4a5560"))
    part.add(Body("link", mass=mass, shapes=(rod,), color="#e08a1e"))
    part.add(Hinge("joint", "mount", "link", axis=axis, limits=limits))
    if drive == "position":
        part.add(PositionServo("motor", "joint", stiffness=stiffness, damping=damping, strength=strength))
    elif drive == "velocity":
        part.add(VelocityServo("motor", "joint", strength=strength))
    return part
