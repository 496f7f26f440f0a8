"""Islands: what does not touch does not matter to each other; what rests may sleep; a budget is kept and told."""

import numpy as np
import pytest

from linkwork import PID, Body, Box, Free, Material, Model, Plane, Scenery, Simulation, Slider, Sphere
from linkwork.model.errors import UnsupportedError

G = 9.81


def world(*stacks, ball=None):
    """Stacks of boxes: (x, how many); a ball dropped from a height over the first of them."""
    model = Model("world")
    model.add(Material("rough"))
    model.add(Scenery("floor", shapes=(Plane(),), material="rough"))
    for x, count in stacks:
        for k in range(count):
            name, at = f"box{k}_at_{x:g}".replace(".", "_").replace("-", "m"), (x, 0.0, 0.05 + 0.1 * k)
            model.add(Body(name, at=at, mass=1.0, shapes=(Box((0.1, 0.1, 0.1)),), material="rough"))
            model.add(Free(f"{name}_way", "ground", name, at=at))
    if ball is not None:
        at = (stacks[0][0], 0.0, ball)
        model.add(Body("ball", at=at, mass=1.0, shapes=(Sphere(0.05),), material="rough"))
        model.add(Free("ball_way", "ground", "ball", at=at))
    return model


@pytest.mark.parametrize("method", ["simgc", "simmc"])
def test_islands_do_not_notice_each_other(method):
    both, one = (Simulation(model, method=method) for model in (world((0.0, 4), (3.0, 3)), world((0.0, 4))))
    for sim in (both, one):
        sim.run(0.3, reactions=False)
    for k in range(4):
        np.testing.assert_array_equal(both.point(f"box{k}_at_0")[0], one.point(f"box{k}_at_0")[0])


@pytest.mark.parametrize("solver", ["direct", "impulses"])
def test_what_rests_sleeps_until_it_is_touched(solver):
    # The ball falls 0.8 m: it arrives at 0.4 s, long after the boxes have gone to sleep.
    sim = Simulation(world((0.0, 3), ball=0.3 + 0.05 + 0.8), solver=solver, sleep=0.1)
    sim.step(200)
    before = sim.point("box2_at_0")[0]
    assert sim.method.report()["iterations"] == 0, "nothing is left to solve"
    sim.step(150)
    np.testing.assert_array_equal(sim.point("box2_at_0")[0], before)
    landed = [event for event in sim.touch_events if {event.a, event.b} == {"box2_at_0", "ball"}]
    assert not landed
    sim.step(100)
    (landed,) = [e for e in sim.touch_events if {e.a, e.b} == {"box2_at_0", "ball"} and e.began][:1]
    assert landed.time == pytest.approx(np.sqrt(2 * 0.8 / G), abs=2e-3)
    # Awake, the boxes carry the ball.
    below = sum(touch.force for touch in sim.touches() if "floor" in (touch.a, touch.b))
    assert below == pytest.approx(4 * G, rel=1e-3)
    ended = [event for event in sim.touch_events if not event.began]
    assert not [event for event in ended if "ball" not in (event.a, event.b)], "sleep is no end of contact"


def test_who_is_pushed_wakes():
    sim = Simulation(world((0.0, 1)), sleep=0.05)
    sim.step(200)
    assert sim.method.report()["iterations"] == 0
    sim.v[0] = 1.0
    sim.method.disturb()
    sim.step(10)
    # Friction of 0.5 g slows it: ten steps of 1 ms.
    assert sim.v[0] == pytest.approx(1.0 - 0.5 * G * 0.01, rel=1e-6)


def test_a_budget_is_kept_and_told():
    model = Model("heap")
    model.add(Material("rough"))
    model.add(Scenery("floor", shapes=(Plane(),), material="rough"))
    random = np.random.default_rng(0)
    for k in range(60):
        at = tuple(float(x) for x in (*random.uniform(-0.15, 0.15, 2), 0.06 + 0.02 * k))
        model.add(Body(f"b{k}", at=at, mass=1.0, shapes=(Sphere(0.05),), material="rough"))
    record = Simulation(model, budget=2e-5).run(0.2, reactions=False)
    assert record.info["steps_cut_short"] > 0
    assert any("before impulses settled" in warning for warning in record.info["warnings"])
    for k in range(60):
        assert np.isfinite(record[f"b{k}.position.z"]).all()


def test_sleep_needs_something_that_touches():
    model = Model("nothing")
    model.add(Body("a", mass=1.0, shapes=(Sphere(0.1),)))
    model.add(Free("way", "ground", "a"))
    with pytest.raises(UnsupportedError, match="nothing in this model may touch"):
        Simulation(model, method="simgc", sleep=1.0)


def test_a_step_that_needs_more_room_halfway_is_not_begun_anew():
    """A controller sampled between steps cuts them in two. The faster the row of balls falls, the farther ahead it
    looks for contact: in the second half of a step there are more pairs than there is room for at first. All balls
    fall freely, so their speed is g t, to rounding."""
    h, g = 0.01, 250.0
    model = Model("row", gravity=(0.0, 0.0, -g))
    model.add(Material("smooth"))
    for k in range(20):
        at = (0.03 * k, 0.0, 0.0)
        model.add(Body(f"ball{k}", at=at, mass=1.0, shapes=(Sphere(0.01),), material="smooth"))
        model.add(Free(f"ball{k}_way", "ground", f"ball{k}", at=at))
    model.add(Body("slider", at=(0.0, 1.0, 0.0), mass=1.0, inertia=(1.0, 1.0, 1.0)))
    model.add(Slider("rail", "ground", "slider", at=(0.0, 1.0, 0.0), axis=(1.0, 0.0, 0.0)))
    model.add(PID("pid", "rail", sample_time=0.9 * h, proportional=1.0))
    sim = Simulation(model, dt=h)
    sim.step(9)
    assert not sim.touches()
    for k in range(20):
        assert sim[f"ball{k}_way.z_rate"] == pytest.approx(-g * 9 * h, rel=1e-12)
