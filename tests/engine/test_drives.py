"""Limits, dry friction, springs, drives and couplings as rows, against formulas that hold to the last digits.

By impulses, a mechanism of one degree of freedom needs one impulse a step: what a row does is then exact, whatever
epsilon is. In maximal coordinates the equations of the joint are solved beside it, to about epsilon. The direct solver
is exact in both, and of fourth order where there are no steps to compare with.
"""

import math

import numpy as np
import pytest

from helpers.one_dof import I, M, block, wheel
from helpers.runs import orders
from linkwork import (
    Body,
    Hinge,
    JointFunction,
    LinkworkError,
    Model,
    Simulation,
    Sine,
    Spherical,
    Spring,
    Table,
    Torque,
    scene,
)
from linkwork.engine.elements import DCMotor, PositionServo, Repeater, TorqueSource, VelocityServo
from linkwork.methods.contact import DEFAULT_ERP as ERP
from linkwork.scenes.crank_rocker import GEAR, IDLE, STALL, TIME_CONSTANT
from linkwork.scenes.hitch import LIMITS
from linkwork.scenes.torsion_bar import LENGTH, MASS

METHODS = ["simgc", "simmc"]
both = pytest.mark.parametrize("method", METHODS)
solvers = pytest.mark.parametrize("solver", ["direct", "impulses"])
H = 1e-3


def simulate(model, method, dt=H, solver="impulses", **options):
    """A simulation by either solver; options are those of impulses."""
    options = {"epsilon": 1e-12} | options if solver == "impulses" else {}
    return Simulation(model, method=method, solver=solver, dt=dt, **options)


def run(model, method, duration, dt=H, every=None, **options):
    return simulate(model, method, dt, **options).run(duration, every=every or dt)


# --- limits ---


@both
@solvers
def test_a_limit_holds_under_load_and_lets_go_at_once(method, solver):
    # Pushed up by 10 N for a second, then down.
    push = TorqueSource(
        "push", "rail", command=10.0, signal=Table((0.0, 1.0, 1.0, 2.0), (1.0, 1.0, -1.0, -1.0))
    )
    record = run(block(push, limits=(-10.0, 0.1)), method, 1.5, solver=solver)
    travel, rate = record["rail.travel"], record["rail.travel_rate"]
    # A load that jumps has no moment at which it is zero: the direct solver lets go within 1e-10 of it.
    assert travel.max() <= 0.1 + (1e-12 if solver == "impulses" else 1e-10)
    resting = (record.time > 0.3) & (record.time < 1.0)
    np.testing.assert_allclose(travel[resting], 0.1, atol=1e-12)
    np.testing.assert_allclose(rate[resting], 0.0, atol=1e-12)
    # No pull: from the step in which the load turns it falls freely.
    falling = record.time > 1.001
    start = np.flatnonzero(falling)[0]
    elapsed = record.time[falling] - record.time[start]
    np.testing.assert_allclose(rate[falling], rate[start] - 10.0 / M * elapsed, atol=1e-10)


@both
@solvers
def test_a_coordinate_between_its_limits_feels_nothing(method, solver):
    free = run(wheel(velocity=1.0), method, 0.9, solver=solver)
    bounded = run(wheel(velocity=1.0, limits=(-1.0, 1.0)), method, 0.9, solver=solver)
    np.testing.assert_array_equal(bounded["pin.angle"], free["pin.angle"])


@both
@pytest.mark.parametrize("share", [0.3, 0.7, 1.0])
def test_a_limit_gives_back_its_share_of_the_speed(method, share):
    record = run(block(gravity=10.0, limits=(-0.2, None), restitution=share), method, 1.0)
    rate = record["rail.travel_rate"]
    hits = np.flatnonzero((rate[:-1] < 0) & (rate[1:] > 0))
    assert len(hits) >= 1
    # One step earlier it still fell freely.
    np.testing.assert_allclose(rate[hits + 1], -share * rate[hits], rtol=1e-9)
    assert record["rail.travel"].min() >= -0.2 - 1e-9
    assert rate[hits[0]] == pytest.approx(-math.sqrt(2 * 10.0 * 0.2), abs=2 * H * 10.0)
    # What a hit takes: (1 - share²) of the kinetic energy.
    taken = 0.5 * M * ((1 - share**2) * rate[hits] ** 2).sum()
    assert record["energy.dissipated"][hits[-1] + 1] == pytest.approx(taken, abs=1e-9 + 2 * H * M * 10.0)


