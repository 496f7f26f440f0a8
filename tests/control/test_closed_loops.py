"""Diagrams around a mechanism: closed loops against the responses of their transfer functions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import signal

from helpers.diagrams import bench
from helpers.runs import orders
from linkwork import Body, DCMotor, Hinge, Model, Simulation, VelocityServo
from linkwork.control.blocks.actuators import DriveCommand
from linkwork.control.blocks.continuous import ContinuousPID
from linkwork.control.blocks.mathematics import Formula, Sum
from linkwork.control.blocks.sampled import SampledPID
from linkwork.control.blocks.sources import SineWave, Step

LOAD, STALL, IDLE, LAG, GEAR, DAMPING = 0.8, 0.4, 300.0, 0.02, 50.0, 0.3
KP, KI, KD, FILTER = 1.2, 0.8, 0.15, 0.02
WISH = 0.1


def joint_with_motor(*blocks) -> Model:
    """A load on a hinge, turned by a DC motor behind a gear."""
    model = Model("joint", gravity=(0.0, 0.0, 0.0))
    model.add(Body("load", mass=1.0, inertia=(LOAD, LOAD, LOAD)))
    model.add(Hinge("axis", "ground", "load", axis=(0, 0, 1), damping=DAMPING))
    model.add(DCMotor("motor", "axis", stall_torque=STALL, idle_speed=IDLE, time_constant=LAG, gear=GEAR))
    for block in blocks:
        model.add(block)
    return model


def response(t):
    """Of the closed loop to a step, from its transfer function."""
    inertia = LOAD + GEAR**2 * STALL * LAG / IDLE
    losses = DAMPING + GEAR**2 * STALL / IDLE
    plant_top, plant_below = np.array([GEAR * STALL]), np.array([inertia, losses, 0.0])
    # kp + ki/s + kd s/(1 + T s) over the common denominator s (1 + T s)
    law_below = np.array([FILTER, 1.0, 0.0])
    law_top = np.polyadd(np.polyadd(KP * law_below, KI * np.array([FILTER, 1.0])), np.array([KD, 0.0, 0.0]))
    top, below = np.polymul(plant_top, law_top), np.polymul(plant_below, law_below)
    return WISH * signal.step(signal.TransferFunction(top, np.polyadd(top, below)), T=t)[1]


@pytest.mark.parametrize("integrator", ["rk4", "adams", "adaptive"])
def test_motor_gear_and_controller_have_the_response_of_their_transfer_function(integrator):
    law = ContinuousPID(
        "law", "wish", "axis.angle", proportional=KP, integral=KI, derivative=KD, filter_time=FILTER
    )
    model = joint_with_motor(
        Step("wish", at=0.0, after=WISH, unit="rad"), law, DriveCommand("act", "motor", "law")
    )
    options = {"tolerance": 1e-11} if integrator == "adaptive" else {}
    record = Simulation(model, integrator=integrator, dt=5e-4, **options).run(2.0, every=0.05)
    # The fastest pole is near 60/s: (60 h)⁴ = 8e-7 of the fastest part, which has gone after some 0.1 s; the constant
    # of Adams' method is 251/720 instead of 1/120. What were taken implicitly
    # would show as an error of first order, 1e-3.
    tolerance = {"rk4": 2e-9, "adams": 1e-7, "adaptive": 1e-9}[integrator]
    assert np.abs(record["axis.angle"] - response(record.time)).max() < tolerance
    assert np.abs(record["law.out"]).max() < 1.0  # the motor stays within its voltage


def test_a_digital_controller_is_the_discrete_loop_to_the_mechanics_accuracy():
    """Between instants the plant is x' = A x + B u with u held: its exact discrete form, sample by sample."""
    T = 0.02
    law = SampledPID("law", "wish", "axis.angle", T, proportional=0.5, derivative=0.03)
    model = joint_with_motor(Step("wish", at=0.0, after=WISH), law, DriveCommand("act", "motor", "law"))
    record = Simulation(model, integrator="rk4", dt=1e-3).run(2.0, every=T)
    inertia = LOAD + GEAR**2 * STALL * LAG / IDLE
    losses = DAMPING + GEAR**2 * STALL / IDLE
    A, B = np.array([[0.0, 1.0], [0.0, -losses / inertia]]), np.array([[0.0], [GEAR * STALL / inertia]])
    F, G, *_ = signal.cont2discrete((A, B, np.eye(2), np.zeros((2, 1))), T)
    x, before, angles = np.zeros(2), None, []
    for _ in record.time:
        angles.append(x[0])
        error = WISH - x[0]
        slope = 0.0 if before is None else (error - before) / T
        before = error
        x = F @ x + G[:, 0] * (0.5 * error + 0.03 * slope)
    assert np.abs(record["axis.angle"] - angles).max() < 1e-9


def test_energy_is_audited_with_a_diagram():
    model = joint_with_motor(
        Step("wish", at=0.0, after=WISH),
        Sum("error", ("wish", "-axis.angle")),
        DriveCommand("act", "motor", "error"),
    )
    record = Simulation(model, integrator="rk4", dt=1e-3).run(1.0)
    assert abs(record.energy_drift) < 1e-9


def test_a_servo_keeps_the_rate_that_blocks_tell_it_at_the_order_of_the_integrator():
    """A mass whose rate is told as v = sin 3t by a sine, and one of its own place: exact places, fourth order."""

    def off(dt):
        model = bench()
        model.drives.clear()
        model.add(VelocityServo("keeper", "rail"))
        model.add(SineWave("wave", 3.0 / (2.0 * np.pi)))
        model.add(Formula("law", "wave - rail.travel", unit="m/s"))
        model.add(DriveCommand("act", "keeper", "law"))
        record = Simulation(model, method="simgc", integrator="rk4", dt=dt).run(1.0, every=0.04)
        # x' = sin 3t - x, x(0) = 0
        t = record.time
        want = (np.sin(3 * t) - 3 * np.cos(3 * t) + 3 * np.exp(-t)) / 10
        return np.abs(record["rail.travel"] - want).max()

    errors = [off(dt) for dt in (0.04, 0.02, 0.01)]
    assert min(orders(errors)) > 3.5, errors
