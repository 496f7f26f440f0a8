"""Functions of random trees against Pinocchio and MuJoCo, which are built anew from the flat models."""

import numpy as np
import pytest

from helpers.in_mujoco import InMuJoCo
from helpers.in_pinocchio import InPinocchio
from helpers.peer_trees import Tree
from helpers.trees import KINDS
from linkwork import Dynamics

pytestmark = pytest.mark.peers

TREES = 60
SAME = 1e-12
"""Of the largest entry: sums of some hundred products, each to 1e-16."""


def same(what, got, wanted, tree, size=1.0):
    error = np.abs(got - wanted).max(initial=0.0) / max(np.abs(wanted).max(initial=0.0), size)
    assert error <= SAME, f"{what} is off by {error:.1e} in {tree.plan}"


def bare(tree):
    """Functions of a tree, and random accelerations."""
    return Dynamics(tree.model), np.random.default_rng(7).normal(size=tree.nv)


def test_functions_agree_with_pinocchio_on_random_trees():
    pin = pytest.importorskip("pinocchio")
    for seed in range(TREES):
        tree = Tree(seed, KINDS)
        if not tree.nv:
            continue
        dynamics, a = bare(tree)
        there = InPinocchio(pin, tree)
        model, data, q, v, B = there.model, there.data, there.q, there.v, there.B
        # Column by column: `crba` wants joints numbered depth first, which these trees are not.
        rest = np.zeros(tree.nv)
        held = pin.rnea(model, data, q, rest, rest)
        H = np.array([pin.rnea(model, data, q, rest, e) - held for e in np.eye(tree.nv)]).T
        same("mass matrix", dynamics.mass_matrix(tree.q), B.T @ H @ B, tree)
        same("bias", dynamics.bias(tree.q, tree.v), B.T @ pin.nonLinearEffects(model, data, q, v), tree)
        gravity = pin.computeGeneralizedGravity(model, data, q)
        same("gravity", dynamics.gravity(tree.q), B.T @ gravity, tree)
        tau = dynamics.inverse(tree.q, tree.v, a) + dynamics.applied(tree.q, tree.v, t=0.0)
        same("inverse dynamics", tau, B.T @ pin.rnea(model, data, q, v, B @ a), tree)
        _same_motion(pin, there, tree, dynamics)


def _same_motion(pin, there, tree, dynamics):
    """Centre of mass, momentum, Jacobians and their drift."""
    model, data, q, v, B = there.model, there.data, there.q, there.v, there.B
    same("centre of mass", dynamics.centre_of_mass(tree.q), pin.centerOfMass(model, data, q, v), tree)
    Jc = np.reshape(pin.jacobianCenterOfMass(model, data, q), (3, -1))
    same("Jacobian of the centre of mass", dynamics.centre_of_mass_jacobian(tree.q), Jc @ B, tree)
    pin.computeCentroidalMomentum(model, data, q, v)
    h = dynamics.momentum(tree.q, tree.v)
    about = h[:3] - np.cross(data.com[0], h[3:])
    same("momentum", np.r_[about, h[3:]], np.r_[data.hg.angular, data.hg.linear], tree)
    pin.forwardKinematics(model, data, q, v, np.zeros(model.nv))
    for name, (joint, X) in there.bodies.items():
        if joint == 0:
            continue
        frame = model.addFrame(pin.Frame(f"f {name}", joint, 0, X, pin.FrameType.OP_FRAME))
        data = model.createData()
        J = np.reshape(pin.computeFrameJacobian(model, data, q, frame, pin.LOCAL_WORLD_ALIGNED), (6, -1))
        same(f"Jacobian of {name}", dynamics.jacobian(tree.q, name), np.vstack([J[3:], J[:3]]) @ B, tree)
        pin.forwardKinematics(model, data, q, v, np.zeros(model.nv))
        pin.updateFramePlacements(model, data)
        drift = pin.getFrameClassicalAcceleration(model, data, frame, pin.LOCAL_WORLD_ALIGNED)
        ours = dynamics.jacobian_drift(tree.q, tree.v, name)
        same(f"drift of {name}", ours, np.r_[drift.angular, drift.linear], tree)


def test_functions_agree_with_mujoco_on_random_trees():
    mujoco = pytest.importorskip("mujoco")
    kinds = tuple(kind for kind in KINDS if kind != "screw")  # which MuJoCo does not have
    for seed in range(TREES):
        tree = Tree(seed, kinds)
        if not tree.nv:
            continue
        dynamics, a = bare(tree)
        there = InMuJoCo(mujoco, tree)
        model, data, B = there.model, there.data, there.B
        mujoco.mj_forward(model, data)
        H = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, H)
        same("mass matrix", dynamics.mass_matrix(tree.q), B.T @ H @ B, tree)
        same("bias", dynamics.bias(tree.q, tree.v), B.T @ data.qfrc_bias, tree)
        rnea = np.zeros(model.nv)
        data.qacc[:] = B @ a
        mujoco.mj_rne(model, data, 1, rnea)
        rnea += model.dof_armature * data.qacc
        tau = dynamics.inverse(tree.q, tree.v, a) + dynamics.applied(tree.q, tree.v)
        same("inverse dynamics", tau, B.T @ rnea, tree)
        moved = B @ dynamics.forward(tree.q, tree.v)
        residual = B.T @ (H @ moved + data.qfrc_bias)
        size = float(np.max(np.abs(H) @ np.abs(moved) + np.abs(data.qfrc_bias)))
        same("forward dynamics", residual, dynamics.applied(tree.q, tree.v), tree, size)
