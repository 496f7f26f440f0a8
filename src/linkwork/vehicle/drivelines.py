"""What drives and brakes the wheels of an axle: a motor with its differential, and brakes."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import KW_ONLY
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from ..engine.elements import AxleMotor, Clutch
from ..engine.elements.traction_motor import MotorMap
from ..model.item import Item, Number, Positive, _plain, item
from ..model.signals import Signal

GRIP = 1.3
"""Of a brake by default: its torque over the load on its wheel and the radius [1]."""

Share = Annotated[float, BeforeValidator(_plain), Field(strict=True, ge=0, le=1)]


@item
class WheelBrake:
    """A brake between a wheel and what carries it: the drive `brake`, whose command is how hard it is pressed, 0 to 1.

    At rest it holds, without creep, what is not more than its torque.
    """

    _: KW_ONLY
    torque: Positive | None = None
    """Torque at full command [N m]; default: what locks the wheel under 1.3 times its load at rest."""
    give: Positive = 0.03
    """How far it yields before it slides at full command [rad]."""
    command: Share = 0.0
    """How hard it is pressed at the start [1]."""
    signal: Signal | None = None
    """Factor of that over time; default: 1."""


def _locked_or_torque(value: float | str) -> float | str:
    if not isinstance(value, str) and not value > 0.0:
        raise ValueError("must be open, locked, or a torque greater than 0")
    return value


@item
class Driveline(MotorMap):
    """A motor by its map that drives both wheels of an axle through a gear and a differential.

    The drive `motor` takes the share of what it can do, -1 to 1; the drive `lock` is the clutch of a differential that
    is locked or of limited slip, its command how hard it is pressed. The reaction acts on what carries the wheels,
    as of motors in them.
    """

    _: KW_ONLY
    gear: Positive = 9.0
    """Turns of the motor per turn of the wheels [1]."""
    differential: Annotated[
        Literal["open", "locked"] | Annotated[Number, BeforeValidator(_plain)],
        AfterValidator(_locked_or_torque),
    ] = "open"
    """Open: same torque on both; locked: they turn alike; or the torque between them up to which they do [N m]."""
    command: Number = 0.0
    """Share of full load at the start [1]."""
    signal: Signal | None = None
    """Factor of that over time; default: 1."""

    def parts(self, left: str, right: str) -> Iterable[Item]:
        """Drives between the hinges of both wheels."""
        numbers = {field.name: getattr(self, field.name) for field in dataclasses.fields(MotorMap)}
        yield AxleMotor(
            "motor", left, right, gear=self.gear, command=self.command, signal=self.signal, **numbers
        )
        if self.differential == "open":
            return
        full = 10.0 * self.gear * self.torque
        most = full if isinstance(self.differential, str) else float(self.differential)
        yield Clutch("lock", left, right, torque=most, command=1.0)


__all__ = ["GRIP", "Driveline", "WheelBrake"]
