"""A control diagram, resolved: what every input takes, in which order blocks act, and all that is wrong with it.

The diagram of a model is that of its flattened components. `Diagram.of` never raises: what is wrong stands in `faults`,
each at its block and field, for editors; `refuse` raises them for whoever runs the model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..model.block import ALIKE, OUT, Block, Input
from ..model.component import Flat
from ..model.errors import ModelError, Problem, nearest
from .blocks.actuators import AttachCommand, DriveCommand, ForceCommand, Inlet
from .blocks.sensors import ContactSensor
from .signals import Signal, signals_of
from .units import command_unit, fits

_ACTS_LATER = ("integrator", "first_order", "rate_limit", "delay", "flip_flop", "state_machine")
"""Blocks none of whose outputs follow their inputs at once."""


class Output(NamedTuple):
    """An output of a block."""

    name: str
    """`<block>.<port>`: a signal of records and simulations, too."""
    block: str
    port: str
    unit: str
    """Nothing if it is not known."""


class Wired(NamedTuple):
    """What one input takes."""

    block: str
    """Whose input it is."""
    input: str
    """Its name among the inputs of the block."""
    path: tuple[str | int, ...]
    """Field of the block, and number in the list."""
    source: str
    """The output (`<block>.<port>`) or signal of the model that it takes; nothing for a number."""
    number: float
    """What it takes, of a number."""
    negative: bool
    """Taken with a minus."""
    unit: str
    """Nothing if it is not known."""


class Fault(NamedTuple):
    """Something that is wrong with a block."""

    block: str
    path: tuple[str | int, ...]
    """Field, and number in a list; nothing for the whole block."""
    what: str


@dataclass
class Diagram:
    """A resolved diagram; made by `Diagram.of`."""

    blocks: dict[str, Block]
    signals: dict[str, Signal]
    """Signals of the model that blocks may take."""
    outputs: dict[str, Output] = field(default_factory=dict)
    """By name, in the order in which values of all wires stand in arrays."""
    wires: list[Wired] = field(default_factory=list)
    order: list[str] = field(default_factory=list)
    """Blocks so that each comes after those that it takes at once; those in loops come last."""
    faults: list[Fault] = field(default_factory=list)

    @classmethod
    def of(cls, flat: Flat) -> Diagram:
        """The diagram of a flattened model."""
        made = cls(dict(flat.control), signals_of(flat))
        for name, block in made.blocks.items():
            for outlet in block.ports():
                output = f"{name}.{outlet.name}"
                made.outputs[output] = Output(output, name, outlet.name, "")
        made._names(flat)
        for instance, port in flat.strays:
            inlets = [n.removeprefix(f"{instance}.") for n, b in made.blocks.items() if isinstance(b, Inlet)]
            near = nearest(port, [n for n in inlets if "." not in n])
            made._fault(instance, ("inputs", port), f"its component has no inlet '{port}'{near}")
        made._connect()
        made._writers(flat)
        made._feeling(flat)
        made._sort()
        made._units(flat)
        return made

    def refuse(self) -> None:
        """Raise a ModelError with all that is wrong."""
        if self.faults:
            raise ModelError(
                Problem(".".join([f"block '{fault.block}'", *map(str, fault.path)]), fault.what)
                for fault in self.faults
            )

    def into(self, block: str) -> list[Wired]:
        """What the inputs of a block take, in their order."""
        return self._into.get(block, [])

    # --- how it is made ---

    def _fault(self, block: str, path: tuple[str | int, ...], what: str) -> None:
        self.faults.append(Fault(block, path, what))

    def _names(self, flat: Flat) -> None:
        others: dict[str, Mapping[str, Any]] = {
            "body": flat.bodies, "joint": flat.joints, "drive": flat.drives, "load": flat.loads, "marker": flat.markers,
        }  # fmt: skip
        for name in self.blocks:
            for what, shelf in others.items():
                if name in shelf:
                    self._fault(name, (), f"has the name of a {what}; call one of them otherwise")

    def _connect(self) -> None:
        self._into: dict[str, list[Wired]] = {name: [] for name in self.blocks}
        for name, block in self.blocks.items():
            inputs = block.inputs_now()
            if isinstance(block, Inlet) and not inputs:
                self._fault(
                    name, ("input",), f"inlet '{name}' takes nothing: say what under `inputs` of the instance"
                )
            for taken in inputs:
                wired = self._resolve(name, taken)
                if wired is not None:
                    self.wires.append(wired)
                    self._into[name].append(wired)

    def _resolve(self, block: str, taken: Input) -> Wired | None:
        if not isinstance(taken.wire, str):
            return Wired(block, taken.name, taken.path, "", float(taken.wire), False, "")
        negative = taken.wire.startswith("-")
        wanted = taken.wire[1:] if negative else taken.wire
        if wanted in self.outputs:
            source = wanted
        elif wanted in self.blocks:
            ports = self.blocks[wanted].ports()
            if not ports:
                self._fault(block, taken.path, f"takes '{wanted}', which has no output")
                return None
            if all(port.name != OUT for port in ports):
                named = ", ".join(f"{wanted}.{port.name}" for port in ports)
                self._fault(
                    block, taken.path, f"takes '{wanted}', which has several outputs: say which ({named})"
                )
                return None
            source = f"{wanted}.{OUT}"
        elif wanted in self.signals:
            source = wanted
        else:
            head = wanted.rpartition(".")[0]
            if head in self.blocks:
                known = [f"{head}.{port.name}" for port in self.blocks[head].ports()]
                what = f"block '{head}' has no output '{wanted.rpartition('.')[2]}'{nearest(wanted, known)}"
            else:
                known = [*self.blocks, *self.outputs, *self.signals]
                what = f"there is no block, output or signal '{wanted}'{nearest(wanted, known)}"
            self._fault(block, taken.path, what)
            return None
        return Wired(block, taken.name, taken.path, source, 0.0, negative, "")

    def _writers(self, flat: Flat) -> None:
        """Drives, loads and joints that several blocks command, or a signal too."""
        said: dict[tuple[str, str], str] = {}
        shelf: Mapping[str, Any]
        for name, block in self.blocks.items():
            if isinstance(block, DriveCommand):
                what, target, shelf = "drive", block.drive, flat.drives
            elif isinstance(block, ForceCommand):
                what, target, shelf = "load", block.load, flat.loads
            elif isinstance(block, AttachCommand):
                what, target, shelf = "joint", block.joint, flat.joints
            else:
                continue
            thing: Any = shelf.get(target)
            if thing is None:
                continue  # the reference's own problem
            first = said.setdefault((what, target), name)
            if first != name:
                self._fault(
                    name, (what,), f"commands {what} '{target}', as block '{first}' does: keep one of them"
                )
            if getattr(thing, "signal", None) is not None:
                self._fault(
                    name, (what,), f"commands {what} '{target}', as its own `signal` does: keep one of them"
                )
            if what == "load" and thing.kind not in ("force", "torque"):
                self._fault(name, (what,), f"can scale a force or a torque, not a {thing.kind}")
            if what == "joint" and not thing.switchable:
                self._fault(
                    name, (what,), f"joint '{target}' always holds: give it `attached` to let it come and go"
                )

    def _feeling(self, flat: Flat) -> None:
        """Sensors of contact on what nothing can touch."""
        things: dict[str, Any] = {**flat.scenery, **flat.bodies}
        for name, block in self.blocks.items():
            if not isinstance(block, ContactSensor):
                continue
            for path, target in (("body", block.body), ("other", block.other)):
                thing = things.get(target or "")
                if target is not None and thing is None and target not in flat.bodies:
                    near = nearest(target, things)
                    self._fault(name, (path,), f"there is no body or scenery '{target}'{near}")
                elif thing is not None and getattr(thing, "material", None) is None:
                    self._fault(name, (path,), f"'{target}' touches nothing: give it a `material`")
            if block.other == block.body:
                self._fault(name, ("other",), "shapes of one body never touch; name another")

    def follows(self, name: str) -> bool:
        """Whether outputs of a block follow its inputs at once, so that it may close an algebraic loop."""
        block = self.blocks[name]
        if block.kind in _ACTS_LATER:
            return False
        if block.kind in ("transfer_function", "sampled_transfer_function"):
            return len(block.numerator) == len(block.denominator)  # type: ignore[attr-defined]
        if block.kind in ("state_space", "sampled_state_space"):
            D = block.D  # type: ignore[attr-defined]
            return D is not None and any(any(row) for row in D)
        return True

    def _sort(self) -> None:
        """Order in which blocks act; loops of blocks that all follow their inputs at once have none."""
        waits = {
            name: {self.outputs[w.source].block for w in self._into[name] if w.source in self.outputs}
            if self.follows(name)
            else set()
            for name in self.blocks
        }
        done: set[str] = set()
        left = list(self.blocks)
        while left:
            ready = [name for name in left if waits[name] <= done]
            if not ready:
                break
            self.order += ready
            done |= set(ready)
            left = [name for name in left if name not in done]
        while left:
            loop = self._loop(left, waits)
            if not loop:
                break
            drawn = " → ".join([*loop, loop[0]])
            what = f"is in an algebraic loop, each block following the one before at once: {drawn}; put a first_order, "
            self._fault(loop[0], (), what + "an integrator or a delay into it")
            left = [name for name in left if name not in loop]
            for name in left:  # what only waits for the loop is not to blame
                waits[name] -= set(loop)
            self.order += loop

    @staticmethod
    def _loop(left: list[str], waits: Mapping[str, set[str]]) -> list[str]:
        """A loop among blocks, in the direction in which values go; nothing if there is none."""
        names = set(left)
        for start in left:
            seen: list[str] = []
            here = start
            while here not in seen:
                seen.append(here)
                before = sorted(waits[here] & names, key=left.index)
                if not before:
                    break
                here = before[0]
            else:
                found = seen[seen.index(here) :][::-1]
                first = min(range(len(found)), key=lambda i: left.index(found[i]))
                return found[first:] + found[:first]
        return []

    # --- units ---

    def _units(self, flat: Flat) -> None:
        """Units of outputs where they follow from what is stated, and inputs that do not fit."""
        known: dict[str, str] = {name: signal.unit for name, signal in self.signals.items()}
        for _ in range(2):  # once more, for what goes round in loops
            for name in self.order:
                self._units_of(name, known)
        for output, told in self.outputs.items():
            self.outputs[output] = told._replace(unit=known.get(output, ""))
        self.wires = [wire._replace(unit=known.get(wire.source, "")) for wire in self.wires]
        self._into = {name: [w for w in self.wires if w.block == name] for name in self.blocks}
        for name in self.blocks:
            self._fitting(name, flat)

    def _units_of(self, name: str, known: dict[str, str]) -> None:
        block = self.blocks[name]
        alike = self._alike(block, known)
        for port in block.ports():
            unit = alike if port.unit == ALIKE else port.unit
            if unit:
                known.setdefault(f"{name}.{port.name}", unit)

    def _alike(self, block: Block, known: Mapping[str, str]) -> str:
        """The unit that inputs of a block share, if that is known."""
        alike = {taken.name for taken in block.inputs_now() if taken.unit == ALIKE}
        units = (known.get(wire.source, "") for wire in self._into[block.name] if wire.input in alike)
        return next((unit for unit in units if unit), "")

    def _fitting(self, name: str, flat: Flat) -> None:
        block = self.blocks[name]
        wanted = {taken.name: taken.unit for taken in block.inputs_now()}
        first: Wired | None = None
        stated = block.unit if isinstance(block, Inlet) else None
        for wire in self._into[name]:
            unit = wanted[wire.input]
            if isinstance(block, DriveCommand):
                unit = command_unit(flat, block.drive)
            elif stated and unit == ALIKE:
                unit = stated
            if unit == ALIKE:
                if wire.unit and first is None:
                    first = wire
                elif wire.unit and first is not None and not fits(wire.unit, first.unit):
                    what = f"'{wire.source}' is in {_said(wire.unit)}, but '{first.source}' in {_said(first.unit)}"
                    self._fault(name, wire.path, f"{what}: put a gain with a `unit` between")
            elif unit and wire.unit and not fits(wire.unit, unit):
                what = f"'{wire.source}' is in {_said(wire.unit)}, but {_said(unit)} is wanted here"
                self._fault(name, wire.path, f"{what}: put a gain with a `unit` between")


def _said(unit: str) -> str:
    return "[1], a plain number," if unit == "1" else f"[{unit}]"
