"""A DC motor behind a gear."""

from __future__ import annotations

from typing import ClassVar

from ...model.drive import Drive, Ratio
from ...model.item import NonNegative, Positive, item
from .law import Law, Response


@item
class DCMotor(Drive):
    """A DC motor behind a gear, from its data sheet; the command is the voltage as a share of nominal, -1 to 1.

    I ω' = stall_torque (U - ω/idle_speed) + τ with I = stall_torque time_constant/idle_speed and ω = gear q̇. Back-EMF
    and rotor are treated implicitly: stable at any step.
    """

    kind = "dc_motor"
    law: ClassVar[Law]
    command_unit: ClassVar[str] = "1"
    full_command: ClassVar[str] = "nominal voltage"

    stall_torque: Positive
    """Torque of the motor at nominal voltage while it stands [N m]."""
    idle_speed: Positive
    """Speed of the motor at nominal voltage without load [rad/s]."""
    time_constant: NonNegative
    """Mechanical time constant of the motor alone [s]."""
    gear: Ratio = 1.0
    """Turns of the motor per turn of the joint [1], or per way [rad/m]."""

    def numbers(self) -> tuple[float, ...]:
        return self.gear * self.stall_torque, self.gear**2 * self.stall_torque / self.idle_speed

    @property
    def rotor(self) -> float:
        """The rotor is tied to the joint, so its inertia is felt gear² times."""
        return self.gear**2 * self.stall_torque * self.time_constant / self.idle_speed


def _respond(p, m, x, phi, rate, u):
    """p: stall torque at the joint [N m], back-EMF at the joint [N m s/rad]."""
    force = p[0] * min(1.0, max(-1.0, u)) - p[1] * rate
    return Response(force, 0.0, -p[1], 0.0, 0.0, force * rate, 0.0)


DCMotor.law = Law("dc_motor", _respond)
