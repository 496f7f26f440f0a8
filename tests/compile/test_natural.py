"""Natural coordinates: few unknowns, exact gradients, and the motion of the tree."""

import dataclasses

import numpy as np
import pytest

from helpers.loops import looped
from helpers.natural_states import Mechanism, natural_accelerations, tree_accelerations, tree_inertia
from helpers.trees import triple, unit
from linkwork import Simulation, scene
from linkwork.compile.compiler import compile_model
from linkwork.compile.natural import choose
from linkwork.engine.elements import LAWS, SPRING
from linkwork.engine.loads import Force, JointFunction, Spring, Torque
from linkwork.engine.tables import HOLD, SPIN
from linkwork.fuzz.random_mechanisms import random_mechanism
from linkwork.model import Body, Component, Model
from linkwork.model.errors import LinkworkError, UnsupportedError
from linkwork.model.joints import JOINTS, Hinge
from linkwork.model.rotation import IDENTITY, about

SCENES = (
    "double_four_bar",
    "peaucellier",
    "slidercrank3d",
    "bennett",
    "stewart",
    "scissor_lift",
    "excavator",
    "puma560",
)
SEEDS = range(12)
KINDS = tuple(kind for kind in JOINTS if kind != "free")


def loaded(seed):
    """A random mechanism of any joints with loops, springs, dampers, rotors and loads, at rest."""
    rng = np.random.default_rng([seed, 31])
    model = looped(rng, seed, KINDS, links=2 + seed % 5, loops=seed % 3, passive=True, decades=1.0)
    names = list(model.bodies)
    model.add(
        Force("push", names[0], force=triple(rng.normal(size=3)), at=triple(rng.normal(size=3)), follows=True)
    )
    model.add(Torque("twist", names[-1], torque=triple(rng.normal(size=3))))
    model.add(
        Spring("rope", names[0], names[-1], at_a=triple(rng.normal(size=3)), at_b=triple(rng.normal(size=3)),
               stiffness=3.0, damping=0.5)
    )  # fmt: skip
    return model


# --- counts ---


@pytest.mark.parametrize(
    ("name", "options", "unknowns", "rigid", "hold"),
    [
        ("double_four_bar", {}, 6, 5, 0),  # three moving points in the plane, five rods
        ("n_four_bar", {"n": 12}, 26, 25, 0),
        ("peaucellier", {}, 8, 7, 0),  # four moving points, seven rods
        ("crank_rocker", {}, 4, 3, 0),
        ("chain5", {}, 10, 5, 0),
        ("incline_slider", {}, 1, 0, 0),  # a slider on the ground: how far it went
        ("tumbling_body", {}, 12, 6, 0),
        ("spherical_pendulum", {}, 9, 6, 0),
    ],
)
def test_few_unknowns(name, options, unknowns, rigid, hold):
    table = Mechanism(scene(name, **options)).table
    held = int((table.rows.constraints.rows["role"] == HOLD).sum())
    assert (table.count, len(table.natural.rigid), held) == (unknowns, rigid, hold)
    assert not table.redundant


def test_a_hinge_in_space_shares_a_point_and_an_axis():
    # Twelve numbers of the first body; the second one hangs on a point and a vector of it and needs two more vectors.
    # Six rigid rows of the first; of the second five, for the length of the axis is known.
    model = Model("pair")
    model.add(Body("a", mass=1.0, inertia=(1.0, 2.0, 2.5)))
    model.add(Body("b", mass=1.0, inertia=(1.0, 2.0, 2.5), at=(2.0, 0.0, 0.0)))
    model.add(Hinge("hinge", "a", "b", at=(1.0, 0.5, 0.0), axis=(1.0, 2.0, 3.0)))
    table = Mechanism(model).table
    assert (table.count, len(table.natural.rigid), len(table.rows.names)) == (18, 11, 0)
    assert len(table.satisfied) == 5


