"""A suspension on its rig: camber, toe, track and wheelbase over travel, and where a corner rests under a load."""

from __future__ import annotations

import dataclasses
import math
from typing import NamedTuple

import numpy as np

from ..model.errors import LinkworkError
from ..model.rotation import Array
from .constructor import Wheel
from .kinematics import Pose, toe_out
from .springs import Torsion
from .suspensions import Steerable
from .suspensions.base import GRAVITY

_HALVINGS = 200


class Curves(NamedTuple):
    """How the left wheel stands over its travel, against the chassis; angles by ISO 8855."""

    travel: Array
    """Height of the wheel's centre above its neutral place [m]."""
    coordinate: Array
    """Of the suspension [rad or m]."""
    camber: Array
    """Between the wheel's plane and the vertical; positive if the wheel leans outwards at its top [rad]."""
    toe: Array
    """Positive if the wheel points inwards in front [rad]."""
    track: Array
    """How far the contact point has moved outwards [m]."""
    wheelbase: Array
    """How far the contact point has moved forward [m]."""
    wheel_rate: Array
    """Stiffness of the suspension at the contact point under its static load [N/m]."""
    roll_centre: Array
    """Height of the axle's roll centre over the road, for a track of six radii [m]; NaN where it is nowhere."""
    caster: Array
    """Of the kingpin, positive if its top leans back; NaN where there is none to be steered about [rad]."""
    kingpin: Array
    """Inclination of the kingpin, positive if its top leans inwards [rad]."""
    scrub: Array
    """How far the contact point is outside of where the kingpin meets the road [m]."""
    trail: Array
    """How far the contact point is behind of where the kingpin meets the road [m]."""
    support_braking: Array
    """Angle from the vertical, forward, in which the contact point rises, the wheel braked on its carrier [rad]."""
    support_driving: Array
    """Angle from the vertical, forward, in which the wheel's centre rises, the wheel driven by a shaft [rad]."""


class Rest(NamedTuple):
    """Where a corner rests under its load, on a road without friction."""

    coordinate: float
    """[rad or m]"""
    travel: float
    """Of the wheel's centre [m]."""
    stop: float
    """Force of the limit along the coordinate, positive if it pushes towards a larger one [N m or N]; 0 between the
    limits."""


def curves(wheel: Wheel, count: int = 21, track: float | None = None) -> Curves:
    """Over the travel of a wheel, at equal steps of its height; `track` between the wheels, for the roll centre [m]."""
    if count < 2:
        raise LinkworkError(f"a curve needs at least 2 points (got {count})")
    half = 0.5 * (6.0 * wheel.radius if track is None else track)
    low, high = wheel.travels
    wheel = steerable(wheel)
    lines = [line(wheel, wheel.chain.at_height(float(z)), half) for z in np.linspace(low, high, count)]
    return Curves(*np.array(lines).T)


def steerable(wheel: Wheel) -> Wheel:
    """The left wheel with its tie rod on a rack, if it has one."""
    hung = wheel.hung
    if not isinstance(hung, Steerable) or hung.steered:
        return wheel
    return dataclasses.replace(wheel, suspension=dataclasses.replace(hung, steered=True))


def line(wheel: Wheel, pose: Pose, half: float) -> tuple[float, ...]:
    """A line of `Curves` at a pose of a `steerable` wheel, at half a track from the middle."""
    chain = wheel.chain
    motion = chain.motion_at(pose)
    axle = pose.R[chain.carrier] @ np.array([0.0, 1.0, 0.0])
    here = _contact(wheel, pose)
    moved = _contact_velocity(wheel, pose, motion)
    # The wheel turns about a centre on the line through its contact point square to that point's way.
    centre = half + here[1]
    roll = moved[1] / moved[2] * centre if moved[2] else math.nan
    hub = chain.velocity(chain.carrier, np.zeros(3), pose, motion)
    return (
        chain.height(pose), chain.coordinate(pose), -math.asin(axle[2]), math.atan2(axle[0], axle[1]), float(here[1]),
        float(here[0]), _wheel_rate(wheel, pose), roll, *_kingpin(wheel, pose),
        math.atan2(moved[0], moved[2]), math.atan2(hub[0], hub[2]),
    )  # fmt: skip


