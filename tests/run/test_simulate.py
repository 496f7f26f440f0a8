"""Running: samples, callbacks, stop conditions, resuming, and loud failures."""

import dataclasses
import hashlib

import numpy as np
import pytest

from helpers.processes import python
from linkwork import (
    Body,
    BodyFunction,
    Box,
    Hinge,
    JointFunction,
    LinkworkError,
    Material,
    Model,
    ModelError,
    Record,
    Scenery,
    Simulation,
    SimulationError,
    Slider,
    Spherical,
    Spring,
    UnsupportedError,
    scene,
)
from linkwork.model.shapes import Plane


def pendulum(**joint):
    model = Model("pendulum")
    model.add(Body("rod", mass=1.0, shapes=(Box((0.1, 0.1, 1.0), at=(0, 0, -0.5)),)))
    model.add(Hinge("pivot", "ground", "rod", axis=(0, 1, 0), **joint))
    return model


@pytest.mark.parametrize("integrator", ["rk4", "euler", "adaptive"])
def test_samples_stand_where_they_were_asked_for(integrator):
    record = Simulation(pendulum(position=1.0), integrator=integrator).run(0.55, every=0.1)
    np.testing.assert_allclose(record.time, [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.55], atol=1e-12)


def test_a_long_run_is_sampled_across_blocks():
    record = Simulation(pendulum(position=1.0)).run(1.0, every=0.001)
    np.testing.assert_allclose(record.time, np.arange(1001) * 1e-3, atol=1e-12)


@pytest.mark.parametrize("integrator", ["rk4", "euler", "adaptive"])
def test_callbacks_come_at_their_periods_between_samples(integrator):
    seen = {"a": [], "b": []}
    simulation = Simulation(pendulum(position=1.0), integrator=integrator)
    simulation.run(
        0.1,
        every=0.02,
        callbacks=[(0.03, lambda s: seen["a"].append(s.time)), (0.05, lambda s: seen["b"].append(s.time))],
    )
    np.testing.assert_allclose(seen["a"], [0.03, 0.06, 0.09], atol=1e-12)
    np.testing.assert_allclose(seen["b"], [0.05, 0.1], atol=1e-12)


def test_a_callback_may_act_on_the_mechanism():
    simulation = Simulation(pendulum())

    def kick(s):
        s["pivot.angle_rate"] = 2.0

    record = simulation.run(0.2, every=0.1, callbacks=[(0.1, kick)])
    assert abs(record["pivot.angle"][1]) == 0.0
    assert record["pivot.angle"][2] > 0.1


def test_a_stop_condition_ends_the_run():
    simulation = Simulation(pendulum(position=1.0))
    record = simulation.run(10.0, until=lambda s: s["pivot.angle"] < 0)
    assert 0.2 < record.time[-1] < 1.0
    assert record["pivot.angle"][-1] < 0 < record["pivot.angle"][-2]


@pytest.mark.parametrize("integrator", ["rk4", "euler", "adaptive"])
def test_a_resumed_run_goes_on_bit_by_bit(tmp_path, integrator):
    def fresh():
        return Simulation(scene("chain5", damping=0.1), integrator=integrator)

    whole = fresh()
    whole.run(1.0, every=0.1)
    first = fresh()
    first.run(0.5, every=0.1)
    first.save_state(tmp_path / "half.npz")
    second = fresh()
    second.load_state(tmp_path / "half.npz")
    second.run(0.5, every=0.1)
    assert second.time == whole.time
    assert second.q.tobytes() == whole.q.tobytes()
    assert second.v.tobytes() == whole.v.tobytes()
    assert second.work == whole.work


def test_a_state_of_another_model_or_step_is_refused(tmp_path):
    path = tmp_path / "state.npz"
    Simulation(scene("chain5")).save_state(path)
    with pytest.raises(LinkworkError, match="another model"):
        Simulation(scene("chain5", damping=1.0)).load_state(path)
    with pytest.raises(LinkworkError, match="another integrator or step"):
        Simulation(scene("chain5"), dt=2e-3).load_state(path)
    (tmp_path / "junk.npz").write_bytes(b"junk")
    with pytest.raises(LinkworkError, match="not a saved state"):
        Simulation(scene("chain5")).load_state(tmp_path / "junk.npz")


