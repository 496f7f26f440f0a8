"""Drives and couplings as rows, against formulas that hold to the last digits.

By impulses, a mechanism of one degree of freedom needs one impulse a step: what a row does is then exact, whatever
epsilon is. In maximal coordinates the equations of the joint are solved beside it, to about epsilon. The direct solver
is exact in both, and of fourth order where there are no steps to compare with.
"""

import math

import numpy as np
import pytest

from helpers.one_dof import I, M, block, wheel
from helpers.rough_runs import H, run, simulate, solvers
from helpers.runs import both, orders
from linkwork import (
    Body,
    Hinge,
    JointFunction,
    LinkworkError,
    Model,
    Simulation,
    Sine,
    Spherical,
    Torque,
    scene,
)
from linkwork.engine.elements import DCMotor, PositionServo, Repeater, TorqueSource, VelocityServo
from linkwork.scenes.crank_rocker import GEAR, IDLE, STALL, TIME_CONSTANT

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
