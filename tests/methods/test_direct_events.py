"""Events of the direct solver and of components: impacts, stick and slip, drives at their strength, against formulas.

Hits, stops and releases are located, so that the order of the integrator is kept across them: where the motion
between is uniformly accelerated, or forces change evenly, fourth order is exact, and only rounding is left.
"""

import dataclasses
import math

import numpy as np
import pytest

from helpers.one_dof import I, M, block, wheel
from helpers.parallelogram import JOINTS, ROUNDING, anywhere, exactly, parallelogram
from helpers.runs import direct, explicit, orders
from linkwork import Body, Hinge, Model, Table
from linkwork.engine.elements import DCMotor, TorqueSource
from linkwork.scenes.crank_rocker import GEAR, IDLE, STALL, TIME_CONSTANT

G = 10.0


# --- impacts ---


def bouncing(times, height, restitution, slowest=1e-2):
    """Height and speed of a ball that is dropped; below the slowest speed it stays down."""
    legs, start, speed = [(0.0, height, 0.0)], math.sqrt(2 * height / G), math.sqrt(2 * height * G)
    hits = [start]
    while restitution * speed > slowest and start < times[-1]:
        speed *= restitution
        legs.append((start, 0.0, speed))
        start += 2 * speed / G
        hits.append(start)
    places, speeds = np.zeros_like(times), np.zeros_like(times)
    for (begin, z, v), end in zip(legs, hits, strict=True):
        leg = (times >= begin) & (times < end)
        t = times[leg] - begin
        places[leg], speeds[leg] = z + v * t - 0.5 * G * t * t, v - G * t
    return places, speeds, np.array(hits)


@explicit
@exactly
@pytest.mark.parametrize("restitution", [0.0, 0.5, 0.9, 1.0])
def test_a_block_bounces_when_and_as_high_as_it_should(method, integrator, restitution):
    model = block(gravity=G, limits=(-0.2, None), restitution=restitution)
    record = direct(model, method, integrator=integrator).run(2.9, every=1e-3, reactions=False)
    places, speeds, hits = bouncing(record.time, 0.2, restitution)
    np.testing.assert_allclose(record["rail.travel"] + 0.2, places, atol=ROUNDING)
    away = np.abs(record.time[:, None] - hits).min(axis=1) > 1e-9  # not at the very moment of a hit
    np.testing.assert_allclose(record["rail.travel_rate"][away], speeds[away], atol=ROUNDING)
    assert record["rail.travel"].min() >= -0.2 - 1e-12
    assert record.info["events"] == (hits <= 2.9).sum()
    assert record.info["steps_by_impulses"] == 0
    assert record.energy_drift < ROUNDING
    # What hits took: all that is missing.
    lost = M * G * 0.2 - M * G * places[-1] - 0.5 * M * speeds[-1] ** 2
    assert record["energy.dissipated"][-1] == pytest.approx(lost, abs=ROUNDING)


def test_a_block_bounces_to_first_order_with_euler():
    errors = []
    for h in (1e-3, 5e-4, 2.5e-4):
        record = direct(
            block(gravity=G, limits=(-0.2, None), restitution=0.5), "simgc", dt=h, integrator="euler"
        ).run(0.4)
        errors.append(np.abs(record["rail.travel"] + 0.2 - bouncing(record.time, 0.2, 0.5)[0]).max())
    assert np.mean(orders(errors)) == pytest.approx(1.0, abs=0.3)


@explicit
@exactly
@anywhere
def test_a_limit_of_any_joint_of_a_loop_throws_the_linkage_back(method, integrator, joint):
    model = parallelogram(joint, limits=(-0.5, 0.5), restitution=0.6)
    record = direct(model, method, integrator=integrator).run(0.8, reactions=False)
    t = record.time
    exact = JOINTS[joint] * np.where(t < 0.25, 2.0 * t, 0.5 - 1.2 * (t - 0.25))
    np.testing.assert_allclose(record[f"{joint}.angle"], exact, atol=ROUNDING)
    assert record["energy.dissipated"][-1] == pytest.approx(1.5 * (4.0 - 1.44), abs=1e-10)
    assert record.info["worst_gap_m"] < 1e-12
    assert record.info["events"] == 1


@explicit
@exactly
def test_two_limits_that_are_hit_at_once(method, integrator):
    # Both ends of a coupled pair arrive together: one impact, no energy gained, no bounce where there is none.
    model = parallelogram("A0", limits=(-0.5, 0.5))
    model.joints["A2"] = dataclasses.replace(model.joints["A2"], limits=(-0.5, 0.5))
    record = direct(model, method, integrator=integrator).run(1.0, reactions=False)
    np.testing.assert_allclose(record["A0.angle"], -np.minimum(2.0 * record.time, 0.5), atol=ROUNDING)
    assert record["energy.dissipated"][-1] == pytest.approx(6.0, abs=1e-9)


turning = pytest.mark.parametrize("turn", [0.5003, 0.4107])


@explicit
@exactly
@turning
@pytest.mark.parametrize("h", [1e-3, 4e-3])
def test_a_limit_is_pulled_open_when_the_load_turns(method, integrator, h, turn):
    # 10 N (1 - t/turn) against the upper limit: x'' is even in time then, which fourth order integrates exactly.
    push = TorqueSource("push", "rail", command=10.0, signal=Table((0.0, 4 * turn), (1.0, -3.0)))
    model = block(push, gravity=G, limits=(None, 0.0))
    model.gravity = (0.0, 0.0, 0.0)
    record = direct(model, method, dt=h, integrator=integrator).run(1.0, reactions=False)
    late = np.maximum(record.time - turn, 0.0)
    np.testing.assert_allclose(record["rail.travel_rate"], -5.0 / (turn * M) * late**2, atol=1e-9)
    assert record.info["events"] == 1