HASH = """
import hashlib
from linkwork import Simulation, scene
for integrator in ("rk4", "euler", "adaptive"):
    record = Simulation(scene("spherical_pendulum"), integrator=integrator).run(1.0)
    print(hashlib.sha256(record.array("coordinates").tobytes()).hexdigest())
"""


def test_the_same_run_gives_the_same_bits_in_every_process():
    runs = [python("-c", HASH) for _ in range(2)]
    assert runs[0] == runs[1]
    here = Simulation(scene("spherical_pendulum"), integrator="rk4").run(1.0)
    assert hashlib.sha256(here.array("coordinates").tobytes()).hexdigest() in runs[0]


def test_a_diverging_run_stops_with_time_body_and_reason_and_keeps_its_record(tmp_path):
    model = Model("stiff")
    model.add(Body("cart", mass=1.0))
    model.add(Slider("rail", "ground", "cart", axis=(1, 0, 0), spring=1e8, position=0.1))
    path = tmp_path / "run.h5"
    with pytest.raises(
        SimulationError, match=r"'rail\.travel_rate' of body 'cart'.*the spring of 'rail.travel' is too stiff"
    ) as caught:
        Simulation(model, method="tree", dt=1e-3).run(1.0, every=1e-3, save=path)
    assert 0 < caught.value.time < 1.0
    assert len(caught.value.record) >= 1
    kept = Record.load(path)
    assert len(kept) == len(caught.value.record)
    assert "rail" in kept.info["failure"]


def test_a_stiff_spring_between_points_is_named():
    model = Model("stiff", gravity=(0, 0, 0))
    model.add(Body("cart", mass=1.0, inertia=(1, 1, 1)))
    model.add(Slider("rail", "ground", "cart", axis=(1, 0, 0), position=0.1))
    model.add(Spring("cable", "ground", "cart", at_a=(-1, 0, 0), at_b=(0, 0, 0), stiffness=1e8, length=1.0))
    with pytest.raises(SimulationError, match=r"the spring of 'cable' is too stiff for dt = 0\.001 s"):
        Simulation(model, method="tree").run(1.0)


def above_a_floor(model):
    """The same, above a floor that its only body may touch, too far away to stop even what runs away."""
    (body,) = model.bodies.values()
    model.bodies[body.name] = dataclasses.replace(body, material="wood")
    model.add(Material("wood", friction=0.5))
    model.add(Scenery("floor", shapes=(Plane(at=(0, 0, -1e9)),), material="wood"))
    return model


def test_advice_is_not_what_contact_refuses():
    def growing(t, x, v, parameters, out):
        out[0] = 1e3 * v[0]

    model = pendulum(velocity=1.0)
    model.add(JointFunction("load", "pivot", growing))
    with pytest.raises(SimulationError, match=r"too long: shorten it, or use 'adaptive'$"):
        Simulation(model).run(10.0)
    with pytest.raises(SimulationError, match=r"too long: shorten it$"):
        Simulation(above_a_floor(model)).run(10.0)
    with pytest.raises(UnsupportedError):
        Simulation(model, integrator="adaptive", sleep=1.0)


def test_stiff_springs_are_harmless_and_blameless_with_contact():
    def growing(t, x, v, parameters, out):
        out[0] = 1e3 * v[0]

    # Towards its own pivot: a spring that keeps its length, however the rod swings.
    idle = Spring("cable", "ground", "rod", at_a=(0, 0, 0), at_b=(0, 0, -1), stiffness=1e8, length=1.0)
    model = above_a_floor(pendulum(spring=1e8, position=0.1))
    model.add(idle)
    Simulation(model).run(1.0)
    model = above_a_floor(pendulum(velocity=1.0))
    model.add(idle)
    model.add(JointFunction("load", "pivot", growing))
    with pytest.raises(SimulationError, match=r"too long: shorten it$"):
        Simulation(model).run(10.0)


def test_nan_from_a_user_function_stops_the_run():
    def broken(t, x, v, parameters, out):
        out[0] = np.sqrt(parameters[0] - t)

    model = pendulum(position=0.1)
    model.add(JointFunction("fault", "pivot", broken, parameters=(0.05,)))
    with pytest.raises(SimulationError, match="is not a number") as caught:
        Simulation(model).run(1.0)
    assert caught.value.time == pytest.approx(0.05, abs=2e-3)


