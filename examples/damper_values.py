"""Identification of damper values: what a strut does in bump and in rebound, from a ride height sensor and its noise.

A quarter of a car on a MacPherson strut comes down on its tyre at half a metre a second. The height of the body and the
angle of the arm are measured a hundred times a second; from these alone come the stiffness of the spring and both
values of the damper, with how well each is known.
"""

import matplotlib
import numpy as np

from linkwork import Body, LineFunction, Model, Simulation, Slider, Spring
from linkwork import fit as identify
from linkwork.vehicle import Coil, fit, wheel

matplotlib.use("Agg")
import matplotlib.pyplot as plt

MASS, TYRE = 300.0, 2e5  # that the corner carries [kg], stiffness of the tyre [N/m]


def damper(t, x, v, parameters, out):
    """Less force while the strut gets shorter than while it gets longer; parameters: both [N s/m]."""
    value = parameters[0] if v[0] < 0.0 else parameters[1]
    out[0] = value * v[0]
    out[2] = value * v[0] * v[0]


def corner(stiffness=26e3, bump=1200.0, rebound=3000.0):
    """A quarter of a car: spring [N/m], damper [N s/m]."""
    model = Model("corner")
    model.add(Body("chassis", mass=MASS, inertia=(10, 10, 10)))
    model.add(Slider("heave", "ground", "chassis", velocity=-0.5))
    spring = Coil(stiffness=stiffness, damping=0.0, length=0.48)
    part = wheel(suspension="macpherson", radius=0.3, load=9.81 * MASS, spring=spring, friction=None)
    fit(model, "front", part, chassis="chassis", at=(0, 0.7, 0.3))
    top, centre = (0, 0.565, 0.81), (0, 0.7, 0.3)  # of the strut, of the wheel
    values = (bump, rebound)
    model.add(
        LineFunction("damper", "chassis", "front.wheel", damper, at_a=top, at_b=centre, parameters=values)
    )
    post = (0, 0.7, 0)
    model.add(Spring("tyre", "ground", "front.wheel", at_a=post, at_b=centre, stiffness=TYRE, damping=100))
    return model


true = {"stiffness": 24.3e3, "bump": 1430.0, "rebound": 2710.0}
record = Simulation(corner(**true)).run(1.5, every=0.01)
noise = np.random.default_rng(0).normal(size=(2, len(record.time)))
measured = {
    "time": record.time,
    "chassis.position.z": record["chassis.position.z"] + 5e-4 * noise[0],
    "front.pivot.angle": record["front.pivot.angle"] + 2e-3 * noise[1],
}
found = identify(
    corner,
    {"stiffness": 26e3, "bump": (2000.0, 100.0, 1e4), "rebound": (2000.0, 100.0, 1e4)},
    measured,
    scale={
        "chassis.position.z": 5e-4,
        "front.pivot.angle": 2e-3,
    },  # the sensors' noise: a residual of 1 is all noise
    on="here",
)
print(found)
for name, value in true.items():
    off = abs(found.parameters[name] - value) / found.deviations[name]
    print(f"{name}: {value:g} in truth, {off:.1f} standard deviations away")
    assert off < 4.0

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.plot(measured["time"], measured["chassis.position.z"], ".", markersize=3, label="measured")
for label, values in (("to begin with", {"bump": 2000.0, "rebound": 2000.0}), ("found", found.parameters)):
    again = Simulation(corner(**values)).run(1.5, every=0.01)
    axes.plot(again.time, again["chassis.position.z"], label=label)
axes.set(xlabel="time [s]", ylabel="height of the chassis [m]")
axes.legend()
figure.savefig("damper_values.png", dpi=130)
