"""Errors of fixed steps over all scenes of smooth motion; run as a program it prints the table of docs/direct.md."""

import numpy as np

from helpers.runs import orders, touches
from linkwork import Simulation, scene
from linkwork.scenes import scene_names

STEPS = (4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4)
FINER = 16
"""Steps of the run that errors are measured against, in one of the smallest steps."""
DURATION = 1.0
BOUNDED = {"friction", "limits", "strength"}
"""What makes events, at which motion is not smooth."""
ROUGH = {
    "iltis": "forces of its tyres have kinks",
    "tracked_robot": "points of its belts slip against dry friction",
}
"""Scenes without events whose accelerations are not smooth to the solver."""
STIFF = {"car": 2e-3, "crank_rocker": 1e-3, "iltis_quarter": 4e-3}
"""Steps from which on a part is taken implicitly, at first order [s]."""


def smooth_scenes():
    """Names of the scenes in which nothing touches, stops, slips or saturates."""
    return [name for name in scene_names() if name not in ROUGH and is_smooth(scene(name))]


def is_smooth(model):
    """Whether nothing in a model has bounds."""
    if touches(model):
        return False
    flat = model.flatten()
    return not any(
        getattr(item, field, None) not in (None, 0.0, np.inf)
        for item in (*flat.joints.values(), *flat.drives.values())
        for field in BOUNDED
    )


def motion(name, method, dt, integrator):
    """(coordinates and rates every largest step, evaluations a step)."""
    simulation = Simulation(scene(name), method=method, solver="direct", dt=dt, integrator=integrator)
    states = []
    for _ in range(round(DURATION / STEPS[0])):
        simulation.step(round(STEPS[0] / dt))
        states.append(np.concatenate([simulation.q, simulation.v]))
    return np.array(states), simulation.method.outcome()["evaluations_mean"]


def errors(name, method="simgc", integrator="adams"):
    """[(step, largest error of the state, evaluations a step), …] from large steps to small ones."""
    exact, _ = motion(name, method, STEPS[-1] / FINER, integrator)
    found = []
    for h in STEPS:
        if h < STIFF.get(name, np.inf):
            states, evaluations = motion(name, method, h, integrator)
            found.append((h, np.abs(states - exact).max(), evaluations))
    return found


def main():
    """Print errors, orders and evaluations of all scenes."""
    print("| scene | " + " | ".join(f"{1e3 * h:g} ms" for h in STEPS) + " | orders | evaluations a step |")
    print("|---" * (len(STEPS) + 3) + "|")
    for name in smooth_scenes():
        found = {h: (error, evaluations) for h, error, evaluations in errors(name)}
        columns = [f"{found[h][0]:.1e}" if h in found else "" for h in STEPS]
        seen = " ".join(f"{order:.1f}" for order in orders([error for error, _ in found.values()]))
        cost = " ".join(f"{evaluations:.2f}" for _, evaluations in found.values())
        print(f"| {name} | " + " | ".join(columns) + f" | {seen} | {cost} |", flush=True)


if __name__ == "__main__":
    main()
