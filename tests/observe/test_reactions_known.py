"""Forces and torques in the joints of mechanisms that are known: four-bars, Peaucellier's, a table, a truss."""

import numpy as np
import pytest

from helpers.newton_euler import Motion, accelerations, check_balance, joint_point, motions, moving, one
from linkwork import Body, Cylindrical, Hinge, Model, Slider, Spherical, Weld, scene
from linkwork.compile.compiler import compile_model
from linkwork.engine.coordinates.dynamics import derive
from linkwork.engine.elements import TorqueSource
from linkwork.engine.loads import Force
from linkwork.mechanism.kinematics import Kinematics
from linkwork.model.item import GROUND
from linkwork.observe.reactions import Reactions, indeterminate
from linkwork.scenes.crank_rocker import points
from linkwork.scenes.n_four_bar import rod


def test_the_spatial_slider_crank_is_determinate():
    model = scene("slidercrank3d")
    system = compile_model(model, rows=True)
    assert indeterminate(model) == []
    q, v, qdd, row_forces = moving(system, 0)
    forces, torques = Reactions(model, system).of(*one(0.0, q, v, qdd, row_forces))
    check_balance(model, system, q, v, qdd, system.rows.names, row_forces, forces[0], torques[0])
    # Frictionless: nothing is transmitted along a freedom.
    group = Reactions(model, system).joints
    motion = Motion(system, q, v, qdd)
    crank, guide, ball = (group.index(name) for name in ("crank", "guide", "ball"))
    assert torques[0, 3 * crank] == pytest.approx(0.0, abs=1e-11)
    assert forces[0, 3 * guide] == pytest.approx(0.0, abs=1e-11)
    np.testing.assert_allclose(torques[0, 3 * ball :][:3], 0.0, atol=1e-11)
    assert motion.pose["block"][0][0] != pytest.approx(0.2)


def four_bar(kinds):
    model = Model("four_bar", gravity=(0.0, -9.81, 0.0))
    pin = points(1.0)
    for name, ends, mass in (("arm", "AB", 0.2), ("coupler", "BC", 0.5), ("lever", "DC", 1.0)):
        model.add(rod(name, pin[ends[0]], pin[ends[1]], mass, 0.02))
    for kind, name, a, b, at in zip(
        kinds, ("crank", "knee", "wrist", "rocker"), (GROUND, "arm", "coupler", GROUND),
        ("arm", "coupler", "lever", "lever"), "ABCD", strict=True,
    ):  # fmt: skip
        model.add(kind(name, a, b, at=(*pin[at], 0.0)))
    model.add(TorqueSource("motor", "crank", command=1.0))
    return model


def test_a_four_bar_of_hinges_carries_what_one_without_redundancy_does():
    # Ball and cylindrical joints in place of two hinges leave one motion and no equation too many.
    found = []
    for kinds in ((Hinge, Hinge, Hinge, Hinge), (Hinge, Cylindrical, Spherical, Hinge)):
        model = four_bar(kinds)
        system = compile_model(model, rows=True)
        kinematics = Kinematics(system)
        (v,) = motions(kinematics, system.q0).T
        v = v * 3.0 / v[system.rate("crank.angle_rate")]
        q, row_forces = system.q0, np.full(len(kinematics.names), 0.7)
        qdd = accelerations(kinematics, q, v, row_forces)
        reactions = Reactions(model, system)
        forces, torques = reactions.of(*one(0.0, q, v, qdd, row_forces))
        found.append((reactions, forces.reshape(-1, 3), torques.reshape(-1, 3)))
    (hinges, f, n), (isostatic, g, m) = found
    assert isostatic.indeterminate == ()
    assert hinges.indeterminate == hinges.joints
    assert len(hinges.indeterminate_columns) == 3 * len(hinges.joints)
    assert not any(c.endswith(("force.x", "force.y", "torque.z")) for c in hinges.indeterminate_columns)
    np.testing.assert_allclose(f[:, :2], g[:, :2], atol=1e-9)
    np.testing.assert_allclose(n[:, 2], m[:, 2], atol=1e-9)
    # The bars lie in one plane: nothing is needed out of it, and the smallest is nothing.
    np.testing.assert_allclose(f[:, 2], 0.0, atol=1e-10)
    np.testing.assert_allclose(n[:, :2], 0.0, atol=1e-10)


