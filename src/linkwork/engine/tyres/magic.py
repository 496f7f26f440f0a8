"""The Magic Formula: MF 5.2, and 6.1 without turn slip, after Pacejka, "Tire and Vehicle Dynamics" (2012, section 4.3).

    F = D sin(C atan(B x - E (B x - atan(B x)))) + S_V,    x = slip + S_H

for pure slip, with weights G for combined slip. Equations are numbered as there. Axes are those of ISO 8855: y to the
left, z upwards, the slip angle positive where the contact slides to the left. The secant F/x, which is smooth at x = 0,
is what a slip row needs (`patch.py`).
"""

import math
from typing import NamedTuple

from ..kernels.jit import kernel
from ..kernels.math3 import add3, scale3
from .patch import (
    DAMP_X,
    DAMP_Y,
    HAND,
    RADIUS,
    SLIP,
    STIFF_X,
    STIFF_Y,
    deflected_force,
    deflections,
    find_patch,
    slip_of,
    write_rows,
)

(
    FNOMIN, FITTYP, SENSE, DPI, LONGVL,
    LFZO, LCX, LMUX, LEX, LKX, LHX, LVX, LCY, LMUY, LEY, LKY, LHY, LVY, LGAY, LGAZ, LKYC, LTR, LRES, LXAL, LYKA,
    LVYKA, LS, LMX, LVMX, LMY,
    PCX1, PDX1, PDX2, PDX3, PEX1, PEX2, PEX3, PEX4, PKX1, PKX2, PKX3, PHX1, PHX2, PVX1, PVX2, PPX1, PPX2, PPX3, PPX4,
    RBX1, RBX2, RBX3, RCX1, REX1, REX2, RHX1,
    PCY1, PDY1, PDY2, PDY3, PEY1, PEY2, PEY3, PEY4, PEY5, PKY1, PKY2, PKY3, PKY4, PKY5, PKY6, PKY7, PHY1, PHY2, PHY3,
    PVY1, PVY2, PVY3, PVY4, PPY1, PPY2, PPY3, PPY4, PPY5,
    RBY1, RBY2, RBY3, RBY4, RCY1, REY1, REY2, RHY1, RHY2, RVY1, RVY2, RVY3, RVY4, RVY5, RVY6,
    QSX1, QSX2, QSX3, QSY1, QSY2, QSY3, QSY4,
    QBZ1, QBZ2, QBZ3, QBZ4, QBZ5, QBZ9, QBZ10, QCZ1, QDZ1, QDZ2, QDZ3, QDZ4, QDZ6, QDZ7, QDZ8, QDZ9, QDZ10, QDZ11,
    QEZ1, QEZ2, QEZ3, QEZ4, QEZ5, QHZ1, QHZ2, QHZ3, QHZ4, SSZ1, SSZ2, SSZ3, SSZ4,
) = range(SLIP, SLIP + 137)  # fmt: skip
"""Places of a tyre's numbers: nominal load [N], 52 or 61, -1 where the file's y and z axes point the other way (SAE),
inflation less nominal as a share of that, reference speed [m/s]; scale factors; coefficients, all by the names of
files."""

PLACES = {
    name: place
    for name, place in list(vars().items())
    if name != "SLIP" and isinstance(place, int) and place >= SLIP
}
"""Of every coefficient, by its name in files, where it stands among a tyre's numbers."""

_MOST_KAPPA, _MOST_TANGENT = 2.0, 5.0  # slip and tangent of the slip angle beyond which nothing changes
_LEAST = 1e-9
_SLOW = 0.02  # speed over which rolling resistance changes its sign [m/s]


