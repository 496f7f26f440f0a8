"""Motions of mechanisms with loops and the balance of their bodies, in NumPy.

Accelerations come from the null-space method (motions that the loops allow, then d'Alembert on them), so that no
multiplier of any solver is involved. Forces of limits, friction, springs and drives are drawn at random: any are
consistent, as long as the accelerations follow from them.
"""

import numpy as np
import pytest

from linkwork.compile.spanning import spanning_tree
from linkwork.engine.coordinates.dynamics import body_pose, body_twist
from linkwork.engine.coordinates.tree import place, retract
from linkwork.engine.loads import BodyFunction, Force, JointFunction, Spring
from linkwork.engine.tables import DISTANCE
from linkwork.mechanism.kinematics import Kinematics
from linkwork.model import Flat
from linkwork.model.item import GROUND
from linkwork.model.rotation import matrix
from linkwork.observe.reactions import Reactions

# Central differences of fourth order on motions of some rad/s: h⁴ times fifth derivatives, and rounding 1e-16/h.
STEP = 1e-3


def one(*arrays):
    """Arrays of one sample each."""
    return [np.asarray(array)[None] for array in arrays]


def closed(kinematics, q):
    """The pose nearby at which the loops are closed to rounding."""
    for _ in range(30):
        kinematics.place(q)
        J = kinematics.jacobian(kinematics.hold)
        gaps = kinematics.gaps[kinematics.hold]
        q = kinematics.moved(q, -np.linalg.pinv(J, rcond=1e-9) @ gaps)
        if np.abs(gaps).max(initial=0.0) < 1e-14:
            break
    assert np.abs(gaps).max(initial=0.0) < 1e-12
    return q


def moving(system, seed, speed=2.0, t=0.0, away=0.1):
    """A state on the manifold, random forces of the rows that are no equations, and the accelerations they cause."""
    rng = np.random.default_rng([seed, 5])
    kinematics = Kinematics(system)
    q = closed(kinematics, np.array(system.q0))
    allowed = motions(kinematics, q)
    if allowed.shape[1]:
        q = closed(kinematics, kinematics.moved(q, away * allowed @ rng.normal(size=allowed.shape[1])))
        allowed = motions(kinematics, q)
    v = speed * allowed @ rng.normal(size=allowed.shape[1])
    forces = rng.normal(size=len(kinematics.names))
    return q, v, accelerations(kinematics, q, v, forces, t), forces


def motions(kinematics, q):
    """Rates that the loops allow, as columns."""
    kinematics.place(q)
    return null_space(kinematics.jacobian(kinematics.hold))


def accelerations(kinematics, q, v, forces, t=0.0):
    """What the forces of rows that are no equations, loads and gravity cause: d'Alembert on the allowed motions."""
    hold = kinematics.hold

    def jacobian(h):
        kinematics.place(kinematics.moved(q, h * v))
        return kinematics.jacobian(hold)

    turning = slope(jacobian) @ v
    allowed = motions(kinematics, q)
    J = kinematics.jacobian()
    given = -np.linalg.pinv(J[hold], rcond=1e-9) @ turning
    H = kinematics.inertia()
    others = np.setdiff1d(np.arange(len(J)), hold)
    push = J[others].T @ forces[others] - kinematics.demand(q, v, np.zeros_like(v), t)
    free = np.linalg.solve(allowed.T @ H @ allowed, allowed.T @ (push - H @ given))
    return given + allowed @ free


def null_space(J):
    if not J.shape[0]:
        return np.eye(J.shape[1])
    _, s, Vt = np.linalg.svd(J)
    return Vt[int((s > 1e-9 * s.max(initial=0.0)).sum()) :].T


def slope(function):
    """Derivative at zero, to fourth order."""
    near, far = function(STEP) - function(-STEP), function(2 * STEP) - function(-2 * STEP)
    return (8 * near - far) / (12 * STEP)


