"""Bombardier Iltis, the road vehicle benchmark of the IAVSD: at 10 m/s over a cosine bump of 20 cm.

Every wheel hangs on an A-arm below and a leaf spring above, which guides it like a rod, and is steered by a tie rod.
Springs, dampers and tyres follow the laws of the benchmark, compiled. Behind the bump the wheels leave the road.
"""

import math

import numpy as np

from ..engine.elements import VelocityServo
from ..model import GROUND, Body, Free, Hinge, Model, Scenery, Spherical, Universal
from ..model.rotation import Array, Vector, about, frame_from_axis, quaternion, vector
from ..model.shapes import Box, Capsule, Cylinder, HeightField, Shape

SOURCE = (
    "Frik, Leister and Schwartz, Vehicle System Dynamics 22 (1993) 215-253, and the Robotran model of the UCLouvain; "
    "the length of the A-arm follows from its round hard points"
)
DURATION = 2.5
DT = 2e-4  # leaf springs meet their stops, which are 280 times as stiff
METHOD = "simgc"
PLOT = ("chassis.position.z", "front_right_wheel.position.z", "energy.*")
WATCHED = 2.5

HEIGHT = 0.57
"""Of the chassis' centre of mass above the road in the nominal position [m]."""
CHASSIS_MASS, CHASSIS_INERTIA = 1260.0, (130.0, 1620.0, 1670.0)
"""[kg, kg m²]"""
ARM_MASS, ARM_INERTIA = 6.0, (0.052099, 0.023235, 0.068864)
"""Of an A-arm, about its middle; x along the vehicle, y along the arm [kg, kg m²]."""
WHEEL_MASS, WHEEL_INERTIA = 57.35, (1.2402, 1.908, 1.2402)
"""Of a wheel with its carrier [kg, kg m²]."""
TIE_MASS = 1e-5
"""Of a tie rod [kg]. The benchmark's has none, but then nothing would tell how a rod that hangs loose in the tree
accelerates. This much moves the wheel by less than 1e-8 m (tested); sequential impulses cannot do with much less."""
POINTS: dict[str, tuple[float, float]] = {
    "leaf_chassis": (-0.1585, 0.03),
    "leaf_carrier": (-0.488, -0.039),
    "arm_chassis": (-0.259, -0.268),
    "arm_carrier": (-0.572, -0.341),
    "wheel": (-0.615, -0.214),
    "tie_chassis": (-0.07, 0.03),
    "tie_carrier": (-0.448, -0.039),
    "damper_chassis": (-0.297, 0.062),
    "damper_arm": (-0.5, -0.329),
    "leaf_top": (-0.488, 0.137),
}
"""y and z of the points of a suspension on the right, from the chassis' centre of mass, nominal position [m]."""
AXLES = {"front": (0.97, 1.0), "rear": (-1.047, -1.0)}
"""x of the axles [m]; the direction in which their dampers stand, tie rods on the other side."""
TIE_ASIDE, DAMPER_ASIDE = 0.14, 0.075
"""How far tie rods and dampers stand from the axle [m]."""
SIDES = {"right": 1.0, "left": -1.0}
RADIUS = {"front": 0.364325, "rear": 0.363812}
"""Of a tyre without load [m]."""
TYRE_STIFFNESS = 460000.0
"""[N/m]"""
LEAF = (35906.0, 0.152, 0.006, 1e7, 0.1)
"""Stiffness [N/m], length without load and at its stop [m], stiffness of the stop [N/m], offset of its eye [m]."""
DAMPER_LENGTH = math.hypot(0.203, 0.391)
"""In the nominal position [m]."""
BUMP_START, BUMP_LENGTH = 0.97, 5.0
"""[m]"""

FORWARD, LEFT, DOWN = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, -1.0)

