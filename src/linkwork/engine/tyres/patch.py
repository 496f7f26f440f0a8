"""Where a tyre meets the road, and what its rows measure there: load, two slips, moments.

The wheel is a circle around its axle. Its contact is the point of that circle nearest to the local plane of the road,
found in turns: the lowest point against the plane, the plane at that point. So the normal is that of the road and the
point not simply below the centre: vertically below, a vehicle would accelerate uphill. Where the
road bends more than the wheel, at kerbs, those turns do not end, or there are several such points: there the deepest
point of the circle counts, found along it. So the gap is continuous from the road onto a flank and over its edge.

Each slip has a deflection u of the carcass as its state, with stiffness c and damping d. In the contact the tread
slides at V + u', V the slip velocity of the rim, against the friction of the slip law F(V) = F₀ - D V, whose secant
D(V) is large near rolling without slip and falls where the tread slides:

    F = c u + d u' = F₀ - D (V + u')    =>    u' = -w V + (1 - w)/d (F₀ - c u),    w = D/(D + d)

(after Rill, "First order tire dynamics", 2006). Near rolling, D is the slip stiffness C over the speed: σ u' + |V_x| u
= -σ V with the relaxation length σ = C/c. At standstill D is infinite: a spring and damper that holds. Beyond the
limit of friction c u is bounded by it, whatever the speed, so that nothing winds up. In flight D is zero: no force, u
decays. Every term is passive: F V + (½ c u²)' = -D (V + u')² - d u'² + F₀ (V + u'). Given V, all is linear in u.
"""

import math
from typing import Any, NamedTuple

from ..kernels.called import EACH, STATES
from ..kernels.jit import kernel
from ..kernels.math3 import add3, cross3, dot3, norm3, scale3, sub3
from .road import feel_road, sample_road

(
    RADIUS, STIFFNESS, PROGRESSION, DAMPING, FULL_DAMPING, ROLLING_SHARE, HALF_LENGTH, HALF_WIDTH, STIFF_X, DAMP_X,
    STIFF_Y, DAMP_Y, HAND, ROAD_FIRST, ROAD_COUNT, SLIP,
) = range(16)  # fmt: skip
"""Places of a tyre's numbers: unloaded radius [m], vertical stiffness [N/m] and its growth [N/m²], damping [N s/m], the
deflection from which that is whole [m], share of the deflection by which the rolling radius is less, half footprint
[m], stiffness and damping of the carcass along and across; 1, or -1 for a tyre that is the mirror image of what its
numbers describe; surfaces of the road; where numbers of the slip law begin."""
_TURNS = 12  # iterations at most for the point of contact
_SETTLED = 1e-12  # of the normal
_TRIED, _APART = 6, 0.22  # places on either side of the lowest; angle from one to the next [rad]
_HALVED = 24  # times that is halved
_NEAR, _OTHER = 0.1, 1e-2  # height over the road, in radii, and difference of normals that make another place
_FLAT = 1e-3  # sine of the angle between axle and normal below which a wheel lies flat


class Patch(NamedTuple):
    """A contact, in world axes."""

    touches: bool
    e: Any
    """From the centre to the lowest point of the circle, unit."""
    n: Any
    """Normal of the road."""
    x: Any
    """Forward along the road."""
    y: Any
    """To the left along the road."""
    axle: Any
    """To the left."""
    gap: float
    """Of the circle over the road; negative if pressed in [m]."""
    load: float
    """[N]"""
    elastic: float
    """Part of the load that the spring has [N]."""
    stiffness: float
    """[N/m]"""
    damping: float
    """[N s/m]"""
    arm: float
    """Rolling radius [m]."""
    speed: float
    """Forward velocity of the centre along the road [m/s]."""
    rolling: float
    """Velocity of the circumference, arm times spin [m/s]."""
    slip_x: float
    """Velocity of the rim's contact point over the road, forward [m/s]."""
    slip_y: float
    """And to the left [m/s]."""
    camber: float
    """Sine of the inclination: positive if the top leans to the right."""
    friction: float
    """Of the road, against that on which the tyre was measured [1]."""


class Slip(NamedTuple):
    """What a slip law says along one axis, of F = F₀ - D V: weight w = D/(D + d), (1 - w)/d, and F₀ where V is none."""

    weight: float
    ease: float
    offset: float


@kernel
def slip_of(force, speed, damping, offset):
    """The secant D = force/speed in terms that are regular where either vanishes."""
    total = force + damping * speed
    if total <= 0.0:
        return Slip(1.0, 0.0, 0.0) if force > 0.0 else Slip(0.0, 1.0 / damping, 0.0)
    return Slip(force / total, speed / total, offset)


