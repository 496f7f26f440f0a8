"""Events within a step of the direct solver, or of components: which row changes its mode first, and when.

Each row that may change its mode has a quantity that is positive before the event and zero at it (`measured`). What
it is at both ends of a step, and its rates there where they are known, give a cubic; the first zero of that is where
the search for the event begins. So a limit that is passed and left again within one step is found, too.
"""

import math

from ..elements.respond import margin_of
from ..kernels.jit import inlined, kernel
from ..kernels.tape import ENOUGH, HEAD, SHARP
from ..solvers.box import EXACT
from ..solvers.layout import BEGAN, BEGAN_RATE
from ..tables import FRICTION, HELD, LIMIT, LOW, SERVO_RATE

STOPPED = 1e-9
"""A joint with dry friction stands if it is slower than this [rad/s or m/s]."""

PEEK = 1e-3
"""Share of a step after which it is seen whether a row that is at its bound when the step begins is let go at once."""
STILL = 1e-11
"""A located event is this near [m, rad, m/s or rad/s]."""
BARELY = 1e-9
"""A force beyond its bound by this share of the largest is at it."""
TOUCH = 1e-10
"""A limit that is violated by more has been hit [rad or m]."""
SEARCHES = 8
"""For the time of one event."""


@kernel
def remember(constraints, work):
    """What may change its sign within the next step, and its rate, at the start of that; see `measured`."""
    rows = constraints.rows
    for i in range(rows.shape[0]):
        row = rows[i]
        if row.role == LIMIT or row.role == FRICTION or row.role == SERVO_RATE or row.pieces != 0:
            work.row[BEGAN, i], work.row[BEGAN_RATE, i] = measured(row)


@kernel
def measured(row):
    """What changes its sign at an event of a row, positive before, and its rate where that is known.

    Of a kept row what is left of its force, of an open limit its gap, of a sliding row its slip, of a law in pieces how
    far it is to the end of the piece.
    """
    if row.pieces != 0:
        return margin_of(row)
    if row.mode == HELD:
        if row.role == LIMIT:
            return row.force, 0.0
        return row.strength - abs(row.force), 0.0
    if row.role == LIMIT:
        return row.phi, row.rate
    sign = 1.0 if row.mode == LOW else -1.0
    return sign * (row.rate - row.goal), sign * (row.accel - row.push)


@kernel
def _largest_force(constraints):
    """Of all rows."""
    rows, largest = constraints.rows, 0.0
    for i in range(rows.shape[0]):
        largest = max(largest, abs(rows[i].force))
    return largest


@kernel
def near_enough(constraints, work, event):
    """How far from zero the quantity of a row may be where its event is."""
    rows = constraints.rows
    if event >= rows.shape[0]:
        return ENOUGH * (1.0 + abs(constraints.tape[event - rows.shape[0]].value))
    if rows[event].mode != HELD:
        return STILL
    return BARELY * abs(work.row[BEGAN, event]) + EXACT * _largest_force(constraints)


@kernel
def first_event(constraints, work, h):
    """(share of the step at which the first event happens, interpolated; its row; a share by which it has happened).

    (1, -1, 1) if there is none. A kept row that is at its bound where the step begins is to be looked at after `PEEK`.
    """
    rows = constraints.rows
    share, event, until, largest = 1.0, -1, 1.0, _largest_force(constraints)
    for i in range(rows.shape[0]):
        row = rows[i]
        bounded = row.role == FRICTION or row.role == SERVO_RATE
        if row.role != LIMIT and row.pieces == 0 and (not bounded or row.strength == 0.0):
            continue
        end, end_rate = measured(row)
        begin, rate = work.row[BEGAN, i], work.row[BEGAN_RATE, i]
        by = 1.0
        if row.mode == HELD:
            if end >= -BARELY * largest:
                continue
            at = begin / (begin - end) if begin > BARELY * largest else PEEK
        else:
            slack = STOPPED if bounded else TOUCH
            if begin <= 0.0 and (end >= -slack or (row.role == LIMIT and row.rate >= 0.0)):
                continue
            at, by = crossing(max(begin, 0.0), h * rate, end, h * end_rate, slack)
        if at <= by and (at < share or event < 0):
            share, event, until = at, i, by
    tape = constraints.tape
    k = tape[HEAD].next_piece if tape.shape[0] > 0 else 0
    while k != 0:
        op = tape[k]
        if op.began < math.inf and op.margin < math.inf:
            at, by = _end_of_piece(op, h)
            if at <= by and (at < share or event < 0):
                share, event, until = at, rows.shape[0] + k, by
        k = op.next_piece
    return share, event, until


