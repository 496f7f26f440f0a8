"""Random trees in MuJoCo."""

import numpy as np

from helpers.peer_trees import Tree, at_point
from linkwork.model.item import GROUND
from linkwork.model.rotation import matrix, quaternion


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
