"""Mechanisms with joints that are attached and released."""

import pytest

from linkwork import (
    Body,
    Box,
    Hinge,
    Material,
    Model,
    Plane,
    Scenery,
    Slider,
    Spherical,
    VelocityServo,
    Weld,
)
from linkwork.model.item import GROUND

G = 9.81

DIRECT = [(m, s) for m in ("simgc", "simmc") for s in ("direct", "impulses")]

smooth_ways = pytest.mark.parametrize(("method", "solver"), [*DIRECT, ("components", None)])

ways = pytest.mark.parametrize(("method", "solver"), DIRECT)

ROUNDING = 1e-12


def pendulum(attached, **fields):
    """A rod of 2 kg that begins to fall from the horizontal, its centre of mass half a metre from the pivot."""
    model = Model("pendulum")
    model.add(Body("rod", mass=2.0, inertia=(0.1, 0.2, 0.3), at=(0.5, 0.0, 0.0)))
    model.add(Hinge("pivot", GROUND, "rod", axis=(0.0, 1.0, 0.0), attached=attached, **fields))
    return model


def arm(attached=((0.3, 0.7),), joint=Spherical, **fields):
    """Two links that fall, in space; the end of the second takes hold of the ground where it is then."""
    model = Model("arm")
    model.add(Body("upper", mass=1.5, inertia=(0.02, 0.03, 0.04), at=(0.2, 0.0, 0.0)))
    model.add(Body("hand", mass=1.0, inertia=(0.01, 0.02, 0.015), at=(0.6, 0.1, 0.0)))
    model.add(Hinge("shoulder", GROUND, "upper", axis=(0.0, 1.0, 0.2), velocity=0.5))
    model.add(
        Spherical("elbow", "upper", "hand", at=(0.4, 0.0, 0.0), velocity=(0.3, -0.2, 0.5), damping=0.02)
    )
    model.add(joint("grip", "hand", GROUND, at=(0.8, 0.2, 0.0), attached=attached, **fields))
    return model


def crane(attached):
    """A trolley on a rail that a magnet hangs a crate from, above the floor."""
    model = Model("crane")
    model.add(Material("steel", friction=0.3))
    model.add(Scenery("floor", shapes=[Plane()], material="steel"))
    model.add(
        Body("crate", shapes=[Box((0.2, 0.2, 0.2))], density=500.0, material="steel", at=(0.0, 0.0, 0.5))
    )
    model.add(Body("trolley", shapes=[Box((0.2, 0.1, 0.1))], density=500.0, at=(0.0, 0.0, 1.0)))
    model.add(Slider("rail", GROUND, "trolley", at=(0.0, 0.0, 1.0), axis=(1.0, 0.0, 0.0)))
    model.add(VelocityServo("drive", "rail", command=0.4))
    model.add(Weld("magnet", "trolley", "crate", at=(0.0, 0.0, 0.7), attached=attached))
    return model