class Magic(NamedTuple):
    """What the formula says of a slip: F = F₀ - D V along both axes."""

    secant_x: float
    """D times the transport speed [N]."""
    offset_x: float
    """F₀ [N]."""
    secant_y: float
    offset_y: float
    speed: float
    """Transport speed, which slips are related to [m/s]."""
    trail: float
    """Of the lateral force less its part by longitudinal slip [m]."""
    residual: float
    """Aligning moment that is left [N m]."""
    ply: float
    """Lateral force by longitudinal slip [N]."""
    arm: float
    """Of the longitudinal force about the normal, per unit of it without the part by the lateral one [m]."""


@kernel
def _bend(b, e, x):
    """B x - E (B x - atan(B x))."""
    return b * x - e * (b * x - math.atan(b * x))


@kernel
def _secant(b, c, d, e, x):
    """D sin(C atan(...))/x."""
    if abs(x) < _LEAST:
        return b * c * d
    return d * math.sin(c * math.atan(_bend(b, e, x))) / x


@kernel
def _weight(b, c, e, shift, x):
    """cos(C atan(...)) at x + S_H over that at S_H."""
    return math.cos(c * math.atan(_bend(b, e, x + shift))) / math.cos(c * math.atan(_bend(b, e, shift)))


@kernel
def _sign(x):
    return 1.0 if x > 0.0 else (-1.0 if x < 0.0 else 0.0)


@kernel
def _steep(stiffness, c, d):
    """B; of a tyre without friction none."""
    return stiffness / (c * d) if abs(c * d) > _LEAST else 0.0


