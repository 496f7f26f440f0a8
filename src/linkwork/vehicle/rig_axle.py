"""An axle on its rig: what its rack does to both wheels, by how much Ackermann's condition is missed, and what a
suspension of both wheels does as they roll."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..model.errors import LinkworkError
from ..model.rotation import Array
from .axle import Axle
from .pair import wheel_angles
from .rig import Curves, line


class Steering(NamedTuple):
    """Both wheels over the steering wheel's angle, at the neutral place; angles positive to the left, as ISO 8855 has
    them."""

    wheel_angle: Array
    """Of the steering wheel [rad]."""
    rack: Array
    """Way of the rack to the left [m]."""
    left: Array
    """Steer angle of the left wheel [rad]."""
    right: Array
    """Steer angle of the right wheel [rad]."""
    ackermann_error: Array
    """By how much the outer wheel is steered more than on a circle about one point with the inner one [rad]."""
    ratio: Array
    """Way of the steering wheel per mean way of the wheels, there [1]."""
    camber_left: Array
    """[rad]"""
    camber_right: Array
    """[rad]"""
    caster_left: Array
    """[rad]"""
    scrub_left: Array
    """[m]"""
    trail_left: Array
    """[m]"""


class Rolling(NamedTuple):
    """An axle of two wheels, one of them up and the other down, against the chassis."""

    lift: Array
    """Of the left wheel's centre; the right one goes down as far [m]."""
    roll: Array
    """Of the line through the wheels' centres, positive if the left one is higher [rad]."""
    steer: Array
    """Mean steer angle of the wheels, to the left [rad]."""
    camber_left: Array
    """[rad]"""
    camber_right: Array
    """[rad]"""
    aside: Array
    """How far the middle between the wheels' centres has moved to the left [m]."""
    ahead: Array
    """How far the middle between the wheels' centres has moved forward [m]."""


def steering_curves(axle: Axle, wheelbase: float, count: int = 21) -> Steering:
    """Over the travel of the rack, at equal steps; `wheelbase` [m] for Ackermann's condition."""
    if axle.steering is None:
        raise LinkworkError("axle: has no steering rack to be moved; give steering")
    if not wheelbase > 0.0:
        raise LinkworkError(f"the wheelbase must be greater than 0 (got {wheelbase:g} m)")
    if count < 2:
        raise LinkworkError(f"a curve needs at least 2 points (got {count})")
    left, rack = axle.left, axle.steering
    way, turn = rack.way(left.radius), rack.turn(left.radius)
    sign = axle.to_left
    lines = []
    for share in np.linspace(-1.0, 1.0, count):
        s = sign * way * float(share)
        # The right wheel is the mirror image of a left one whose rack goes the other way.
        here, there = (_curves_at(axle, x) for x in (s, -s))
        angle = s / sign / turn * math.tau
        deltas = -float(here.toe), float(there.toe)
        rate = 0.5 * sign * (_turning(axle, s) + _turning(axle, -s))
        lines.append(
            (
                angle, s, *deltas, _ackermann(*deltas, axle.track / wheelbase),
                math.tau / (turn * rate), here.camber, there.camber, here.caster, here.scrub, here.trail,
            )
        )  # fmt: skip
    return Steering(*np.array(lines).T)


def _curves_at(axle: Axle, rack: float) -> Curves:
    """What the left wheel does with the rack there, as numbers."""
    return Curves(*line(axle.left, axle.left.chain.at_height(0.0, rack), axle.half))  # type: ignore[arg-type]


def _turning(axle: Axle, rack: float) -> float:
    """How fast the left wheel is steered to the left per way of its rack, at the neutral place [rad/m]."""
    chain = axle.left.chain
    pose = chain.at_height(0.0, rack)
    turning = chain.steered(pose, [chain.height_row(0.0)])[chain.carrier, 0]
    x, y, _ = axis = pose.R[chain.carrier][:, 1]
    dx, dy, _ = np.cross(turning, axis)
    return float((x * dy - dx * y) / (x * x + y * y))


def _ackermann(left: float, right: float, slender: float) -> float:
    """What the outer wheel is steered beyond arccot(cot δ_inner + track/wheelbase)."""
    inner, outer = (left, right) if left + right > 0.0 else (-right, -left)
    if inner <= 0.0:
        return outer - inner if inner == 0.0 else math.nan
    return outer - math.atan(1.0 / (1.0 / math.tan(inner) + slender))


def rolling_curves(axle: Axle, count: int = 21) -> Rolling:
    """Of an axle that carries both wheels, over as much lift of the one as its travel allows both ways."""
    if not axle.whole:
        raise LinkworkError(
            f"suspension '{axle.wheel.kind}': each wheel moves by itself; the rig shows it over its travel"
        )
    if count < 2:
        raise LinkworkError(f"a curve needs at least 2 points (got {count})")
    pair, most = axle.pair, min(-axle.wheel.travels[0], axle.wheel.travels[1])
    lines = []
    for z in np.linspace(-most, most, count):
        pose = pair.at_heights(float(z), -float(z))
        hubs = [pose.point(b, x) for b, x in zip(pair.carriers, pair.centres, strict=True)]
        angles = [wheel_angles(pose.R[body], side) for side, body in enumerate(pair.carriers)]
        across, middle = hubs[0] - hubs[1], 0.5 * (hubs[0] + hubs[1])
        roll = math.atan2(across[2], math.hypot(across[0], across[1]))
        steer = 0.5 * (angles[1][1] - angles[0][1])
        lines.append((float(z), roll, steer, angles[0][0], angles[1][0], middle[1], middle[0]))
    return Rolling(*np.array(lines).T)


def anti(curves: Curves, wheelbase: float, height: float, share: float) -> Array:
    """Share of the load transfer in braking that links carry instead of springs, for a front axle: anti-dive [1].

    Of a rear axle its negative, anti-lift. `height` of the centre of mass over the road [m]; `share` of the brake force
    on this axle.
    """
    found: Array = share * np.tan(curves.support_braking) * wheelbase / height
    return found
