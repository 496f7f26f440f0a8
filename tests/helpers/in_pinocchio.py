"""Random trees in Pinocchio."""

import numpy as np

from helpers.peer_trees import Tree, at_point
from linkwork.model.item import GROUND


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
