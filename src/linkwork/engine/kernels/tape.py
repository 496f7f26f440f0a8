"""The tape of a control diagram as steppers see it: states to integrate, instants to meet, events to look for.

Its first record stands for the whole: `a`: 1 if rates are asked for, by laws in pieces or by drives that keep a rate,
`b`: 1 if something acts at instants, `c`: 1 if forces or accelerations are measured, `BY_IMPULSES` if accelerations are
means over a step, `due`: the next instant, `mode`: the operation whose piece is known to end now, 0 for none, `p[0]`: 1
while joints wait to be attached or released, `p[1]`: 1 if a step begins anew with the next evaluation, `p[2]`: how
often pieces are chosen (twice if some choose by rates or flows), `p[3]`, `p[4]`, `p[5]`: 1 if joints are attached,
forces of drives measured, pieces chosen by rates. Operations that loops look for are chained: see `tables.OP`.
"""

import math

from .jit import inlined, kernel

HEAD = 0
BY_IMPULSES = 2
SWITCH = 23
"""Status of a run: the diagram attaches or releases joints; do so, and come again."""
_EARLY = 1e-9  # share of a period by which a step may miss an instant: rounding of times
_AT_ONCE = 1e-12  # and of a time at which something happens once
SHARP = 1e-10
"""A margin below less than this has not ended, against the size of what is compared."""
ENOUGH = 1e-11
"""A located end of a piece is this near, likewise."""


@inlined
def early(op):
    """How much before its instant an operation may act [s]."""
    return _EARLY * op.period if op.period > 0.0 else _AT_ONCE * (1.0 + abs(op.due))


@inlined
def instant_due(tape, t):
    """Whether some operation has to act at t."""
    return tape.shape[0] > 0 and tape[HEAD].due <= t


@inlined
def joints_wait(tape):
    """Whether joints wait to be attached or released."""
    return tape.shape[0] > 0 and tape[HEAD].p[0] != 0.0


@inlined
def begin_anew(tape, event):
    """With the next evaluation a step begins; event: the operation whose piece ends there, 0 for none."""
    if tape.shape[0] > 0:
        tape[HEAD].mode, tape[HEAD].p[1] = event, 1.0


@kernel
def note_due(tape):
    """The next instant of the tape is the first of its operations'."""
    first = math.inf
    for i in range(1, tape.shape[0] if tape[HEAD].b != 0 else 1):
        if tape[i].due < math.inf:
            first = min(first, tape[i].due - early(tape[i]))
    tape[HEAD].due = first


@kernel
def up_to_instant(tape, t, reach):
    """How far a step from t may go: `reach`, or up to the next instant after t [s]."""
    for i in range(1, tape.shape[0]):
        op = tape[i]
        if op.due < math.inf:
            ahead = op.due - t
            if ahead <= early(op):
                ahead = ahead + op.period if op.period > 0.0 else reach
            reach = min(reach, ahead)
    return reach


@kernel
def read_tape(tape, y, at):
    """y[at …] = continuous states of the tape."""
    i = tape[HEAD].next_state if tape.shape[0] > 0 else 0
    while i != 0:
        y[at + tape[i].state] = tape[i].x
        i = tape[i].next_state


@kernel
def write_tape(tape, y, at):
    """Continuous states of the tape = y[at …]."""
    i = tape[HEAD].next_state if tape.shape[0] > 0 else 0
    while i != 0:
        tape[i].x = y[at + tape[i].state]
        i = tape[i].next_state


@kernel
def read_tape_flows(tape, y, at):
    """y[at …] = how fast states of the tape change, as last evaluated."""
    i = tape[HEAD].next_state if tape.shape[0] > 0 else 0
    while i != 0:
        y[at + tape[i].state] = tape[i].flow
        i = tape[i].next_state


@kernel
def sample_tape(tape, out):
    """out[k] = k-th value that is recorded."""
    for i in range(1, tape.shape[0]):
        if tape[i].column >= 0:
            out[tape[i].column] = tape[i].value


@kernel
def push_tape(tape, h):
    """Continuous states move on by h, as they flow now: explicit Euler, for steps by impulses."""
    i = tape[HEAD].next_state if tape.shape[0] > 0 else 0
    while i != 0:
        tape[i].x += h * tape[i].flow
        i = tape[i].next_state


@kernel
def remember_tape(tape):
    """Where pieces stand at the start of the next step."""
    i = tape[HEAD].next_piece if tape.shape[0] > 0 else 0
    while i != 0:
        tape[i].began, tape[i].began_rate = tape[i].margin, tape[i].margin_rate
        i = tape[i].next_piece
