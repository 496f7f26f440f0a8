"""A brake: pads that yield a little, and slide at the torque that they are pressed for."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import ClassVar

from ...model.drive import Drive
from ...model.item import Positive, item
from .law import Flow, Law, Response


@item
class BrakeNumbers:
    """What a brake or a clutch is, whatever it acts on."""

    _: KW_ONLY
    torque: Positive
    """Torque at which it slides at full command [N m or N]."""
    give: Positive = 0.03
    """How far it yields before it slides at full command [rad or m]."""
    settling: Positive = 0.006
    """Time in which what it yields comes to rest, its damping over its stiffness [s]."""

    def numbers(self) -> tuple[float, ...]:
        stiffness = self.torque / self.give
        return self.torque, stiffness, self.settling * stiffness


@item
class Brake(BrakeNumbers, Drive):
    """A brake of a joint; the command is how hard it is pressed, 0 to 1.

    Dry friction with pads that yield: at rest a spring and damper that holds without creep, in motion a torque against
    it, as large as it is pressed for. Its state is how far the pads are turned along.
    """

    kind = "brake"
    law: ClassVar[Law]
    supplies: ClassVar[bool] = False
    command_unit: ClassVar[str] = "1"
    full_command: ClassVar[str] = "the whole torque"


def _respond(p, m, x, phi, rate, u):
    """p: torque, stiffness c, damping d. c x + d x' = F holds up to the torque T that is there; x' is what of the rate
    the pads take along, the rest slides. F φ' + (½ c x²)' = d x'² + T |φ' - x'|, so that it only takes."""
    most = p[0] * min(1.0, max(0.0, u))
    hold = p[1] * x + p[2] * rate
    stored = 0.5 * p[1] * x * x
    if abs(hold) <= most:
        return Response(-hold, 0.0, -p[2], -p[1], stored, 0.0, p[2] * rate * rate)
    force = most if hold < 0.0 else -most
    return Response(force, 0.0, 0.0, 0.0, stored, 0.0, -force * rate - p[1] * x * (-force - p[1] * x) / p[2])


def _flow(p, m, x, phi, rate, u):
    most = p[0] * min(1.0, max(0.0, u))
    hold = p[1] * x + p[2] * rate
    if abs(hold) <= most:
        return Flow(rate, 0.0, 1.0, 0.0)
    return Flow(((most if hold > 0.0 else -most) - p[1] * x) / p[2], 0.0, 0.0, -p[1] / p[2])


Brake.law = Law("brake", _respond, flow=_flow, state=("give", "place"), sticks=True)
