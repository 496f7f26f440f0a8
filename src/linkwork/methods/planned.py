"""Joints that are attached and released at the times that the model says: steps end there, exactly."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Sequence

import numpy as np

from ..engine.steppers.state import OK
from ..mechanism.switching import Due
from ..observe.observer import Block
from .base import Method

_ON_GRID = 1e-9  # a change this near to the end of a step, in steps, is at it
_SAME_TIME = 1e-12  # times that differ by this share are the same


class PlannedMethod(Method):
    """A method that goes from target to target through the changes of joints that a model plans."""

    _plan: list[Due]
    _done: np.ndarray
    """How many changes of the plan have been made: an array of one."""

    @abstractmethod
    def _change(self, attach: Collection[str], release: Collection[str], time: float) -> None:
        """Attach and release joints now; `time` is when that was planned [s]."""

    def reach(self, targets: Sequence[float]) -> tuple[int, int, Block]:
        if not self._due:
            return self.advance(targets)
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
                reached, status, block = self.advance(rest[:before])
                parts.append(tuple(part[:reached] for part in block))
                done += reached
                if status != OK:
                    return done, status, _joined(parts)
            elif due is not None:
                status = self._go_to(due)
                if status != OK:
                    return done, status, _joined([*parts, tuple(part[:0] for part in self.now())])
        return done, OK, _joined(parts)

    @property
    def _due(self) -> Due | None:
        """The next change of the plan."""
        return self._plan[self._done[0]] if self._done[0] < len(self._plan) else None

    def _matched(self, due: Due, targets: Sequence[float]) -> Due:
        """A change at the time of a target that differs by rounding, so that no step is left between the two."""
        if not self.adaptive:
            return due
        close = [x for x in targets if abs(x - due.time) <= _SAME_TIME * max(1.0, abs(x))]
        return due._replace(time=close[0]) if close else due

    def _make(self, due: Due) -> None:
        self._done[0] += 1
        self._change(due.attach, due.release, self._plan[self._done[0] - 1].time)

    def _time_of(self, target: float) -> float:
        return target if self.adaptive else float(self.state.clock.origin + target * self._dt)

    def _moment(self, due: Due) -> float:
        """Its time; of a change at the end of a step, a little earlier, so that a sample there shows what it left."""
        return due.time if self.adaptive else due.time - _ON_GRID * self._dt

    def _go_to(self, due: Due) -> int:
        """To a change of the plan, and make it; within a step of fixed size, also the rest of that step."""
        if due.time <= self.state.clock.now:
            self._make(due)
            return OK
        if self.adaptive:
            _, status, _ = self.advance([due.time])
            if status == OK:
                self._make(due)
            return status
        origin, dt, clock = float(self.state.clock.origin), self._dt, self.state.clock
        exact = (due.time - origin) / dt
        count = round(exact)
        if abs(exact - count) > _ON_GRID:
            count = int(np.floor(exact))
        status = self.advance([count])[1] if clock.steps < count else OK
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
        self.change_step(dt)
        self.state.clock.origin, clock.steps = origin, count + 1
        self.state.clock.now = end if status == OK else self.state.clock.now
        return status

    def _hop(self, time: float) -> int:
        """One step that ends at a time."""
        self.change_step(time - float(self.state.clock.now))
        _, status, _ = self.advance([1])
        if status == OK:
            self.state.clock.now = time
        return status


def _joined(parts: Sequence[Block]) -> Block:
    """Blocks one after the other."""
    return (
        parts[0] if len(parts) == 1 else tuple(np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    )
