"""What operations do at instants: digital controllers, delays, state machines, functions of the user."""

from ..kernels.callback import call_user
from ..kernels.jit import exact_kernel, kernel
from .codes import AVERAGE, DELAY, DIGITAL_PID, FLIP_FLOP, HOLD, NOISE, PYTHON
from .sources import normal
from .values import true


@exact_kernel
def number(tape, i, k):
    """The k-th number of the records behind operation i."""
    return tape[i + 1 + k // 8].p[k % 8]


@exact_kernel
def set_number(tape, i, k, x):
    """Write it."""
    tape[i + 1 + k // 8].p[k % 8] = x


@kernel
def sample(tape, i, numbers, t):
    """(an instant of operation i) Its output from what is there now."""
    op = tape[i]
    if op.kind == PYTHON:
        call(tape, i, numbers, t)
    else:
        _sample(tape, i)


@exact_kernel
def _sample(tape, i):
    op = tape[i]
    if op.kind == HOLD:
        op.value = tape[op.a].value
    elif op.kind == DELAY:
        op.value = number(tape, i, int(op.memory[0]))
    elif op.kind == DIGITAL_PID:
        op.value = _pid(op, tape[op.a].value)
    elif op.kind == AVERAGE:
        op.value = _average(tape, i)
    elif op.kind == NOISE:
        op.value = op.p[1] + op.p[0] * normal(int(op.p[2]), int(op.samples))


@exact_kernel
def _pid(op, error):
    """p: three gains, lag of the derivative, bounds; memory: sum, error before, filtered difference, 1 if there was one
    before."""
    p, m, T = op.p, op.memory, op.period
    total = m[0] + T * error
    slope = 0.0
    if m[3] != 0.0:
        slope = (p[3] * m[2] + error - m[1]) / (p[3] + T)
    wanted = p[0] * error + p[1] * total + p[2] * slope
    output = min(max(wanted, p[4]), p[5])
    if output == wanted or (wanted - output) * error < 0.0:  # within its bounds, or on the way back
        m[0] = total
    m[1], m[2], m[3] = error, slope, 1.0
    return output


@exact_kernel
def _average(tape, i):
    """p[0]: count; memory: place of the next, how many there are. Summed from the oldest on."""
    op = tape[i]
    count, at, have = int(op.p[0]), int(op.memory[0]), int(op.memory[1])
    set_number(tape, i, at, tape[op.a].value)
    at, have = (at + 1) % count, min(have + 1, count)
    total = 0.0
    for k in range(have):
        total += number(tape, i, (at - have + k) % count)
    op.memory[0], op.memory[1] = float(at), float(have)
    return total / have


@exact_kernel
def take_in(tape, i, t):
    """(all outputs of an instant are there) An operation takes its inputs; returns whether its output changes."""
    op = tape[i]
    if op.kind == DELAY:
        at = int(op.memory[0])
        set_number(tape, i, at, tape[op.a].value)
        op.memory[0] = float((at + 1) % int(op.p[0]))
        return False
    if op.kind == FLIP_FLOP:
        was = op.value
        if true(tape[op.b].value):
            op.value = 0.0
        elif true(tape[op.a].value):
            op.value = 1.0
        return op.value != was
    return _go_over(tape, i, t)


@exact_kernel
def _go_over(tape, i, t):
    """A state machine takes its first transition that may be; p[0]: how many there are, each with the state that it
    leaves (-1 for any), the one that it leads to, the operation that says when, and least time in the state."""
    op = tape[i]
    state, m = op.value, op.memory
    spent = t - m[1]
    for k in range(int(op.p[0])):
        source, when = number(tape, i, 4 * k), int(number(tape, i, 4 * k + 2))
        long_enough = spent >= number(tape, i, 4 * k + 3) - 1e-9 * op.period
        if (source == state or source < 0.0) and long_enough and true(tape[when].value):
            op.value = number(tape, i, 4 * k + 1)
            m[1], spent = t, 0.0
            break
    changed = spent != m[2] or op.value != state
    m[2] = spent
    return changed


@kernel
def call(tape, i, numbers, t):
    """Call a user's function; p: count of inputs, first of them among the numbers, of parameters, of outputs, their
    count. Behind it stand the operations that it takes."""
    op = tape[i]
    x, out = int(op.p[1]), int(op.p[3])
    for k in range(int(op.p[0])):
        numbers[x + k] = tape[int(number(tape, i, k))].value
    for k in range(int(op.p[4])):
        numbers[out + k] = 0.0
    call_user(op.function, t, numbers, x, x, int(op.p[2]), out)
