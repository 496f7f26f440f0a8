"""Forces and torques in joints: every body obeys Newton and Euler, and what is not determined is smallest, and named.

The motions and the balance that they are compared with are those of newton_euler.py, in NumPy. Mechanisms whose forces
are known are in test_reactions_known.py.
"""

import dataclasses

import numpy as np
import pytest

from helpers.loops import looped
from helpers.newton_euler import (
    Motion,
    Moved,
    check_balance,
    check_power,
    joint_point,
    moving,
    null_space,
    one,
    slope,
)
from helpers.runs import compiled_and_plain
from helpers.trees import Link, Plan, build, random_plan, random_state
from linkwork import scene
from linkwork.compile.compiler import compile_model
from linkwork.compile.spanning import spanning_tree
from linkwork.engine.coordinates.dynamics import body_pose, body_twist, derive
from linkwork.engine.coordinates.tree import place
from linkwork.engine.elements import PositionServo, Repeater, TorqueSource
from linkwork.engine.loads import BodyFunction, JointFunction
from linkwork.mechanism.kinematics import Kinematics
from linkwork.model.item import GROUND
from linkwork.model.rotation import matrix, quaternion
from linkwork.observe.observer import TreeObserver
from linkwork.observe.reactions import Reactions, generic_poses

KINDS = ("hinge", "slider", "cylindrical", "universal", "spherical", "planar", "screw", "weld")
FIRM = ("hinge", "slider", "universal", "screw")

# --- trees ---


def tree_reactions(system, q, v, qdd, t):
    """By joint, from the recursion that knows open mechanisms alone."""
    observer = TreeObserver(system)
    data = observer.observe((*one(t, q, v), np.zeros((1, 2))))
    np.testing.assert_allclose(data["accelerations"][0], qdd, rtol=1e-12)
    names = [joint.name for joint in system.joints.values() if joint.dofs]
    return {
        name: np.r_[data["forces"][0, 3 * k : 3 * k + 3], data["torques"][0, 3 * k : 3 * k + 3]]
        for k, name in enumerate(names)
    }


def check_tree(model, seed, t=0.3, tolerance=1e-11):
    system = compile_model(model)
    q, v = random_state(system, seed)
    qdd = np.zeros(system.nv)
    derive(system.fresh_tables(), q, v, t, qdd)
    reactions = Reactions(model, system)
    forces, torques = reactions.of(*one(t, q, v, qdd))
    assert reactions.unbalanced < tolerance
    assert reactions.indeterminate == ()
    expected = tree_reactions(system, q, v, qdd, t)
    weight = 9.81 * sum(body.mass_properties.mass for body in model.flatten().bodies.values())
    largest = max([weight, *(np.abs(wrench).max() for wrench in expected.values())])
    for name, wrench in expected.items():
        k = reactions.joints.index(name)
        found = np.r_[forces[0, 3 * k : 3 * k + 3], torques[0, 3 * k : 3 * k + 3]]
        # Lengths of some metres, twelve bodies in a row: digits are lost in proportion to the lever arms.
        np.testing.assert_allclose(found, wrench, rtol=0, atol=tolerance * largest, err_msg=name)
    return system, q, v, qdd, forces[0], torques[0]


@pytest.mark.parametrize("seed", range(40))
def test_trees_transmit_what_the_recursion_says(seed):
    model = build(random_plan(seed))
    result = check_tree(model, seed)
    check_balance(model, *result[:4], (), (), *result[4:], t=0.3)


@pytest.mark.parametrize("seed", range(8))
def test_heavy_bodies_do_not_blur_light_ones(seed):
    # Masses from 1e-3 to 1e3 kg do not enter the matrix: each joint keeps its digits.
    model = build(random_plan(seed, decades=6.0, kinds=FIRM, roots=FIRM, loads=0, passive=False))
    system = compile_model(model)
    q, v = random_state(system, seed)
    qdd = np.zeros(system.nv)
    derive(system.fresh_tables(), q, v, 0.0, qdd)
    reactions = Reactions(model, system)
    forces, torques = reactions.of(*one(0.0, q, v, qdd))
    for name, wrench in tree_reactions(system, q, v, qdd, 0.0).items():
        k = reactions.joints.index(name)
        found = np.r_[forces[0, 3 * k : 3 * k + 3], torques[0, 3 * k : 3 * k + 3]]
        np.testing.assert_allclose(found, wrench, atol=1e-10 * np.abs(wrench).max() + 1e-13)