@kernel
def magic_slip(p, load, friction, slip_x, slip_y, speed, camber):
    """What the formula says of slip velocities [m/s] at a speed of the centre and a camber [rad]; `friction` of the
    road scales that of the tyre. All in the axes of the file's sense: y to the left."""
    newer = p[FITTYP] > 52.5
    nominal = p[LFZO] * p[FNOMIN]
    dfz, dpi, g = (load - nominal) / nominal, p[DPI], camber
    transport = max(abs(speed), max(abs(slip_x) / _MOST_KAPPA, abs(slip_y) / _MOST_TANGENT))
    kappa, tangent = 0.0, 0.0
    if transport > 0.0:
        kappa, tangent = -slip_x / transport, slip_y / transport
    alpha = tangent if newer else math.atan(tangent)
    slope = alpha / tangent if abs(tangent) > _LEAST else 1.0
    lmux, lmuy = friction * p[LMUX], friction * p[LMUY]

    # --- longitudinal, 4.E9 to 4.E18 ---
    shift_x = (p[PHX1] + p[PHX2] * dfz) * p[LHX]
    kx = kappa + shift_x
    mu_x = (
        (p[PDX1] + p[PDX2] * dfz) * (1.0 - p[PDX3] * g * g) * (1.0 + (p[PPX3] + p[PPX4] * dpi) * dpi) * lmux
    )
    c_x, d_x = p[PCX1] * p[LCX], mu_x * load
    e_x = min((p[PEX1] + (p[PEX2] + p[PEX3] * dfz) * dfz) * (1.0 - p[PEX4] * _sign(kx)) * p[LEX], 1.0)
    stiff_x = (
        load * (p[PKX1] + p[PKX2] * dfz) * math.exp(p[PKX3] * dfz) * (1.0 + (p[PPX1] + p[PPX2] * dpi) * dpi)
    )
    stiff_x *= p[LKX]
    rise_x = load * (p[PVX1] + p[PVX2] * dfz) * p[LVX] * lmux
    secant_x = _secant(_steep(stiff_x, c_x, d_x), c_x, d_x, e_x, kx)

    # --- lateral, 4.E19 to 4.E30 ---
    gy = g if newer else g * p[LGAY]
    mu_y = (
        (p[PDY1] + p[PDY2] * dfz) * (1.0 - p[PDY3] * gy * gy) * (1.0 + (p[PPY3] + p[PPY4] * dpi) * dpi) * lmuy
    )
    c_y, d_y = p[PCY1] * p[LCY], mu_y * load
    rise_g = load * (p[PVY3] + p[PVY4] * dfz) * gy * lmuy
    if newer:
        turn = p[PKY4] * math.atan(load / (nominal * (p[PKY2] + p[PKY5] * g * g) * (1.0 + p[PPY2] * dpi)))
        stiff_y = (
            p[PKY1] * nominal * (1.0 + p[PPY1] * dpi) * (1.0 - p[PKY3] * abs(g)) * math.sin(turn) * p[LKY]
        )
        rise_g *= p[LKYC]
        stiff_g = load * (p[PKY6] + p[PKY7] * dfz) * (1.0 + p[PPY5] * dpi) * p[LKYC]
        shift_y = (p[PHY1] + p[PHY2] * dfz) * p[LHY]
        if stiff_y != 0.0:
            shift_y += (stiff_g * g - rise_g) / stiff_y
    else:
        turn = 2.0 * math.atan(load / (p[PKY2] * nominal))
        stiff_y = p[PKY1] * nominal * math.sin(turn) * (1.0 - p[PKY3] * abs(gy)) * p[LKY]
        shift_y = (p[PHY1] + p[PHY2] * dfz) * p[LHY] + p[PHY3] * gy
    ay = alpha + shift_y
    e_y = (
        (p[PEY1] + p[PEY2] * dfz) * (1.0 + p[PEY5] * gy * gy - (p[PEY3] + p[PEY4] * gy) * _sign(ay)) * p[LEY]
    )
    e_y = min(e_y, 1.0)
    rise_y = load * (p[PVY1] + p[PVY2] * dfz) * p[LVY] * lmuy + rise_g
    b_y = _steep(stiff_y, c_y, d_y)
    secant_y = _secant(b_y, c_y, d_y, e_y, ay)

    # --- combined, 4.E50 to 4.E67 ---
    b = (p[RBX1] + p[RBX3] * g * g) * math.cos(math.atan(p[RBX2] * kappa)) * p[LXAL]
    by_alpha = _weight(b, p[RCX1], min(p[REX1] + p[REX2] * dfz, 1.0), p[RHX1], alpha)
    b = (p[RBY1] + p[RBY4] * g * g) * math.cos(math.atan(p[RBY2] * (alpha - p[RBY3]))) * p[LYKA]
    by_kappa = _weight(b, p[RCY1], min(p[REY1] + p[REY2] * dfz, 1.0), p[RHY1] + p[RHY2] * dfz, kappa)
    ply = mu_y * load * (p[RVY1] + p[RVY2] * dfz + p[RVY3] * g) * math.cos(math.atan(p[RVY4] * alpha))
    ply *= math.sin(p[RVY5] * math.atan(p[RVY6] * kappa)) * p[LVYKA]

    # --- aligning moment, 4.E31 to 4.E49 and 4.E71 to 4.E78 ---
    gz = g if newer else g * p[LGAZ]
    shift_t = p[QHZ1] + p[QHZ2] * dfz + (p[QHZ3] + p[QHZ4] * dfz) * gz
    at, ratio = alpha + shift_t, stiff_x / stiff_y * kappa if stiff_y != 0.0 else 0.0
    at = _sign(at) * math.sqrt(at * at + ratio * ratio)
    b_t = (
        (p[QBZ1] + (p[QBZ2] + p[QBZ3] * dfz) * dfz) * (1.0 + p[QBZ4] * gz + p[QBZ5] * abs(gz)) * p[LKY] / lmuy
    )
    d_t = (
        load
        * (p[QDZ1] + p[QDZ2] * dfz)
        * (1.0 + (p[QDZ3] + p[QDZ4] * gz) * gz)
        * p[RADIUS]
        / p[FNOMIN]
        * p[LTR]
    )
    e_t = (p[QEZ1] + (p[QEZ2] + p[QEZ3] * dfz) * dfz) * (
        1.0 + (p[QEZ4] + p[QEZ5] * gz) * 2.0 / math.pi * math.atan(b_t * p[QCZ1] * at)
    )
    trail = d_t * math.cos(p[QCZ1] * math.atan(_bend(b_t, min(e_t, 1.0), at))) * math.cos(math.atan(tangent))
    ar = alpha + shift_y + (rise_y / stiff_y if stiff_y != 0.0 else 0.0)
    ar = _sign(ar) * math.sqrt(ar * ar + ratio * ratio)
    b_r = p[QBZ9] * p[LKY] / lmuy + p[QBZ10] * b_y * c_y
    d_r = (p[QDZ6] + p[QDZ7] * dfz) * p[LRES] + (
        p[QDZ8] + p[QDZ9] * dfz + (p[QDZ10] + p[QDZ11] * dfz) * abs(gz)
    ) * gz
    d_r *= load * p[RADIUS] * lmuy
    residual = d_r * math.cos(math.atan(b_r * ar)) * math.cos(math.atan(tangent))
    arm = p[RADIUS] * (p[SSZ1] + (p[SSZ3] + p[SSZ4] * dfz) * g) * p[LS]
    return Magic(
        secant_x * by_alpha, (secant_x * shift_x + rise_x) * by_alpha,
        -secant_y * slope * by_kappa, (secant_y * shift_y + rise_y) * by_kappa + ply,
        transport, trail, residual, ply, arm,
    )  # fmt: skip


