"""What every joint of the registry must do; neither its direction nor a mirror changes its physics."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.probe import Probe
from helpers.trees import (
    EPS,
    FAST,
    KINDS,
    SLOW,
    Link,
    Plan,
    build,
    make_joint,
    placed_model,
    plans,
    random_body,
    random_joint,
    reflection,
    triple,
    unit,
)
from linkwork.engine.loads import Force, Spring, Torque
from linkwork.model import Marker, Model
from linkwork.model.item import GROUND
from linkwork.model.joints import JOINTS, Free, Hinge, Universal
from linkwork.model.rotation import matrix, quaternion

every_kind = pytest.mark.parametrize("kind", KINDS)
seeds = st.integers(0, 2**32 - 1)

# The names that models, records and plots rely on: coordinate and unit, in order.
COLUMNS = {
    "hinge": ["angle rad"],
    "slider": ["travel m"],
    "cylindrical": ["travel m", "angle rad"],
    "universal": ["angle_x rad", "angle_y rad"],
    "spherical": ["qw 1", "qx 1", "qy 1", "qz 1"],
    "planar": ["x m", "y m", "angle rad"],
    "screw": ["angle rad"],
    "weld": [],
    "free": ["x m", "y m", "z m", "qw 1", "qx 1", "qy 1", "qz 1"],
}
DOFS = {
    "hinge": 1, "slider": 1, "cylindrical": 2, "universal": 2, "spherical": 3, "planar": 3, "screw": 1,
    "weld": 0, "free": 6,
}  # fmt: skip


def arm(kind, seed, **fields) -> Model:
    """One body on the ground by a joint of this kind."""
    rng = np.random.default_rng(seed)
    model = Model(gravity=(1.0, 2.0, -9.0))
    model.add(random_body(rng, "body", rng.normal(size=3), decades=1))
    joint = random_joint(rng, kind, "joint", GROUND, "body", rng.normal(size=3), passive=False)
    model.add(dataclasses.replace(joint, **fields))
    return model


# --- names, units, counts ---


def test_every_joint_is_registered_under_its_kind():
    assert all(cls.kind == kind for kind, cls in JOINTS.items())
    assert set(COLUMNS) == set(DOFS) == set(JOINTS)


@every_kind
def test_columns_of_the_state_carry_names_and_units(kind):
    system = Probe(arm(kind, 0)).system
    assert [f"{c.name} {c.unit}" for c in system.coordinates] == [f"joint.{text}" for text in COLUMNS[kind]]
    assert system.nv == DOFS[kind] == len(system.joints["joint"].dofs)
    assert len(set(system.coordinates)) == system.nq
    assert len(set(system.rates)) == system.nv
    quaternions = sum(c.name.endswith(".qw") for c in system.coordinates)
    assert system.nq - system.nv == quaternions
    plain = [c for c in system.coordinates if c.unit != "1"]
    slides = [r for r in system.rates if not r.name.endswith((".wx", ".wy", ".wz"))]
    assert [(f"{c.name}_rate", f"{c.unit}/s") for c in plain] == [(r.name, r.unit) for r in slides]
    spins = [r for r in system.rates if r not in slides]
    assert [r.name.split(".")[-1] + r.unit for r in spins] == ["wxrad/s", "wyrad/s", "wzrad/s"] * quaternions


@every_kind
def test_start_of_a_joint_is_its_position_and_velocity(kind):
    names = JOINTS[kind](*("j", "a", "b"), **({"pitch": 1.0} if kind == "screw" else {})).coordinates
    position = tuple(0.1 * (i + 1) for i in range(len(names)))
    velocity = tuple(1.0 + i for i in range(DOFS[kind]))
    system = Probe(arm(kind, 0, position=position, velocity=velocity)).system
    wanted = np.array(position)
    if "qw" in names:
        wanted[-4:] /= np.linalg.norm(wanted[-4:])
    np.testing.assert_allclose(system.q0, wanted, rtol=4 * EPS)
    np.testing.assert_array_equal(system.v0, velocity)


# --- kinematics ---


@given(plans(max_loads=0))
@FAST
def test_bodies_stand_as_written_where_all_coordinates_are_zero(plan):
    probe = Probe(plan)
    flat = build(plan).flatten()
    probe.place(probe.system.q0)
    for name, body in flat.bodies.items():
        p, R = probe.pose(name)
        # A chain of up to twelve links, each rounding products and sums of numbers below 10.
        np.testing.assert_allclose(p, body.at, atol=12 * 64 * EPS)
        np.testing.assert_allclose(R, matrix(body.rotation), atol=12 * 16 * EPS)


def check_jacobians(plan):
    """Columns of every body's Jacobian against central differences of its pose along the group."""
    probe = Probe(plan)
    q, v = probe.state(plan.seed)
    # Differences of order four over a chain of analytic motions of rate one: h⁴ times its fifth derivative,
    # whose size is that of the mechanism (at most 12 links of 1 m) for each of the rotations in a column, and
    # the rounding of positions below 20 m divided by h.
    h = 2e-3
    tolerance = 12 * h**4 + 12 * 64 * EPS * 20 / h
    moved = [[probe.poses(probe.retract(q, k * h * e)) for k in (-2, -1, 1, 2)] for e in np.eye(probe.nv)]
    probe.place(q, v)
    for b, name in enumerate(probe.system.bodies):
        _, R = probe.pose(name)
        J = probe.jacobian(name)
        np.testing.assert_allclose(probe.twist(name), J @ v, atol=4e-12 * max(1, np.abs(J).max(initial=0)))
        for i in range(probe.nv):
            dp, dR = (
                (8 * (three[b] - two[b]) - (four[b] - one[b])) / (12 * h)
                for one, two, three, four in zip(*moved[i], strict=True)
            )
            W = dR @ R.T
            w = np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]]) / 2
            np.testing.assert_allclose(W + W.T, 0, atol=tolerance)
            np.testing.assert_allclose(J[:3, i], w, atol=tolerance)
            np.testing.assert_allclose(J[3:, i], dp, atol=tolerance)


