"""The brush law: bristles that deflect until friction lets them slide, in a handful of numbers.

With the slip velocity V over the speed of rolling and the stiffnesses C at small slip, s = |C V|/(3 µ N |V_roll|) is
the share of the contact that slides: F = µ N (3 s - 3 s² + s³) up to s = 1, then µ N or what is left of it in sliding
(Pacejka, "Tire and Vehicle Dynamics", section 3.2). Bristles deflect along C V, and slide along V; from the one to the
other the force turns with the share that slides. The lateral force acts behind the middle of the contact: the
pneumatic trail vanishes as that slides.
"""

import math

from ..kernels.jit import kernel
from ..kernels.math3 import add3, scale3
from .patch import (
    DAMP_X,
    DAMP_Y,
    SLIP,
    STIFF_Y,
    Slip,
    deflected_force,
    deflections,
    find_patch,
    slip_of,
    write_rows,
)

NOMINAL, SLIP_STIFFNESS, CORNERING, DEGRESSION, PEAK, SLIDING, TRAIL, RESISTANCE = range(SLIP, SLIP + 8)
"""Places of a tyre's numbers: nominal load [N], slip stiffness [N] and cornering stiffness [N/rad] there, how they fall
behind the load, friction at its peak and in sliding, pneumatic trail [m], rolling resistance [1]."""
_SPENT = 3.0  # share s at which friction has come down to that of sliding
_SLOW = 0.02  # speed over which rolling resistance changes its sign [m/s]


@kernel
def brush_slip(own, load, friction, slip_x, slip_y, rolling):
    """What the law says along both axes, and the pneumatic trail [m]."""
    d_x, d_y = own[DAMP_X], own[DAMP_Y]
    if load <= 0.0 or friction <= 0.0:
        return slip_of(0.0, 1.0, d_x, 0.0), slip_of(0.0, 1.0, d_y, 0.0), 0.0
    share = load / own[NOMINAL]
    bend = own[DEGRESSION]
    turn = 0.5 * (1.0 + bend) / bend if bend > 0.0 else share  # where stiffness would begin to fall
    fall = min(share, turn)
    factor = fall * (1.0 + bend * (1.0 - fall))
    stiff_x, stiff_y = factor * own[SLIP_STIFFNESS], factor * own[CORNERING]
    reach, speed = 3.0 * friction * own[PEAK] * load, abs(rolling)
    sliding = math.sqrt(slip_x * slip_x + slip_y * slip_y)
    pull = math.sqrt((stiff_x * slip_x) ** 2 + (stiff_y * slip_y) ** 2)
    if pull < reach * speed:
        s = pull / (reach * speed)
        even = pull / sliding if sliding > 0.0 else stiff_y
        left = 1.0 - s + s * s / 3.0
        turned = s * s
        k_x = left * (stiff_x + turned * (even - stiff_x))
        k_y = left * (stiff_y + turned * (even - stiff_y))
        trail = own[TRAIL] * math.sqrt(share) * (1.0 - s) ** 3 / left
        return slip_of(k_x, speed, d_x, 0.0), slip_of(k_y, speed, d_y, 0.0), trail
    spent = 1.0
    if pull < _SPENT * reach * speed:
        spent = (pull / (reach * speed) - 1.0) / (_SPENT - 1.0)
    fresh = (1.0 - spent) ** 2 * (1.0 + 2.0 * spent)
    force = friction * load * (own[SLIDING] + fresh * (own[PEAK] - own[SLIDING]))
    return slip_of(force, sliding, d_x, 0.0), slip_of(force, sliding, d_y, 0.0), 0.0


@kernel
def brush_tyre(t, block, numbers, own, out):
    """Rows of a tyre with the brush law."""
    patch = find_patch(block, numbers, own)
    along, across, trail = brush_slip(
        own, patch.load, patch.friction, patch.slip_x, patch.slip_y, patch.rolling
    )
    u_y = deflections(block)[1]
    lateral = deflected_force(across, own[STIFF_Y], own[DAMP_Y], u_y, patch.slip_y)
    # Behind the middle of the contact, whichever way it rolls.
    behind = trail if patch.rolling > 0.0 else -trail
    resisting = own[RESISTANCE] * patch.load * patch.arm * math.tanh(patch.rolling / _SLOW)
    moment = add3(scale3(-behind * lateral, patch.n), scale3(-resisting, patch.axle))
    write_rows(patch, own, along, across, moment, out)


__all__ = ["Slip", "brush_slip", "brush_tyre"]