@both
@solvers
def test_a_bouncing_block_comes_to_rest_on_its_limit(method, solver):
    simulation = simulate(block(gravity=10.0, limits=(-0.05, None), restitution=0.5), method, solver=solver)
    record = simulation.run(2.0)
    resting = record.time > 1.0
    np.testing.assert_allclose(record["rail.travel"][resting], -0.05, atol=1e-9)
    np.testing.assert_allclose(record["rail.travel_rate"][resting], 0.0, atol=1e-9)


@both
@solvers
def test_equal_limits_lock_a_joint(method, solver):
    record = run(
        wheel(TorqueSource("push", "pin", command=5.0), limits=(0.0, 0.0)), method, 0.5, solver=solver
    )
    np.testing.assert_allclose(record["pin.angle"], 0.0, atol=1e-12)


@both
@solvers
def test_a_start_beyond_a_limit_is_led_back_without_speed(method, solver):
    record = run(wheel(position=0.3, limits=(-0.1, 0.2)), method, 0.1, solver=solver)
    assert record["pin.angle"][0] == pytest.approx(
        0.3 if solver == "impulses" else 0.2
    )  # at once, or in steps
    assert record["pin.angle"][-1] == pytest.approx(0.2, abs=1e-9)
    assert record["energy.kinetic"].max() < 1e-20


@both
@solvers
def test_limits_count_turns_from_where_a_joint_starts(method, solver):
    record = run(wheel(position=7.0, velocity=2.0, limits=(6.5, 7.5)), method, 1.0, solver=solver)
    assert record["pin.angle"][0] == pytest.approx(7.0)
    assert record["pin.angle"][-1] == pytest.approx(7.5, abs=1e-9)


def rotation_vectors(record, joint):
    q = np.stack([record[f"{joint}.q{c}"] for c in "wxyz"], axis=1)
    q *= np.sign(q[:, :1])
    sine = np.linalg.norm(q[:, 1:], axis=1, keepdims=True)
    return q[:, 1:] * 2 * np.arctan2(sine, q[:, :1]) / np.maximum(sine, 1e-300)


@pytest.mark.parametrize(
    ("method", "dt"), [("simgc", 1e-3), ("simgc", 1e-2), ("simmc", 1e-3), ("simmc", 5e-3)]
)
@solvers
def test_a_hitch_stays_within_the_limits_of_each_axis(method, solver, dt):
    record = Simulation(scene("hitch"), method=method, solver=solver, dt=dt).run(3.0, every=0.01)
    phi = np.abs(rotation_vectors(record, "hitch"))
    # Impulses: of second order, h² ω²/(2 erp) with ω < 6 rad/s; in the coordinates of a tree limits are kept better.
    # The direct solver finds where a limit is met to 1e-10 and then stays on it; only where events crowd, it takes a
    # step by impulses, whose corrections at large steps move limits beside those that are hit.
    bound = 1e-6 if method == "simgc" else dt**2 * 36.0 / (2 * ERP)
    if solver == "direct":
        bound = 1e-9 if dt == 1e-3 else 1e-6
    assert (phi - LIMITS).max() < bound
    for axis in range(3):
        assert np.sum(phi[:, axis] > LIMITS[axis] - 1e-3) > 3


@both
def test_a_closing_joint_bounces_off_its_limit(method):
    model = scene("double_four_bar", rate=2.0)
    closing = Simulation(model).system.cuts[0]
    joint = model.joints[closing]
    start = type(joint)(
        joint.name,
        joint.a,
        joint.b,
        at=joint.at,
        velocity=joint.velocity,
        limits=(-0.5, 0.5),
        restitution=0.6,
    )
    model.joints[closing] = start
    record = run(model, method, 0.6, epsilon=1e-10, iterations=5000)
    angle, rate = record[f"{closing}.angle"], record[f"{closing}.angle_rate"]
    hit = np.flatnonzero(rate[:-1] * rate[1:] < 0)[0]
    assert np.abs(angle).max() < 0.5 + 1e-4
    # Rates after a step are those of a pose one step ahead of where the hit was reckoned.
    assert rate[hit + 1] == pytest.approx(-0.6 * rate[hit], rel=0.02)


