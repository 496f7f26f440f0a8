"""An actuator whose force follows its command with a delay."""

from __future__ import annotations

import math
from typing import ClassVar

from ...model.drive import Drive, Strength
from ...model.item import NonNegative, Number, Positive, item
from .law import Flow, Law, Response


@item
class Actuator(Drive):
    """A torque or force that follows the command [N m or N] with a first-order lag.

    Its state is the force f that it has built up, T f' = command - f with the time constant T; it acts on the joint as
    far as its strength allows, less what its own damping takes.
    """

    kind = "actuator"
    law: ClassVar[Law]

    time_constant: Positive
    """Time in which it comes 63 % nearer to the command [s]."""
    damping: NonNegative = 0.0
    """Viscous damping of its own [N m s/rad or N s/m]."""
    strength: Strength = math.inf
    """Largest torque or force [N m or N]; unlimited by default."""

    built_up: Number = 0.0
    """Force at the start [N m or N]."""

    def numbers(self) -> tuple[float, ...]:
        return self.time_constant, self.damping

    @property
    def initial(self) -> float:
        return self.built_up


def _respond(p, m, x, phi, rate, u):
    """p: time constant [s], damping."""
    force = x - p[1] * rate
    return Response(force, 0.0, -p[1], 1.0, 0.0, force * rate, 0.0)


def _flow(p, m, x, phi, rate, u):
    return Flow((u - x) / p[0], 0.0, 0.0, -1.0 / p[0])


Actuator.law = Law("actuator", _respond, flow=_flow, state=("built_up", "force"))
