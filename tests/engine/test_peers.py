"""The same random trees in Pinocchio and MuJoCo: poses, twists and accelerations.

Each tree is built anew for the other engine from the flat model, and all the forces of its loads are computed
by NumPy from the other engine's poses, so that nothing but the numbers of the model is shared. A joint is
handed over as the product of its elementary motions, in the order in which the tree passes it, with axes
signed so that coordinates agree one to one. Only quaternions need care: rates are angular velocities in
own axes in all three engines, but in those of the body that *their* tree calls the child.
"""

import numpy as np
import pytest

from helpers.peer_trees import Tree, at_point, every_way
from helpers.trees import KINDS
from linkwork.model.item import GROUND
from linkwork.model.rotation import matrix, quaternion

pytestmark = pytest.mark.peers

TREES = 200


# --- Pinocchio ---


class InPinocchio:
    """A tree in Pinocchio, with its state and the map B of rates: theirs = B ours."""

    def __init__(self, pin, tree: Tree):
        self.pin, self.tree = pin, tree
        self.model = pin.Model()
        self.model.gravity.linear = np.array(tree.model.gravity)
        self.bodies = {}  # name => joint that carries it, and its pose there
        q, self.B = [], np.zeros((tree.nv, tree.nv))
        links = {GROUND: (0, np.zeros(3), np.eye(3))}  # body => joint, frame of that in the assembled pose
        for edge in tree.edges:
            parent, p, R = links[edge.parent]
            X = pin.SE3(R.T @ edge.R, R.T @ (edge.p - p))
            mass, com, inertia, p_body, R_body = tree.in_link(edge)
            if edge.motions:
                parent = self.model.addJoint(parent, self._joint(edge.motions), X, edge.name)
                p, R, X = edge.p, edge.R, pin.SE3.Identity()
            links[edge.child] = (parent, p, R)
            self.model.appendBodyToJoint(parent, pin.Inertia(mass, com, inertia), X)
            self.bodies[edge.child] = (parent, X * pin.SE3(R_body, p_body))
            row = self.model.idx_vs[parent]
            for motion in edge.motions:
                if motion.kind == "ball":
                    (w, x, y, z), B = tree.turned_ball(edge, motion)
                    q += [x, y, z, w]
                    self.B[row : row + 3, motion.v : motion.v + 3] = B
                    row += 3
                else:
                    q.append(tree.q[motion.q])
                    self.B[row, motion.v] = 1.0
                    row += 1
        self.q, self.v = np.array(q), self.B @ tree.v
        # A ball has one armature for all axes, which turning it leaves alone.
        self.model.armature = self.B**2 @ tree.per_rate("armature")
        self.data = self.model.createData()

    def _joint(self, motions):
        pin = self.pin
        make = {
            "turn": lambda m: pin.JointModelRevoluteUnaligned(m.axis),
            "slide": lambda m: pin.JointModelPrismaticUnaligned(m.axis),
            "screw": lambda m: pin.JointModelHelicalUnaligned(m.axis, m.pitch),
            "ball": lambda m: pin.JointModelSpherical(),
        }
        if len(motions) == 1:
            return make[motions[0].kind](motions[0])
        composite = pin.JointModelComposite()
        for motion in motions:
            composite.addJoint(make[motion.kind](motion))
        return composite

    def kinematics(self):
        pin = self.pin
        pin.forwardKinematics(self.model, self.data, self.q, self.v)
        poses, twists = {}, {}
        for name, (joint, X) in self.bodies.items():
            link = self.data.oMi[joint]
            body = link * X
            V = pin.getVelocity(self.model, self.data, joint, pin.LOCAL_WORLD_ALIGNED)
            poses[name] = body.translation, body.rotation
            twists[name] = at_point(V.angular, V.linear, body.translation - link.translation)
        return poses, twists

    def accelerations(self, loads):
        pin, tree = self.pin, self.tree
        external = pin.StdVec_Force()
        external.extend([pin.Force.Zero() for _ in range(self.model.njoints)])
        for name, wrench in loads.items():
            joint, X = self.bodies[name]
            body = self.data.oMi[joint] * X
            at_body = pin.Force(body.rotation.T @ wrench[3:], body.rotation.T @ wrench[:3])
            external[joint] += X.act(at_body)
        tau = tree.springs(True) + tree.springs(False) - tree.per_rate("damping") * tree.v
        # Virtual work: τ·v = τ'·B v with an orthogonal B.
        return pin.aba(self.model, self.data, self.q, self.v, self.B @ tau, external)


def test_pinocchio_agrees_on_random_trees():
    pin = pytest.importorskip("pinocchio")
    passed = set()
    for seed in range(TREES):
        tree = Tree(seed, KINDS)
        tree.check(InPinocchio(pin, tree))
        passed |= tree.ways()
    assert passed == every_way(KINDS)


# --- MuJoCo ---