# --- dry friction ---


@both
@solvers
@pytest.mark.parametrize("share", [0.5, -0.99])
def test_friction_holds_below_its_threshold(method, solver, share):
    push = TorqueSource("push", "pin", command=share * 2.0)
    simulation = simulate(wheel(push, friction=2.0), method, solver=solver)
    simulation.step(1000)
    if method == "simgc":
        assert (simulation.v == 0.0).all()
        assert (simulation.q == 0.0).all()
    else:
        assert np.abs(simulation.v).max() < 1e-12


@solvers
def test_friction_holds_a_whole_chain_still(solver):
    simulation = Simulation(scene("chain5", friction=200.0), method="simgc", solver=solver)
    simulation.step(1000)
    # The direct solver takes accelerations, some 1e-15 of those that gravity wants to give, and projects rates.
    rate, place = (0.0, 0.0) if solver == "impulses" else (1e-24, 1e-15)
    assert np.abs(simulation.v).max() <= rate
    assert np.abs(simulation.q - simulation.system.q0).max() <= place


@both
@solvers
def test_friction_is_overcome_by_exactly_its_excess(method, solver):
    push = TorqueSource("push", "pin", command=3.0)
    record = run(wheel(push, friction=2.0), method, 0.5, solver=solver)
    np.testing.assert_allclose(record["pin.angle_rate"], (3.0 - 2.0) / I * record.time, atol=1e-9)


@both
@solvers
def test_friction_stops_a_wheel_and_keeps_it(method, solver):
    simulation = simulate(wheel(velocity=1.0, friction=2.0), method, solver=solver)
    record = simulation.run(1.0, every=H)
    moving = np.maximum(1.0 - 2.0 / I * record.time, 0.0)
    np.testing.assert_allclose(record["pin.angle_rate"], moving, atol=1e-9)
    assert record["energy.dissipated"][-1] == pytest.approx(0.5 * I, abs=1e-9)
    if method == "simgc":
        assert simulation.v[0] == 0.0
    angle = record["pin.angle"][-1]
    simulation.step(5000)
    assert simulation.run(H)["pin.angle"][-1] == pytest.approx(angle, abs=0 if method == "simgc" else 1e-12)


@both
@solvers
@pytest.mark.parametrize(("share", "slides"), [(0.99, False), (1.01, True)])
def test_a_block_slides_down_when_its_weight_exceeds_friction(method, solver, share, slides):
    weight = M * 10.0
    record = run(block(gravity=10.0, friction=weight / share), method, 0.2, solver=solver)
    expected = -(weight - weight / share) / M * 0.2 if slides else 0.0
    assert record["rail.travel_rate"][-1] == pytest.approx(expected, abs=1e-9)


@both
@solvers
def test_friction_and_damping_of_a_ball_act_on_its_angular_velocity(method, solver):
    # Spun about its own z axis, turned away from the axes of the ground: nothing else moves.
    turned = (math.cos(0.5), 0.3, math.sqrt(math.sin(0.5) ** 2 - 0.09), 0.0)
    for fields, rate in (
        ({"friction": 0.4}, 2.0 - 0.4 / I * 0.5),
        ({"damping": 0.4}, 2.0 * math.exp(-0.4 / I * 0.5)),
    ):
        model = Model("top", gravity=(0.0, 0.0, 0.0))
        model.add(Body("top", mass=1.0, inertia=(0.3, 0.3, I)))
        model.add(Spherical("ball", "ground", "top", position=turned, velocity=(0.0, 0.0, 2.0), **fields))
        record = run(model, method, 0.5, solver=solver)
        # Implicit Euler of the damper: first order, h c/(2 I) of the decay.
        assert record["ball.wz"][-1] == pytest.approx(rate, rel=1e-3)
        assert abs(record["ball.wx"][-1]) + abs(record["ball.wy"][-1]) < 1e-9