@kernel
def _meet(numbers, own, c, axle):
    """(centre, axle) => (found, normal, to the lowest point, forward, gap, friction, whether turns came to an end)."""
    first, count, radius = int(own[ROAD_FIRST]), int(own[ROAD_COUNT]), own[RADIUS]
    n, e, x, gap, friction, there = (0.0, 0.0, 1.0), (0.0, 0.0, -1.0), (1.0, 0.0, 0.0), 1.0, 0.0, False
    settled = False
    for _ in range(_TURNS):
        x = cross3(axle, n)
        size = norm3(x)
        if size < _FLAT:
            there, settled = False, True
            break
        x = scale3(1.0 / size, x)
        e = cross3(axle, x)  # in the plane of the wheel, down
        p = add3(c, scale3(radius, e))
        y = cross3(n, x)
        along, across = scale3(own[HALF_LENGTH], x), scale3(own[HALF_WIDTH], y)
        there, z, zx, zy, friction = feel_road(numbers, first, count, p[0], p[1], along, across)
        if not there:
            settled = True
            break
        up = 1.0 / math.sqrt(1.0 + zx * zx + zy * zy)
        m = (-zx * up, -zy * up, up)
        gap = up * (p[2] - z)
        change = norm3(sub3(m, n))
        n = m
        if change < _SETTLED:
            settled = True
            break
    return there, n, e, x, gap, friction, settled


@kernel
def _under(numbers, own, c, forward, down, axle, angle):
    """At an angle of the circle from its lowest place: (found, depth below the road along the vertical, how that grows
    with the angle, normal, friction)."""
    radius = own[RADIUS]
    cos, sin = math.cos(angle), math.sin(angle)
    p = add3(c, scale3(radius, add3(scale3(cos, down), scale3(sin, forward))))
    way = scale3(radius, sub3(scale3(cos, forward), scale3(sin, down)))
    x = scale3(own[HALF_LENGTH] / radius, way)
    there, z, zx, zy, friction = feel_road(
        numbers, int(own[ROAD_FIRST]), int(own[ROAD_COUNT]), p[0], p[1], x, scale3(own[HALF_WIDTH], axle)
    )
    up = 1.0 / math.sqrt(1.0 + zx * zx + zy * zy)
    return there, z - p[2], zx * way[0] + zy * way[1] - way[2], (-zx * up, -zy * up, up), friction


@kernel
def _deepest(numbers, own, c, axle):
    """(found, normal, to the deepest point, forward, gap, friction) where the lower half of the circle is deepest below
    the road: among a few places, then between these, where depth grows no more."""
    n, nowhere = (0.0, 0.0, 1.0), (False, (0.0, 0.0, 1.0), (0.0, 0.0, -1.0), (1.0, 0.0, 0.0), 1.0, 0.0)
    forward = cross3(axle, n)
    size = norm3(forward)
    if size < _FLAT:
        return nowhere
    forward = scale3(1.0 / size, forward)
    down = cross3(axle, forward)
    best, most = 0.0, -math.inf
    for i in range(-_TRIED, _TRIED + 1):
        there, depth, _, n, _ = _under(numbers, own, c, forward, down, axle, i * _APART)
        if there and depth > most:
            best, most = i * _APART, depth
    if most == -math.inf:
        return nowhere
    low, high = best - _APART, best + _APART
    for _ in range(_HALVED):
        angle = 0.5 * (low + high)
        _, _, growing, _, _ = _under(numbers, own, c, forward, down, axle, angle)
        if growing > 0.0:
            low = angle
        else:
            high = angle
    angle = 0.5 * (low + high)
    there, depth, _, n, friction = _under(numbers, own, c, forward, down, axle, angle)
    x = cross3(axle, n)
    size = norm3(x)
    if not there or size < _FLAT:
        return nowhere
    e = add3(scale3(math.cos(angle), down), scale3(math.sin(angle), forward))
    return True, n, e, scale3(1.0 / size, x), -n[2] * depth, friction


@kernel
def _elsewhere(numbers, own, c, axle, n):
    """Whether the circle comes near the road at a place where that has another normal than n, among a few places."""
    forward = cross3(axle, (0.0, 0.0, 1.0))
    size = norm3(forward)
    if size < _FLAT:
        return False
    forward = scale3(1.0 / size, forward)
    down = cross3(axle, forward)
    first, count, radius = int(own[ROAD_FIRST]), int(own[ROAD_COUNT]), own[RADIUS]
    for i in range(-_TRIED, _TRIED + 1):
        angle = i * _APART
        p = add3(c, scale3(radius, add3(scale3(math.cos(angle), down), scale3(math.sin(angle), forward))))
        there, z, zx, zy, _ = sample_road(numbers, first, count, p[0], p[1])
        if there and z > p[2] - _NEAR * radius:
            up = 1.0 / math.sqrt(1.0 + zx * zx + zy * zy)
            if norm3(sub3((-zx * up, -zy * up, up), n)) > _OTHER:
                return True
    return False


