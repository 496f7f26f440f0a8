"""Free play between flanks: against formulas, against another integrator with events of its own, in every method."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from helpers.one_dof import I, wheel
from helpers.runs import orders
from linkwork import (
    Backlash,
    Body,
    Hinge,
    Model,
    ModelError,
    Simulation,
    Sine,
    Slider,
    TorqueSource,
    UnsupportedError,
    VelocityServo,
    equilibrium,
    load_model,
    save_model,
)

EXPLICIT = [
    {"method": method, "integrator": integrator}
    for method in ("simgc", "simmc", "components")
    for integrator in ("adams", "rk4")
]
TOLERANT = [{"method": method, "tolerance": 1e-11} for method in ("simgc", "components")]
IMPLICIT = [{"method": method} for method in ("hybrid", "global", "topological")]
FIRST = [
    {"method": "simgc", "solver": "impulses"}, {"method": "simmc", "solver": "impulses"},
    {"method": "simgc", "integrator": "euler"}, {"method": "components", "integrator": "euler"},
]  # fmt: skip
MASS, GAP, K, SPEED = 2.0, 0.02, 2000.0, 0.5


def named(how):
    return "-".join(str(value) for value in how.values())


def cart(*things, velocity=SPEED):
    """A body that slides along x, without gravity."""
    model = Model("cart", gravity=(0.0, 0.0, 0.0))
    model.add(Body("body", mass=MASS, inertia=(1.0, 1.0, 1.0)))
    model.add(Slider("rail", "ground", "body", axis=(1.0, 0.0, 0.0), velocity=velocity))
    for thing in things:
        model.add(thing)
    return model


def play(**more):
    return Backlash("play", "rail", **({"gap": GAP, "stiffness": K} | more))


# --- to and fro, by hand ---

SWING = math.sqrt(K / MASS)
PERIOD = 2.0 * (GAP / SPEED + math.pi / SWING)
"""Twice the way between the flanks at a steady speed, and half a swing in each."""


def to_and_fro(t):
    """Where the cart is that starts in the middle."""
    since = (t - 0.5 * GAP / SPEED) % PERIOD
    side = np.where(since < 0.5 * PERIOD, 1.0, -1.0)
    since = since % (0.5 * PERIOD)
    inside = 0.5 * GAP + SPEED / SWING * np.sin(SWING * since)
    across = 0.5 * GAP - SPEED * (since - math.pi / SWING)
    first = t < 0.5 * GAP / SPEED
    return np.where(first, SPEED * t, side * np.where(since < math.pi / SWING, inside, across))


@pytest.mark.parametrize("how", EXPLICIT, ids=named)
def test_it_goes_to_and_fro_at_the_order_of_the_integrator(how):
    errors = []
    for h in (2e-3, 1e-3, 5e-4):
        record = Simulation(cart(play()), dt=h, **how).run(1.0, every=1e-2)
        errors.append(np.abs(record["rail.travel"] - to_and_fro(record.time)).max())
        # Into a flank or out of it, a quarter of a period after the start for the first time.
        assert record.info["events"] == 1 + math.floor((1.0 - 0.5 * GAP / SPEED) / (0.5 * PERIOD)) * 2
        assert record.info["steps_by_impulses"] == 0
    assert np.mean(orders(errors)) == pytest.approx(4.0, abs=0.5)
    assert errors[-1] < 1e-6


@pytest.mark.parametrize("how", TOLERANT, ids=named)
def test_it_follows_the_tolerance(how):
    record = Simulation(cart(play()), **how).run(1.0, every=1e-2)
    np.testing.assert_allclose(record["rail.travel"], to_and_fro(record.time), atol=1e-8)
    np.testing.assert_allclose(record["energy.dissipated"], 0.0, atol=1e-9)
    assert record.energy_drift < 1e-9
    push = np.where(
        np.abs(record["rail.travel"]) > GAP / 2, K * (np.abs(record["rail.travel"]) - GAP / 2), 0.0
    )
    np.testing.assert_allclose(record["play.force"], -np.sign(record["rail.travel"]) * push, atol=1e-9)


@pytest.mark.parametrize("how", [*IMPLICIT, *FIRST], ids=named)
def test_methods_without_events_agree_to_first_order(how):
    errors = []
    for h in (4e-4, 2e-4, 1e-4):
        record = Simulation(cart(play()), dt=h, **how).run(0.3, every=1e-2)
        errors.append(np.abs(record["rail.travel"] - to_and_fro(record.time)).max())
    assert np.mean(orders(errors)) > 0.7
    assert errors[-1] < (1e-6 if how in IMPLICIT else 2e-3)


def test_a_flank_that_is_too_stiff_for_the_step_is_implicit():
    """At any stiffness it comes back no faster than it came, and no deeper than a step carries it."""
    for how in [EXPLICIT[0], EXPLICIT[4], *FIRST[:2]]:
        sim = Simulation(cart(play(stiffness=1e12)), dt=1e-3, **how)
        record = sim.run(0.5)
        assert np.abs(record["rail.travel"]).max() < 0.5 * GAP + 1.1e-3 * SPEED
        assert np.abs(record["rail.travel_rate"]).max() < SPEED * (1.0 + 1e-9)
        if "solver" not in how:
            assert record.info["implicit_elements"] == ["play: flanks"]


# --- driven, damped: against another integrator with events of its own ---

DAMPING, PUSH, HERTZ = 25.0, 30.0, 4.0


def driven():
    push = TorqueSource("push", "rail", command=PUSH, signal=Sine(HERTZ))
    return cart(play(damping=DAMPING), push, velocity=0.0)


def integrated(duration):
    """From piece to piece; a flank is left when k d + c d' = 0, d > 0, and has come back where d = 0."""
    lag, half = DAMPING / K, 0.5 * GAP

    def touched(side):
        return lambda t, y: side * y[0] - half + lag * min(0.0, side * y[1])

    def event(function):
        function.terminal = True
        return function

    t, y, side, lost = 0.0, [0.0, 0.0, 0.0], 0, 0
    while t < duration:

        def rates(t, y, side=side):
            flank = K * (y[0] - side * half) + DAMPING * y[1] if side else 0.0
            return [y[1], (PUSH * math.sin(2 * math.pi * HERTZ * t) - flank) / MASS, flank * y[1]]

        watched = [touched(side)] if side else [touched(1), touched(-1)]
        events = [event(lambda t, y, f=f: f(t, y)) for f in watched]
        for function in events:
            function.direction = -1.0 if side else 1.0

        def back(t, y):
            return abs(y[0]) - half

        back.direction = -1.0
        done = solve_ivp(
            rates,
            (t, duration),
            y,
            method="DOP853",
            rtol=1e-12,
            atol=1e-13,
            events=[*events, back],
            max_step=2e-3,
        )
        t, y = done.t[-1], list(done.y[:, -1])
        if not side:
            lost += len(done.t_events[-1])
        if done.status == 1:
            lost += 1
            side = 0 if side else 1 if len(done.t_events[0]) else -1
    return y, lost


