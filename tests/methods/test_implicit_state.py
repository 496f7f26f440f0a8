"""Implicit methods: drives, joints that come and go, and what is refused; states are in test_method_state.py."""

import math

import numpy as np
import pytest

from helpers.models import ball
from helpers.one_dof import M, arm, block, wheel
from helpers.references import reference
from helpers.runs import CLOSED, orders
from linkwork import (
    Body,
    Box,
    JointFunction,
    LinkworkError,
    Material,
    Model,
    Plane,
    Scenery,
    Simulation,
    Sine,
    Table,
    TorqueSource,
    UnsupportedError,
    VelocityServo,
    scene,
)
from linkwork.engine.steppers.path import ASIDE
from linkwork.methods.implicit import generalized_alpha
from linkwork.scenes.puma_hold import DURATION

METHODS = ("hybrid", "topological", "global")
methods = pytest.mark.parametrize("method", METHODS)


# --- drives ---


@methods
def test_a_velocity_servo_keeps_its_rate_exactly(method):
    """Under any load; the way is the integral of the rate, by the trapezoidal rule."""
    wave = Sine(1.3, phase=0.4)
    model = arm(velocity=2.0 * math.sin(0.4))
    model.add(VelocityServo("servo", "pin", command=2.0, signal=wave))
    h = 0.02
    record = Simulation(model, method=method, dt=h).run(1.0)
    rate = 2.0 * np.sin(2.0 * np.pi * 1.3 * record.time + 0.4)
    np.testing.assert_allclose(record["pin.angle_rate"], rate, atol=1e-12)
    way = np.r_[0.0, np.cumsum(0.5 * h * (rate[1:] + rate[:-1]))]
    np.testing.assert_allclose(record["pin.angle"], way, atol=1e-12)


@methods
def test_forces_that_jump_at_the_end_of_a_step_belong_to_the_next(method):
    """Two constant accelerations, each met exactly."""
    jump = Table((0.0, 0.1, 0.1, 1.0), (1.0, 1.0, -3.0, -3.0))
    model = block(TorqueSource("motor", "rail", command=M, signal=jump))
    record = Simulation(model, method=method, dt=0.02).run(0.3)
    late = np.maximum(record.time - 0.1, 0.0)
    np.testing.assert_allclose(record["rail.travel_rate"], record.time - 4.0 * late, atol=ASIDE)
    np.testing.assert_allclose(record["rail.travel"], 0.5 * record.time**2 - 2.0 * late**2, atol=ASIDE)


# --- refusals ---


def touching():
    model = Model("floor")
    model.add(Material("wood", friction=0.5))
    model.add(Scenery("floor", shapes=[Plane()], material="wood"))
    model.add(Body("box", at=(0, 0, 0.5), density=700, shapes=[Box((0.2, 0.1, 0.1))], material="wood"))
    return model


REFUSED = {
    "limits": (wheel(limits=(-1.0, 1.0)), "joint 'pin' has limits"),
    "friction": (wheel(friction=0.1), "joint 'pin' has dry friction"),
    "contact": (touching(), "box"),
    "strength": (
        wheel(VelocityServo("servo", "pin", command=1.0, strength=2.0)),
        "drive 'servo' has a limited strength",
    ),
    "ball": (
        ball(VelocityServo("servo", "socket", command=1.0)),
        "drive 'servo' keeps the rate of a ball",
    ),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("what", REFUSED)
def test_what_is_not_smooth_is_refused_by_name(what, method):
    model, message = REFUSED[what]
    with pytest.raises(UnsupportedError, match=message) as caught:
        Simulation(model, method=method)
    assert f"method '{method}'" in str(caught.value)
    assert "use method 'simgc'" in str(caught.value)


def test_functions_of_joint_coordinates_are_refused_by_the_global_method():
    model = wheel()
    model.add(JointFunction("law", "pin", lambda t, x, v, parameters, out: None))
    Simulation(model, method="hybrid")
    with pytest.raises(UnsupportedError, match="'law' acts on the coordinates of joint 'pin'"):
        Simulation(model, method="global")


@methods
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rho": 1.5}, "rho is a spectral radius: from 0 to 1, not 1.5"),
        ({"rho": -0.1}, "rho is a spectral radius"),
        ({"rho": math.nan}, "rho is a spectral radius"),
        ({"rho": 0.5, "integrator": "trapezoidal"}, "rho belongs to the integrator 'alpha'"),
        ({"iterations": 0}, "iterations must be at least 1, not 0"),
        ({"tolerance": 0.0}, "tolerance"),
        ({"solver": "direct"}, "has a solver of its own"),
        ({"integrator": "rk4"}, r"has no integrator 'rk4' \(it has trapezoidal, alpha\)"),
        (
            {"epsilon": 1e-6},
            "epsilon: no option of method .* belongs to simgc and simmc with solver 'impulses'",
        ),
        ({"dt": 0.0}, "dt"),
    ],
)
def test_settings_that_do_not_fit_are_refused(options, message, method):
    with pytest.raises(LinkworkError, match=message):
        Simulation(wheel(), method=method, **options)


def test_rho_belongs_to_implicit_methods():
    with pytest.raises(
        UnsupportedError, match=r"rho: no option .* belongs to hybrid, global and topological"
    ):
        Simulation(wheel(), method="simgc", rho=0.5)


def test_full_spectral_radius_is_the_trapezoidal_rule():
    assert generalized_alpha(1.0) == (0.25, 0.5, 0.5, 0.5)
    record = [Simulation(scene("a01_pendulum"), method="hybrid", dt=0.01, **options).run(1.0)
              for options in ({}, {"rho": 1.0})]  # fmt: skip
    np.testing.assert_array_equal(record[0].array("positions"), record[1].array("positions"))


# --- an arm that takes hold of a point and lets go ---


@methods
def test_an_arm_takes_hold_and_comes_back(method):
    """Nothing corrects errors, and an arm on its hand falls: they grow, but with the square of the step."""
    table = reference("puma560_manoeuvre_ref.csv")
    wanted = np.column_stack([table[f"q{k}"] for k in range(1, 7)])
    misses, returns = [], []
    for dt in (0.01, 0.005):
        simulation = Simulation(scene("puma_hold"), method=method, dt=dt)
        record = simulation.run(DURATION, every=0.01)
        assert [(c.time, c.attached) for c in simulation.changes] == [(2.0, True), (6.0, False)]
        assert record.info["worst_gap_m"] < CLOSED
        assert record.info["steps_halved"] == 0
        held = (record.time >= 2.0) & (record.time < 6.0)
        tool = np.column_stack([record[f"tool.position.{axis}"] for axis in "xyz"])
        assert np.abs(tool[held] - tool[held][0]).max() < CLOSED
        angles = np.column_stack([record[f"joint{k}.angle"] for k in range(1, 7)])
        misses.append(np.abs(angles - wanted)[record.time <= 2.0].max())
        returns.append(float(np.linalg.norm(tool[-1] - tool[0])))
    assert orders(misses)[0] == pytest.approx(2.0, abs=0.1)
    assert orders(returns)[0] == pytest.approx(2.0, abs=0.2)
