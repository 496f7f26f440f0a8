"""The belt of a track below a wheel: a footprint of points that slip, each by itself.

The belt does not turn with the wheel's spin: where it lies on the road it moves with the wheel's centre, back at the
speed of the belt, and yaws with what carries the wheel. At (ξ, η) of the footprint it slides at

    v = (V_x - ψ' η, V_y + ψ' ξ),   each of n points with -µ N/n v/|v|

(Wong, "Theory of Ground Vehicles", skid steering). With D = Σ µ N/(n |v|) the forces are F_x = -D V_x + Σ µ N/(n |v|)
ψ' η and F_y = -D V_y - Σ µ N/(n |v|) ψ' ξ, in the form that deflections of the pads follow (`patch.py`). On a row of
wheels, whose footprints make one, turning on the spot takes µ W L/4.
"""

import math

from ..kernels.called import EACH
from ..kernels.jit import kernel
from ..kernels.math3 import dot3, norm3, scale3, sub3
from .patch import DAMP_X, DAMP_Y, SLIP, find_patch, slip_of, write_rows

GRIP, LENGTH, WIDTH = range(SLIP, SLIP + 3)
"""Places of a belt's numbers: friction [1], length and width of the footprint [m]."""
_ALONG, _ACROSS = 6, 2  # points that slip
_SLOW = 0.01  # speed below which a footprint that turns on the spot is as in oil [m/s]
_SMOOTH = (
    0.5  # half of a point's share of the footprint: nearer to what it turns about, it counts as so far away
)


@kernel
def belt_slip(own, load, friction, slip_x, slip_y, yaw):
    """What the law says along both axes, and the moment about the normal as -damping yaw + moment: (along, across,
    damping [N m s/rad], moment [N m])."""
    d_x, d_y = own[DAMP_X], own[DAMP_Y]
    if load <= 0.0 or friction <= 0.0:
        return slip_of(0.0, 1.0, d_x, 0.0), slip_of(0.0, 1.0, d_y, 0.0), 0.0, 0.0
    cell_x, cell_y = own[LENGTH] / _ALONG, own[WIDTH] / _ACROSS
    grip = friction * own[GRIP] * load
    share = grip / (_ALONG * _ACROSS)
    near = (_SMOOTH * yaw) ** 2 * (cell_x * cell_x + cell_y * cell_y)
    slides, inverse, turned_x, turned_y, damping, moment = True, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(_ALONG):
        xi = (i + 0.5) * cell_x - 0.5 * own[LENGTH]
        for j in range(_ACROSS):
            eta = (j + 0.5) * cell_y - 0.5 * own[WIDTH]
            v_x, v_y = slip_x - yaw * eta, slip_y + yaw * xi
            square = v_x * v_x + v_y * v_y + near
            if square > 0.0:
                each = share / math.sqrt(square)
                inverse += each
                turned_x += each * eta
                turned_y -= each * xi
            else:
                slides = False
            each = share / math.sqrt(square + _SLOW * _SLOW)
            damping += each * (xi * xi + eta * eta)
            moment += each * (eta * slip_x - xi * slip_y)
    speed = grip / inverse if slides else 0.0
    along = slip_of(grip, speed, d_x, turned_x * yaw)
    return along, slip_of(grip, speed, d_y, turned_y * yaw), damping, moment


@kernel
def belt_tyre(t, block, numbers, own, out):
    """Rows of a belt below a wheel."""
    patch = find_patch(block, numbers, own)
    w = (block[12], block[13], block[14])
    # About the part of the normal across the axle, so that the wheel's spin is no turning of the belt.
    up = sub3(patch.n, scale3(dot3(patch.n, patch.axle), patch.axle))
    size = norm3(up)
    up = scale3(1.0 / size, up) if size > 0.0 else patch.n
    along, across, damping, moment = belt_slip(
        own, patch.load, patch.friction, patch.slip_x, patch.slip_y, dot3(w, up)
    )
    write_rows(patch, own, along, across, up, out)
    out[EACH * 3 + 8] = moment
    out[EACH * 3 + 9] = -damping


__all__ = ["belt_slip", "belt_tyre"]
