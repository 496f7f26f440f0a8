"""Excavator of 7.8 tonnes: boom, stick and bucket on three hydraulic cylinders, digging or holding a full bucket."""

from itertools import pairwise
from math import acos, atan2, cos, hypot, pi, radians, sin

from ..engine.elements import PositionServo
from ..model import GROUND, Body, Box, Cylinder, Hinge, Marker, Model, Scenery, Shape, Slider, Table, Weld
from ..model.rotation import about

SOURCE = "made for Linkwork: round figures of machines of the 8 t class"
DURATION = 16.0
ENDLESS = True
PLOT = ("*_cylinder.travel", "slew.angle", "bucket.position.z")
BUTTONS = {"Knock at the bucket": lambda session: session.push("bucket", (0.0, 1.0, 0.0))}
GRAVITY = 9.81
PIN_AXIS = (0.0, -1.0, 0.0)
"""Of all pins of the arm: a positive angle lifts what points along x."""

Point = tuple[float, float]
"""x and z in the plane of the arm [m]."""

FOOT, BOOM_BASE = (0.30, 1.25), (0.70, 0.80)
"""Pins of boom and boom cylinder on the upper structure."""
BOOM = {"B": (3.45, 0.0), "G": (1.65, 0.45), "P": (1.45, 0.95)}
"""Pins of stick, boom cylinder and stick cylinder on the boom; x runs from its foot to the stick."""
STICK = {"H": (-0.45, 0.12), "J": (0.10, 0.38), "R": (1.45, 0.03), "Q": (1.75, 0.0)}
"""Pins of stick cylinder, bucket cylinder, rocker and bucket on the stick; x runs to the bucket."""
BUCKET = {"E": (-0.23, 0.11), "T": (1.05, 0.0)}
"""Pin of the link and the teeth on the bucket; x runs to the teeth."""
ROCKER, LINK = 0.38, 0.36
"""Lengths [m]."""

BODIES = {
    "boom": ("A", "B"), "stick": ("B", "Q"), "bucket": ("Q", "T"), "payload": ("Q", "T"),
    "rocker": ("R", "K"), "link": ("K", "E"),
    "boom_barrel": ("F", "G"), "boom_rod": ("G", "F"), "stick_barrel": ("P", "H"), "stick_rod": ("H", "P"),
    "bucket_barrel": ("J", "K"), "bucket_rod": ("K", "J"),
}  # fmt: skip
"""Bodies of the arm: the pin where the frame stands and the pin that its x axis points to."""
MASSES = {
    "carriage": 2750.0, "upper": 3835.0, "boom": 480.0, "stick": 260.0, "bucket": 200.0, "rocker": 16.0, "link": 19.0,
    "boom_barrel": 60.0, "boom_rod": 35.0, "stick_barrel": 55.0, "stick_rod": 30.0,
    "bucket_barrel": 38.0, "bucket_rod": 22.0,
}  # fmt: skip
"""[kg], 7800 in all."""
CYLINDERS = {
    "boom": ("upper", "F", "boom", "G", 0.115, 1.15), "stick": ("boom", "P", "stick", "H", 0.095, 1.6),
    "bucket": ("stick", "J", "rocker", "K", 0.085, 1.0),
}  # fmt: skip
"""Body and pin of the barrel, body and pin of the rod, bore and length when closed [m]."""
PRESSURE, BULK = 28e6, 1.4e9
"""Relief pressure and bulk modulus of the oil [Pa]: the strength and the stiffness of the cylinders."""
COLUMN, LAG = 0.8, 0.03
"""Length of the oil column [m]; time by which a cylinder follows its command [s]."""
SLEW_STIFFNESS, SLEW_DAMPING, SLEW_STRENGTH = 5e6, 4e5, 18e3
"""Of the slewing gear [N m/rad, N m s/rad, N m]."""
SAMPLE = 0.05
"""Time between points of the commands [s]."""

