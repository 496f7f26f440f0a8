"""How blocks become operations of a tape."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from ..engine.control import codes
from ..model.block import OUT, Block
from ..model.rotation import matrix
from .blocks import BLOCKS
from .blocks.panel import Element
from .diagram import Diagram, Wired
from .formula_ops import lower_formula
from .signals import (
    ACCELERATION,
    ANGULAR_VELOCITY,
    COORDINATE,
    FORCE,
    POSITION,
    RATE,
    ROTATION,
    VELOCITY,
    Signal,
)
from .tape import Named, Tape
from .user_functions import lower_compiled, lower_python


class Place(Protocol):
    """Where a diagram finds the compiled model."""

    def coordinate_place(self, joint: str, part: int) -> int:
        """Place of a joint's coordinate among all of them."""

    def body_place(self, owner: str) -> tuple[int, Any, Any]:
        """Number of the body that a body or marker is on, its place [m] and quaternion in the body's frame."""

    def drive_place(self, drive: str) -> int:
        """Place of a drive's command among the inputs."""

    def keeps_rate(self, drive: str) -> bool:
        """Whether a drive is kept at the rate that it is commanded, so that it has to know how fast that changes."""

    def operator_place(self, channel: str, value: float) -> int:
        """A new place among the inputs for what an operator sets, with its value at the start."""

    def look_place(self, channel: str, value: float) -> int:
        """A new place among the inputs for what a sensor that looks between steps has seen, with its value at first."""

    def numbers(self, values: Any, scratch: int = 0) -> tuple[int, int]:
        """Store numbers, with room for `scratch` more behind them; returns (first, count)."""

    def factor_place(self, load: str) -> int:
        """Place of the number that scales a force or torque."""

    def switch_place(self, joint: str) -> tuple[int, bool]:
        """Number of a joint that comes and goes, and whether it holds at the start."""


class Lowering:
    """A diagram while it becomes a tape."""

    def __init__(self, diagram: Diagram, place: Place):
        self.diagram, self.place, self.tape = diagram, place, Tape()
        self.made: dict[str, int] = {}  # outputs
        self._waiting: list[tuple[Any, str | int, Wired, bool]] = []  # inputs of what acts later

    def run(self) -> Tape:
        """All blocks, in their order; what acts later takes its inputs when all are there."""
        for name in self.diagram.order:
            self.tape.block = name
            block = self.diagram.blocks[name]
            made = _LOWER[block.kind](self, block)
            ops = made if isinstance(made, dict) else {OUT: made}
            for port in block.ports():
                output = f"{name}.{port.name}"
                self.made[output] = ops[port.name]
        for record, slot, wired, fact in self._waiting:
            self.tape.block = f"{wired.block}.in"
            record[slot] = self.fact(wired) if fact else self.take(wired)
        self._name()
        return self.tape

    def _name(self) -> None:
        """Outputs with their units; what several share is recorded from copies of their own."""
        taken: set[int] = set()
        for output, told in self.diagram.outputs.items():
            op = self.made[output]
            if op in taken:
                self.tape.block = f"{output}.copy"
                op = self.tape.add(codes.BLEND, op, p=(1.0,))
            taken.add(op)
            self.tape.outputs.append(Named(output, told.unit or "1", op))

    # --- what blocks take ---

    def take(self, wired: Wired) -> int:
        """The operation that an input takes."""
        if not wired.source:
            return self.tape.number(wired.number)
        op = self.made.get(wired.source)
        if op is None:
            op = self.sensor(self.diagram.signals[wired.source])
        return self.tape.add(codes.BLEND, op, p=(-1.0,)) if wired.negative else op

    def fact(self, wired: Wired) -> int:
        """The operation that an input takes which is true or false: a minus stands for not."""
        if not wired.negative:
            return self.take(wired)
        return self.tape.add(codes.NOT, self.take(wired._replace(negative=False)))

    def term(self, wired: Wired) -> tuple[float, int]:
        """A factor of 1 or -1 and the operation."""
        return (-1.0 if wired.negative else 1.0), self.take(wired._replace(negative=False))

    def inputs(self, block: Block, field: str) -> list[Wired]:
        """What the inputs of a field take."""
        return [wired for wired in self.diagram.into(block.name) if wired.path[0] == field]

    def input(self, block: Block, field: str = "input") -> int:
        """The operation that an only input takes."""
        return self.take(self.inputs(block, field)[0])

    def later(self, op: int, slot: str, block: Block, field: str = "input", *, fact: bool = False) -> int:
        """An operation that takes an input which may come after it."""
        self.waiting(self.tape.records[op], slot, self.inputs(block, field)[0], fact=fact)
        return op

    def waiting(self, record: Any, slot: str | int, wired: Wired, *, fact: bool = False) -> None:
        """Write the operation that an input takes to a place of a record when all are there."""
        self._waiting.append((record, slot, wired, fact))

    def linear(self, terms: Sequence[tuple[float, Wired]]) -> int:
        """A sum of multiples of inputs."""
        found = []
        for factor, wired in terms:
            sign, op = self.term(wired)
            found.append((sign * factor, op))
        return self.tape.blend(found)

    def sensor(self, signal: Signal) -> int:
        """A signal of the model."""
        once = self.tape.once
        if signal.what in (COORDINATE, RATE):
            kind = codes.COORDINATE if signal.what == COORDINATE else codes.RATE
            return once(kind, self.place.coordinate_place(signal.owner, signal.part))
        if signal.what == FORCE:
            return once(codes.DRIVE_FORCE, self.place.drive_place(signal.owner))
        body, at, turned = self.place.body_place(signal.owner)
        if signal.what == ROTATION:
            first = once(codes.ROTATION, body, 0, tuple(turned))
            return first if signal.part == 0 else once(codes.ROTATION, body, signal.part, (), first)
        kinds = {
            POSITION: codes.POSITION, VELOCITY: codes.VELOCITY, ANGULAR_VELOCITY: codes.TURNING,
            ACCELERATION: codes.ACCELERATION,
        }  # fmt: skip
        return once(kinds[signal.what], body, signal.part, tuple(at))


