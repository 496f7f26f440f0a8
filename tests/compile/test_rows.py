"""Rows of every joint in the registry: they vanish on its own motion; their Jacobians and biases are exact."""

import numpy as np
import pytest

from helpers.trees import make_joint, random_body, triple, unit
from linkwork.compile.compiler import compile_model
from linkwork.engine.coordinates.tree import place, retract
from linkwork.engine.elements import Repeater
from linkwork.engine.kernels.rows import measure, measure_motion
from linkwork.engine.loads import Spring
from linkwork.engine.tables import COORDINATE, HOLD
from linkwork.mechanism.kinematics import Kinematics
from linkwork.methods.rows import floating
from linkwork.model import Model
from linkwork.model.joints import JOINTS

SEEDS = range(5)


def jointed(kind, seed):
    """Two floating bodies in maximal coordinates, moving as a joint between them allows, and that joint."""
    rng = np.random.default_rng([seed, 3])
    sample = make_joint(kind, "joint", "a", "b")
    position = list(rng.uniform(-1, 1, len(sample.coordinates)))
    if "qw" in sample.coordinates:
        position[-4:] = unit(rng, 4)
    fields = {"at": triple(rng.normal(size=3)), "axis": triple(unit(rng)), "mirrored": bool(seed % 2)}
    if sample.rates:
        fields |= {"position": tuple(position), "velocity": triple(rng.normal(size=len(sample.rates)))}
    model = Model("pair", gravity=(0, 0, 0))
    for name in ("a", "b"):
        model.add(random_body(rng, name, rng.normal(size=3), decades=1.0))
    model.add(JOINTS["free"]("base", "ground", "a", velocity=triple(rng.normal(size=6))))
    joint = make_joint(kind, "joint", "a", "b", **fields)
    model.add(joint)
    system = compile_model(model, maximal=True)
    return model, system, joint


def start(model, system):
    """The start of the tree as that of floating bodies."""
    tree = compile_model(model, rows=True)
    return floating(model, system, tree, tree.q0, tree.v0)


def measured(system, q, v):
    """Rows and coordinates at a state, with the rates of the rows."""
    tables, constraints = system.fresh_tables(), system.rows.fresh()
    place(tables.dofs, tables.islands, q, v)
    measure(tables, constraints, q)
    twist = tables.dofs["V"]
    rates = []
    for row in constraints.rows:
        pair = constraints.pairs[row["pair"]]
        rates.append(row["J_A"] @ twist[pair["a"]] + row["J_B"] @ twist[pair["b"]])
    return constraints, np.array(rates)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", JOINTS)
def test_equations_vanish_on_the_joints_own_motion(kind, seed):
    model, system, joint = jointed(kind, seed)
    q, v = start(model, system)
    constraints, rates = measured(system, q, v)
    held = np.flatnonzero(constraints.rows["role"] == HOLD)
    assert len(held) + len(joint.rates) == 6
    # Lengths and rates of order one, some ten operations each.
    np.testing.assert_allclose(constraints.rows["phi"][held], 0.0, atol=1e-14)
    np.testing.assert_allclose(rates[held], 0.0, atol=1e-13)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", JOINTS)
def test_coordinates_are_read_back_from_the_frames(kind, seed):
    model, system, joint = jointed(kind, seed)
    q, v = start(model, system)
    constraints, _ = measured(system, q, v)
    coords = constraints.coords[-len(joint.rates) :] if joint.rates else []
    values = iter(joint.start())
    k = 0
    for motion in joint.motions():
        if motion.ball:
            w, *axis = [next(values) for _ in range(4)]
            angle = 2 * np.arctan2(np.linalg.norm(axis), w)
            if angle > np.pi:
                angle -= 2 * np.pi
            phi = angle * np.array(axis) / np.linalg.norm(axis)
            np.testing.assert_allclose([c["value"] for c in coords[k : k + 3]], phi, atol=1e-12)
            k += 3
        else:
            assert coords[k]["value"] == pytest.approx(next(values), abs=1e-13)
            k += 1


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", JOINTS)
def test_jacobians_are_the_derivatives_of_the_gaps_anywhere(kind, seed):
    model, system, _ = jointed(kind, seed)
    q, _ = start(model, system)
    rng = np.random.default_rng([seed, 4])
    # Off the joint's own motion too: both bodies are moved at random first.
    moved = np.empty_like(q)
    retract(system.tables.dofs, q, 0.1 * rng.normal(size=system.nv), moved)
    v = rng.normal(size=system.nv)
    constraints, rates = measured(system, moved, v)
    h = 1e-5
    gaps = []
    for sign in (1, -1):
        ahead = np.empty_like(q)
        retract(system.tables.dofs, moved, sign * h * v, ahead)
        gaps.append(measured(system, ahead, v)[0].rows["phi"])
    equations = np.flatnonzero(constraints.rows["kind"] != COORDINATE)
    numerical = (gaps[0] - gaps[1]) / (2 * h)
    # Central differences: h² times third derivatives of order ten, and rounding 1e-16 / h.
    np.testing.assert_allclose(rates[equations], numerical[equations], atol=1e-8)


