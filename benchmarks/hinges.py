"""A mechanism of hinges as other engines want it: links with frames and masses, and points that loops hold together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from linkwork.compile.system import System
    from linkwork.model.rotation import Array


@dataclass(frozen=True)
class Link:
    """A body on a hinge about its own z axis."""

    parent: int
    R: Array
    p: Array
    mass: float
    com: Array
    moments: Array
    """About the centre of mass; the rods of these scenes have no products of inertia [kg m²]."""
    start: float
    """Angle at the start, about the link's own z axis [rad]."""
    rate: float


@dataclass(frozen=True)
class Closure:
    """Two points, one on each of two links (0 is the world), that coincide."""

    a: int
    b: int
    on_a: Array
    on_b: Array
    point: Array
    """Where they are in the world as written [m]."""


def read_mechanism(system: System) -> tuple[dict[int, Link], list[Closure], Array]:
    """Links by dof, closures, gravity."""
    dofs = system.tables.dofs
    links = {}
    for d in range(1, len(dofs)):
        rot = float(dofs["rot"][d])  # -1 where the tree passes the joint backwards
        links[d] = Link(
            int(dofs["parent"][d]),
            dofs["X_R"][d].reshape(3, 3),
            dofs["X_p"][d],
            float(dofs["mass"][d]),
            dofs["com"][d],
            dofs["inertia"][d][[0, 3, 5]],
            rot * float(system.q0[dofs["q"][d]]),
            rot * float(system.v0[dofs["v"][d]]),
        )
    assert system.rows is not None
    closures = []
    for pair in system.rows.constraints.pairs:
        (a, on_a), (b, on_b) = sorted(
            ((int(pair[side]), pair[f"X_{side.upper()}"][9:]) for side in ("a", "b")), key=lambda end: end[0]
        )
        closures.append(Closure(a, b, on_a, on_b, _in_world(links, b, on_b)))
    return links, closures, -dofs["A0"][0, 3:]


def _in_world(links: dict[int, Link], link: int, point: Array) -> Array:
    """A point of a link in the world as written, where all angles are zero [m]."""
    while link:
        point = links[link].p + links[link].R @ point
        link = links[link].parent
    return np.array(point)