class Motion:
    """Poses, twists and accelerations of all bodies of a system, from its state."""

    def __init__(self, system, q, v, qdd):
        self.system, self.tables = system, system.fresh_tables()
        self.moved = Moved(system)

        def twists(h):
            place(self.tables.dofs, self.tables.islands, self.moved(q, h * v), v + h * qdd)
            return np.array([np.concatenate(body_twist(self.tables, k)) for k in range(len(system.bodies))])

        rates = slope(twists)
        values = twists(0.0)
        self.pose, self.twist, self.rate = {}, {}, {}
        for k, name in enumerate(system.bodies):
            p, R = body_pose(self.tables, k)
            self.pose[name] = np.array(p), np.array(R).reshape(3, 3)
            self.twist[name], self.rate[name] = values[k], rates[k]
        self.pose[GROUND] = np.zeros(3), np.eye(3)


class Moved:
    """q ⊕ delta."""

    def __init__(self, system):
        self.dofs = system.fresh_tables().dofs

    def __call__(self, q, delta):
        result = np.empty_like(q)
        retract(self.dofs, q, delta, result)
        return result


def joint_point(flat, motion, joint, backwards):
    """Where a joint's wrench is taken: its frame on the outer body."""
    body = joint.a if joint.name in backwards else joint.b
    at = np.array(flat.markers[joint.at].at if isinstance(joint.at, str) else joint.at)
    if body == GROUND:
        return at
    p, R = motion.pose[body]
    return p + R @ matrix(flat.bodies[body].rotation).T @ (at - np.array(flat.bodies[body].at))


def wrenches(flat: Flat, poses, twists, t):
    """What the loads of a model do to its bodies: {body: [torque about its origin; force]}, and their power.

    Plain NumPy from the poses (p, R) and twists [ω; v] of the bodies, to compare the kernels with.
    """
    out = {name: np.zeros(6) for name in flat.bodies}
    power = 0.0

    def arm(body, at):
        """Turn of a body since the pose as written, and a point of it from its origin now."""
        if body == GROUND:
            return np.eye(3), np.zeros(3) if at is None else np.array(at)
        p0, R0 = np.array(flat.bodies[body].at), matrix(flat.bodies[body].rotation)
        turn = poses[body][1] @ R0.T
        return turn, np.zeros(3) if at is None else turn @ (np.array(at) - p0)

    def push(body, n, f):
        if body == GROUND:
            return 0.0
        out[body] += np.r_[n, f]
        return float(np.r_[n, f] @ twists[body])

    for load in flat.loads.values():
        if isinstance(load, Spring):
            ends = []
            for body, at in ((load.a, load.at_a), (load.b, load.at_b)):
                r = arm(body, at)[1]
                origin = np.zeros(3) if body == GROUND else poses[body][0]
                w = np.zeros(6) if body == GROUND else twists[body]
                ends.append((r, origin + r, w[3:] + np.cross(w[:3], r)))
            (r_a, p_a, v_a), (r_b, p_b, v_b) = ends
            d = p_b - p_a
            drawn = np.linalg.norm(np.subtract(load.at_b, load.at_a))
            stretch = np.linalg.norm(d) - (drawn if load.length is None else load.length)
            u = d / np.linalg.norm(d)
            f = (load.stiffness * stretch + load.damping * (u @ (v_b - v_a))) * u
            push(load.a, np.cross(r_a, f), f)
            push(load.b, -np.cross(r_b, f), -f)
            continue
        s = load.signal
        factor = 1.0 if s is None else s.offset + s.amplitude * np.sin(2 * np.pi * s.frequency * t + s.phase)
        if isinstance(load, Force):
            turn, r = arm(load.body, load.at)
            f = factor * (turn if load.follows else np.eye(3)) @ np.array(load.force)
            power += push(load.body, np.cross(r, f), f)
        else:
            turn, _ = arm(load.body, None)
            n = factor * (turn if load.follows else np.eye(3)) @ np.array(load.torque)
            power += push(load.body, n, np.zeros(3))
    return out, power