# --- springs ---


@both
@pytest.mark.parametrize("damping", [0.0, 3.0])
def test_a_soft_row_is_implicit_euler_to_the_last_digits(method, damping):
    k, rest = 400.0, 0.2
    record = run(wheel(spring=k, damping=damping, rest=rest, velocity=1.0), method, 0.5, dt=1e-2)
    q, v, h = 0.0, 1.0, 1e-2
    found = [(q, v)]
    for _ in range(50):
        v = (v - h * k / I * (q - rest)) / (1 + h * damping / I + h * h * k / I)
        q += h * v
        found.append((q, v))
    expected = np.array(found)
    np.testing.assert_allclose(record["pin.angle"], expected[:, 0], atol=1e-9)
    np.testing.assert_allclose(record["pin.angle_rate"], expected[:, 1], atol=1e-9)


@both
@solvers
@pytest.mark.parametrize("exponent", range(3, 13))
def test_a_torsion_bar_is_stable_at_any_stiffness_and_becomes_rigid(method, solver, exponent):
    stiffness = 10.0**exponent
    load = MASS * 9.81 * LENGTH / 2
    record = run(scene("torsion_bar", stiffness=stiffness), method, 3.0, dt=1e-2, solver=solver)
    angle = record["bar.angle"]
    # An undamped bar released at rest swings to twice its static deflection, a damped one less.
    assert np.abs(angle).max() <= 2 * load / stiffness * (1 + 1e-9)
    sag = -load / stiffness
    for _ in range(10):
        sag = -load * math.cos(sag) / stiffness
    # In maximal coordinates an angle is read from rotation matrices: rounding of some 1e-16 a step.
    assert angle[-1] == pytest.approx(sag, rel=1e-6, abs=1e-14 if method == "simgc" else 1e-13)
    assert np.abs(record["energy.kinetic"][-1]) < 1e-9


@both
@solvers
@pytest.mark.parametrize("exponent", [3, 6, 9, 12])
def test_a_spring_between_points_is_stable_at_any_stiffness(method, solver, exponent):
    stiffness = 10.0**exponent
    model = block(gravity=10.0)
    model.add(
        Spring("spring", "ground", "block", at_a=(0.0, 0.0, 1.0), at_b=(0.0, 0.0, 0.0), stiffness=stiffness)
    )
    record = run(model, method, 20.0, dt=1e-2, solver=solver)
    weight = M * 10.0
    assert np.abs(record["rail.travel"]).max() <= 2 * weight / stiffness * (1 + 1e-9)
    if (
        solver == "direct" and exponent == 3
    ):  # slow enough to be followed: it swings on, as nothing takes its energy
        swing = math.sqrt(stiffness / M)
        expected = -weight / stiffness * (1 - np.cos(swing * record.time))
        # Fourth order, h⁴ ω⁴ ω t of the amplitude over the times of a fifth derivative, 251/720 of Adams-Bashforth.
        error = (1e-2 * swing) ** 4 * swing * 20.0 * weight / stiffness
        np.testing.assert_allclose(record["rail.travel"], expected, atol=251 / 720 * error)
        return
    assert record["rail.travel"][-1] == pytest.approx(-weight / stiffness, rel=1e-6, abs=1e-14)


@both
@solvers
def test_stiff_springs_hold_a_loop_together(method, solver):
    # The closing hinge is replaced by a spring as stiff as steel: the same motion as with the hinge.
    rigid = run(scene("crank_rocker"), method, 0.2, epsilon=1e-9, solver=solver)
    model = scene("crank_rocker")
    at = model.joints["rocker"].at
    del model.joints["rocker"]
    for offset in ((0.0, 1.0, 0.0), (1.0, 0.0, 0.0)):
        anchor = tuple(np.add(at, offset))
        model.add(Spring(f"tie{offset[0]:.0f}", "ground", "lever", at_a=anchor, at_b=at, stiffness=1e8))
    soft = run(model, method, 0.2, epsilon=1e-9, solver=solver)
    np.testing.assert_allclose(soft["crank.angle"], rigid["crank.angle"], atol=2e-3)