Lowered = int | dict[str, int]
_LOWER: dict[str, Callable[[Lowering, Any], Lowered]] = {}


def _lowers(
    *kinds: str,
) -> Callable[[Callable[[Lowering, Any], Lowered]], Callable[[Lowering, Any], Lowered]]:
    def note(function: Callable[[Lowering, Any], Lowered]) -> Callable[[Lowering, Any], Lowered]:
        for kind in kinds:
            _LOWER[kind] = function
        return function

    return note


# --- sources, the panel, sensors ---


@_lowers("constant")
def _constant(to: Lowering, block: Any) -> Lowered:
    return to.tape.add(codes.CONSTANT, p=(block.value,), value=block.value)


@_lowers("clock")
def _clock(to: Lowering, block: Any) -> Lowered:
    return to.tape.add(codes.CLOCK)


@_lowers("step")
def _step(to: Lowering, block: Any) -> Lowered:
    return to.tape.add(codes.STEP, p=(block.at, block.before, block.after))


@_lowers("ramp")
def _ramp(to: Lowering, block: Any) -> Lowered:
    end = math.inf if block.end is None else block.end
    return to.tape.add(codes.RAMP, p=(block.slope, block.begin, end, block.offset))


@_lowers("sine_wave")
def _sine(to: Lowering, block: Any) -> Lowered:
    return to.tape.add(codes.SINE, p=(block.amplitude, math.tau * block.frequency, block.phase, block.offset))


@_lowers("chirp")
def _chirp(to: Lowering, block: Any) -> Lowered:
    return to.tape.add(codes.CHIRP, p=(block.first, block.last, block.duration, block.amplitude))


@_lowers("pulse")
def _pulse(to: Lowering, block: Any) -> Lowered:
    return to.tape.add(codes.PULSE, p=(block.every, block.width, block.begin, block.low, block.high))


@_lowers("time_table")
def _time_table(to: Lowering, block: Any) -> Lowered:
    first, _ = to.place.numbers((*block.times, *block.values))
    return to.tape.add(codes.TABLE, p=(first, len(block.times), float(block.repeats)))


@_lowers("noise")
def _noise(to: Lowering, block: Any) -> Lowered:
    return to.tape.add(codes.NOISE, p=(block.deviation, block.mean, block.seed), period=block.sample_time)