@pytest.mark.parametrize("turn", [None, (1.0, 2.0, 0.5)])
def test_planar_mechanisms_stay_planar_in_any_plane(turn):
    part = Component("part")
    for shelf in (inner := scene("peaucellier")).bodies, inner.joints:
        for item in shelf.values():
            part.add(item)
    model = Model("turned", gravity=(1.0, 2.0, 3.0))
    model.add(
        part.instance("part", at=(1.0, 2.0, 3.0), rotation=IDENTITY if turn is None else about(turn, 1.0))
    )
    mechanism = Mechanism(model)
    assert (mechanism.table.count, len(mechanism.table.natural.rigid), len(mechanism.table.rows.names)) == (
        8,
        7,
        0,
    )
    check_accelerations(model)


# --- states ---


def check_round_trip(mechanism, q, v):
    z, zd = mechanism.natural(q, v)
    placed = mechanism.place(z, zd)
    there, rates = mechanism.floating(q, v)
    back, back_rates = mechanism.table.to_floating(z, zd)
    size = 1.0 + np.abs(there).max()
    for joint in mechanism.system.joints.values():
        if joint.dofs:  # a quaternion and its opposite are one rotation
            mine, other = back[joint.q], there[joint.q].copy()
            other[3:] *= np.sign(mine[3:] @ other[3:])
            np.testing.assert_allclose(mine, other, atol=1e-12 * size)
    np.testing.assert_allclose(back_rates, rates, atol=1e-12 * (1.0 + np.abs(rates).max()) * size)
    hold = placed.constraints.rows["role"] == HOLD
    # Gaps up to 1e-10 count as closed; rigid rows count them in lengths of rods, rates multiply them by speeds.
    np.testing.assert_allclose(placed.natural.rigid["phi"], 0.0, atol=1e-9)
    np.testing.assert_allclose(placed.natural.rigid["rate"], 0.0, atol=1e-8)
    np.testing.assert_allclose(placed.constraints.rows["phi"][hold], 0.0, atol=1e-9 * size)
    np.testing.assert_allclose(placed.rows[hold] @ zd, 0.0, atol=1e-8 * size)


@pytest.mark.parametrize("name", SCENES)
def test_states_of_scenes_come_back(name):
    mechanism = Mechanism(scene(name))
    check_round_trip(mechanism, *mechanism.moving(np.random.default_rng(1)))


@pytest.mark.parametrize("seed", SEEDS)
def test_states_of_random_mechanisms_come_back(seed):
    mechanism = Mechanism(loaded(seed))
    check_round_trip(mechanism, *mechanism.moving(np.random.default_rng(seed)))


# --- rows ---


def check_gradients(mechanism, rng):
    """Gradients and biases against differences, along motions that keep bodies rigid."""
    z, zd = mechanism.natural(*mechanism.moving(rng))
    here = mechanism.place(z, zd)
    _, s, vt = np.linalg.svd(here.rigid)
    tangent = vt[int((s > 1e-9).sum()) :] if len(s) else np.eye(len(z))
    motion = tangent.T @ rng.normal(size=len(tangent))
    motion /= max(1.0, np.abs(motion).max(initial=0.0))
    here = mechanism.place(z, motion)
    h = 1e-5
    ahead, behind = (mechanism.place(z + step * motion, motion) for step in (h, -h))
    # Central differences: h² times third derivatives, which grow with 1/length³ of rods, and rounding 1e-16/h.
    measured = here.constraints.rows["kind"] != SPIN
    gaps = (ahead.constraints.rows["phi"] - behind.constraints.rows["phi"]) / (2 * h)
    np.testing.assert_allclose((here.rows @ motion)[measured], gaps[measured], atol=1e-7)
    rates = (ahead.rows - behind.rows) @ motion / (2 * h)
    np.testing.assert_allclose(here.constraints.rows["bias"], rates, atol=1e-7)
    # Rigid rows are quadratic: exact in any direction.
    any_motion = rng.normal(size=len(z))
    here = mechanism.place(z, any_motion)
    ahead, behind = (mechanism.place(z + step * any_motion, any_motion) for step in (1.0, -1.0))
    size = 1.0 + max(np.abs(place.natural.rigid["phi"]).max(initial=0.0) for place in (ahead, behind))
    slopes = 0.5 * (ahead.natural.rigid["phi"] - behind.natural.rigid["phi"])
    bends = ahead.natural.rigid["phi"] + behind.natural.rigid["phi"] - 2 * here.natural.rigid["phi"]
    np.testing.assert_allclose(here.rigid @ any_motion, slopes, atol=1e-12 * size)
    np.testing.assert_allclose(here.natural.rigid["rate"], slopes, atol=1e-12 * size)
    np.testing.assert_allclose(here.natural.rigid["bias"], bends, atol=1e-12 * size)


