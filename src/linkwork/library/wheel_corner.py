"""A corner of a vehicle: a wheel on a trailing arm, sprung by a damper."""

from __future__ import annotations

from ..model import Component, Hinge, Spherical
from ..model.rotation import Vector
from .damper import damper
from .wheel import ACROSS, wheel_on_arm


def wheel_corner(
    *,
    lower_eye: Vector = (0.1, -0.15, 0.32),
    upper_eye: Vector = (0.05, -0.15, 0.75),
    spherical: bool = False,
    wheel: Component | None = None,
    strut: Component | None = None,
) -> Component:
    """A wheel on a trailing arm and the damper that stands on the arm; written for the left side.

    Origin: on the road below the wheel; x forward, y outwards to the left, z up. Place it with `mirror=(0, 1, 0)` on
    the right. To be attached to a chassis: the arm at its pivot, the damper at its upper eye.

    Ports: `hub.arm`, whose frame stands at the arm's pivot; `damper.upper`, whose frame stands at the upper eye.

    * lower_eye, upper_eye: ends of the damper, in the component's axes [m];
    * spherical: a ball at the lower eye instead of a hinge across the vehicle;
    * wheel: what holds the wheel, of ports `arm` and `wheel`; default: `wheel_on_arm()`;
    * strut: what springs it, of ports `lower` and `upper`; default: `damper` between the eyes.
    """
    part = Component("wheel_corner", ports=("hub.arm", "damper.upper"))
    part.add((wheel or wheel_on_arm()).instance("hub"))
    part.add((strut or damper(lower=lower_eye, upper=upper_eye)).instance("damper"))
    if spherical:
        part.add(Spherical("foot", "hub.arm", "damper.lower", at=lower_eye))
    else:
        part.add(Hinge("foot", "hub.arm", "damper.lower", at=lower_eye, axis=ACROSS))
    return part