# --- DC motor ---


def motor(voltage=1.0, gear=1.0, **fields):
    sheet = {"stall_torque": STALL, "idle_speed": IDLE, "time_constant": TIME_CONSTANT}
    return DCMotor("motor", "pin", **sheet, gear=gear, command=voltage, **fields)


def axle(*drives, inertia):
    """A body of hardly any inertia but that about its axle."""
    model = Model("axle", gravity=(0.0, 0.0, 0.0))
    model.add(Body("disc", mass=1e-3, inertia=(inertia, inertia, inertia)))
    model.add(Hinge("pin", "ground", "disc"))
    for drive in drives:
        model.add(drive)
    return model


ROTOR = STALL * TIME_CONSTANT / IDLE


@both
def test_a_motor_without_load_is_implicit_euler_exactly(method):
    h, voltage = 1e-3, 0.7
    record = run(axle(motor(voltage), inertia=1e-14), method, 0.05, dt=h)
    speed, expected = 0.0, [0.0]
    for _ in range(50):
        speed = (speed + h * voltage * IDLE / TIME_CONSTANT) / (1 + h / TIME_CONSTANT)
        expected.append(speed)
    np.testing.assert_allclose(record["pin.angle_rate"], expected, rtol=1e-8)


@both
@pytest.mark.parametrize("gear", [GEAR, -GEAR, 1.0])
def test_a_motor_with_gear_and_load_is_implicit_euler_exactly(method, gear):
    h, voltage = 5e-3, 0.4
    record = run(wheel(motor(voltage, gear), velocity=-1.0), method, 0.25, dt=h)
    inertia = I + gear**2 * ROTOR
    rate, expected = -1.0, [-1.0]
    for _ in range(50):
        rate = (inertia * rate + h * gear * STALL * voltage) / (inertia + h * gear**2 * STALL / IDLE)
        expected.append(rate)
    np.testing.assert_allclose(record["pin.angle_rate"], expected, atol=1e-8)


@both
def test_a_motor_runs_up_exponentially_to_its_idle_speed(method):
    errors = []
    for h in (2e-4, 1e-4):
        record = run(axle(motor(0.5), inertia=1e-14), method, 0.04, dt=h)
        exact = 0.5 * IDLE * (1 - np.exp(-record.time / TIME_CONSTANT))
        errors.append(np.abs(record["pin.angle_rate"] - exact).max() / IDLE)
    assert errors[0] < 0.5 * 2e-4 / TIME_CONSTANT
    assert orders(errors) == pytest.approx(1.0, abs=0.1)


@both
@solvers
def test_a_load_slows_the_run_up_by_its_share_of_the_inertia(method, solver):
    constant = TIME_CONSTANT * (1 + I / (GEAR**2 * ROTOR))
    record = run(wheel(motor(1.0, GEAR)), method, 1.0, solver=solver)
    exact = IDLE / GEAR * (1 - np.exp(-record.time / constant))
    np.testing.assert_allclose(record["pin.angle_rate"], exact, atol=0.5 * H / constant * IDLE / GEAR)
    assert record["pin.angle_rate"][-1] == pytest.approx(
        IDLE / GEAR * (1 - math.exp(-1.0 / constant)), rel=1e-3
    )


@both
@solvers
def test_a_constant_load_lowers_the_speed_along_the_characteristic(method, solver):
    load = 30.0
    record = run(
        wheel(motor(0.8, GEAR), TorqueSource("load", "pin", command=-load)),
        method,
        3.0,
        dt=1e-2,
        solver=solver,
    )
    expected = IDLE * (0.8 - load / (GEAR * STALL)) / GEAR
    assert record["pin.angle_rate"][-1] == pytest.approx(expected, rel=1e-6)


@both
@solvers
def test_a_stalled_motor_pushes_with_its_stall_torque(method, solver):
    # At rest, friction of just more than gear times stall torque holds it.
    torque = GEAR * STALL
    for friction, moves in ((1.001 * torque, False), (0.999 * torque, True)):
        record = run(wheel(motor(1.0, GEAR), friction=friction), method, 0.1, solver=solver)
        assert (abs(record["pin.angle_rate"][-1]) > 1e-6) == moves


