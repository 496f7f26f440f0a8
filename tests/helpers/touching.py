"""Bodies that touch, the ways to run them, and what a step may leave."""

import math
from math import cos, sin

import numpy as np
import pytest

from linkwork import Body, Box, Free, Material, Model, Plane, Scenery, Sphere
from linkwork.engine.coordinates.dynamics import body_pose, body_twist
from linkwork.engine.coordinates.tree import place
from linkwork.methods.contact import TOLERANCE
from linkwork.model.rotation import about, matrix

G = 9.81
H = 1e-3
SLOP = 1e-5
REST = 1e-9
"""Slower than this is at rest [m/s]."""
SETTLED = TOLERANCE * H
"""Residual [m/s] at which the direct solver is done with a step: what a step may leave."""
DIRECT = [{"method": "simgc"}, {"method": "simmc"}]
# Impulses [N s] of a kilogram, so velocities to 1e-12 m/s: many sweeps, but the scenes are small.
IMPULSES = [
    {"method": m, "solver": "impulses", "epsilon": 1e-12, "iterations": 20000} for m in ("simgc", "simmc")
]
WAYS = DIRECT + IMPULSES
every_way = pytest.mark.parametrize(
    "way", WAYS, ids=lambda way: f"{way['method']}-{way.get('solver', 'direct')}"
)
both_methods = pytest.mark.parametrize("way", DIRECT, ids=lambda way: way["method"])


def floored(angle=0.0, gravity=G, **material):
    """A model with a floor, turned about y so that +x of the floor leads down."""
    model = Model("floored", gravity=(0.0, 0.0, -gravity))
    model.add(Material("rough", **material))
    model.add(Scenery("floor", rotation=about((0.0, 1.0, 0.0), angle), shapes=(Plane(),), material="rough"))
    return model


def axes(angle):
    """Down the slope, and out of it."""
    return np.array([cos(angle), 0.0, -sin(angle)]), np.array([sin(angle), 0.0, cos(angle)])


def add(
    model, name, shape, above, angle=0.0, along=0.0, across=0.0, velocity=None, material="rough", mass=1.0
):
    """A body with its centre `above` the floor; its joint measures along the slope."""
    down, up = axes(angle)
    at = tuple(float(x) for x in along * down + above * up + np.array([0.0, across, 0.0]))
    turn = about((0.0, 1.0, 0.0), angle)
    model.add(Body(name, at=at, rotation=turn, mass=mass, shapes=(shape,), material=material))
    model.add(
        Free(f"{name}_way", "ground", name, at=at, axis=tuple(up), reference=tuple(down), velocity=velocity)
    )


def spot(sim, name):
    return sim.point(name)[0]


def speed(sim, name):
    return sim.point(name)[1]


def states(sim):
    """Pose (position, rotation) and twist (angular, linear) of each body, in the world."""
    tables = sim.system.fresh_tables()
    place(tables.dofs, tables.islands, sim.q, sim.v)
    made = []
    for k in range(len(sim.system.bodies)):
        p, R = body_pose(tables, k)
        w, v = body_twist(tables, k)
        made.append((np.array(p), np.array(R).reshape(3, 3), np.array(w), np.array(v)))
    return made


def some_turn(random):
    q = random.normal(size=4)
    return tuple(float(x) for x in q / np.linalg.norm(q))


def heap(names, turn=(1.0, 0.0, 0.0, 0.0), shift=(0.0, 0.0, 0.0)):
    """Three boxes and a ball that fall a little, slide and hit each other; in a world turned and shifted.

    All happens in one plane. Out of it the motion would not be unique: how four corners share a load is not determined,
    and it decides how fast a box that slides and turns stops turning.
    """
    R, shift = matrix(turn), np.array(shift)
    gravity = tuple(float(x) for x in R @ (0.0, 0.0, -G))
    model = Model("heap", gravity=gravity)
    model.add(Material("rough", friction=0.4))
    here = tuple(float(x) for x in shift)
    model.add(Scenery("floor", at=here, rotation=turn, shapes=(Plane(),), material="rough"))
    parts = {
        "low": (Box((0.3, 0.2, 0.1)), (0.0, 0.0, 0.05), (0.5, 0, 0, 0, 0, 0)),
        "middle": (Box((0.2, 0.2, 0.1)), (0.02, 0.0, 0.151), (0.0, 0, 0, 0, 0, 0)),
        "high": (Box((0.1, 0.2, 0.1)), (-0.02, 0.0, 0.252), (0.0, 0, 0, 0, 0, 0)),
        "ball": (Sphere(0.05), (0.3, 0.0, 0.05), (-0.4, 0, 0, 0, 0, 0)),
    }
    for name in names:
        shape, at, velocity = parts[name]
        where = tuple(float(x) for x in R @ at + shift)
        model.add(Body(name, at=where, rotation=turn, mass=1.0, shapes=(shape,), material="rough"))
        model.add(
            Free(
                f"{name}_way", "ground", name, at=where, axis=tuple(R[:, 2]), reference=tuple(R[:, 0]),
                velocity=velocity,
            )
        )  # fmt: skip
    return model


def places(sim):
    names = ("low", "middle", "high", "ball")
    return np.array(
        [[sim[f"{name}_way.{c}"] for c in ("x", "y", "z", "qw", "qx", "qy", "qz")] for name in names]
    )


def lead(sim):
    """Bearing of the top's axis [rad], and its lean."""
    p = sim.point("top", (0.0, 0.0, 1.0))[0] - sim.point("top")[0]
    return math.atan2(p[1], p[0]), math.acos(p[2])
