"""Manipulator whose two jaws share one motor: it grasps a box, lifts it, carries it round and puts it down."""

from math import acos, atan2, cos, hypot, pi, radians, sin

from ..engine.elements import PositionServo, Repeater, VelocityServo
from ..model import GROUND, Body, Box, Cylinder, Free, Hinge, Material, Model, Scenery, Shape, Slider, about
from ..model.signals import Table

SOURCE = "third scene of Mikhaylyuk, Strashnov and Timokhin; parameters proposed here"
DURATION = 8.5
PLOT = ("left.travel", "right.travel", "box.position.z", "contact.patches")
GRAVITY = 9.81
PIN_AXIS = (0.0, -1.0, 0.0)
"""Of shoulder, elbow and wrist: a positive angle lifts what points along x."""
SHOULDER, UPPER, FORE, HAND = 0.40, 0.40, 0.36, 0.20
"""Height of the shoulder; lengths of upper arm and forearm; from the wrist down to the middle of the pads [m]."""
BOX, BOX_MASS = 0.06, 0.5
"""Edge [m] and mass [kg] of what is carried."""
OPEN = 0.10
"""Distance of the open pads [m]."""
STROKE = (-0.05, 0.05)
"""Of a jaw [m]."""
PAD, TIP = (0.055, 0.012, 0.105), 0.025
"""Size of a jaw, and how far it reaches below the middle of the grip [m]."""
FORCE, RATE, ROTOR = 40.0, 0.05, 0.5
"""Of the motor of the jaws: its force, which they share [N]; speed of each jaw [m/s]; inertia behind the gear [kg]."""
BUTTONS = {
    "Knock at the box": lambda session: session.push("box", (1.0, 0.0, 0.0)),
    "Let go": lambda session: session.command("grip_motor", -RATE),
    "Grip again": lambda session: session.command("grip_motor", RATE),
}
MASSES = {"turret": 8.0, "upper_arm": 4.0, "forearm": 2.5, "hand": 1.0, "left_jaw": 0.15, "right_jaw": 0.15}
"""[kg]"""
SERVOS = {
    "turret": ("turret", 2e4, 400.0, 1.5), "shoulder": ("shoulder", 2e4, 400.0, 2.0),
    "elbow": ("elbow", 1e4, 200.0, 1.0), "wrist": ("wrist", 4e3, 80.0, 0.3),
}  # fmt: skip
"""Joint, stiffness [N m/rad], strength [N m] and inertia of the rotor behind its gear [kg m²]."""
LAG = 0.02
"""Time by which a joint follows its command [s]."""
SAMPLE = 0.02
"""Time between points of the commands [s]."""
CLOSING, LIFTING, OPENING = 1.0, 1.6, 6.8
"""When the jaws begin to close, when they hold and the arm moves on, when they begin to open [s]."""
DROP = 3e-4
"""Height from which the box is dropped [m]: pressed against the table, it would slip in the jaws."""
COURSE = (
    (0.0, 0.50, 0.200, 0.0),
    (CLOSING, 0.50, 0.035, 0.0),
    (LIFTING, 0.50, 0.035, 0.0),
    (2.4, 0.50, 0.250, 0.0),
    (5.2, 0.45, 0.300, 100.0),
    (6.4, 0.50, 0.035 + DROP, 100.0),
    (7.4, 0.50, 0.035 + DROP, 100.0),
    (8.4, 0.50, 0.200, 100.0),
)
"""Time [s]; distance from the axis of the turret and height of the middle of the pads [m]; angle of the turret [°]."""


def arm_angles(reach: float, height: float) -> tuple[float, float]:
    """Angles of upper arm and forearm from the horizontal that bring the pads there; the hand points down [rad]."""
    x, z = reach, height + HAND - SHOULDER
    far = hypot(x, z)
    upper = atan2(z, x) + acos((UPPER**2 + far**2 - FORE**2) / (2 * UPPER * far))
    return upper, atan2(z - UPPER * sin(upper), x - UPPER * cos(upper))


def course(t: float) -> tuple[float, float, float]:
    """Reach and height of the middle of the pads [m] and angle of the turret [rad] that are wanted at a time [s]."""
    later = next(i for i in range(1, len(COURSE)) if t <= COURSE[i][0] or i == len(COURSE) - 1)
    (t0, *before), (t1, *after) = COURSE[later - 1], COURSE[later]
    s = min(1.0, (t - t0) / (t1 - t0))
    ease = s**3 * (10.0 - 15.0 * s + 6.0 * s * s)
    reach, height, turn = (a + (b - a) * ease for a, b in zip(before, after, strict=True))
    return reach, height, radians(turn)


