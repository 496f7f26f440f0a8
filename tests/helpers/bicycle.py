"""The benchmark bicycle of Meijaard, Papadopoulos, Ruina and Schwab, "Linearized dynamics equations for the balance
and steer of a bicycle: a benchmark and review", Proc. R. Soc. A 463 (2007): parameters (table 1) and what follows.

Axes here: x forward, y left, z up; there y right and z down, so that products of inertia xz change their sign.
"""

import math

import numpy as np

from linkwork import Body, Free, Hinge, Material, Model, Plane, Scenery, Torus, about

WHEELBASE, TRAIL, TILT = 1.02, 0.08, math.pi / 10
REAR, FRONT = 0.3, 0.35
THIN = 1e-9  # of a knife edge [m]

# Coefficients of M q'' + v C1 q' + (g K0 + v² K2) q = f, lean and steer, as published.
M = np.array([[80.81722, 2.31941332208709], [2.31941332208709, 0.29784188199686]])
K0 = np.array([[-80.95, -2.59951685249872], [-2.59951685249872, -0.80329488458618]])
K2 = np.array([[0.0, 76.59734589573222], [0.0, 2.65431523794604]])
C1 = np.array([[0.0, 33.86641391492494], [-0.85035641456978, 1.68540397397560]])
AT_5 = (-14.07838969279822, -0.77534188219585 + 4.46486771378823j, -0.32286642900409)
"""Eigenvalues at 5 m/s, as published: castering, weave, capsize [1/s]."""


def published(speed, gravity=9.81):
    """Eigenvalues by the published coefficients."""
    inverse = np.linalg.inv(M)
    A = np.block(
        [[np.zeros((2, 2)), np.eye(2)], [-inverse @ (gravity * K0 + speed**2 * K2), -inverse @ (speed * C1)]]
    )
    return np.linalg.eigvals(A)


def bicycle(speed, heading=0.0, place=(0.0, 0.0)):
    """Running straight, upright and rolling, in a direction [rad]."""

    def world(x, z, y=0.0):
        c, s = math.cos(heading), math.sin(heading)
        return (place[0] + c * x - s * y, place[1] + s * x + c * y, z)

    def way(x, y, z):
        c, s = math.cos(heading), math.sin(heading)
        return (c * x - s * y, s * x + c * y, z)

    turn = about((0, 0, 1), heading)
    model = Model("bicycle")
    model.add(Material("rubber", friction=1.0))
    model.add(Scenery("road", shapes=[Plane()], material="rubber"))

    def wheel(name, x, radius, mass, across, along):
        rim = Torus(radius - THIN, THIN, rotation=about((1, 0, 0), math.pi / 2))
        model.add(
            Body(
                name,
                at=world(x, radius),
                rotation=turn,
                mass=mass,
                inertia=(across, along, across),
                shapes=[rim],
                material="rubber",
            )
        )

    wheel("rear", 0.0, REAR, 2.0, 0.0603, 0.12)
    wheel("front", WHEELBASE, FRONT, 3.0, 0.1405, 0.28)
    model.add(
        Body("frame", at=world(0.3, 0.9), rotation=turn, mass=85.0, inertia=(9.2, 11.0, 2.8, 0.0, -2.4, 0.0))
    )
    model.add(
        Body(
            "fork",
            at=world(0.9, 0.7),
            rotation=turn,
            mass=4.0,
            inertia=(0.05892, 0.06, 0.00708, 0.0, 0.00756, 0.0),
        )
    )
    model.add(
        Free(
            "rider",
            "ground",
            "frame",
            at=world(0.3, 0.9),
            reference=way(1, 0, 0),
            velocity=(speed, 0, 0, 0, 0, 0),
        )
    )
    model.add(
        Hinge("rear_axle", "frame", "rear", at=world(0, REAR), axis=way(0, 1, 0), velocity=speed / REAR)
    )
    steer = way(-math.sin(TILT), 0, math.cos(TILT))
    model.add(Hinge("steer", "frame", "fork", at=world(WHEELBASE + TRAIL, 0), axis=steer))
    model.add(
        Hinge(
            "front_axle",
            "fork",
            "front",
            at=world(WHEELBASE, FRONT),
            axis=way(0, 1, 0),
            velocity=speed / FRONT,
        )
    )
    return model
