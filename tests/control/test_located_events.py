"""Switching located as events: limit cycles of relay and play against exact solutions, piece by piece."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq

from helpers.diagrams import run, simulation
from helpers.runs import orders
from linkwork import UnsupportedError
from linkwork.control.blocks.actuators import DriveCommand
from linkwork.control.blocks.continuous import FirstOrder, Integrator
from linkwork.control.blocks.logic import And, Compare, FlipFlop, Not, Or, StateMachine, Switch
from linkwork.control.blocks.mathematics import Formula, Gain, Maximum, Minimum
from linkwork.control.blocks.nonlinear import DeadZone, Lookup, Lookup2D, Play, Relay, Saturation
from linkwork.control.blocks.sources import Clock, SineWave, TimeTable


def crossings(t, x, level=0.0):
    """Times at which a sampled signal rises through a level, by straight lines."""
    k = np.flatnonzero((x[:-1] < level) & (x[1:] >= level))
    return t[k] + (level - x[k]) / (x[k + 1] - x[k]) * (t[k + 1] - t[k])


def test_the_limit_cycle_of_a_relay_and_a_lag():
    """x' = (u - x)/T with u = ±1 switched at ∓h (hysteresis): period 2 T ln((1 + h)/(1 - h)), exactly."""
    lag, h = 0.2, 0.3
    record = run(
        Relay("u", "-x", on_above=h, off_below=-h, on=1.0, off=-1.0, begins_on=True),
        FirstOrder("x", "u", lag),
        duration=4.0,
        every=1e-3,
    )
    period = 2.0 * lag * np.log((1.0 + h) / (1.0 - h))
    first = lag * np.log(1.0 / (1.0 - h))  # from 0 to h
    t = record.time
    phase = (t - first) % period
    half = period / 2.0
    falling = phase < half
    want = np.where(
        falling,
        -1.0 + (1.0 + h) * np.exp(-phase / lag),
        1.0 - (1.0 + h) * np.exp(-(phase - half) / lag),
    )
    want = np.where(t < first, 1.0 - np.exp(-t / lag), want)
    # Thirty switches, each located to 1e-11; at the corners a sample lies on either side.
    assert np.abs(record["x.out"] - want).max() < 1e-9
    assert abs(record["x.out"]).max() < h + 1e-9


def test_the_limit_cycle_of_a_relay_and_a_mass():
    """m x'' = -F sgn(x with hysteresis h): arcs of parabolas; exact period from the switching points (Tsypkin)."""
    mass, force, h = 2.0, 3.0, 0.05
    sim = simulation(
        Relay("relay", "rail.travel", on_above=h, off_below=-h, on=-force, off=force),
        Gain("damp", "rail.travel_rate", -1.2),
        Formula("sum", "relay + damp", unit="N"),
        DriveCommand("act", "push", "sum"),
        mass=mass,
        dt=2e-3,
    )
    record = sim.run(40.0, every=1e-3 * 2)
    t, x = record.time, record["rail.travel"]
    settled = t > 30.0
    ups = crossings(t[settled], x[settled])
    found = np.diff(ups).mean()
    # Between switches m v' = ±F - c v. Odd symmetry: after half a period P/2 state (h, v) becomes (-h, -v).
    c = 1.2
    tau, end = mass / c, force / c

    def arc(v, s):
        """Way and speed after s with force -F."""
        decay = np.exp(-s / tau)
        return -end * s + (v + end) * tau * (1.0 - decay), -end + (v + end) * decay

    def miss(s):
        """Of the way over half a period, with the speed that repeats."""
        decay = np.exp(-s / tau)
        v = end * (1.0 - decay) / (1.0 + decay)  # -v = -end + (v + end) decay
        return arc(v, s)[0] + 2.0 * h

    half = brentq(miss, 0.05, 5.0, xtol=1e-14)
    # Mean of many periods between crossings interpolated at 2 ms: (2e-3)² x''/8v each, of both ends of ten seconds.
    assert found == pytest.approx(2.0 * half, rel=1e-6)
    assert record.info["events"] > 20


