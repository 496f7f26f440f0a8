"""How blocks with states, continuous or sampled, become operations of a tape."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..engine.control import codes
from .tape import Tape

if TYPE_CHECKING:
    from .lower import Lowering

Lowered = int | dict[str, int]


def _bounds(block: Any) -> tuple[float, float]:
    low = -math.inf if block.low is None else block.low
    return low, math.inf if block.high is None else block.high


# --- continuous ---


def _integrator(to: Lowering, block: Any) -> Lowered:
    op = to.tape.add(codes.INTEGRATE, p=(block.gain, *_bounds(block)), x=block.start)
    return to.later(op, "a", block)


def _first_order(to: Lowering, block: Any) -> Lowered:
    op = to.tape.add(codes.LAG, p=(block.gain, block.time_constant), x=block.start)
    return to.later(op, "a", block)


def _integral_of(tape: Tape, start: float = 0.0) -> int:
    """A state whose input is written to `a` of its record later."""
    return tape.add(codes.INTEGRATE, p=(1.0, -math.inf, math.inf), x=start)


def _continuous_pid(to: Lowering, block: Any) -> Lowered:
    tape = to.tape
    target, measured = to.inputs(block, "target")[0], to.inputs(block, "measured")[0]
    error = to.linear([(1.0, target), (-1.0, measured)])
    terms = [(block.proportional, error)]
    total = -1
    if block.integral:
        total = _integral_of(tape)
        terms.append((1.0, total))
    if block.derivative:
        lag = tape.add(codes.LAG, error, p=(1.0, block.filter_time))
        share = block.derivative / block.filter_time
        terms += [(share, error), (-share, lag)]
    wanted = tape.blend(terms)
    low, high = _bounds(block)
    output = wanted
    if low > -math.inf or high < math.inf:
        output = tape.add(codes.SATURATE, wanted, p=(low, high))
    if block.integral:
        back = [] if output == wanted else [(1.0, output), (-1.0, wanted)]
        rate = [(block.integral, error), *((sign / block.tracking_time, op) for sign, op in back)]
        tape.records[total]["a"] = tape.blend(rate)
    return output


def _coefficients(block: Any) -> tuple[list[float], list[float]]:
    """Of numerator and denominator, as many of both, the first of the denominator 1."""
    a = [x / block.denominator[0] for x in block.denominator]
    b = [x / block.denominator[0] for x in block.numerator]
    return [0.0] * (len(a) - len(b)) + b, a


def _transfer_function(to: Lowering, block: Any) -> Lowered:
    """In observer form: x_i' = x_{i+1} + b_i u - a_i y, y = x_1 + b_0 u."""
    b, a = _coefficients(block)
    tape, order = to.tape, len(a) - 1
    states = [_integral_of(tape) for _ in range(order)]
    direct = b[0] != 0.0
    if direct or not order:
        output = tape.blend([*((1.0, x) for x in states[:1]), (b[0], to.input(block))])
    else:
        output = states[0]
    for i, state in enumerate(states, 1):
        later = tape.add(codes.BLEND)
        row = tape.records[later]
        following = states[i] if i < order else -1
        row["a"], row["b"], row["c"] = -1, output, following
        row["p"][:3] = b[i], -a[i], 1.0 if following >= 0 else 0.0
        if b[i] != 0.0:
            to.later(later, "a", block)
        tape.records[state]["a"] = later
    return output


def _rows_of(to: Lowering, rows: Sequence[Sequence[float]], ops: Sequence[int]) -> list[int]:
    """Products of a matrix with operations."""
    return [to.tape.blend([(x, op) for x, op in zip(row, ops, strict=True)]) for row in rows]


def _outputs(block: Any, ops: Sequence[int]) -> dict[str, int]:
    return {port.name: op for port, op in zip(block.ports(), ops, strict=True)}


def _state_space(to: Lowering, block: Any) -> Lowered:
    tape, n = to.tape, len(block.A)
    states = [_integral_of(tape, x) for x in block.start or (0.0,) * n]
    D = block.D or ((0.0,) * len(block.inputs),) * len(block.C)
    direct = to.diagram.follows(block.name)
    taken = [to.take(wired) for wired in to.inputs(block, "inputs")] if direct else []
    outputs = []
    for row, more in zip(block.C, D, strict=True):
        terms = [*zip(row, states, strict=True), *(zip(more, taken, strict=True) if direct else ())]
        outputs.append(tape.blend(terms))
    _rates_of_states(to, block, states, taken)
    return _outputs(block, outputs)


def _rates_of_states(to: Lowering, block: Any, states: list[int], taken: list[int]) -> None:
    """A x + B u; inputs may come later."""
    tape = to.tape
    inputs = to.inputs(block, "inputs")
    for i, state in enumerate(states):
        place = tape.blend([*zip(block.A[i], states, strict=True)])
        for k, wired in enumerate(inputs):
            if block.B[i][k] == 0.0:
                continue
            place = tape.add(codes.BLEND, place, p=(1.0, block.B[i][k]))
            if taken:
                tape.records[place]["b"] = taken[k]
            else:
                to.waiting(tape.records[place], "b", wired)
        tape.records[state]["a"] = place


