"""Rows with bounded forces: the mixed complementarity problem A p + soft p - want ⟂ lo <= p <= hi, solved exactly.

Block principal pivoting (Júdice and Pires, Computers & Operations Research 21, 1994): every row is taken as kept or as at one
of its bounds, the kept ones are solved for directly, and rows whose force or velocity has the wrong sign change sides, all
at once while that helps, else one at a time (Murty's rule, which ends for certain). Rows without bounds never change sides.
"""

from ..kernels.jit import kernel
from ..tables import HELD, HIGH, LOW
from .envelope import factor_envelope, solve_envelope, times_envelope

EXACT = 1e-10
"""Forces and velocities may be wrong by this share of the largest ones."""
_PATIENCE = 5
_LIMIT = 200


@kernel
def solve_box(A, L, D, soft, want, lo, hi, on, side, kept, start, first, p, w, scale, report):
    """p, and side (HELD, LOW or HIGH) of each row that is on; returns (factorisations, 1 if it did not end).

    `side` is also where it starts. kept, w: scratch.
    """
    count = first.shape[0]
    fewest, patience = count + 1, _PATIENCE
    for trial in range(_LIMIT):
        for k in range(count):
            kept[k] = 1 if on[k] != 0 and side[k] == HELD else 0
            p[k] = 0.0
            if on[k] != 0 and side[k] != HELD:
                p[k] = lo[k] if side[k] == LOW else hi[k]
        factor_envelope(A, L, D, soft, kept, start, first, scale, report)
        if trial == 0:
            bounded = False
            for k in range(count):
                bounded |= on[k] != 0 and side[k] != HELD
            for k in range(count):
                w[k] = 0.0
            if bounded:
                times_envelope(A, on, start, first, p, w)
        else:
            times_envelope(A, on, start, first, p, w)
        for k in range(count):
            if kept[k] != 0:
                w[k] = want[k] - w[k]
        _solve_kept(L, D, start, first, kept, w, p)
        # Signs. A kept row must have a force within its bounds, the others a velocity that their bound explains.
        largest = 0.0
        loose = False
        for k in range(count):
            largest = max(largest, abs(p[k]))
            loose |= on[k] != 0 and kept[k] == 0
        if loose:
            times_envelope(A, on, start, first, p, w)
        wrong, last = 0, -1
        for k in range(count):
            if on[k] == 0:
                continue
            if kept[k] != 0:
                slack = EXACT * largest
                bad = p[k] < lo[k] - slack or p[k] > hi[k] + slack
            else:
                excess = w[k] + soft[k] * p[k] - want[k]
                slack = EXACT * (abs(want[k]) + A[start[k] + k] * largest)
                bad = excess < -slack if side[k] == LOW else excess > slack
            if bad:
                wrong += 1
                last = k
        if wrong == 0:
            return trial + 1, 0
        if wrong < fewest:
            fewest, patience = wrong, _PATIENCE
        else:
            patience -= 1
        only = last if patience < 0 else -1
        for k in range(count):
            if on[k] == 0 or (only >= 0 and k != only):
                continue
            if kept[k] != 0:
                slack = EXACT * largest
                if p[k] < lo[k] - slack:
                    side[k] = LOW
                elif p[k] > hi[k] + slack:
                    side[k] = HIGH
            else:
                excess = w[k] + soft[k] * p[k] - want[k]
                slack = EXACT * (abs(want[k]) + A[start[k] + k] * largest)
                if (side[k] == LOW and excess < -slack) or (side[k] == HIGH and excess > slack):
                    side[k] = HELD
    return _LIMIT, 1


@kernel
def _solve_kept(L, D, start, first, kept, w, p):
    """p of the kept rows from the right-hand side w."""
    count = first.shape[0]
    for k in range(count):
        if kept[k] == 0:
            w[k] = 0.0
    solve_envelope(L, D, start, first, w)
    for k in range(count):
        if kept[k] != 0:
            p[k] = w[k]