@every_kind
@pytest.mark.parametrize("backwards", [False, True])
def test_motion_axes_are_derivatives_of_the_pose(kind, backwards):
    for seed in range(4):
        links = (Link("hinge"), Link(kind, 0, backwards), Link("spherical", 1, not backwards))
        check_jacobians(Plan(links, seed=seed))


@given(plans(max_links=6, max_loads=0))
@FAST
def test_jacobians_of_random_trees_are_derivatives_of_the_pose(plan):
    check_jacobians(plan)


@every_kind
@pytest.mark.parametrize("backwards", [False, True])
def test_velocity_products_are_derivatives_of_the_twist(kind, backwards):
    links = (Link("universal"), Link(kind, 0, backwards), Link("planar", 1, not backwards))
    for seed in range(4):
        probe = Probe(Plan(links, seed=seed, gravity=False))
        q, v = probe.state(seed)
        # q(h) = q ⊕ h v is the motion at constant rates: no joint accelerates.
        h = 1e-3
        after, before = [], []
        for out, k in ((after, 1), (after, 2), (before, -1), (before, -2)):
            probe.place(probe.retract(q, k * h * v), v)
            out.append([probe.twist(name) for name in probe.system.bodies])
        difference = (8 * np.subtract(after[0], before[0]) - np.subtract(after[1], before[1])) / (12 * h)
        probe.place(q, v)
        for b, name in enumerate(probe.system.bodies):
            dof = probe.tables.dofs[probe.tables.bodies["link"][b]]
            o = probe.tables.islands["o"][dof["island"]]
            r, w = probe.pose(name)[0] - o, dof["V"][:3]
            # The acceleration of a point is that of the body there and the centripetal part (RBDA eq. 2.48).
            a = dof["A0"][3:] + np.cross(dof["A0"][:3], r) + np.cross(w, probe.twist(name)[3:])
            wanted = np.concatenate([dof["A0"][:3], a])
            # As above, with rates of about 2 rad/s: derivatives grow by that factor each, and by |V|² ~ 100.
            np.testing.assert_allclose(difference[b], wanted, atol=100 * 4**5 * h**4 + 1e-13 * 100 / h)


