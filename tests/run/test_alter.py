"""Models changed while they move: the same model again, other numbers, and what is refused."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from helpers.one_dof import I, M, block, wheel
from helpers.ways import DIRECT, DT, IMPULSES, ROWS, TREE, error_bound, named, order, pendulum
from linkwork import Body, Hinge, LinkworkError, Model, ModelError, Simulation, Slider, VelocityServo, scene
from linkwork.model.edit import with_gravity, with_item

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