def test_order_is_kept_across_events():
    """A saturated oscillator, error at halved steps: order four although pieces end within steps."""

    def end(dt):
        sim = simulation(
            Saturation("force", "spring", low=-2.0, high=2.0),
            Gain("spring", "rail.travel", -40.0, unit="N"),
            DriveCommand("act", "push", "force"),
            velocity=1.5,
            dt=dt,
        )
        sim.run(2.0, every=2.0)
        return sim["rail.travel"]

    exact = end(2.5e-4)
    errors = [abs(end(dt) - exact) for dt in (8e-3, 4e-3, 2e-3)]
    assert min(orders(errors)) > 3.7
    assert errors[-1] < 1e-10


def play_of(u, gap, start):
    """Play by its definition, sample by sample: exact at turning points that are samples."""
    y, out = start, []
    for x in u:
        y = min(max(y, x - gap / 2), x + gap / 2)
        out.append(y)
    return np.array(out)


def test_play_follows_a_shaft_that_swings():
    """A shaft on a spring: x = cos 5t from the start; its turning points are known, so is what the play makes of it."""
    gap = 0.5
    sim = simulation(
        Gain("spring", "rail.travel", -25.0, unit="N"),
        DriveCommand("act", "push", "spring"),
        Play("loose", "rail.travel", gap, start=0.0),
        velocity=5.0,
        dt=2e-3,
    )
    record = sim.run(4.0, every=2e-3)
    fine = np.linspace(0.0, 4.0, 400 * 2000 + 1)  # turning points to 5e-6 s: 1e-10 of the way
    want = play_of(np.sin(5.0 * fine), gap, 0.0)[::400]
    assert np.abs(record["loose.out"] - want).max() < 2e-9
    held = np.diff(record["loose.out"]) == 0.0
    assert held.mean() > 0.2  # between flanks it stands still, to the bit


def test_the_limit_cycle_of_play_in_a_loop_with_an_integrator():
    """x' = relay(-play(x)): a cycle of straight lines."""
    # y = play(x) with gap g; relay of y with hysteresis h gives x' = ∓1. x rises until y = h: x = h + g/2; then it
    # falls through the gap and on until y = -h: x = -(h + g/2). Period: 4 (h + g/2).
    g, h = 0.4, 0.1
    record = run(
        Integrator("x", "u"),
        Play("y", "x", g),
        Relay("u", "-y", on_above=h, off_below=-h, on=1.0, off=-1.0, begins_on=True),
        duration=12.0,
        every=0.01,
    )
    t, x = record.time, record["x.out"]
    reach, first = h + g / 2, h + g / 2
    phase = (t - first) % (4.0 * reach)
    want = np.where(phase < 2.0 * reach, reach - phase, -reach + (phase - 2.0 * reach))
    want = np.where(t < first, t, want)
    assert np.abs(x - want).max() < 1e-9


def test_pieces_by_formula():
    wave = SineWave("u", 0.5, amplitude=2.0)
    record = run(
        wave,
        SineWave("w", 0.8),
        DeadZone("dead", "u", low=-0.5, high=0.7),
        Saturation("sat", "u", low=-1.0, high=1.5),
        Lookup("curve", "u", (-1.0, 0.0, 1.0), (2.0, 0.0, 4.0)),
        Lookup("line", "u", (-1.0, 0.0, 1.0), (2.0, 0.0, 4.0), extends=True),
        Lookup2D("map", "u", "w", (-1.0, 1.0), (-0.5, 0.5), ((0.0, 1.0), (2.0, 5.0))),
        Minimum("low", ("u", "w")),
        Maximum("high", ("u", "w")),
        Formula("f", "abs(u) + sign(w)*2 + (u if u > w else -w) + max(u, w, 0.5)"),
        duration=4.0,
        every=0.0125,
        dt=2.5e-3,
    )
    u, w = record["u.out"], record["w.out"]
    apart = np.abs(w) > 1e-9  # a sign at zero is that of rounding
    assert np.array_equal(record["dead.out"], np.where(u > 0.7, u - 0.7, np.where(u < -0.5, u + 0.5, 0.0)))
    assert np.array_equal(record["sat.out"], np.clip(u, -1.0, 1.5))
    close = {"rtol": 0.0, "atol": 1e-14}
    np.testing.assert_allclose(record["curve.out"], np.interp(u, (-1, 0, 1), (2, 0, 4)), **close)
    beyond = np.where(u < 0, -2 * u, 4 * u)
    np.testing.assert_allclose(record["line.out"], beyond, **close)
    s, r = np.clip((u + 1) / 2, 0, 1), np.clip(w + 0.5, 0, 1)
    np.testing.assert_allclose(record["map.out"], (1 - s) * r + s * (2 + 3 * r), **close)
    assert np.array_equal(record["low.out"], np.minimum(u, w))
    assert np.array_equal(record["high.out"], np.maximum(u, w))
    want = np.abs(u) + np.sign(w) * 2 + np.where(u > w, u, -w) + np.maximum(np.maximum(u, w), 0.5)
    np.testing.assert_allclose(record["f.out"][apart], want[apart], rtol=0.0, atol=1e-12)


