"""The interpreter: one pass over a tape within a step, and what happens at instants, events and starts.

Within a step the pieces of laws and sampled values stay as they are, so that what is integrated is smooth; they change
between steps alone: where a step begins anew, at an instant, at an event that was located.
"""

import math

from ..kernels.jit import kernel, later_exact
from ..kernels.tape import BY_IMPULSES, HEAD, early, note_due
from .codes import (
    ACCELERATION,
    ATTACH,
    BLEND,
    CLOCK,
    COMMAND,
    COORDINATE,
    DELAY,
    DRIVE_FORCE,
    FLIP_FLOP,
    FOLLOW,
    FUNCTION,
    HOLD,
    INPUT,
    INTEGRATE,
    MACHINE,
    PICK,
    PLAY,
    SCALE,
    SPECIFIC_FORCE,
    SPIN,
    TABLE,
)
from .pieces import choose, margin
from .sampled import call, sample, take_in
from .sensors import sense, sense_means
from .sources import source_value, turn_source
from .values import UNKNOWN, flow_of, operate

_ROUNDS = 8  # in which what flip-flops and state machines change at one moment has to settle


@kernel
def _evaluate(tables, constraints, op, i, v, t):
    """Value and rate of an operation."""
    tape, kind = constraints.tape, op.kind
    if kind >= BLEND and kind < HOLD:
        op.value, op.rate = operate(tape, op, tables.numbers)
    elif kind >= COORDINATE and kind <= SPIN:
        op.value, op.rate = sense(tables, constraints, op, v)
    elif kind >= CLOCK and kind <= TABLE:
        op.value, op.rate = source_value(op, tables.numbers, t)
    elif kind == INPUT:
        op.value = constraints.inputs[op.a]
    elif kind == DRIVE_FORCE or kind == ACCELERATION or kind == SPECIFIC_FORCE:
        op.value = op.memory[0]
    elif kind == FUNCTION:
        call(tape, i, tables.numbers, t)
    elif kind == PICK:
        op.value, op.rate = tables.numbers[op.b], UNKNOWN
    elif kind == COMMAND:
        op.value, op.rate = tape[op.a].value, tape[op.a].rate
        constraints.inputs[op.b] = op.value
    elif kind == SCALE:
        op.value = tape[op.a].value
        tables.numbers[op.b] = op.value
    elif kind > FLIP_FLOP and kind < FUNCTION:
        op.value, op.rate = operate(tape, op, tables.numbers)


@kernel
def _pass(tables, constraints, v, t):
    """Values of all operations, then flows of states, then rates and margins where they are asked for."""
    tape = constraints.tape
    i, n = 1, tape.shape[0]
    while i < n:
        op = tape[i]
        _evaluate(tables, constraints, op, i, v, t)
        i += 1 + op.skip
    _finish(tables, constraints, v, t)


@kernel
def _finish(tables, constraints, v, t):
    """(values of all operations) => flows of states, and rates and margins where they are asked for."""
    tape = constraints.tape
    i = tape[HEAD].next_state
    while i != 0:
        tape[i].flow = flow_of(tape, tape[i])
        i = tape[i].next_state
    if tape[HEAD].a != 0:
        _rates(tables, constraints, v, t)


@kernel
def _rates(tables, constraints, v, t):
    """The rates of states are known only now, and those of what follows them; then margins."""
    tape = constraints.tape
    i = tape[HEAD].next_again
    while i != 0:
        _evaluate(tables, constraints, tape[i], i, v, t)
        i = tape[i].next_again
    i = tape[HEAD].next_piece
    while i != 0:
        op = tape[i]
        op.margin, op.margin_rate = margin(tape, op, tables.numbers)
        i = op.next_piece


@later_exact
def pass_within(tables, constraints, v, t):
    """(placed tables, measured rows) => commands of drives and factors of forces; within a step."""
    _pass(tables, constraints, v, t)


@later_exact
def pass_between(tables, constraints, v, t):
    """(placed tables, measured rows) => the same where a step begins anew: pieces, instants, flip-flops.

    tape[HEAD].mode: the operation whose piece is known to end here, 0 for none.
    """
    tape = constraints.tape
    ended = int(tape[HEAD].mode)
    if tape[HEAD].c == BY_IMPULSES:
        sense_means(tables, constraints, t)
    for k in range(_ROUNDS):
        for again in range(int(tape[HEAD].p[2])):
            _turn(tables, constraints, v, t, ended, k + again == 0, again == 0)
            _follow(tape, tables.numbers, ended, k + again == 0)
            _finish(tables, constraints, v, t)
        if not _take_in_all(tape, t):
            break
        _pass(tables, constraints, v, t)
    _switches(tape)
    tape[HEAD].mode, tape[HEAD].p[1] = 0, 0.0
    note_due(tape)


@kernel
def _asks_for_rates(op):
    return op.kind == PLAY or op.kind == INTEGRATE


@kernel
def _follow(tape, numbers, ended, begin):
    """Choose pieces of what follows its input, which may come after it; its value does not depend on that."""
    i = tape[HEAD].next_piece
    while i != 0:
        op = tape[i]
        if op.kind == FOLLOW and (begin or i != ended):
            choose(tape, op, numbers, i == ended)
        i = op.next_piece


@kernel
def _turn(tables, constraints, v, t, ended, begin, first):
    """Values as `_pass` finds them, with pieces chosen and outputs sampled on the way.

    begin: of all passes at this moment it is the first; first: it is the first of two.
    """
    tape, numbers = constraints.tape, tables.numbers
    i, n = 1, tape.shape[0]
    while i < n:
        op = tape[i]
        if op.due < math.inf and op.due - early(op) <= t:
            _act_on_time(tape, op, i, numbers, t)
        if op.pieces != 0 and op.kind != FOLLOW and (begin or i != ended) and (first or _asks_for_rates(op)):
            choose(tape, op, numbers, i == ended)
        _evaluate(tables, constraints, op, i, v, t)
        i += 1 + op.skip


@kernel
def _act_on_time(tape, op, i, numbers, t):
    """An operation acts at its instant."""
    if op.kind == MACHINE:
        return  # later
    if op.kind == DELAY:  # its turn comes when it takes its input
        sample(tape, i, numbers, t)
    elif op.period > 0.0:
        sample(tape, i, numbers, t)
        op.samples += 1.0
        op.due = op.samples * op.period
    else:
        turn_source(op, numbers, t + 1e-12 * (1.0 + abs(t)))


@kernel
def _take_in_all(tape, t):
    """Delays, state machines and flip-flops take their inputs; returns whether some output has changed."""
    changed = False
    i = tape[HEAD].next_late
    while i != 0:
        op = tape[i]
        if op.kind == FLIP_FLOP:
            changed |= take_in(tape, i, t)
        elif op.due - early(op) <= t:
            changed |= take_in(tape, i, t)
            op.samples += 1.0
            op.due = op.samples * op.period
        i = op.next_late
    return changed


@kernel
def _switches(tape):
    """Note whether joints wait to be attached or released."""
    for i in range(1, tape.shape[0] if tape[HEAD].p[3] != 0.0 else 1):
        op = tape[i]
        if op.kind == ATTACH:
            op.value = 1.0 if tape[op.a].value >= 0.5 else 0.0
            if op.value != op.memory[0]:
                tape[HEAD].p[0] = 1.0
