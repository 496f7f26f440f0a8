"""Models changed while they move: other numbers, forces set from outside, states that remember both."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from helpers.one_dof import I, M, block, wheel
from linkwork import (
    Body,
    Box,
    Component,
    Cylindrical,
    Force,
    Free,
    Hinge,
    LinkworkError,
    Marker,
    Model,
    ModelError,
    Planar,
    Simulation,
    SimulationError,
    Slider,
    Spring,
    VelocityServo,
    Weld,
    scene,
)
from linkwork.live.parameters import parameters, with_parameter
from linkwork.model.edit import with_gravity, with_item, with_load

TREE = [{"method": "tree", "integrator": name} for name in ("rk4", "euler", "adaptive")]
DIRECT = [
    {"method": method, "solver": "direct", "integrator": name}
    for method in ("simgc", "simmc")
    for name in ("adams", "rk4", "euler", "adaptive")
]
IMPULSES = [{"method": method, "solver": "impulses"} for method in ("simgc", "simmc")]
ROWS = DIRECT + IMPULSES
DT = 1e-3


def named(ways):
    return pytest.mark.parametrize("way", ways, ids=lambda way: "-".join(way.values()))


def order(way):
    return 1 if way.get("integrator", "euler") == "euler" else 4


def error_bound(way, size=1.0):
    """What a motion of some rad/s may be off after a second.

    Order one: the step, times accelerations of about ten. Order four: (ω h)⁴ of some rad/s is 1e-10; impulses and
    the tolerance of the adaptive integrator, 1e-8, leave more.
    """
    return size * (10 * DT if order(way) == 1 else 1e-6)


# --- the same model again ---

MOVING = {
    "friction": lambda: scene("chain5", friction=0.3, damping=0.05),
    "turns": lambda: scene("crank_rocker", voltage=1.0),
    "limits": lambda: scene("jaws"),
    "ball": lambda: scene("hitch"),
    "loops": lambda: scene("double_four_bar", rate=8.0),
}
MOMENTS = 4


def stretches(model, way, alter):
    """Samples of a motion that is altered, or not, every 0.22 s."""
    simulation = Simulation(model(), **way)
    blocks = []
    for _ in range(MOMENTS):
        if alter:
            simulation.alter(model())
        blocks.append(simulation.advance([1, 5, 220]))
    return simulation, [np.concatenate(parts) for parts in zip(*blocks, strict=True)]


@named(TREE)
@pytest.mark.parametrize("name", ["chain5", "spherical_pendulum", "torsion_bar"])
def test_the_same_tree_goes_on_bit_by_bit(name, way):
    def model():
        return scene(name)

    _, plain = stretches(model, way, False)
    _, altered = stretches(model, way, True)
    for one, other in zip(plain, altered, strict=True):
        assert one.tobytes() == other.tobytes()


@named(ROWS)
@pytest.mark.parametrize("name", MOVING)
def test_the_same_mechanism_goes_on_as_if_nothing_had_been(name, way):
    one, plain = stretches(MOVING[name], way, False)
    other, altered = stretches(MOVING[name], way, True)
    assert other.time == one.time
    if "impulses" in way.values():
        assert all(a.tobytes() == b.tobytes() for a, b in zip(plain[:6], altered[:6], strict=True))
        return
    # The direct solver begins anew, on the constraints: what it left of them, some 1e-8 where forces are large, is
    # gone. Adams steps begin with Runge-Kutta steps, of another constant of order four.
    near = 1e-5 if way["integrator"] == "adams" else 1e-7
    for part in range(6):  # times, coordinates, rates, work; coordinates and rates of joints
        scale = max(1.0, np.abs(plain[part]).max())
        np.testing.assert_allclose(altered[part], plain[part], rtol=0, atol=near * scale)
    # Forces of rows, where the modes (sticking, sliding, at a limit) show.
    scale = max(1.0, np.abs(plain[8]).max())
    np.testing.assert_allclose(altered[8], plain[8], rtol=0, atol=1e3 * near * scale)


@pytest.mark.parametrize("method", ["simgc", "simmc"])
def test_joints_that_stick_still_do_when_asked_anew(method):
    simulation = Simulation(MOVING["friction"](), method=method, integrator="adaptive")
    before = simulation.advance([220])[8][0]
    simulation.alter(MOVING["friction"]())
    np.testing.assert_allclose(simulation.advance([0])[8][0], before, atol=1e-6)


@named(ROWS)
def test_turns_are_counted_on(way):
    way = way | {"method": "simmc"}  # where all angles are read from frames, which know no turns
    simulation, _ = stretches(MOVING["turns"], way, True)
    plain, _ = stretches(MOVING["turns"], way, False)
    assert simulation["crank.angle"] > 2 * math.pi
    assert simulation["crank.angle"] == pytest.approx(plain["crank.angle"], abs=1e-5)


# --- other numbers: formulas before and after ---

HALF, WHOLE = 0.4, 0.8


def altered_half_way(before, after, way):
    simulation = Simulation(before, dt=DT, **way)
    first = simulation.run(HALF, every=HALF)
    simulation.alter(after)
    return simulation, first, simulation.run(WHOLE - HALF, every=WHOLE - HALF)


def pendulum(gravity, **joint):
    model = Model("pendulum", gravity=(0, 0, -gravity))
    model.add(Body("bob", mass=1.3, com=(0, 0, -0.7), inertia=(0.2, 0.2, 0.1)))
    model.add(Hinge("pivot", "ground", "bob", axis=(0, 1, 0), **{"position": 1.2, "velocity": 0.5} | joint))
    return model


@named(TREE + ROWS)
def test_a_pendulum_under_another_gravity(way):
    _, first, second = altered_half_way(pendulum(9.81), pendulum(1.62), way)
    y = (1.2, 0.5)
    for record, g in ((first, 9.81), (second, 1.62)):
        pull = 1.3 * 0.7 * g / (0.2 + 1.3 * 0.7**2)
        motion = solve_ivp(
            lambda t, y, pull=pull: (y[1], -pull * math.sin(y[0])), (0, HALF), y, rtol=1e-12, atol=1e-12
        )
        y = motion.y[:, -1]
        assert record["pivot.angle"][-1] == pytest.approx(y[0], abs=error_bound(way))
        assert record["pivot.angle_rate"][-1] == pytest.approx(y[1], abs=error_bound(way, 5.0))
    np.testing.assert_allclose(second.time, [HALF, WHOLE], atol=1e-12)


@named(TREE + ROWS)
def test_a_fresh_simulation_of_that_state_goes_the_same_way(way):
    simulation, _, second = altered_half_way(pendulum(9.81), pendulum(1.62), way)
    again = Simulation(pendulum(9.81), **way)
    again.run(HALF, every=HALF)
    start = {"position": again["pivot.angle"], "velocity": again["pivot.angle_rate"]}
    fresh = Simulation(pendulum(1.62, **start), **way).run(WHOLE - HALF, every=WHOLE - HALF)
    # The steps of both differ: in size (adaptive), in how Adams begins, in the impulses (of 1e-6 N s) they begin with.
    near = 1e-4 if "impulses" in way.values() else 1e-7
    for name in ("pivot.angle", "pivot.angle_rate", "energy.kinetic", "energy.gravity"):
        assert second[name][-1] == pytest.approx(fresh[name][-1], abs=near)
    assert simulation.time == pytest.approx(WHOLE)


@named(TREE + ROWS)
def test_another_spring(way):
    k1, k2, x = 20.0, 80.0, 0.1
    _, first, second = altered_half_way(block(spring=k1, position=x), block(spring=k2, position=x), way)
    w1, w2 = math.sqrt(k1 / M), math.sqrt(k2 / M)
    u, v = x * math.cos(w1 * HALF), -x * w1 * math.sin(w1 * HALF)
    assert first["rail.travel"][-1] == pytest.approx(u, abs=error_bound(way, 0.1))
    end = u * math.cos(w2 * HALF) + v / w2 * math.sin(w2 * HALF)
    assert second["rail.travel"][-1] == pytest.approx(end, abs=error_bound(way, 0.1))
    # What is stored in it is that of the new spring from the first sample on.
    assert second["energy.strain"][0] == pytest.approx(0.5 * k2 * u * u, abs=error_bound(way, k2 * 0.01))


@named(TREE + ROWS)
def test_another_damper(way):
    c1, c2, v = 2.0, 8.0, 1.5
    simulation, _, second = altered_half_way(
        block(damping=c1, velocity=v), block(damping=c2, velocity=v), way
    )
    end = v * math.exp(-(c1 + c2) * HALF / M)
    assert second["rail.travel_rate"][-1] == pytest.approx(end, abs=error_bound(way))
    # The count of what was dissipated goes on.
    assert simulation.work[1] == pytest.approx(0.5 * M * (v * v - end * end), abs=error_bound(way, 3.0))


@named(ROWS)
def test_another_friction(way):
    f1, f2, v = 1.0, 5.0, 1.0
    simulation, first, second = altered_half_way(
        block(friction=f1, velocity=v), block(friction=f2, velocity=v), way
    )
    u = v - f1 / M * HALF
    assert first["rail.travel_rate"][-1] == pytest.approx(u, abs=1e-9)
    stop = u * M / f2
    assert stop < WHOLE - HALF
    assert second["rail.travel_rate"][-1] == pytest.approx(0.0, abs=1e-9)
    way_down = (v + u) / 2 * HALF + u * stop / 2
    assert second["rail.travel"][-1] == pytest.approx(way_down, abs=2 * DT if order(way) == 1 else 1e-9)
    assert simulation.work[1] == pytest.approx(0.5 * M * v * v, rel=1e-9 if order(way) == 4 else 1e-2)


@named(ROWS)
def test_friction_may_come_and_go(way):
    simulation = Simulation(block(velocity=1.0), **way)
    simulation.step(100)
    simulation.alter(block(friction=2.0))
    simulation.step(100)
    assert simulation["rail.travel_rate"] == pytest.approx(1.0 - 2.0 / M * 0.1, abs=1e-9)
    simulation.alter(block())
    simulation.step(100)
    assert simulation["rail.travel_rate"] == pytest.approx(1.0 - 2.0 / M * 0.1, abs=1e-9)


@named(ROWS)
def test_another_mass_keeps_the_velocity(way):
    simulation = Simulation(wheel(velocity=2.0, spring=0.0), **way)
    simulation.step(10)
    heavy = with_item(simulation.model, "bodies", "wheel", inertia=(0.3, 0.4, 2 * I), trust_inertia=True)
    simulation.alter(heavy)
    assert simulation["pin.angle_rate"] == pytest.approx(2.0, abs=1e-12)
    assert simulation.energies()[0] == pytest.approx(0.5 * 2 * I * 4.0)
    simulation.step(10)
    assert simulation["pin.angle"] == pytest.approx(2.0 * 0.02, abs=1e-12)


# --- what stays, and what is refused ---


@named(ROWS)
def test_commands_survive(way):
    model = wheel(VelocityServo("motor", "pin", command=1.0))
    simulation = Simulation(model, **way)
    simulation.step(20)
    assert simulation["pin.angle_rate"] == pytest.approx(1.0, abs=1e-6)
    simulation.command("motor", 3.0)
    simulation.alter(with_gravity(model, (1.0, 0.0, 0.0)))
    simulation.step(20)
    assert simulation["pin.angle_rate"] == pytest.approx(3.0, abs=1e-6)
    simulation.reset()  # to the start of the model, as it was written
    simulation.step(20)
    assert simulation["pin.angle_rate"] == pytest.approx(1.0, abs=1e-6)


@named(ROWS)
def test_commands_are_found_by_the_name_of_the_drive(way):
    def both(*names):
        model = Model("two", gravity=(0, 0, 0))
        for joint in ("left", "right"):
            model.add(Body(joint, mass=1.0, inertia=(0.1, 0.1, 0.1)))
            model.add(Hinge(joint, "ground", joint))
        for name in names:
            model.add(VelocityServo(f"{name}_motor", name))
        return model

    simulation = Simulation(both("left", "right"), **way)
    simulation.command("left_motor", 1.0)
    simulation.command("right_motor", 2.0)
    simulation.alter(both("right", "left"))
    simulation.step(10)
    assert simulation["left.angle_rate"] == pytest.approx(1.0, abs=1e-6)
    assert simulation["right.angle_rate"] == pytest.approx(2.0, abs=1e-6)


def test_a_step_size_that_was_changed_stays():
    for way in TREE + ROWS:
        simulation = Simulation(pendulum(9.81), dt=1e-3, **way)
        simulation.step(10)
        simulation.step(10, dt=5e-4)
        simulation.alter(pendulum(9.81))
        simulation.step(10)
        assert simulation.dt == 5e-4
        assert simulation.time == pytest.approx(0.02, abs=1e-12)


@named([TREE[0], DIRECT[0], DIRECT[4], *IMPULSES])
def test_another_mechanism_is_refused_by_name_and_nothing_changes(way):
    simulation = Simulation(pendulum(9.81), **way)
    simulation.step(10)
    model, angle = simulation.model, simulation["pivot.angle"]
    longer = pendulum(9.81)
    longer.add(Body("extra", mass=1.0, inertia=(1, 1, 1), at=(0, 0, -1)))
    longer.add(Slider("rail", "bob", "extra", at=(0, 0, -1)))
    column = r"~extra\.x_rate" if way["method"] == "simmc" else r"rail\.travel_rate"
    with pytest.raises(LinkworkError, match=f"cannot go on from here.*{column}"):
        simulation.alter(longer)
    with pytest.raises(ModelError, match="has no bodies"):
        simulation.alter(Model("empty"))
    assert simulation.model is model
    assert simulation["pivot.angle"] == angle
    assert simulation.time == pytest.approx(0.01)


def test_joints_in_another_order_are_refused():
    def pair(*names):
        model = Model("pair")
        for name in names:
            model.add(Body(name, mass=1.0, inertia=(1, 1, 1)))
            model.add(Hinge(f"{name}_pin", "ground", name))
        return model

    simulation = Simulation(pair("one", "two"))
    with pytest.raises(LinkworkError, match="their order"):
        simulation.alter(pair("two", "one"))


@named([DIRECT[0], DIRECT[4], *IMPULSES])
def test_a_mechanism_with_other_loops_is_refused_by_name(way):
    simulation = Simulation(scene("double_four_bar"), **way)
    opened = scene("double_four_bar")
    name = opened.joints.popitem()[0]
    with pytest.raises(LinkworkError, match=name):
        simulation.alter(opened)


@named([TREE[0], DIRECT[0], DIRECT[5], *IMPULSES])
def test_a_new_model_is_seen_reset_and_saved(way, tmp_path):
    simulation = Simulation(pendulum(9.81), **way)
    simulation.step(100)
    light = pendulum(1.62)
    assert simulation.stage.gravity == (0, 0, -9.81)
    simulation.alter(light)
    assert simulation.model is light
    assert simulation.stage.gravity == (0, 0, -1.62)
    simulation.save_state(tmp_path / "state.npz")
    other = Simulation(pendulum(1.62), **way)
    other.load_state(tmp_path / "state.npz")
    simulation.step(50)
    other.step(50)
    assert other.time == simulation.time
    assert other.q.tobytes() == simulation.q.tobytes()
    simulation.reset()
    simulation.step(50)
    fresh = Simulation(pendulum(1.62), **way)
    fresh.step(50)
    assert fresh.time == simulation.time
    assert fresh.q.tobytes() == simulation.q.tobytes()


@named([TREE[0], DIRECT[0], *IMPULSES])
def test_a_callback_of_a_run_may_alter_the_model(way):
    simulation = Simulation(pendulum(9.81), **way)
    record = simulation.run(WHOLE, every=HALF, callbacks=[(HALF, lambda s: s.alter(pendulum(1.62)))])
    _, _, second = altered_half_way(pendulum(9.81), pendulum(1.62), way)
    assert record["pivot.angle"][-1] == pytest.approx(second["pivot.angle"][-1], abs=1e-12)


@named([DIRECT[1], IMPULSES[0]])
def test_means_over_steps_do_not_fall_when_a_model_is_altered(way):
    outcomes = []
    for altered in (False, True):
        simulation = Simulation(scene("double_four_bar"), **way)
        simulation.step(300)
        if altered:
            simulation.alter(scene("double_four_bar"))
        simulation.step(100)
        outcomes.append(simulation.method.outcome())
    mean = "iterations_mean" if "impulses" in way.values() else "evaluations_mean"
    assert outcomes[1][mean] == pytest.approx(outcomes[0][mean], rel=0.05)


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


# --- models with other numbers ---


def twins():
    """Two instances of one component, one of them mirrored and inside another component."""
    leg = Component("leg")
    leg.add(Body("thigh", mass=2.0, inertia=(0.1, 0.1, 0.1)))
    leg.add(Body("shin", mass=1.0, at=(0, 0, -0.4), inertia=(0.1, 0.1, 0.1)))
    leg.add(
        Hinge("knee", "thigh", "shin", at=(0, 0, -0.4), axis=(0, 1, 0), friction=0.5, damping=0.2, spring=3.0)
    )
    leg.add(
        Spring("tendon", "thigh", "shin", at_a=(0.1, 0, 0), at_b=(0.1, 0, -0.5), stiffness=40.0, damping=1.0)
    )
    side = Component("side")
    side.add(leg.instance("leg", mirror=(0, 1, 0)))
    model = Model("walker", gravity=(0.0, -3.0, -4.0))
    model.add(leg.instance("left", at=(0, 0.1, 0)))
    model.add(side.instance("right", at=(0, -0.1, 0)))
    model.add(Body("hip", mass=5.0, inertia=(0.2, 0.2, 0.2)))
    model.add(Free("base", "ground", "hip"))
    model.add(Hinge("left_hip", "hip", "left.thigh", axis=(0, 1, 0)))
    model.add(Hinge("right_hip", "hip", "right.leg.thigh", axis=(0, 1, 0)))
    return model


@pytest.mark.parametrize("where", ["left", "right.leg"])
def test_an_item_of_one_instance_is_changed_alone(where):
    model, same = twins(), twins()
    made = with_item(model, "joints", f"{where}.knee", friction=0.9)
    old, new = model.flatten(), made.flatten()
    assert new.joints[f"{where}.knee"].friction == 0.9
    assert model == same
    assert type(made) is Model
    assert made.gravity == model.gravity
    for one, other in zip(old.items(), new.items(), strict=True):
        assert (one == other) is (one.name != f"{where}.knee"), one.name
    Simulation(made)


def test_an_item_of_the_model_itself_is_changed():
    made = with_item(twins(), "bodies", "hip", mass=7.0)
    assert made.flatten().bodies["hip"].mass_properties.mass == 7.0
    assert with_gravity(twins(), (1, 2, 3)).gravity == (1, 2, 3)


def test_what_is_added_to_a_changed_model_is_not_added_to_the_old_one():
    model = twins()
    made = with_load(with_gravity(model, (0, 0, 0)), Force("hand", "hip", force=(1, 0, 0)))
    made.instances.pop("left")
    assert "hand" in made.loads
    assert model == twins()


@pytest.mark.parametrize(
    ("shelf", "name", "message"),
    [
        ("joints", "left.kneee", r"no 'kneee' among the joints of 'leg' \(did you mean 'knee'"),
        ("joints", "middle.knee", r"no 'middle\.knee' among the joints of 'walker'"),
        ("loads", "left.knee", "no 'knee' among the loads of 'leg'"),
        ("joints", "right.knee", "no 'knee' among the joints of 'side'"),
    ],
)
def test_items_that_are_not_there_are_named(shelf, name, message):
    with pytest.raises(LinkworkError, match=message):
        with_item(twins(), shelf, name, friction=1.0)


def test_values_that_an_item_cannot_have_are_refused():
    with pytest.raises(ModelError, match="friction"):
        with_item(twins(), "joints", "left.knee", friction=-1.0)
    with pytest.raises(LinkworkError, match="stickiness"):
        with_item(twins(), "joints", "left.knee", stickiness=1.0)


def test_parameters_are_listed_with_values_and_units():
    found = {p.name: p for p in parameters(twins())}
    assert next(iter(found)) == "gravity"
    assert found["gravity"].value == pytest.approx(5.0)
    expected = {
        f"{leg}.{name}": value
        for leg in ("left", "right.leg")
        for name, value in {
            "knee.friction": (0.5, "N m"),
            "knee.damping": (0.2, "N m s/rad"),
            "knee.spring": (3.0, "N m/rad"),
            "tendon.stiffness": (40.0, "N/m"),
            "tendon.damping": (1.0, "N s/m"),
        }.items()
    }
    assert {name: (p.value, p.unit) for name, p in found.items() if name != "gravity"} == expected
    assert all(p.high > p.value for p in found.values())
    slider = Model("slider")
    slider.add(Body("cart", mass=1.0, inertia=(1, 1, 1)))
    slider.add(Slider("rail", "ground", "cart", friction=2.0))
    assert [(p.name, p.unit) for p in parameters(slider)[1:]] == [("rail.friction", "N")]


def test_every_parameter_of_every_scene_can_be_doubled():
    for name in ("chain5", "jaws", "crank_rocker", "excavator", "stewart", "torsion_bar", "scissor_lift"):
        model, same = scene(name), scene(name)
        for parameter in parameters(model):
            made = with_parameter(model, parameter.name, 2 * parameter.value)
            changed = {p.name: p.value for p in parameters(made)}
            for old in parameters(model):
                factor = 2.0 if old.name == parameter.name else 1.0
                assert changed[old.name] == pytest.approx(factor * old.value, rel=1e-12)
        assert model == same


def test_gravity_keeps_its_direction():
    made = with_parameter(twins(), "gravity", 10.0)
    np.testing.assert_allclose(made.gravity, (0.0, -6.0, -8.0), atol=1e-12)
    weightless = with_parameter(twins(), "gravity", 0.0)
    assert weightless.gravity == pytest.approx((0, 0, 0))
    assert with_parameter(weightless, "gravity", 1.0).gravity == (0, 0, -1.0)


def test_coordinates_of_one_joint_keep_their_proportions():
    model = Model("tube")
    model.add(Body("pin", mass=1.0, inertia=(1, 1, 1)))
    model.add(Cylindrical("tube", "ground", "pin", friction=(1.0, 4.0), damping=2.0))
    assert with_parameter(model, "tube.friction", 2.0).joints["tube"].friction == (0.5, 2.0)
    assert with_parameter(model, "tube.damping", 3.0).joints["tube"].per_rate("damping") == (3.0, 3.0)
    plane = Model("plane")
    plane.add(Body("puck", mass=1.0, inertia=(1, 1, 1)))
    plane.add(Planar("ice", "ground", "puck"))
    assert with_parameter(plane, "ice.friction", 3.0).joints["ice"].per_rate("friction") == (3.0, 3.0, 3.0)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        (
            "left.knee.frction",
            1.0,
            r"no parameter 'left\.knee\.frction'.*did you mean 'left\.knee\.friction'",
        ),
        ("left.tendon.friction", 1.0, r"no parameter 'left\.tendon\.friction'"),
        ("left.knee.armature", 1.0, r"no parameter 'left\.knee\.armature'"),
        ("hip.mass", 1.0, "no parameter"),
        ("", 1.0, "no parameter"),
        ("gravity", -1.0, "'gravity' must not be negative"),
        ("left.knee.friction", -0.1, "must not be negative"),
        ("left.tendon.stiffness", math.nan, "must not be negative"),
        ("left.tendon.stiffness", math.inf, "must not be negative"),
    ],
)
def test_parameters_that_cannot_be_changed_are_refused(name, value, message):
    with pytest.raises(LinkworkError, match=message):
        with_parameter(twins(), name, value)


def test_a_welded_joint_has_no_parameters():
    model = Model("welded")
    model.add(Body("a", mass=1.0, inertia=(1, 1, 1)))
    model.add(Body("b", mass=1.0, inertia=(1, 1, 1)))
    model.add(Hinge("pin", "ground", "a"))
    model.add(Weld("seam", "a", "b"))
    assert [p.name for p in parameters(model)] == ["gravity"]


@pytest.mark.parametrize(
    "name", ["left.knee.friction", "left.knee.spring", "left.tendon.stiffness", "gravity"]
)
def test_a_parameter_changes_a_motion_and_back(name):
    model = twins()
    value = {p.name: p.value for p in parameters(model)}[name]
    plain, there, back = (Simulation(model, integrator="rk4") for _ in range(3))
    there.alter(with_parameter(model, name, 2 * value))
    back.alter(with_parameter(with_parameter(model, name, 2 * value), name, value))
    for simulation in (plain, there, back):
        simulation["left.knee.angle_rate"] = 3.0
        simulation.step(200)
    np.testing.assert_allclose(back.q, plain.q, atol=1e-12)
    assert np.abs(there.q - plain.q).max() > 1e-3
