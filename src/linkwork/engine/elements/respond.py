"""Laws, compiled: the response of a row's element, its flow, its samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..kernels.callback import call_user
from ..kernels.jit import inlined, kernel
from ..kernels.signal import signal_value
from ..kernels.tape import (
    HEAD,
    instant_due,
    read_tape,
    read_tape_flows,
    sample_tape,
    up_to_instant,
    write_tape,
)
from ..tables import LAW, USER_LAW
from . import LAWS, SPRING
from .law import Flow, Response

_NUDGE = 1e-6  # [m or m/s]: central differences of a user's law are then good to some ten digits
_SETTLING = 20  # iterations of Newton's method for a state at rest


def _chain(name: str, arguments: str, functions: Sequence[Callable[..., Any] | None], otherwise: str) -> Any:
    """One kernel that calls the function of a number: a plain chain of comparisons, as fast as any dispatch.

    Written as text so that a new law is named in one place, the registry.
    """
    scope: dict[str, Any] = {"__name__": __name__, "Response": Response, "Flow": Flow}
    lines = [f"def {name}(number, {arguments}):"]
    for number, function in enumerate(functions):
        if function is not None:
            scope[f"law{number}"] = inlined(function)
            lines += [f"    if number == {number}:", f"        return law{number}({arguments})"]
    exec(compile("\n".join([*lines, f"    return {otherwise}"]), __file__, "exec"), scope)
    return kernel(scope[name])


_ZEROS = ", ".join(["0.0"] * 7)
_respond = _chain("_respond", "p, m, x, phi, rate, u", [law.respond for law in LAWS], f"Response({_ZEROS})")
_flow = _chain("_flow", "p, m, x, phi, rate, u", [law.flow for law in LAWS], "Flow(0.0, 0.0, 0.0, 0.0)")
_sample = _chain("_sample", "p, m, phi, rate, u", [law.sample for law in LAWS], "None")
_margin = _chain("_margin", "p, m, phi, rate, accel", [law.margin for law in LAWS], "(0.0, 0.0)")
_choose = _chain("_choose", "p, m, phi, rate, ended", [law.choose for law in LAWS], "None")


spring_law = inlined(SPRING.respond)
"""The law of springs by itself, for the joints and loads of a tree, which are no rows."""


@kernel
def command_of(tables, constraints, row, t):
    """What the drive of a row is told at time t; 0 for a row without a command."""
    if row.input < 0:
        return 0.0
    return constraints.inputs[row.input] * signal_value(tables, row.signal, t)


@kernel
def respond(tables, row, command, t, slopes):
    """Response of the element of a measured row; without `slopes`, those of a user's law are left out."""
    if row.law == USER_LAW:
        return _user(tables, row, t, slopes)
    return _respond(row.law, row.value, row.memory, row.x, row.phi, row.rate, command)


@kernel
def flow(row, command):
    """How the continuous state of a row's element changes, and the slopes of that."""
    return _flow(row.law, row.value, row.memory, row.x, row.phi, row.rate, command)


@kernel
def _call(tables, row, t, phi, rate):
    """Run a user's law: x, v, out stand behind its parameters. Returns where out begins."""
    numbers, first, x = tables.numbers, int(row.value[0]), int(row.value[0]) + int(row.value[1])
    numbers[x], numbers[x + 1] = phi, rate
    out = x + 2
    for k in range(4):
        numbers[out + k] = 0.0
    call_user(row.function, t, numbers, x, x + 1, first, out)
    return out


@kernel
def _user(tables, row, t, slopes):
    """Response of a user's law: out has pull, stored energy, dissipated and supplied power."""
    numbers = tables.numbers
    by_phi, by_rate = 0.0, 0.0
    phi, rate = row.phi + row.offset, row.rate
    if slopes:
        by_phi = -(numbers[_call(tables, row, t, phi + _NUDGE, rate)] / (2.0 * _NUDGE))
        by_phi += numbers[_call(tables, row, t, phi - _NUDGE, rate)] / (2.0 * _NUDGE)
        by_rate = -(numbers[_call(tables, row, t, phi, rate + _NUDGE)] / (2.0 * _NUDGE))
        by_rate += numbers[_call(tables, row, t, phi, rate - _NUDGE)] / (2.0 * _NUDGE)
    out = _call(tables, row, t, phi, rate)
    return Response(-numbers[out], by_phi, by_rate, 0.0, numbers[out + 1], numbers[out + 3], numbers[out + 2])


@kernel
def with_state(answer, change, step):
    """A response whose state moves along by `step` (f + h f_φ v⁺ + f_v (v⁺ - v)), with step = h/(1 - h f_x)."""
    weight = answer.by_state * step
    return Response(
        answer.force + weight * change.rate, answer.by_phi + weight * change.by_phi,
        answer.by_rate + weight * change.by_rate, answer.by_state, answer.stored, answer.supplied, answer.dissipated,
    )  # fmt: skip


