"""Forces set from outside while a model moves, samples without a record, and states that remember both."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from helpers.one_dof import block
from helpers.ways import DIRECT, IMPULSES, ROWS, TREE, error_bound, named, order, pendulum
from linkwork import (
    Body,
    Box,
    Force,
    Hinge,
    LinkworkError,
    Marker,
    Model,
    Simulation,
    SimulationError,
    Slider,
    Spring,
    scene,
)
from linkwork.model.edit import with_load

# --- samples without a record ---


@named(TREE + ROWS)
def test_advancing_samples_what_a_run_records(way):
    one, other = (Simulation(pendulum(9.81), **way) for _ in range(2))
    record = one.run(0.2, every=0.05)
    other.advance([50])
    times, q, v, work = other.advance([50, 100, 150])[:4]
    assert other.advance([])[0].shape == (0,)
    bits = 0.0 if not other.method.adaptive else 1e-12  # 0.05 + 0.05 is not 2 * 0.05 for those who go by time
    np.testing.assert_allclose(times, record.time[2:], rtol=0, atol=bits)
    np.testing.assert_allclose(other.q, one.q, rtol=0, atol=bits)
    np.testing.assert_allclose(q[-1], one.q, rtol=0, atol=bits)
    np.testing.assert_allclose(v[-1], one.v, rtol=0, atol=bits)
    np.testing.assert_allclose(work[-1], one.work, rtol=0, atol=bits)


def test_advancing_says_where_a_motion_ended():
    model = block(spring=1e8, position=0.1)
    with pytest.raises(SimulationError, match="rail") as caught:
        Simulation(model, method="tree").advance([10, 1000])
    assert 0 < caught.value.time < 1.0


# --- forces set from outside ---

MASS, INERTIA, ARM = 2.0, (0.1, 0.2, 0.3), 0.25


def loose():
    model = Model("loose", gravity=(0, 0, 0))
    model.add(Body("brick", at=(0.4, 0.2, -0.1), mass=MASS, inertia=INERTIA))
    model.add(Force("hand", "brick", force=(0, 0, 0)))
    model.add(Marker("grip", "brick", at=(0.4 + ARM, 0.2, -0.1)))
    return model


@named(TREE + ROWS)
def test_a_force_on_a_free_body(way):
    f = 3.0
    simulation = Simulation(loose(), **way)
    simulation.run(0.1, every=0.1)
    simulation.set_force("hand", (0, f, 0), body="brick", at=(ARM, 0, 0))
    record = simulation.run(0.5, every=0.1)

    # y'' = f/m, and about z: I φ'' = f ARM cos φ.
    turning = solve_ivp(
        lambda t, y: (y[1], f * ARM * math.cos(y[0]) / INERTIA[2]), (0, 0.5), (0, 0), rtol=1e-12, atol=1e-12
    )
    w, z = record["brick.rotation.w"][-1], record["brick.rotation.z"][-1]
    near = error_bound(way) if order(way) == 1 else 1e-8
    assert record["brick.position.y"][-1] == pytest.approx(0.2 + f / MASS * 0.5**2 / 2, abs=near)
    assert 2 * math.atan2(z, w) == pytest.approx(turning.y[0, -1], abs=near)
    np.testing.assert_allclose(record["brick.position.x"], 0.4, atol=1e-12)

    # Its work is force times way of its point, and all of it is in the motion.
    supplied = record["energy.supplied"][-1] - record["energy.supplied"][0]
    way_of_point = record["grip.position.y"][-1] - record["grip.position.y"][0]
    assert supplied == pytest.approx(f * way_of_point, abs=f * near)
    assert record["energy.kinetic"][-1] == pytest.approx(f * way_of_point, abs=f * near)
    assert np.abs(record["energy.balance"]).max() < f * near


@named(TREE + [w for w in DIRECT if w not in (DIRECT[3], DIRECT[7])])
def test_the_acceleration_follows_a_force_at_once(way):
    simulation = Simulation(loose(), **way)
    simulation.step(5)
    simulation.set_force("hand", (0, 3.0, 0), body="brick", at=(ARM, 0, 0))
    expected = [0, 3.0 / MASS, 0, 0, 0, 3.0 * ARM / INERTIA[2]]
    np.testing.assert_allclose(simulation.accelerations(), expected, atol=1e-12)


@named(TREE + ROWS)
def test_a_force_that_is_set_is_one_that_was_written(way):
    bare = scene("chain5", friction=0.0 if way in TREE else 0.1)
    at = (1.2, 0.0, 0.0)
    written = with_load(bare, Force("pull", "link3", force=(1.0, 8.0, 0.5), at=at))
    idle = with_load(bare, Force("pull", "link1", force=(0.0, 0.0, 0.0)))
    one, other = Simulation(written, **way), Simulation(idle, **way)
    other.set_force("pull", (1.0, 8.0, 0.5), body="link3", at=(at[0] - 1.0, 0.0, 0.0))
    a, b = one.run(0.3), other.run(0.3)
    for group in ("coordinates", "rates", "positions", "energy", "forces", "torques"):
        if group in a.groups:
            scale = np.abs(a.array(group)).max()
            np.testing.assert_allclose(
                b.array(group), a.array(group), rtol=0, atol=1e-12 * scale, err_msg=group
            )
    assert np.abs(a["energy.supplied"]).max() > 0.1


@named(TREE + ROWS)
def test_a_force_may_move_from_body_to_body_and_stop(way):
    model = Model("two", gravity=(0, 0, 0))
    for name in ("left", "right"):
        model.add(Body(name, mass=2.0, inertia=(1, 1, 1)))
        model.add(Slider(f"{name}_rail", "ground", name, axis=(1, 0, 0)))
    model.add(Force("hand", "left", force=(1, 0, 0)))
    simulation = Simulation(model, **way)
    rates = []
    for force, body in (
        (None, None),
        ((3, 0, 0), None),
        ((5, 0, 0), "right"),
        ((7, 0, 0), None),
        ((0, 0, 0), None),
    ):
        if force is not None:
            simulation.set_force("hand", force, body=body)
        simulation.step(100)
        rates.append([simulation["left_rail.travel_rate"], simulation["right_rail.travel_rate"]])
    expected = np.cumsum([[1, 0], [3, 0], [0, 5], [0, 7], [0, 0]], axis=0) / 2.0 * 0.1
    np.testing.assert_allclose(rates, expected, atol=1e-9)


HANGING = [TREE[0], DIRECT[0], DIRECT[4]]


def hanging():
    """A rod that hangs from a hinge about y, and what weighs on its joint."""
    model = Model("hanging")
    model.add(Body("rod", mass=1.5, shapes=(Box((0.05, 0.05, 0.8), at=(0, 0, -0.4)),)))
    model.add(Hinge("pivot", "ground", "rod", axis=(0, 1, 0), position=0.6, velocity=1.0))
    model.add(Force("hand", "rod", force=(0, 0, 0)))
    return model


def newtons_law(record, force):
    """m a - m g - F: what the hinge has to give, from the angle and its rate alone."""
    angle, rate = record["pivot.angle"], record["pivot.angle_rate"]
    com = 0.4 * np.stack([-np.sin(angle), 0 * angle, -np.cos(angle)], axis=1)
    across = 0.4 * np.stack([-np.cos(angle), 0 * angle, np.sin(angle)], axis=1)
    pull = force + np.array([0, 0, -1.5 * 9.81])
    turning = np.cross(com, pull)[:, 1] / (1.5 * ((0.8**2 + 0.05**2) / 12 + 0.4**2))
    return 1.5 * (turning[:, None] * across - rate[:, None] ** 2 * com) - pull


@pytest.mark.parametrize("before", [True, False], ids=["before the first run", "between runs"])
@named(HANGING)
def test_reactions_tell_of_a_force(way, before):
    force = np.array([4.0, 2.0, -7.0])
    simulation = Simulation(hanging(), **way)
    if not before:
        record = simulation.run(0.1)
        given = np.stack([record[f"pivot.force.{axis}"] for axis in "xyz"], axis=1)
        np.testing.assert_allclose(given, newtons_law(record, np.zeros(3)), atol=1e-9)
    simulation.set_force("hand", force, body="rod", at=(0, 0, -0.4))
    record = simulation.run(0.2)
    given = np.stack([record[f"pivot.force.{axis}"] for axis in "xyz"], axis=1)
    np.testing.assert_allclose(given, newtons_law(record, force), atol=1e-9)
    # The moment of the force along the hinge's axis, about x, is all that bends the hinge there.
    arm = np.stack([record[f"rod.rotation.{part}"] for part in "wy"], axis=1)
    c, s = arm[:, 0] ** 2 - arm[:, 1] ** 2, 2 * arm[:, 0] * arm[:, 1]
    np.testing.assert_allclose(record["pivot.torque.x"], -0.4 * c * force[1], atol=1e-9)
    np.testing.assert_allclose(record["pivot.torque.z"], 0.4 * s * force[1], atol=1e-9)
    np.testing.assert_allclose(record["pivot.torque.y"], 0.0, atol=1e-9)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("hnad", (1, 0, 0)), r"no force 'hnad' that can be set \(did you mean 'hand'"),
        (("glued", (1, 0, 0)), "no force 'glued' that can be set"),
        (("coil", (1, 0, 0)), "no force 'coil' that can be set"),
        (("hand", (1, 0)), r"force of load 'hand' must be three finite numbers, not \[1\.0, 0\.0\]"),
        (("hand", 1.0), "must be three finite numbers"),
        (("hand", (1, 0, math.nan)), "must be three finite numbers"),
        (("hand", (math.inf, 0, 0)), "must be three finite numbers"),
        (("hand", (1, 0, 0), "rod", (0, 0)), r"at of load 'hand' must be three finite numbers"),
        (("hand", (1, 0, 0), "rod", (0, 0, math.nan)), r"at of load 'hand' must be three finite numbers"),
        (("hand", (1, 0, 0), "rdo"), r"no body 'rdo' \(did you mean 'rod'"),
    ],
)
@named(HANGING + IMPULSES)
def test_forces_that_cannot_be_set_are_refused(way, arguments, message):
    model = hanging()
    model.add(Force("glued", "rod", force=(1, 0, 0), follows=True))
    model.add(Spring("coil", "ground", "rod", at_a=(1, 0, 0), at_b=(0, 0, -0.8), stiffness=1.0))
    simulation, untouched = Simulation(model, **way), Simulation(model, **way)
    load, force, body, at = (*arguments, *(None, (0.0, 0.0, 0.0))[len(arguments) - 2 :])
    with pytest.raises(LinkworkError, match=message):
        simulation.set_force(load, force, body=body, at=at)
    simulation.step(10)
    untouched.step(10)
    assert simulation.q.tobytes() == untouched.q.tobytes()


def test_altering_forgets_forces_that_were_set():
    for way in TREE + ROWS:
        simulation = Simulation(loose(), **way)
        simulation.set_force("hand", (1, 0, 0))
        simulation.step(10)
        speed = simulation.v[0]
        assert speed == pytest.approx(0.01 / MASS, rel=1e-6)
        simulation.alter(loose())
        simulation.step(10)
        assert simulation.v[0] == pytest.approx(speed, rel=1e-12)


# --- states ---


@named(TREE + ROWS)
def test_a_saved_state_keeps_forces_bit_by_bit(way, tmp_path):
    model = with_load(scene("chain5"), Force("pull", "link1", force=(0, 0, 0)))

    def go_on(simulation):
        simulation.step(100)
        return simulation

    whole = go_on(Simulation(model, **way))
    whole.set_force("pull", (0, 5.0, 0), body="link4", at=(0.25, 0, 0))
    go_on(whole).save_state(tmp_path / "state.npz")
    other = Simulation(model, **way)
    other.load_state(tmp_path / "state.npz")
    go_on(whole), go_on(other)
    assert other.work == whole.work
    assert other.q.tobytes() == whole.q.tobytes()
    assert other.v.tobytes() == whole.v.tobytes()
    a, b = whole.run(0.01), other.run(0.01)
    for group in a.groups:
        assert a.array(group).tobytes() == b.array(group).tobytes(), group
    assert whole.work[0] != 0.0


@named([TREE[0], DIRECT[0], IMPULSES[0]])
def test_a_saved_state_knows_where_a_force_was_moved_before(way, tmp_path):
    model = with_load(scene("chain5"), Force("pull", "link1", force=(0, 0, 0)))
    one, other = Simulation(model, **way), Simulation(model, **way)
    one.set_force("pull", (0, 5.0, 0), body="link4", at=(0.25, 0, 0))
    one.set_force("pull", (0, 3.0, 0))
    one.save_state(tmp_path / "state.npz")
    other.load_state(tmp_path / "state.npz")
    one.step(50)
    other.step(50)
    assert other.q.tobytes() == one.q.tobytes()


@named([TREE[0], DIRECT[0], IMPULSES[0]])
def test_a_state_without_forces_takes_them_away(way, tmp_path):
    model = with_load(scene("chain5"), Force("pull", "link1", force=(0, 1.0, 0)))
    one, other = Simulation(model, **way), Simulation(model, **way)
    one.save_state(tmp_path / "state.npz")
    other.set_force("pull", (0, 5.0, 0), body="link4", at=(0.25, 0, 0))
    other.load_state(tmp_path / "state.npz")
    one.step(50)
    other.step(50)
    assert other.q.tobytes() == one.q.tobytes()
