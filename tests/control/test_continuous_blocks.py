"""Continuous blocks against responses that SciPy computes exactly, by matrix exponentials.

Steps of Runge-Kutta of order four, 1 ms: with poles up to 20/s the error of a step is (20e-3)⁵/120 = 3e-11 of the
response, damped as fast as it is made, so that 1e-9 holds for all times.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import signal

from helpers.diagrams import run
from helpers.runs import orders
from linkwork.control.blocks.continuous import (
    ContinuousPID,
    FirstOrder,
    Integrator,
    StateSpace,
    TransferFunction,
)
from linkwork.control.blocks.nonlinear import RateLimit
from linkwork.control.blocks.sources import Chirp, Constant, Ramp, SineWave, Step, TimeTable

CLOSE = 1e-9


def response(numerator, denominator, t):
    return signal.step(signal.TransferFunction(numerator, denominator), T=t)[1]


@pytest.mark.parametrize(
    ("numerator", "denominator"),
    [
        ((1.0,), (1.0, 3.0)),
        ((2.0, 1.0), (1.0, 3.0)),
        ((5.0,), (1.0, 2.0, 25.0)),
        ((1.0, 4.0), (2.0, 6.0, 40.0)),
        ((1.0, 0.0, 2.0), (1.0, 3.0, 9.0)),
        ((1.0, 2.0, 3.0), (1.0, 6.0, 11.0, 6.0)),
        ((3.0, 0.0, 0.0, 1.0), (1.0, 8.0, 50.0, 100.0)),
        ((7.0,), (2.0,)),
    ],
    ids=str,
)
def test_transfer_functions_have_the_step_response_of_scipy(numerator, denominator):
    record = run(
        Step("wish", at=0.0),
        TransferFunction("plant", "wish", numerator, denominator),
        duration=3.0,
        every=0.1,
    )
    want = (
        response(numerator, denominator, record.time)
        if len(denominator) > 1
        else numerator[0] / denominator[0] + 0 * record.time
    )
    assert np.abs(record["plant.out"] - want).max() < CLOSE


def test_a_step_within_a_step_of_the_integrator_is_met_exactly():
    record = run(
        Step("wish", at=0.51234567), FirstOrder("lag", "wish", 0.2, gain=3.0), duration=2.0, every=0.1
    )
    after = np.maximum(record.time - 0.51234567, 0.0)
    assert np.abs(record["lag.out"] - 3.0 * (1.0 - np.exp(-after / 0.2))).max() < CLOSE


def test_state_space_blocks_with_several_outputs():
    A, B = ((0.0, 1.0, 0.0), (-4.0, -1.0, 2.0), (0.0, -1.0, -3.0)), ((0.0,), (1.0,), (0.5,))
    C, D = ((1.0, 0.0, 0.0), (0.0, 1.0, 1.0)), ((0.0,), (2.0,))
    record = run(Constant("one", 1.0), StateSpace("plant", ("one",), A, B, C, D), duration=3.0, every=0.1)
    _, want = signal.step(signal.StateSpace(A, B, C, D), T=record.time)
    found = np.column_stack([record["plant.y0"], record["plant.y1"]])
    assert np.abs(found - np.reshape(want, found.shape)).max() < CLOSE


def test_pid_is_its_transfer_function():
    kp, ki, kd, filter_time = 2.0, 3.0, 0.4, 0.1
    record = run(
        Step("wish", at=0.0),
        ContinuousPID(
            "pid", "wish", 0.0, proportional=kp, integral=ki, derivative=kd, filter_time=filter_time
        ),
        duration=2.0,
        every=0.05,
    )
    # (kp + ki/s + kd s/(1 + T s)) 1/s, by hand.
    want = kp + ki * record.time + kd / filter_time * np.exp(-record.time / filter_time)
    assert np.abs(record["pid.out"] - want)[1:].max() < CLOSE


def test_pid_does_not_wind_up():
    """Saturated for 2 s: by back-calculation the integral follows the bound, and comes back at once."""
    made = ContinuousPID(
        "pid", "wish", 0.0, proportional=1.0, integral=2.0, low=-1.0, high=1.0, tracking_time=0.2
    )
    record = run(TimeTable("wish", (0.0, 2.0, 2.0), (3.0, 3.0, -0.1)), made, duration=4.0, every=0.01)
    # At the bound: I' = ki e + (1 - kp e - I)/Tt, so I → 1 - kp e + Tt ki e = -0.8 with e = 3.
    t = record.time
    integral = -0.8 + 0.8 * np.exp(-t / 0.2)
    assert np.all(record["pid.out"][t < 2.0] == 1.0)
    # From then on e = -0.1; what is wished, e + I = -0.9, is within the bounds: I' = ki e.
    wish = -0.1 + integral[t < 2.0][-1] - 0.2 * (t - 2.0)
    free = (t > 2.0) & (wish > -1.0)
    start = -0.8 + 0.8 * np.exp(-2.0 / 0.2)
    assert np.abs(record["pid.out"][free] - (-0.1 + start - 0.2 * (t[free] - 2.0))).max() < CLOSE


def test_integrators_stop_at_their_bounds_and_come_back():
    """∫ cos t between -0.5 and 0.5: at the bound from t = π/6 until cos changes its sign at π/2."""
    record = run(
        SineWave("wave", 1.0 / (2.0 * np.pi), phase=np.pi / 2),
        Integrator("sum", "wave", low=-0.5, high=0.5),
        duration=6.0,
        every=0.05,
    )
    t = record.time
    high, low = 0.5, -0.5
    want = np.where(t < np.pi / 6, np.sin(t), high)
    down = (t > np.pi / 2) & (np.sin(t) - 0.5 > low)
    want = np.where(t > np.pi / 2, np.maximum(np.sin(t) - 0.5, low), want)
    back = t > 1.5 * np.pi
    want = np.where(back, np.minimum(low + np.sin(t) + 1.0, high), want)
    assert down.any()
    assert back.any()
    assert np.abs(record["sum.out"] - want).max() < CLOSE


def test_a_rate_limit_rises_no_faster_than_it_may():
    """T y' = 1 - y once that is less than the rate 2: until y = 1 - 2 T it rises evenly."""
    lag, rate = 0.1, 2.0
    record = run(
        Constant("wish", 1.0), RateLimit("slow", "wish", rate, time_constant=lag), duration=1.5, every=0.05
    )
    t, meet = record.time, (1.0 - rate * lag) / rate
    want = np.where(t < meet, rate * t, 1.0 - rate * lag * np.exp(-np.maximum(t - meet, 0.0) / lag))
    assert np.abs(record["slow.out"] - want).max() < CLOSE


