"""Every robot of example-robot-data against Pinocchio, which reads the same files with a parser of its own."""

import re

import numpy as np
import pytest

from helpers.robots import DESCRIPTIONS, ROBOTS, Twin, apart, bare
from linkwork import ModelError, import_model

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
