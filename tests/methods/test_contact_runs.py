"""Contact as users run it: in any order and anywhere, by every method, saved, reset, changed, reported, in scenes."""

import fnmatch
import math
from math import exp, hypot, pi, sin

import numpy as np
import pytest

from helpers.touching import (
    IMPULSES,
    SETTLED,
    SLOP,
    WAYS,
    G,
    H,
    both_methods,
    every_way,
    heap,
    lead,
    places,
    speed,
    spot,
)
from linkwork import Body, Box, Material, Model, Plane, Scenery, Simulation, scene
from linkwork.methods.contact import TOLERANCE
from linkwork.model.errors import LinkworkError, UnsupportedError
from linkwork.model.rotation import about
from linkwork.scenes import find_scene

# --- the same in any order and anywhere ---


@both_methods
def test_neither_order_nor_place_matters(way):
    names = ("low", "middle", "high", "ball")
    first = Simulation(heap(names), **way)
    first.step(300)
    others = [
        heap(names[::-1]),
        heap(("middle", "ball", "low", "high")),
        heap(names, turn=about((1.0, 2.0, -0.5), 0.8)),
        heap(names, shift=(100.0, -50.0, 30.0)),
    ]
    for other in others:
        sim = Simulation(other, **way)
        sim.step(300)
        # What 300 steps may leave, for 0.3 s
        assert np.abs(places(sim) - places(first)).max() < 300 * SETTLED * 0.3


# --- how far from a solution ---


def test_the_residual_of_every_step_is_recorded():
    """The solver ends on it; where it may not iterate as it likes, what is left is told."""
    usual = Simulation(scene("stack10"), dt=H)
    record = usual.run(0.2, every=H)
    left = record["contact.residual"]
    assert 0.0 < left.max() <= TOLERANCE * H
    assert left[-1] == usual.method.report()["residual"]
    assert record.info["steps_cut_short"] == 0
    hurried = Simulation(scene("dominoes"), dt=H, iterations=1).run(0.2, every=H)
    assert hurried.info["steps_cut_short"] > 0
    assert hurried["contact.residual"].max() > 1e3 * TOLERANCE * H
    assert hurried["solver.iterations"].max() == 1


# --- one way against another ---


@pytest.mark.parametrize(
    ("name", "parameters", "duration", "close"),
    [
        ("slope", {}, 0.5, 500 * SETTLED * 0.5),
        ("stack10", {}, 0.5, 1e-6),
        ("bouncing_ball", {}, 1.0, 1e-6),
        ("rolling", {}, 0.5, 1e-6),
        ("top", {}, 0.2, 1e-6),
        ("dominoes", {"count": 4}, 0.1, 1e-5),
        ("chain_over_cylinder", {}, 0.2, 1e-5),
    ],
)
def test_methods_and_solvers_agree_on_scenes(name, parameters, duration, close):
    ends = []
    for way in (WAYS[0], WAYS[1], IMPULSES[0]):
        sim = Simulation(scene(name, **parameters), **way)
        sim.run(duration, reactions=False)
        ends.append([spot(sim, body) for body in sim.system.bodies])
    assert np.abs(np.array(ends[0]) - ends[1]).max() < close
    assert np.abs(np.array(ends[0]) - ends[2]).max() < close


# --- states ---


@every_way
def test_a_saved_state_goes_on_bit_by_bit(way, tmp_path):
    model = heap(("low", "middle", "high", "ball"))
    one = Simulation(model, **way)
    one.step(150)
    one.save_state(tmp_path / "state.npz")
    one.step(200)
    other = Simulation(model, **way)
    other.load_state(tmp_path / "state.npz")
    other.step(200)
    assert (one.q == other.q).all()
    assert (one.v == other.v).all()
    assert one.touches() == other.touches()


@every_way
def test_a_reset_run_repeats_bit_by_bit(way):
    sim = Simulation(heap(("low", "middle", "high", "ball")), **way)
    sim.step(300)
    q, v, events = sim.q.copy(), sim.v.copy(), list(sim.touch_events)
    sim.reset()
    sim.step(300)
    assert (sim.q == q).all()
    assert (sim.v == v).all()
    assert sim.touch_events == events


@both_methods
def test_a_changed_model_keeps_its_contacts(way):
    sim = Simulation(scene("stack10"), **way)
    sim.step(200)
    events = len(sim.touch_events)
    before = spot(sim, "box10")
    sim.alter(scene("stack10", mass=2.0))
    sim.step(200)
    assert len(sim.touch_events) == events, "nothing let go"
    assert np.linalg.norm(spot(sim, "box10") - before) < SLOP
    below = sum(touch.force for touch in sim.touches() if "floor" in (touch.a, touch.b))
    assert below == pytest.approx(20 * G, abs=20 * SETTLED / H)


# --- reports ---