@both
@solvers
def test_a_motor_is_stable_at_any_step(method, solver):
    record = run(axle(motor(1.0), inertia=1e-14), method, 10.0, dt=1.0, solver=solver)
    rate = record["pin.angle_rate"]
    assert (np.diff(rate) >= -1e-6 * IDLE).all()
    # The stages of Runge-Kutta, each with an implicit force, leave this share of the difference in a step.
    z = 1.0 / (1.0 + TIME_CONSTANT)
    left = 0.0 if solver == "impulses" else 1 - z + z**2 / 2 - z**3 / 6 + z**4 / 24
    assert rate[-1] == pytest.approx(IDLE, rel=1e-6 + left**10)


@both
@solvers
def test_the_voltage_of_a_motor_is_bounded(method, solver):
    full, more = (run(wheel(motor(u, GEAR)), method, 0.2, solver=solver)["pin.angle"] for u in (1.0, 5.0))
    np.testing.assert_array_equal(full, more)


# --- servos ---


@both
@solvers
def test_a_velocity_servo_keeps_its_rate_from_the_first_step(method, solver):
    servo = VelocityServo("servo", "pin", command=3.0)
    record = run(wheel(servo, TorqueSource("load", "pin", command=-50.0)), method, 0.1, solver=solver)
    np.testing.assert_allclose(record["pin.angle_rate"][1:], 3.0, atol=1e-9)


@both
@solvers
def test_a_velocity_servo_is_as_strong_as_it_is(method, solver):
    servo = VelocityServo("servo", "pin", command=3.0, strength=4.0)
    record = run(wheel(servo), method, 0.6, solver=solver)
    np.testing.assert_allclose(record["pin.angle_rate"], np.minimum(4.0 / I * record.time, 3.0), atol=1e-9)
    # A load beyond its strength drags it back.
    record = run(wheel(servo, TorqueSource("load", "pin", command=-5.0)), method, 0.6, solver=solver)
    np.testing.assert_allclose(record["pin.angle_rate"], (4.0 - 5.0) / I * record.time, atol=1e-9)


@both
@solvers
def test_a_position_servo_is_a_spring_towards_its_command(method, solver):
    servo = PositionServo("servo", "pin", stiffness=200.0, damping=12.0, command=0.5)
    driven = run(wheel(servo), method, 1.0, solver=solver)
    sprung = run(wheel(spring=200.0, damping=12.0, rest=0.5), method, 1.0, solver=solver)
    np.testing.assert_allclose(driven["pin.angle"], sprung["pin.angle"], atol=1e-9)
    assert driven["pin.angle"][-1] == pytest.approx(0.5, abs=1e-4)


@both
@solvers
def test_a_position_servo_is_as_strong_as_it_is(method, solver):
    servo = PositionServo("servo", "pin", stiffness=1e4, damping=100.0, command=10.0, strength=2.0)
    record = run(wheel(servo), method, 0.5, solver=solver)
    np.testing.assert_allclose(record["pin.angle_rate"], 2.0 / I * record.time, atol=1e-9)


# --- torque source ---


def constant_torque(t, x, v, parameters, out):
    out[0] = parameters[0]


@both
@solvers
def test_a_torque_source_accelerates_exactly(method, solver):
    record = run(wheel(TorqueSource("push", "pin", command=1.5)), method, 0.5, solver=solver)
    np.testing.assert_allclose(record["pin.angle_rate"], 1.5 / I * record.time, atol=1e-9)


def test_a_torque_source_equals_a_joint_function():
    source = scene("chain5")
    source.add(TorqueSource("push", "joint3", command=5.0))
    function = scene("chain5")
    function.add(JointFunction("push", "joint3", constant_torque, parameters=(5.0,)))
    ends = [run(model, "simgc", 0.5).array("coordinates")[-1] for model in (source, function)]
    # The same step, added up in another order; the chain enlarges rounding a few times.
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-12)