# --- second derivatives ---


def linkage(kind, seed, maximal):
    """A joint of a kind between two moving bodies, with rows of every sort on it, in a state that ignores them.

    In maximal coordinates both bodies float; in generalized ones they hang on a universal joint and on a slider with a
    ball behind it, and the joint closes the loop.
    """
    rng = np.random.default_rng([seed, 6])
    sample = make_joint(kind, "joint", "a", "b")
    fields = {"at": triple(0.5 * rng.normal(size=3)), "axis": triple(unit(rng)), "mirrored": bool(seed % 2)}
    if sample.rates:
        fields |= {"limits": ((-0.5, 0.5),) * len(sample.rates), "friction": 0.1, "spring": 2.0}
    model = Model("linkage", gravity=triple(rng.normal(size=3)))
    for name in ("a", "b", "c"):
        model.add(random_body(rng, name, 0.5 * rng.normal(size=3), decades=1.0))
    model.add(make_joint(kind, "joint", "a", "b", **fields))
    grounds = ("free", "free") if maximal else ("universal", "slider")
    for body, ground in zip(("a", "c"), grounds, strict=True):
        place_ = {"at": triple(0.3 * rng.normal(size=3)), "axis": triple(unit(rng))}
        model.add(make_joint(ground, f"{body}_ground", "ground", body, **place_))
    model.add(make_joint("spherical", "ball", "c", "b", at=triple(0.3 * rng.normal(size=3))))
    model.add(Spring("strut", "a", "b", at_a=triple(rng.normal(size=3)), at_b=(0.1, 0.2, 0.3), stiffness=1.0))
    if sample.rates:
        model.add(Repeater("gear", "joint", "a_ground", ratio=0.7))
    return compile_model(model, rows=True, maximal=maximal), rng


def rates_and_biases(system, q, v):
    """Of all rows, and of the coordinates that are read off joint frames and used."""
    kinematics = Kinematics(system)
    kinematics.place(q, v)
    measure_motion(kinematics.tables, kinematics.constraints)
    constraints, twist = kinematics.constraints, kinematics.tables.dofs["V"]
    read = [coord for coord in constraints.coords if coord["q"] < 0 and coord["used"]]
    pairs = [constraints.pairs[coord["pair"]] for coord in read]
    speeds = [
        c["J_A"] @ twist[pair["a"]] + c["J_B"] @ twist[pair["b"]] for c, pair in zip(read, pairs, strict=True)
    ]
    biases = np.concatenate([constraints.rows["bias"], [coord["bias"] for coord in read]])
    return np.concatenate([kinematics.jacobian() @ v, speeds]), biases


def slopes(system, q, v):
    """Derivatives of the rates while v stays: differences of fourth order."""

    def ahead(h):
        moved = np.empty(system.nq)
        retract(system.tables.dofs, q, h * v, moved)
        return rates_and_biases(system, moved, v)[0]

    h = 1e-3
    return (8 * (ahead(h) - ahead(-h)) - (ahead(2 * h) - ahead(-2 * h))) / (12 * h)


@pytest.mark.parametrize("maximal", [False, True], ids=["generalized", "maximal"])
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", JOINTS)
def test_biases_are_the_second_derivatives_of_a_motion_without_accelerations(kind, seed, maximal):
    system, rng = linkage(kind, seed, maximal)
    q = np.empty(system.nq)
    retract(system.tables.dofs, system.q0, 0.3 * rng.normal(size=system.nv), q)
    v = rng.normal(size=system.nv)
    _, biases = rates_and_biases(system, q, v)
    assert np.abs(biases).max() > 1e-3
    # Differences: h⁴ = 1e-12 times fifth derivatives of some hundred, and rounding 1e-15/h.
    np.testing.assert_allclose(biases, slopes(system, q, v), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("angle", [0.0, 1e-6, 0.01, 0.031, 0.032, 1.0, 3.0])
def test_biases_of_a_ball_are_right_at_any_angle(angle):
    # The series for small turns and the closed form meet where the square of the angle is 1e-3.
    system, rng = linkage("spherical", 1, maximal=True)
    (placed,) = (joint for joint in system.joints.values() if joint.joint.b == "b" and joint.dofs)
    turn = np.zeros(system.nv)
    turn[placed.v.start + 3 : placed.v.stop] = angle * unit(rng)
    q = np.empty(system.nq)
    retract(system.tables.dofs, system.q0, turn, q)
    v = rng.normal(size=system.nv)
    # Near a half turn derivatives of the rotation vector grow.
    np.testing.assert_allclose(rates_and_biases(system, q, v)[1], slopes(system, q, v), rtol=1e-7, atol=1e-7)