@kernel
def bounded(row, answer):
    """The response within the strength of its row: at a bound it no longer changes."""
    force = min(max(answer.force, -row.strength), row.strength)
    if force == answer.force:
        return answer
    supplied = answer.supplied + (force - answer.force) * row.rate
    return Response(force, 0.0, 0.0, 0.0, answer.stored, supplied, answer.dissipated)


@kernel
def settled(row, command):
    """The state of a row's element that does not change, at its present measure and rate."""
    x = row.x
    for _ in range(_SETTLING):
        change = flow(row, command)
        if change.by_state == 0.0:
            break
        row.x -= change.rate / change.by_state
    found = row.x
    row.x = x
    return found


@kernel
def stored_energy(tables, constraints, t):
    """Energy in all elements of measured rows [J]."""
    total, rows = 0.0, constraints.rows
    for r in range(rows.shape[0]):
        if rows[r].role == LAW:
            total += respond(tables, rows[r], 0.0, t, False).stored
    return total


@kernel
def note(row, answer):
    """Keep what `power_of` needs of a response."""
    row.pull, row.supplied, row.dissipated = answer.force, answer.supplied, answer.dissipated


@kernel
def power_of(row, accel):
    """Power of an element whose force came out as row.force, its measure so accelerated: supplied, dissipated [W].

    What a rotor takes up is kinetic energy. What else a force differs from its law by (implicit steps, bounds) a drive
    supplies and anything else dissipates.
    """
    missing = (row.pull - row.inertia * accel - row.force) * row.rate
    if row.source != 0:
        return row.supplied - missing, row.dissipated
    return row.supplied, row.dissipated + missing


# --- samples ---

_EARLY = 1e-9  # share of a period by which a step may miss an instant: rounding of times


@inlined
def sampling_due(constraints, t):
    """Whether an element has to be sampled at t."""
    rows = constraints.rows
    for i in range(rows.shape[0]):
        if rows[i].period > 0.0 and (rows[i].samples - _EARLY) * rows[i].period <= t:
            return True
    return instant_due(constraints.tape, t)


@inlined
def up_to_sample(constraints, t, h):
    """How far a step from t may go: h, or up to the next instant after t at which an element is sampled [s]."""
    rows, reach = constraints.rows, h
    for i in range(rows.shape[0]):
        row = rows[i]
        if row.period > 0.0:
            due = row.samples * row.period - t
            if due <= _EARLY * row.period:
                due += row.period
            reach = min(reach, due)
    if constraints.tape.shape[0] > 0 and constraints.tape[HEAD].b != 0:
        reach = up_to_instant(constraints.tape, t, reach)
    return reach if reach < (1.0 - _EARLY) * h else h


@kernel
def take_samples(tables, constraints, t):
    """(measured rows with rates) Sample the elements that are due at t."""
    rows = constraints.rows
    for i in range(rows.shape[0]):
        row = rows[i]
        if row.period > 0.0 and (row.samples - _EARLY) * row.period <= t:
            _sample(
                row.law, row.value, row.memory, row.phi, row.rate, command_of(tables, constraints, row, t)
            )
            row.samples += 1.0


# --- laws in pieces ---


@kernel
def margin_of(row):
    """How far the measure of a row is from the end of the piece of its law that holds, and the rate of that."""
    return _margin(row.law, row.value, row.memory, row.phi, row.rate, row.accel)


@kernel
def choose_piece(row, ended):
    """(row in motion) Which piece of its law holds from now on; ended: the present one is known to end here."""
    _choose(row.law, row.value, row.memory, row.phi, row.rate, ended)


# --- continuous states as part of a vector ---


@kernel
def read_states(constraints, y, at):
    """y[at …] = states of elements."""
    rows = constraints.rows
    if y.shape[0] > at:
        for i in range(rows.shape[0]):
            if rows[i].state >= 0:
                y[at + rows[i].state] = rows[i].x
        read_tape(constraints.tape, y, at)


@kernel
def write_states(constraints, y, at):
    """States of elements = y[at …]."""
    rows = constraints.rows
    if y.shape[0] > at:
        for i in range(rows.shape[0]):
            if rows[i].state >= 0:
                rows[i].x = y[at + rows[i].state]
        write_tape(constraints.tape, y, at)


@kernel
def sample_states(constraints, out):
    """out[k] = k-th of all states of elements that are recorded."""
    rows = constraints.rows
    if out.shape[0] == 0:
        return
    for i in range(rows.shape[0]):
        row = rows[i]
        if row.column >= 0:
            k = row.column
            if row.state >= 0:
                out[k] = row.x
                k += 1
            for j in range(row.slots):
                out[k + j] = row.memory[j]
    sample_tape(constraints.tape, out)


@kernel
def read_flows(constraints, y, at):
    """y[at …] = how fast states of elements change, as last evaluated."""
    rows = constraints.rows
    if y.shape[0] > at:
        for i in range(rows.shape[0]):
            if rows[i].state >= 0:
                y[at + rows[i].state] = rows[i].flow
        read_tape_flows(constraints.tape, y, at)
