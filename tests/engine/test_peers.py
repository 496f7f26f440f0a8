"""The same random trees in Pinocchio and MuJoCo: poses, twists and accelerations.

Each tree is built anew for the other engine from the flat model, and all the forces of its loads are computed
by NumPy from the other engine's poses, so that nothing but the numbers of the model is shared. A joint is
handed over as the product of its elementary motions, in the order in which the tree passes it, with axes
signed so that coordinates agree one to one. Only quaternions need care: rates are angular velocities in
own axes in all three engines, but in those of the body that *their* tree calls the child.
"""

import pytest

from helpers.in_mujoco import InMuJoCo
from helpers.in_pinocchio import InPinocchio
from helpers.peer_trees import Tree, every_way
from helpers.trees import KINDS

pytestmark = pytest.mark.peers

TREES = 200


def test_pinocchio_agrees_on_random_trees():
    pin = pytest.importorskip("pinocchio")
    passed = set()
    for seed in range(TREES):
        tree = Tree(seed, KINDS)
        tree.check(InPinocchio(pin, tree))
        passed |= tree.ways()
    assert passed == every_way(KINDS)


def test_mujoco_agrees_on_random_trees():
    mujoco = pytest.importorskip("mujoco")
    kinds = tuple(kind for kind in KINDS if kind != "screw")  # which MuJoCo does not have
    passed = set()
    for seed in range(TREES):
        tree = Tree(seed, kinds)
        tree.check(InMuJoCo(mujoco, tree))
        passed |= tree.ways()
    assert passed == every_way(kinds)
