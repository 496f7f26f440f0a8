"""A hand that pulls a body by a soft spring, or pushes it for a moment."""

from __future__ import annotations

from math import sqrt, tau
from typing import Any, NamedTuple

import numpy as np

from ..engine.loads import Force
from ..model import Flat, Model
from ..model.edit import with_load
from ..model.errors import LinkworkError
from ..model.rotation import Array, Vector
from ..run.simulate import Simulation

NAME = "hand"
# The spring of the hand swings what it holds at this frequency [Hz], with this share of critical damping.
_FREQUENCY, _DAMPING = 2.0, 0.8
# It counts on more mass than the body's own, since that drags others along, but not on more than this many times.
_MOST = 100.0
# A push gives what it pushes this speed, roughly [m/s], in this time [s].
_PUSH_SPEED, _PUSH_TIME = 1.0, 0.1


class Grip(NamedTuple):
    """What the hand holds: a point of a body's frame [m], and where it wants to have it in the world [m]."""

    body: str
    at: Vector
    target: Vector


class Hand:
    """Lives in the thread of the physics: `act` is called before every stretch of steps."""

    def __init__(self, flat: Flat):
        self._masses = {name: body.mass_properties.mass for name, body in flat.bodies.items()}
        self._coms = {name: body.mass_properties.com for name, body in flat.bodies.items()}
        if NAME in flat.loads:
            raise LinkworkError(
                f"the load '{NAME}' has the name of the viewer's own hand; give it another name"
            )
        self.grip: Grip | None = None
        self.force: Array = np.zeros(3)
        self._push: tuple[str, Array, float, float] | None = None  # body, force, beginning, end
        self._idle = True

    def held_by(self, model: Model) -> Model:
        """The model, or the same with other numbers, with a force for the hand."""
        return with_load(model, Force(NAME, next(iter(self._masses)), force=(0.0, 0.0, 0.0)))

    def push(self, body: str, direction: Any, now: float) -> None:
        """Push a body at its centre of mass along a direction in the world for a moment."""
        along = np.array(direction, float)
        size = float(np.linalg.norm(along))
        if size > 0.0:
            force = along / size * self._mass(body) * _PUSH_SPEED / _PUSH_TIME
            self._push = body, force, now, now + _PUSH_TIME

    def let_go(self) -> None:
        """Hold nothing."""
        self.grip = self._push = None

    def act(self, simulation: Simulation) -> None:
        """Set the force for the next stretch of steps."""
        if self._push is not None and not self._push[2] <= simulation.time < self._push[3]:
            self._push = None  # it is over, or time was set back
        if self.grip is not None:
            body, at, target = self.grip
            mass = self._mass(body)
            omega = tau * _FREQUENCY
            p, v = simulation.point(body, at)
            self.force = mass * omega * (omega * (np.array(target) - p) - 2 * _DAMPING * v)
            simulation.set_force(NAME, self.force, body=body, at=at)
        elif self._push is not None:
            body, self.force = self._push[:2]
            simulation.set_force(NAME, self.force, body=body, at=self._coms[body])
        elif not self._idle:
            self.force = np.zeros(3)
            simulation.set_force(NAME, self.force)
        self._idle = self.grip is None and self._push is None

    def moved(self, target: Vector) -> None:
        """Drag what is held to another place."""
        if self.grip is not None:
            self.grip = self.grip._replace(target=target)

    def _mass(self, body: str) -> float:
        own = max(self._masses[body], 1e-6)
        return sqrt(own * min(sum(self._masses.values()), _MOST * own))
