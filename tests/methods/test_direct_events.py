"""Events of the direct solver: impacts, stick and slip, drives at their strength, against formulas.

Hits, stops and releases are located, so that the order of the integrator is kept across them: where the motion
between is uniformly accelerated, or forces change evenly, fourth order is exact, and only rounding is left.
"""

import dataclasses
import math

import numpy as np
import pytest
from scipy.optimize import brentq

from helpers.one_dof import I, M, block, wheel
from helpers.references import reference
from helpers.runs import both, direct, orders
from linkwork import Body, Hinge, Model, Sine, Table, scene
from linkwork.engine.elements import DCMotor, PositionServo, TorqueSource, VelocityServo
from linkwork.scenes.crank_rocker import GEAR, IDLE, STALL, TIME_CONSTANT

exactly = pytest.mark.parametrize("integrator", ["adams", "rk4", "adaptive"])
ROUNDING = 1e-11
"""Of positions and rates of order one after some thousand steps."""
G = 10.0


def parallelogram(joint, *drives, rate=2.0, **fields):
    """Two four-bars without gravity: 1.5 ω² is their energy, so every joint turns the inertia 3 kg m² evenly."""
    model = scene("double_four_bar", rate=rate)
    model.gravity = (0.0, 0.0, 0.0)
    model.joints[joint] = dataclasses.replace(model.joints[joint], **fields)
    for drive in drives:
        model.add(drive)
    return model


TURNED = 3.0
# One joint in the tree, and two that close loops.
JOINTS = {"A0": -1.0, "A1": -1.0, "B2_in": -1.0}
anywhere = pytest.mark.parametrize("joint", JOINTS)


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


@both
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


@both
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


@both
@exactly
def test_two_limits_that_are_hit_at_once(method, integrator):
    # Both ends of a coupled pair arrive together: one impact, no energy gained, no bounce where there is none.
    model = parallelogram("A0", limits=(-0.5, 0.5))
    model.joints["A2"] = dataclasses.replace(model.joints["A2"], limits=(-0.5, 0.5))
    record = direct(model, method, integrator=integrator).run(1.0, reactions=False)
    np.testing.assert_allclose(record["A0.angle"], -np.minimum(2.0 * record.time, 0.5), atol=ROUNDING)
    assert record["energy.dissipated"][-1] == pytest.approx(6.0, abs=1e-9)


turning = pytest.mark.parametrize("turn", [0.5003, 0.4107])


@both
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


@both
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


@both
def test_a_rotor_is_thrown_back_with_its_joint(method):
    sheet = {"stall_torque": STALL, "idle_speed": IDLE, "time_constant": TIME_CONSTANT, "gear": GEAR}
    model = wheel(DCMotor("motor", "pin", **sheet, command=0.3), limits=(None, 0.2), restitution=0.5)
    record = direct(model, method).run(1.0, every=1e-3)
    assert record["pin.angle"].max() <= 0.2 + 1e-10
    assert record["pin.angle"][-1] == pytest.approx(0.2, abs=1e-10)
    assert record.info["events"] > 3
    # Adams: (h/T)⁴ of some 10 J, T = 88 ms under load.
    assert record.energy_drift < 1e-6


# --- dry friction ---


def incline(velocity, friction):
    """A block of 2 kg on an incline of 30°."""
    model = scene("incline_slider", angle=30.0, mass=2.0)
    model.joints["rail"] = dataclasses.replace(model.joints["rail"], velocity=velocity, friction=friction)
    return model


@both
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


@both
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


@both
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


@both
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


@both
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


@both
def test_chain_with_dry_friction_follows_the_tolerance(method):
    exact, _ = chain_at(1.0)
    for tolerance in (1e-9, 1e-10, 1e-11):
        record = direct(scene("chain5", friction=1.0), method, tolerance=tolerance).run(1.0, every=0.1)
        # The chain enlarges local errors some 30 times in this second.
        np.testing.assert_allclose(record.array("coordinates")[-1], exact, atol=1e-7)


@both
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


# --- velocity servos ---


@both
@exactly
@anywhere
def test_a_servo_of_any_joint_reaches_its_goal_in_the_time_its_strength_takes(method, integrator, joint):
    # From rest to 1.2 rad/s with 6 N m against 3 kg m²: 0.6 s.
    model = parallelogram(joint, VelocityServo("servo", joint, command=1.2, strength=6.0), rate=0.0)
    record = direct(model, method, integrator=integrator).run(1.2, reactions=False)
    t = record.time
    np.testing.assert_allclose(record[f"{joint}.angle_rate"], np.minimum(2.0 * t, 1.2), atol=1e-10)
    np.testing.assert_allclose(
        record[f"{joint}.angle"], np.where(t < 0.6, t * t, 0.36 + 1.2 * (t - 0.6)), atol=1e-10
    )
    assert record["energy.supplied"][-1] == pytest.approx(1.5 * 1.44, abs=1e-9)
    assert record.info["events"] == 1