Angles = tuple[float, float, float, float, float, float]
"""Of a suspension on the right, from its nominal position [rad]: leaf rod about x, carrier about x and about the
kingpin, A-arm about x, tie rod about x and sideways."""
NOMINAL: Angles = (0.0,) * 6
EQUILIBRIUM: dict[str, Angles] = {
    "front": (
        -0.028641210916092365, 0.027881104109225268, 0.0018610294716374903, -0.030338935757155672,
        -0.024718950115511625, 0.00018727845343684003,
    ),
    "rear": (
        -0.013225016678496938, 0.012865220844325133, -0.0009000207136888907, -0.014015228508555378,
        -0.011404654081190367, -9.041303458023423e-05,
    ),
}  # fmt: skip
"""Of the vehicle at rest on its wheels, side forces left out (tested)."""
RISE, PITCH = -0.007084521498396235, 0.0025580344721649333
"""Of the chassis there, from the nominal position [m, rad]."""


def leaf_law(t: float, x: Array, v: Array, parameters: Array, out: Array) -> None:
    """A leaf spring of so much room x[0] between its eye and the chassis above; stiff where it meets its stop."""
    stiffness, rest, stop, hard, eye = parameters
    length = x[0] - eye
    short = min(length - stop, 0.0)
    stretch = max(length, stop) - rest
    out[0] = stiffness * stretch + hard * short
    out[1] = 0.5 * stiffness * stretch**2 + (stiffness * (stop - rest) + 0.5 * hard * short) * short


def damper_law(t: float, x: Array, v: Array, parameters: Array, out: Array) -> None:
    """A gas-filled damper of length x[0]: spring and damping of the benchmark. Energy is counted from parameters[0]."""
    z, rate = x[0], v[0]
    if rate < -0.2:
        damping = -416.42 + 1844.3 * rate
    elif rate < 0.21:
        damping = rate * (9945.627 + rate * (33955.72 + rate * (-59832.25 - 395651.0 * rate)))
    else:
        damping = 1919.1638 + 1634.727 * rate
    out[0] = -4.0092e6 + z * (2.8397e7 + z * (-6.7061e7 + z * 5.2796e7)) + damping
    energy = 0.0
    for end, sign in ((z, 1.0), (parameters[0], -1.0)):
        energy += sign * end * (-4.0092e6 + end * (2.8397e7 / 2 + end * (-6.7061e7 / 3 + end * 5.2796e7 / 4)))
    out[1] = energy
    out[2] = damping * rate


def tyre_law(t: float, x: Array, v: Array, parameters: Array, out: Array) -> None:
    """A tyre on a road with a bump: a radial spring that only pushes, side force and aligning torque of Calspan.

    parameters: stiffness [N/m], free radius, half the bump's height, its start and length [m], factor of side forces.
    """
    stiffness, radius, half, start, span, lateral = parameters
    road, slope = 0.0, 0.0
    if start < x[0] < start + span:
        phase = 2.0 * math.pi * (x[0] - start) / span
        road, slope = half * (1.0 - math.cos(phase)), half * 2.0 * math.pi / span * math.sin(phase)
    height = x[2] - road
    if height >= radius:
        return
    steep = math.sqrt(1.0 + slope * slope)
    load = stiffness * (radius - height) / steep
    nx, nz = -slope / steep, 1.0 / steep  # normal of the road
    ax, ay, az = x[4], x[7], x[10]  # axle
    # Forward in the road: axle × normal; spoke: forward × axle; sideways in the road: normal × forward.
    fx, fy, fz = ay * nz, az * nx - ax * nz, -ay * nx
    size = math.sqrt(fx * fx + fy * fy + fz * fz)
    fx, fy, fz = fx / size, fy / size, fz / size
    kx, ky, kz = fy * az - fz * ay, fz * ax - fx * az, fx * ay - fy * ax
    sx, sy, sz = -nz * fy, nz * fx - nx * fz, nx * fy
    ahead = v[3] * fx + v[4] * fy + v[5] * fz
    slip = 0.0
    if ahead > 1e-9 and v[3] * v[3] + v[4] * v[4] + v[5] * v[5] > 0.01:
        slip = math.atan((v[3] * sx + v[4] * sy + v[5] * sz) / ahead)
    camber = math.atan((nx * ax + nz * az) / (nx * kx + nz * kz))

    grip = (1.216 - 4.64e-5 * load + 2.18e-11 * load * load) * 1.0274
    capped = min(load, 12930.0)
    cornering = 14.47 * capped * (capped - 12930.0) - 2625.0 * 12930.0
    thrust = -12930.0 * 2.29 * (18175.0 - capped) * capped / (18175.0 * cornering)
    alpha = cornering / (12930.0 * grip * load) * (slip + thrust * camber)
    shape = (
        alpha - alpha * abs(alpha) / 3.0 + alpha**3 / 27.0 if abs(alpha) < 3.0 else math.copysign(1.0, alpha)
    )
    side = lateral * grip * load * shape
    aligning = 1.71e-5 * (abs(side) - load) * side

    Fx, Fy, Fz = load * nx + side * sx, side * sy, load * nz + side * sz
    # It acts where the spoke meets the road.
    arm = -(x[2] - road) / (steep * steep * kz)
    out[0] = arm * (ky * Fz - kz * Fy) + aligning * nx
    out[1] = arm * (kz * Fx - kx * Fz)
    out[2] = arm * (kx * Fy - ky * Fx) + aligning * nz
    out[3], out[4], out[5] = Fx, Fy, Fz


