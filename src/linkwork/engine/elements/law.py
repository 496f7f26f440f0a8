"""What a law is: the force of an element along one scalar that it measures, stated once.

An element is what it measures (a joint coordinate, a distance, an offset along an axis) times its law. The law
states the force, its slopes, the energy stored and the powers; every method derives what it needs from that: the
force of an explicit evaluation, target velocity and softness of an impulse step, the tangent of an implicit one,
"too stiff for this step", statics, the energy audit. Laws are plain functions of numbers, compiled when a simulation
needs them:

    respond(p, m, x, phi, rate, u) -> Response

with the element's numbers p, its sampled memory m, its continuous state x, the measure phi [rad or m], its rate, and
the command u. An element with a continuous state also states how that flows,

    flow(p, m, x, phi, rate, u) -> Flow

and a sampled one what happens at its instants, `sample(p, m, phi, rate, u)`, which writes into m. A law may consist
of smooth pieces: m[0] then says which of them holds, or 0 that it is the one at the measure. Methods that locate events
ask how far it is to the end of the piece, and choose another one there:

    margin(p, m, phi, rate, accel) -> (positive within the piece and zero at its end, the rate of that)
    choose(p, m, phi, rate, ended)    writes m[0]; ended: the present piece is known to end here
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

__all__ = ["Flow", "Law", "Response"]


class Response(NamedTuple):
    """Force of an element and what follows from it: force · rate = supplied - dissipated - d(stored)/dt."""

    force: float
    """Along the measure: positive increases it [N or N m]."""
    by_phi: float
    """Slope of the force by the measure."""
    by_rate: float
    """Slope of the force by the rate."""
    by_state: float
    """Slope of the force by the element's state."""
    stored: float
    """Energy that it gives back [J]."""
    supplied: float
    """Power from outside the mechanism [W]."""
    dissipated: float
    """Power turned into heat [W]."""


class Flow(NamedTuple):
    """How fast a continuous state changes, and the slopes of that."""

    rate: float
    by_phi: float
    by_rate: float
    by_state: float


Scalars = Callable[..., Any]


@dataclass(frozen=True)
class Law:
    """Functions of one kind of element; see the module."""

    name: str
    respond: Scalars
    flow: Scalars | None = None
    state: tuple[str, str] | None = None
    """Name and unit of the continuous state."""
    sample: Scalars | None = None
    memory: tuple[tuple[str, str], ...] = ()
    """Names and units of the sampled states, at most four."""
    margin: Scalars | None = None
    choose: Scalars | None = None
    sticks: bool = False
    """Whether it holds stiffly at rest, at full command, what it lets slide in motion."""

    @property
    def pieces(self) -> bool:
        """Whether it consists of pieces."""
        return self.choose is not None

    def __post_init__(self) -> None:
        assert (self.flow is None) == (self.state is None), self.name
        assert len(self.memory) <= (0 if self.pieces else 4), self.name
        assert (self.margin is None) == (self.choose is None), self.name
