"""Joints that are attached and released at the times that the model says: steps end there, exactly."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..engine.steppers.state import OK
from ..mechanism.switching import Due
from ..observe.observer import Block
from .base import Method

_ON_GRID = 1e-9  # a change this near to the end of a step, in steps, is at it
SAME_TIME = 1e-12  # times that differ by this share are the same


class Plan:
    """Changes of joints that a model plans; a method goes from target to target through them."""

    def __init__(
        self,
        method: Method,
        changes: Sequence[Due],
        done: npt.NDArray[np.int64],
        change: Callable[[Collection[str], Collection[str], float], None],
    ):
        """`done`: how many of the changes have been made, an array of one.

        `change` attaches and releases joints now; its last argument is when that was planned [s].
        """
        self._method, self._changes, self._done, self._change = method, changes, done, change

    def reach(self, targets: Sequence[float]) -> tuple[int, int, Block]:
        """Go through the targets, as `Method.reach`."""
        method = self._method
        if not self._due:
            return method.advance(targets)
        parts: list[Block] = []
        done = 0
        while done < len(targets):
            rest = list(targets[done:])
            due = self._due
            before = len(rest)
            if due is not None:
                due = self._matched(due, rest)
                before = sum(self._time_of(x) < self._moment(due) for x in rest)
            if before:
                reached, status, block = method.advance(rest[:before])
                parts.append(tuple(part[:reached] for part in block))
                done += reached
                if status != OK:
                    return done, status, joined(parts)
            elif due is not None:
                status = self._go_to(due)
                if status != OK:
                    return done, status, joined([*parts, tuple(part[:0] for part in method.now())])
        return done, OK, joined(parts)

    @property
    def _due(self) -> Due | None:
        """The next change of the plan."""
        return self._changes[self._done[0]] if self._done[0] < len(self._changes) else None

    def _matched(self, due: Due, targets: Sequence[float]) -> Due:
        """A change at the time of a target that differs by rounding, so that no step is left between the two."""
        if not self._method.adaptive:
            return due
        close = [x for x in targets if abs(x - due.time) <= SAME_TIME * max(1.0, abs(x))]
        return due._replace(time=close[0]) if close else due

    @property
    def _clock(self) -> Any:
        return self._method.state.clock

    def _make(self, due: Due) -> None:
        self._done[0] += 1
        self._change(due.attach, due.release, self._changes[self._done[0] - 1].time)

    def _time_of(self, target: float) -> float:
        return target if self._method.adaptive else float(self._clock.origin + target * self._method.dt)

    def _moment(self, due: Due) -> float:
        """Its time; of a change at the end of a step, a little earlier, so that a sample there shows what it left."""
        return due.time if self._method.adaptive else due.time - _ON_GRID * self._method.dt

    def _go_to(self, due: Due) -> int:
        """To a change of the plan, and make it; within a step of fixed size, also the rest of that step."""
        if due.time <= self._clock.now:
            self._make(due)
            return OK
        if self._method.adaptive:
            _, status, _ = self._method.advance([due.time])
            if status == OK:
                self._make(due)
            return status
        dt, clock = self._method.dt, self._clock
        origin = float(clock.origin)
        exact = (due.time - origin) / dt
        count = round(exact)
        if abs(exact - count) > _ON_GRID:
            count = int(np.floor(exact))
        status = self._method.advance([count])[1] if clock.steps < count else OK
        if status != OK or abs(exact - count) <= _ON_GRID:
            if status == OK:
                self._make(due)
            return status
        end = origin + (count + 1) * dt
        following: Due | None = due
        while following is not None and following.time < end - _ON_GRID * dt and status == OK:
            status = self._hop(following.time)
            if status == OK:
                self._make(following)
            following = self._due
        if status == OK:
            status = self._hop(end)
        self._method.change_step(dt)
        clock.origin, clock.steps = origin, count + 1
        clock.now = end if status == OK else clock.now
        return status

    def _hop(self, time: float) -> int:
        """One step that ends at a time."""
        self._method.change_step(time - float(self._clock.now))
        _, status, _ = self._method.advance([1])
        if status == OK:
            self._clock.now = time
        return status


def joined(parts: Sequence[Block]) -> Block:
    """Blocks one after the other."""
    return (
        parts[0] if len(parts) == 1 else tuple(np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    )