@pytest.mark.parametrize("seed", SEEDS)
def test_gradients_and_biases(seed):
    check_gradients(Mechanism(loaded(seed)), np.random.default_rng(seed))


@pytest.mark.parametrize("seed", SEEDS)
def test_gradients_and_biases_of_rows_of_every_role(seed):
    model = random_mechanism(seed, bodies=(2, 5), loops=(0, 2), decades=1.0)
    check_gradients(Mechanism(model), np.random.default_rng(seed))


def check_freedoms(mechanism):
    z, zd = mechanism.natural(mechanism.mobility.pose, np.zeros(mechanism.tree.nv))
    placed = mechanism.place(z, zd)
    hold = placed.constraints.rows["role"] == HOLD
    J = np.vstack([placed.rigid, placed.rows[hold]])
    s = np.linalg.svd(J / np.maximum(np.linalg.norm(J, axis=1), 1e-300)[:, None], compute_uv=False)
    rank = int((s > 1e-9).sum())
    assert mechanism.table.count - rank == mechanism.mobility.mobility
    assert rank == len(J)  # nothing is said twice


@pytest.mark.parametrize("name", SCENES)
def test_scenes_have_the_freedoms_of_their_trees(name):
    check_freedoms(Mechanism(scene(name)))


@pytest.mark.parametrize("seed", range(24))
def test_random_mechanisms_have_the_freedoms_of_their_trees(seed):
    check_freedoms(Mechanism(loaded(seed)))


@pytest.mark.parametrize("seed", SEEDS)
def test_gradients_touch_what_they_say(seed):
    mechanism = Mechanism(random_mechanism(seed, bodies=(2, 8), loops=(0, 2), decades=1.0))
    placed = mechanism.place(*mechanism.natural(*mechanism.moving(np.random.default_rng(seed))))
    for gradients, touched in zip((placed.rigid, placed.rows), mechanism.table.touched(), strict=True):
        assert len(gradients) == len(touched)
        for x, unknowns in zip(gradients, touched, strict=True):
            assert set(np.flatnonzero(x)) <= unknowns


@pytest.mark.parametrize("tilt", [1e-10, 1e-6, 1e-4, 1e-2, 1.0])
def test_axes_that_nearly_agree_lock_as_in_the_tree(tilt):
    model = scene("peaucellier")
    model.joints["D"] = dataclasses.replace(model.joints["D"], axis=(tilt, 0.0, 1.0))
    mechanism = Mechanism(model)
    assert mechanism.mobility.mobility == (1 if tilt < 1e-5 else 0)
    check_freedoms(mechanism)


# --- inertia and forces ---


def check_energy(mechanism, rng):
    q, v = mechanism.moving(rng)
    z, zd = mechanism.natural(q, v)
    kinetic = 0.5 * v @ tree_inertia(mechanism.tree, q) @ v
    assert 0.5 * zd @ mechanism.table.inertia @ zd == pytest.approx(kinetic, rel=1e-11, abs=1e-14)
    placed = mechanism.place(z, zd)
    assert placed.forces @ zd == pytest.approx(placed.power, rel=1e-11, abs=1e-12)


@pytest.mark.parametrize("name", SCENES)
def test_energy_of_scenes(name):
    check_energy(Mechanism(scene(name)), np.random.default_rng(2))


@pytest.mark.parametrize("seed", SEEDS)
def test_energy_and_power_of_random_mechanisms(seed):
    check_energy(Mechanism(loaded(seed)), np.random.default_rng(seed))