@both
def test_a_servo_that_is_overpowered_catches_up(method):
    """Strength 4 N m against a load of 6 sin 2πt: it slips while the load exceeds it, and until it has caught up."""
    w = 2 * math.pi
    slips = math.asin(4.0 / 6.0) / w

    def slip(t):
        return (6.0 * (np.cos(w * slips) - np.cos(w * t)) / w - 4.0 * (t - slips)) / I

    caught = brentq(slip, slips + 0.05, 0.9)
    errors = []
    for h in (2e-3, 1e-3, 5e-4):
        servo = VelocityServo("servo", "pin", command=3.0, strength=4.0)
        load = TorqueSource("load", "pin", command=6.0, signal=Sine(1.0))
        record = direct(wheel(servo, load, velocity=3.0), method, dt=h).run(0.6, every=1e-2, reactions=False)
        t = record.time
        exact = np.where((t > slips) & (t < caught), 3.0 + slip(t), 3.0)
        errors.append(np.abs(record["pin.angle_rate"] - exact).max())
        assert record.info["events"] == 2
    np.testing.assert_allclose(orders(errors), 4.0, atol=0.2)


@both
@exactly
def test_a_servo_follows_a_goal_that_changes(method, integrator):
    servo = VelocityServo("servo", "pin", command=2.0, signal=Sine(1.5, phase=0.3, offset=0.5))
    model = wheel(servo, TorqueSource("load", "pin", command=-5.0))
    record = direct(model, method, integrator=integrator).run(1.0, reactions=False)
    w, t = 3 * math.pi, record.time
    np.testing.assert_allclose(record["pin.angle_rate"], 2 * (0.5 + np.sin(w * t + 0.3)), atol=1e-13)
    exact = 2 * (0.5 * t + (math.cos(0.3) - np.cos(w * t + 0.3)) / w)
    np.testing.assert_allclose(record["pin.angle"], exact, atol=1e-9)  # (h w)⁴ = 8e-9, times 19/720


# --- position servos ---


@both
@pytest.mark.parametrize(("integrator", "order"), [("adams", 4), ("rk4", 4), ("euler", 1)])
def test_a_soft_position_servo_swings_to_its_command(method, integrator, order):
    stiffness, damping, goal = 200.0, 4.0, 0.5
    decay = damping / (2 * I)
    swing = math.sqrt(stiffness / I - decay**2)
    errors = []
    for h in (2e-3, 1e-3, 5e-4):
        servo = PositionServo("servo", "pin", stiffness=stiffness, damping=damping, command=goal)
        record = direct(wheel(servo), method, dt=h, integrator=integrator).run(
            1.0, every=1e-2, reactions=False
        )
        t = record.time
        exact = goal * (1 - np.exp(-decay * t) * (np.cos(swing * t) + decay / swing * np.sin(swing * t)))
        errors.append(np.abs(record["pin.angle"] - exact).max())
    np.testing.assert_allclose(orders(errors), order, atol=0.1)


@both
@pytest.mark.parametrize("integrator", ["adams", "rk4", "euler"])
@pytest.mark.parametrize("exponent", [6, 8, 10, 12])
def test_a_stiff_position_servo_goes_to_its_command_at_once(method, integrator, exponent):
    # Overdamped, with a time constant of 10 ms: x' = (goal - x)/0.01 s, to the share of the inertia.
    stiffness = 10.0**exponent
    servo = PositionServo("servo", "pin", stiffness=stiffness, damping=stiffness / 100, command=0.5)
    record = direct(wheel(servo), method, integrator=integrator).run(0.5, reactions=False)
    if exponent >= 8:
        # Implicit: first order in 0.1, step against time constant.
        exact = 0.5 * (1 - np.exp(-100.0 * record.time))
        np.testing.assert_allclose(record["pin.angle"], exact, atol=0.5 * 0.1 / 2)
    assert record["pin.angle"].max() < 0.5 + 1e-6
    assert record["pin.angle"][-1] == pytest.approx(0.5, abs=1e-9)


