"""The same random trees in Pinocchio and MuJoCo: poses, twists and accelerations.

Each tree is built anew for the other engine from the flat model, and all the forces of its loads are computed
by NumPy from the other engine's poses, so that nothing but the numbers of the model is shared. A joint is
handed over as the product of its elementary motions, in the order in which the tree passes it, with axes
signed so that coordinates agree one to one. Only quaternions need care: rates are angular velocities in
own axes in all three engines, but in those of the body that *their* tree calls the child.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from helpers.newton_euler import wrenches
from helpers.probe import Probe, ball_columns
from helpers.trees import KINDS, ROOTS, build, random_plan
from linkwork.model.item import GROUND
from linkwork.model.joints import Joint
from linkwork.model.rotation import frame_from_axis, matrix, quaternion

pytestmark = pytest.mark.peers

TREES = 200
T = 0.37  # [s]
# Relative to the largest acceleration. Each engine solves H a = f with an error of some tens of eps times the
# condition of H, which masses over two decades (and chains of twelve) bring to some 1e4.
DECADES = 2
TOLERANCE = 1e-10


@dataclass
class Motion:
    """One elementary motion as the tree passes it."""

    kind: str
    """'turn', 'slide', 'screw' or 'ball'."""
    axis: np.ndarray
    """In the joint frame, signed so that the coordinate is ours."""
    pitch: float
    """Of a screw [m/rad]."""
    q: int
    """Its first coordinate in our state."""
    v: int
    """Its first rate in our state."""


@dataclass
class Edge:
    """A joint of the tree with the body behind it."""

    joint: Joint
    parent: str
    child: str
    backwards: bool
    p: np.ndarray
    """Position of the joint frame in the assembled pose."""
    R: np.ndarray
    """Its orientation."""
    motions: list[Motion]
    """From the parent to the child."""

    @property
    def name(self):
        return self.joint.name


def edge_of(placed, parent, child) -> Edge:
    joint = placed.joint
    backwards = child == joint.a
    sign = -1.0 if backwards else 1.0
    hand = -sign if joint.mirrored else sign
    q, v, motions = placed.q.start, placed.v.start, []
    for motion in joint.motions():
        axis = np.eye(3)[motion.axis]
        if motion.ball:
            motions.append(Motion("ball", axis, 0.0, q, v))
        elif motion.rot and motion.trans:
            motions.append(Motion("screw", sign * axis, sign * hand * motion.trans, q, v))
        elif motion.rot:
            motions.append(Motion("turn", sign * axis, 0.0, q, v))
        else:
            motions.append(Motion("slide", hand * axis, 0.0, q, v))
        q, v = q + len(motion.coordinates), v + len(motion.rates)
    if backwards:
        motions.reverse()
    R = frame_from_axis(joint.axis or (0.0, 0.0, 1.0), joint.reference)
    return Edge(joint, parent, child, backwards, np.array(joint.at), R, motions)


class Tree:
    """A random mechanism in a random state, told so that another engine can be built from it."""

    def __init__(self, seed, kinds):
        roots = tuple(kind for kind in ROOTS if kind is None or kind in kinds)
        self.plan = random_plan(seed, kinds=kinds, roots=roots, decades=DECADES, even_balls=True)
        self.model = build(self.plan)
        self.flat = self.model.flatten()
        self.probe = Probe(self.model)
        self.nv = self.probe.nv
        self.q, self.v = self.probe.state(seed)
        self.edges = list(self._edges())

    def _edges(self):
        """Joints from the ground outward."""
        reached, waiting = {GROUND}, list(self.probe.system.joints.values())
        while waiting:
            for placed in list(waiting):
                a, b = placed.joint.a, placed.joint.b
                if a in reached or b in reached:
                    waiting.remove(placed)
                    parent, child = (b, a) if b in reached else (a, b)
                    reached.add(child)
                    yield edge_of(placed, parent, child)

    def per_rate(self, field):
        """A field of the joints for every rate."""
        out = np.zeros(self.nv)
        for placed in self.probe.system.joints.values():
            out[placed.v] = placed.joint.per_rate(field)
        return out

    def springs(self, balls):
        """Forces of the springs in the joints; those of balls, or all others.

        A ball's spring acts on its rotation vector φ: -(∂φ/∂ω)ᵀ k (φ - rest), with ∂φ/∂ω the inverse of the
        right Jacobian of the rotation group.
        """
        tau = np.zeros(self.nv)
        k, rest = self.per_rate("spring"), self.per_rate("rest")
        if not balls:
            for motion in (m for edge in self.edges for m in edge.motions if m.kind != "ball"):
                tau[motion.v] = k[motion.v] * (rest[motion.v] - self.q[motion.q])
            return tau
        for i, j in ball_columns(self.probe.system):
            w, x, y, z = self.q[i : i + 4]
            phi = Rotation.from_quat([x, y, z, w]).as_rotvec()
            a, W = np.linalg.norm(phi), np.cross(np.eye(3), phi)  # W x = φ × x
            right = np.eye(3) - (1 - np.cos(a)) / a**2 * W + (a - np.sin(a)) / a**3 * W @ W
            tau[j : j + 3] = np.linalg.solve(right.T, k[j : j + 3] * (rest[j : j + 3] - phi))
        return tau

    def loads(self, poses, twists):
        """[torque about the body's origin; force] of all loads on every body."""
        return wrenches(self.flat, poses, twists, T)[0]

    def in_link(self, edge):
        """Mass, centre of mass and inertia about it, then position and rotation, all in the joint frame."""
        body = self.flat.bodies[edge.child]
        p, R = edge.R.T @ (np.array(body.at) - edge.p), edge.R.T @ matrix(body.rotation)
        mass, com, inertia = body.mass_properties
        return mass, p + R @ com, R @ inertia @ R.T, p, R

    def turned_ball(self, edge, motion):
        """Quaternion of a ball as the other tree passes it, and the map B from our rates to theirs.

        The child of a joint passed backwards turns the other way, and its axes are R times ours: ω' = -R ω.
        The derivative of R adds R (ω × ω) = 0, so that accelerations map alike.
        """
        q = self.q[motion.q : motion.q + 4]
        return (q * [1, -1, -1, -1], -matrix(q)) if edge.backwards else (q, np.eye(3))

    def check(self, other):
        """Compare with an engine that gives poses, twists, and accelerations under loads on its bodies."""
        poses, twists = other.kinematics()
        self.probe.place(self.q, self.v)
        for name in self.flat.bodies:
            p, R = self.probe.pose(name)
            self._same(f"position of {name}", poses[name][0], p)
            self._same(f"rotation of {name}", poses[name][1], R)
            self._same(f"twist of {name}", twists[name], self.probe.twist(name))
        if self.nv:
            theirs = other.accelerations(self.loads(poses, twists))
            self._same("acceleration", theirs, other.B @ self.probe.qdd(self.q, self.v, T))

    def ways(self):
        """Which joints the tree passes, and how."""
        return {(e.joint.kind, e.backwards, e.joint.mirrored, e.parent == GROUND) for e in self.edges}

    def _same(self, what, got, wanted):
        error = np.abs(got - wanted).max() / max(np.abs(wanted).max(), 1.0)
        assert error <= TOLERANCE, f"{what} is off by {error:.1e} in {self.plan}"


def every_way(kinds):
    """All that `ways` can hold."""
    return set(product(kinds, *[(False, True)] * 3))


def at_point(w, v, r):
    """[ω; velocity] of a body at a point r further on."""
    return np.r_[w, v + np.cross(w, r)]


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