def hard_points(axle: str, side: str) -> dict[str, Vector]:
    """Points of a suspension in the world of the nominal position [m]."""
    x, ahead = AXLES[axle]
    aside = {"tie": -TIE_ASIDE * ahead, "damper": DAMPER_ASIDE * ahead}
    return {
        name: (x + aside.get(name.partition("_")[0], 0.0), SIDES[side] * y, HEIGHT + z)
        for name, (y, z) in POINTS.items()
    }


def hang_wheel(
    model: Model,
    axle: str,
    side: str,
    *,
    start: Angles = NOMINAL,
    spin: float = 0.0,
    tie_mass: float = TIE_MASS,
) -> str:
    """Add a suspension with its wheel to a model with a body `chassis`; returns the name of the wheel.

    `start`: angles at the start [rad]; `spin` of the wheel [rad/s]; `tie_mass` of the tie rod [kg]. The tree runs
    through leaf rod and carrier, which need no mass since they carry the wheel; loops are closed at A-arm and tie rod.
    """
    from ..engine.loads import LineFunction  # brings Numba along: not for lists of scenes

    at = hard_points(axle, side)
    leaf, arm, carrier, wheel, tie = (
        f"{axle}_{side}_{part}" for part in ("leaf", "arm", "carrier", "wheel", "tie")
    )
    slender = tie_mass * math.dist(at["tie_chassis"], at["tie_carrier"]) ** 2 / 12
    moments = (ARM_INERTIA[0], ARM_INERTIA[2], ARM_INERTIA[1])  # bars have their z axis along them
    model.add(_bar(leaf, at["leaf_chassis"], at["leaf_carrier"], 0.02, 0.0))
    model.add(_bar(arm, at["arm_chassis"], at["arm_carrier"], 0.025, ARM_MASS, moments))
    model.add(_bar(carrier, at["leaf_carrier"], at["arm_carrier"], 0.03, 0.0))
    model.add(_bar(tie, at["tie_chassis"], at["tie_carrier"], 0.012, tie_mass, (slender, slender, 0.0)))
    tyre, m, J = _tyre(RADIUS[axle]), WHEEL_MASS, WHEEL_INERTIA
    model.add(Body(wheel, at=at["wheel"], mass=m, inertia=J, shapes=tyre, color="#303438"))

    # Turns about the vehicle's x axis and about the kingpin have the other sense on the left.
    hand = SIDES[side]
    leaf_angle, tilt, swivel, arm_angle, tie_tilt, tie_yaw = start
    for bar, angle, point in ((leaf, leaf_angle, "leaf_chassis"), (arm, arm_angle, "arm_chassis")):
        model.add(Hinge(f"{bar}_pin", "chassis", bar, at=at[point], axis=FORWARD, position=hand * angle))
    kingpin = np.subtract(at["arm_carrier"], at["leaf_carrier"])
    rod = np.subtract(at["tie_carrier"], at["tie_chassis"])
    for a, b, point, axis, angles in (
        (leaf, carrier, "leaf_carrier", np.cross(FORWARD, kingpin), (hand * tilt, hand * swivel)),
        ("chassis", tie, "tie_chassis", rod, (hand * tie_tilt, tie_yaw)),
    ):
        z = vector(axis)
        model.add(Universal(f"{b}_pin", a, b, at=at[point], axis=z, reference=FORWARD, position=angles))
    model.add(Hinge(f"{wheel}_axle", carrier, wheel, at=at["wheel"], axis=LEFT, velocity=spin))
    model.add(Spherical(f"{arm}_ball", arm, carrier, at=at["arm_carrier"]))
    model.add(Spherical(f"{tie}_ball", tie, carrier, at=at["tie_carrier"]))
    for name, b, law, ends, axis, numbers in (
        (f"{leaf}_spring", carrier, leaf_law, ("leaf_top", "leaf_carrier"), DOWN, LEAF),
        (f"{axle}_{side}_damper", arm, damper_law, ("damper_chassis", "damper_arm"), None, (DAMPER_LENGTH,)),
    ):
        at_a, at_b = (at[end] for end in ends)
        model.add(LineFunction(name, "chassis", b, law, at_a=at_a, at_b=at_b, axis=axis, parameters=numbers))
    return wheel