@pytest.fixture(scope="module")
def exact():
    return integrated(1.0)


@pytest.mark.parametrize("how", EXPLICIT, ids=named)
def test_a_driven_cart_between_damped_flanks_keeps_the_order(how, exact):
    (x, v, into), events = exact
    errors, drifts = [], []
    for h in (2e-3, 1e-3, 5e-4):
        sim = Simulation(driven(), dt=h, **how)
        record = sim.run(1.0, every=0.1)
        errors.append(max(abs(sim["rail.travel"] - x), 0.05 * abs(sim["rail.travel_rate"] - v)))
        assert record.info["events"] == events
        drifts.append(record.energy_drift)
    assert np.mean(orders(errors)) == pytest.approx(4.0, abs=0.6)
    assert np.mean(orders(drifts)) > 3.0
    # What the flanks took and do not hold has become heat.
    held = 0.5 * K * max(0.0, abs(x) - 0.5 * GAP) ** 2
    assert record["energy.dissipated"][-1] == pytest.approx(into - held, abs=1e-6)


@pytest.mark.parametrize("how", TOLERANT, ids=named)
def test_a_driven_cart_between_damped_flanks_follows_the_tolerance(how, exact):
    (x, v, _), events = exact
    sim = Simulation(driven(), **how)
    record = sim.run(1.0, every=0.1)
    assert sim["rail.travel"] == pytest.approx(x, abs=1e-8)
    assert sim["rail.travel_rate"] == pytest.approx(v, abs=1e-7)
    assert record.info["events"] == events
    assert record.energy_drift < 1e-8


