"""Stick and slip in the direct solver and in components: friction in joints is located, and the order kept over it."""

import dataclasses
import math

import numpy as np
import pytest

from helpers.one_dof import I, wheel
from helpers.parallelogram import JOINTS, ROUNDING, anywhere, exactly, parallelogram
from helpers.references import reference
from helpers.runs import direct, explicit, orders
from linkwork import scene

# --- dry friction ---


def incline(velocity, friction):
    """A block of 2 kg on an incline of 30°."""
    model = scene("incline_slider", angle=30.0, mass=2.0)
    model.joints["rail"] = dataclasses.replace(model.joints["rail"], velocity=velocity, friction=friction)
    return model


@explicit
@exactly
@pytest.mark.parametrize("friction", [15.0, 5.0], ids=["stays", "slides back"])
@pytest.mark.parametrize("speed", [-2.0, 1.5], ids=["uphill", "downhill"])
def test_a_block_on_an_incline_stops_where_it_should(method, integrator, friction, speed):
    record = direct(incline(speed, friction), method, integrator=integrator).run(2.0, reactions=False)
    t, pull = record.time, 2.0 * 9.81 * 0.5
    slowing = (pull - friction * np.sign(speed)) / 2.0
    stop = -speed / slowing if speed * slowing < 0.0 else np.inf
    moving = np.minimum(t, stop)
    again = max(pull - friction, 0.0) / 2.0
    later = t - moving
    place = speed * moving + 0.5 * slowing * moving**2 + 0.5 * again * later**2
    rate = np.where(t < stop, speed + slowing * t, again * later)
    np.testing.assert_allclose(record["rail.travel"], place, atol=ROUNDING)
    np.testing.assert_allclose(record["rail.travel_rate"], rate, atol=ROUNDING)
    assert record.info["events"] == int(stop < 2.0)
    assert record.energy_drift < ROUNDING
    if stop < 2.0 and not again:
        assert np.abs(record["rail.travel_rate"][-1]) < 1e-20


def coulomb(times, start, stiffness, friction, inertia):
    """A spring against dry friction: half swings about ± friction/stiffness, until friction holds it."""
    swing, dead = math.sqrt(stiffness / inertia), friction / stiffness
    half, places = math.pi / swing, np.empty_like(times)
    turned, begin = start, 0.0
    while True:
        rest = abs(turned) <= dead
        middle = math.copysign(dead, turned)
        leg = times >= begin
        places[leg] = turned if rest else middle + (turned - middle) * np.cos(swing * (times[leg] - begin))
        if rest:
            return places
        turned, begin = 2 * middle - turned, begin + half


@explicit
@pytest.mark.parametrize("integrator", ["adams", "rk4"])
def test_a_spring_against_dry_friction_keeps_the_order_over_its_turns(method, integrator):
    errors = []
    for h in (2e-3, 1e-3, 5e-4):
        model = wheel(spring=50.0, friction=0.7, position=0.3)
        record = direct(model, method, dt=h, integrator=integrator).run(4.0, every=1e-2, reactions=False)
        exact = coulomb(record.time, 0.3, 50.0, 0.7, I)
        errors.append(np.abs(record["pin.angle"] - exact).max())
        assert record.info["events"] == 11
        assert np.abs(record["pin.angle_rate"][-1]) < 1e-20
    np.testing.assert_allclose(orders(errors), 4.0, atol=0.3)


def test_a_spring_against_dry_friction_follows_the_tolerance():
    errors = []
    for tolerance in (1e-6, 1e-8, 1e-10):
        model = wheel(spring=50.0, friction=0.7, position=0.3)
        record = direct(model, "simgc", tolerance=tolerance).run(4.0, every=1e-2, reactions=False)
        errors.append(np.abs(record["pin.angle"] - coulomb(record.time, 0.3, 50.0, 0.7, I)).max())
    assert errors[0] < 1e-4
    assert errors[2] < 1e-8
    assert errors[0] > errors[1] > errors[2]