CYCLE = (
    (0.0, 15.0, -45.0, -15.0, 0.0),  # reach out
    (2.0, 0.0, -50.0, -40.0, 0.0),  # into the ground
    (5.0, 5.0, -100.0, -90.0, 0.0),  # drag the stick in
    (6.5, 10.0, -100.0, -130.0, 0.0),  # curl
    (9.0, 45.0, -100.0, -130.0, 0.0),  # lift
    (12.0, 45.0, -80.0, -120.0, 60.0),  # swing
    (13.5, 45.0, -65.0, -15.0, 60.0),  # dump
    (16.0, 15.0, -45.0, -15.0, 0.0),  # back
)
"""Time [s]; angles of the boom from the ground, of the stick from the boom, of the bucket from the stick, slew [°]."""
LIFTED = 4
"""Where in the cycle the bucket is held."""

Angles = tuple[float, float, float]
Reach = tuple[float, ...]


def pins(angles: Angles) -> dict[str, Point]:
    """All pins for the angles of boom, stick and bucket, each from the body before [rad]."""
    boom, stick, bucket = angles[0], angles[0] + angles[1], angles[0] + angles[1] + angles[2]
    found = {"A": FOOT, "F": BOOM_BASE}
    for origin, angle, locals_ in (("A", boom, BOOM), ("B", stick, STICK), ("Q", bucket, BUCKET)):
        found.update((name, _placed(found[origin], angle, at)) for name, at in locals_.items())
    # Rocker and link meet on the outer side of the line from the rocker's pin to the bucket's ear.
    (rx, rz), (ex, ez) = found["R"], found["E"]
    far, bearing = hypot(ex - rx, ez - rz), atan2(ez - rz, ex - rx)
    up = bearing + acos((ROCKER**2 + far**2 - LINK**2) / (2 * ROCKER * far))
    found["K"] = (rx + ROCKER * cos(up), rz + ROCKER * sin(up))
    return found


def cylinder_lengths(angles: Angles) -> tuple[float, float, float]:
    """Lengths of boom, stick and bucket cylinder from pin to pin [m]."""
    at = pins(angles)
    boom, stick, bucket = (
        hypot(at[b][0] - at[a][0], at[b][1] - at[a][1]) for _, a, _, b, *_ in CYLINDERS.values()
    )
    return boom, stick, bucket


def course(t: float) -> tuple[Angles, float]:
    """Angles of the arm and of the slewing gear that the cycle wants at a time [s, rad]."""
    later = next(i for i in range(1, len(CYCLE)) if t <= CYCLE[i][0] or i == len(CYCLE) - 1)
    (t0, *before), (t1, *after) = CYCLE[later - 1], CYCLE[later]
    share = min(1.0, (t - t0) / (t1 - t0))
    ease = share * share * (3.0 - 2.0 * share)
    boom, stick, bucket, slew = (radians(a + (b - a) * ease) for a, b in zip(before, after, strict=True))
    return (boom, stick, bucket), slew


def holding_forces(bodies: dict[str, Body], angles: Angles) -> tuple[float, float, float]:
    """Forces of the three cylinders that hold the arm at rest [N], positive if they push.

    By virtual work: each angle moves one cylinder alone, whose work is the rise of the potential energy.
    """

    def weighed(k: int, turn: float) -> tuple[float, float]:
        """Potential energy [J] and length of the k-th cylinder [m] with its angle turned."""
        turned = (angles[0] + turn * (k == 0), angles[1] + turn * (k == 1), angles[2] + turn * (k == 2))
        at = pins(turned)
        energy = 0.0
        for name, body in bodies.items():
            start, angle = _frame(at, name)
            mass, com, _ = body.mass_properties
            energy += mass * GRAVITY * _placed(start, angle, (com[0], com[2]))[1]
        return energy, cylinder_lengths(turned)[k]

    forces = []
    for k in range(3):
        (high, far), (low, near) = weighed(k, 1e-4), weighed(k, -1e-4)
        forces.append((high - low) / (far - near))
    return forces[0], forces[1], forces[2]


BENCH = Scenery("bench", shapes=(Box((4.3, 4.2, 1.25), at=(-0.15, 0.0, -0.625)),), color="#a08a68")
"""For pictures: what it stands on while it digs at the foot of it."""


