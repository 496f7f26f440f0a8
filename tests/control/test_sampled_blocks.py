"""Sampled blocks: the same bits as their formulas give in plain Python and SciPy's filters in C."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import signal

from helpers.diagrams import run, simulation
from linkwork.control.blocks.sampled import (
    Delay,
    Hold,
    MovingAverage,
    SampledPID,
    SampledStateSpace,
    SampledTransferFunction,
)
from linkwork.control.blocks.sources import Clock, Noise, SineWave

T = 0.01
WAVE = SineWave("wave", 1.7, amplitude=2.0, phase=0.3, offset=0.1)


def sampled(*blocks, **options):
    """Record of 0.5 s with a sample at every instant."""
    return run(WAVE, *blocks, duration=0.5, every=T, dt=0.5 * T, **options)


@pytest.mark.parametrize("integrator", ["rk4", "adams", "adaptive"])
def test_a_hold_is_its_input_at_the_instant(integrator):
    record = sampled(Hold("hold", "wave", T), integrator=integrator)
    assert np.array_equal(record["hold.out"], record["wave.out"])


def test_between_instants_outputs_are_held():
    record = run(WAVE, Hold("hold", "wave", 0.1), duration=0.5, every=0.01)
    held = record["hold.out"].copy()
    wave = record["wave.out"]
    instants = np.arange(0, len(held) - 1, 10)
    for k in instants:
        assert np.all(held[k : k + 10] == wave[k])


@pytest.mark.parametrize(
    ("numerator", "denominator"),
    [
        ((0.2, 0.1), (1.0, -0.7)),
        ((1.0,), (1.0, -0.5)),
        ((0.0675, 0.1349, 0.0675), (1.0, -1.143, 0.4128)),
        ((0.3, 0.2, 0.1), (1.0, -0.2, 0.3, 0.05)),
        ((0.5,), (1.0,)),
    ],
    ids=str,
)
def test_transfer_functions_have_the_bits_of_scipy(numerator, denominator):
    record = sampled(SampledTransferFunction("filter", "wave", T, numerator, denominator))
    b = [0.0] * (len(denominator) - len(numerator)) + list(numerator)
    want = signal.lfilter(b, denominator, record["wave.out"])
    assert np.array_equal(record["filter.out"], want)


def test_state_space_has_the_bits_of_its_formula():
    A, B = ((0.9, 0.1), (-0.2, 0.7)), ((0.5,), (1.0,))
    C, D = ((1.0, 2.0), (0.0, 1.0)), ((0.3,), (0.0,))
    record = sampled(SampledStateSpace("plant", ("wave",), T, A, B, C, D, start=(1.0, -1.0)))
    x = [1.0, -1.0]
    for k, u in enumerate(record["wave.out"]):
        assert record["plant.y0"][k] == (C[0][0] * x[0] + C[0][1] * x[1]) + D[0][0] * u
        assert record["plant.y1"][k] == x[1]
        x = [(A[i][0] * x[0] + A[i][1] * x[1]) + B[i][0] * u for i in range(2)]


def test_pid_has_the_bits_of_its_formula():
    kp, ki, kd, lag, low, high = 2.0, 5.0, 0.05, 0.02, -4.0, 3.5
    record = sampled(
        SampledPID(
            "pid", "wave", 0.25, T, proportional=kp, integral=ki, derivative=kd, filter_time=lag, low=low,
            high=high,
        )
    )  # fmt: skip
    total, before, slope = 0.0, None, 0.0
    bound = 0
    for k, u in enumerate(record["wave.out"]):
        error = u - 0.25
        more = total + T * error
        if before is not None:
            slope = (lag * slope + error - before) / (lag + T)
        wanted = kp * error + ki * more + kd * slope
        output = min(max(wanted, low), high)
        bound += output != wanted
        if output == wanted or (wanted - output) * error < 0.0:
            total = more
        before = error
        assert record["pid.out"][k] == output
    assert 5 < bound < 45


def test_delays_and_moving_averages():
    record = sampled(
        Delay("one", "wave", T),
        Delay("many", "wave", T, steps=13, start=7.0),
        MovingAverage("mean", "wave", T, count=11),
    )
    wave = record["wave.out"]
    assert np.array_equal(record["one.out"][1:], wave[:-1])
    assert record["one.out"][0] == 0.0
    assert np.array_equal(record["many.out"][13:], wave[:-13])
    assert np.all(record["many.out"][:13] == 7.0)
    for k in range(len(wave)):
        window = wave[max(0, k - 10) : k + 1]
        total = 0.0
        for x in window:
            total += x
        assert record["mean.out"][k] == total / len(window)


def test_blocks_of_other_periods_meet_at_common_instants():
    """A chain of holds 2, 3 and 1 ms: at common instants values run through all of them at once."""
    record = run(
        Clock("t"), Hold("a", "t", 2e-3), Hold("b", "a", 3e-3), Hold("c", "b", 1e-3), duration=0.03, every=1e-3,
        dt=1e-3,
    )  # fmt: skip
    for k in range(len(record.time)):
        at_b = k // 3 * 3
        assert record["c.out"][k] == pytest.approx(at_b // 2 * 2e-3, abs=1e-12)


def test_noise_is_the_same_in_every_run_and_normal():
    first, again = (run(Noise("n", 1e-3, seed=3), duration=2.0, every=1e-3)["n.out"] for _ in range(2))
    assert np.array_equal(first, again)
    other = run(Noise("n", 1e-3, seed=4), duration=2.0, every=1e-3)["n.out"]
    assert abs(np.corrcoef(first, other)[0, 1]) < 0.1
    assert abs(np.corrcoef(first[1:], first[:-1])[0, 1]) < 0.1
    # Of 2001 numbers: mean within 4.5 standard errors, deviation likewise.
    assert abs(first.mean()) < 4.5 / np.sqrt(2001)
    assert abs(first.std() - 1.0) < 4.5 / np.sqrt(2 * 2001)
    whole = [run(Noise("n", 1e-3, seed=s), duration=2.0, every=1e-3)["n.out"] for s in range(5, 8)]
    counts = np.histogram(np.hstack([first, other, *whole]), bins=[-9, -2, -1, 0, 1, 2, 9])[0]
    want = 10005 * np.array([0.02275, 0.13591, 0.34134, 0.34134, 0.13591, 0.02275])
    assert ((counts - want) ** 2 / want).sum() < 20.5  # χ², five degrees of freedom, 0.1 %


def test_the_step_of_the_integrator_does_not_matter():
    """Steps of 7 ms between instants 10 ms apart: instants are met, the sampled bits stay."""
    fine = sampled(Hold("hold", "wave", T))["hold.out"]
    sim = simulation(WAVE, Hold("hold", "wave", T), dt=7e-3)
    coarse = []
    for _ in range(71):
        sim.step()
        coarse.append(sim["hold.out"])
    assert set(coarse) <= set(fine)
