"""What other engines need to know of a compiled serial chain: the comparison is of the very same numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from linkwork.engine.tables import SCREW
from linkwork.model.errors import UnsupportedError

if TYPE_CHECKING:
    from linkwork.compile.system import System
    from linkwork.model.rotation import Array


class Link(NamedTuple):
    """A body on a hinge about, or a slider along, the z axis of its frame."""

    hinge: bool
    R: Array
    """Frame in the link before at coordinate zero."""
    p: Array
    """[m]"""
    mass: float
    """[kg]"""
    com: Array
    """[m]"""
    inertia: Array
    """About the centre of mass, 3 x 3 [kg m²]."""


def serial_links(system: System) -> list[Link]:
    """The links of a system, from the base outward; refuses what would not compare like with like."""
    dofs = system.tables.dofs[1:]
    # Entry d of the table is dof d + 1: a serial chain counts up in parents, coordinates and rates alike.
    serial = all(np.array_equal(dofs[name], np.arange(len(dofs))) for name in ("parent", "q", "v"))
    rot, trans = dofs["rot"], dofs["trans"]
    simple = (dofs["motion"] == SCREW) & (rot + trans == 1.0) & (rot * trans == 0.0)
    plain = not any(np.any(dofs[name]) for name in ("armature", "stiffness", "damping"))
    if not (serial and simple.all() and plain and len(system.tables.loads) == 0 and not system.cuts):
        raise UnsupportedError(
            f"'{system.name}' cannot be compared: only serial chains of hinges and sliders without loads, "
            "springs, dampers and rotors are handed to other engines"
        )
    return [
        Link(
            bool(dof["rot"] == 1.0),
            dof["X_R"].reshape(3, 3).copy(),
            dof["X_p"].copy(),
            float(dof["mass"]),
            dof["com"].copy(),
            symmetric(dof["inertia"]),
        )
        for dof in np.asarray(dofs)
    ]


def gravity(system: System) -> Array:
    """Acceleration of free fall [m/s²]."""
    return -np.asarray(system.tables.dofs["A0"][0, 3:])


def symmetric(six: Array) -> Array:
    full = np.zeros((3, 3))
    full[np.triu_indices(3)] = six
    return full + np.triu(full, 1).T
