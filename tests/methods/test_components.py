"""Component-based simulation: any hierarchy of subsystems tells the accelerations of the whole.

Motion against exact and published solutions is tested beside the direct solver (test_direct.py, test_switching.py,
test_method_state.py), the car in test_car.py.
"""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from helpers.one_dof import block, wheel
from helpers.partitions import by_components, random_partition, smooth_mechanism, some_partitions
from helpers.runs import apart
from helpers.trees import random_joint
from linkwork import (
    Body,
    BodyFunction,
    Bushing,
    DCMotor,
    Force,
    Hinge,
    JointFunction,
    LineFunction,
    LinkworkError,
    Model,
    PositionServo,
    Repeater,
    Simulation,
    SimulationError,
    Slider,
    Spherical,
    Spring,
    Torque,
    TorqueSource,
    UnsupportedError,
    VelocityServo,
    Weld,
    scene,
)
from linkwork.compile.compiler import Compiled, compile_model
from linkwork.compile.subsystems import Subsystem, monolith
from linkwork.engine.elements.stiffness import soft_rows
from linkwork.engine.steppers.sweeps import DEGENERATE
from linkwork.mechanism.closure import Closure, yielding
from linkwork.mechanism.kinematics import Kinematics
from linkwork.methods.direct import Direct
from linkwork.methods.rows import Start
from linkwork.model.item import GROUND

SEEDS = st.integers(0, 10**6)
quick = settings(max_examples=25, deadline=None, derandomize=True)


def whole(model):
    """By the direct solver in maximal coordinates; adaptive, for fixed steps take stiff rows implicitly."""
    options = Direct(coordinates="maximal", integrator="adaptive", tolerance=1e-8)
    return options.build(Compiled(model), 1e-3)


def assert_same(found, wanted):
    """To rounding: 1e-16 times masses that differ by 100 in A, and as much again in its inverse."""
    np.testing.assert_allclose(found, wanted, rtol=0.0, atol=1e-9 * max(1.0, np.abs(wanted).max(initial=0.0)))


# --- accelerations of the whole ---


@quick
@given(SEEDS)
def test_accelerations_do_not_depend_on_the_partition(seed):
    model = smooth_mechanism(seed, decades=2.0, redundant=0.0)
    wanted = whole(model).accelerations()
    for partition in (monolith(model), *some_partitions(model, seed)):
        assert_same(by_components(model, partition).accelerations(), wanted)


@quick
@given(SEEDS)
def test_springs_yield_as_in_the_tree(seed):
    model = smooth_mechanism(seed, decades=2.0, redundant=0.0)
    method = by_components(model, monolith(model))
    method = getattr(method, "method", method)
    start, rows = Start(model, maximal=True), method.part.rows
    tree = start.tree
    soft = [i for i in soft_rows(rows.constraints) if rows.names[i] in tree.rows.names]
    # Rotors in joints that close loops are rows, which the other way leaves out.
    assume(not any(name.endswith("armature") for name in rows.names) and soft)
    wanted = yielding(
        Closure(tree, start.tree_q),
        start.tree_q,
        np.array([tree.rows.names.index(rows.names[i]) for i in soft]),
    )
    found = method.part.yielding(np.array(soft))
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-9 * max(1.0, wanted.max()))


@quick
@given(SEEDS)
def test_redundant_joints_need_no_care(seed):
    # At rest: repeated joints may contradict each other in motion (two universal joints, one of them turned round).
    model = smooth_mechanism(seed, decades=2.0, redundant=1.0, moving=False)
    wanted = whole(model).accelerations()
    for partition in (monolith(model), *some_partitions(model, seed)):
        assert_same(by_components(model, partition).accelerations(), wanted)


def push(t, x, v, parameters, out):
    out[0], out[4] = 3.0 * np.sin(t) - v[0], 0.2


def pull(t, x, v, parameters, out):
    out[0] = parameters[0] * (x[0] - 1.0) + 0.1 * v[0]