@pytest.mark.parametrize("rows", [False, True])
def test_functions_of_joints_and_bodies_are_felt(rows):
    def twist(t, x, v, parameters, out):
        for k in range(out.shape[0]):
            out[k] = parameters[0] * (1.0 + k)

    def blow(t, x, v, parameters, out):
        out[0] = 0.3
        out[5] = 2.0 + v[3]

    links = tuple(Link(kind, k - 1) for k, kind in enumerate(("universal", "screw", "spherical")))
    model = build(Plan(links, seed=3, passive=False))
    for k in range(3):
        model.add(JointFunction(f"motor{k}", f"joint{k}", twist, parameters=(0.7,)))
    model.add(BodyFunction("wind", "body2", blow))
    system = compile_model(model, rows=rows)
    q, v = random_state(system, 1)
    qdd = np.zeros(system.nv)
    derive(system.fresh_tables(), q, v, 0.0, qdd)
    forces, torques = Reactions(model, system).of(*one(0.0, q, v, qdd))
    for name, wrench in tree_reactions(compile_model(model), q, v, qdd, 0.0).items():
        k = int(name[-1])
        order = Reactions(model, system).joints.index(name)
        found = np.r_[forces[0, 3 * order :][:3], torques[0, 3 * order :][:3]]
        np.testing.assert_allclose(found, wrench, atol=1e-11 * np.abs(wrench).max(), err_msg=f"joint{k}")


# --- loops ---


def mechanism(seed, links=5, loops=1, kinds=KINDS, passive=True, extras=True, decades=2.0):
    """A random tree with more joints between its bodies; limits, friction, drives, a coupling and a spring."""
    rng = np.random.default_rng([seed, 22])
    loads = 2 if extras else 0
    model = looped(rng, seed, kinds, links=links, loops=loops, passive=passive, loads=loads, decades=decades)
    movable = [name for name, joint in model.joints.items() if joint.rates]
    if extras and len(movable) > 1:
        for name in movable:
            n = len(model.joints[name].rates)
            model.joints[name] = dataclasses.replace(
                model.joints[name],
                limits=((-1.0, 1.0),) * n,
                friction=tuple(rng.uniform(0.1, 1.0, n).tolist()),
            )
        model.add(TorqueSource("source", movable[0], command=1.0))
        model.add(PositionServo("servo", movable[1], stiffness=1.0))
        model.add(Repeater("gears", movable[0], movable[-1], ratio=0.7))
    return model


@pytest.mark.parametrize("seed", range(40))
def test_every_body_of_a_loop_obeys_newton_and_euler(seed):
    model = mechanism(seed, links=3 + seed % 4, loops=1 + seed % 2)
    system = compile_model(model, rows=True)
    q, v, qdd, row_forces = moving(system, seed, t=0.3)
    reactions = Reactions(model, system)
    forces, torques = reactions.of(*one(0.3, q, v, qdd, row_forces))
    assert reactions.unbalanced < 1e-10
    check_balance(
        model, system, q, v, qdd, system.rows.names, row_forces, forces[0], torques[0], 0.3, tolerance=1e-7
    )
    check_power(model, system, q, v, qdd, row_forces, forces[0], torques[0])


def allowed_wrenches(kind, z):
    """Directions of force and of torque that a joint with axis z holds, as rows."""
    across = null_space(z[None]).T
    every, none = np.eye(3), np.zeros((0, 3))
    return {
        "hinge": (every, across),
        "slider": (across, every),
        "cylindrical": (across, across),
        "spherical": (every, none),
        "planar": (z[None], across),
        "weld": (every, every),
    }[kind]


