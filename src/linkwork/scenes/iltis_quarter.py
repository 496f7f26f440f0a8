"""Front suspension of the Iltis under a block that moves up and down, whose wheel drops from a kerb of 10 cm at 3 s."""

from ..model import GROUND, Body, Box, Model, Slider
from ..model.rotation import Array
from .iltis import CHASSIS_MASS, HEIGHT, RADIUS, SOURCE, TIE_MASS, TYRE_STIFFNESS, hang_wheel

__all__ = ["SOURCE", "build"]

DURATION = 7.0
METHOD = "simgc"
PLOT = ("chassis.position.z", "front_right_wheel.position.z", "energy.*")
WATCHED = 4.0
SPEED = 5.0
"""At which the wheel rolls [m/s]."""


def point_follower(t: float, x: Array, v: Array, parameters: Array, out: Array) -> None:
    """A tyre that pushes straight up at the wheel's centre, on a road that drops.

    parameters: stiffness [N/m], free radius [m], depth of the drop [m] and its time [s].
    """
    stiffness, radius, depth, when = parameters
    road = -depth if t >= when else 0.0
    out[5] = max(stiffness * (radius - (x[2] - road)), 0.0)


def build(mass: float = CHASSIS_MASS / 4, drop: float = 0.1, tie_mass: float = TIE_MASS) -> Model:
    """`mass` of the block [kg]; the road is `drop` lower from 3 s on [m]; `tie_mass` of the tie rod [kg]."""
    from ..engine.loads import BodyFunction  # brings Numba along: not for lists of scenes

    model = Model("iltis_quarter")
    block = (Box((0.5, 0.3, 0.3), at=(0.97, -0.05, 0.35)), Box((0.12, 0.12, 0.5), at=(0.97, -0.12, -0.05)))
    at, inertia = (0.0, 0.0, HEIGHT), (1.0, 1.0, 1.0)
    model.add(Body("chassis", at=at, mass=mass, inertia=inertia, shapes=block, color="#6b7350"))
    model.add(Slider("heave", GROUND, "chassis", at=at))
    wheel = hang_wheel(model, "front", "right", spin=SPEED / RADIUS["front"], tie_mass=tie_mass)
    numbers = (TYRE_STIFFNESS, RADIUS["front"], drop, 3.0)
    model.add(BodyFunction("tyre", wheel, point_follower, parameters=numbers))
    return model