@_lowers("lever", "joystick", "knob", "button", "toggle", "selector")
def _operated(to: Lowering, block: Element) -> Lowered:
    made = {}
    for channel in block.channels:
        slot = to.place.operator_place(f"{block.name}.{channel}", block.rest())
        made[channel] = to.tape.add(codes.INPUT, slot, value=block.rest())
    return made


@_lowers("imu")
def _imu(to: Lowering, block: Any) -> Lowered:
    body, _, _ = to.place.body_place(block.body)
    axes = matrix(block.rotation).T
    made = {}
    for k, axis in enumerate("xyz"):
        p = (*block.at, *axes[k])
        made[f"w{axis}"] = to.tape.add(codes.SPIN, body, p=p)
        made[f"a{axis}"] = to.tape.add(codes.SPECIFIC_FORCE, body, p=p)
    return made


@_lowers("contact_sensor", "load_cell", "range_finder")
def _looking(to: Lowering, block: Any) -> Lowered:
    made = {}
    for port in block.ports():
        first = block.reach if port.name == "distance" else 0.0
        made[port.name] = to.tape.add(
            codes.INPUT, to.place.look_place(f"{block.name}.{port.name}", first), value=first
        )
    return made


# --- mathematics ---


@_lowers("sum")
def _sum(to: Lowering, block: Any) -> Lowered:
    return to.linear([(1.0, wired) for wired in to.inputs(block, "inputs")])


@_lowers("gain")
def _gain(to: Lowering, block: Any) -> Lowered:
    sign, op = to.term(to.inputs(block, "input")[0])
    return to.tape.add(codes.BLEND, op, p=(sign * block.gain, 0.0, 0.0, block.offset))


@_lowers("product")
def _product(to: Lowering, block: Any) -> Lowered:
    op = to.tape.reduce(codes.MULTIPLY, [to.take(wired) for wired in to.inputs(block, "inputs")])
    return to.tape.reduce(codes.DIVIDE, [op, *(to.take(wired) for wired in to.inputs(block, "over"))])


@_lowers("formula")
def _formula(to: Lowering, block: Any) -> Lowered:
    taken = {wired.input: to.take(wired) for wired in to.diagram.into(block.name)}
    return lower_formula(to.tape, block.formula, taken)


@_lowers("minimum", "maximum")
def _extreme(to: Lowering, block: Any) -> Lowered:
    kind = codes.LEAST if block.kind == "minimum" else codes.MOST
    return to.tape.reduce(kind, [to.take(wired) for wired in to.inputs(block, "inputs")])


@_lowers("norm")
def _norm(to: Lowering, block: Any) -> Lowered:
    ops = [to.take(wired) for wired in to.inputs(block, "inputs")]
    return to.tape.reduce(codes.HYPOT, ops if len(ops) > 1 else [*ops, to.tape.number(0.0)])


def _times(to: Lowering, a: int, b: int) -> int:
    return to.tape.add(codes.MULTIPLY, a, b)


@_lowers("dot")
def _dot(to: Lowering, block: Any) -> Lowered:
    a, b = ([to.take(wired) for wired in to.inputs(block, field)] for field in "ab")
    return to.tape.blend([(1.0, _times(to, x, y)) for x, y in zip(a, b, strict=True)])


@_lowers("cross")
def _cross(to: Lowering, block: Any) -> Lowered:
    a, b = ([to.take(wired) for wired in to.inputs(block, field)] for field in "ab")
    made = {}
    for k, axis in enumerate("xyz"):
        i, j = (k + 1) % 3, (k + 2) % 3
        made[axis] = to.tape.blend([(1.0, _times(to, a[i], b[j])), (-1.0, _times(to, a[j], b[i]))])
    return made


# --- nonlinear ---


@_lowers("saturation", "dead_zone")
def _bounds(to: Lowering, block: Any) -> Lowered:
    kind = codes.SATURATE if block.kind == "saturation" else codes.DEAD
    return to.tape.add(kind, to.input(block), p=(block.low, block.high))


@_lowers("rate_limit")
def _rate_limit(to: Lowering, block: Any) -> Lowered:
    falling = block.rising if block.falling is None else block.falling
    p = (block.rising, falling, block.time_constant)
    return to.later(to.tape.add(codes.FOLLOW, p=p, x=block.start), "a", block)


