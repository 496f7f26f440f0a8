"""A digital controller on a joint."""

from __future__ import annotations

import math
from typing import ClassVar

from ...model.drive import Drive, Strength
from ...model.item import NonNegative, Positive, item
from .law import Law, Response


@item
class PID(Drive):
    """A sampled PID controller that moves a coordinate to the command [rad or m].

    Every `sample_time` it reads the coordinate and its rate and sets the force that it keeps until the next time,
    proportional · e + integral · ∫e - derivative · rate, where e is the command less the coordinate. The derivative
    is of the measurement, so that a jump of the command does not kick. At its strength the integral stands still (no
    wind-up).
    """

    kind = "pid"
    law: ClassVar[Law]
    along_rate: ClassVar[bool] = False
    command_unit: ClassVar[str] = "place"

    sample_time: Positive
    """Time between samples [s]."""
    proportional: NonNegative = 0.0
    """Gain of the error [N m/rad or N/m]."""
    integral: NonNegative = 0.0
    """Gain of the integral of the error [N m/(rad s) or N/(m s)]."""
    derivative: NonNegative = 0.0
    """Gain of the rate [N m s/rad or N s/m]."""
    strength: Strength = math.inf
    """Largest torque or force [N m or N]; unlimited by default."""

    def numbers(self) -> tuple[float, ...]:
        return self.proportional, self.integral, self.derivative, self.sample_time, self.strength

    @property
    def period(self) -> float:
        return self.sample_time


_OUTPUT, _SUM = 0, 1


def _respond(p, m, x, phi, rate, u):
    force = m[_OUTPUT]
    return Response(force, 0.0, 0.0, 0.0, 0.0, force * rate, 0.0)


def _sample(p, m, phi, rate, u):
    """p: three gains, period, strength; m: output, integral of the error."""
    error = u - phi
    total = m[_SUM] + p[3] * error
    wanted = p[0] * error + p[1] * total - p[2] * rate
    output = min(max(wanted, -p[4]), p[4])
    if output == wanted or (wanted - output) * error < 0.0:  # within its strength, or on the way back
        m[_SUM] = total
    m[_OUTPUT] = output


PID.law = Law("pid", _respond, sample=_sample, memory=(("output", "force"), ("error_integral", "place s")))