def test_a_torque_source_on_a_ball_equals_a_joint_function():
    ends = []
    for push in (
        lambda ball: TorqueSource("push", ball, coordinate="wx", command=2.0),
        lambda ball: JointFunction("push", ball, constant_torque, parameters=(2.0,)),
    ):
        model = scene("spherical_pendulum")
        ball = next(name for name, joint in model.joints.items() if isinstance(joint, Spherical))
        model.add(push(ball))
        ends.append(run(model, "simgc", 0.5).array("coordinates")[-1])
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-12)


# --- commands ---


@both
@solvers
def test_a_signal_scales_a_command_over_time(method, solver):
    servo = VelocityServo("servo", "pin", command=2.0, signal=Sine(1.5, phase=0.3, offset=0.5))
    record = run(wheel(servo), method, 1.0, solver=solver)
    expected = 2.0 * (0.5 + np.sin(2 * np.pi * 1.5 * record.time + 0.3))
    np.testing.assert_allclose(record["pin.angle_rate"][1:], expected[1:], atol=1e-9)


@both
@solvers
def test_commands_can_be_given_while_running(method, solver):
    simulation = simulate(wheel(VelocityServo("servo", "pin", command=1.0)), method, solver=solver)
    rates = []
    for command in (1.0, -2.0, 0.0):
        simulation.command("servo", command)
        rates.append(simulation.run(0.1)["pin.angle_rate"][-1])
    np.testing.assert_allclose(rates, [1.0, -2.0, 0.0], atol=1e-9)
    simulation.reset()
    assert simulation.run(0.1)["pin.angle_rate"][-1] == pytest.approx(1.0)


@both
@solvers
def test_a_callback_can_steer(method, solver):
    """A servo written by the user: a command each 10 ms from the angle that was reached."""
    simulation = simulate(block(TorqueSource("push", "rail"), gravity=10.0), method, solver=solver)

    def steer(sim):
        sim.command("push", M * 10.0 if sim.time < 0.5 else 0.0)

    record = simulation.run(1.0, callbacks=[(0.01, steer)])
    # Free fall in the first 10 ms and from 0.5 s on.
    assert record["rail.travel_rate"][-1] == pytest.approx(-10.0 * (0.01 + 0.5), abs=1e-9)


def test_commands_to_nobody_are_refused():
    simulation = Simulation(wheel(VelocityServo("servo", "pin")))
    with pytest.raises(LinkworkError, match="did you mean 'servo'"):
        simulation.command("servoo", 1.0)
    with pytest.raises(LinkworkError, match="finite"):
        simulation.command("servo", math.nan)
    with pytest.raises(LinkworkError, match="no drive"):
        Simulation(scene("chain5")).command("servo", 1.0)


# --- repeater ---


@both
@solvers
@pytest.mark.parametrize("ratio", [-1.0, 1.0, 0.5])
def test_jaws_move_together_and_stop_together(method, solver, ratio):
    record = Simulation(scene("jaws", ratio=ratio), method=method, solver=solver).run(3.0)
    left, right = record["left.travel"], record["right.travel"]
    np.testing.assert_allclose(right, ratio * left, atol=1e-6)
    # The right jaw meets something after 3 cm, or the motor ends at 4 cm.
    assert left.max() == pytest.approx(min(0.03 / abs(ratio), 0.04), abs=1e-3)
    assert np.abs(right).max() < 0.03 + 1e-6


@both
@solvers
def test_a_repeater_shares_inertia_and_load(method, solver):
    # Two wheels, the second turning ratio times as fast: I + ratio² I behind the first.
    ratio = 3.0
    model = wheel(TorqueSource("push", "pin", command=2.0))
    model.add(Body("other", at=(1.0, 0.0, 0.0), mass=1.0, inertia=(0.3, 0.4, I)))
    model.add(Hinge("pin2", "ground", "other", at=(1.0, 0.0, 0.0)))
    model.add(Repeater("gear", "pin2", "pin", ratio=ratio))
    record = run(model, method, 0.5, solver=solver)
    np.testing.assert_allclose(record["pin.angle_rate"], 2.0 / (I + ratio**2 * I) * record.time, atol=1e-8)
    np.testing.assert_allclose(record["pin2.angle"], ratio * record["pin.angle"], atol=1e-8)


