"""A hydraulic cylinder behind a valve."""

from __future__ import annotations

import math
from typing import ClassVar

from ...model.drive import Drive
from ...model.item import NonNegative, Number, Positive, item
from .law import Flow, Law, Response


@item
class HydraulicCylinder(Drive):
    """A double-acting cylinder of equal areas along a joint coordinate, fed through a four-way valve.

    The command is the opening of the valve, -1 to 1. The state is the pressure p of the load, the difference between
    its two chambers: V/(4 B) p' = opening K √(1 - sign(opening) p/supply) - area φ' - leakage p, where K is the flow
    of the open valve without load, V the volume of oil in cylinder and hoses and B the bulk modulus of the oil
    (Merritt, "Hydraulic Control Systems", 1967, chapter 6). The force is area · p.
    """

    kind = "hydraulic_cylinder"
    law: ClassVar[Law]
    command_unit: ClassVar[str] = "1"
    full_command: ClassVar[str] = "full opening of the valve"

    area: Positive
    """Area of the piston [m²]; on a joint that turns, displaced volume per angle [m³/rad]."""
    supply: Positive
    """Pressure of the pump [Pa]."""
    flow: Positive
    """Flow through the open valve without load [m³/s]."""
    volume: Positive
    """Volume of all oil under pressure [m³]."""
    bulk_modulus: Positive = 1.4e9
    """Bulk modulus of the oil [Pa]."""
    leakage: NonNegative = 0.0
    """Leakage past the piston [m³/(s Pa)]."""

    pressure: Number = 0.0
    """Pressure of the load at the start [Pa]."""

    def numbers(self) -> tuple[float, ...]:
        return self.area, self.supply, self.flow, 4.0 * self.bulk_modulus / self.volume, self.leakage

    @property
    def initial(self) -> float:
        return self.pressure


_LEAST = 1e-3  # share of the supply below which the drop at the valve is taken as linear: a root has no slope at zero


def _respond(p, m, x, phi, rate, u):
    """p: area, supply pressure, flow, 4 B/V [Pa/m³], leakage."""
    force = p[0] * x
    return Response(force, 0.0, 0.0, p[0], 0.0, force * rate, 0.0)


def _flow(p, m, x, phi, rate, u):
    opening = min(1.0, max(-1.0, u))
    drop = 1.0 - x / p[1] if opening >= 0.0 else 1.0 + x / p[1]
    if abs(drop) > _LEAST:  # negative where the load drives oil back through the valve
        root = math.copysign(math.sqrt(abs(drop)), drop)
        slope = 0.5 / abs(root)
    else:
        slope = 1.0 / math.sqrt(_LEAST)
        root = slope * drop
    through, by_state = p[2] * opening * root, -p[2] * abs(opening) * slope / p[1]
    return Flow(p[3] * (through - p[0] * rate - p[4] * x), 0.0, -p[3] * p[0], p[3] * (by_state - p[4]))


HydraulicCylinder.law = Law("hydraulic_cylinder", _respond, flow=_flow, state=("pressure", "Pa"))
