"""Scissor lift of ten crossed stages: a servo draws the lower ends together, and the platform goes up."""

from math import cos, pi, radians, sin, tan

from ..engine.elements import PositionServo
from ..model import GROUND, Body, Box, Cylinder, Hinge, Model, Slider, Table, Weld, about

SOURCE = "made for Linkwork: every stage repeats what the others hold already, three equations each"
DURATION = 10.0
ENDLESS = True
PLOT = ("guide.travel", "platform.position.z", "energy.balance")
BAR = 2.0
"""Length of a bar [m]."""
BAR_MASS, SHOE, PLATFORM = 25.0, 8.0, 120.0
"""Masses [kg]."""
STIFFNESS, DAMPING = 2e8, 4e6
"""Of the servo [N/m, N s/m]."""
SAMPLE = 0.05
"""Time between points of the command [s]."""
GRAVITY = 9.81
PIN_AXIS = (0.0, -1.0, 0.0)
"""Of all hinges: a positive angle lifts what points along x."""


def holding(angle: float, stages: int, load: float) -> float:
    """Force along x that the servo needs to hold the lift, its bars at an angle [rad] from the ground [N].

    By virtual work: the top weighs on `stages` steps, the bars on half of them, as x = BAR cos, z = BAR sin say.
    """
    top = PLATFORM + SHOE + load
    return -GRAVITY * stages * (top + BAR_MASS * stages) / tan(angle)


def build(stages: int = 10, angle: float = 25.0, rise: float = 20.0, load: float = 250.0) -> Model:
    """`stages` of crossed bars; their `angle` from the ground at the start and its `rise` by the middle of the run [°];
    `load` on the platform [kg].
    """
    model = Model(f"scissor_lift{stages}")
    start = radians(angle)
    width, step = BAR * cos(start), BAR * sin(start)
    for k in range(stages):
        low, high = k * step, (k + 1) * step
        # The bars that lean right run outside, those that lean left inside, so that they cross in pairs.
        model.add(_bar(f"right{k + 1}", (0.0, low), start, 0.45))
        model.add(_bar(f"left{k + 1}", (width, low), pi - start, 0.38))
        middle = (width / 2, 0.0, (low + high) / 2)
        model.add(Hinge(f"cross{k + 1}", f"right{k + 1}", f"left{k + 1}", at=middle, axis=PIN_AXIS))
        if k:
            model.add(Hinge(f"near{k}", f"left{k}", f"right{k + 1}", at=(0.0, 0.0, low), axis=PIN_AXIS))
            model.add(Hinge(f"far{k}", f"right{k}", f"left{k + 1}", at=(width, 0.0, low), axis=PIN_AXIS))
    height = stages * step
    shoe = Box((0.14, 0.7, 0.08))
    model.add(Body("shoe", at=(width, 0.0, 0.0), mass=SHOE, shapes=(shoe,), color="#404040"))
    model.add(Body("top_shoe", at=(width, 0.0, height), mass=SHOE, shapes=(shoe,), color="#404040"))
    deck = Box((BAR + 0.2, 1.0, 0.06), at=(BAR / 2, 0.0, 0.09))
    model.add(Body("platform", at=(0.0, 0.0, height), mass=PLATFORM, shapes=(deck,), color="#c8a020"))
    if load:
        crate = Box((0.8, 0.8, 0.8), at=(BAR / 2, 0.0, 0.52))
        model.add(Body("load", at=(0.0, 0.0, height), mass=load, shapes=(crate,), color="#806040"))
        model.add(Weld("strap", "platform", "load", at=(0.0, 0.0, height)))

    for name, a, b, at in (
        ("base_pin", GROUND, "right1", (0.0, 0.0)), ("base_roller", "shoe", "left1", (width, 0.0)),
        ("top_pin", f"left{stages}", "platform", (0.0, height)),
        ("top_roller", f"right{stages}", "top_shoe", (width, height)),
    ):  # fmt: skip
        model.add(Hinge(name, a, b, at=(at[0], 0.0, at[1]), axis=PIN_AXIS))
    model.add(Slider("guide", GROUND, "shoe", at=(width, 0.0, 0.0), axis=(1.0, 0.0, 0.0)))
    model.add(Slider("top_guide", "platform", "top_shoe", at=(width, 0.0, height), axis=(1.0, 0.0, 0.0)))

    # The command runs ahead of the travel by what the servo gives under the load: the lift starts at rest.
    times = [SAMPLE * i for i in range(round(DURATION / SAMPLE) + 1)]
    wanted = [start + radians(rise) * (1.0 - cos(2 * pi * t / DURATION)) / 2 for t in times]
    commands = [BAR * cos(w) - width + holding(w, stages, load) / STIFFNESS for w in wanted]
    strength, signal = (
        2.0 * abs(holding(start, stages, load)),
        Table(tuple(times), tuple(commands), repeats=True),
    )
    servo = PositionServo(
        "cylinder", "guide", stiffness=STIFFNESS, damping=DAMPING, strength=strength,
        command=1.0, signal=signal,
    )  # fmt: skip
    model.add(servo)
    return model


def _bar(name: str, foot: tuple[float, float], angle: float, apart: float) -> Body:
    """Two rails with a tube between them, from a foot (x, z) [m] at an angle [rad]; its frame's x runs along."""
    rails = (Box((BAR, 0.04, 0.1), at=(BAR / 2, side * apart, 0.0)) for side in (-1.0, 1.0))
    tube = Cylinder(0.03, 2 * apart, at=(BAR / 2, 0.0, 0.0), rotation=about((1.0, 0.0, 0.0), pi / 2))
    at, turned = (foot[0], 0.0, foot[1]), about(PIN_AXIS, angle)
    return Body(name, at=at, rotation=turned, mass=BAR_MASS, shapes=(*rails, tube), color="#c84030")
