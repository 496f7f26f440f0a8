"""Rows with bounded forces: the mixed complementarity problem A p + soft p - want ⟂ lo <= p <= hi, solved exactly.

Block principal pivoting (Júdice and Pires, Computers & Operations Research 21, 1994): every row is taken as kept or
as at one of its bounds, the kept ones are solved for directly, and rows whose force or velocity has the wrong sign
change sides, all at once while that helps, else one at a time (Murty's rule, which ends for certain). Rows without
bounds never change sides.
"""

from ..kernels.jit import kernel
from ..tables import HELD, HIGH, LOW
from .envelope import embedded, factor_envelope, solve_envelope, times_envelope
from .layout import HI, KEPT, LO, ON, RIGHT, SIDE, SOFT, WANT, WHOLE, P

EXACT = 1e-10
"""Forces and velocities may be wrong by this share of the largest ones."""
FLOOR = 1e-9
"""Stands for pivots that vanish: kept rows that contradict each other then need forces so large that one of them
must give way, and those that merely repeat each other share what is needed."""
_PATIENCE = 5
_LIMIT = 200


@kernel
def solve_box(work):
    """row[P], and flag[SIDE] (HELD, LOW or HIGH) of each row that is on; returns 1 if it did not end.

    The sides are also where it starts. Embedded rows have no bounds and no part in it.
    """
    row, flag = work.row, work.flag
    begin, count = embedded(work), row.shape[1]
    fewest, patience = count + 1, _PATIENCE
    for _ in range(_LIMIT):
        for k in range(begin, count):
            side = flag[SIDE, k]
            flag[KEPT, k] = 1 if flag[ON, k] != 0 and side == HELD else 0
            row[P, k] = 0.0
            if flag[ON, k] != 0 and side != HELD:
                row[P, k] = row[LO, k] if side == LOW else row[HI, k]
        factor_envelope(work, KEPT, FLOOR, 0.0)
        times_envelope(work, P, RIGHT)
        for k in range(begin, count):
            row[RIGHT, k] = row[WANT, k] - row[RIGHT, k] if flag[KEPT, k] != 0 else 0.0
        solve_envelope(work, RIGHT)
        largest = 0.0
        for k in range(begin, count):
            if flag[KEPT, k] != 0:
                row[P, k] = row[RIGHT, k]
            largest = max(largest, abs(row[P, k]))
        times_envelope(work, P, RIGHT)
        wrong, last = 0, -1
        for k in range(begin, count):
            if flag[ON, k] != 0 and _other_side(work, k, largest) != flag[SIDE, k]:
                wrong += 1
                last = k
        if wrong == 0:
            return 0
        patience = _PATIENCE if wrong < fewest else patience - 1
        fewest = min(fewest, wrong)
        for k in range(begin, count):
            if flag[ON, k] != 0 and (patience >= 0 or k == last):
                flag[SIDE, k] = _other_side(work, k, largest)
    return 1


@kernel
def _other_side(work, k, largest):
    """Where row k belongs: a kept one needs a force within its bounds, others a velocity that their bound explains."""
    row, flag = work.row, work.flag
    p, side = row[P, k], flag[SIDE, k]
    if side == HELD:
        slack = EXACT * largest
        if p < row[LO, k] - slack:
            return LOW
        return HIGH if p > row[HI, k] + slack else HELD
    excess = row[RIGHT, k] + row[SOFT, k] * p - row[WANT, k]
    slack = EXACT * (abs(row[WANT, k]) + row[WHOLE, k] * largest)
    if side == LOW:
        return HELD if excess < -slack else LOW
    return HELD if excess > slack else HIGH
