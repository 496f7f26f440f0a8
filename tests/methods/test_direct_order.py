"""The default integrator of the direct solver: order four in smooth motion, evenly, and stable where it cannot be."""

from itertools import pairwise

import numpy as np
import pytest

from helpers.convergence import errors, smooth_scenes
from helpers.one_dof import I, wheel
from helpers.runs import both, direct, explicit, orders
from linkwork import Body, Model, Slider, Spring, Table, scene
from linkwork.engine.elements import TorqueSource
from linkwork.scenes import find_scene

NOISE = 1e-11
"""Errors of the state below this are rounding."""
SINGULAR = {"double_four_bar", "n_four_bar"}
"""Mechanisms that pass singular positions."""
PASSED = 2 * 6.9 * np.finfo(float).eps ** 0.5
"""What singular positions leave of errors: where a mechanism may branch its position is known to the root of rounding
alone, so its rates of up to 6.9 rad/s are known to that share; it passes two of them in the second that counts."""


@pytest.mark.slow
@pytest.mark.parametrize("name", smooth_scenes())
def test_every_smooth_scene_converges_evenly(name):
    found = [error for _, error, _ in errors(name)]
    floor = PASSED if name in SINGULAR else NOISE
    above = [error for error in found if error > floor]
    assert above == found[: len(above)]  # no smaller step is worse than the floor
    # Where 4 ms is too long for the leading term of the error (slidercrank3d: 24 rad/s in jerks of 50 ms), order three
    # is seen, or five; in the mean it is four, and no smaller step is ever worse.
    if len(above) > 1:
        assert np.all(orders(above) > 2.5)
        assert np.mean(orders(above)) > 3.7


@pytest.mark.slow
@pytest.mark.parametrize("name", ["excavator", "scissor_lift", "stewart"])
def test_drives_that_settle_fast_do_not_grow_unseen(name):
    """Adams' formulas are unstable for what decays by more than 0.3 a step; that must be seen before it shows."""
    usual = find_scene(name).dt
    exact = direct(scene(name), "simgc", dt=usual, tolerance=1e-12)
    exact.run(0.1, reactions=False)
    found = []
    for halvings in range(4):
        simulation = direct(scene(name), "simgc", integrator="adams", dt=usual / 2**halvings)
        simulation.run(0.1, reactions=False)
        found.append(np.abs(simulation.v - exact.v).max())
    for coarse, fine in pairwise(found):
        assert fine < coarse / 2**2.5 or fine < 1e-10


def test_smooth_scenes_are_found():
    assert {"chain5", "peaucellier", "slidercrank3d", "torsion_bar", "car"} <= set(smooth_scenes())
    assert not {"pile200", "stewart", "scissor_lift", "hitch"} & set(smooth_scenes())


@explicit
def test_energy_of_a_chain_gets_better_with_every_halving(method):
    drifts = []
    for h in (4e-3, 2e-3, 1e-3, 5e-4):
        record = direct(scene("chain5"), method, integrator="adams", dt=h).run(1.0, reactions=False)
        drifts.append(record.energy_drift)
    # Amplitudes are one order better than phases; the chain is not small oscillations, though.
    assert np.all(orders(drifts) > 3.5)


@explicit
@pytest.mark.parametrize("h", [5e-3, 1e-2, 2e-2])
def test_large_steps_take_hardly_more_evaluations_than_runge_kutta(method, h):
    evaluations = {}
    for integrator in ("adams", "rk4"):
        record = direct(scene("chain5"), method, integrator=integrator, dt=h).run(1.0, reactions=False)
        evaluations[integrator] = record.info["evaluations_mean"]
    # A trial of Adams now and then, in stretches of Runge-Kutta that get longer.
    assert evaluations["adams"] <= 1.1 * evaluations["rk4"]


def bouncer(frequency):
    """A mass of 1 kg between springs that are no part of a joint, and so are never taken implicitly; it has a stop."""
    model = Model("bouncer", gravity=(0.0, 0.0, -10.0))
    model.add(Body("mass", mass=1.0, inertia=(0.1, 0.1, 0.1)))
    model.add(Slider("rail", "ground", "mass", position=0.1))
    ends = {"at_a": (0.0, 0.0, -1.0), "at_b": (0.0, 0.0, 0.0)}
    model.add(Spring("spring", "ground", "mass", **ends, stiffness=frequency**2))
    return model


@both
@pytest.mark.parametrize("swing", [0.2, 0.6, 0.8, 0.95, 1.2, 2.0])
def test_oscillations_too_fast_for_the_step_never_gain_energy(method, swing):
    record = direct(bouncer(1e3 * swing), method, dt=1e-3).run(2.0, reactions=False)
    total = sum(record[f"energy.{kind}"] for kind in ("kinetic", "gravity", "strain"))
    # Runge-Kutta takes over and damps them; it is stable up to 2.8.
    assert total.max() <= total[0] * (1 + 1e-3)


@both
@pytest.mark.parametrize(("size", "error"), [(10.0, 1e-9), (1e-3, 3 * 3e-6)])
def test_a_torque_with_kinks_between_two_steps_keeps_the_order(method, size, error):
    # Torque up to 1 and back: between kinks it is even in time, which fourth order integrates exactly. Kinks that
    # change velocities by less than 3e-6 are not noticed; there are three.
    signal = Table((0.0, 0.25, 0.5, 0.75, 1.0), (0.0, 1.0, 0.0, 1.0, 0.0))
    record = direct(wheel(TorqueSource("push", "pin", command=size, signal=signal)), method).run(1.0)
    assert record["pin.angle_rate"][-1] == pytest.approx(size * 0.5 / I, abs=error)
    # Each kink costs one trial and a new start.
    assert record.info["evaluations_mean"] < 1.1