def smallest(model, system, q, v, qdd, length):
    """Reactions of least norm at b's frames, from poses alone: a pseudo-inverse in NumPy."""
    flat = model.flatten()
    motion = Motion(system, q, v, qdd)
    index = {name: k for k, name in enumerate(flat.bodies)}
    columns, owners, units = [], [], []
    for j, joint in enumerate(flat.joints.values()):
        at = joint_point(flat, motion, joint, set())
        R_b = motion.pose[joint.b][1] @ (
            np.eye(3) if joint.b == GROUND else matrix(flat.bodies[joint.b].rotation).T
        )
        z = R_b @ np.array(joint.axis or (0.0, 0.0, 1.0))
        for f, n in zip(*_unit(*allowed_wrenches(joint.kind, z / np.linalg.norm(z)), length), strict=True):
            column = np.zeros(6 * len(index))
            for body, sign in ((joint.b, 1.0), (joint.a, -1.0)):
                if body != GROUND:
                    p, R = motion.pose[body]
                    arm = at - p - R @ flat.bodies[body].mass_properties.com
                    column[6 * index[body] :][:6] = sign * np.r_[n + np.cross(arm, f), f]
            columns.append(column)
            owners.append(j)
            units.append(np.r_[f, n])
    need = np.zeros(6 * len(index))
    for name, body in flat.bodies.items():
        p, R = motion.pose[name]
        mass, com, inertia = body.mass_properties
        c, J = R @ com, R @ inertia @ R.T
        w, alpha = motion.twist[name][:3], motion.rate[name][:3]
        a = motion.rate[name][3:] + np.cross(alpha, c) + np.cross(w, np.cross(w, c))
        need[6 * index[name] :][:6] = np.r_[
            J @ alpha + np.cross(w, J @ w), mass * (a - np.array(model.gravity))
        ]
    A = np.array(columns).T
    x = np.linalg.pinv(A, rcond=1e-10) @ need
    out = np.zeros((len(flat.joints), 6))
    for j, unit, amount in zip(owners, units, x, strict=True):
        out[j] += amount * unit
    # What no forces of the equations can ask for is the null space of A: joints that it touches are indeterminate.
    hidden = null_space(A)
    touched = [
        name
        for j, name in enumerate(flat.joints)
        if np.abs(hidden[[k for k, owner in enumerate(owners) if owner == j]]).max(initial=0.0) > 1e-6
    ]
    return out, touched


def _unit(forces, torques, length):
    f = np.vstack([forces, np.zeros_like(torques)])
    n = np.vstack([np.zeros_like(forces), length * torques])
    return f, n


@pytest.mark.parametrize("seed", range(30))
def test_of_all_balanced_reactions_the_smallest_are_given_and_named(seed):
    kinds = ("hinge", "slider", "cylindrical", "spherical", "planar", "weld")
    model = mechanism(seed, 2 + seed % 4, 1 + seed % 3, kinds, passive=False, extras=False)
    system = compile_model(model, rows=True)
    q, v, qdd, _ = moving(system, seed)
    reactions = Reactions(model, system)
    forces, torques = reactions.of(*one(0.0, q, v, qdd))
    expected, touched = smallest(model, system, q, v, qdd, reactions.length)
    flat = model.flatten()
    motion = Motion(system, q, v, qdd)
    edges, _, _ = spanning_tree(flat)
    backwards = {edge.joint.name for edge in edges if edge.reversed}
    largest = np.abs(expected).max()
    for k, joint in enumerate(flat.joints.values()):
        f, n = forces[0, 3 * k : 3 * k + 3], torques[0, 3 * k : 3 * k + 3]
        moved = joint_point(flat, motion, joint, backwards) - joint_point(flat, motion, joint, set())
        n = n + np.cross(moved, f)
        np.testing.assert_allclose(np.r_[f, n], expected[k], atol=1e-7 * largest, err_msg=joint.name)
    assert reactions.indeterminate == tuple(touched)


