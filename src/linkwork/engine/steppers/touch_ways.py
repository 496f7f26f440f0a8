"""The ways that slots slide, along which their friction is."""

from ..kernels.jit import inlined, kernel
from ..kernels.math3 import add3, cross3, dot3, get3, norm3, scale3, set3, sub3
from .touch_tables import SLIDES

STOPPED = 1e-9
"""What is slower than this does not slide [m/s]."""


@inlined
def slip_of(slot):
    """How fast a point slides, as a vector in the world."""
    axes = slot.axes
    t, s = (axes[3], axes[4], axes[5]), (axes[6], axes[7], axes[8])
    return add3(scale3(slot.rate[1], t), scale3(slot.rate[2], s))


@kernel
def point_ways(touch):
    """Directions of friction for slots that slide: against their slip, seen as in the direction where the step began.

    Beyond the moment at which it stops, slip goes on as if friction did not turn: so the moment can be located. The
    tangents of such slots are the way and what is across it.
    """
    state, slots = touch.state[0], touch.slots
    for k in range(state.slots):
        slot = slots[k]
        if slot.mode != SLIDES or slot.found == 0:
            continue
        slip = slip_of(slot)
        speed = norm3(slip)
        if speed > STOPPED:
            sign = -1.0 if dot3(slip, get3(slot.ahead)) < 0.0 else 1.0
            set3(slot.way, scale3(sign / speed, slip))
        face_way(slot)


@kernel
def face_way(slot):
    """The tangents of a slot become its way and what is across it."""
    n, way, slip = (slot.axes[0], slot.axes[1], slot.axes[2]), get3(slot.way), slip_of(slot)
    t = sub3(way, scale3(dot3(way, n), n))
    size = norm3(t)
    if size == 0.0:
        return
    t = scale3(1.0 / size, t)
    s = cross3(n, t)
    for m in range(3):
        slot.axes[3 + m], slot.axes[6 + m] = t[m], s[m]
    slot.rate[1], slot.rate[2] = dot3(t, slip), dot3(s, slip)


@kernel
def turn_rows(touch, c):
    """Turn the tangents of a slot, and its rows, which are there already, with them."""
    slot, r = touch.slots[touch.order[c]], 3 * c + 1
    way, axes = get3(slot.way), slot.axes
    x, y = dot3(way, (axes[3], axes[4], axes[5])), dot3(way, (axes[6], axes[7], axes[8]))
    size = (x * x + y * y) ** 0.5
    if size == 0.0:
        return
    x, y = x / size, y / size
    for m in range(3):
        t, s = axes[3 + m], axes[6 + m]
        axes[3 + m], axes[6 + m] = x * t + y * s, x * s - y * t
    for d in range(touch.J.shape[1]):
        _turn(touch.J, r, d, x, y)
        _turn(touch.Y, r, d, x, y)
        _turn(touch.Z, r, d, x, y)
    for d in range(touch.S.shape[1]):
        _turn(touch.S, r, d, x, y)
    for d in range(3 * touch.state[0].closed):
        _turn(touch.G, r, d, x, y)
    for d in range(3 * touch.state[0].closed):
        t, s = touch.G[d, r], touch.G[d, r + 1]
        touch.G[d, r], touch.G[d, r + 1] = x * t + y * s, x * s - y * t
    for field in (slot.rate, slot.bias, slot.accel, slot.p):
        t, s = field[1], field[2]
        field[1], field[2] = x * t + y * s, x * s - y * t


@inlined
def _turn(rows, r, d, x, y):
    t, s = rows[r, d], rows[r + 1, d]
    rows[r, d], rows[r + 1, d] = x * t + y * s, x * s - y * t
