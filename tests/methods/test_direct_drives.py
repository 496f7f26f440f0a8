"""Drives in the direct solver: servos that are too weak, motors, stiff springs, commands over time."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

from helpers.one_dof import I, wheel
from helpers.parallelogram import JOINTS, anywhere, exactly, parallelogram
from helpers.runs import both, direct, explicit, orders
from linkwork import Sine, Table, scene
from linkwork.engine.elements import DCMotor, PositionServo, TorqueSource, VelocityServo
from linkwork.scenes.crank_rocker import GEAR, IDLE, STALL, TIME_CONSTANT

TURNED = 3.0


# --- velocity servos ---


@explicit
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


@explicit
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
        # By Adams' method: Runge-Kutta's error is less than that of an event's place at all of these steps.
        simulation = direct(wheel(servo, load, velocity=3.0), method, integrator="adams", dt=h)
        record = simulation.run(0.6, every=1e-2, reactions=False)
        t = record.time
        exact = np.where((t > slips) & (t < caught), 3.0 + slip(t), 3.0)
        errors.append(np.abs(record["pin.angle_rate"] - exact).max())
        assert record.info["events"] == 2
    np.testing.assert_allclose(orders(errors), 4.0, atol=0.2)


@explicit
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
