"""Every robot of example-robot-data against Pinocchio, which reads the same files with a parser of its own."""

import re

import numpy as np
import pytest

from helpers.probe import Probe
from helpers.robots import DESCRIPTIONS, ROBOTS, Twin, apart, bare
from linkwork import ModelError, import_model
from linkwork.model.rotation import matrix

mujoco = pytest.importorskip("mujoco", reason="needs the extra `mjcf`")
pin = pytest.importorskip("pinocchio", reason="needs the extra `peers`")
pytestmark = [
    pytest.mark.peers,
    pytest.mark.skipif(not DESCRIPTIONS, reason="needs the package example-robot-data"),
]

# What cannot be, and what the errors must say of it.
WRONG = {
    "alex_description/urdf/alex_psyonic_hands.urdf": "there is no joint 'index_q1'",  # called Left_index_q1
    "romeo_description/urdf/romeo_laas_small.urdf": "the inertia is not positive",  # of links that move
    "ur_description/urdf/ur3.urdf": "has no links",  # a macro
}
WEIGHTLESS = {"romeo_description/urdf/romeo.urdf": "LHand"}
"""A joint that moves links without mass: it is read, but nobody can tell how that accelerates."""


@pytest.mark.parametrize("name", [name for name in DESCRIPTIONS if name not in {**WRONG, **WEIGHTLESS}])
def test_masses_gravity_and_accelerations_are_those_of_pinocchio(name):
    file = str(ROBOTS / name)
    model, report = import_model(file)
    assert report.of("taken")
    assert all(entry.how and entry.line for entry in report.of("approximated") + report.of("dropped"))
    peer = pin.buildModelFromUrdf(file)
    data = peer.createData()
    weight = sum(body.mass_properties.mass for body in model.bodies.values())
    theirs = sum(inertia.mass for inertia in peer.inertias)
    assert weight == pytest.approx(theirs, rel=1e-12)
    twin = Twin(bare(model), {peer.names[i]: peer.joints[i].idx_v for i in range(1, peer.njoints)})
    if not peer.nv:
        return
    rng = np.random.default_rng(len(name))
    for _ in range(2):
        angles, rates = rng.uniform(-2.0, 2.0, (2, peer.nv))
        q = pin.neutral(peer)
        for joint in list(peer.joints)[1:]:
            a = angles[joint.idx_v]
            q[joint.idx_q : joint.idx_q + joint.nq] = a if joint.nq == 1 else (np.cos(a), np.sin(a))
        H, gravity, accelerations = twin.dynamics(angles, rates)
        M = np.triu(pin.crba(peer, data, q))
        M = M + np.triu(M, 1).T
        # Both are sums of products: rounding of some tens of eps; accelerations solve with M, which multiplies
        # that by its condition (up to 1e7, of small links on long arms).
        assert apart(H, M) < 1e-13
        assert apart(gravity, pin.computeGeneralizedGravity(peer, data, q)) < 1e-13
        forward = pin.aba(peer, data, q, rates, np.zeros(peer.nv))
        assert apart(accelerations, forward) < max(1e-12, 1e-16 * np.linalg.cond(M)) < 1e-9


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_says_why_and_where(name):
    with pytest.raises(ModelError, match=re.escape(WRONG[name])) as caught:
        import_model(ROBOTS / name)
    assert all(problem.line and problem.file for problem in caught.value.problems)


@pytest.mark.parametrize("name", WEIGHTLESS)
def test_links_without_mass_that_move_are_told_when_they_are_to_move(name):
    model, _ = import_model(ROBOTS / name)
    with pytest.raises(ModelError, match=f"{WEIGHTLESS[name]}.*has no inertia to accelerate"):
        Twin(bare(model), {})


def in_mujoco(name):
    """MuJoCo's model of a robot, without shapes, whose files it does not find; None where it refuses the masses."""
    text = (ROBOTS / name).read_text()
    text = re.sub(r"<(visual|collision)\b(?:[^>]*/>|.*?</\1>)", "", text, flags=re.DOTALL)
    try:
        m = mujoco.MjModel.from_xml_string(text)
    except ValueError:  # of inertias that violate the triangle inequality, and of links without any
        return None
    for what in ("CONTACT", "LIMIT", "FRICTIONLOSS", "EQUALITY"):
        m.opt.disableflags |= int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{what}"))
    m.dof_damping[:] = 0.0
    return m


