"""What may touch: every shape of a model where it is mounted, what it is made of, and which pairs are left alone."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .geometry import Hulls

MOUNT = np.dtype(
    [
        ("link", "i8"),  # the dof that carries the shape; 0 is the world
        ("owner", "i8"),  # the body or piece of scenery it belongs to, numbered as in `ColliderTable.owners`
        ("material", "i8"),  # row of `materials`
        ("neighbours", "i8"),  # how many other shapes that dof carries
        ("X_R", "f8", 9),  # the shape in that dof's frame: rotation
        ("X_p", "f8", 3),  # and position [m]
    ]
)

FRICTION, RESTITUTION, BOUNCE_SPEED, ROLLING, TORSION = range(5)
"""What a pair of materials has: coefficients of friction and restitution, the approach speed below which nothing
bounces [m/s], arms of rolling and torsional friction [m]."""


class Colliders(NamedTuple):
    """Shapes that may touch, in the order of `mounts`."""

    shapes: Any
    mounts: Any
    hulls: Hulls
    groups: Any
    """Bits of each shape, and those that it touches, for `find_pairs`."""
    masks: Any
    fixed: Any
    """1 for shapes that the world carries."""
    excluded: Any
    """Keys of pairs that never touch: see `broad.exclusions`."""
    materials: Any
    """m x m x 5: what each pair of materials has."""
