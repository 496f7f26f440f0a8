"""Component-based simulation in which other processes hold parts of the model."""

from __future__ import annotations

import os
import time as wall
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..errors import LinkworkError, PartLostError
from ..integrate import OK
from ..methods.components import ComponentMethod
from ..methods.part import Part
from ..observe import Block
from ..rotation import Array
from .exchange import Line
from .links import LinkLost

_STEPS_AT_ONCE, _SAMPLES_AT_ONCE = (
    200,
    64,
)  # fixed steps and samples after which all parts may say where they are
_OFTEN = 0.2  # but not more often than this [s]


class JoinedMethod(ComponentMethod):
    """The same with lines to other processes. If one of them ends, all go back to where they last agreed."""

    _lines: list[Line]
    _busy = 0.0
    """Time that this process' part computed so far [s]."""
    _waited = 0.0
    """And waited for others, sending included [s]."""
    _kept: dict[str, Array]
    """The state of all parts when they last agreed, as `memory` has it."""

    @abstractmethod
    def _together(self, targets: Sequence[float]) -> tuple[int, int, Block]:
        """`advance` of all parts."""

    @abstractmethod
    def _gather(self) -> dict[str, Array]:
        """The states of the parts at the other ends."""

    def _remember(self) -> None:
        """All parts are in order: this is where a run can be resumed."""
        state = self.state
        own = {"q": state.q, "v": state.v, "work": state.work, "clock": state.clock, "counts": state.counts}
        self._kept = {name: array.copy() for name, array in {**own, **super().memory()}.items()}
        self._kept |= self._gather()
        self._when = wall.monotonic()

    def _go_back(self) -> None:
        """To where all parts last agreed."""
        state = self.state
        own = {"q": state.q, "v": state.v, "work": state.work, "clock": state.clock, "counts": state.counts}
        for name, array in {**own, **super().memory()}.items():
            array[...] = self._kept[name]

    def advance(self, targets: Sequence[float]) -> tuple[int, int, Block]:
        parts: list[Block] = []
        done = 0
        for piece, wanted in self._pieces(targets):
            try:
                if self._part.disturbed:  # somebody wrote to it: that must not be lost either
                    self._remember()
                reached, status, block = self._together(piece)
                if status == OK and wall.monotonic() - self._when > _OFTEN:
                    self._remember()
            except LinkLost as lost:
                self._went(lost)
            count = min(reached, wanted)
            parts.append(tuple(part[:count] for part in block))
            done += count
            if status != OK:
                break
        joined = tuple(np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        return done, status, joined

    def _own(self, targets: Sequence[float]) -> tuple[int, int, Block]:
        """`advance` of this process' part, while the others do theirs."""
        with self._timed():
            return super().advance(targets)

    @contextmanager
    def _timed(self) -> Iterator[None]:
        """Count time in which this process' part is stepped, and how much of it was spent waiting."""
        began, waited = wall.perf_counter(), sum(line.link.waited for line in self._lines)
        try:
            yield
        finally:
            waited = sum(line.link.waited for line in self._lines) - waited
            self._waited += waited
            self._busy += wall.perf_counter() - began - waited

    def _pieces(self, targets: Sequence[float]) -> Iterator[tuple[list[float], int]]:
        """Targets in pieces after which parts may say where they are, and how many of each piece are asked for."""
        piece: list[float] = []
        start = float(self.state.counts[0])
        most = np.inf if self.adaptive else _STEPS_AT_ONCE
        for target in targets:
            if piece and (len(piece) == _SAMPLES_AT_ONCE or target - start > most):
                yield piece, len(piece)
                piece, start = [], piece[-1]
            while target - start > most:
                start += most
                yield [start], 0
            piece.append(target)
        if piece:
            yield piece, len(piece)

    def _went(self, lost: LinkLost) -> None:
        """A process has gone: say what was there, and where the simulation stands now."""
        line = next((line for line in self._lines if line.link.peer == lost.peer), None)
        where = str(line) if line is not None else lost.peer
        time = float(self.state.clock[2])
        self.close()
        self._go_back()
        raise PartLostError(
            f"t = {time:.6g} s: component {where} is lost: {lost}; the state at t = "
            f"{self.state.clock[2]:.6g} s is kept",
            time,
        ) from lost

    def close(self) -> None:
        """Hang up on all parts."""
        for line in self._lines:
            line.link.close()

    def memory(self) -> dict[str, Array]:
        mine = super().memory()
        try:
            return {**mine, **self._gather()}
        except LinkLost:
            return {**mine, **{name: array for name, array in self._kept.items() if name not in mine}}

    def outcome(self) -> dict[str, Any]:
        return {**super().outcome(), "processes": self.times()}

    def _holds(self) -> list[str]:
        """Names of the components that this process computes."""
        return written(self._part)

    def times(self) -> list[dict[str, Any]]:
        """Of every process: what it holds, and how long it computed and waited while stepping so far [s]."""
        found: list[dict[str, Any]] = [
            {
                "process": os.getpid(),
                "components": self._holds(),
                "computed_s": self._busy,
                "waited_s": self._waited,
            }
        ]
        for line in self._lines:
            try:
                answer, _ = ask(line, {"do": "report"})
            except LinkLost:
                continue
            found.append(
                {
                    "process": answer["process"], "components": list(line.names), "computed_s": answer["computed"],
                    "waited_s": answer["waited"],
                }
            )  # fmt: skip
        return found


def written(part: Part) -> list[str]:
    """Names of the components that the user wrote and this part holds."""
    return [name for name in part.placement.number if "/" not in name and name not in part.placement.remote]


def ask(
    line: Line, message: dict[str, Any], arrays: dict[str, Array] | None = None
) -> tuple[dict[str, Any], dict[str, Array]]:
    """A question to the other end of a line, and its answer."""
    line.link.tell(message, arrays)
    answer, numbers = line.link.hear()
    if "error" in answer:
        raise LinkworkError(f"component {line}: {answer['error']}")
    return answer, numbers
