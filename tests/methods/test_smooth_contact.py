"""Contact between events at the order of the integrator: against equations of motion of its own for each mechanism."""

import dataclasses
import math
from itertools import pairwise

import numpy as np
import pytest

from helpers.smooth_models import (
    G,
    ball,
    block,
    chain_over_cylinder,
    floored,
    pendulum_at_wall,
    rocking_block,
    rolling_disc,
    sliding_linkage,
    thrown,
    tripod,
    wheel_on_waves,
)
from linkwork import (
    Body,
    Box,
    Component,
    Free,
    Hinge,
    Material,
    Simulation,
    Sphere,
    UnsupportedError,
    scene,
)
from linkwork.model.rotation import about

FOURTH = 12.0
"""What halving the step must divide an error by: 16 at order four, 8 at order three."""


def run(model, time, dt=1e-2, **options):
    simulation = Simulation(model, dt=dt, **({"integrator": "rk4"} | options))
    record = simulation.run(time)
    return simulation, record


def place(simulation, body):
    return np.array(simulation.point(body)[0])


def ratios(errors):
    return [a / b for a, b in pairwise(errors)]


@pytest.mark.parametrize("method", ["simgc", "simmc", "components"])
@pytest.mark.parametrize("make", [rolling_disc, tripod], ids=["disc", "tripod"])
def test_rolling_and_sliding_are_of_fourth_order(make, method):
    model, moved = make()
    name, end = model.name, moved(0.16)
    errors = []
    for dt in (16e-3, 8e-3, 4e-3):
        simulation, record = run(model, 0.16, dt, method=method)
        errors.append(np.abs(place(simulation, name) - np.array(model.bodies[name].at) - end).max())
        assert record.info["steps_by_impulses"] == 0
        assert record.info["warnings"] == []
    assert min(ratios(errors)) > FOURTH
    assert errors[-1] < 1e-8


@pytest.mark.parametrize("make", [rolling_disc, tripod], ids=["disc", "tripod"])
def test_adams_and_tolerances(make):
    model, moved = make()
    name, end = model.name, moved(0.16)
    for options, bound in (
        ({"integrator": "adams", "dt": 1e-3}, 1e-8),
        ({"tolerance": 1e-9, "integrator": None}, 1e-7),
    ):
        simulation, record = run(model, 0.16, **options)
        assert np.abs(place(simulation, name) - np.array(model.bodies[name].at) - end).max() < bound
        assert record.info["warnings"] == []


@pytest.mark.parametrize("dt", [1e-2, 7e-3, 1e-3])
def test_a_sliding_block_comes_to_rest_when_and_where_it_should(dt):
    simulation, record = run(block(speed=1.0), 0.42, dt)
    assert simulation["block.position.x"] == pytest.approx(1.0 / (2 * 0.3 * G), abs=1e-11)
    assert np.abs(simulation.v).max() < 1e-12
    assert record.info["events"] == 1
    assert record.info["steps_by_impulses"] == 0


@pytest.mark.parametrize("beyond", [-1e-6, 1e-6, 1e-2])
def test_the_angle_of_friction(beyond):
    angle = math.atan(0.3) + beyond
    simulation, _ = run(block(slope=angle), 0.2)
    wanted = max(G * (math.sin(angle) - 0.3 * math.cos(angle)), 0.0) * 0.2
    assert simulation["block.velocity.x"] == pytest.approx(wanted, abs=1e-8)
    assert np.abs(np.delete(simulation.v, 0)).max() < 1e-9


def test_a_ball_slips_until_it_rolls():
    simulation, record = run(ball(speed=1.0, friction=0.5), 0.3)
    slips = (2.0 / 7.0) / (0.5 * G)
    gone = slips * (1.0 + 5.0 / 7.0) / 2 + (0.3 - slips) * 5.0 / 7.0
    assert simulation["ball.position.x"] == pytest.approx(gone, abs=1e-11)
    assert simulation["ball.velocity.x"] == pytest.approx(5.0 / 7.0, abs=1e-11)
    assert record.info["events"] == 1


def test_accelerations_and_forces_are_those_of_the_moment():
    simulation, _ = run(ball(slope=0.2, friction=0.5), 0.1)
    assert simulation["ball.acceleration.x"] == pytest.approx(5.0 / 7.0 * G * math.sin(0.2), abs=1e-10)
    (touch,) = simulation.touches()
    assert touch.force * abs(touch.normal[2]) == pytest.approx(G * math.cos(0.2), abs=1e-9)
    assert not touch.slides
    assert np.linalg.norm(touch.friction) == pytest.approx(2.0 / 7.0 * G * math.sin(0.2), abs=1e-9)