def everything(seed):
    """A random tree of all kinds of joints with loops, and all that may act in it."""
    model = smooth_mechanism(seed, bodies=(6, 8), loops=(1, 2), decades=2.0, redundant=0.0, extras=False)
    rng = np.random.default_rng(seed)
    at = {name: body.at for name, body in model.bodies.items()}
    one, two, three = list(at)[:3]
    model.add(Body("drum", mass=2.0, inertia=(0.2, 0.3, 0.4), at=(1.0, 0.0, 0.0)))
    model.add(Body("shuttle", mass=1.5, inertia=(0.1, 0.1, 0.1), at=(0.0, 1.0, 0.0)))
    model.add(Body("motor", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(0.0, 0.0, 1.0)))
    model.add(Hinge("drum_pin", one, "drum", at=(1.0, 0.0, 0.0), spring=3.0, damping=0.2, armature=0.1))
    model.add(Slider("track", two, "shuttle", at=(0.0, 1.0, 0.0), damping=0.5, armature=0.3))
    model.add(Hinge("motor_pin", three, "motor", at=(0.0, 0.0, 1.0)))
    model.add(Repeater("belt", "drum_pin", "motor_pin", ratio=1.7))
    model.add(
        DCMotor(
            "dc", "motor_pin", command=0.4, stall_torque=0.5, idle_speed=50.0, time_constant=0.02, gear=3.0
        )
    )
    model.add(VelocityServo("feed", "track", command=0.0))
    model.add(PositionServo("hold", "drum_pin", command=0.2, stiffness=5.0, damping=0.1, strength=0.7))
    model.add(TorqueSource("twist", "drum_pin", command=0.4))
    model.add(Force("force", one, force=tuple(rng.normal(size=3)), at=at[one], follows=True))
    model.add(Torque("torque", two, torque=tuple(rng.normal(size=3))))
    model.add(Spring("spring", one, "drum", at_a=at[one], at_b=(1.0, 0.5, 0.0), stiffness=20.0, damping=1.0))
    model.add(
        Bushing(
            "bushing",
            two,
            "motor",
            at_a=(0.0, 0.2, 0.8),
            at_b=(0.0, 0.2, 0.8),
            stiffness=(20.0,) * 3,
            damping=(0.5,) * 3,
        )
    )
    model.add(BodyFunction("wind", three, push))
    model.add(
        LineFunction(
            "rope", "drum", GROUND, pull, at_a=(1.0, 0.5, 0.0), at_b=(3.0, 0.0, 2.0), parameters=(-4.0,)
        )
    )
    return model


@pytest.mark.parametrize("seed", range(4))
def test_all_that_may_act(seed):
    model = everything(seed)
    wanted = whole(model).accelerations()
    for partition in (monolith(model), *some_partitions(model, seed)):
        assert_same(by_components(model, partition).accelerations(), wanted)


def test_all_that_may_act_moves_as_in_generalized_coordinates():
    one, other, third = (
        Simulation(everything(1), method=method, tolerance=1e-11).run(0.2)
        for method in ("components", "simgc", "simmc")
    )
    assert apart(one, other) < 1e-8
    # In generalized coordinates rotors are part of the tree, and their energy is kinetic: compare with the others.
    for name in ("supplied", "dissipated", "kinetic"):
        np.testing.assert_allclose(one[f"energy.{name}"], third[f"energy.{name}"], atol=1e-7)


# --- D and r themselves ---


def inside(model, bodies):
    """What of a model holds these bodies together."""
    part = Model("part", gravity=model.gravity)
    for body in model.bodies.values():
        if body.name in bodies:
            part.add(body)
    for joint in model.joints.values():
        if {joint.a, joint.b} - {GROUND} <= set(bodies):
            part.add(joint)
    return part


@quick
@given(SEEDS)
def test_border_matrices_are_what_they_are_defined_as(seed):
    """D: what border bodies do under unit forces, by pseudoinverse; r: what they do alone, by another method."""
    model = smooth_mechanism(seed, bodies=(3, 6), decades=2.0, redundant=0.5, extras=False, moving=False)
    partition = random_partition(np.random.default_rng(seed), model.bodies)
    method = by_components(model, partition)
    method.accelerations()
    work, placement = method.part.work, method.part.placement
    index = {name: k for k, name in enumerate(method.system.bodies)}
    for i, part in enumerate(placement.parts):
        ports = placement.borders[part.name].ports
        if not ports:
            continue
        alone = inside(model, part.everybody())
        system = compile_model(alone, rows=True, maximal=True)
        order = {name: k for k, name in enumerate(system.bodies)}
        kinematics = Kinematics(system)
        q = np.concatenate([method.state.q[7 * index[name] : 7 * index[name] + 7] for name in order])
        kinematics.place(q)
        W = np.linalg.inv(kinematics.inertia())
        J = kinematics.jacobian(kinematics.hold)
        G = J / np.maximum(np.linalg.norm(J, axis=1, keepdims=True), DEGENERATE)
        wanted = W - W @ G.T @ np.linalg.pinv(G @ W @ G.T, rcond=1e-10, hermitian=True) @ G @ W
        columns = np.concatenate([6 * order[name] + np.arange(6) for name in ports])
        size, d, c = 6 * len(ports), work.node[i]["D"], work.node[i]["column"]
        D = work.D[d : d + size * size].reshape(size, size)
        np.testing.assert_allclose(D, D.T, atol=1e-14 * np.abs(W).max())
        np.testing.assert_allclose(D, wanted[np.ix_(columns, columns)], atol=1e-9 * np.abs(W).max())
        assert np.linalg.eigvalsh(D).min() >= -1e-12 * np.abs(W).max()
        assert_same(work.r[0, c : c + size], whole(alone).accelerations()[columns])