@kernel
def find_patch(block, numbers, own):
    """(what a wheel does: `kernels/called.py`) => its contact."""
    axle = (block[1], block[4], block[7])
    c = (block[9], block[10], block[11])
    w = (block[12], block[13], block[14])
    v = (block[15], block[16], block[17])
    radius = own[RADIUS]
    there, n, e, x, gap, friction, settled = _meet(numbers, own, c, axle)
    if own[ROAD_COUNT] > 1.0 and (not settled or _elsewhere(numbers, own, c, axle, n)):
        there, n, e, x, gap, friction = _deepest(numbers, own, c, axle)
    y = cross3(n, x)
    rho = -gap
    touches = there and rho > 0.0
    arm = radius - own[ROLLING_SHARE] * max(rho, 0.0)
    load, elastic, stiffness, damping = 0.0, 0.0, 0.0, 0.0
    if touches:
        at = add3(v, cross3(w, scale3(radius, e)))
        stiffness = own[STIFFNESS] + 2.0 * own[PROGRESSION] * rho
        elastic = (own[STIFFNESS] + own[PROGRESSION] * rho) * rho
        damping = own[DAMPING] * min(1.0, rho / own[FULL_DAMPING])
        load = elastic - damping * dot3(n, at)
        if load <= 0.0:
            load, stiffness, damping = 0.0, 0.0, 0.0
    rolling = arm * dot3(w, axle)
    speed = dot3(x, v)
    slip_y = dot3(y, add3(v, cross3(w, scale3(radius + gap, e))))
    return Patch(
        touches, e, n, x, y, axle, gap, load, elastic, stiffness, damping, arm, speed, rolling, speed - rolling, slip_y,
        dot3(n, axle), friction,
    )  # fmt: skip


@kernel
def deflected_force(slip, stiffness, damping, u, velocity):
    """F = c u + d u' of the carcass."""
    return slip.weight * (stiffness * u - damping * velocity) + (1.0 - slip.weight) * slip.offset


@kernel
def _direct(out, k, torque, force, gap):
    """Jacobian and gap of row k."""
    at = EACH * k
    for j in range(3):
        out[at + j] = torque[j]
        out[at + 3 + j] = force[j]
    out[at + 6] = gap
    for j in range(8, EACH):
        out[at + j] = 0.0


@kernel
def _write_slip(out, k, slip, stiffness, damping):
    """Law of a slip row, see `elements/called.py`."""
    at = EACH * k + 8
    out[at] = (1.0 - slip.weight) * slip.offset
    out[at + 1] = -slip.weight * damping
    out[at + 2] = slip.weight * stiffness
    out[at + 3] = slip.ease * slip.offset
    out[at + 4] = -slip.weight
    out[at + 5] = -slip.ease * stiffness
    out[at + 8] = stiffness


@kernel
def write_rows(patch, own, along, across, moment, out):
    """Rows of load, slip along and across, and of a moment in world axes [N m] with what that stores nothing of."""
    # The load acts along the gradient of the gap, that of the circle, so that no energy is lost or won in camber.
    _direct(out, 0, cross3(scale3(own[RADIUS], patch.e), patch.n), patch.n, patch.gap)
    if patch.load > 0.0:
        out[8] = patch.elastic
        out[9] = -patch.damping
        out[14] = -patch.stiffness
    if patch.touches:
        out[17] = patch.elastic
        rho = -patch.gap
        out[15] = (0.5 * own[STIFFNESS] + own[PROGRESSION] * rho / 3.0) * rho * rho
    _direct(out, 1, cross3(scale3(patch.arm, patch.e), patch.x), patch.x, 0.0)
    _write_slip(out, 1, along, own[STIFF_X], own[DAMP_X])
    _direct(out, 2, cross3(scale3(own[RADIUS] + patch.gap, patch.e), patch.y), patch.y, 0.0)
    _write_slip(out, 2, across, own[STIFF_Y], own[DAMP_Y])
    size = norm3(moment)
    zero = (0.0, 0.0, 0.0)
    # A row that moves nothing would be left out: without a moment it stands along the normal.
    _direct(out, 3, scale3(1.0 / size, moment) if size > 0.0 else patch.n, zero, 0.0)
    out[EACH * 3 + 8] = size


@kernel
def deflections(block):
    """Deflections of the carcass, along and across [m]."""
    return block[STATES + 1], block[STATES + 2]
