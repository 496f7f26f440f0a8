"""Monte Carlo of a suspension: what the scatter of springs, dampers and tyres does to ride comfort over a speed bump.

Every car that leaves the line is a little different. A hundred of them, drawn from the tolerances of their parts, drive
over a bump: how hard does the worst tenth hit, and which part is worth a tighter tolerance?
"""

import matplotlib
import numpy as np

from linkwork import Body, BodyFunction, Model, Slider, sweep
from linkwork.vehicle import Coil, fit, wheel

matplotlib.use("Agg")
import matplotlib.pyplot as plt

RADIUS, SPEED = 0.3, 5.0  # of the wheel [m]; of the car [m/s]


def road(t, x, v, parameters, out):
    """A tyre that pushes the wheel up, over a bump of 4 cm and half a metre; parameters: stiffness [N/m], radius [m],
    when the bump begins and how long it lasts [s]."""
    stiffness, radius, begins, lasts = parameters
    along = (t - begins) / lasts
    height = 0.02 * (1.0 - np.cos(2.0 * np.pi * along)) if 0.0 < along < 1.0 else 0.0
    out[5] = max(stiffness * (radius + height - x[2]), 0.0)


def corner(mass, spring, damping, tyre):
    """A quarter of a car with its parts as they came out: [kg], [N/m], [N s/m], [N/m]."""
    model = Model("corner")
    model.add(Body("chassis", mass=mass, inertia=(10, 10, 10)))
    model.add(Slider("heave", "ground", "chassis"))
    coil = Coil(stiffness=spring, damping=damping)
    part = wheel(suspension="double_wishbone", radius=RADIUS, load=9.81 * 300, spring=coil, friction=None)
    fit(model, "front", part, chassis="chassis", at=(0, 0.7, RADIUS))
    model.add(BodyFunction("road", "front.wheel", road, parameters=(tyre, RADIUS + 0.017, 1.5, 0.5 / SPEED)))
    return model


nominal = {"mass": 300.0, "spring": 60e3, "damping": 3500.0, "tyre": 2e5}
scatter = {"mass": 0.04, "spring": 0.05, "damping": 0.12, "tyre": 0.08}  # standard deviations, as shares
found = sweep(
    corner,
    {name: f"normal({value}, {scatter[name] * value})" for name, value in nominal.items()},
    count=100,
    seed=1,
    measure=["max(chassis.acceleration.z)", "range(front.lower_pivot.angle)"],
    duration=2.5,
    every=5e-3,
    on="here",  # a script of your own: "processes", which takes all cores
)
hit = found["max(chassis.acceleration.z)"].values
print(f"{found.sizes['case']} cars, {int((found['failure'] != '').sum())} failed")
print(
    f"acceleration over the bump: mean {hit.mean():.2f} m/s², one in ten above {np.quantile(hit, 0.9):.2f} m/s²"
)

# How much of the scatter each part brings: least squares on standardised parameters.
X = np.array([(found[name].values - value) / (scatter[name] * value) for name, value in nominal.items()]).T
slopes = np.linalg.lstsq(np.c_[X, np.ones(len(X))], hit, rcond=None)[0][:-1]
shares = slopes**2 / (slopes**2).sum()
for name, slope, share in zip(nominal, slopes, shares, strict=True):
    print(f"{name}: {slope:+.3f} m/s² for a standard deviation, {share:.0%} of the variance")

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.5), layout="constrained")
left.hist(hit, 20)
left.set(xlabel="largest acceleration [m/s²]", ylabel="cars")
right.barh(list(nominal), shares)
right.set(xlabel="share of the variance")
figure.savefig("suspension_tolerances.png", dpi=130)
