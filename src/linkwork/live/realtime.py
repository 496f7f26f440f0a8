"""Simulation against the wall clock: paced, paused, stepped, slowed, and honest when the machine cannot keep up.

A thread takes the steps as they fall due and nothing else. Others talk to it through `do`, which runs a function
between two steps, and listen through `listeners`, which are handed raw samples and must return at once.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..model.errors import LinkworkError, SimulationError
from ..observe.observer import Block, Observer
from ..run.simulate import Simulation

T = TypeVar("T")

DEFAULT_EVERY = 1e-2
# Wall time [s]: that a compiled call may take before others are heard again; over which rates are averaged.
_CALL, _WINDOW = 4e-3, 0.5
_LATENESSES = 4096
REST = 1.0
"""How long a motion stands at its end before it begins again [s]."""
_FIRST_GUESS, _SHORTEST = 1e-4, 1e-9  # time of a step before the first was measured, and at least [s]


class Samples(NamedTuple):
    """What a listener gets: samples of a stretch of the motion."""

    block: Block
    kept: int
    """The first so many lie on the grid of `every`; one more may follow, which is only the latest."""
    observer: Observer
    """Makes columns with names of them."""
    run: int
    """Counts resets and changes of the model: samples of different runs do not belong together."""


class Status(NamedTuple):
    """How the simulation fares against the clock."""

    time: float
    """Simulated [s]."""
    paused: bool
    speed: float
    """Simulated seconds wanted per second."""
    factor: float
    """Simulated seconds per second, over the last half second."""
    step_time: float
    """Of one step [s]."""
    load: float
    """Share of the time spent stepping."""
    lateness: float
    """99th percentile of how late steps begin [s]."""
    lost: float
    """Time given up because the machine could not keep up [s]."""
    steps: int
    failure: str | None
    """Why the motion ended, if it did."""
    again: float | None
    """Time until the motion begins again, while it stands at its end [s]; None while it goes on."""

    @property
    def keeps_up(self) -> bool:
        """False if the motion runs slower than wanted."""
        standing = self.paused or self.again is not None
        return standing or self.factor > 0.97 * self.speed or self.lost == 0.0


class RealTime:
    """Runs a simulation in step with the clock, in a thread of its own.

    `speed` is simulated time per time; `every` the grid of samples [s]; `backlog` how much the motion may lag behind
    the clock and still catch up [s]: what lags more is given up and counted as `lost`. `clock` tells the time [s].
    """

    def __init__(
        self,
        simulation: Simulation,
        *,
        speed: float = 1.0,
        every: float = DEFAULT_EVERY,
        backlog: float = 0.1,
        paused: bool = False,
        clock: Callable[[], float] = time.perf_counter,
    ):
        self.simulation = simulation
        self.listeners: list[Callable[[Samples], object]] = []
        self.before_steps: list[Callable[[Simulation], object]] = []
        """Called before each stretch of steps: a hand that pulls, a controller of one's own."""
        self.ends: Callable[[], float] = lambda: math.inf
        """Tells the simulated time at which the motion is over: it stands for a moment and begins again [s]."""
        self.begin_again: Callable[[Simulation], object] = lambda simulation: simulation.reset()
        self._stands: float | None = None  # at its end, since then
        self._every, self._backlog = positive("every", every), positive("backlog", backlog)
        self._clock = clock
        self._speed = positive("speed", speed)
        self._paused = paused
        self.run = 0
        """Counts resets and changes."""
        self._wake = threading.Condition()
        self._tasks: deque[tuple[Callable[[Simulation], Any], Future[Any]]] = deque()
        self._ending = False
        self._thread: threading.Thread | None = None
        self._failure: str | None = None
        self._latenesses: deque[float] = deque(maxlen=_LATENESSES)
        self._step_time = _FIRST_GUESS
        self._lost = 0.0
        self._anchored = 0.0, 0.0
        self._anchor()

    # Told by others

    def start(self) -> None:
        """Begin to follow the clock."""
        if self._thread is not None:
            raise LinkworkError("this simulation is running already")
        if self._ending:
            raise LinkworkError("the simulation has ended")
        self._anchor()
        self._thread = threading.Thread(target=self._follow, name="linkwork-physics", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread; tasks that were not begun are cancelled."""
        with self._wake:
            self._ending = True
            self._wake.notify()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        self._thread = None
        while self._tasks:
            self._tasks.popleft()[1].cancel()

    @property
    def running(self) -> bool:
        """Whether a thread of its own takes the steps."""
        return self._thread is not None

    def do(self, task: Callable[[Simulation], T]) -> Future[T]:
        """Run a function between two steps; its future tells when it is done and what went wrong."""
        future: Future[T] = Future()
        with self._wake:
            if self._ending:
                raise LinkworkError("the simulation has ended")
            self._tasks.append((task, future))
            self._wake.notify()
        return future

    def pause(self) -> Future[None]:
        """Stop the motion."""
        return self.do(lambda _: self._pause(True))

    def resume(self) -> Future[None]:
        """Go on; what was missed is not caught up with."""
        return self.do(lambda _: self._pause(False))

    def step(self, count: int = 1) -> Future[None]:
        """Take steps by hand, paused afterwards."""
        if count < 1:
            raise LinkworkError(f"the number of steps must be at least 1, not {count}")

        def take(_: Simulation) -> None:
            self._pause(True)
            self._take(count)

        return self.do(take)

    def reset(self) -> Future[None]:
        """Back to the start; paused or not, as before."""
        return self.change(lambda simulation: simulation.reset())

    def change(self, alter: Callable[[Simulation], T]) -> Future[T]:
        """Alter the simulation so that what follows does not belong to what was: the model, the state."""

        def apply(simulation: Simulation) -> T:
            outcome = alter(simulation)
            self._begin()
            return outcome

        return self.do(apply)

    def set_speed(self, speed: float) -> Future[None]:
        """Simulated time per time from now on."""
        positive("speed", speed)

        def turn(_: Simulation) -> None:
            self._speed = speed
            self._anchor()

        return self.do(turn)

    def announce(self) -> None:
        """Hand out where the motion stands; before `start`, or by a task."""
        self._hand_out(self.simulation.method.now(), 1)

    @property
    def status(self) -> Status:
        """How it goes; may be asked by any thread."""
        moments = list(self._moments)
        factor = load = 0.0
        if not self._paused and len(moments) > 1:
            (wall, simulated, busy), (wall_end, simulated_end, busy_end) = moments[0], moments[-1]
            span = max(wall_end - wall, 1e-9)
            factor, load = (simulated_end - simulated) / span, (busy_end - busy) / span
        stands = None if self._paused else self._stands
        again = None if stands is None else max(0.0, stands + REST - self._clock())
        late = float(np.percentile(list(self._latenesses), 99)) if self._latenesses else 0.0
        return Status(
            self.simulation.time, self._paused, self._speed, factor, self._step_time, load, late, self._lost,
            self.simulation.steps, self._failure, again,
        )  # fmt: skip

    @property
    def paused(self) -> bool:
        """Whether somebody has paused it."""
        return self._paused

    @property
    def stands(self) -> bool:
        """Whether no steps are taken now: it is paused, over or failed."""
        return self._paused or self._stands is not None or self._failure is not None

    def forget(self) -> Future[None]:
        """Measure lateness anew from now on."""
        return self.do(lambda _: self._latenesses.clear())

    # What the thread does; instead of `start`, a program with a loop of its own may do it

    def delay(self) -> float:
        """Time until a step falls due, or a new beginning [s]; infinite while paused."""
        if self._paused or self._failure is not None:
            return math.inf
        if self._has_ended():
            assert self._stands is not None
            return self._stands + REST - self._clock()
        return (self.simulation.dt - self._behind()) / self._speed

    def attend(self) -> bool:
        """Run the next task or else take the steps that are due, as many as fit into one call; False if nothing was."""
        if self.serve():
            return True
        if self.delay() <= 0.0:
            try:
                if self._stands is None:
                    self._catch_up()
                else:
                    self.begin_again(self.simulation)
                    self._begin()
            except Exception as error:  # of a listener or a hand; the thread must live to tell
                self._failure = str(error) or type(error).__name__
        else:
            return False
        return True

    def serve(self) -> bool:
        """Run the next task; False if there is none."""
        with self._wake:
            task = self._tasks.popleft() if self._tasks else None
        if task is not None:
            self._serve(*task)
        return task is not None

    # The thread's own

    def _follow(self) -> None:
        while True:
            with self._wake:
                if not self._tasks and not self._ending:
                    delay = self.delay()
                    if delay > 0.0:
                        self._wake.wait(None if delay == math.inf else delay)
                if self._ending:
                    return
            self.attend()

    def _serve(self, task: Callable[[Simulation], Any], future: Future[Any]) -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            future.set_result(task(self.simulation))
        except Exception as error:
            future.set_exception(error)

    def _has_ended(self) -> bool:
        """Whether the motion stands at its end; since when is noted. It may be told to go on while it does."""
        ended = self.simulation.time > self.ends() - self.simulation.dt / 2
        if ended and self._stands is None:
            self._stands = self._clock()
        elif not ended and self._stands is not None:
            self._anchor()
        return ended

    def _behind(self) -> float:
        """How far the motion lags behind the clock, in simulated time [s]."""
        wall, simulated = self._anchored
        return simulated + (self._clock() - wall) * self._speed - self.simulation.time

    def _catch_up(self) -> None:
        """Take the steps that are due, as many as fit into one call."""
        dt, behind = self.simulation.dt, self._behind()
        excess = behind / self._speed - max(self._backlog, 2 * dt / self._speed)
        if excess > 0.0:
            self._lost += excess
            wall, simulated = self._anchored
            self._anchored = wall + excess, simulated
            behind -= excess * self._speed
        self._latenesses.append((behind - dt) / self._speed)
        # Rounding: a step that is due must not wait for the next look at the clock.
        due = max(1, math.floor(min(behind, self.ends() - self.simulation.time) / dt + 1e-9))
        self._take(min(due, max(1, int(_CALL / max(self._step_time, _SHORTEST)))))

    def _take(self, count: int) -> None:
        if self._failure is not None:
            raise LinkworkError(f"the motion has ended: {self._failure}; reset it to begin again")
        for before in self.before_steps:
            before(self.simulation)
        counts = self._grid(count)
        kept = len(counts)
        if not counts or counts[-1] != count:
            counts.append(count)
        began = self._clock()
        try:
            block = self.simulation.advance(counts)
        except SimulationError as error:
            self._failure = str(error)
            return
        finally:
            spent = self._clock() - began
            self._busy += spent
            self._step_time += 0.1 * (spent / count - self._step_time)
            self._note()
        self._hand_out(block, kept)

    def _grid(self, count: int) -> list[int]:
        """Which of the next steps end on the grid of samples."""
        dt = self.simulation.dt
        ticks = max(1, round(self._every / dt))
        done = round(self.simulation.time / dt)
        first = ticks - done % ticks
        return list(range(first, count + 1, ticks))

    def _hand_out(self, block: Block, kept: int) -> None:
        samples = Samples(block, kept, self.simulation.method.observer, self.run)
        for listener in self.listeners:
            listener(samples)

    def _pause(self, paused: bool) -> None:
        self._paused = paused
        self._anchor()

    def _begin(self) -> None:
        """A new run: tell everybody where it begins."""
        self.run += 1
        self._failure = None
        self._lost = 0.0
        self._anchor()
        self.announce()

    def _anchor(self) -> None:
        """From here on, time is counted from now."""
        self._stands = None
        self._anchored = self._clock(), self.simulation.time
        self._busy = 0.0
        self._moments: deque[tuple[float, float, float]] = deque()
        self._note()

    def _note(self) -> None:
        now = self._clock()
        self._moments.append((now, self.simulation.time, self._busy))
        # One beyond the window stays: after a pause of the machine, what is caught up with is not the pace.
        while len(self._moments) > 2 and now - self._moments[1][0] > _WINDOW:
            self._moments.popleft()


def positive(what: str, value: float) -> float:
    """The value, if it is a positive number."""
    if not (math.isfinite(value) and value > 0):
        raise LinkworkError(f"{what} must be a positive number, not {value!r}")
    return float(value)