def test_the_adaptive_integrator_gives_up_loudly_at_a_pole():
    def pole(t, x, v, parameters, out):
        out[0] = 1.0 / (0.05 - t) ** 2

    model = pendulum()
    model.add(JointFunction("pole", "pivot", pole))
    with pytest.raises(SimulationError, match="t = "):
        Simulation(model, integrator="adaptive").run(1.0)


def test_energy_from_nowhere_is_a_warning():
    record = Simulation(scene("chain5"), integrator="euler", dt=2e-3).run(5.0)
    assert any("from nowhere" in warning for warning in record.info["warnings"])
    record = Simulation(scene("chain5"), integrator="rk4").run(5.0)
    assert record.info["warnings"] == []


def test_a_dof_without_inertia_is_refused_by_name():
    model = Model("thin")
    model.add(Body("wire", mass=1.0, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.0)))
    model.add(Spherical("ball", "ground", "wire"))
    with pytest.raises(ModelError, match=r"'ball\.wz': has no inertia") as caught:
        Simulation(model)
    assert len(caught.value.problems) == 1
    model = Model("massless")
    model.add(Body("stub", mass=0.0, inertia=(0, 0, 0)))
    model.add(Hinge("pivot", "ground", "stub"))
    with pytest.raises(ModelError, match=r"'pivot\.angle_rate': has no inertia"):
        Simulation(model)


def test_two_coaxial_hinges_with_nothing_between_are_refused():
    model = Model("coaxial")
    model.add(Body("ring", mass=0.0, inertia=(0, 0, 0)))
    model.add(Body("arm", mass=1.0, com=(0.5, 0, 0)))
    model.add(Hinge("inner", "ground", "ring"))
    model.add(Hinge("outer", "ring", "arm"))
    with pytest.raises(ModelError, match=r"'inner\.angle_rate': has no inertia"):
        Simulation(model)


def test_loops_are_refused_by_name():
    model = pendulum()
    model.add(Spherical("brace", "ground", "rod", at=(0, 0, -1)))
    with pytest.raises(UnsupportedError, match="joint 'brace' closes a loop"):
        Simulation(model, method="tree")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: Simulation(m, dt=0.0), "dt must be a positive number"),
        (lambda m: Simulation(m, dt=float("nan")), "dt must be a positive number"),
        (
            lambda m: Simulation(m, integrator="rk5"),
            r"no integrator 'rk5' \(it has rk4, adams, adaptive, euler\)",
        ),
        (lambda m: Simulation(m).run(-1.0), "duration must be a positive number"),
        (lambda m: Simulation(m).run(1.0005), r"duration = 1\.0005 s is not a multiple of dt = 0\.001 s"),
        (lambda m: Simulation(m).run(1.0, every=0.0015), r"every = 0\.0015 s is not a multiple of dt"),
        (
            lambda m: Simulation(m)["pivot.angel"],
            r"no signal 'pivot\.angel' \(did you mean 'pivot\.angle'",
        ),
    ],
)
def test_bad_calls_say_what_to_do(call, message):
    with pytest.raises(LinkworkError, match=message):
        call(pendulum())


def test_a_state_that_is_not_finite_is_refused_before_the_run():
    simulation = Simulation(pendulum())
    simulation["pivot.angle"] = float("inf")
    with pytest.raises(LinkworkError, match="not finite"):
        simulation.run(1.0)


def test_reactions_carry_the_weight_and_the_centripetal_force():
    # A point mass on a massless arm passing its lowest point at rate w pulls with m (g + w² l).
    model = Model("bob")
    model.add(Body("bob", mass=2.0, com=(0, 0, -1.5)))
    model.add(Hinge("pivot", "ground", "bob", axis=(0, 1, 0), velocity=3.0))
    record = Simulation(model).run(0.001)
    assert record["pivot.force.z"][0] == pytest.approx(2.0 * (9.81 + 3.0**2 * 1.5), rel=1e-12)
    assert record["pivot.torque.y"][0] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("backwards", [False, True])
def test_reactions_do_not_depend_on_how_the_tree_passes_a_joint(backwards):
    model = Model("hanging")
    model.add(Body("load", mass=3.0, inertia=(1, 1, 1)))
    ends = ("load", "ground") if backwards else ("ground", "load")
    model.add(Slider("rail", *ends, axis=(1, 0, 0)))
    record = Simulation(model).run(0.001)
    # The force of a on b: the ground holds the load up, the load pulls the ground down.
    assert record["rail.force.z"][0] == pytest.approx(-3.0 * 9.81 if backwards else 3.0 * 9.81)