@pytest.mark.parametrize("how", [*IMPLICIT, *FIRST], ids=named)
def test_a_driven_cart_in_methods_without_events(how, exact):
    (x, _, _), _ = exact
    errors = []
    for h in (1e-4, 5e-5):
        sim = Simulation(driven(), dt=h, **how)
        sim.run(1.0, every=0.1)
        errors.append(abs(sim["rail.travel"] - x))
    assert errors[1] < 2e-3
    assert errors[1] < 0.8 * errors[0] or errors[1] < 1e-5


# --- gears with play ---


def gears(ratio=-0.5, velocity=3.0, **more):
    """A wheel that turns, and another one that it drives with play."""
    model = wheel(velocity=velocity)
    model.add(Body("second", mass=1.0, inertia=(0.6, 0.8, 2.0 * I), at=(1.0, 0.0, 0.0)))
    model.add(Hinge("axle", "ground", "second", at=(1.0, 0.0, 0.0)))
    model.add(Backlash("mesh", "axle", "pin", ratio=ratio, gap=0.1, **more))
    return model


@pytest.mark.parametrize("how", EXPLICIT, ids=named)
@pytest.mark.parametrize("restitution", [0.0, 0.6, 1.0])
def test_rigid_gears_with_play_take_each_other_along(how, restitution):
    """Inertias 2 I and I that hit along a - ratio b: an impulse p of the flank gives them p/(2 I) and -ratio p/I."""
    ratio, speed, gap = -0.5, 3.0, 0.1
    record = Simulation(gears(restitution=restitution), dt=1e-3, **how).run(0.06, every=1e-3)
    t, hit = record.time, 0.5 * gap / abs(ratio * speed)
    # The rate of a - ratio b goes from -ratio b' to its restitution times as much, backwards.
    yields = 1.0 / (2.0 * I) + ratio * ratio / I
    impulse = (1.0 + restitution) * ratio * speed / yields
    after = t > hit
    np.testing.assert_allclose(
        record["axle.angle_rate"], np.where(after, impulse / (2.0 * I), 0.0), atol=1e-12
    )
    np.testing.assert_allclose(
        record["pin.angle_rate"], np.where(after, speed - ratio * impulse / I, speed), atol=1e-12
    )
    before = 0.5 * I * speed**2
    lost = (1.0 - restitution**2) * 0.5 * (ratio * speed) ** 2 / yields
    assert record["energy.dissipated"][-1] == pytest.approx(lost, abs=1e-11 * before)
    assert record.info["events"] == 1


def test_an_elastic_flank_tends_to_a_rigid_one():
    rigid = Simulation(gears(restitution=1.0), tolerance=1e-10).run(0.06, every=1e-3)
    off = []
    for stiffness in (1e6, 1e8):
        record = Simulation(gears(stiffness=stiffness), tolerance=1e-10).run(0.06, every=1e-3)
        off.append(np.abs(record["axle.angle"] - rigid["axle.angle"]).max())
    assert off[0] < 3e-3
    assert off[1] == pytest.approx(0.1 * off[0], rel=0.1)  # the time of contact, √(m/k)


def test_the_middle_is_where_it_starts_or_where_it_is_put():
    model = wheel(position=0.4, velocity=1.0)
    model.add(Backlash("play", "pin", gap=0.2))
    assert Simulation(model).run(1.0)["pin.angle"][-1] == pytest.approx(0.5, abs=1e-12)
    model = wheel(position=0.4, velocity=1.0)
    model.add(Backlash("play", "pin", gap=0.2, middle=0.35))
    assert Simulation(model).run(1.0)["pin.angle"][-1] == pytest.approx(0.45, abs=1e-12)