def test_a_drum_and_a_ball_roll_down_a_slab():
    """The drum touches along a line whose ends are of other edges of it all the time."""
    simulation, record = run(scene("rolling"), 0.5)
    for name, share in (("ball", 5.0 / 7.0), ("drum", 2.0 / 3.0)):
        wanted = share * G * math.sin(math.radians(15.0)) * 0.5
        assert simulation[f"{name}_way.x_rate"] == pytest.approx(wanted, abs=1e-7)
    assert record.info["steps_by_impulses"] == 0


def test_bounces_are_where_they_should_be():
    _, record = run(ball(height=1.0, friction=0.3, restitution=0.8), 2.0)
    first = math.sqrt(2.0 / G)
    wanted = [first, first * (1 + 2 * 0.8), first * (1 + 2 * 0.8 + 2 * 0.8**2)]
    began = [event["time"] for event in record.info["contact_events"] if event["began"]]
    np.testing.assert_allclose(began[:3], wanted, atol=1e-10)
    assert record.info["warnings"] == []


@pytest.mark.parametrize("method", ["simgc", "components"])
@pytest.mark.parametrize(
    ("make", "time", "steps"),
    [(rocking_block, 0.8, (2e-2, 1e-2, 5e-3)), (pendulum_at_wall, 1.5, (2e-2, 1e-2, 5e-3))],
    ids=["rocking", "wall"],
)
def test_order_is_kept_through_impacts(make, time, steps, method):
    model, moved = make()
    wanted, errors = moved(time), []
    for dt in steps:
        simulation, record = run(model, time, dt, method=method)
        if make is rocking_block:
            q = simulation.q
            now = 0.2 + 2.0 * math.atan2(q[5], q[3])
        else:
            now = simulation["pivot.angle"]
        errors.append(abs(now - wanted))
        assert record.info["steps_by_impulses"] == 0
    assert errors[0] / errors[-1] > FOURTH**2
    assert errors[-1] < 1e-8


def linkage(dt, **options):
    model = sliding_linkage()
    model.joints["A"] = dataclasses.replace(model.joints["A"], velocity=3.0)
    simulation = Simulation(model, dt=dt, **({"integrator": "rk4"} | options))
    record = simulation.run(0.2)
    return place(simulation, "foot"), record


def test_loops_and_contact_together():
    ends = [linkage(dt)[0] for dt in (2e-2, 1e-2, 5e-3)]
    first, second = (np.abs(a - b).max() for a, b in pairwise(ends))
    assert first / second > FOURTH
    for method in ("simmc", "components"):
        floating, record = linkage(5e-3, method=method)
        np.testing.assert_allclose(floating, ends[-1], atol=1e-8)
        assert record.info["worst_gap_m"] < 1e-10
    by_impulses, _ = linkage(1e-4, integrator="euler")
    assert np.abs(by_impulses - ends[-1]).max() < 1e-4


def crossed(**options):
    """Two components, each a ball that carries a pendulum with dry friction; one ball runs into the other."""
    model = floored("crossed", friction=0.3)
    for name, x, pace in (("left", 0.0, 1.0), ("right", 0.2, 0.0)):
        part, at = Component(name), (x, 0.0, 0.05)
        part.add(Material("rough", friction=0.3))
        part.add(Body("ball", at=at, mass=1.0, inertia=(1e-3,) * 3, shapes=(Sphere(0.05),), material="rough"))
        part.add(Free("way", "ground", "ball", at=at, velocity=(pace, 0, 0, 0, pace / 0.05, 0)))
        part.add(Body("lever", at=(x, 0.0, 0.02), mass=0.1, inertia=(1e-4,) * 3))
        part.add(Hinge("pin", "ball", "lever", at=at, axis=(0.0, 1.0, 0.0), friction=1e-3))
        model.add(part.instance(name))
    simulation = Simulation(model, dt=5e-3, integrator="rk4", **options)
    record = simulation.run(0.3)
    found = [place(simulation, f"{name}.{body}") for name in ("left", "right") for body in ("ball", "lever")]
    return found, record


def test_subsystems_touch_each_other():
    """With dry friction of joints beside contact, from one subsystem to another, impacts included."""
    (one, record), (other, _) = crossed(method="components"), crossed(method="simgc")
    assert record.info["subsystems"] > 1
    assert record.info["events"] > 0
    pairs = [{event["a"], event["b"]} for event in record.info["contact_events"]]
    assert {"left.ball", "right.ball"} in pairs
    # Fourth order: 60 steps of (20 rad/s · 5 ms)^5/120 of 0.1 m at most in either.
    np.testing.assert_allclose(one, other, atol=1e-6)


def test_a_wheel_on_waves():
    """The shape of the road enters at second order; the steps at fourth."""

    def end(dt, **options):
        simulation, record = run(wheel_on_waves(), 0.4, dt, **options)
        return place(simulation, "wheel"), record

    places = [end(dt)[0] for dt in (2e-2, 1e-2, 5e-3)]
    first, second = (np.abs(a - b).max() for a, b in pairwise(places))
    assert first / second > 8.0 / 1.5  # curvature of the spline has kinks at the nodes: third order there
    other, record = end(2e-3, method="simmc", integrator="adams")
    assert np.abs(other - places[-1]).max() < 10 * second
    assert record.info["steps_by_impulses"] == 0


