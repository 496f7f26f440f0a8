"""Pendulum on a cart that swings itself up and balances: Q and E (or a gamepad's left stick) move it, Space knocks.

Its energy is pumped up to that of the upright pendulum (Åström and Furuta 2000); near the top a regulator takes over
whose gains are those of the model's own linearisation. The operator tells where the cart shall stand.
"""

from __future__ import annotations

from math import pi
from typing import Any

from ..analysis.linearise import linearise
from ..analysis.lqr import lqr
from ..control.blocks.actuators import DriveCommand, ForceCommand
from ..control.blocks.logic import FlipFlop, Switch
from ..control.blocks.mathematics import Formula
from ..control.blocks.nonlinear import RateLimit, Saturation
from ..control.blocks.panel import Button, Gauge, Lamp, Lever, Toggle
from ..engine.elements import TorqueSource
from ..engine.loads import Force
from ..model import GROUND, Body, Box, Cylinder, Hinge, Model, Scenery, Slider
from ..model.panel import PanelGroup
from ..model.rotation import about

SOURCE = "swing-up of Åström and Furuta (2000); cart and pendulum made for Linkwork"
DURATION = 12.0
ENDLESS = True
PLOT = ("rail.travel", "pin.angle", "force.out")
WATCHED = 10.0
METHOD = "simgc"
CART, POLE = 1.5, 0.3
"""Masses [kg]."""
LENGTH, RADIUS = 0.8, 0.012
"""Of the pendulum, a rod [m]."""
RAIL = 1.5
"""The cart stops at either end of it [m]."""
MOST = 25.0
"""Force of the drive [N]."""
START = pi - 0.1
"""Lean of the pendulum at the start: it hangs, but not quite at rest, from where nothing could be pumped [rad]."""
STATES = ("rail.travel", "pin.angle")
WEIGHTS, PRICE = (10.0, 20.0, 2.0, 2.0), 0.1
"""Of the regulator: of rail.travel, pin.angle and their rates, and of the force [1/m², 1/rad², ..., 1/N²]."""
PUMP, HOME, CALM = 12.0, 4.0, 3.0
"""Of the swing-up: gain of the energy [m/s² per J rad/s]; spring and damper that keep it amid the rail [1/s², 1/s]."""
GRAVITY = 9.81


def mechanism(angle: float = 0.0) -> Model:
    """Cart and pendulum, which stands upright at an angle of 0 [rad]."""
    model = Model("cart_pole")
    looks = Box((0.3, 0.2, 0.1)), Cylinder(0.03, 0.24, rotation=about((1.0, 0.0, 0.0), pi / 2))
    model.add(Body("cart", mass=CART, inertia=(0.01, 0.02, 0.02), shapes=looks, color="#35506b"))
    rod = Cylinder(RADIUS, LENGTH, at=(0.0, 0.0, LENGTH / 2))
    model.add(Body("pole", rotation=about((0.0, 1.0, 0.0), angle), mass=POLE, shapes=(rod,), color="#d0582e"))
    rail = Box((2.0 * RAIL + 0.3, 0.06, 0.04), at=(0.0, 0.0, -0.07))
    model.add(Scenery("bench", shapes=(rail,), color="#9aa0a6"))
    model.add(Slider("rail", GROUND, "cart", axis=(1.0, 0.0, 0.0), limits=(-RAIL, RAIL)))
    model.add(Hinge("pin", "cart", "pole", axis=(0.0, 1.0, 0.0), damping=0.002))
    model.add(TorqueSource("push", "rail"))
    return model


def build(knock: float = 1.5) -> Model:
    """`knock`: force of the knock at the pendulum's middle while the button is pressed [N]."""
    standing = mechanism()
    gains = lqr(linearise(standing, states=STATES), WEIGHTS, (PRICE,))[0]
    inertia = float(standing.bodies["pole"].mass_properties.inertia[0][0])
    model = mechanism(START)
    model.add(Force("knock", "pole", at=(0.0, 0.0, LENGTH / 2), force=(knock, 0.0, 0.0)))
    for block in _diagram([float(gain) for gain in gains], inertia):
        model.add(block)
    return model


def _diagram(gains: list[float], inertia: float) -> list[Any]:
    """From levers and angles to the force; `inertia` of the pendulum about its middle [kg m²]."""
    arm, swing = POLE * LENGTH / 2, inertia + POLE * (LENGTH / 2) ** 2
    k = [f"{gain!r}" for gain in gains]
    a = "swing"
    return [
        PanelGroup("cart", label="Cart"),
        PanelGroup("pendulum", label="Pendulum"),
        Lever("place", group="cart", label="Place", low=-1.0, high=1.0, sideways=True, spring_back=False, unit="m",
              keys=("KeyQ", "KeyE"), axis=0, travel_time=1.5, hint="Where the cart shall stand."),
        Gauge("stands", "rail.travel", group="cart", label="Stands at", low=-RAIL, high=RAIL),
        Toggle("works", group="pendulum", label="Control", on=True, key="KeyC", button=0),
        Button("hit", group="pendulum", label="Knock", key="Space", button=1),
        Lamp("balances", "caught", group="pendulum", label="Balances"),
        Gauge("leans", "lean", group="pendulum", label="Leans by", low=-180.0, high=180.0, factor=180.0 / pi, unit="°"),
        ForceCommand("knocks", "knock", "hit"),
        # how it stands: a pendulum that went round is as good as one that did not
        Formula("lean", f"atan2(sin(pin.angle + {START!r}), cos(pin.angle + {START!r}))", unit="rad"),
        Formula("excess", f"{swing / 2!r}*pin.angle_rate**2 + {arm * GRAVITY!r}*(cos(lean) - 1)", unit="J"),
        # up: pump energy, stay amid the rail
        Formula("pump", f"{PUMP}*excess*pin.angle_rate*cos(lean)"),
        Saturation("pumped", "pump", low=-5.0, high=5.0),
        Formula(a, f"pumped - {HOME}*rail.travel - {CALM}*rail.travel_rate", unit="m/s²"),
        Formula("up", f"{CART + POLE!r}*{a} + {arm!r}*cos(lean)*({arm * GRAVITY!r}*sin(lean) - {arm!r}*{a}*cos(lean))"
                f"/{swing!r} - {arm!r}*pin.angle_rate**2*sin(lean)", unit="N"),
        # balance, once it is near
        Formula("near", f"abs(lean) < 0.35 and abs(pin.angle_rate) < 2.5 and abs(rail.travel) < {RAIL - 0.2}",
                unit="1"),
        Formula("lost", "abs(lean) > 0.8", unit="1"),
        FlipFlop("caught", "near", "lost"),
        RateLimit("wish", "place", rising=0.8),
        Formula("regulator", f"-({k[0]}*(rail.travel - wish) + {k[1]}*lean + {k[2]}*rail.travel_rate + "
                f"{k[3]}*pin.angle_rate)", unit="N"),
        Switch("chosen", "caught", "regulator", "up"),
        Saturation("bounded", "chosen", low=-MOST, high=MOST),
        Switch("force", "works", "bounded", 0.0),
        DriveCommand("drives", "push", "force"),
    ]  # fmt: skip
