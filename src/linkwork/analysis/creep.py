"""Rest with contact: a simulation creeps to where nothing accelerates.

Dynamic relaxation with kinetic damping (Cundall, "Explicit finite-difference methods in geomechanics", 1976): steps are
those of a run, with contact and friction as ever, and all rates are set to zero whenever the kinetic energy has passed
a peak. What moves is stopped where its forces balance, so that nothing swings, bounces or has momentum to speak of.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..methods.contact import ContactMethod
from ..model.errors import LinkworkError
from ..model.rotation import Array
from ..run.simulate import Simulation
from .matter import Matter

REST = 1e-5
"""Accelerations of bodies that begin at rest, below which they stay so [m/s²]; the contact solver ends at 1e-6."""
_COARSE = 1e-2  # and where contact forces are no better known, which large piles' are not [m/s²]
_RESIDUALS = 10.0  # accelerations that a residual of contact forces may leave, in sizes of it
_TARGET = 1e-9  # accelerations that are sought, as long as they still fall [m/s²]
_BETTER = 0.5  # share of the least acceleration so far that counts as falling
_STALE = 50  # times at rest without getting better, after which rest is as good as it gets
_SHAKE = 1e-7  # accelerations that try whether contact forces are determinate [m/s²]
_LOOK = 20  # steps between two looks at speeds
_STRETCH, _LONGEST = 20, 200  # steps that bodies must stay at rest, and in which contact forces settle
_STEADY = 1e-6  # change of contact forces and states of elements in a step that is none
_MOVED = 1e-5  # way in that stretch that is none [sizes]
_FASTEST = 10.0  # speed of creeping [sizes/s]
_AWAY = 100.0  # sizes that nothing goes which comes to rest


class Restless(LinkworkError):  # noqa: N818 - says what is found
    """Something does not come to rest."""


class Creep:
    """A simulation that is to come to rest; its clock stands still at `time` [s], so that signals do not change."""

    def __init__(
        self,
        simulation: Simulation,
        matter: Matter,
        weights: Array,
        time: float,
        settle: Callable[[], object],
    ):
        """`weights`: inertia of each rate, by which kinetic energy is told; `settle` is called when all stops."""
        self.simulation, self.matter, self._weights, self._time = simulation, matter, weights, time
        self._settle = settle
        assert isinstance(simulation.method, ContactMethod)
        self._method = simulation.method
        self.steps = 0
        self.settled = False
        """Whether contacts share their load at rest in one and the same way."""
        self._size = matter.size()
        self._start = matter.places()

    def to_rest(self, patience: float, progress: Callable[[float], object] | None = None) -> None:
        """Creep until nothing accelerates, for at most `patience` seconds of simulated time."""
        sim, before, from_rest = self.simulation, 0.0, True
        least, stale, first = math.inf, 0, 0.0
        self._stop()
        began, most = self.steps, max(1, round(patience / sim.dt))
        while self.steps < began + most:
            self._step()
            if from_rest:
                pushed = float(self.matter.speeds().max(initial=0.0)) / sim.dt
                first = max(first, pushed)
                stale = 0 if pushed < _BETTER * least else stale + 1
                least = min(least, pushed)
                if pushed <= (_TARGET if stale < _STALE else self.rest()) and self._stays():
                    return
                if progress is not None:
                    progress(max((self.steps - began) / most, _share(first, least)))
            energy = float(self._weights @ np.square(sim.v))
            # Forces that balance to rounding are kept from step to step: what is left of them drives for ever.
            from_rest = energy <= before or (self.steps % _LOOK == 0 and self._creeps(_TARGET * sim.dt))
            if from_rest:
                self._stop()
                before = 0.0
            else:
                before = energy * (self._slow_down() if self.steps % _LOOK == 0 else 1.0)
        raise self._restless(f"within {patience:g} s")

    def _creeps(self, least: float) -> bool:
        """Whether nothing is faster than this [m/s]."""
        return bool(self.matter.speeds().max(initial=0.0) <= least)

    def _stop(self) -> None:
        self.simulation.v[:] = 0.0
        self._settle()

    def _step(self) -> None:
        """One step, after which it is as late as before."""
        self.simulation.step()
        self.steps += 1
        clock = self.simulation.method.state.clock
        clock.origin = clock.now = self._time
        clock.steps = 0

    def _slow_down(self) -> float:
        """Nothing creeps faster than it may; the share of kinetic energy that is left. Raises for what goes away."""
        if self.matter.ways(self._start).max(initial=0.0) > _AWAY * self._size:
            raise self._restless(f"within {_AWAY:g} times the size of the model")
        share = _FASTEST * self._size / float(self.matter.speeds().max(initial=0.0) or math.inf)
        if share >= 1.0:
            return 1.0
        self.simulation.v[:] *= share
        return share * share

    def _stays(self) -> bool:
        """Whether bodies stay at rest for a stretch of steps in which they are shaken a little.

        Where statics leaves open how contacts share a load, shaking lets the solver look for the smallest forces, which
        at rest would go on as they came about.
        """
        sim, way, self.settled = self.simulation, 1.0, False
        pushes, places = self._pushes(), self.matter.places()
        for k in range(_LONGEST):
            sim.v[:] = way * _SHAKE * sim.dt
            self._step()
            if self.matter.speeds().max(initial=0.0) > 2.0 * self.rest() * sim.dt:
                self._stop()
                return False
            before, pushes, way = pushes, self._pushes(), -way
            self.settled = _same(before, pushes, _STEADY * self.rest() / REST)
            if k >= _STRETCH and self.settled:
                break
        self._stop()
        self._step()
        return bool(self.matter.ways(places).max(initial=0.0) <= _MOVED * self._size)

    def rest(self) -> float:
        """Accelerations that count as none: `REST`, or what the last step left of the equations of contact [m/s²]."""
        left = float(self._method.report()["residual"]) / self.simulation.dt
        return min(max(REST, _RESIDUALS * left), _COARSE)

    def _pushes(self) -> tuple[Array, Array]:
        """Forces of contacts and states of elements."""
        return self._method.touch_arrays().forces, self._method.memory()["element_states"].copy()

    def _restless(self, limit: str) -> Restless:
        speeds, ways = self.matter.speeds(), self.matter.ways(self._start)
        fastest = int(np.argmax(speeds))
        body = self.simulation.system.bodies[fastest]
        return Restless(
            f"nothing comes to rest {limit}: '{body}' still creeps at {speeds[fastest]:.3g} m/s, {ways[fastest]:.3g} m "
            "from where it began; give it something to lie against, more friction or a joint, or hold it"
        )


def _same(before: tuple[Array, Array], after: tuple[Array, Array], share: float) -> bool:
    """Whether forces and states are the same but for a share."""
    return all(
        a.shape == b.shape and np.abs(a - b).max(initial=0.0) <= share * np.abs(b).max(initial=0.0)
        for a, b in zip(before, after, strict=True)
    )


def _share(first: float, least: float) -> float:
    """How far accelerations have fallen, of the decades that they have to."""
    return min(1.0, math.log(first / least) / math.log(first / _TARGET)) if least > _TARGET < first else 0.0