# --- corners ---


def two_rods(**fields):
    model = Model("rods")
    for k, name in enumerate("ab"):
        model.add(Body(name, mass=1.0, inertia=(0.1, 0.2, 0.3), at=(0.5 + k, 0.0, 0.0)))
    model.add(Hinge("pin", GROUND, "a", axis=(0.0, 1.0, 0.0)))
    model.add(Spherical("ball", "a", "b", at=(1.0, 0.0, 0.0)))
    return model


TOPS = {
    "every body a component": Subsystem("top", (), (Subsystem("x", ("a",)), Subsystem("y", ("b",)))),
    "an empty component": Subsystem("top", ("a", "b"), (Subsystem("x", ()),)),
    "a component of a component": Subsystem("top", (), (Subsystem("x", (), (Subsystem("y", ("b", "a")),)),)),
    "all bodies are ports": Subsystem("top", ("b",), (Subsystem("x", ("a",), (Subsystem("y", ()),)),)),
}


@pytest.mark.parametrize("name", TOPS)
def test_odd_hierarchies(name):
    model = two_rods()
    assert_same(by_components(model, TOPS[name]).accelerations(), whole(model).accelerations())


def test_a_border_body_that_cannot_move_yields_nothing():
    model = two_rods()
    model.add(Weld("fixed", GROUND, "a", at=(0.2, 0.0, 0.0)))
    method = by_components(model, TOPS["all bodies are ports"])
    assert_same(method.accelerations(), whole(model).accelerations())
    assert np.abs(method.accelerations()[:6]).max() < 1e-12
    work, number = method.part.work, method.part.placement.number["x"]
    d = work.node[number]["D"]
    assert not work.D[d : d + 36].any()


def test_parts_that_hang_on_nothing_and_joints_twice():
    rng = np.random.default_rng(3)
    model = two_rods()
    model.add(Body("free", mass=3.0, inertia=(0.1, 0.2, 0.3), at=(5.0, 0.0, 0.0)))
    for k in range(2):
        model.add(random_joint(rng, "weld", f"weld{k}", "a", "b", (1.0, 0.0, 0.0), False))
    model.add(Hinge("pin2", GROUND, "a", axis=(0.0, 1.0, 0.0)))
    for partition in some_partitions(model, 5, 6):
        a = by_components(model, partition).accelerations()
        assert_same(a, whole(model).accelerations())
        np.testing.assert_allclose(a[12:15], (0.0, 0.0, -9.81), atol=1e-15)


@pytest.mark.parametrize("heavy", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("far", [0.0, 1e5])
def test_masses_from_a_milligram_to_a_thousand_tonnes_far_away(heavy, far):
    """A light rod between heavy ones and the other way round: both swing about the same pin, whatever the partition."""
    model = Model("swing")
    masses = {"a": 1.0, "b": heavy, "c": 1.0}
    for k, (name, mass) in enumerate(masses.items()):
        model.add(Body(name, mass=mass, inertia=(0.1 * mass,) * 3, at=(far + 0.5 + k, 0.0, 0.0)))
    model.add(Hinge("pin", GROUND, "a", at=(far, 0.0, 0.0), axis=(0.0, 1.0, 0.0)))
    model.add(Weld("one", "a", "b", at=(far + 1.0, 0.0, 0.0)))
    model.add(Weld("two", "b", "c", at=(far + 2.0, 0.0, 0.0)))
    arms = {"a": 0.5, "b": 1.5, "c": 2.5}
    inertia = sum(m * (0.1 + arms[name] ** 2) for name, m in masses.items())
    turn = 9.81 * sum(m * arms[name] for name, m in masses.items()) / inertia
    for partition in (monolith(model), *some_partitions(model, 1, 6)):
        a = by_components(model, partition).accelerations()
        # Six digits of sixteen are lost to the masses, and five to where it is.
        np.testing.assert_allclose(a[[4, 10, 16]], turn, rtol=1e-9 if far == 0.0 else 1e-6)
        np.testing.assert_allclose(
            a[[2, 8, 14]], [-turn * arm for arm in arms.values()], rtol=1e-9 if far == 0.0 else 1e-6
        )


# --- refusals ---


def test_a_body_without_inertia_is_refused_as_in_other_methods():
    for method in ("simmc", "components"):
        with pytest.raises(
            UnsupportedError, match=r"body 'bob' has no inertia of its own .*use method 'simgc'"
        ):
            Simulation(scene("a01_pendulum"), method=method)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"solver": "direct"}, "method 'components' has a solver of its own"),
        ({"integrator": "trapezoidal"}, r"has no integrator 'trapezoidal' \(it has rk4, adams, adaptive, euler\)"),
        ({"integrator": "rk4", "tolerance": 1e-8}, "integrator 'rk4' takes fixed steps"),
        ({"budget": -1.0}, "budget must be a positive number"),
        ({"epsilon": 1e-6}, "epsilon: no option of method 'components'; .* with solver 'impulses'"),
        ({"rho": 0.5}, "rho: no option of method 'components'; rho belongs to hybrid, global and topological"),
    ],
)  # fmt: skip
def test_settings_that_do_not_fit_are_refused(options, message):
    with pytest.raises(LinkworkError, match=message):
        Simulation(wheel(), method="components", **options)