@kernel
def magic_moments(p, found, load, along, across, camber, speed):
    """Moments about x, y and z of the contact [N m], of forces along and across [N]."""
    share = across / p[FNOMIN]
    m_x = p[RADIUS] * load * (p[QSX1] * p[LVMX] + (-p[QSX2] * camber + p[QSX3] * share) * p[LMX])
    fast = abs(speed / p[LONGVL])
    m_y = p[QSY1] + p[QSY2] * along / p[FNOMIN] + p[QSY3] * fast + p[QSY4] * fast**4
    m_y *= -p[RADIUS] * load * p[LMY] * math.tanh(speed / _SLOW)
    pushed = found.arm + p[RADIUS] * p[SSZ2] * share * p[LS]
    m_z = -found.trail * (across - found.ply) + found.residual + pushed * along
    return m_x, m_y, m_z


@kernel
def magic_tyre(t, block, numbers, own, out):
    """Rows of a tyre with the Magic Formula."""
    patch = find_patch(block, numbers, own)
    d_x, d_y, hand, sense = own[DAMP_X], own[DAMP_Y], own[HAND], own[SENSE]
    zero = (0.0, 0.0, 0.0)
    if patch.load <= 0.0 or patch.friction <= 0.0:
        write_rows(patch, own, slip_of(0.0, 1.0, d_x, 0.0), slip_of(0.0, 1.0, d_y, 0.0), zero, out)
        return
    # A file in the axes of SAE has y and z the other way: slip angles and cambers alike, lateral forces reversed.
    camber = hand * math.asin(min(1.0, max(-1.0, patch.camber)))
    found = magic_slip(
        own, patch.load, patch.friction, patch.slip_x, hand * patch.slip_y, patch.speed, camber
    )
    along = slip_of(found.secant_x, found.speed, d_x, found.offset_x)
    across = slip_of(sense * found.secant_y, found.speed, d_y, sense * hand * found.offset_y)
    u_x, u_y = deflections(block)
    f_x = deflected_force(along, own[STIFF_X], d_x, u_x, patch.slip_x)
    f_y = deflected_force(across, own[STIFF_Y], d_y, u_y, patch.slip_y)
    m_x, m_y, m_z = magic_moments(own, found, patch.load, f_x, sense * hand * f_y, camber, patch.speed)
    moment = add3(scale3(hand * m_x, patch.x), scale3(m_y, patch.axle))
    write_rows(patch, own, along, across, add3(moment, scale3(sense * hand * m_z, patch.n)), out)
