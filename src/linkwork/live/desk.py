"""What operators hold: who owns a lever, what is done with it at the next step, and when it springs back.

Any number of operators put values to named inputs: pages in browsers, programs by datagrams. The physics takes what is
new before its next step (`act`), and from whom nothing was heard for `silence` seconds, everything that it holds is let
go there: the thread that steps is the dead-man's switch, so that it works when a server or a network does not.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..model.errors import LinkworkError, nearest

if TYPE_CHECKING:
    from ..run.simulate import Simulation

SILENCE = 0.5
"""How long an operator who holds something may say nothing before it is let go [s]."""
_REMEMBERED = 1000  # latencies


class Input(NamedTuple):
    """One number that operators set: one lever, one direction of a joystick, one button."""

    name: str
    low: float
    high: float
    rest: float | None = 0.0
    """Where it springs back to when it is let go; None if it stays where it was put."""
    start: float = 0.0
    """Where it is before anybody touches it."""
    step: float = 0.0
    """It stands at multiples of this from `low` alone; 0 if anywhere."""

    def meant(self, value: float) -> float:
        """A value within its range, at one of its steps."""
        if self.step > 0.0:
            value = self.low + self.step * round((value - self.low) / self.step)
        return min(max(value, self.low), self.high)


class Latency(NamedTuple):
    """Time from events of inputs to the steps that applied them [s]."""

    median: float
    most: float
    """Of 95 percent not more."""
    events: int


class _Waiting(NamedTuple):
    value: float
    stamps: tuple[float, ...]  # of all events that the step will answer


class Desk:
    """All inputs of a session. `apply` gives the physics new values before a step.

    `clock` tells the time [s]; time stamps of events are by the same clock.
    """

    def __init__(
        self,
        inputs: Iterable[Input],
        apply: Callable[[Simulation, Mapping[str, float]], object],
        *,
        silence: float = SILENCE,
        clock: Callable[[], float] = time.monotonic,
    ):
        self._apply, self._silence, self.clock = apply, silence, clock
        self._lock = threading.Lock()
        self._owners: dict[str, str] = {}
        self._heard: dict[str, float] = {}  # when an operator last said something
        self._sequence: dict[str, int] = {}  # number of an operator's last message
        self._waiting: dict[str, _Waiting] = {}
        self._latencies: deque[float] = deque(maxlen=_REMEMBERED)
        self.inputs: dict[str, Input] = {}
        self.values: dict[str, float] = {}
        """Where inputs stand."""
        self.version = 0
        """Counts how often there were other inputs."""
        self.stale = 0
        """Messages that came after a later one of the same operator, or twice, and were not obeyed."""
        self.offer(inputs)

    def offer(self, inputs: Iterable[Input], *, anew: bool = False) -> None:
        """Other inputs: of those that were there, who holds them stays, and unless `anew` where they stand."""
        with self._lock:
            self.inputs = {one.name: one for one in inputs}
            self._owners = {name: who for name, who in self._owners.items() if name in self.inputs}
            before = {} if anew else self.values
            self._waiting = {
                name: one for name, one in self._waiting.items() if name in before and name in self.inputs
            }
            self.values = {name: before.get(name, one.start) for name, one in self.inputs.items()}
            self.version += 1

    # What operators do; in any thread

    def hear(self, operator: str, sequence: int) -> bool:
        """An operator is there and sends its message of this number; False if a later one was heard before."""
        with self._lock:
            if sequence <= self._sequence.get(operator, -1):
                self.stale += 1
                return False
            self._sequence[operator] = sequence
            self._heard[operator] = self.clock()
            return True

    def put(
        self, operator: str, name: str, value: float, *, hold: bool = True, at: float | None = None
    ) -> None:
        """Put an input to a value and keep hold of it, or put it there and let go.

        `at` is when the event was that asked for it [s]. An error if it is no input or no number, or held by another.
        """
        known = self.check(name, value)
        with self._lock:
            now = self.clock()
            self._heard[operator] = now
            self._let_go_of_silent(now)
            owner = self._owners.get(name, operator)
            if owner != operator:
                raise LinkworkError(f"'{name}' is held by {owner}")
            if hold:
                self._owners[name] = operator
            else:
                self._owners.pop(name, None)
            self._stand(name, known.meant(value), at)

    def check(self, name: str, value: float) -> Input:
        """The input of a name; an error if there is none, or if it cannot stand there."""
        known = self._input(name)
        if not math.isfinite(value):
            raise LinkworkError(f"input '{name}' must be a finite number, not {value}")
        return known

    def release(self, operator: str, name: str, *, at: float | None = None) -> None:
        """Let go of an input: it springs back if it has a rest."""
        known = self._input(name)
        with self._lock:
            self._heard[operator] = self.clock()
            if self._owners.get(name) == operator:
                del self._owners[name]
                if known.rest is not None:
                    self._stand(name, known.rest, at)

    def leave(self, operator: str) -> None:
        """An operator is gone: all that it holds is let go."""
        with self._lock:
            self._drop(operator)
            self._heard.pop(operator, None)
            self._sequence.pop(operator, None)

    def told(self, name: str, value: float) -> None:
        """An input is put somewhere by other means, which the physics hears of; an error while an operator holds it."""
        with self._lock:
            if name in self._owners:
                raise LinkworkError(f"'{name}' is held by {self._owners[name]}")
            if name in self.inputs:
                self.values[name] = value
                self._waiting.pop(name, None)

    def owner(self, name: str) -> str | None:
        """Who holds an input now."""
        return self._owners.get(name)

    @property
    def owners(self) -> dict[str, str]:
        """Who holds what now."""
        with self._lock:
            return dict(self._owners)

    @property
    def latency(self) -> Latency:
        """Of the last events that the physics answered."""
        known = list(self._latencies)
        if not known:
            return Latency(0.0, 0.0, 0)
        median, most = np.percentile(known, (50, 95))
        return Latency(float(median), float(most), len(known))

    def forget(self) -> None:
        """Measure latency anew from now on."""
        self._latencies.clear()

    # In the thread of the physics

    def act(self, simulation: Simulation) -> None:
        """Before a step: let go of what nobody holds any more, and hand over what is new."""
        now = self.clock()
        with self._lock:
            self._let_go_of_silent(now)
            if not self._waiting:
                return
            waiting, self._waiting = self._waiting, {}
        self._apply(simulation, {name: one.value for name, one in waiting.items()})
        now = self.clock()
        self._latencies.extend(now - stamp for one in waiting.values() for stamp in one.stamps)

    # With the lock

    def _stand(self, name: str, value: float, at: float | None) -> None:
        before = self._waiting.get(name)
        stamps = () if before is None else before.stamps
        self.values[name] = value
        self._waiting[name] = _Waiting(value, stamps if at is None else (*stamps, at))

    def _let_go_of_silent(self, now: float) -> None:
        if not self._owners:
            return
        for operator in set(self._owners.values()):
            if now - self._heard.get(operator, -math.inf) > self._silence:
                self._drop(operator)

    def _drop(self, operator: str) -> None:
        for name in [name for name, who in self._owners.items() if who == operator]:
            del self._owners[name]
            rest = self.inputs[name].rest
            if rest is not None:
                self._stand(name, rest, None)

    def _input(self, name: str) -> Input:
        if name not in self.inputs:
            raise LinkworkError(f"there is no input '{name}'{nearest(name, self.inputs)}")
        return self.inputs[name]