def _kingpin(wheel: Wheel, pose: Pose) -> tuple[float, float, float, float]:
    """Caster, inclination, scrub radius and trail of what the wheel turns about as the rack moves, its coordinate held:
    of wishbones and struts the line through their balls."""
    chain = wheel.chain
    if not wheel.parts.rack:
        return (math.nan,) * 4
    turning, shift = chain.steering_at(pose)[chain.carrier]
    u = turning / np.linalg.norm(turning)
    u = math.copysign(1.0, u[2]) * u
    # A point of the axis: the shift is that of the body's point at pose.p.
    point = pose.p[chain.carrier] + np.cross(turning, shift) / float(turning @ turning)
    middle, tube = _rim(wheel)
    contact = pose.p[chain.carrier] + middle * _down(pose.R[chain.carrier]) - np.array([0.0, 0.0, tube])
    foot = point + u * (contact[2] - point[2]) / u[2]
    heading = toe_out(pose.R[chain.carrier])
    c, s = math.cos(heading), math.sin(heading)
    x, y = contact[0] - foot[0], contact[1] - foot[1]
    return math.atan2(-u[0], u[2]), math.atan2(-u[1], u[2]), float(c * y - s * x), float(-c * x - s * y)


def _contact(wheel: Wheel, pose: Pose) -> Array:
    """How the lowest point of the tyre has moved from the neutral pose [m]."""
    carrier = wheel.chain.carrier
    middle, _ = _rim(wheel)
    now: Array = pose.p[carrier] + middle * (_down(pose.R[carrier]) + np.array([0.0, 0.0, 1.0]))
    return now


def _contact_velocity(wheel: Wheel, pose: Pose, motion: Array) -> Array:
    """Of the point of the wheel that is lowest, as one that the carrier holds, per rate of the coordinate [m]."""
    carrier = wheel.chain.carrier
    turning, shift = motion[carrier]
    middle, tube = _rim(wheel)
    arm = middle * _down(pose.R[carrier]) - np.array([0.0, 0.0, tube])
    moved: Array = np.cross(turning, arm) + shift
    return moved


def _rim(wheel: Wheel) -> tuple[float, float]:
    """Radius of the middle of a round tread and of its tube [m]; a flat one has no tube."""
    tube = 0.5 * wheel.breadth if wheel.tread == "round" else 0.0
    return wheel.radius - tube, tube


def _down(R: Array) -> Array:
    """In the plane of the wheel, straight down."""
    axle = R[:, 1]
    down = np.array([0.0, 0.0, -1.0]) + axle[2] * axle
    made: Array = down / np.linalg.norm(down)
    return made


def push(wheel: Wheel, pose: Pose, load: float | None = None) -> float:
    """Force along the coordinate of everything but the limits: road, weights and spring [N m or N].

    `load`: that the corner carries beside its own parts [N]; by default the one it was made for.
    """
    chain, motion = wheel.chain, wheel.chain.motion_at(pose)
    carried = wheel.load if load is None else load
    force = (carried + wheel.weight) * float(_contact_velocity(wheel, pose, motion)[2])
    force -= GRAVITY * wheel.wheel_mass * float(chain.velocity(chain.carrier, np.zeros(3), pose, motion)[2])
    for i, body in enumerate(wheel.parts.bodies):
        mass, com, _ = body.mass_properties
        force -= GRAVITY * mass * float(chain.velocity(i, np.add(body.at, com), pose, motion)[2])
    return force + _sprung(wheel, pose, motion)


def _sprung(wheel: Wheel, pose: Pose, motion: Array) -> float:
    spring = wheel.rated()
    stiffness = spring.stiffness or 0.0
    if isinstance(spring, Torsion):
        return -stiffness * (wheel.chain.coordinate(pose) - (spring.rest or 0.0))
    coil = wheel.parts.coil
    body = [body.name for body in wheel.parts.bodies].index(coil.body)
    foot = np.array(coil.foot, float)
    way = pose.point(body, foot) - np.array(coil.top)
    length = float(np.linalg.norm(way))
    lever = float(way @ wheel.chain.velocity(body, foot, pose, motion)) / length
    return -stiffness * (length - (spring.length or 0.0)) * lever


def _wheel_rate(wheel: Wheel, pose: Pose) -> float:
    """By the change of the load that the suspension balances there over a small travel."""
    chain, step = wheel.chain, 1e-5 * wheel.radius
    here, rack = chain.height(pose), pose.rack
    loads = []
    for z in (here - step, here + step):
        near = chain.at_height(z, rack)
        up = float(_contact_velocity(wheel, near, chain.motion_at(near))[2])
        loads.append(-push(wheel, near) / up)
    return (loads[1] - loads[0]) / (2.0 * step)


def rest(wheel: Wheel, load: float | None = None) -> Rest:
    """Where a corner rests, the chassis upright on it, on a road without friction; `load` as for `push`."""
    chain = wheel.chain
    low, high = sorted(wheel.exact)

    def force(x: float) -> float:
        return push(wheel, chain.at(x), load)

    for x, sign in ((low, 1.0), (high, -1.0)):
        if sign * (left := force(x)) < 0.0:  # it wants to go on beyond the limit
            return Rest(x, chain.height(chain.at(x)), -left)
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        low, high = (middle, high) if force(middle) > 0.0 else (low, middle)
    return Rest(middle, chain.height(chain.at(middle)), 0.0)