@pytest.mark.parametrize("method", ["simgc", "simmc", "components"])
def test_the_middle_is_where_it_starts_in_every_formulation(method):
    model = wheel(position=0.4, velocity=1.0)
    model.add(Backlash("play", "pin", gap=0.2))
    record = Simulation(model, method=method).run(1.0)
    assert record["pin.angle"][-1] == pytest.approx(0.5, abs=1e-9)


def test_no_gap_is_a_spring():
    model = cart(play(gap=0.0))
    record = Simulation(model, tolerance=1e-11).run(0.3, every=1e-2)
    np.testing.assert_allclose(record["rail.travel"], SPEED / SWING * np.sin(SWING * record.time), atol=1e-8)


def test_a_servo_drives_through_the_play():
    """A servo on the first wheel takes up the play, then the second one follows at its ratio."""
    model = gears(velocity=0.0)
    model.add(VelocityServo("servo", "pin", command=1.0))
    for method in ("simgc", "components"):
        record = Simulation(model, method=method).run(0.5)
        t = record.time
        behind = np.minimum(0.0, -0.5 * (t - 0.1))
        np.testing.assert_allclose(record["axle.angle"], behind, atol=1e-10)


def test_where_it_comes_to_rest():
    """A force presses the cart on a flank: F = k (x - gap/2)."""
    found = equilibrium(cart(play(), TorqueSource("push", "rail", command=10.0), velocity=0.0))
    assert found.values["rail.travel"] == pytest.approx(0.5 * GAP + 10.0 / K, abs=1e-9)


# --- state, files, bad input ---


def test_a_run_that_is_saved_within_a_flank_goes_on_bit_by_bit(tmp_path):
    for method in ("simgc", "components"):
        one, other = (Simulation(driven(), method=method, dt=1e-3) for _ in range(2))
        one.step(137)
        one.save_state(tmp_path / "state")
        one.step(200)
        other.load_state(tmp_path / "state")
        other.step(200)
        assert one.q.tobytes() == other.q.tobytes()
        assert one.v.tobytes() == other.v.tobytes()


def test_it_is_written_and_read(tmp_path):
    model = gears(stiffness=1e5, damping=3.0, middle=0.01, coordinate_a="angle")
    save_model(model, tmp_path / "gears.yaml")
    assert load_model(tmp_path / "gears.yaml").couplings == model.couplings


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"gap": -0.1}, "gap"),
        ({"gap": 0.1, "stiffness": 0.0}, "stiffness"),
        ({"gap": 0.1, "damping": 1.0}, "rigid flanks, which have no damping"),
        ({"gap": 0.1, "stiffness": 1.0, "restitution": 0.5}, "no restitution"),
        ({"gap": 0.1, "ratio": 2.0}, "has a ratio .* but no b"),
        ({"gap": 0.1, "b": "pin"}, "play against itself"),
        ({"gap": 0.1, "b": "pin", "coordinate_b": "angle", "ratio": 0.0}, "ratio"),
    ],
)  # fmt: skip
def test_bad_numbers_are_refused(fields, message):
    with pytest.raises(ModelError, match=message):
        Backlash("play", "pin", **fields)


def test_joints_without_coordinates_are_refused():
    model = wheel()
    model.add(Backlash("play", "pine", gap=0.1))
    with pytest.raises(ModelError, match=r"backlash 'play'\.a: there is no joint 'pine'"):
        Simulation(model)
    model = wheel()
    model.add(Backlash("play", "pin", gap=0.1, coordinate_a="travel"))
    with pytest.raises(ModelError, match="joint 'pin' has no coordinate 'travel'"):
        Simulation(model)


@pytest.mark.parametrize("how", IMPLICIT, ids=named)
def test_rigid_flanks_need_events(how):
    with pytest.raises(
        UnsupportedError, match="takes smooth steps only, but backlash 'mesh' has rigid flanks"
    ):
        Simulation(gears(), **how)
