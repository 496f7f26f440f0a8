"""Contact against mechanics: tops on the ground, and bodies that tumble freely.

References and tolerances are those of test_contact_physics.py.
"""

from math import cos, sin

import numpy as np
import pytest

from helpers.touching import both_methods, lead, states
from linkwork import Body, Box, Free, Material, Model, Plane, Scenery, Simulation, Sphere, Spherical
from linkwork.model.rotation import about


def spun(held=False):
    """A top on a tip so small that it does not roll away, leaning by 0.3 rad; or one whose tip is held by a joint."""
    lean, spin, arm, radius = 0.3, 120.0, 0.05, 1e-6
    turn = about((0.0, 1.0, 0.0), lean)
    up = (sin(lean), 0.0, cos(lean))
    model = Model("spun")
    at = (0.0, 0.0, radius)
    model.add(
        Body(
            "top", at=at, rotation=turn, mass=0.1, com=(0.0, 0.0, arm), inertia=(4e-5, 4e-5, 6e-5),
            shapes=(Sphere(radius),), material=None if held else "rough",
        )
    )  # fmt: skip
    if held:
        model.add(Spherical("way", "ground", "top", at=at, axis=up, velocity=(0, 0, spin)))
    else:
        model.add(Material("rough", friction=5.0))
        model.add(Scenery("floor", shapes=(Plane(),), material="rough"))
        centre = tuple(at[i] + arm * up[i] for i in range(3))
        model.add(Free("way", "ground", "top", at=centre, axis=up, velocity=(0, 0, 0, 0, 0, spin)))
    return model


@both_methods
def test_a_top_precesses_like_one_whose_tip_is_held(way):
    exact = Simulation(spun(held=True), method="tree", dt=1e-4)
    exact.step(2000)
    errors = []
    for dt in (4e-4, 2e-4, 1e-4):
        sim = Simulation(spun(), dt=dt, **way)
        energy = sum(sim.energies())
        for _ in range(10):
            sim.step(round(0.02 / dt))
            assert sum(sim.energies()) <= energy * (1.0 + 1e-9)
        errors.append(np.abs(np.array(lead(sim)) - lead(exact)).max())
    # It has turned by 1.5 rad and nods at some 200 rad/s: first order leaves 200 h of that, and halves with the step.
    assert errors[0] < 0.12
    assert errors[1] < 0.6 * errors[0]
    assert errors[2] < 0.6 * errors[1]


def test_a_free_body_tumbles_on_without_gaining_energy():
    model = Model("tumbling", gravity=(0.0, 0.0, 0.0))
    model.add(Material("rough"))
    model.add(Scenery("floor", at=(0.0, 0.0, -100.0), shapes=(Plane(),), material="rough"))
    model.add(Body("box", density=500.0, shapes=(Box((0.3, 0.2, 0.1)),), material="rough"))
    model.add(Free("box_way", "ground", "box", velocity=(0, 0, 0, 0.01, 50.0, 0.01)))
    sim = Simulation(model)
    inertia = model.bodies["box"].mass_properties.inertia

    def moment():
        _, R, w, _ = states(sim)[0]
        return R @ inertia @ R.T @ w

    energy, before = sum(sim.energies()), moment()
    for _ in range(10):
        sim.step(1000)
        # Steps of Runge-Kutta: (w h)^4 = 6e-6 of a turn a step; the moment turns with the pose, of first order.
        assert sum(sim.energies()) == pytest.approx(energy, rel=1e-4)
        assert np.linalg.norm(moment()) == pytest.approx(np.linalg.norm(before), rel=1e-4)