def test_sources_over_time():
    record = run(
        Ramp("ramp", slope=2.0, begin=0.3, end=0.8, offset=1.0),
        SineWave("wave", 2.0, amplitude=3.0, phase=0.5, offset=-1.0),
        Chirp("chirp", 1.0, 5.0, 0.8, amplitude=2.0),
        TimeTable("saw", (0.1, 0.3, 0.5), (0.0, 1.0, 0.0), repeats=True),
        Integrator("area", "ramp"),
        duration=1.2,
        every=0.05,
    )
    t = record.time
    ramp = 1.0 + 2.0 * np.clip(t - 0.3, 0.0, 0.5)
    assert np.abs(record["ramp.out"] - ramp).max() < 1e-14
    assert np.abs(record["wave.out"] - (3.0 * np.sin(4.0 * np.pi * t + 0.5) - 1.0)).max() < 1e-13
    early = np.minimum(t, 0.8)
    turns = early * (1.0 + 2.0 * early / 0.8) + 5.0 * np.maximum(t - 0.8, 0.0)
    assert np.abs(record["chirp.out"] - 2.0 * np.sin(2.0 * np.pi * turns)).max() < 1e-12
    local = np.where(t < 0.1, 0.1, 0.1 + (t - 0.1) % 0.4)
    middle = np.abs((t - 0.1) % 0.4) > 1e-9  # at the seam rounding decides
    saw = 1.0 - np.abs(local - 0.3) / 0.2
    assert np.abs(record["saw.out"] - saw)[middle].max() < 1e-12
    rise = np.clip(t - 0.3, 0.0, 0.5)
    area = t + rise**2 + 2.0 * 0.5 * np.maximum(t - 0.8, 0.0)
    assert np.abs(record["area.out"] - area).max() < CLOSE  # corners end steps: exact but for rounding


def test_states_have_the_order_of_the_integrator():
    """An oscillator of states alone: order four at halved steps."""

    def end(dt):
        blocks = (
            Integrator("x", "v", start=1.0),
            Integrator("v", "x", gain=-900.0),
        )
        return run(*blocks, duration=1.0, every=1.0, dt=dt)["x.out"][-1]

    errors = [abs(end(dt) - np.cos(30.0)) for dt in (4e-3, 2e-3, 1e-3)]
    assert orders(errors) == pytest.approx([4.0, 4.0], abs=0.15)


def test_adaptive_steps_watch_states_of_blocks():
    """Nothing moves but a diagram: its local error alone sets the steps."""
    record = run(
        Step("wish", at=0.1),
        TransferFunction("plant", "wish", (400.0,), (1.0, 4.0, 400.0)),
        duration=1.0,
        every=0.1,
        integrator="adaptive",
        tolerance=1e-10,
    )
    t = np.maximum(record.time - 0.1, 0.0)
    want = np.array([response((400.0,), (1.0, 4.0, 400.0), np.array([0.0, x]))[-1] if x else 0.0 for x in t])
    assert np.abs(record["plant.out"] - want).max() < 1e-8  # some hundred steps of 1e-10