def build(hold: bool = False, payload: float = 350.0) -> Model:
    """Digs, lifts, swings and dumps; with `hold` it keeps the bucket lifted. `payload` stays in the bucket [kg]."""
    model = Model("excavator")
    boom, stick, bucket, _ = (radians(a) for a in CYCLE[LIFTED if hold else 0][1:])
    angles = (boom, stick, bucket)
    pin = pins(angles)
    for name, shapes, color in (("carriage", _carriage(), "#303438"), ("upper", _upper(), "#e0a010")):
        model.add(Body(name, mass=MASSES[name], shapes=shapes, color=color))
    arm = {name: _arm_body(name, pin, MASSES[name], *look) for name, look in _looks().items()}
    if payload:
        soil = (Box((0.5, 0.68, 0.44), at=(0.33, 0.0, 0.22)),)
        arm["payload"] = _arm_body("payload", pin, payload, soil, "#705030")
    for body in arm.values():
        model.add(body)
    model.add(Marker("teeth", "bucket", at=_world(pin["T"])))
    model.add(BENCH)

    model.add(Weld("tracks", GROUND, "carriage"))
    model.add(Hinge("slew", "carriage", "upper", at=(0.0, 0.0, 0.75)))
    for name, a, b, at in (
        ("boom_pin", "upper", "boom", "A"), ("stick_pin", "boom", "stick", "B"),
        ("bucket_pin", "stick", "bucket", "Q"), ("rocker_pin", "stick", "rocker", "R"),
        ("link_pin", "rocker", "link", "K"), ("ear_pin", "link", "bucket", "E"),
    ):  # fmt: skip
        model.add(Hinge(name, a, b, at=_world(pin[at]), axis=PIN_AXIS))
    if payload:
        model.add(Weld("soil", "bucket", "payload", at=_world(pin["Q"])))
    for name, (a, at_a, b, at_b, *_) in CYLINDERS.items():
        barrel, rod = f"{name}_barrel", f"{name}_rod"
        (x0, z0), (x1, z1) = pin[at_a], pin[at_b]
        model.add(Hinge(f"{name}_trunnion", a, barrel, at=_world(pin[at_a]), axis=PIN_AXIS))
        model.add(Slider(f"{name}_cylinder", barrel, rod, at=_world(pin[at_a]), axis=(x1 - x0, 0.0, z1 - z0)))
        model.add(Hinge(f"{name}_eye", rod, b, at=_world(pin[at_b]), axis=PIN_AXIS))
    _drive(model, arm, angles, hold)
    return model


def _drive(model: Model, arm: dict[str, Body], start: Angles, hold: bool) -> None:
    """Servos of the cylinders and of the slewing gear.

    Their commands run ahead of what is wanted by what the oil gives under the weight of the arm: held, it is at rest.
    """
    times = [0.0] if hold else [SAMPLE * i for i in range(round(DURATION / SAMPLE) + 1)]
    wanted = [(start, 0.0)] if hold else [course(t) for t in times]
    zero = cylinder_lengths(start)
    reached = [cylinder_lengths(angles) for angles, _ in wanted]
    forces = [holding_forces(arm, angles) for angles, _ in wanted]

    def servo(
        name: str, joint: str, stiffness: float, damping: float, strength: float, values: Reach
    ) -> None:
        signal = Table(tuple(times), values, repeats=True)
        made = PositionServo(
            name, joint, stiffness=stiffness, damping=damping, strength=strength, command=1.0, signal=signal
        )
        model.add(made)

    for k, (name, (*_, bore, _)) in enumerate(CYLINDERS.items()):
        area = pi * bore**2 / 4
        stiffness = BULK * area / COLUMN
        values = tuple(
            reach[k] - zero[k] + force[k] / stiffness for reach, force in zip(reached, forces, strict=True)
        )
        servo(f"{name}_valve", f"{name}_cylinder", stiffness, LAG * stiffness, PRESSURE * area, values)
    slew = tuple(angle for _, angle in wanted)
    servo("slew_motor", "slew", SLEW_STIFFNESS, SLEW_DAMPING, SLEW_STRENGTH, slew)


def _placed(origin: Point, angle: float, at: Point) -> Point:
    """A local point of a body whose frame stands at `origin`, turned by an angle [rad]."""
    c, s = cos(angle), sin(angle)
    return origin[0] + c * at[0] - s * at[1], origin[1] + s * at[0] + c * at[1]


def _world(at: Point) -> tuple[float, float, float]:
    return at[0], 0.0, at[1]