@both
@solvers
def test_a_repeater_couples_closing_joints(method, solver):
    """A lever follows the rocker, whose hinge closes a loop, twice as far; both start as they stand."""
    model = scene("crank_rocker")
    assert Simulation(model).system.cuts == ("rocker",)
    model.add(Body("follower", at=(1.0, 0.0, 0.0), mass=0.2, inertia=(0.01, 0.01, 0.01)))
    model.add(Hinge("follow", "ground", "follower", at=(1.0, 0.0, 0.0), position=0.4))
    model.add(Repeater("link", "follow", "rocker", ratio=2.0))
    record = run(model, method, 1.0, epsilon=1e-8, solver=solver)
    assert np.ptp(record["rocker.angle"]) > 0.3
    np.testing.assert_allclose(record["follow.angle"] - 0.4, 2.0 * record["rocker.angle"], atol=1e-5)


# --- rotors ---


@both
@solvers
def test_a_rotor_is_felt_wherever_its_joint_stands(method, solver):
    model = wheel(armature=1.5)
    model.add(Torque("push", "wheel", torque=(0.0, 0.0, 2.0)))
    record = run(model, method, 0.5, solver=solver)
    np.testing.assert_allclose(record["pin.angle_rate"], 2.0 / (I + 1.5) * record.time, atol=1e-9)


# --- energy ---


@both
@pytest.mark.parametrize(
    ("name", "parameters", "duration"),
    [
        ("chain5", {"friction": 1.0}, 0.5),
        ("crank_rocker", {}, 0.5),
        ("torsion_bar", {"damping": 1.0}, 0.5),
        ("jaws", {}, 0.9),
        ("peaucellier", {}, 0.3),
    ],
)
def test_the_energy_balance_is_of_first_order(method, name, parameters, duration):
    drifts = []
    for h in (1e-3, 5e-4):
        simulation = simulate(scene(name, **parameters), method, h, epsilon=1e-8)
        drifts.append(simulation.run(duration).energy_drift)
    assert orders(drifts) > 0.7


@both
@solvers
def test_work_of_drives_and_friction_is_accounted_exactly(method, solver):
    record = run(wheel(TorqueSource("push", "pin", command=3.0), friction=2.0), method, 1.0, solver=solver)
    angle = record["pin.angle"][-1]
    # Torque times angle, the angle of the rule being half a step ahead: 1 + h/t.
    assert record["energy.supplied"][-1] == pytest.approx(3.0 * angle, rel=2e-3)
    assert record["energy.dissipated"][-1] == pytest.approx(2.0 * angle, rel=2e-3)
    assert record.energy_drift < 1e-8


@both
@solvers
def test_a_motor_pays_for_what_it_moves(method, solver):
    record = run(wheel(motor(1.0, GEAR), friction=5.0), method, 1.0, solver=solver)
    supplied = record["energy.supplied"][-1]
    assert supplied > 10.0
    # Impulses act on mean velocities: no drift but rounding. Adams: (h/T)⁴ with the time constant under load.
    constant = TIME_CONSTANT * (1 + I / (GEAR**2 * ROTOR))
    assert record.energy_drift < (1e-7 if solver == "impulses" else (H / constant) ** 4 * supplied)


# --- state on disk ---


@both
@solvers
@pytest.mark.parametrize("name", ["chain5", "peaucellier", "hitch", "crank_rocker", "jaws"])
def test_a_resumed_run_goes_on_bit_by_bit(method, solver, name, tmp_path):
    def make():
        model = scene(name, **({"friction": 1.0} if name == "chain5" else {}))
        return Simulation(model, method=method, solver=solver)

    whole, half = make(), make()
    for simulation in (whole, half):
        simulation.step(150)
        if name == "crank_rocker":
            simulation.command("motor", -0.3)
    half.save_state(tmp_path / "state.npz")
    resumed = make()
    resumed.load_state(tmp_path / "state.npz")
    for simulation in (whole, resumed):
        simulation.step(150)
    np.testing.assert_array_equal(resumed.q, whole.q)
    np.testing.assert_array_equal(resumed.v, whole.v)
    assert resumed.work == whole.work
    assert resumed.time == whole.time
    assert resumed.method.report() == whole.method.report()
