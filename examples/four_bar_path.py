"""An optimal four-bar for a path: links whose pen draws a straight line at constant speed for half a turn.

To fit a mechanism to a path is to identify it from a motion: the path, point by point over time, is what was measured.
The search begins with lengths that draw an arch, and ends where Hoeken's linkage (1926) is.
"""

import matplotlib
import numpy as np

from linkwork import Body, Hinge, Marker, Model, Simulation, VelocityServo, fit

matplotlib.use("Agg")
import matplotlib.pyplot as plt

CRANK, TURN = 0.1, 2.0  # its length [m], and the time of a turn [s]


def four_bar(coupler=0.22, rocker=0.28, ground=0.2, pen=0.45):
    """A crank drives a rocker through a coupler that carries the pen `pen` away from the crank's pin, all in metres.

    It starts with the crank pointing away from the rocker's hinge.
    """
    model = Model("four_bar", gravity=(0, 0, 0))
    A, B, D = np.array([0.0, 0, 0]), np.array([-CRANK, 0, 0]), np.array([ground, 0, 0])
    far = np.linalg.norm(D - B)
    along = (coupler**2 - rocker**2 + far**2) / (2 * far)  # where the circles about B and D meet
    C = B + np.array([along, 0, np.sqrt(coupler**2 - along**2)])
    tip = B + (C - B) * pen / coupler
    for name, at in (("crank", A), ("coupler", B), ("rocker", D)):
        model.add(Body(name, at=tuple(at), mass=1, inertia=(0.01, 0.01, 0.01)))
    y = {"axis": (0, 1, 0)}
    model.add(Hinge("motor", "ground", "crank", at=tuple(A), velocity=2 * np.pi / TURN, **y))
    model.add(Hinge("pin", "crank", "coupler", at=tuple(B), **y))
    model.add(Hinge("rest", "ground", "rocker", at=tuple(D), **y))
    model.add(Hinge("joint", "coupler", "rocker", at=tuple(C), **y))
    model.add(Marker("pen", "coupler", at=tuple(tip)))
    model.add(VelocityServo("drive", "motor", command=2 * np.pi / TURN))
    return model


# Half a turn, about the time when the crank points away from the rocker's hinge: 4 cranks long, 4 cranks up.
t = TURN * np.linspace(0.75, 1.25, 41)
wanted = {"time": t, "pen.position.x": 0.2 + 0.8 * (t / TURN - 1.0), "pen.position.z": np.full(41, 0.4)}
found = fit(
    four_bar,
    {
        "coupler": (0.22, 0.15, 0.4),
        "rocker": (0.28, 0.15, 0.4),
        "ground": (0.2, 0.15, 0.3),
        "pen": (0.45, 0.3, 0.7),
    },
    wanted,
    scale={"pen.position.x": 0.1, "pen.position.z": 0.1},
    on="here",
    dt=5e-3,
)
print(found)
hoeken = {"coupler": 2.5, "rocker": 2.5, "ground": 2.0, "pen": 5.0}
off = max(abs(found.parameters[name] / (CRANK * cranks) - 1.0) for name, cranks in hoeken.items())
print(f"within {off:.1%} of Hoeken's lengths, which are 2.5, 2.5, 2 and 5 cranks")
assert off < 0.05

figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
for label, lengths in (("to begin with", {}), ("found", found.parameters)):
    record = Simulation(four_bar(**lengths), dt=5e-3).run(TURN)
    axes.plot(record["pen.position.x"], record["pen.position.z"], label=label)
axes.plot(wanted["pen.position.x"], wanted["pen.position.z"], "k--", label="wanted")
axes.set(xlabel="x [m]", ylabel="z [m]", aspect="equal")
axes.legend()
figure.savefig("four_bar_path.png", dpi=130)