@_lowers("relay")
def _relay(to: Lowering, block: Any) -> Lowered:
    p = (block.on_above, block.off_below, block.on, block.off, float(block.begins_on))
    return to.tape.add(codes.RELAY, to.input(block), p=p)


@_lowers("play")
def _play(to: Lowering, block: Any) -> Lowered:
    memory = (block.start, 0.0, 0.0, 0.0)
    return to.tape.add(codes.PLAY, to.input(block), p=(block.gap,), memory=memory, value=block.start)


@_lowers("lookup")
def _lookup(to: Lowering, block: Any) -> Lowered:
    first, _ = to.place.numbers((*block.x, *block.y))
    return to.tape.add(codes.LOOKUP, to.input(block), p=(first, len(block.x), float(block.extends)))


@_lowers("lookup_2d")
def _lookup_2d(to: Lowering, block: Any) -> Lowered:
    values = [x for row in block.values for x in row]
    first, _ = to.place.numbers((*block.x, *block.y, *values))
    p = (first, len(block.x), len(block.y))
    return to.tape.add(codes.LOOKUP_2D, to.input(block), to.input(block, "across"), p=p)


# --- logic ---


@_lowers("compare")
def _compare(to: Lowering, block: Any) -> Lowered:
    a, b = to.input(block), to.input(block, "other")
    if block.relation.startswith(">"):
        a, b = b, a
    return to.tape.add(codes.LESS, a, b, p=(float(block.relation.endswith("=")),))


@_lowers("and", "or")
def _and_or(to: Lowering, block: Any) -> Lowered:
    ops = [to.fact(wired) for wired in to.inputs(block, "inputs")]
    kind = codes.AND if block.kind == "and" else codes.OR
    return to.tape.reduce(kind, ops if len(ops) > 1 else ops * 2)


@_lowers("not")
def _not(to: Lowering, block: Any) -> Lowered:
    return to.tape.add(codes.NOT, to.fact(to.inputs(block, "input")[0]))


@_lowers("flip_flop")
def _flip_flop(to: Lowering, block: Any) -> Lowered:
    op = to.tape.add(codes.FLIP_FLOP, value=float(block.begins_on))
    to.later(op, "a", block, "set", fact=True)
    return to.later(op, "b", block, "reset", fact=True)


@_lowers("switch")
def _switch(to: Lowering, block: Any) -> Lowered:
    when = to.fact(to.inputs(block, "when")[0])
    return to.tape.add(codes.SWITCH, when, to.input(block), to.input(block, "other"))


# --- user, actuators, ports ---


@_lowers("compiled_function")
def _compiled(to: Lowering, block: Any) -> Lowered:
    ops = [to.take(wired) for wired in to.inputs(block, "inputs")]
    return lower_compiled(to.tape, to.place, block, ops)


@_lowers("python_function")
def _python(to: Lowering, block: Any) -> Lowered:
    ops = [to.take(wired) for wired in to.inputs(block, "inputs")]
    return lower_python(to.tape, to.place, block, ops)


@_lowers("drive")
def _drive(to: Lowering, block: Any) -> Lowered:
    keeps_rate = float(to.place.keeps_rate(block.drive))
    return to.tape.add(codes.COMMAND, to.input(block), to.place.drive_place(block.drive), p=(keeps_rate,))


@_lowers("force_command")
def _force(to: Lowering, block: Any) -> Lowered:
    return to.tape.add(codes.SCALE, to.input(block), to.place.factor_place(block.load))


@_lowers("attach")
def _attach(to: Lowering, block: Any) -> Lowered:
    number, holds = to.place.switch_place(block.joint)
    when = to.fact(to.inputs(block, "when")[0])
    return to.tape.add(codes.ATTACH, when, number, memory=(float(holds), 0.0, 0.0, 0.0))


@_lowers("inlet", "outlet")
def _through(to: Lowering, block: Any) -> Lowered:
    return to.input(block)


@_lowers("lamp", "gauge", "text")
def _shown(to: Lowering, block: Any) -> Lowered:
    taken = to.inputs(block, "input")
    return to.take(taken[0]) if taken else to.tape.number(0.0)


from . import lower_states  # noqa: E402  (the rest of the blocks)

_LOWER.update(lower_states.LOWER)
MISSING = BLOCKS.keys() - _LOWER.keys()