def build(speed: float = 10.0, height: float = 0.2, lateral: bool = True) -> Model:
    """`speed` at the start [m/s], `height` of the bump [m]; `lateral`: tyres push sideways too."""
    from ..engine.loads import BodyFunction

    model = Model("iltis")
    middle, at = (BUMP_START + BUMP_LENGTH / 2, 0.0, 0.0), (0.0, 0.0, HEIGHT)
    model.add(Scenery("road", at=middle, shapes=_road(height), color="#8a8d8a"))
    looks, m, J = _chassis(), CHASSIS_MASS, CHASSIS_INERTIA
    model.add(Body("chassis", at=at, mass=m, inertia=J, shapes=looks, color="#6b7350"))
    start, velocity = (0.0, 0.0, RISE, *about(LEFT, PITCH)), (speed, 0.0, 0.0, 0.0, 0.0, 0.0)
    model.add(Free("ride", GROUND, "chassis", at=at, position=start, velocity=velocity))
    for axle, radius in RADIUS.items():
        for side in SIDES:
            wheel = hang_wheel(model, axle, side, start=EQUILIBRIUM[axle], spin=speed / radius)
            numbers = (TYRE_STIFFNESS, radius, height / 2, BUMP_START, BUMP_LENGTH, float(lateral))
            model.add(BodyFunction(f"{axle}_{side}_tyre", wheel, tyre_law, parameters=numbers))
            # As the references have it, the drive line keeps wheels turning at one speed against their carriers.
            model.add(VelocityServo(f"{axle}_{side}_drive", f"{wheel}_axle", command=speed / radius))
    return model


def _bar(
    name: str, start: Vector, end: Vector, radius: float, mass: float, inertia: Vector = (0.0, 0.0, 0.0)
) -> Body:
    """A bar between two points: its frame in the middle, z along it, x along the vehicle."""
    at, turned = np.add(start, end) / 2, quaternion(frame_from_axis(vector(np.subtract(end, start)), FORWARD))
    look = (Capsule(radius, math.dist(start, end)),)
    return Body(name, at=vector(at), rotation=turned, mass=mass, inertia=inertia, shapes=look)


def _tyre(radius: float) -> tuple[Shape, ...]:
    across = about(FORWARD, math.pi / 2)
    return Cylinder(radius, 0.18, rotation=across), Box((1.2 * radius, 0.2, 0.06))


def _chassis() -> tuple[Shape, ...]:
    return (
        Box((3.4, 0.7, 0.25), at=(-0.05, 0.0, 0.1)),
        Box((1.1, 1.4, 0.4), at=(1.0, 0.0, 0.4)),
        Box((2.1, 1.5, 0.5), at=(-0.6, 0.0, 0.42)),
        Box((0.06, 1.35, 0.45), at=(0.4, 0.0, 0.85)),
    )


def _road(height: float) -> tuple[Shape, ...]:
    """The bump, with some road before and behind it."""
    columns, length = 97, 12.0
    x = np.linspace(-length / 2, length / 2, columns)
    bump = np.where(
        np.abs(x) < BUMP_LENGTH / 2, height / 2 * (1 + np.cos(2 * math.pi * x / BUMP_LENGTH)), 0.0
    )
    row = tuple(map(float, bump))
    return (HeightField((length, 3.0), heights=(row, row)),)