def test_a_chain_falls_over_a_cylinder():
    """Until its impacts make it chaotic two formulations and two step sizes agree; after that it keeps its energy."""
    ends = [run(chain_over_cylinder(), 0.09, dt, method=m)[0] for dt, m in ((1e-2, "simgc"), (2e-3, "simmc"))]
    for k in range(6):
        np.testing.assert_allclose(place(ends[0], f"link{k}"), place(ends[1], f"link{k}"), atol=1e-6)


# --- what must not matter ---


def test_the_start_may_be_a_little_off():
    ends = []
    for off in np.linspace(-1e-9, 1e-9, 7):
        model = floored("block", friction=0.3)
        thrown(
            model, "block", (0, 0, 0.05 + off), [Box((0.1, 0.1, 0.1))], (1.0, 0, 0, 0, 0, 0.5), density=1000.0
        )
        ends.append(place(run(model, 0.5)[0], "block"))
    assert np.ptp(ends, axis=0).max() < 1e-7


@pytest.mark.parametrize("order", [1, -1])
def test_the_order_of_bodies_does_not_matter(order):
    def three(names):
        model = floored("three", friction=0.3)
        for name in names:
            k = int(name[-1])
            thrown(
                model, name, (0.3 * k, 0, 0.1), [Sphere(0.1)], (1.0 - 0.3 * k, 0, 0, 0, 0, 0), mass=1.0 + k,
                inertia=(0.004,) * 3,
            )  # fmt: skip
        return run(model, 0.4)[0]

    names = ["b0", "b1", "b2"]
    first, other = three(names), three(names[::order])
    for name in names:
        np.testing.assert_allclose(place(first, name), place(other, name), atol=1e-10)


def test_the_world_may_be_turned():
    def end(turn):
        model = floored("turned", friction=0.3)
        way = (math.cos(turn), math.sin(turn), 0.0, 0.0, 0.0, 3.0)
        thrown(
            model, "block", (0, 0, 0.05), [Box((0.1, 0.1, 0.1))], way, rotation=about((0.0, 0.0, 1.0), turn),
            density=1000.0,
        )  # fmt: skip
        x, y, z = place(run(model, 0.15)[0], "block")
        return x * math.cos(turn) + y * math.sin(turn), y * math.cos(turn) - x * math.sin(turn), z

    np.testing.assert_allclose(end(1.1), end(0.0), atol=1e-8)


# --- what is told, and what is not done ---


def test_what_lies_deep_is_got_out_by_impulses_and_said():
    _, record = run(block(depth=5e-3), 0.1)
    assert record.info["steps_by_impulses"] > 0
    assert any("first order" in text for text in record.info["warnings"])


@pytest.mark.parametrize(
    ("fields", "options", "text"),
    [({"rolling": 1e-3}, {}, "friction at points alone"), ({"torsion": 1e-3}, {}, "friction at points alone"),
     ({}, {"sleep": 1.0}, "leaves nothing alone")],
)  # fmt: skip
def test_refusals(fields, options, text):
    model = ball(friction=0.5)
    model.materials["rough"] = Material("rough", friction=0.5, **fields)
    with pytest.raises(UnsupportedError, match=text):
        Simulation(model, integrator="rk4", **options)


def test_a_saved_run_goes_on_bit_by_bit(tmp_path):
    model = ball(height=0.2, friction=0.3, restitution=0.5)
    whole, half = Simulation(model, integrator="rk4", dt=1e-2), Simulation(model, integrator="rk4", dt=1e-2)
    whole.run(0.6)
    half.run(0.3)
    half.save_state(tmp_path / "half")
    again = Simulation(model, integrator="rk4", dt=1e-2)
    again.load_state(tmp_path / "half")
    again.run(0.3)
    assert (again.q == whole.q).all()
    assert (again.v == whole.v).all()


def test_forces_in_joints_are_refused():
    simulation = Simulation(ball(friction=0.5), integrator="rk4")
    with pytest.raises(UnsupportedError, match="forces in joints"):
        simulation["ball_way.force.x"]
    assert simulation["contact.residual"] < 1e-9


def test_joints_that_come_and_go_are_refused():
    model = ball(friction=0.5)
    model.add(
        Hinge("latch", "ground", "ball", at=(0.0, 0.0, 0.1), axis=(0.0, 1.0, 0.0), attached=((1.0, 2.0),))
    )
    with pytest.raises(UnsupportedError, match=r"keeps all joints as they are.*latch"):
        Simulation(model, integrator="rk4")
