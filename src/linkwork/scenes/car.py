"""A car of 17 bodies and 20 joints that settles on its wheels before a passenger gets in.

Three levels of components: dampers, and wheels on trailing arms; corners made of both; the car. The corners are four
instances of one component, those on the right mirrored.
"""

from __future__ import annotations

from ..library import wheel_corner
from ..library.wheel import ACROSS
from ..model import Body, Box, Component, Hinge, Model, Plane, Scenery, Shape, Spherical, Table, Universal
from ..model.errors import LinkworkError, nearest
from ..model.rotation import Vector

SOURCE = (
    "counts, levels, load and step of Vlasenko and Kasper (Technische Mechanik); dimensions, masses and force laws "
    "made for Linkwork"
)
DURATION = 6.0
DT = 1e-3
METHOD = "components"
PLOT = ("chassis.position.z", "front_left.damper.slide.travel", "energy.*")

CORNERS: dict[str, Vector] = {
    "front_left": (1.3, 0.75, 0.0),
    "front_right": (1.3, -0.75, 0.0),
    "rear_left": (-1.3, 0.75, 0.0),
    "rear_right": (-1.3, -0.75, 0.0),
}
"""Where the wheels stand on the road [m]."""
PIVOT: Vector = (0.4, -0.15, 0.35)
LOWER_EYE: Vector = (0.1, -0.15, 0.32)
UPPER_EYE: Vector = (0.05, -0.15, 0.75)
"""Where a corner on the left is attached, and its damper's lower end, from where its wheel stands [m]."""
CHASSIS_AT: Vector = (0.0, 0.0, 0.55)
CHASSIS_MASS, CHASSIS_INERTIA = 1200.0, (400.0, 1600.0, 1800.0)
"""[kg, kg m²]"""
SEAT: Vector = (0.2, 0.35, 0.5)
"""Where the passenger sits [m]."""
PASSENGER = Table((2.5, 2.6), (0.0, 1000.0))
"""How heavily, over time [N]."""
JOINTS = ("redundant", "isostatic")
SPACING = 4.5
"""From car to car of a train [m]."""
COUPLING_HEIGHT = 0.45
"""[m]"""
ROAD = Scenery("road", shapes=(Plane(),), color="#8a8d8a")
"""For pictures: tyres know by themselves where it is."""


def build(joints: str = "redundant") -> Model:
    """`joints` is "redundant": hinges everywhere, three equations too many at every corner; or "isostatic": a universal
    joint above and a ball below each damper, none too many. The motion is the same."""
    model = Model("car")
    model.add(ROAD)
    _furnish(model, joints)
    return model


def train(cars: int = 3, joints: str = "redundant") -> Model:
    """`cars` behind each other, each with its passenger, a ball between each two; `joints` as for `build`."""
    if cars < 1:
        raise LinkworkError(f"a train has at least one car (got {cars})")
    car = Component("car", ports=("chassis",))
    _furnish(car, joints)
    model = Model(f"train{cars}")
    model.add(ROAD)
    for k in range(cars):
        model.add(car.instance(f"car{k}", at=(-SPACING * k, 0.0, 0.0)))
    for k in range(1, cars):
        between = (-SPACING * (k - 0.5), 0.0, COUPLING_HEIGHT)
        model.add(Spherical(f"coupling{k}", f"car{k - 1}.chassis", f"car{k}.chassis", at=between))
    return model


def _furnish(car: Component, joints: str) -> None:
    """Add chassis, corners and passenger to an empty car."""
    from ..engine.loads import Force  # brings Numba along: not for lists of scenes

    if joints not in JOINTS:
        raise LinkworkError(f"joints '{joints}' are not known{nearest(joints, JOINTS)}")
    isostatic = joints == "isostatic"
    corner = wheel_corner(lower_eye=LOWER_EYE, upper_eye=UPPER_EYE, spherical=isostatic)
    looks, m, J = _chassis(), CHASSIS_MASS, CHASSIS_INERTIA
    car.add(Body("chassis", at=CHASSIS_AT, mass=m, inertia=J, shapes=looks, color="#2f6fb0"))
    for name, (x, y, z) in CORNERS.items():
        side = 1.0 if y > 0.0 else -1.0

        def place(point: Vector, x: float = x, y: float = y, z: float = z, side: float = side) -> Vector:
            return x + point[0], y + side * point[1], z + point[2]

        car.add(corner.instance(name, at=(x, y, z), mirror=None if side > 0.0 else ACROSS))
        car.add(Hinge(f"{name}_pivot", "chassis", f"{name}.hub.arm", at=place(PIVOT), axis=ACROSS))
        top, upper = place(UPPER_EYE), f"{name}.damper.upper"
        if isostatic:
            lower = place(LOWER_EYE)
            along = (top[0] - lower[0], top[1] - lower[1], top[2] - lower[2])
            car.add(Universal(f"{name}_top", "chassis", upper, at=top, axis=along, reference=ACROSS))
        else:
            car.add(Hinge(f"{name}_top", "chassis", upper, at=top, axis=ACROSS))
    car.add(Force("passenger", "chassis", force=(0.0, 0.0, -1.0), at=SEAT, signal=PASSENGER))


def _chassis() -> tuple[Shape, ...]:
    return (
        Box((4.0, 1.0, 0.3), at=(0.05, 0.0, 0.0)),
        Box((3.9, 1.5, 0.2), at=(0.05, 0.0, 0.25)),
        Box((1.9, 1.35, 0.45), at=(-0.35, 0.0, 0.55)),
    )