def build(
    friction: float = 0.8,
    force: float = FORCE,
    mass: float = BOX_MASS,
    offset: float = 0.003,
    skew: float = 0.0,
    pad: float = PAD[0],
) -> Model:
    """`friction` of all that touches; `force` of the motor of the jaws [N]; `mass` of the box [kg], which stands
    `offset` off the middle [m] and is turned by `skew` [°]: the jaws have to push it into place. `pad` is the width of
    the jaws [m]; a box that stands askew jams between jaws narrower than friction times its own width.
    """
    model = Model("gripper")
    model.add(Material("rough", friction=friction))
    table = Box((1.6, 1.6, 0.04), at=(0.0, 0.0, -0.02))
    model.add(Scenery("table", shapes=(table,), material="rough", color="#b09878"))
    reach, height, _ = course(0.0)
    upper, fore = arm_angles(reach, height)
    elbow = (UPPER * cos(upper), 0.0, SHOULDER + UPPER * sin(upper))
    wrist = (reach, 0.0, height + HAND)
    grip = (reach, 0.0, height)
    looks = _looks()
    for name, at, angle in (
        ("turret", (0.0, 0.0, 0.0), 0.0), ("upper_arm", (0.0, 0.0, SHOULDER), upper), ("forearm", elbow, fore),
        ("hand", grip, 0.0),
    ):  # fmt: skip
        shapes, color = looks[name]
        turned = about(PIN_AXIS, angle)
        model.add(Body(name, at=at, rotation=turned, mass=MASSES[name], shapes=shapes, color=color))
    for name, side in (("left", -1.0), ("right", 1.0)):
        at = (reach, side * (OPEN + PAD[1]) / 2, height + PAD[2] / 2 - TIP)
        shapes = (Box((pad, *PAD[1:])),)
        jaw = f"{name}_jaw"
        model.add(Body(jaw, at=at, mass=MASSES[jaw], shapes=shapes, material="rough", color="#404448"))
    cube = (Box((BOX, BOX, BOX)),)
    at, turned = (reach, offset, BOX / 2), about((0.0, 0.0, 1.0), radians(skew))
    model.add(Body("box", at=at, rotation=turned, mass=mass, shapes=cube, material="rough", color="#c05030"))
    model.add(Free("box_place", GROUND, "box", at=at))

    rotor = {name: armature for name, (*_, armature) in SERVOS.items()}
    model.add(Hinge("turret", GROUND, "turret", armature=rotor["turret"]))
    for name, a, b, pin in (
        ("shoulder", "turret", "upper_arm", (0.0, 0.0, SHOULDER)), ("elbow", "upper_arm", "forearm", elbow),
        ("wrist", "forearm", "hand", wrist),
    ):  # fmt: skip
        model.add(Hinge(name, a, b, at=pin, axis=PIN_AXIS, armature=rotor[name]))
    for name, inertia in (("left", ROTOR), ("right", 0.0)):
        across = (0.0, 1.0, 0.0)
        model.add(Slider(name, "hand", f"{name}_jaw", at=grip, axis=across, limits=STROKE, armature=inertia))
    model.add(Repeater("gear", "right", "left", ratio=-1.0))
    _drive(model, force)
    return model


def _drive(model: Model, force: float) -> None:
    """Servos that follow the course, and the motor of the jaws.

    Commands run ahead by what the servos give under the weight of the empty arm.
    """
    times = [SAMPLE * i for i in range(round(DURATION / SAMPLE) + 1)]
    wanted: dict[str, list[float]] = {name: [] for name in SERVOS}
    for t in times:
        reach, height, turn = course(t)
        upper, fore = arm_angles(reach, height)
        load = _holding_torques(reach, upper, fore)
        angles = {"turret": turn, "shoulder": upper, "elbow": fore - upper, "wrist": -fore}
        for name, angle in angles.items():
            wanted[name].append(angle + load[name] / SERVOS[name][1])
    upper, fore = arm_angles(*course(0.0)[:2])
    zero = {"turret": 0.0, "shoulder": upper, "elbow": fore - upper, "wrist": -fore}
    for name, (joint, stiffness, strength, _) in SERVOS.items():
        signal = Table(tuple(times), tuple(value - zero[name] for value in wanted[name]))
        servo = PositionServo(
            f"{name}_servo", joint, stiffness=stiffness, damping=LAG * stiffness, strength=strength,
            command=1.0, signal=signal,
        )  # fmt: skip
        model.add(servo)
    opened = OPENING + 0.45
    states = Table((CLOSING, CLOSING, OPENING, OPENING, opened, opened), (0.0, 1.0, 1.0, -1.0, -1.0, 0.0))
    model.add(VelocityServo("grip_motor", "left", strength=force, command=RATE, signal=states))


def _holding_torques(reach: float, upper: float, fore: float) -> dict[str, float]:
    """Torques that hold the empty arm at rest [N m]; the hand hangs straight down and needs none."""
    elbow = UPPER * cos(upper)
    hand = MASSES["hand"] + MASSES["left_jaw"] + MASSES["right_jaw"]
    at_elbow = MASSES["forearm"] * FORE / 2 * cos(fore) + hand * (reach - elbow)
    beyond = (MASSES["forearm"] + hand) * elbow
    at_shoulder = MASSES["upper_arm"] * UPPER / 2 * cos(upper) + beyond + at_elbow
    return {"turret": 0.0, "shoulder": GRAVITY * at_shoulder, "elbow": GRAVITY * at_elbow, "wrist": 0.0}


def _looks() -> dict[str, tuple[tuple[Shape, ...], str]]:
    """Shapes and colours of the arm's bodies, each in its own frame; mass is spread evenly over them."""
    lying = about((1.0, 0.0, 0.0), pi / 2)
    top = PAD[2] - TIP
    turret = (
        Cylinder(0.12, 0.10, at=(0.0, 0.0, 0.05)),
        Cylinder(0.06, SHOULDER - 0.05, at=(0.0, 0.0, SHOULDER / 2 + 0.025)),
        Cylinder(0.07, 0.16, at=(0.0, 0.0, SHOULDER), rotation=lying),
    )
    plate = Box((0.05, OPEN + 4 * PAD[1], 0.025), at=(0.0, 0.0, top + 0.0125))
    stem = Cylinder(0.025, HAND - top - 0.025, at=(0.0, 0.0, (HAND + top + 0.025) / 2))
    return {
        "turret": (turret, "#303438"),
        "upper_arm": ((Box((UPPER, 0.08, 0.09), at=(UPPER / 2, 0.0, 0.0)),), "#e0a010"),
        "forearm": ((Box((FORE, 0.06, 0.07), at=(FORE / 2, 0.0, 0.0)),), "#e0a010"),
        "hand": ((plate, stem), "#8090a0"),
    }