def test_a_function_of_a_coordinate_is_refused():
    model = wheel()
    model.add(JointFunction("law", "pin", lambda t, x, v, parameters, out: None))
    with pytest.raises(UnsupportedError, match="'law' acts on the coordinates of joint 'pin'"):
        Simulation(model, method="components")


# --- stiff rows ---


def test_what_is_too_stiff_for_the_step_is_taken_implicitly():
    """A spring of 1e5 rad/s at steps of a millisecond settles; soft beside stiff is of first order."""
    model = block(gravity=9.81, spring=2e10, damping=1e3)
    for integrator in ("rk4", "adams", "euler"):
        record = Simulation(model, method="components", integrator=integrator).run(0.5)
        assert record["rail.travel"][-1] == pytest.approx(-2.0 * 9.81 / 2e10, rel=1e-6)
        assert np.abs(record["rail.travel"]).max() < 1e-4
    adaptive = Simulation(block(gravity=9.81, spring=2e4), method="components", tolerance=1e-9).run(0.1)
    exact = -2.0 * 9.81 / 2e4 * (1.0 - np.cos(100.0 * adaptive.time))
    np.testing.assert_allclose(adaptive["rail.travel"], exact, atol=1e-9)


def test_a_stiff_servo_of_some_strength_may_chatter_and_says_so():
    model = block(PositionServo("lift", "rail", command=0.1, stiffness=2e8, damping=1e3, strength=50.0))
    record = Simulation(model, method="components").run(0.05)
    assert any("drive 'lift' is too stiff for steps of 0.001 s" in text for text in record.info["warnings"])


def test_an_unstable_step_is_told_with_the_body():
    """Springs and bushings are taken implicitly, but what only a function of a body knows is not."""

    def stiff(t, x, v, parameters, out):
        for k in range(3):
            out[3 + k] = -1e9 * (x[k] - parameters[k])

    model = two_rods()
    model.add(BodyFunction("stiff", "b", stiff, parameters=(1.5, 0.0, 0.1)))
    with pytest.raises(
        SimulationError, match=r"of body '[ab]' .*dt = 0.001 s is probably too long"
    ) as caught:
        Simulation(model, method="components").run(1.0)
    assert np.isfinite(caught.value.record.array("positions")).all()


def test_a_force_that_is_no_number_stops_at_once():
    def broken(t, x, v, parameters, out):
        out[0] = np.sqrt(0.0095 - t)

    model = two_rods()
    model.add(BodyFunction("fault", "b", broken))
    simulation = Simulation(model, method="components")
    with pytest.raises(SimulationError, match="is not a number"):
        simulation.run(0.01)
    assert np.isfinite(simulation.q).all()
    assert np.isfinite(simulation.v).all()


def test_momentum_of_what_floats_is_kept():
    model = scene("peaucellier")
    model.gravity = (0.0, 0.0, 0.0)
    for name in ("crank", "OA_pin", "OB_pin"):
        del model.joints[name]
    simulation = Simulation(model, method="components")
    simulation.v[:] = np.random.default_rng(0).normal(size=simulation.v.shape)
    simulation.step(1)  # onto the constraints
    before, after = [], []
    masses = np.array([body.mass_properties.mass for body in model.bodies.values()])
    for state in (before, after):
        state.append(masses @ simulation.v.reshape(-1, 6)[:, :3])
        simulation.step(300)
    np.testing.assert_allclose(after[0], before[0], atol=1e-12)
    quaternions = simulation.q.reshape(-1, 7)[:, 3:]
    np.testing.assert_allclose(np.linalg.norm(quaternions, axis=1), 1.0, atol=1e-15)
    assert simulation.method.outcome()["worst_gap_m"] < 1e-12