@explicit
@exactly
@turning
@pytest.mark.parametrize("h", [1e-3, 4e-3])
def test_friction_lets_go_when_it_is_overcome(method, integrator, h, turn):
    push = TorqueSource("push", "pin", command=2.0, signal=Table((0.0, 4 * turn), (0.0, 4.0)))
    record = direct(wheel(push, friction=2.0), method, dt=h, integrator=integrator).run(1.0, reactions=False)
    late = np.maximum(record.time - turn, 0.0)
    np.testing.assert_allclose(record["pin.angle_rate"], 1.0 / (turn * I) * late**2, atol=1e-9)
    assert record.info["events"] == 1
    assert record.energy_drift < 1e-9


# On a step, a little before and behind one, and anywhere.
phases = pytest.mark.parametrize("turn", [0.5, 0.5 - 1e-9, 0.5 + 1e-9, 0.5 + 1e-13, 0.5 - 3e-7, 0.50025])


@exactly
@phases
@pytest.mark.parametrize("h", [1e-3, 5e-4])
def test_friction_lets_go_when_it_is_overcome_where_a_step_ends(integrator, h, turn):
    test_friction_lets_go_when_it_is_overcome("simgc", integrator, h, turn)


@exactly
@phases
@pytest.mark.parametrize("h", [1e-3, 5e-4])
def test_a_limit_is_pulled_open_where_a_step_ends(integrator, h, turn):
    test_a_limit_is_pulled_open_when_the_load_turns("simgc", integrator, h, turn)


@exactly
@pytest.mark.parametrize("turn", [0.5, 0.5003])
def test_two_joints_let_go_at_once(integrator, turn):
    model = Model("wheels", gravity=(0.0, 0.0, 0.0))
    for name in ("left", "right"):
        model.add(Body(name, mass=1.0, inertia=(0.3, 0.4, I)))
        model.add(Hinge(f"{name}_pin", "ground", name, friction=2.0))
        rising = Table((0.0, 4 * turn), (0.0, 4.0))
        model.add(TorqueSource(f"{name}_push", f"{name}_pin", command=2.0, signal=rising))
    record = direct(model, "simgc", integrator=integrator).run(1.0, reactions=False)
    late = np.maximum(record.time - turn, 0.0)
    for name in ("left", "right"):
        np.testing.assert_allclose(record[f"{name}_pin.angle_rate"], 1.0 / (turn * I) * late**2, atol=1e-9)
    assert record.info["events"] == 2
    assert record.info["steps_by_impulses"] == 0


@exactly
@pytest.mark.parametrize("over", [1e-6, 1e-7])
def test_a_limit_is_not_passed_between_two_steps(integrator, over):
    # Thrown up so that it would turn a little above the limit: it hits at √(2 g over) and falls from there.
    worst = 0.0
    for phase in np.linspace(0.0, 1.0, 20):
        start = -1e-3 * phase * math.sqrt(2 * G * 0.2)
        speed = math.sqrt(2 * G * (0.2 + over - start))
        model = block(gravity=G, limits=(None, 0.2), position=start, velocity=speed)
        record = direct(model, "simgc", integrator=integrator).run(0.4, every=0.4, reactions=False)
        fallen = record.time[-1] - (speed - math.sqrt(2 * G * over)) / G
        worst = max(worst, abs(record["rail.travel"][-1] - (0.2 - 0.5 * G * fallen**2)))
        assert record.info["events"] == 1
    assert worst < 1e-9


@exactly
@pytest.mark.parametrize("short", [1e-6, 1e-9])
def test_a_limit_that_is_just_not_reached_does_nothing(integrator, short):
    for phase in np.linspace(0.0, 1.0, 5):
        start = -1e-3 * phase * math.sqrt(2 * G * 0.2)
        speed = math.sqrt(2 * G * (0.2 - short - start))
        model = block(gravity=G, limits=(None, 0.2), position=start, velocity=speed)
        record = direct(model, "simgc", integrator=integrator).run(0.4, every=0.4, reactions=False)
        t = record.time[-1]
        assert record["rail.travel"][-1] == pytest.approx(start + speed * t - 0.5 * G * t * t, abs=ROUNDING)
        assert record.info["events"] == 0


@pytest.mark.parametrize("integrator", ["adams", "rk4"])
def test_a_bounce_shorter_than_a_step_is_seen(integrator):
    # The last bounces take 3 ms, less than a step.
    model = block(gravity=G, limits=(-0.2, None), restitution=0.5)
    record = direct(model, "simgc", integrator=integrator, dt=8e-3).run(1.0, reactions=False)
    places, _, hits = bouncing(record.time, 0.2, 0.5)
    np.testing.assert_allclose(record["rail.travel"] + 0.2, places, atol=ROUNDING)
    assert record.info["events"] == (hits <= 1.0).sum()
    assert record.info["steps_by_impulses"] == 0


@explicit
def test_a_rotor_is_thrown_back_with_its_joint(method):
    sheet = {"stall_torque": STALL, "idle_speed": IDLE, "time_constant": TIME_CONSTANT, "gear": GEAR}
    model = wheel(DCMotor("motor", "pin", **sheet, command=0.3), limits=(None, 0.2), restitution=0.5)
    record = direct(model, method).run(1.0, every=1e-3)
    assert record["pin.angle"].max() <= 0.2 + 1e-10
    assert record["pin.angle"][-1] == pytest.approx(0.2, abs=1e-10)
    assert record.info["events"] > 3
    # Adams: (h/T)⁴ of some 10 J, T = 88 ms under load.
    assert record.energy_drift < 1e-6
