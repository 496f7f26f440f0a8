"""Tyres of a car as linear theory sees them: at no slip, or by the secants at what carries a lateral acceleration."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..model.errors import LinkworkError
from ..model.rotation import matrix
from .suspensions.base import GRAVITY

if TYPE_CHECKING:
    from ..model.tyres import Tyre
    from .car import Car

_SMALL = 1e-6  # tangent of a slip angle, and camber, that count as none
_LARGEST = 0.5  # tangent of a slip angle up to which a force is looked for
_HALVINGS = 60


class LinearTyre(NamedTuple):
    """Both tyres of an axle together."""

    stiffness: float
    """Cornering stiffness [N/rad]."""
    trail: float
    """How far behind the wheels' centres the force acts [m]."""
    relaxation: float
    """Of the lateral force [m]."""
    settling: float
    """Damping of the carcass over its stiffness [s]."""
    camber: float
    """Force to the left per camber, positive if the top leans to the right [N/rad]."""


def linear_tyres(car: Car, lateral: float = 0.0) -> tuple[LinearTyre, LinearTyre]:
    """Of the front and of the rear axle, at a steady lateral acceleration [m/s²]: both carry it by their loads."""
    tyres = [tyre for tyre in car.tyres if tyre is not None]
    if len(tyres) < 2:
        raise LinkworkError("linear theory needs handling tyres; choose tyre brush, or a file")
    front, rear = (
        _linear(tyre, load, lateral / GRAVITY) for load, tyre in zip(wheel_loads(car), tyres, strict=True)
    )
    return front, rear


def wheel_loads(car: Car) -> tuple[float, float]:
    """Below a front and a rear wheel at rest, by the moments of all that the car weighs [N]: rack, tie rods and links
    lie before or behind their axles."""
    mass, middle, _ = whole(car)
    a, b = car.arms[0] - middle, car.arms[1] + middle
    each = 0.5 * mass * GRAVITY / (a + b)
    return each * b, each * a


def whole(car: Car) -> tuple[float, float, float]:
    """Mass of a car [kg], how far its centre is ahead of the chassis' [m], moment of inertia about it [kg m²]."""
    found = []
    for body in car.component().flatten().bodies.values():
        mass, com, inertia = body.mass_properties
        R = matrix(body.rotation)
        x, y, _ = np.add(body.at, R @ np.asarray(com))
        found.append((mass, x, y, float((R @ np.asarray(inertia) @ R.T)[2, 2])))
    masses, x, y, own = np.array(found).T
    middle = masses @ x / masses.sum()
    return float(masses.sum()), float(middle), float(own.sum() + masses @ ((x - middle) ** 2 + y**2))


def _linear(tyre: Tyre, load: float, share: float) -> LinearTyre:
    """Of a tyre that carries its load, and this share of it aside."""
    from ..engine.tyres.patch import DAMP_Y, STIFF_Y
    from .tyre_rig import forces, numbers

    zero = forces(tyre, load=load)
    slip = _slip(tyre, load, abs(share)) if share else _SMALL
    ends = [forces(tyre, load=load, tangent=sign * slip) for sign in (1.0, -1.0)]
    leaning = [forces(tyre, load=load, camber=sign * _SMALL).y for sign in (1.0, -1.0)]
    cornering = (ends[1].y - ends[0].y) / (2.0 * slip)
    trail = -(ends[0].moment - zero.moment) / (ends[0].y - zero.y)
    carcass = numbers(tyre)
    settling = float(carcass[DAMP_Y] / carcass[STIFF_Y])
    relaxation = cornering / float(carcass[STIFF_Y])
    return LinearTyre(2.0 * cornering, trail, relaxation, settling, (leaning[0] - leaning[1]) / _SMALL)


def _slip(tyre: Tyre, load: float, share: float) -> float:
    """Tangent of the slip angle at which a tyre pushes aside by a share of its load."""
    from .tyre_rig import forces

    low, high = 0.0, _LARGEST
    offset = forces(tyre, load=load).y
    if offset - forces(tyre, load=load, tangent=high).y < share * load:
        raise LinkworkError(f"linear theory: tyres do not hold {share:.3g} of their load aside; ask for less")
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        enough = offset - forces(tyre, load=load, tangent=middle).y > share * load
        low, high = (low, middle) if enough else (middle, high)
    return high


__all__ = ["LinearTyre", "linear_tyres", "wheel_loads", "whole"]
