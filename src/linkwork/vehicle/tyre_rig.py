"""The tyre rig: forces and moments of a rolling tyre over its slip, steady, as its law has them."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..model.errors import LinkworkError
from ..model.rotation import Array
from ..model.tyres import BrushTyre, MagicTyre, Tyre


class Forces(NamedTuple):
    """Of the road on a tyre, in axes of ISO 8855."""

    x: float
    """Forward [N]."""
    y: float
    """To the left [N]."""
    moment: float
    """Aligning moment, about the upward normal [N m]."""


class Curves(NamedTuple):
    """Over slip, one entry for each load and slip."""

    loads: Array
    """[N]"""
    kappa: Array
    """Longitudinal slip [1]: 0 rolling freely, -1 locked."""
    braking: Array
    """Forward force over kappa, a row for each load [N]."""
    alpha: Array
    """Slip angle [rad]: positive where the contact slides to the left."""
    cornering: Array
    """Force to the left over alpha, a row for each load [N]."""
    aligning: Array
    """Aligning moment over alpha, a row for each load [N m]."""


def numbers(tyre: Tyre) -> Array:
    """A tyre's numbers as its law reads them, on no road."""
    return np.array([*tyre.common(), 0.0, 0.0, *tyre.own()])


def forces(
    tyre: Tyre, *, load: float, kappa: float = 0.0, tangent: float = 0.0, camber: float = 0.0, speed: float = 20.0,
    friction: float = 1.0,
) -> Forces:  # fmt: skip
    """Steady forces at a slip and the tangent of a slip angle, a camber [rad] and a speed of the centre [m/s].

    `friction`: of the road, against that on which the tyre was measured.
    """
    from ..engine.tyres.brush import brush_slip
    from ..engine.tyres.magic import magic_moments, magic_slip
    from ..engine.tyres.patch import HAND
    from ..engine.tyres.steady import steady

    if not load > 0.0:
        raise LinkworkError(f"load must be greater than 0 N (got {load:g})")
    own = numbers(tyre)
    slip_x, slip_y = -kappa * abs(speed), tangent * abs(speed)
    if isinstance(tyre, BrushTyre):
        along, across, trail = brush_slip(own, load, friction, slip_x, slip_y, speed - slip_x)
        x, y = steady(along, slip_x), steady(across, slip_y)
        return Forces(x, y, -math.copysign(trail, speed) * y)
    if not isinstance(tyre, MagicTyre):
        raise LinkworkError(f"{tyre.kind} '{tyre.name}' is on no rig: it has no law of slip")
    hand, sense = float(own[HAND]), 1.0 if tyre.read.convention == "ISO" else -1.0
    found: Any = magic_slip(own, load, friction, slip_x, hand * slip_y, speed, hand * camber)
    x = found.offset_x - found.secant_x * slip_x / found.speed
    y = found.offset_y - found.secant_y * hand * slip_y / found.speed
    moment = magic_moments(own, found, load, x, y, hand * camber, speed)[2]
    return Forces(x, sense * hand * y, sense * hand * moment)


def curves(
    tyre: Tyre,
    loads: Any = None,
    *,
    kappa: Any = None,
    alpha: Any = None,
    camber: float = 0.0,
    speed: float = 20.0,
) -> Curves:
    """Over pure slip, longitudinal and lateral, for some loads; by default half, all and one and a half of nominal."""
    nominal = (
        tyre.load if isinstance(tyre, BrushTyre) else tyre.read.load if isinstance(tyre, MagicTyre) else 1.0
    )
    loads = np.array([0.5, 1.0, 1.5]) * nominal if loads is None else np.atleast_1d(np.asarray(loads, float))
    kappa = np.linspace(-1.0, 1.0, 81) if kappa is None else np.asarray(kappa, float)
    alpha = np.radians(np.linspace(-20.0, 20.0, 81)) if alpha is None else np.asarray(alpha, float)
    braking = [[forces(tyre, load=n, kappa=k, camber=camber, speed=speed).x for k in kappa] for n in loads]
    turned = [
        [forces(tyre, load=n, tangent=math.tan(a), camber=camber, speed=speed) for a in alpha] for n in loads
    ]
    lateral = np.array(turned)
    return Curves(loads, kappa, np.array(braking), alpha, lateral[:, :, 1], lateral[:, :, 2])


def stiffnesses(tyre: Tyre, load: float) -> tuple[float, float]:
    """Longitudinal force per slip [N] and lateral force per slip angle [N/rad], against it, at no slip."""
    step = 1e-6
    along = [forces(tyre, load=load, kappa=sign * step).x for sign in (1.0, -1.0)]
    across = [forces(tyre, load=load, tangent=sign * step).y for sign in (1.0, -1.0)]
    return (along[0] - along[1]) / (2.0 * step), (across[1] - across[0]) / (2.0 * step)