def test_mass_matrix_gravity_and_accelerations_are_those_of_mujoco():
    """A third formulation and a third parser, where it takes the published inertias."""
    seen = 0
    for name in DESCRIPTIONS:
        if name in WRONG or name in WEIGHTLESS or (m := in_mujoco(name)) is None or not m.nv:
            continue
        model, _ = import_model(ROBOTS / name, meshes=False)
        weights = [body.mass_properties for body in model.bodies.values()]
        if any(one.mass == 0.0 and one.inertia.any() for one in weights):
            continue  # MuJoCo leaves such inertias out
        twin = Twin(bare(model), {m.joint(j).name: int(m.jnt_dofadr[j]) for j in range(m.njnt)})
        angles, rates = np.random.default_rng(len(name)).uniform(-2.0, 2.0, (2, m.nv))
        rest, moving = mujoco.MjData(m), mujoco.MjData(m)
        rest.qpos[:] = moving.qpos[:] = angles
        moving.qvel[:] = rates
        mujoco.mj_forward(m, rest)
        mujoco.mj_forward(m, moving)
        M = np.zeros((m.nv, m.nv))
        try:
            mujoco.mj_fullM(m, M, moving.qM)
        except (TypeError, AttributeError):  # from version 4 on
            mujoco.mj_fullM(m, moving, M)
        H, gravity, accelerations = twin.dynamics(angles, rates)
        # MuJoCo turns inertias into principal axes, which costs some digits more than sums of products.
        assert apart(H, M) < 1e-12, name
        assert apart(gravity, rest.qfrc_bias) < 1e-12, name
        assert apart(accelerations, moving.qacc) < max(1e-12, 1e-16 * np.linalg.cond(M)) < 1e-9, name
        seen += 1
    assert seen > 30


FLOATING = ("anymal_c_simple_description/urdf/anymal", "g1_description/urdf/g1_29dof_rev_1_0",
            "talos_data/robots/talos_reduced", "iris_description/robots/iris_simple")  # fmt: skip


@pytest.mark.parametrize("name", [f"{name}.urdf" for name in FLOATING])
def test_a_free_base_moves_as_in_pinocchio(name):
    """There its velocities are along the axes of the base, here linear ones are along those of the world."""
    peer = pin.buildModelFromUrdf(str(ROBOTS / name), pin.JointModelFreeFlyer())
    data = peer.createData()
    model = bare(import_model(ROBOTS / name, meshes=False, free_base=True).model)
    probe = Probe(model)
    rng = np.random.default_rng(3)
    turn = rng.normal(size=4)
    turn /= np.linalg.norm(turn)
    place, rates, angles = (
        rng.uniform(-1.0, 1.0, 3),
        rng.uniform(-1.0, 1.0, peer.nv),
        rng.uniform(-1.0, 1.0, peer.nv),
    )
    theirs, q, T = pin.neutral(peer), np.zeros(probe.system.nq), np.zeros((probe.nv, peer.nv))
    theirs[:3], theirs[3:7] = place, (*turn[1:], turn[0])
    placed = {one.joint.name.replace(".", "_"): one for one in probe.system.joints.values()}
    (base,) = (one for one in placed.values() if one.joint.kind == "free")
    q[base.q] = *place, *turn
    T[base.v, :6] = np.kron([[1, 0], [0, 0]], matrix(tuple(turn))) + np.kron([[0, 0], [0, 1]], np.eye(3))
    for i in range(2, peer.njoints):
        joint, own = peer.joints[i], placed[peer.names[i].replace(".", "_")]
        a = angles[joint.idx_v]
        theirs[joint.idx_q : joint.idx_q + joint.nq] = a if joint.nq == 1 else (np.cos(a), np.sin(a))
        q[own.q.start], T[own.v.start, joint.idx_v] = a, 1.0
    M = np.triu(pin.crba(peer, data, theirs))
    M += np.triu(M, 1).T
    assert apart(T.T @ probe.mass_matrix(q) @ T, M) < 1e-13
    weights = pin.computeGeneralizedGravity(peer, data, theirs)
    assert apart(T.T @ probe.bias(q, np.zeros(probe.nv)), weights) < 1e-13
    forward = pin.aba(peer, data, theirs, rates, np.zeros(peer.nv))
    found = np.linalg.solve(T, probe.qdd(q, T @ rates))
    found[:3] -= np.cross(rates[3:6], rates[:3])  # what turns with the base changes by itself
    assert apart(found, forward) < max(1e-12, 1e-16 * np.linalg.cond(M)) < 1e-9