# --- sampled ---


def _hold(to: Lowering, block: Any) -> Lowered:
    return to.tape.add(codes.HOLD, to.input(block), period=block.sample_time)


def _delay(to: Lowering, block: Any) -> Lowered:
    ring = [block.start] * block.steps
    op = to.tape.add(codes.DELAY, p=(block.steps,), behind=ring, period=block.sample_time, value=block.start)
    return to.later(op, "a", block)


def _moving_average(to: Lowering, block: Any) -> Lowered:
    ring = [0.0] * block.count
    return to.tape.add(
        codes.AVERAGE, to.input(block), p=(block.count,), behind=ring, period=block.sample_time
    )


def _sampled_pid(to: Lowering, block: Any) -> Lowered:
    target, measured = to.inputs(block, "target")[0], to.inputs(block, "measured")[0]
    error = to.linear([(1.0, target), (-1.0, measured)])
    p = (block.proportional, block.integral, block.derivative, block.filter_time, *_bounds(block))
    return to.tape.add(codes.DIGITAL_PID, error, p=p, period=block.sample_time)


def _register(tape: Tape, period: float, start: float = 0.0) -> int:
    """A delay of one sample, whose input is written to `a` of its record later."""
    return tape.add(codes.DELAY, p=(1.0,), behind=[start], period=period, value=start)


def _sampled_transfer_function(to: Lowering, block: Any) -> Lowered:
    """In the transposed direct form II: y = z_1 + b_0 u, z_i⁺ = z_{i+1} + b_i u - a_i y."""
    b, a = _coefficients(block)
    tape, T = to.tape, block.sample_time
    order = len(a) - 1
    states = [_register(tape, T) for _ in range(order)]
    if to.diagram.follows(block.name):
        u = tape.add(codes.HOLD, to.input(block), period=T)
        terms = [(1.0, states[0]), (b[0], u)] if order else [(b[0], u)]
        output = tape.add(codes.HOLD, tape.blend(terms), period=T)
    else:
        u, output = -1, states[0]
    for i, state in enumerate(states, 1):
        # In this order, for sums round: as digital filters are computed everywhere.
        place = tape.add(codes.BLEND)
        row = tape.records[place]
        following = states[i] if i < order else tape.number(0.0)
        row["a"], row["p"][0] = following, 1.0
        row["p"][1:3] = b[i], -a[i]
        row["b"], row["c"] = u, output
        if u < 0:
            to.later(place, "b", block)
        tape.records[state]["a"] = place
    return output


def _sampled_state_space(to: Lowering, block: Any) -> Lowered:
    tape, T = to.tape, block.sample_time
    states = [_register(tape, T, x) for x in block.start or (0.0,) * len(block.A)]
    direct = to.diagram.follows(block.name)
    taken = [to.take(wired) for wired in to.inputs(block, "inputs")] if direct else []
    D = block.D or ((0.0,) * len(block.inputs),) * len(block.C)
    outputs = []
    for row, more in zip(block.C, D, strict=True):
        terms = [*zip(row, states, strict=True), *(zip(more, taken, strict=True) if direct else ())]
        outputs.append(tape.add(codes.HOLD, tape.blend(terms), period=T))
    _rates_of_states(to, block, states, taken)
    return _outputs(block, outputs)


def _state_machine(to: Lowering, block: Any) -> Lowered:
    tape, numbers = to.tape, []
    for way in block.transitions:
        source = -1.0 if way.source == "*" else float(block.states.index(way.source))
        numbers += [source, float(block.states.index(way.target)), -1.0, way.after]
    machine = tape.add(codes.MACHINE, p=(len(block.transitions),), behind=numbers, period=block.sample_time)
    for k, wired in enumerate(to.diagram.into(block.name)):
        record = tape.records[machine + 1 + (4 * k + 2) // 8]
        to.waiting(record["p"], (4 * k + 2) % 8, wired, fact=True)
    made = {"state": machine, "elapsed": tape.add(codes.ELAPSED, machine)}
    for number, state in enumerate(block.states):
        made[state] = tape.add(codes.EQUALS, machine, p=(number,))
    return made


LOWER: dict[str, Callable[[Any, Any], Lowered]] = {
    "integrator": _integrator,
    "first_order": _first_order,
    "continuous_pid": _continuous_pid,
    "transfer_function": _transfer_function,
    "state_space": _state_space,
    "hold": _hold,
    "delay": _delay,
    "moving_average": _moving_average,
    "sampled_pid": _sampled_pid,
    "sampled_transfer_function": _sampled_transfer_function,
    "sampled_state_space": _sampled_state_space,
    "state_machine": _state_machine,
}
