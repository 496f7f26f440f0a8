"""Bodies on ball joints in steps of Euler's method: turned as free bodies turn, so that spinning gains no energy.

Semi-implicit Euler takes velocity products at the start of a step. The gyroscopic torque -ω × Jω, which does no work,
then gains energy: nutation at the rate ν grows as exp(½ h ν² t). Here the torque τ of all other forces acts first, and
the body then turns freely, by the implicit midpoint rule in its own axes, L being its angular momentum:

    L₁ = L + h τ,   L⁺ = L₁ - 2 a × ½(L₁ + L⁺),   m = ½ J⁻¹(L₁ + L⁺),   a = tan(½ h |m|) m/|m|,
    R⁺ = R exp(h m)

The rule conserves |L| and ½ω·L at any step, for both are quadratic and L turns about m: L⁺ = exp(h m)ᵀ L₁, so that R
L stands in the world. With a = ½ h m it would be the midpoint rule itself, which turns a body that spins steadily
too little. J and L are about the centre of mass where the joint lets it go, about the centre of the ball elsewhere:
exact for free bodies and for tops whose tip stands. Where a ball rides on bodies that give way or carries others,
what couples them is still taken at the start of the step. Balls with limits are left alone, which must meet these at
the end of a step. Everything is written as a change of the bias force, and of the rates with which positions move.
"""

import math

from ..kernels.jit import inlined, kernel
from ..kernels.math3 import add3, cross3, dot3, get3, get9, rotate, scale3, sub3, symmetric_times
from ..kernels.spatial import get6
from ..tables import BALL

_SLOW = (
    1e-4  # a body that turns by less in a step is left alone: nutation would grow by some 1e-8 a step [rad]
)
_FAR = 1.0  # a body that turns by more in a step takes several smaller ones, for which Newton's method converges [rad]
_MOST = 64  # of them: beyond, only |L| is conserved
_ROUNDS, _CLOSE = 20, 1e-12  # of Newton's method; a correction that is rounding
_FLAT = 1e-12  # inertias whose determinant is this share of the cube of their trace are left alone


@kernel
def turn_freely(dofs, h, turn):
    """(placed, loaded tables) => bias force p of bodies on balls; turn: mean rate of the step less that at its end.

    Positions are to move with h (v + turn), v being the rates at the end of the step [rad/s].
    """
    for i in range(turn.shape[0]):
        turn[i] = 0.0
    for d in range(1, dofs.shape[0]):
        if dofs[d].motion == BALL:
            body, i = dofs[d + 2], dofs[d].v  # the last column carries the body
            w = (body.V[0], body.V[1], body.V[2])
            if body.solid != 0 and dofs[d].limited == 0 and h * h * dot3(w, w) > _SLOW * _SLOW:
                rate = _turn_body(dofs, d, body, w, h)
                if dofs[d].rot > 0.0:  # else the rates are in the inner axes, which do not turn with the body
                    turn[i], turn[i + 1], turn[i + 2] = rate[0], rate[1], rate[2]


@inlined
def _back(R, a):
    """Rᵀ a."""
    return (
        R[0] * a[0] + R[3] * a[1] + R[6] * a[2],
        R[1] * a[0] + R[4] * a[1] + R[7] * a[2],
        R[2] * a[0] + R[5] * a[1] + R[8] * a[2],
    )


@inlined
def _floats(dofs, d):
    """Whether the centre of mass of a body on a ball is let go: two slides or more carry the ball."""
    slides, link = 0, dofs[d].parent
    while link != 0 and dofs[link].rot == 0.0 and slides < 2:
        slides, link = slides + 1, dofs[link].parent
    return slides == 2


@inlined
def _moved_inertia(J, m, c):
    """Inertia about a point from which the centre of mass is seen at c (Steiner)."""
    s = scale3(m, c)
    sc = dot3(s, c)
    return (
        J[0] + sc - s[0] * c[0],
        J[1] - s[0] * c[1],
        J[2] - s[0] * c[2],
        J[3] + sc - s[1] * c[1],
        J[4] - s[1] * c[2],
        J[5] + sc - s[2] * c[2],
    )


