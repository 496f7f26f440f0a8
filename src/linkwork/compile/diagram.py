"""The control diagram of a model as a tape beside its rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..control.diagram import Diagram
from ..control.tape import Tape
from ..model.rotation import matrix, quaternion

if TYPE_CHECKING:
    from .constrain import Constrainer


class Channel(NamedTuple):
    """What is set between steps: an output of an element of the panel, or of a sensor that looks then."""

    name: str
    start: float
    operated: bool
    """Whether an operator sets it."""


@dataclass
class Lowered:
    """A diagram and its tape, with the names of what stands there."""

    diagram: Diagram
    tape: Tape
    channels: tuple[Channel, ...]
    """What is set between steps, in their order among the inputs behind the commands of drives."""
    driven: dict[str, str] = field(default_factory=dict)
    """Drives that the diagram commands, and the blocks that do."""
    switches: tuple[str, ...] = ()
    """Joints that it attaches and releases, by their numbers on the tape."""
    fastest: tuple[str, float] = ("", 0.0)
    """The block whose own states change fastest, and its largest rate [1/s]."""
    looking: tuple[Any, ...] = ()
    """Blocks that are sensors which look between steps."""
    first: int = 0
    """Where its outputs begin among the states that are recorded."""

    def columns(self, first: int, states: int) -> list[Any]:
        """Names and units of its outputs, which are recorded from the place `first` on; its states follow `states`."""
        from .constrain import Column

        self.first = first
        for k, output in enumerate(self.tape.outputs):
            self.tape.records[output.op]["column"] = first + k
        for record in self.tape.records:
            if record["state"] >= 0:
                record["state"] += states
        return [Column(output.name, output.unit) for output in self.tape.outputs]


def lowered(constrainer: Constrainer, inputs: list[float]) -> Lowered:
    """The diagram of the model that rows are made of; inputs of operators are added to `inputs`."""
    from ..control.blocks.sensors import LOOKING
    from ..control.fast import fastest_rate
    from ..control.lower import Lowering  # all blocks: only with a diagram

    flat = constrainer.compiler.flat
    diagram = Diagram.of(flat)
    diagram.refuse()
    place = _Place(constrainer, inputs)
    tape = Lowering(diagram, place).run()
    constrainer.compiler.owners += tape.owners
    driven = {block.drive: name for name, block in diagram.blocks.items() if block.kind == "drive"}  # type: ignore[attr-defined]
    fastest = max(
        ((name, fastest_rate(block)) for name, block in diagram.blocks.items()), key=lambda one: one[1]
    )
    looking = tuple(block for block in diagram.blocks.values() if isinstance(block, LOOKING))
    return Lowered(diagram, tape, tuple(place.channels), driven, tuple(place.switches), fastest, looking)


class _Place:
    """Where a diagram finds the compiled model."""

    def __init__(self, constrainer: Constrainer, inputs: list[float]):
        self._constrainer, self._compiler, self._inputs = constrainer, constrainer.compiler, inputs
        self.channels: list[Channel] = []
        self.switches: list[str] = []

    def coordinate_place(self, joint: str, part: int) -> int:
        return list(self._constrainer.coord_of[joint].values())[part]

    def body_place(self, owner: str) -> tuple[int, Any, Any]:
        flat = self._compiler.flat
        if owner in flat.bodies:
            return list(flat.bodies).index(owner), (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)
        marker = flat.markers[owner]
        p, R = marker.frame
        body = flat.bodies[marker.body]
        home = matrix(body.rotation)
        return list(flat.bodies).index(marker.body), home.T @ (p - np.array(body.at)), quaternion(home.T @ R)

    def drive_place(self, drive: str) -> int:
        return list(self._compiler.flat.drives).index(drive)

    def keeps_rate(self, drive: str) -> bool:
        return self._compiler.flat.drives[drive].law is None

    def operator_place(self, channel: str, value: float) -> int:
        return self._channel(channel, value, True)

    def look_place(self, channel: str, value: float) -> int:
        return self._channel(channel, value, False)

    def _channel(self, channel: str, value: float, operated: bool) -> int:
        self.channels.append(Channel(channel, value, operated))
        self._inputs.append(value)
        return len(self._inputs) - 1

    def numbers(self, values: Any, scratch: int = 0) -> tuple[int, int]:
        return self._compiler.numbers(values, scratch)

    def factor_place(self, load: str) -> int:
        return self._compiler.factor_place(load)

    def switch_place(self, joint: str) -> tuple[int, bool]:
        self.switches.append(joint)
        return len(self.switches) - 1, self._compiler.flat.joints[joint].attached_at_start
