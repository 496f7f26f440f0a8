"""Sensors that look between steps: forces of contacts, what joints transmit, distances along rays.

What they measure is not there within a step, or costs more than a step; so steps end at their instants, k times their
`sample_time`, and what they saw stands among the inputs of the diagram, as what operators hold does, until the next.
In steps of fixed size they look at the end of the first step from the instant on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..control.blocks.sensors import ContactSensor, LoadCell, RangeFinder
from ..engine.steppers.state import OK
from ..model.rotation import Array
from ..observe.observer import Block
from .capabilities import REACTIONS
from .planned import SAME_TIME, joined
from .rows import Start

if TYPE_CHECKING:
    from .switching import RowMethod

_EARLY = 1e-9  # share of a period or step by which an instant may be missed: rounding of times
Reach = Callable[[Sequence[float]], tuple[int, int, Block]]
Look = Callable[[Block], Iterable[float]]


class Looks:
    """The sensors of a method that look between steps."""

    def __init__(self, method: RowMethod, start: Start, blocks: Sequence[Any]):
        self._method, self._start, self._blocks = method, start, blocks
        self._looks: list[Look] = []
        self.counts = np.zeros(len(blocks), np.int64)
        """Of each, how many of its instants are over."""

    def begin(self) -> None:
        """(the method is complete) Find out how each of them looks; an error if the method does not know it."""
        self._looks = [_LOOKS[type(block)](self._method, self._start, block) for block in self._blocks]

    def reach(self, targets: Sequence[float], reach: Reach) -> tuple[int, int, Block]:
        """Go through the targets, as `reach` does, and look on the way."""
        if not self._blocks:
            return reach(targets)
        parts: list[Block] = []
        done = 0
        while True:
            self._look()
            end = self._next(targets[done])
            before = sum(target <= end for target in targets[done:])
            reached, status, block = reach(targets[done : done + before] if before else [end])
            parts.append(tuple(part[: reached if before else 0] for part in block))
            done += reached if before else 0
            if status != OK or done == len(targets):
                return done, status, joined(parts)

    @property
    def _slack(self) -> list[float]:
        step = 0.0 if self._method.adaptive else self._method.dt
        return [_EARLY * max(block.sample_time, step) for block in self._blocks]

    def _next(self, target: float) -> float:
        """The next instant, as methods count targets: a time, or the number of a step.

        It is `target` if it differs from that by rounding alone, so that no step is left between the two.
        """
        due = min(
            float(count * block.sample_time) for count, block in zip(self.counts, self._blocks, strict=True)
        )
        if self._method.adaptive:
            return target if abs(target - due) <= SAME_TIME * max(1.0, due) else due
        clock = self._method.state.clock
        return max(math.ceil((due - float(clock.origin)) / self._method.dt - _EARLY), int(clock.steps) + 1)

    def _look(self) -> None:
        """All whose instant has come look."""
        now = float(self._method.state.clock.now)
        due = [
            k
            for k, (block, slack) in enumerate(zip(self._blocks, self._slack, strict=True))
            if self.counts[k] * block.sample_time <= now + slack
        ]
        if not due:
            return
        block = self._method.now()
        for k in due:
            sensor = self._blocks[k]
            for port, value in zip(sensor.ports(), self._looks[k](block), strict=True):
                self._method.look(f"{sensor.name}.{port.name}", value)
            self.counts[k] = math.floor((now + self._slack[k]) / sensor.sample_time) + 1


def looks_of(method: RowMethod, start: Start) -> Looks:
    """The sensors that look between steps in a model."""
    told = start.system.row_table.every.diagram
    return Looks(method, start, () if told is None else told.looking)


def _contact(method: RowMethod, start: Start, sensor: ContactSensor) -> Look:
    signal = f"{sensor.body}.contact_force"
    if sensor.other is not None:
        method.measure_pair(sensor.other, sensor.body)
        signal = f"contact.{sensor.other}.{sensor.body}.force"

    def look(block: Block) -> list[float]:
        force = _known(method.observer.read(signal, block))
        size = float(np.linalg.norm(force))
        return [*force, size, float(size > 0.0)]

    return look


def _load_cell(method: RowMethod, start: Start, sensor: LoadCell) -> Look:
    signals = [f"{sensor.joint}.{what}" for what in ("force", "torque")]
    method.require(REACTIONS, f"load cell '{sensor.name}' measures those of '{sensor.joint}'")
    return lambda block: np.hstack([_known(method.observer.read(signal, block)) for signal in signals])


def _range_finder(method: RowMethod, start: Start, sensor: RangeFinder) -> Look:
    from ..compile.rays import ray_of, ray_targets
    from ..engine.contact.ray import cast_rays

    bodies = start.compiled.flat.bodies
    tables, targets = (
        method.scratch.tables("rays", start.system),
        ray_targets(start.compiled.flat, list(bodies)),
    )
    rays = ray_of(list(bodies).index(sensor.body), sensor.at, sensor.direction, sensor.reach)[None]
    out = np.zeros(1)

    def look(_: Block) -> list[float]:
        state = method.state
        cast_rays(tables, targets.shapes, targets.hulls, targets.targets, rays, state.q, state.v, out)
        return [float(out[0]), float(out[0] < sensor.reach)]

    return look


def _known(values: Array) -> Array:
    """A sample; before the first step, which forces are means over, there was none."""
    return np.where(np.isfinite(values[0]), values[0], 0.0)


_LOOKS: dict[type, Callable[[Any, Start, Any], Look]] = {
    ContactSensor: _contact,
    LoadCell: _load_cell,
    RangeFinder: _range_finder,
}