def test_logic():
    record = run(
        Clock("t"),
        SineWave("u", 1.0),
        Compare("late", "t", ">", 0.4),
        Compare("up", "u", ">=", 0.5),
        And("both", ("late", "-up")),
        Or("any", ("late", "up")),
        Not("early", "late"),
        FlipFlop("seen", "up", "late"),
        Switch("out", "late", "u", 5.0),
        duration=1.0,
        every=0.01,
    )
    t, u = record.time, record["u.out"]
    clear = (np.abs(t - 0.4) > 1e-9) & (np.abs(u - 0.5) > 1e-9)
    late, up = (t > 0.4)[clear], (u > 0.5)[clear]
    assert np.array_equal(record["both.out"][clear], late & ~up)
    assert np.array_equal(record["any.out"][clear], late | up)
    assert np.array_equal(record["early.out"][clear], ~late)
    assert np.array_equal(record["seen.out"][clear], (t[clear] > 1 / 12) & ~late)
    assert np.array_equal(record["out.out"][clear], np.where(late, u[clear], 5.0))


def test_a_state_machine_waits_and_goes_round():
    record = run(
        TimeTable("go", (0.0, 0.105, 0.105), (0.0, 0.0, 1.0)),
        StateMachine(
            "m",
            ("idle", "work", "rest"),
            (
                {"source": "idle", "target": "work", "when": "go"},
                {"source": "work", "target": "rest", "when": 1.0, "after": 0.2},
                {"source": "*", "target": "idle", "when": "m.rest", "after": 0.1},
            ),
            0.01,
        ),
        duration=0.5,
        every=0.01,
    )
    t = np.round(record.time / 0.01).astype(int)
    want = np.where(t < 11, 0, np.where(t < 31, 1, np.where(t < 41, 2, np.where(t < 42, 0, 1))))
    assert np.array_equal(record["m.state"], want)
    assert np.array_equal(record["m.rest"], want == 2)
    assert record["m.elapsed"][30] == pytest.approx(0.19, abs=1e-12)


def test_methods_without_events_switch_at_their_steps():
    """Impulses know no events: the cycle of the relay is met to first order, and comes nearer with the step."""
    lag, h = 0.2, 0.3
    period = 2.0 * lag * np.log((1.0 + h) / (1.0 - h))
    errors = []
    for dt in (4e-3, 1e-3):
        record = run(
            Relay("u", "-x", on_above=h, off_below=-h, on=1.0, off=-1.0, begins_on=True),
            FirstOrder("x", "u", lag),
            duration=6.0,
            every=dt,
            dt=dt,
            integrator=None,
            method="simgc",
            solver="impulses",
        )
        errors.append(abs(np.diff(crossings(record.time, record["x.out"])).mean() - period))
    # Two switches a period, each late by a step at most; Euler's own error is h/T of half a period.
    assert errors[0] < 2.0 * 4e-3
    assert errors[1] < 2.0 * 1e-3


def test_methods_that_do_not_take_diagrams_along_say_so():
    for method in ("tree", "hybrid", "global", "topological", "components"):
        with pytest.raises(UnsupportedError, match="control diagram"):
            simulation(Clock("t"), integrator=None, method=method)