@every_way
def test_forces_of_touches_carry_the_weight(way):
    sim = Simulation(heap(("low", "middle", "high", "ball")), **way)
    sim.step(3000)
    total = np.zeros(3)
    for touch in sim.touches():
        if "floor" in (touch.a, touch.b):
            sign = 1.0 if touch.a == "floor" else -1.0
            total += sign * (touch.force * np.array(touch.normal) + touch.friction)
    np.testing.assert_allclose(total, (0.0, 0.0, 4 * G), atol=1e-4)
    assert all(touch.force > 0.0 and abs(touch.distance) <= 2 * SLOP for touch in sim.touches())


# --- refusals ---


@pytest.mark.parametrize(
    "options",
    [
        {"method": "tree"},
        {"tolerance": 1e-6, "solver": "impulses"},
        {"integrator": "adaptive", "sleep": 0.5},
        {"integrator": "rk4", "solver": "impulses"},
        {"epsilon": 1e-6},
        {"epsilon": 1e-6, "solver": "direct"},
    ],
    ids=str,
)
def test_what_contact_cannot_do_is_refused(options):
    with pytest.raises(UnsupportedError):
        Simulation(scene("stack10"), **options)
    with pytest.raises(LinkworkError):
        Simulation(scene("stack10"), slop=-1.0)


# --- scenes ---

SCENES = {
    "slope": {}, "stack10": {}, "mass_ratio": {}, "bouncing_ball": {}, "rolling": {}, "top": {}, "dominoes": {},
    "chain_over_cylinder": {}, "pile200": {"count": 50},
}  # fmt: skip


@pytest.mark.parametrize("name", SCENES)
def test_scenes_start_apart_and_plot_what_they_say(name):
    found = find_scene(name)
    sim = Simulation(found.build(**SCENES[name]), dt=found.dt, method=found.method)
    sim.step(1)
    assert sim.method.report()["depth"] <= SLOP
    record = sim.run(0.05)
    # Euler loses g² h²/2 of energy a kilogram and step, much of the little that is in play after so few of them.
    assert [text for text in record.info["warnings"] if "higher order" not in text] == []
    for pattern in found.plot:
        assert fnmatch.filter(record.names, pattern), pattern
    assert set(found.parameters) >= set(SCENES[name])


def test_on_the_slope_each_box_does_what_its_name_says():
    sim = Simulation(scene("slope"))
    sim.run(2.0, reactions=False)
    assert abs(sim["holds_way.x"]) < 6e-8
    assert sim["slides_way.x_rate"] == pytest.approx(2.0 * G * (0.4 - 0.3) / hypot(1.0, 0.4), rel=1e-5)


def test_on_the_slope_the_box_on_the_verge_does_not_creep():
    sim = Simulation(scene("slope"))
    sim.run(2.0, reactions=False)
    assert abs(sim["verges_way.x_rate"]) < 2000 * SETTLED


def test_the_chain_hangs_on_within_the_capstan_ratio():
    assert exp(0.4 * pi) > 12 / 6
    held = Simulation(scene("chain_over_cylinder"))
    start = held.point("link1")[0]
    held.run(2.0, reactions=False)
    assert np.linalg.norm(held.point("link1")[0] - start) < 0.05
    assert np.linalg.norm(speed(held, "link1")) < 1e-3
    slips = Simulation(scene("chain_over_cylinder", friction=0.05))
    slips.run(1.0, reactions=False)
    assert slips.point("link1")[0][2] < start[2] - 0.1


def test_all_dominoes_fall():
    sim = Simulation(scene("dominoes", count=8), iterations=200)
    sim.run(1.5, reactions=False)
    for k in range(8):
        # Turned by more than 45°
        assert abs(sim[f"domino{k + 1}_way.qy"]) > sin(pi / 8)


def test_things_stay_in_their_bin():
    sim = Simulation(scene("pile200", count=50), iterations=50)
    sim.run(0.6, reactions=False)
    for name in sim.system.bodies:
        x, y, z = spot(sim, name)
        assert max(abs(x), abs(y)) < 0.55 / 2
        assert 0.0 < z < 0.5
    assert sim.method.report()["depth"] < 2e-3


def test_the_top_keeps_upright_while_it_spins():
    sim = Simulation(scene("top"), dt=find_scene("top").dt)
    sim.run(3.0, every=0.1, reactions=False)
    assert lead(sim)[1] < math.radians(25.0)
    still = Simulation(scene("top", spin=0.0), dt=find_scene("top").dt)
    still.run(3.0, every=0.1, reactions=False)
    assert lead(still)[1] > math.radians(40.0)


@pytest.mark.parametrize(("depth", "told"), [(0.17, True), (0.05, False)])
def test_a_deep_penetration_is_told_with_its_share(depth, told):
    """Of a cube of a metre; from a tenth on."""
    model = Model("sunk")
    model.add(Material("stone"))
    model.add(Scenery("floor", shapes=(Plane(),), material="stone"))
    model.add(Body("cube", at=(0, 0, 0.5 - depth), density=100, shapes=(Box((1, 1, 1)),), material="stone"))
    warnings = " ".join(Simulation(model, dt=1e-3).run(2e-3).info["warnings"])
    assert (
        f"{depth:.2g} m into each other, {depth:.0%} of what the thinner one measures" in warnings
    ) is told
    assert ("into each other" in warnings) is told