# --- direction ---


def hanging_pair(joint, first, bodies) -> Model:
    """Two bodies joined to each other and to nothing else; the tree starts at the one declared first."""
    model = Model(gravity=(1.0, 2.0, -9.0))
    order = sorted(bodies, key=lambda body: body.name != first)
    for body in order:
        model.add(body)
    model.add(joint)
    model.add(Spring("spring", "a", GROUND, at_a=(0.3, 0.1, 0.2), at_b=(0.0, 0.0, 1.0), stiffness=20.0))
    model.add(Force("force", "b", force=(1.0, 2.0, 3.0), follows=True))
    return model


def free_coordinates(body, p, R, twist):
    """Coordinates and rates of the free joint of a body that hangs on nothing, from its pose and twist."""
    Q = R @ matrix(body.rotation).T
    return np.r_[p - body.at, quaternion(Q)], np.r_[twist[3:], Q.T @ twist[:3]]


@every_kind
@given(seeds)
@FAST
def test_the_way_the_tree_passes_a_joint_does_not_matter(kind, seed):
    rng = np.random.default_rng(seed)
    bodies = [random_body(rng, name, rng.normal(size=3) * 0.5, decades=1) for name in "ab"]
    joint = random_joint(rng, kind, "joint", "a", "b", rng.normal(size=3) * 0.5)
    forward = Probe(hanging_pair(joint, "a", bodies))
    backward = Probe(hanging_pair(joint, "b", bodies))
    assert (forward.system.joints["joint"].reversed, backward.system.joints["joint"].reversed) == (
        False,
        True,
    )
    here, there = forward.system.joints["joint"], backward.system.joints["joint"]

    q, v = forward.state(seed)
    forward.place(q, v)
    q2, v2 = np.zeros_like(q), np.zeros_like(v)
    q2[there.q], v2[there.v] = q[here.q], v[here.v]
    root = backward.system.joints["b_free"]
    q2[root.q], v2[root.v] = free_coordinates(bodies[1], *forward.pose("b"), forward.twist("b"))
    backward.place(q2, v2)
    for name in "ab":
        for got, wanted in zip(backward.pose(name), forward.pose(name), strict=True):
            np.testing.assert_allclose(got, wanted, atol=256 * EPS)
        np.testing.assert_allclose(backward.twist(name), forward.twist(name), atol=4096 * EPS)

    # The same accelerations, up to rounding times the condition of a pair with mass ratio ten; and the same
    # energies and momentum.
    one, two = forward.qdd(q, v), backward.qdd(q2, v2)
    scale = max(1.0, np.abs(one).max(), np.abs(two).max())
    np.testing.assert_allclose(two[there.v], one[here.v], atol=1e-12 * scale)
    np.testing.assert_allclose(backward.energies(q2, v2), forward.energies(q, v), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(backward.momentum(q2, v2), forward.momentum(q, v), atol=1e-11)


def inverse_coordinates(kind, q, v):
    """Coordinates and rates of the joint written from b to a that hold the same pose and motion."""
    if kind != "spherical":
        return -q, -v
    return q * [1, -1, -1, -1], -matrix(q) @ v


@pytest.mark.parametrize("kind", ["hinge", "slider", "screw", "cylindrical", "spherical"])
@given(seeds)
@FAST
def test_a_joint_written_the_other_way_round_has_the_inverse_coordinates(kind, seed):
    rng = np.random.default_rng(seed)
    body = random_body(rng, "body", rng.normal(size=3) * 0.5, decades=1)
    joint = random_joint(rng, kind, "joint", GROUND, "body", rng.normal(size=3) * 0.5, passive=False)
    spring = 0.0 if kind == "spherical" else 4.0
    joint = dataclasses.replace(joint, damping=0.3, spring=spring, armature=0.1)
    probes = []
    for written in (joint, dataclasses.replace(joint, a="body", b=GROUND)):
        model = Model(gravity=(1.0, 2.0, -9.0))
        model.add(body)
        model.add(
            dataclasses.replace(
                written, damping=0.3, spring=0.0 if kind == "spherical" else 4.0, armature=0.1
            )
        )
        probes.append(Probe(model))
    one, two = probes
    q, v = one.state(seed)
    q2, v2 = inverse_coordinates(kind, q, v)
    one.place(q, v)
    two.place(q2, v2)
    for got, wanted in zip(two.pose("body"), one.pose("body"), strict=True):
        np.testing.assert_allclose(got, wanted, atol=64 * EPS)
    np.testing.assert_allclose(two.twist("body"), one.twist("body"), atol=256 * EPS)
    wanted = one.qdd(q, v)
    # The rates of the inverse ball are -R v with R' = R [v]: its acceleration is -R v', no further term.
    _, wanted = inverse_coordinates(kind, q, wanted)
    np.testing.assert_allclose(two.qdd(q2, v2), wanted, atol=1e-12 * max(1, np.abs(wanted).max()))


# --- mirrors ---


def mechanism_with(kind, seed) -> Model:
    """Ground - kind - upper - kind, backwards - lower, with loads of every sort."""
    rng = np.random.default_rng([seed, 5])
    upper, lower = rng.normal(size=(2, 3)) * 0.5
    model = Model(gravity=triple(rng.normal(size=3) * 5))
    model.add(random_body(rng, "upper", upper, decades=1))
    model.add(random_body(rng, "lower", lower, decades=1))
    model.add(random_joint(rng, kind, "first", GROUND, "upper", rng.normal(size=3) * 0.5))
    model.add(random_joint(rng, kind, "second", "lower", "upper", rng.normal(size=3) * 0.5))
    model.add(Force("push", "upper", force=triple(rng.normal(size=3)), at=triple(rng.normal(size=3))))
    model.add(Force("jet", "lower", force=triple(rng.normal(size=3)), follows=True))
    model.add(Torque("turn", "lower", torque=triple(rng.normal(size=3) * 0.1), follows=True))
    ends = triple(rng.normal(size=3)), (4.0, 3.0, 5.0)
    model.add(Spring("spring", "lower", GROUND, at_a=ends[0], at_b=ends[1], stiffness=3.0, damping=0.3))
    return model


@every_kind
def test_the_mirrored_component_moves_as_the_mirror_image(kind):
    for seed in range(3):
        rng = np.random.default_rng([seed, 6])
        original = mechanism_with(kind, seed)
        normal, at, turn = triple(unit(rng)), triple(rng.normal(size=3)), tuple(unit(rng, 4))
        M = matrix(turn) @ reflection(normal)
        one, two = Probe(original), Probe(placed_model(original, at=at, rotation=turn, mirror=normal))
        q, v = one.state(seed, speed=1.0)
        path, image = one.run(q, v, 1e-3, 200, stride=50), two.run(q, v, 1e-3, 200, stride=50)
        # Both runs take the same steps, so that only rounding sets them apart; 200 steps of a motion whose
        # neighbours part by less than e^2 in 0.2 s leave some thousand ulp of numbers below 10.
        atol = 1e-11
        np.testing.assert_allclose(image.q, path.q, atol=atol)
        np.testing.assert_allclose(image.v, path.v, atol=100 * atol)
        for k in range(len(path.t)):
            p, R = one.poses(path.q[k])
            p2, R2 = two.poses(image.q[k])
            np.testing.assert_allclose(p2, p @ M.T + at, atol=atol)
            # A frame stays right-handed: it is turned by -M where points are mapped by M.
            np.testing.assert_allclose(R2, -M @ R, atol=atol)


@pytest.mark.parametrize("mirror", [None, (1.0, 2.0, 3.0)])
@pytest.mark.parametrize(
    "fields",
    [
        {"at": (0.1, 0.2, 0.3)},
        {"at": (0.1, 0.2, 0.3), "axis": (1.0, 2.0, 3.0)},
        {"at": (0.1, 0.2, 0.3), "reference": (1.0, 2.0, 3.0)},
        {"at": "eye"},
        {"at": "eye", "axis": (1.0, 2.0, 3.0)},
        {"at": "eye", "axis": (1.0, 2.0, 3.0), "reference": (0.0, 1.0, 3.0)},
    ],
    ids=lambda fields: " ".join(fields) + (" of a marker" if fields["at"] == "eye" else ""),
)
def test_a_joint_with_default_axes_keeps_its_frame_in_a_placed_component(fields, mirror):
    rng = np.random.default_rng(4)
    original = Model(gravity=(1.0, 2.0, -9.0))
    original.add(random_body(rng, "body", (0.1, 0.2, 0.3), decades=1))
    original.add(Marker("eye", "body", at=(0.2, 0.1, 0.4), rotation=tuple(unit(rng, 4))))
    original.add(Universal("joint", GROUND, "body", **fields))
    turn = tuple(unit(rng, 4))
    one, two = Probe(original), Probe(placed_model(original, rotation=turn, mirror=mirror))
    q, v = one.state(0)
    np.testing.assert_allclose(two.qdd(q, v), one.qdd(q, v), rtol=1e-12)


# --- details that random trees do not reach ---


def test_a_free_joint_that_the_tree_adds_does_not_take_the_name_of_another():
    rng = np.random.default_rng(0)
    model = Model()
    for name in ("arm", "hand"):
        model.add(random_body(rng, name, rng.normal(size=3)))
    model.add(Hinge("arm_free", "arm", "hand"))
    system = Probe(model).system
    assert system.nv == 7
    assert {type(placed.joint) for placed in system.joints.values()} == {Free, Hinge}


@every_kind
def test_springs_and_dampers_in_a_joint_act_on_their_own_coordinate(kind):
    n = DOFS[kind]
    damping, spring = tuple(1.0 + i for i in range(n)), tuple(3.0 + i for i in range(n))
    rest = tuple(0.1 * (i + 1) for i in range(n))
    bare = Probe(arm(kind, 1))
    sprung = Probe(arm(kind, 1, damping=damping, spring=spring, rest=rest))
    q, v = bare.system.q0, bare.state(0)[1]
    # At the pose as written every coordinate (and the rotation vector of a ball) is zero.
    wanted = bare.bias(q, v) + np.multiply(damping, v) - np.multiply(spring, rest)
    np.testing.assert_allclose(sprung.bias(q, v), wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.slow
@given(plans(max_loads=0))
@SLOW
def test_many_random_trees_have_jacobians_that_are_derivatives(plan):
    check_jacobians(plan)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "weld"])
def test_armature_adds_to_the_diagonal_of_the_mass_matrix_alone(kind):
    armature = tuple(0.5 + i for i in range(DOFS[kind]))
    bare, geared = Probe(arm(kind, 2)), Probe(arm(kind, 2, armature=armature))
    q, _ = bare.state(0)
    difference = geared.mass_matrix(q) - bare.mass_matrix(q)
    np.testing.assert_allclose(
        difference, np.diag(armature), atol=16 * EPS * np.abs(bare.mass_matrix(q)).max()
    )


def test_make_joint_knows_every_kind():
    assert {make_joint(kind, "j", "a", "b").kind for kind in KINDS} == set(JOINTS)
