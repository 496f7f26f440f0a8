"""A model for every feature that methods may have or lack, and how they are run."""

from functools import cache

import pytest

from helpers.models import ball
from linkwork import (
    PID,
    Actuator,
    Backlash,
    Body,
    BodyFunction,
    Box,
    Brake,
    BrushTyre,
    Bushing,
    Clutch,
    DCMotor,
    Distance,
    Force,
    Free,
    Hinge,
    JointFunction,
    LineFunction,
    Material,
    Model,
    Plane,
    PositionServo,
    Repeater,
    Scenery,
    Simulation,
    Spring,
    TorqueSource,
    TractionMotor,
    VelocityServo,
    Weld,
    scene,
)
from linkwork.control import DriveCommand, Gain
from linkwork.methods.features import features
from linkwork.methods.registry import WAYS

DT, STEPS = 1e-3, 20
TIP = (2.0, 0.0, 0.0)


def arm(*things, shoulder=None, elbow=None) -> Model:
    """Two links in a vertical plane, which swing; the centres of mass move at 1 m/s and more."""
    model = Model("arm")
    model.add(Body("upper", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(0.5, 0.0, 0.0)))
    model.add(Body("lower", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(1.5, 0.0, 0.0)))
    model.add(Hinge("shoulder", "ground", "upper", axis=(0, 1, 0), **(shoulder or {"velocity": 2.0})))
    model.add(Hinge("elbow", "upper", "lower", at=(1.0, 0.0, 0.0), axis=(0, 1, 0), **(elbow or {})))
    for thing in things:
        model.add(thing)
    return model


def touching() -> Model:
    return arm(
        Material("wood", friction=0.5),
        Scenery("floor", shapes=(Plane(at=(0, 0, -1.0)),), material="wood"),
        Body("box", at=(3, 0, -0.95), density=700, shapes=(Box((0.2, 0.1, 0.1)),), material="wood"),
    )


def rolling() -> Model:
    model = Model("rolling")
    model.add(Material("asphalt"))
    model.add(Scenery("road", shapes=(Plane(),), material="asphalt"))
    model.add(Body("wheel", at=(0, 0, 0.29), mass=300.0, inertia=(10.0, 5.0, 10.0)))
    model.add(Free("way", "ground", "wheel", at=(0, 0, 0.29), velocity=(2.0, 0.1, 0.0, 0.0, 6.0, 0.0)))
    model.add(BrushTyre("tyre", "wheel", radius=0.3, load=3000.0))
    return model


def with_closing_function() -> Model:
    model = scene("double_four_bar")
    (joint, *_) = [item.split("'")[1] for item in features(model.flatten())["loops"]]
    model.add(JointFunction("law", joint, pull_joint))
    return model


def pull_joint(t, x, v, parameters, out):
    out[0] = -2.0 * x[0] - 0.5 * v[0]


def pull_body(t, x, v, parameters, out):
    out[0] = -v[0]


def pull_line(t, x, v, parameters, out):
    out[0] = -10.0 * (x[0] - 1.0)


MODELS = {
    "loops": lambda: scene("double_four_bar"),
    "distance joints": lambda: arm(Distance("rod", "ground", "lower", at=(2.0, 1.0, 1.0), to=TIP)),
    "joints attached and released": lambda: arm(elbow={"attached": ((0.0, 0.005),)}),
    "limits": lambda: arm(elbow={"limits": (-0.01, 1.0)}),
    "dry friction": lambda: arm(elbow={"friction": 0.5}),
    "springs in joints": lambda: arm(elbow={"spring": 20.0, "damping": 0.5}),
    "springs": lambda: arm(Spring("wire", "ground", "lower", at_a=(0, 0, 1), at_b=TIP, stiffness=50.0)),
    "bushings": lambda: arm(
        Bushing("rubber", "ground", "lower", at_a=TIP, at_b=TIP, stiffness=(50.0, 50.0, 50.0))
    ),
    "forces and torques": lambda: arm(Force("push", "lower", force=(0.0, 0.0, 5.0))),
    "body functions": lambda: arm(BodyFunction("drag", "lower", pull_body)),
    "line functions": lambda: arm(
        LineFunction("rope", "ground", "lower", pull_line, at_a=(0, 0, 1), at_b=TIP)
    ),
    "tyres": rolling,
    "joint functions": lambda: arm(JointFunction("law", "elbow", pull_joint)),
    "joint functions at closed loops": with_closing_function,
    "torque sources": lambda: arm(TorqueSource("motor", "elbow", command=1.0)),
    "velocity servos": lambda: arm(VelocityServo("servo", "elbow", command=0.0)),
    "velocity servos of limited strength": lambda: arm(
        VelocityServo("servo", "elbow", command=1.0, strength=2.0)
    ),
    "velocity servos of balls": lambda: ball(VelocityServo("servo", "socket", command=0.0)),
    "position servos": lambda: arm(PositionServo("servo", "elbow", stiffness=50.0, damping=1.0)),
    "position servos of limited strength": lambda: arm(
        PositionServo("servo", "elbow", command=0.5, stiffness=50.0, damping=1.0, strength=2.0)
    ),
    "actuators and cylinders": lambda: arm(Actuator("muscle", "elbow", command=1.0, time_constant=0.05)),
    "sampled controllers": lambda: arm(
        PID("law", "elbow", command=0.5, sample_time=0.004, proportional=20.0, derivative=1.0)
    ),
    "control diagrams": lambda: arm(
        TorqueSource("motor", "elbow"),
        Gain("law", "elbow.angle_rate", -2.0, unit="N m"),
        DriveCommand("told", "motor", "law"),
    ),
    "DC motors": lambda: arm(
        DCMotor("motor", "elbow", command=0.5, stall_torque=1.0, idle_speed=10.0, time_constant=0.1)
    ),
    "motors by their map": lambda: arm(
        TractionMotor("motor", "elbow", command=0.5, torque=2.0, power=1.0, top_speed=20.0)
    ),
    "brakes and clutches": lambda: arm(
        Brake("brake", "elbow", command=0.5, torque=8.0),
        Clutch("clutch", "elbow", "shoulder", torque=0.5, command=1.0),
    ),
    "repeaters": lambda: arm(Repeater("belt", "elbow", "shoulder", ratio=-0.5), elbow={"velocity": -1.0}),
    "backlash": lambda: arm(Backlash("play", "elbow", gap=0.01, stiffness=200.0, damping=0.5)),
    "contact": touching,
    "bodies without inertia": lambda: scene("a01_pendulum"),
    "light bodies welded to others": lambda: arm(
        Body("tip", at=TIP, mass=0.5, inertia=(0.0, 0.0, 0.0)), Weld("glue", "lower", "tip", at=TIP)
    ),
}
"""A model for every feature that is found in models; sealed components need a file."""


@cache
def model_with(feature: str) -> Model:
    return MODELS[feature]()


def simulate(model: Model, way, **options) -> Simulation:
    return Simulation(model, method=way.method, solver=way.solver, dt=DT, **options)


ways = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