@pytest.mark.parametrize("seed", range(6))
def test_floating_bodies_feel_the_same_reactions(seed):
    # The same motion in maximal coordinates: rows have the same names, and no joint is in the tree.
    model = mechanism(seed, passive=False)
    system, floating = compile_model(model, rows=True), compile_model(model, maximal=True)
    q, v, qdd, row_forces = moving(system, seed, t=0.3)
    moved = Moved(system)
    flat = model.flatten()
    tables = system.fresh_tables()

    def state(h):
        """Coordinates and rates of the floating bodies after a little time."""
        place(tables.dofs, tables.islands, moved(q, h * v), v + h * qdd)
        x, u = np.zeros(floating.nq), np.zeros(floating.nv)
        for index, (name, body) in enumerate(flat.bodies.items()):
            (p, R), (w, velocity) = (
                (np.array(part) for part in pose)
                for pose in (body_pose(tables, index), body_twist(tables, index))
            )
            R = R.reshape(3, 3)
            com, written = body.mass_properties.com, matrix(body.rotation)
            turn = R @ written.T
            placed = floating.joints[f"~{name}"]
            x[placed.q] = [*(p + R @ com - np.array(body.at) - written @ com), *quaternion(turn)]
            u[placed.v] = [*(velocity + np.cross(w, R @ com)), *(turn.T @ w)]
        return x, u

    x, u = state(0.0)
    rates = slope(lambda h: state(h)[1])
    a = Reactions(model, system).of(*one(0.3, q, v, qdd, row_forces))
    reactions = Reactions(model, floating, system.rows.names)
    b = reactions.of(*one(0.3, x, u, rates, row_forces))
    # Accelerations by differences: good to some 1e-9.
    np.testing.assert_allclose(np.hstack(a), np.hstack(b), atol=1e-7 * np.abs(np.hstack(a)).max())


# --- what is told, refused, and computed without the compiler ---


def test_an_impossible_motion_is_told():
    # A pendulum that hangs at rest but is said to accelerate: no force in its hinge does that.
    model = scene("a01_pendulum")
    system = compile_model(model)
    reactions = Reactions(model, system)
    reactions.of(*one(0.0, system.q0, system.v0, np.full(system.nv, 50.0)))
    assert reactions.unbalanced > 0.1


def test_generic_poses_lie_on_the_manifold():
    system = compile_model(scene("peaucellier"), rows=True)
    kinematics = Kinematics(system)
    poses = generic_poses(system)
    for q in poses:
        kinematics.place(q)
        assert np.abs(kinematics.gaps[kinematics.hold]).max() < 1e-9
    assert np.abs(poses[2] - poses[0]).max() > 0.01


def test_forces_of_rows_must_be_as_many_as_the_rows():
    model = mechanism(0)
    system = compile_model(model, rows=True)
    state = one(0.0, system.q0, system.v0, system.v0)
    with pytest.raises(ValueError, match="row_forces must be 1 samples of"):
        Reactions(model, system).of(*state, np.zeros((1, len(system.rows.names) + 1)))


PLAIN = """
import numpy as np
from linkwork import scene
from linkwork.compile.compiler import compile_model
from linkwork.mechanism.kinematics import Kinematics
from linkwork.observe.reactions import Reactions
model = scene("slidercrank3d")
system = compile_model(model, rows=True)
kinematics, still = Kinematics(system), np.zeros(system.nv)
kinematics.place(system.q0)
allowed = np.linalg.svd(kinematics.jacobian(kinematics.hold))[2][-1]
push = allowed @ kinematics.demand(system.q0, still, still)
kinematics.place(system.q0)
qdd = -push / (allowed @ kinematics.inertia() @ allowed) * allowed
reactions = Reactions(model, system)
arrays = reactions.of(np.zeros(1), system.q0[None], still[None], qdd[None])
print(*(repr(float(x)) for x in np.hstack(arrays)[0]), *reactions.indeterminate)
"""


def test_reactions_also_come_from_plain_python():
    (compiled,), (plain,) = compiled_and_plain(PLAIN)
    np.testing.assert_allclose(compiled, plain, atol=1e-11 * np.abs(compiled).max())