@inlined
def _solve(A, B, C, g, floor):
    """x with [A B C] x = g for columns A, B, C, and whether their determinant is above `floor`."""
    BC = cross3(B, C)
    volume = dot3(A, BC)
    if not volume > floor:
        return (0.0, 0.0, 0.0), False
    return scale3(1.0 / volume, (dot3(g, BC), dot3(g, cross3(C, A)), dot3(g, cross3(A, B)))), True


@kernel
def _turn_body(dofs, d, body, w, h):
    """Turn one free or ball-jointed body through a step of h [s]; returns its entries of `turn`, in its own axes."""
    R, c = get9(body.R), get3(body.com)
    J, x = get6(body.inertia), get3(body.r)
    if _floats(dofs, d):
        x = add3(x, rotate(R, c))
    else:
        J = _moved_inertia(J, body.mass, c)
    w = _back(R, w)
    L = symmetric_times(J, w)
    # The bias force is J α₀ + ω × L - τ about x.
    n = sub3((body.p[0], body.p[1], body.p[2]), cross3(x, (body.p[3], body.p[4], body.p[5])))
    steady = sub3(symmetric_times(J, _back(R, (body.A0[0], body.A0[1], body.A0[2]))), _back(R, n))
    kick = scale3(h, add3(steady, cross3(w, L)))
    trace = J[0] + J[3] + J[5]
    faster, solid = _solve(
        (J[0], J[1], J[2]), (J[1], J[3], J[4]), (J[2], J[4], J[5]), kick, _FLAT * trace * trace * trace
    )
    if not solid:
        return 0.0, 0.0, 0.0
    w, after = add3(w, faster), add3(L, kick)
    # Rates of a ball are those against what carries it, whose angular velocity u stays.
    V = dofs[dofs[d].before].V
    u = _back(R, (V[0], V[1], V[2]))
    count = min(1 + int(h * math.sqrt(dot3(w, w)) / _FAR), _MOST)
    mean, share = (0.0, 0.0, 0.0), 1.0 / count
    for _ in range(count):
        m = _middle(J, after, w, h * share)
        a = scale3(_half_turn(m, h * share), m)
        after, before = _turned(a, after), u
        u = _turned(a, u)
        mean = add3(mean, scale3(share, sub3(m, scale3(0.5, add3(before, u)))))
        w = sub3(scale3(2.0, m), w)
    change = rotate(R, sub3(steady, scale3(1.0 / h, sub3(after, L))))
    for k in range(3):
        body.p[k] += change[k]
    return sub3(mean, sub3(w, u))


@inlined
def _half_turn(m, h):
    """tan(½ h |m|)/|m|."""
    size = math.sqrt(dot3(m, m))
    return math.tan(0.5 * h * size) / size if h * size > 1e-8 else 0.5 * h


@inlined
def _turned(a, x):
    """x seen from axes that turn by 2 atan |a| about a: Cayley's rotation backwards."""
    b = cross3(a, x)
    return sub3(x, scale3(2.0 / (1.0 + dot3(a, a)), sub3(b, cross3(a, b))))


@inlined
def _middle(J, L, w, h):
    """Angular velocity m in the middle of a step: J m + a × J m = L, by Newton's method, but for how a grows."""
    m = w
    close = _CLOSE * _CLOSE * dot3(w, w)
    for _ in range(_ROUNDS):
        k = _half_turn(m, h)
        x = symmetric_times(J, m)
        g = sub3(add3(x, scale3(k, cross3(m, x))), L)
        A, B, C = (J[0], J[1], J[2]), (J[1], J[3], J[4]), (J[2], J[4], J[5])
        d, regular = _solve(  # columns of J + k ([m]× J - [J m]×)
            add3(A, scale3(k, sub3(cross3(m, A), (0.0, x[2], -x[1])))),
            add3(B, scale3(k, sub3(cross3(m, B), (-x[2], 0.0, x[0])))),
            add3(C, scale3(k, sub3(cross3(m, C), (x[1], -x[0], 0.0)))),
            g,
            0.0,
        )
        m = sub3(m, d)
        if dot3(d, d) <= close or not regular:
            break
    return m
