"""Two fingers of two links each that hold a box up: five bodies, four servos, two faces that must not slip."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linkwork.engine.elements import PositionServo
from linkwork.model import GROUND, Body, Box, Free, Hinge, Material, Model

if TYPE_CHECKING:
    from linkwork.model.rotation import Array

    from .contact_peer import Engine

EDGE, MASS, FRICTION = 0.06, 0.3, 0.8
"""Of the box [m], [kg], and of all that touches."""
LINK, PAD = 0.12, (0.02, 0.04, 0.08)
"""Length of a link of a finger, and size of the pad at its end [m]."""
ROTOR = 0.01
"""Inertia of the motors behind their gears [kg m²]: engines that take dampers explicitly want some."""
STIFFNESS, DAMPING, CLOSED = 40.0, 0.8, 0.1
"""Of the servos [N m/rad, N m s/rad]; by how much the lower ones are told to close [rad]: 30 N at the pads or so."""


def build() -> Model:
    """Links hang straight down from two pins; the pads are at the box from the start."""
    model = Model("fingers")
    model.add(Material("rubber", friction=FRICTION))
    model.add(Body("box", mass=MASS, shapes=(Box((EDGE,) * 3),), material="rubber"))
    model.add(Free("box_place", GROUND, "box"))
    for name, side in (("left", -1.0), ("right", 1.0)):
        x = side * 0.5 * (EDGE + PAD[0])
        upper, lower = f"{name}_upper", f"{name}_lower"
        model.add(Body(upper, at=(x, 0.0, 1.5 * LINK), mass=0.1, shapes=(Box((0.02, 0.02, LINK)),)))
        model.add(Body(lower, at=(x, 0.0, 0.0), mass=0.1, shapes=(Box(PAD),), material="rubber"))
        for joint, a, b, z in (
            (f"{name}_root", GROUND, upper, 2 * LINK),
            (f"{name}_knee", upper, lower, LINK),
        ):
            model.add(Hinge(joint, a, b, at=(x, 0.0, z), axis=(0.0, side, 0.0), armature=ROTOR))
            told = CLOSED if b == lower else 0.0
            model.add(
                PositionServo(f"{joint}_servo", joint, stiffness=STIFFNESS, damping=DAMPING, command=told)
            )
    return model


def slip(engine: Engine) -> Array:
    """Where the box is against the middle of the two pads [m]."""
    (box, _), (left, _), (right, _) = (engine.pose(name) for name in ("box", "left_lower", "right_lower"))
    return box - 0.5 * (left + right)