def _frame(at: dict[str, Point], name: str) -> tuple[Point, float]:
    """Where the frame of a body of the arm stands, and its angle [rad]."""
    start, end = BODIES[name]
    return at[start], atan2(at[end][1] - at[start][1], at[end][0] - at[start][0])


def _arm_body(name: str, at: dict[str, Point], mass: float, shapes: tuple[Shape, ...], color: str) -> Body:
    start, angle = _frame(at, name)
    return Body(
        name, at=_world(start), rotation=about(PIN_AXIS, angle), mass=mass, shapes=shapes, color=color
    )


# --- looks: mass is spread evenly over them ---


def _beam(start: Point, end: Point, width: float, depth: float, y: float = 0.0) -> Box:
    """A box between two points of a body's frame."""
    dx, dz = end[0] - start[0], end[1] - start[1]
    middle = ((start[0] + end[0]) / 2, y, (start[1] + end[1]) / 2)
    return Box((hypot(dx, dz), width, depth), at=middle, rotation=about(PIN_AXIS, atan2(dz, dx)))


def _tube(radius: float, start: float, end: float) -> Cylinder:
    """A cylinder along x of a body's frame."""
    return Cylinder(
        radius, end - start, at=((start + end) / 2, 0.0, 0.0), rotation=about((0.0, 1.0, 0.0), pi / 2)
    )


def _looks() -> dict[str, tuple[tuple[Shape, ...], str]]:
    """Shapes and colours of the bodies of the arm, each in its own frame."""
    yellow, dark, steel = "#e0a010", "#383c40", "#b0b8c0"
    bend, corners = (1.5, 0.65), (BUCKET["E"], (0.1, 0.5), (0.5, 0.5), BUCKET["T"])
    floor = [_beam(a, b, 0.75, 0.04) for a, b in pairwise(corners)]
    walls = [_beam((-0.08, 0.22), (0.62, 0.22), 0.03, 0.5, y) for y in (-0.36, 0.36)]
    walls += [_beam((0.62, 0.12), (0.84, 0.12), 0.03, 0.2, y) for y in (-0.36, 0.36)]
    looks: dict[str, tuple[tuple[Shape, ...], str]] = {
        "boom": ((_beam((0.0, 0.0), bend, 0.24, 0.36), _beam(bend, BOOM["B"], 0.24, 0.34)), yellow),
        "stick": (
            (_beam(STICK["H"], (0.1, 0.1), 0.2, 0.2), _beam((0.0, 0.1), STICK["Q"], 0.2, 0.26)),
            yellow,
        ),
        "bucket": ((*floor, *walls), dark),
        "rocker": (tuple(_beam((0.0, 0.0), (ROCKER, 0.0), 0.03, 0.09, y) for y in (-0.14, 0.14)), dark),
        "link": ((_beam((0.0, 0.0), (LINK, 0.0), 0.14, 0.09),), dark),
    }
    for name, (*_, bore, closed) in CYLINDERS.items():
        looks[f"{name}_barrel"] = ((_tube(0.65 * bore, 0.0, closed - 0.1),), dark)
        looks[f"{name}_rod"] = ((_tube(0.3 * bore, 0.0, closed - 0.1),), steel)
    return looks


def _carriage() -> tuple[Shape, ...]:
    tracks = (Box((2.9, 0.45, 0.65), at=(0.0, y, 0.325)) for y in (-0.9, 0.9))
    return *tracks, Box((1.4, 1.4, 0.35), at=(0.0, 0.0, 0.5)), Box((0.1, 2.2, 0.4), at=(1.75, 0.0, 0.25))


def _upper() -> tuple[Shape, ...]:
    """Deck, counterweight, engine and cab; the boom's foot stands in front, beside the cab."""
    return (
        Box((2.3, 2.0, 0.25), at=(-0.35, 0.0, 0.9)),
        Box((0.45, 2.0, 0.75), at=(-1.35, 0.0, 1.35)),
        Box((0.9, 1.1, 0.6), at=(-0.65, -0.4, 1.3)),
        Box((1.2, 0.75, 1.55), at=(0.05, 0.6, 1.8)),
        Box((0.5, 0.5, 0.5), at=(0.4, 0.0, 1.1)),
    )
