"""Random trees in random states, told so that another engine can be built from them and compared."""

from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.spatial.transform import Rotation

from helpers.newton_euler import wrenches
from helpers.probe import Probe, ball_columns
from helpers.trees import ROOTS, build, random_plan
from linkwork.model.item import GROUND
from linkwork.model.joints import Joint
from linkwork.model.rotation import frame_from_axis, matrix

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

    def __init__(self, seed, kinds, **fixed):
        roots = tuple(kind for kind in ROOTS if kind is None or kind in kinds)
        self.plan = random_plan(seed, kinds=kinds, roots=roots, decades=DECADES, even_balls=True, **fixed)
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