@kernel
def _end_of_piece(op, h):
    """Where the piece of an operation ends, and where it is over; (1, 0) if it does not."""
    slack = SHARP * (1.0 + abs(op.value))
    if op.began <= 0.0 and op.margin >= -slack:
        return 1.0, 0.0
    begin = max(op.began, 0.0)
    start, end = h * op.began_rate, h * op.margin_rate
    if op.began_rate == 0.0 or op.margin_rate == 0.0:  # not known: a straight line
        start = end = op.margin - begin
    return crossing(begin, start, op.margin, end, slack)


@inlined
def quantity(constraints, event):
    """What comes to zero at an event, and its rate, 0 if that is not known."""
    rows = constraints.rows
    if event < rows.shape[0]:
        return measured(rows[event])
    op = constraints.tape[event - rows.shape[0]]
    return op.margin, op.margin_rate


@kernel
def crossing(y0, s0, y1, s1, slack):
    """Where the cubic with ends y0 >= 0 and y1, slopes s0 and s1 on [0, 1] crosses zero, and where it is below.

    (1, 0) if it does not go below -slack.
    """
    second, third = 3.0 * (y1 - y0) - 2.0 * s0 - s1, 2.0 * (y0 - y1) + s0 + s1
    low, high = 0.0, 1.0
    if y1 >= -slack:
        if s0 >= 0.0 or s1 <= 0.0:
            return 1.0, 0.0
        root = math.sqrt(max(second * second - 3.0 * third * s0, 0.0))
        high = -s0 / (second + root) if second > 0.0 else (root - second) / (3.0 * third)  # its minimum
        if y0 + high * (s0 + high * (second + high * third)) >= -slack:
            return 1.0, 0.0
    elif y0 == 0.0 and s0 <= 0.0:
        return 0.0, 1.0
    by = high
    for _ in range(40):
        x = 0.5 * (low + high)
        if y0 + x * (s0 + x * (second + x * third)) > 0.0:
            low = x
        else:
            high = x
    return high, by


@kernel
def locate(constraints, work, course, refused):
    """(end of a trial evaluated) => course.event, the row of the first event or -1, and course.share, where it is.

    Returns whether to try again up to that share. With `refused`, the step is too long for its error: then only the
    factor of the next one is told, for beyond an event the motion is another one, and its error means little.
    """
    rows, h = constraints.rows, course.length
    if course.event < 0:
        course.share, course.event, course.high = first_event(constraints, work, h)
        if refused:
            if course.event >= 0:
                course.factor = min(max(course.share, 0.2), 0.9)
            return False
        if course.event < 0 or course.share == 0.0:
            return False
        course.before, course.before_at = quantity(constraints, course.event)[0], 1.0
        return True
    # Newton's method for the time of the event, kept within what is known.
    value, rate = quantity(constraints, course.event)
    course.searches += 1
    enough, share = near_enough(constraints, work, course.event), course.share
    kept = course.event < rows.shape[0] and rows[course.event].mode == HELD
    if course.searches == 1 and share == PEEK and value <= 0.0 and kept:
        course.share = 0.0  # at its bound when the step began
        return False
    if abs(value) <= enough or course.searches == SEARCHES:
        if value > enough:
            course.event = -1  # not yet: the next part of the step begins nearer to it
        return False
    if rate == 0.0:  # not known: by the line through the last two points
        rate = (value - course.before) / (h * (share - course.before_at))
    course.before, course.before_at = value, share
    if value > 0.0:
        course.low = share
    else:
        course.high = share
    newton = share - value / (h * rate) if rate < 0.0 else -1.0
    course.share = newton if course.low < newton < course.high else 0.5 * (course.low + course.high)
    return True