@both
@pytest.mark.parametrize("integrator", ["adams", "rk4", "adaptive", "euler"])
def test_a_stiff_position_servo_is_as_strong_as_it_is(method, integrator):
    # 50 N m against 0.5 kg m²: no faster than 100 rad/s², whatever the stiffness.
    servo = PositionServo("servo", "pin", stiffness=1e8, damping=1e5, command=0.5, strength=50.0)
    record = direct(wheel(servo), method, integrator=integrator).run(0.3, every=1e-3, reactions=False)
    change = np.abs(np.diff(record["pin.angle_rate"])).max()
    assert change <= 100.0 * 1e-3 * (1 + 1e-9)


# --- motors and springs ---


@both
@pytest.mark.parametrize(("integrator", "order"), [("adams", 4), ("rk4", 4)])
def test_a_motor_runs_up_at_the_order_of_the_integrator(method, integrator, order):
    sheet = {"stall_torque": STALL, "idle_speed": IDLE, "time_constant": TIME_CONSTANT, "gear": GEAR}
    rotor = GEAR**2 * STALL * TIME_CONSTANT / IDLE
    constant = TIME_CONSTANT * (1 + I / rotor)
    errors = []
    for h in (2e-3, 1e-3, 5e-4):
        model = wheel(DCMotor("motor", "pin", **sheet, command=0.8))
        record = direct(model, method, dt=h, integrator=integrator).run(0.5, reactions=False)
        exact = 0.8 * IDLE / GEAR * (1 - np.exp(-record.time / constant))
        errors.append(np.abs(record["pin.angle_rate"] - exact).max())
    np.testing.assert_allclose(orders(errors), order, atol=0.2)


@both
@exactly
@anywhere
def test_a_spring_of_any_joint_swings_the_linkage(method, integrator, joint):
    record = direct(parallelogram(joint, spring=7.0), method, integrator=integrator).run(2.0, reactions=False)
    swing = math.sqrt(7.0 / TURNED)
    exact = JOINTS[joint] * 2.0 / swing * np.sin(swing * record.time)
    np.testing.assert_allclose(record[f"{joint}.angle"], exact, atol=1e-9)  # (h ω)⁴ is 5e-12
    strain = 3.5 * exact**2
    np.testing.assert_allclose(record["energy.strain"], strain, atol=1e-8)


@both
@anywhere
def test_a_stiff_damper_of_any_joint_stops_the_linkage(method, joint):
    # 3 kg m²/(1e5 N m s) is far below a step: implicit, it leaves nothing of the motion.
    record = direct(parallelogram(joint, damping=1e5), method).run(0.1, reactions=False)
    assert np.abs(record.array("rates")[-1]).max() < 1e-9
    assert np.abs(record[f"{joint}.angle"]).max() < 2.0 * 2e-3
    assert record.info["worst_gap_m"] < 1e-12


# --- commands over time ---


@both
@exactly
def test_a_command_between_steps_holds_from_there(method, integrator):
    simulation = direct(wheel(TorqueSource("push", "pin", command=1.0)), method, integrator=integrator)
    for command in (1.0, -2.0, 0.5):
        simulation.command("push", command)
        simulation.run(0.1, every=0.1)
    # 0.1 s each of 1, -2 and 0.5 N m: no step mixes two of them.
    assert simulation["pin.angle_rate"] == pytest.approx(0.1 * (1.0 - 2.0 + 0.5) / I, abs=1e-13)
    assert simulation.work[0] == pytest.approx(0.5 * I * simulation["pin.angle_rate"] ** 2, abs=1e-13)


@both
def test_a_command_between_steps_moves_servos_and_motors(method):
    simulation = direct(scene("crank_rocker"), method)
    simulation.run(0.3)
    rate = simulation["crank.angle_rate"]
    simulation.command("motor", -0.5)
    simulation.run(0.3)
    assert rate > 1.0
    assert simulation["crank.angle_rate"] < -1.0
    simulation.reset()
    simulation.run(0.3)
    assert simulation["crank.angle_rate"] == rate


@both
@pytest.mark.parametrize("integrator", ["adams", "rk4", "adaptive"])
def test_a_torque_that_jumps_between_two_steps_is_not_smeared(method, integrator):
    signal = Table((0.0, 0.5, 0.5, 2.0), (1.0, 1.0, -1.0, -1.0))
    model = wheel(TorqueSource("push", "pin", command=1.0, signal=signal))
    record = direct(model, method, integrator=integrator).run(1.0)
    assert record["pin.angle_rate"][-1] == pytest.approx(0.0, abs=1e-6)