def test_peaucellier_from_spatial_hinges_carries_its_planar_forces():
    model = scene("peaucellier", swing=0.5)
    system = compile_model(model, rows=True)
    q, v, qdd, row_forces = moving(system, 2, away=0.1)
    reactions = Reactions(model, system)
    forces, torques = reactions.of(*one(0.0, q, v, qdd, row_forces))
    f, n = forces.reshape(-1, 3), torques.reshape(-1, 3)

    # In the plane: two forces a pin, three equations a rod, the motor's torque known; in NumPy.
    flat, motion = model.flatten(), Motion(system, q, v, qdd)
    index = {name: k for k, name in enumerate(flat.bodies)}
    A, need = np.zeros((3 * len(index), 2 * len(flat.joints))), np.zeros(3 * len(index))
    for j, joint in enumerate(flat.joints.values()):
        at = joint_point(flat, motion, joint, set())
        for body, sign in ((joint.b, 1.0), (joint.a, -1.0)):
            if body != GROUND:
                p, R = motion.pose[body]
                x, y, _ = at - p - R @ flat.bodies[body].mass_properties.com
                A[3 * index[body] :][:3, 2 * j : 2 * j + 2] = sign * np.array([[1, 0], [0, 1], [-y, x]])
    for name, body in flat.bodies.items():
        p, R = motion.pose[name]
        mass, com, inertia = body.mass_properties
        c, w, alpha = R @ com, motion.twist[name][:3], motion.rate[name][:3]
        a = motion.rate[name][3:] + np.cross(alpha, c) + np.cross(w, np.cross(w, c))
        fx, fy, _ = mass * (a - np.array(model.gravity))
        need[3 * index[name] :][:3] = fx, fy, inertia[2, 2] * alpha[2]
    motor = row_forces[system.rows.names.index("motor: velocity servo")]
    need[3 * index["QC"] + 2] -= motor
    x, _, rank, _ = np.linalg.lstsq(A, need, rcond=None)
    assert rank == A.shape[1]
    np.testing.assert_allclose(f[:, :2], x.reshape(-1, 2), atol=1e-8 * np.abs(x).max())
    expected = np.zeros(len(flat.joints))
    expected[reactions.joints.index("crank")] = motor
    np.testing.assert_allclose(n[:, 2], expected, atol=1e-10 * np.abs(x).max())
    np.testing.assert_allclose(f[:, 2], 0.0, atol=1e-10 * np.abs(x).max())
    np.testing.assert_allclose(n[:, :2], 0.0, atol=1e-10 * np.abs(x).max())
    assert reactions.indeterminate == reactions.joints
    assert not any(c.endswith(("force.x", "force.y", "torque.z")) for c in reactions.indeterminate_columns)


@pytest.mark.parametrize("foot", [Weld, Hinge, Spherical])
def test_four_legs_carry_a_table_in_equal_shares(foot):
    model = Model("table")
    model.add(Body("top", at=(0.0, 0.0, 1.0), mass=8.0, inertia=(1.0, 1.0, 2.0)))
    corners = [(x, y) for x in (-0.5, 0.5) for y in (-0.3, 0.3)]
    for k, (x, y) in enumerate(corners):
        model.add(Body(f"leg{k}", at=(x, y, 0.5), mass=1.0, inertia=(0.1, 0.1, 0.01)))
        model.add(Weld(f"knee{k}", f"leg{k}", "top", at=(x, y, 1.0)))
        model.add(foot(f"foot{k}", GROUND, f"leg{k}", at=(x, y, 0.0)))
    system = compile_model(model, rows=True)
    reactions = Reactions(model, system)
    state = one(0.0, system.q0, np.zeros(system.nv), np.zeros(system.nv))
    forces, torques = reactions.of(*state)
    assert reactions.indeterminate == reactions.joints
    assert reactions.unbalanced < 1e-14
    weights = {"knee": 8.0 / 4 * 9.81, "foot": (8.0 / 4 + 1.0) * 9.81}
    f, n = forces.reshape(-1, 3), torques.reshape(-1, 3)
    for k, name in enumerate(reactions.joints):
        np.testing.assert_allclose(f[k], (0.0, 0.0, weights[name[:4]]), atol=1e-11, err_msg=name)
        np.testing.assert_allclose(n[k], 0.0, atol=1e-11, err_msg=name)


