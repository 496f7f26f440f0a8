"""Inverse dynamics of trees of hinges and sliders in NumPy, in complex numbers: derivatives without any differences.

f'(x) = Im f(x + i h) / h to rounding for h = 1e-30: nothing is subtracted (Squire and Trapp, SIAM Review 40, 1998).
Bodies are displaced from the pose as written by products of the joints' displacements, and Newton's and Euler's
equations are written for their centres of mass: no frames, tables or recursions of the kernels are shared.
"""

import numpy as np

from linkwork import Body, Hinge, Model, Slider
from linkwork.model.item import GROUND
from linkwork.model.rotation import matrix

H = 1e-30


def random_chain(seed, links=5):
    """A tree of hinges and sliders in random directions, in the order of its joints."""
    random = np.random.default_rng([seed, 11])
    model, places = Model("complex", gravity=tuple(random.normal(size=3) * 5)), {GROUND: np.zeros(3)}
    for k in range(links):
        parent = GROUND if k == 0 else f"body{random.integers(max(0, k - 2), k)}"
        at = places[parent] + random.normal(size=3)
        places[f"body{k}"] = at
        A = random.normal(size=(3, 3))
        J = A @ A.T
        J = np.trace(J) * np.eye(3) - J  # of a distribution of mass: the triangle inequalities hold
        model.add(
            Body(
                f"body{k}", at=tuple(at), mass=float(random.uniform(0.5, 3.0)),
                inertia=tuple(J[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]].tolist()),
                com=tuple(random.normal(size=3) * 0.3),
            )
        )  # fmt: skip
        kind = Slider if random.random() < 0.3 else Hinge
        axis, point = tuple(random.normal(size=3)), tuple(at + 0.2 * random.normal(size=3))
        model.add(kind(f"joint{k}", parent, f"body{k}", at=point, axis=axis))
    return model


def inverse(model, q, v, a):
    """Generalised forces of joints in the order as written; arrays may be complex."""
    flat = model.flatten()
    still = (np.eye(3), *np.zeros((5, 3)))
    moved = {GROUND: still}  # A, p, w, vp, alpha, ap: of a displaced world that each body carries along
    axes, order = {}, list(flat.joints.values())
    for k, joint in enumerate(order):
        A, p, w, vp, alpha, ap = moved[joint.a]
        u0, c = np.array(joint.axis) / np.linalg.norm(joint.axis), np.array(joint.at)
        u = A @ u0
        if isinstance(joint, Hinge):
            S = np.array([[0, -u0[2], u0[1]], [u0[2], 0, -u0[0]], [-u0[1], u0[0], 0]])
            B = A @ (np.eye(3) + np.sin(q[k]) * S + (1 - np.cos(q[k])) * S @ S)
            turn, speed, bend = w + u * v[k], A @ c, B @ c
            spin = alpha + u * a[k] + np.cross(w, u) * v[k]
            moved[joint.b] = (
                B, p + speed - bend, turn, vp + np.cross(w, speed) - np.cross(turn, bend), spin,
                ap + np.cross(alpha, speed) + np.cross(w, np.cross(w, speed))
                - np.cross(spin, bend) - np.cross(turn, np.cross(turn, bend)),
            )  # fmt: skip
        else:
            d = u * q[k]
            moved[joint.b] = (
                A, p + d, w, vp + np.cross(w, d) + u * v[k], alpha,
                ap + np.cross(alpha, d) + np.cross(w, np.cross(w, d)) + 2 * np.cross(w, u) * v[k] + u * a[k],
            )  # fmt: skip
        axes[joint.name] = u, moved[joint.b][1] + moved[joint.b][0] @ c
    force = {name: np.zeros(3, complex) for name in flat.bodies}
    torque = {name: np.zeros(3, complex) for name in flat.bodies}  # about the world's origin
    for name, body in flat.bodies.items():
        A, p, w, _, alpha, ap = moved[name]
        mass, com, inertia = body.mass_properties
        R = matrix(body.rotation)
        r = A @ (np.array(body.at) + R @ com)
        J = A @ R @ inertia @ R.T @ A.T
        f = mass * (ap + np.cross(alpha, r) + np.cross(w, np.cross(w, r)) - np.array(model.gravity))
        force[name] += f
        torque[name] += np.cross(p + r, f) + J @ alpha + np.cross(w, J @ w)
    tau = np.zeros(len(order), complex)
    for k in reversed(range(len(order))):
        joint = order[k]
        u, c = axes[joint.name]
        f, n = force[joint.b], torque[joint.b]
        tau[k] = u @ (n - np.cross(c, f)) if isinstance(joint, Hinge) else u @ f
        if joint.a != GROUND:
            force[joint.a] += f
            torque[joint.a] += n
    return tau


def slopes(function, *arguments):
    """Derivatives of a function by each of its arguments, column by column."""
    found = []
    for k, x in enumerate(arguments):
        steps = [(*arguments[:k], x + 1j * H * e, *arguments[k + 1 :]) for e in np.eye(len(x))]
        found.append(np.array([function(*step).imag / H for step in steps]).T)
    return found
