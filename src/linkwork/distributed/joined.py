"""Component-based simulation in which other processes hold parts of the model."""

from __future__ import annotations

import contextlib
import os
import time as wall
from abc import abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from ..compile.elimination import Placement
from ..compile.subsystems import Subsystem
from ..engine.steppers.state import OK
from ..methods.base import Method
from ..methods.capabilities import CHANGES
from ..methods.components import ComponentMethod
from ..methods.part import Steps
from ..model import GROUND, Body, Hinge, Model, Weld
from ..model.errors import LinkworkError, PartLostError
from ..model.rotation import Array
from ..observe.observer import Block
from .exchange import Line
from .links import TIMEOUT, LinkLost

# Fixed steps and samples after which all parts may say where they are,
_STEPS_AT_ONCE, _SAMPLES_AT_ONCE = 200, 64
_OFTEN = 0.2  # but not more often than this [s].
COMPILING = 600.0
"""How long another process may keep silent until it has taken its first steps: it may have to compile [s]."""

_OWN = ("q", "v", "work", "clock")  # of the state


class JoinedMethod(ComponentMethod):
    """Subsystems joined to those of other processes. If one of these ends, all go back to where they last agreed."""

    _lines: list[Line]
    _busy = 0.0
    """Time that this process' part computed so far [s]."""
    _waited = 0.0
    """And waited for others, sending included [s]."""
    _kept: dict[str, Array]
    """The state of all parts when they last agreed, as `memory` has it."""
    _stale = False
    """Whether another state was loaded since."""
    _gone = False
    """Whether a process was lost: then nothing moves any more."""

    @abstractmethod
    def _together(self, targets: Sequence[float]) -> tuple[int, int, Block]:
        """`advance` of all parts."""

    @abstractmethod
    def _gather(self) -> dict[str, Array]:
        """The states of the parts at the other ends."""

    def _remember(self) -> None:
        """All parts are in order: this is where a run can be resumed."""
        self._kept = {name: array.copy() for name, array in self._mine().items()}
        self._kept |= self._gather()
        self._stale = False
        self._when = wall.monotonic()

    def _mine(self) -> dict[str, Array]:
        """All that changes in this process, as it stands."""
        return {**self.state.arrays(), **super().memory()}

    def advance(self, targets: Sequence[float]) -> tuple[int, int, Block]:
        parts: list[Block] = []
        done = 0
        for piece, wanted in self._pieces(targets):
            try:
                if self._stale or self.part.disturbed:  # what somebody wrote must not be lost either
                    self._remember()
                reached, status, block = self._together(piece)
                for line in self._lines:
                    line.link.timeout = TIMEOUT
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

    def _hop(self, target: float) -> int:
        return self.advance([target])[1]

    def _own(self, targets: Sequence[float]) -> tuple[int, int, Block]:
        """`advance` of this process' part, while the others do theirs."""
        with self._timed():
            return self._through(targets)

    @contextlib.contextmanager
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
        start = float(self.state.clock.steps)
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

    def _went(self, lost: LinkLost) -> NoReturn:
        """A process has gone: say what was there, and where the simulation stands now."""
        self._gone = True
        line = next((line for line in self._lines if line.link.peer == lost.peer), None)
        where = str(line) if line is not None else lost.peer
        time = float(self.state.clock.now)
        self.close()
        for name, array in self._mine().items():  # back to where all parts last agreed
            array[...] = self._kept[name]
        raise PartLostError(
            f"t = {time:.6g} s: component {where} is lost: {lost}; the state at t = "
            f"{self.state.clock.now:.6g} s is kept",
            time,
        ) from lost

    def close(self) -> None:
        """Hang up on all parts."""
        for line in self._lines:
            with contextlib.suppress(LinkLost):
                line.link.tell({"do": "end"})
            line.link.close()

    def memory(self) -> dict[str, Array]:
        mine = super().memory()
        if self._gone:
            return {**{name: self._kept[name] for name in self._kept if name not in _OWN}, **mine}
        try:
            return {**mine, **self._gather()}
        except LinkLost as lost:
            self._went(lost)

    def make_room(self, data: dict[str, Array]) -> None:
        super().make_room(data)
        self._stale = True

    def take_over(self, other: Method) -> None:
        self.close()
        self.require(CHANGES)

    def _bring(self, values: Mapping[str, float]) -> None:
        self.require(CHANGES, *(f"'{name}' is set" for name in values))

    def outcome(self) -> dict[str, Any]:
        return {**super().outcome(), "processes": self.times()}

    def _holds(self) -> list[str]:
        """Names of the components that this process computes."""
        return held(self.part.placement)

    def times(self) -> list[dict[str, Any]]:
        """Of every process: what it holds, and how long it computed and waited while stepping so far [s]."""
        found = [(os.getpid(), self._holds(), self._busy, self._waited)]
        for line in self._lines:
            with contextlib.suppress(LinkLost):
                told, _ = ask(line, {"do": "report"})
                found.append((told["process"], list(line.names), told["computed"], told["waited"]))
        keys = ("process", "components", "computed_s", "waited_s")
        return [dict(zip(keys, each, strict=True)) for each in found]


def held(placement: Placement) -> list[str]:
    """What the user wrote of a placement's hierarchy, without what other processes hold."""
    top = next(part for part in placement.parts if part.name not in placement.above)
    return list(contents(top, placement.remote))


def contents(subsystem: Subsystem, without: Collection[str] = ()) -> tuple[str, ...]:
    """What is directly inside a subsystem: the components that the user wrote, and single bodies."""
    found = subsystem.bodies
    for child in subsystem.children:
        if child.name not in without:
            found += contents(child, without) if "/" in child.name else (child.name,)
    return found


def ask(
    line: Line, message: dict[str, Any], arrays: dict[str, Array] | None = None
) -> tuple[dict[str, Any], dict[str, Array]]:
    """A question to the other end of a line, and its answer."""
    line.link.tell(message, arrays)
    answer, numbers = line.link.hear()
    if "error" in answer:
        raise LinkworkError(f"component {line}: {answer['error']}")
    return answer, numbers


def compile_first() -> None:
    """Compile what steps need, or find it compiled, before other processes need the same: together they would take
    as many times as long."""
    model = Model("a loop")
    for name in ("left", "right"):
        model.add(Body(name, mass=1.0, inertia=(1.0, 1.0, 1.0)))
        model.add(Hinge(f"{name}_hinge", GROUND, name, axis=(0.0, 1.0, 0.0)))
    model.add(Weld("closing", "left", "right"))
    ComponentMethod(model, Steps("rk4", 1e-3, 1e-8)).advance([1])