def test_bars_of_a_truss_carry_the_forces_of_the_textbook():
    # A Warren truss of five equilateral triangles' sides, loaded at the middle of its lower chord: by the method of
    # joints the sides and the upper chord carry P/√3, the lower chord P/(2√3).
    P, height = 6.0, np.sqrt(3) / 2
    node = {"0": (0.0, 0.0), "1": (1.0, 0.0), "2": (2.0, 0.0), "3": (0.5, height), "4": (1.5, height)}
    model = Model("truss", gravity=(0.0, 0.0, 0.0))
    for name, (x, y) in node.items():
        model.add(Body(f"node{name}", at=(x, y, 0.0), mass=0.1, inertia=(1e-3, 1e-3, 1e-3)))
    expected = {}
    for bar, force in (
        ("03", -1.0), ("31", 1.0), ("14", 1.0), ("42", -1.0), ("34", -1.0), ("01", 0.5), ("12", 0.5),
    ):  # fmt: skip
        model.add(rod(f"bar{bar}", node[bar[0]], node[bar[1]], 1.0))
        for end in bar:
            model.add(Hinge(f"pin{bar}_{end}", f"node{end}", f"bar{bar}", at=(*node[end], 0.0)))
        expected[bar] = force * P / np.sqrt(3)
    model.add(Hinge("bearing", GROUND, "node0", at=(0.0, 0.0, 0.0)))
    model.add(Slider("roller", GROUND, "node2", at=(2.0, 0.0, 0.0), axis=(1.0, 0.0, 0.0)))
    model.add(Force("load", "node1", force=(0.0, -P, 0.0)))
    system = compile_model(model, rows=True)
    reactions = Reactions(model, system)
    forces, _ = reactions.of(*one(0.0, system.q0, np.zeros(system.nv), np.zeros(system.nv)))
    assert reactions.unbalanced < 1e-13
    f = dict(zip(reactions.joints, forces.reshape(-1, 3), strict=True))
    for bar, force in expected.items():
        along = np.subtract(node[bar[1]], node[bar[0]])
        # Force of the node on the bar at its far end: along the bar where it is pulled.
        np.testing.assert_allclose(f[f"pin{bar}_{bar[1]}"], [*(force * along), 0.0], atol=1e-11, err_msg=bar)
        np.testing.assert_allclose(f[f"pin{bar}_{bar[0]}"], [*(-force * along), 0.0], atol=1e-11)
    np.testing.assert_allclose(f["bearing"], (0.0, P / 2, 0.0), atol=1e-11)
    np.testing.assert_allclose(f["roller"], (0.0, P / 2, 0.0), atol=1e-11)


def test_a_long_row_of_loops_is_balanced_to_the_last_digits():
    model = scene("n_four_bar", n=15)
    system = compile_model(model, rows=True)
    q, v, qdd, row_forces = moving(system, 0, away=0.2, speed=1.0)
    reactions = Reactions(model, system)
    forces, torques = reactions.of(*one(0.0, q, v, qdd, row_forces))
    # d'Alembert in NumPy with accelerations of 1e2 m/s²; the bodies are balanced as far as these are.
    assert reactions.unbalanced < 1e-9
    check_balance(model, system, q, v, qdd, (), row_forces, forces[0], torques[0], tolerance=1e-7)


def test_a_body_without_inertia_is_no_obstacle():
    # A point mass welded to an arm: the welded bodies move as one, each of them has reactions.
    model = Model("bob")
    model.add(Body("arm", mass=1.0, com=(0.0, 0.0, -0.5), inertia=(0.1, 0.1, 0.01)))
    model.add(Body("bob", at=(0.0, 0.0, -1.5), mass=2.0))
    model.add(Hinge("pivot", GROUND, "arm", axis=(0, 1, 0), velocity=3.0))
    model.add(Weld("glue", "arm", "bob", at=(0.0, 0.0, -1.0)))
    system = compile_model(model)
    qdd = np.zeros(1)
    derive(system.fresh_tables(), system.q0, system.v0, 0.0, qdd)
    reactions = Reactions(model, system)
    forces, torques = reactions.of(*one(0.0, system.q0, system.v0, qdd))
    pull = 2.0 * (9.81 + 9.0 * 1.5)
    f = dict(zip(reactions.joints, forces.reshape(-1, 3), strict=True))
    np.testing.assert_allclose(f["glue"], (0.0, 0.0, pull), atol=1e-12)
    np.testing.assert_allclose(f["pivot"], (0.0, 0.0, pull + 9.81 + 9.0 * 0.5), atol=1e-12)
    np.testing.assert_allclose(torques, 0.0, atol=1e-12)