def solve(mechanism, z, zd):
    """Accelerations of z by the dense equations of motion, springs and motors by their laws."""
    placed = mechanism.place(z, zd)
    M, Q = mechanism.table.inertia.copy(), mechanism.table.weight + placed.forces
    J, bias = [placed.rigid], [placed.natural.rigid["bias"]]
    for row, x in zip(placed.constraints.rows, placed.rows, strict=True):
        if row["role"] == HOLD:
            J.append(x[None])
            bias.append([row["bias"]])
        elif row["law"] == LAWS.index(SPRING):
            stretch = 0.0 if row["kind"] == SPIN else row["phi"]
            Q -= (row["value"][0] * stretch + row["value"][1] * (x @ zd)) * x
        else:
            assert LAWS[row["law"]].name in ("dc_motor", "torque")  # without voltage and back-EMF: a rotor
            stall, back_emf = row["value"][:2]
            voltage = placed.constraints.inputs[row["input"]] if row["input"] >= 0 else 0.0
            M += row["inertia"] * np.outer(x, x)
            Q += (stall * voltage - back_emf * (x @ zd) - row["inertia"] * row["bias"]) * x
    J, bias = np.vstack(J), np.concatenate(bias)
    scale = np.linalg.norm(J, axis=1)
    J, bias = J / scale[:, None], bias / scale
    n, m = len(z), len(bias)
    heaviest = np.abs(M).max(initial=1e-300)
    K = np.block([[M / heaviest, J.T], [J, np.zeros((m, m))]])
    return placed, np.linalg.lstsq(K, np.r_[Q / heaviest, -bias], rcond=1e-13)[0][:n]


def check_accelerations(model):
    # A step so short that no spring counts as stiff.
    simulation = Simulation(model, method="simgc", solver="direct", dt=1e-7)
    mechanism = Mechanism(model)
    q, v = np.array(simulation.q), np.array(simulation.v)
    placed, zdd = solve(mechanism, *mechanism.natural(q, v))
    expected = tree_accelerations(model, q, v, simulation.accelerations())
    found = natural_accelerations(mechanism, placed, zdd)
    for mine, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, other, atol=1e-8 * (1.0 + np.abs(other).max()))


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("double_four_bar", {"rate": 1.0}), ("n_four_bar", {"n": 4}), ("peaucellier", {}), ("crank_rocker", {}),
        ("slidercrank3d", {}), ("bennett", {}), ("chain5", {}), ("spherical_pendulum", {}), ("a01_pendulum", {}),
    ],
)  # fmt: skip
def test_accelerations_of_scenes(name, options):
    check_accelerations(scene(name, **options))


@pytest.mark.parametrize("seed", range(24))
def test_accelerations_of_random_mechanisms(seed):
    check_accelerations(loaded(seed))


@pytest.mark.parametrize("seed", range(24))
def test_accelerations_of_moving_mechanisms(seed):
    check_accelerations(random_mechanism(seed, extras=False, decades=2.0))


# --- what is refused ---


def test_loads_on_joint_coordinates_are_refused_by_name():
    model = scene("a01_pendulum")
    joint = next(iter(model.joints))
    model.add(JointFunction("motor", joint, lambda t, x, v, parameters, out: None))
    with pytest.raises(UnsupportedError, match=f"'motor' acts on the coordinates of joint '{joint}'"):
        Simulation(model, method="global")


def test_a_tree_is_refused():
    with pytest.raises(LinkworkError, match="every body floating"):
        choose(compile_model(scene("a01_pendulum"), rows=True), [])


def test_free_joints_and_unjointed_bodies_are_twelve_numbers_each():
    rng = np.random.default_rng(0)
    model = Model("loose")
    for name in ("a", "b"):
        model.add(Body(name, mass=1.0, inertia=(1.0, 2.0, 2.5), at=triple(unit(rng))))
    model.add(JOINTS["free"]("base", "ground", "a", velocity=triple(rng.normal(size=6))))
    check_accelerations(model)
    assert Mechanism(model).table.count == 24