def test_work_of_loads_is_balanced():
    def push(t, x, v, parameters, out):
        out[4] = parameters[0] * np.cos(3 * t)  # a force along y
        out[2] = 0.2 * np.sin(5 * t)  # a torque about z

    model = Model("driven", gravity=(0, -9.81, 0))
    model.add(Body("arm", mass=1.0, shapes=(Box((1, 0.1, 0.1), at=(0.5, 0, 0)),)))
    model.add(Hinge("pivot", "ground", "arm", damping=0.3, spring=2.0, rest=0.4))
    model.add(BodyFunction("hand", "arm", push, parameters=(4.0,)))
    record = Simulation(model).run(5.0)
    assert abs(record["energy.supplied"]).max() > 0.1
    assert record["energy.dissipated"][-1] > 0.1
    # RK4 at 1 ms on a motion of some rad/s.
    assert record.energy_drift < 1e-9


def test_a_run_appends_to_its_file_and_progress_is_told(tmp_path):
    shares = []
    record = Simulation(scene("chain5")).run(1.0, save=tmp_path / "run.h5", progress=shares.append)
    assert shares[-1] == 1.0
    loaded = Record.load(tmp_path / "run.h5")
    assert loaded["joint1.angle"].tobytes() == record["joint1.angle"].tobytes()
    assert loaded.info["steps"] == 1000
    assert loaded.unit("joint1.angle_acceleration") == "rad/s²"


@pytest.mark.parametrize(
    ("method", "solver"),
    [
        ("simgc", "direct"),
        ("simmc", "direct"),
        ("simgc", "impulses"),
        ("simmc", "impulses"),
    ],
)
def test_closing_angles_count_turns_however_coarse_the_samples(method, solver):
    model = scene("double_four_bar", rate=8.0)
    model.gravity = (0, 0, 0)
    simulation = Simulation(model, method=method, solver=solver)
    record = simulation.run(2.0, every=1.0)
    # A parallelogram: all three ground links turn alike, at 8 rad/s, in and out of the tree.
    apart = 0.05 if solver == "impulses" else 1e-9
    np.testing.assert_allclose(record["A1.angle"], record["A0.angle"], atol=apart)
    again = simulation.run(1.0, every=1.0)
    assert again["A1.angle"][0] == record["A1.angle"][-1]
    assert simulation["A1.angle"] == again["A1.angle"][-1]
    assert simulation["A1.angle_rate"] == pytest.approx(simulation["A0.angle_rate"], abs=apart)


@pytest.mark.parametrize("solver", ["direct", "impulses"])
def test_what_a_method_cannot_do_is_refused_by_name(solver):
    simulation = Simulation(scene("double_four_bar"), method="simmc", solver=solver)
    with pytest.raises(LinkworkError, match=r"did you mean 'A0\.angle'"):
        simulation["A0.angel"]
    if solver == "impulses":
        with pytest.raises(UnsupportedError, match="has no accelerations"):
            simulation.accelerations()


@pytest.mark.parametrize(
    ("solver", "other"),
    [
        ("impulses", {"solver": "impulses", "erp": 0.5}),
        ("impulses", {"solver": "direct"}),
        ("direct", {"solver": "impulses"}),
        ("direct", {"integrator": "rk4"}),
        ("direct", {"tolerance": 1e-8}),
        ("direct", {"method": "simmc"}),
        ("direct", {"dt": 2e-3}),
    ],
)
def test_a_state_is_tied_to_the_rows_and_options_of_its_method(solver, other, tmp_path):
    Simulation(scene("chain5", friction=1.0), solver=solver).save_state(tmp_path / "s.npz")
    with pytest.raises(LinkworkError, match="another model"):
        Simulation(scene("chain5", friction=2.0), solver=solver).load_state(tmp_path / "s.npz")
    with pytest.raises(LinkworkError, match=r"another (integrator or step|model)|it lacks"):
        Simulation(scene("chain5", friction=1.0), **other).load_state(tmp_path / "s.npz")


@pytest.mark.parametrize("solver", ["direct", "impulses"])
def test_strain_of_soft_springs_is_told(solver):
    simulation = Simulation(scene("torsion_bar"), method="simgc", solver=solver)
    record = simulation.run(0.1)
    assert simulation.energies()[2] == pytest.approx(record["energy.strain"][-1], rel=1e-12)
    assert record["energy.strain"].max() > 0
