"""A corner of a vehicle on its rig: choose suspension, travel, spring and drive, and see it move at once.

The chassis slides up and down, and carries what the corner carries; the road below the wheel goes up and down. In the
page the tab Model is the wheel's parameter sheet; what it says is beside, with the lines for a model file.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from ..engine.elements import PositionServo
from ..model import GROUND, Body, Box, Material, Model, Scenery, Sine, Slider
from ..vehicle import SUSPENSIONS, HubMotor, Wheel, fit
from ..vehicle.rig import curves
from ..vehicle.springs import Coil, Torsion
from ..vehicle.suspensions.base import GRAVITY
from .krt100 import MOTOR

SOURCE = "types of suspension of Strashnov and Torgashev, and those with tie rods"
DURATION = 10.0
ENDLESS = True
PLOT = ("chassis.position.z", "road.travel", "corner.*pivot.angle")
WATCHED = 2.0
CHOICES = {
    "suspension": tuple(SUSPENSIONS),
    "spring": ("coil", "torsion"),
    "limits": ("exact", "asin"),
    "drive": ("none", "motor"),
    "side": ("left", "right"),
}
UP = (0.0, 0.0, 1.0)


def wheel(
    suspension: str = "double_transverse", side: str = "left", radius: float = 0.3, load: float = 3000.0,
    lowest: float = -0.09, highest: float = 0.09, limits: str = "exact", spring: str = "coil", stiffness: float = 0.0,
    damping: float = 0.0, drive: str = "none",
) -> Wheel:  # fmt: skip
    """The wheel that these choices describe; stiffness and damping of 0 follow from the load."""
    kind: Any = {"coil": Coil, "torsion": Torsion}[spring]
    numbers = {name: value for name, value in (("stiffness", stiffness), ("damping", damping)) if value}
    motor = HubMotor(**MOTOR, command=0.2) if drive == "motor" else None
    choices: dict[str, Any] = {"suspension": suspension, "side": side, "limits": limits}
    return Wheel(
        **choices, radius=radius, load=load, travel=(lowest, highest), spring=kind(**numbers), drive=motor
    )


def build(
    suspension: str = "double_transverse", side: str = "left", radius: float = 0.3, load: float = 3000.0,
    lowest: float = -0.09, highest: float = 0.09, limits: str = "exact", spring: str = "coil", stiffness: float = 0.0,
    damping: float = 0.0, drive: str = "none", stroke: float = 0.04, frequency: float = 1.0,
) -> Model:  # fmt: skip
    """The corner between a chassis and a road that goes up and down by `stroke` [m] at a `frequency` [Hz].

    `load`: [N]; `lowest`, `highest`: ends of the travel [m]; `stiffness`, `damping`: of the spring, 0 for what follows
    from the load [N/m, N s/m, of torsion springs N m/rad, N m s/rad].
    """
    chosen = wheel(suspension, side, radius, load, lowest, highest, limits, spring, stiffness, damping, drive)
    model = Model("corner")
    model.add(Material("ice", friction=0.0))  # so that a driven wheel turns where it stands
    part, at = chosen.component(), (0.0, 0.0, radius)
    inwards = -1.0 if side == "left" else 1.0
    away = 1.6 * radius * inwards
    beam = (0.4 * radius, 0.5 * radius, 2.4 * radius)
    mass = max(load / GRAVITY, 1e-3)
    about = tuple(mass * radius**2 * share for share in (1.0, 1.0, 0.5))
    model.add(
        Body(
            "chassis", at=(0.0, away, 1.8 * radius), mass=mass, inertia=about, shapes=(Box(beam),), color="#3c6e91"
        )
    )  # fmt: skip
    rail = Box(
        (0.15 * radius, 0.15 * radius, 5.0 * radius), at=(0.0, away + 0.4 * radius * inwards, 2.0 * radius)
    )
    model.add(Scenery("rail", shapes=(rail,), color="#9aa0a6"))
    plate = Box((1.2 * radius, 1.0 * radius, 0.2 * radius), at=(0.0, 0.0, -0.1 * radius))
    model.add(
        Body("road", mass=50.0, inertia=(1.0, 1.0, 1.0), shapes=(plate,), material="ice", color="#8a8d8a")
    )
    model.add(Slider("ride", GROUND, "chassis", at=(0.0, away, 1.8 * radius), axis=UP))
    model.add(Slider("road", GROUND, "road", axis=UP))
    signal = Sine(frequency) if frequency else None
    model.add(
        PositionServo(
            "shaker", "road", command=stroke, signal=signal, stiffness=1e7, damping=1e5, strength=1e7
        )
    )
    fit(model, "corner", part, chassis="chassis", at=at)
    return model


def sheet(**settings: Any) -> list[tuple[str, str, str]]:
    """What follows from the choices: names, values and units."""
    own = {name: value for name, value in settings.items() if name not in ("stroke", "frequency")}
    chosen = wheel(**own)
    travel, sprung = chosen.travel_report(), chosen.rated()
    turns = travel.lever > 0.0
    factor, unit = (180.0 / math.pi, "°") if turns else (1e3, "mm")

    def span(values: Any, scale: float) -> str:
        return f"{scale * values[0]:+.3f} … {scale * values[1]:+.3f}"

    found = curves(dataclasses.replace(chosen, side="left"), 3)
    ends = np.degrees(found.camber)
    rows = [
        ("limits, exact", span(travel.exact, factor), unit),
        ("reach", span(travel.requested, 1e3), "mm"),
        ("limits, equation 7", span(travel.approximate, factor), unit),
        ("reach", span(travel.reached, 1e3), "mm"),
        ("wheel load at rest", f"{chosen.wheel_load:.1f}", "N"),
        ("wheel rate", f"{found.wheel_rate[1] / 1e3:.2f}", "N/mm"),
        ("camber, low to high", " ".join(f"{value:+.2f}" for value in ends), "°"),
    ]
    torsion = isinstance(sprung, Torsion)
    rows.append(("spring", f"{sprung.stiffness:.5g}", "N m/rad" if torsion else "N/m"))
    rows.append(("its damping", f"{sprung.damping:.4g}", "N m s/rad" if torsion else "N s/m"))
    if isinstance(sprung, Torsion):
        rows.append(("slack at", f"{math.degrees(sprung.rest or 0.0):+.2f}", "°"))
    else:
        rows.append(("its length", f"{1e3 * (sprung.length or 0.0):.1f}", "mm"))
    return rows


def written(**settings: Any) -> str:
    """The corner as a component of a model file."""
    text = {name: str(value) for name, value in settings.items()}
    spring = [f"type: {text['spring']}"]
    spring += [f"{name}: {text[name]}" for name in ("stiffness", "damping") if float(text[name])]
    lines = [
        "components:", "  corner:", "    wheel:",
        f"      suspension: {text['suspension']}", f"      side: {text['side']}",
        f"      radius: {text['radius']}", f"      load: {text['load']}",
        f"      travel: [{text['lowest']}, {text['highest']}]", f"      limits: {text['limits']}",
        f"      spring: {{{', '.join(spring)}}}",
    ]  # fmt: skip
    if text["drive"] == "motor":
        numbers = ", ".join(f"{name}: {value:.6g}" for name, value in MOTOR.items())
        lines.append(f"      drive: {{{numbers}}}")
    return "\n".join(lines)