@explicit
@exactly
@anywhere
def test_friction_of_any_joint_of_a_loop_stops_the_linkage(method, integrator, joint):
    record = direct(parallelogram(joint, friction=6.0), method, integrator=integrator).run(
        2.0, reactions=False
    )
    moving = np.minimum(record.time, 1.0)
    exact = JOINTS[joint] * (2.0 * moving - moving**2)
    np.testing.assert_allclose(record[f"{joint}.angle"], exact, atol=1e-9)
    assert record["energy.dissipated"][-1] == pytest.approx(6.0, abs=1e-8)
    assert np.abs(record.array("rates")[-1]).max() < 1e-15
    assert record.info["events"] == 1


# --- the chain with dry friction ---


def chain_at(time):
    table = reference("chain5_coulomb_ref.csv")
    row = np.searchsorted(table["t"], time - 1e-9)
    tip = np.array([table["x_tip"][row], table["y_tip"][row]])
    return np.array([table[f"q{k}"][row] for k in range(1, 6)]), tip


def tip_of(record):
    """End of the last link."""
    w, z = record["link5.rotation.w"], record["link5.rotation.z"]
    x, y = record["link5.position.x"], record["link5.position.y"]
    return np.array([x + 0.5 * (w * w - z * z), y + w * z])


@explicit
@pytest.mark.parametrize("integrator", ["adams", "rk4"])
def test_chain_with_dry_friction_follows_its_reference_and_gains_nothing(method, integrator):
    record = direct(scene("chain5", friction=1.0), method, integrator=integrator).run(1.0)
    exact, tip = chain_at(1.0)
    # Fourth order across seventeen events; the reference is good to 6e-9.
    assert np.linalg.norm(tip_of(record)[:, -1] - tip) < 1e-6
    np.testing.assert_allclose(record.array("coordinates")[-1], exact, atol=1e-6)
    total = record["energy.kinetic"] + record["energy.gravity"]
    assert np.diff(total).max() <= 0.0
    assert record.energy_drift < 1e-5


@explicit
@pytest.mark.parametrize("integrator", ["adams", "rk4"])
def test_chain_with_dry_friction_keeps_the_order_over_stick_and_slip(method, integrator):
    exact, _ = chain_at(1.0)
    errors = []
    for h in (4e-3, 2e-3, 1e-3, 5e-4):
        simulation = direct(scene("chain5", friction=1.0), method, dt=h, integrator=integrator)
        simulation.step(round(1.0 / h))
        q = [simulation[f"joint{k}.angle"] for k in range(1, 6)]
        errors.append(np.abs(np.subtract(q, exact)).max())
    # At 4 ms Adams gives way to Runge-Kutta here and there.
    assert np.mean(orders(errors[1:] if integrator == "adams" else errors)) == pytest.approx(4.0, abs=0.6)


@explicit
def test_chain_with_dry_friction_follows_the_tolerance(method):
    exact, _ = chain_at(1.0)
    for tolerance in (1e-9, 1e-10, 1e-11):
        record = direct(scene("chain5", friction=1.0), method, tolerance=tolerance).run(1.0, every=0.1)
        # The chain enlarges local errors some 30 times in this second.
        np.testing.assert_allclose(record.array("coordinates")[-1], exact, atol=1e-7)


@explicit
def test_chain_with_dry_friction_comes_to_rest_and_stays(method):
    simulation = direct(scene("chain5", friction=1.0), method, dt=1e-3)
    record = simulation.run(60.0, every=0.1, reactions=False)
    total = record["energy.kinetic"] + record["energy.gravity"]
    assert np.diff(total).max() <= 1e-12  # rest is rest to rounding of 60 J
    assert record.energy_drift < 1e-4
    # Its reference still swings at 15 s. What is left of rates is rounding of accelerations, projected away.
    assert np.abs(simulation.v).max() < 1e-24
    q = simulation.q.copy()
    assert abs(simulation["joint1.angle"] + np.pi / 2) < 0.1
    assert abs(simulation["joint2.angle"]) > 1e-3  # held by friction, not hanging straight
    simulation.step(20_000)
    assert np.abs(simulation.q - q).max() < 1e-12
    assert record.info["steps_unsettled"] == 0
    assert record.info["steps_by_impulses"] == 0