class InMuJoCo:
    """A tree in MuJoCo, with its state and the map B of rates: theirs = B ours.

    Springs of plain coordinates, dampers and armature are MuJoCo's own; where nothing is in it, so is a free
    joint from the ground.
    """

    def __init__(self, mujoco, tree: Tree):
        self.mujoco, self.tree = mujoco, tree
        spec = mujoco.MjSpec()
        spec.option.gravity = tree.model.gravity
        links = {GROUND: (spec.worldbody, np.zeros(3), np.eye(3))}
        for edge in tree.edges:
            parent, p, R = links[edge.parent]
            mass, com, inertia, _, _ = tree.in_link(edge)
            principal, axes = np.linalg.eigh(inertia)
            axes[:, 0] *= np.linalg.det(axes)
            body = parent.add_body(
                name=edge.child,
                pos=R.T @ (edge.p - p),
                quat=quaternion(R.T @ edge.R),
                mass=mass,
                ipos=com,
                iquat=quaternion(axes),
                inertia=principal,
                explicitinertial=True,
            )
            links[edge.child] = (body, edge.p, edge.R)
            self._add_joints(edge, body)
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)
        self.B = np.zeros((tree.nv, tree.nv))
        self._set_state()

    @staticmethod
    def _is_free(edge):
        plain = not any(any(edge.joint.per_rate(field)) for field in ("armature", "damping", "spring"))
        return edge.joint.kind == "free" and edge.parent == GROUND and not edge.backwards and plain

    def _add_joints(self, edge, body):
        kinds = self.mujoco.mjtJoint
        types = {"turn": kinds.mjJNT_HINGE, "slide": kinds.mjJNT_SLIDE, "ball": kinds.mjJNT_BALL}
        if self._is_free(edge):
            body.add_freejoint(name=f"{edge.name}.0")
            return
        for k, motion in enumerate(edge.motions):
            body.add_joint(name=f"{edge.name}.{k}", type=types[motion.kind], axis=motion.axis)

    def _set_state(self):
        tree, model, data, B = self.tree, self.model, self.data, self.B
        stiffness, rest = tree.per_rate("spring"), tree.per_rate("rest")
        for edge in tree.edges:
            for k, m in enumerate(edge.motions):
                joint = model.joint(f"{edge.name}.{k}")
                i, row = joint.qposadr[0], joint.dofadr[0]
                if self._is_free(edge):
                    # Position and velocity of the origin in the world, angular velocity in own axes.
                    *slides, ball = edge.motions
                    data.qpos[i : i + 3] = edge.p + edge.R @ sum(s.axis * tree.q[s.q] for s in slides)
                    turn = edge.R @ matrix(tree.q[ball.q : ball.q + 4])
                    data.qpos[i + 3 : i + 7] = quaternion(turn)
                    for s in slides:
                        B[row : row + 3, s.v] = edge.R @ s.axis
                    B[row + 3 : row + 6, ball.v : ball.v + 3] = np.eye(3)
                    break
                if m.kind == "ball":
                    data.qpos[i : i + 4], B[row : row + 3, m.v : m.v + 3] = tree.turned_ball(edge, m)
                    rows = range(row, row + 3)
                else:
                    data.qpos[i], B[row, m.v] = tree.q[m.q], 1.0
                    model.jnt_stiffness[joint.id], model.qpos_spring[i] = stiffness[m.v], rest[m.v]
                    rows = [row]
                # A ball has one armature and damping for all axes.
                model.dof_armature[rows] = tree.per_rate("armature")[m.v]
                model.dof_damping[rows] = tree.per_rate("damping")[m.v]
        self.mujoco.mj_setConst(model, self.mujoco.MjData(model))
        data.qvel[:] = B @ tree.v

    def kinematics(self):
        mujoco, tree = self.mujoco, self.tree
        mujoco.mj_forward(self.model, self.data)
        poses, twists = {}, {}
        for edge in tree.edges:
            link = self.data.body(edge.child)
            X = link.xmat.reshape(3, 3)
            *_, p, R = tree.in_link(edge)
            poses[edge.child] = link.xpos + X @ p, X @ R
            V = np.zeros(6)
            mujoco.mj_objectVelocity(self.model, self.data, mujoco.mjtObj.mjOBJ_XBODY, link.id, V, 0)
            twists[edge.child] = at_point(V[:3], V[3:], X @ p)
        return poses, twists

    def accelerations(self, loads):
        for edge in self.tree.edges:
            link = self.data.body(edge.child)
            *_, p, _ = self.tree.in_link(edge)
            n, f = np.split(loads[edge.child], 2)
            arm = link.xpos + link.xmat.reshape(3, 3) @ p - link.xipos
            self.data.xfrc_applied[link.id] = np.r_[f, n + np.cross(arm, f)]
        self.data.qfrc_applied[:] = self.B @ self.tree.springs(balls=True)
        self.mujoco.mj_forward(self.model, self.data)
        return self.data.qacc.copy()


def test_mujoco_agrees_on_random_trees():
    mujoco = pytest.importorskip("mujoco")
    kinds = tuple(kind for kind in KINDS if kind != "screw")  # which MuJoCo does not have
    passed = set()
    for seed in range(TREES):
        tree = Tree(seed, kinds)
        tree.check(InMuJoCo(mujoco, tree))
        passed |= tree.ways()
    assert passed == every_way(kinds)