def check_balance(model, system, q, v, qdd, names, row_forces, forces, torques, t=0.0, tolerance=1e-8):
    """Newton and Euler on every body, in NumPy."""
    flat = model.flatten()
    motion = Motion(system, q, v, qdd)
    edges, _, _ = spanning_tree(flat)
    backwards = {edge.joint.name for edge in edges if edge.reversed}
    joints = dict(flat.joints)
    joints.update((edge.joint.name, edge.joint) for edge in edges)
    reactions = Reactions(model, system)
    assert reactions.joints == tuple(joints)

    total = {body: np.zeros(6) for body in flat.bodies}
    scale = dict.fromkeys(flat.bodies, 0.0)

    def push(body, point, n, f):
        if body != GROUND:
            p, R = motion.pose[body]
            com = p + R @ flat.bodies[body].mass_properties.com
            total[body] += np.r_[n + np.cross(point - com, f), f]
            scale[body] += np.linalg.norm(n) + np.linalg.norm(f)

    for k, joint in enumerate(joints.values()):
        f, n = forces[3 * k : 3 * k + 3], torques[3 * k : 3 * k + 3]
        at = joint_point(flat, motion, joint, backwards)
        push(joint.b, at, n, f)
        push(joint.a, at, -n, -f)
    springs = {name: load for name, load in flat.loads.items() if isinstance(load, Spring)}
    if system.rows is not None:
        for name, load in springs.items():
            ends = []
            for body, at in ((load.a, load.at_a), (load.b, load.at_b)):
                R0, p0 = (
                    (np.eye(3), np.zeros(3))
                    if body == GROUND
                    else (matrix(flat.bodies[body].rotation), np.array(flat.bodies[body].at))
                )
                p, R = motion.pose[body]
                ends.append(p + R @ R0.T @ (np.array(at) - p0))
            u = (ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0])
            f = row_forces[names.index(f"{name}: spring")] * u
            push(load.b, ends[1], np.zeros(3), f)
            push(load.a, ends[0], np.zeros(3), -f)
        flat.loads = {name: load for name, load in flat.loads.items() if name not in springs}
    flat.loads = {
        name: load for name, load in flat.loads.items() if not isinstance(load, JointFunction | BodyFunction)
    }
    loads, _ = wrenches(flat, motion.pose, motion.twist, t)
    for name, body in flat.bodies.items():
        p, R = motion.pose[name]
        push(name, p, loads[name][:3], loads[name][3:])
        mass, com, inertia = body.mass_properties
        c, J = R @ com, R @ inertia @ R.T
        w, alpha = motion.twist[name][:3], motion.rate[name][:3]
        # The rate of the twist is that of the origin's velocity: its acceleration.
        a = motion.rate[name][3:] + np.cross(alpha, c) + np.cross(w, np.cross(w, c))
        f = mass * (a - np.array(model.gravity))
        n = J @ alpha + np.cross(w, J @ w)
        scale[name] += np.linalg.norm(f) + np.linalg.norm(n) + mass * 9.81
        np.testing.assert_allclose(
            total[name], np.r_[n, f], atol=tolerance * max(scale[name], 1e-3), err_msg=name
        )


def check_power(model, system, q, v, qdd, row_forces, forces, torques):
    """Joints do no work but that of what acts along them: rows that are no equations, and rotors."""
    flat, motion = model.flatten(), Motion(system, q, v, qdd)
    edges, _, _ = spanning_tree(flat)
    backwards = {edge.joint.name for edge in edges if edge.reversed}
    found, scale = 0.0, 0.0
    for k, joint in enumerate(flat.joints.values()):
        at = joint_point(flat, motion, joint, backwards)
        w, u = np.zeros(3), np.zeros(3)
        for body, sign in ((joint.b, 1.0), (joint.a, -1.0)):
            if body != GROUND:
                turn, velocity = motion.twist[body][:3], motion.twist[body][3:]
                w += sign * turn
                u += sign * (velocity + np.cross(turn, at - motion.pose[body][0]))
        f, n = forces[3 * k : 3 * k + 3], torques[3 * k : 3 * k + 3]
        found += f @ u + n @ w
        scale += np.linalg.norm(f) * np.linalg.norm(u) + np.linalg.norm(n) * np.linalg.norm(w)
    kinematics = Kinematics(system)
    kinematics.place(q)
    rates = kinematics.jacobian() @ v
    inner = kinematics.constraints.rows["kind"] != DISTANCE
    inner[kinematics.hold] = False
    dofs = system.tables.dofs[1:]
    rotors = -np.sum(dofs["armature"] * (qdd * v)[dofs["v"]])
    assert found == pytest.approx(row_forces[inner] @ rates[inner] + rotors, abs=1e-10 * scale + 1e-12)
