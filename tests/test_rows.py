"""Rows of every joint in the registry: they vanish on its own motion, and their Jacobians are exact."""

import numpy as np
import pytest

from linkwork.compile import compile_model
from linkwork.coordinates.tree import place, retract
from linkwork.joints import JOINTS
from linkwork.kernels.rows import measure
from linkwork.methods import floating_start
from linkwork.model import Model
from linkwork.tables import COORDINATE, HOLD
from trees import make_joint, random_body, triple, unit

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
    q, v = floating_start(model, system)
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
    q, v = floating_start(model, system)
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
    q, _ = floating_start(model, system)
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
