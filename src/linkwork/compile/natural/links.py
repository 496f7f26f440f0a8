"""What joints share between floating bodies, read from their rows; and directions that never turn in the world."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from ...engine.tables import DOT, HOLD
from ...model.joints.base import ALIGN, ALIGN_Z, AX, BX, COINCIDE
from ...model.rotation import Array
from ..system import System

SAME = 1e-9
"""Directions that differ by less are one, factors and constants below it are rounding (lengths in m).

Joints are written with 1e-12 or so."""
FIRM = 0.2
"""An equation or unknown must fix something that others leave open by this share of its own size: the sine of an angle
between axes, the distance of a point from the line through others by the size of the body. So no unknown moves a body
much more than itself; a weaker equation stays a row."""


def point_map(c: Array) -> Array:
    """The point c of a body's frame as a linear function of the body's twelve numbers."""
    return np.kron([1.0, *c], np.eye(3))


def vector_map(k: Array) -> Array:
    """The vector k of a body's frame, likewise."""
    return np.kron([0.0, *k], np.eye(3))


@dataclass(frozen=True)
class Link:
    """A joint: its bodies (-1 is the ground), its frames in theirs, and the dot products that it holds at zero."""

    name: str
    pair: int
    """Its frames in the table of constraints."""
    ends: tuple[int, int]
    at: tuple[Array, Array]
    axes: tuple[Array, Array]
    equations: frozenset[tuple[int, int]]

    @property
    def shares_point(self) -> bool:
        return self.equations >= set(COINCIDE)

    @property
    def shares_axis(self) -> bool:
        return self.equations >= set(ALIGN_Z)

    @property
    def shares_frame(self) -> bool:
        return self.equations >= set(ALIGN)

    def vector(self, k: int) -> tuple[int, Array]:
        """Body and direction in its frame of one of the axes that equations are made of."""
        side, axis = (0, k - AX) if k < BX else (1, k - BX)
        return self.ends[side], self.axes[side][:, axis]


def joint_links(system: System) -> list[Link]:
    """The joints of floating bodies that hold anything, from their rows."""
    table, body_of = system.row_table, body_numbers(system)
    held: dict[int, set[tuple[int, int]]] = defaultdict(set)
    name: dict[int, str] = {}
    for row in table.constraints.rows:
        if (
            row["role"] == HOLD and row["kind"] == DOT and row["first"] < 0
        ):  # a thread is no dot product alone
            held[int(row["pair"])].add((int(row["alpha"]), int(row["beta"])))
            name[int(row["pair"])] = table.joints[int(row["group"])].name
    links = []
    for index, equations in held.items():
        pair = table.constraints.pairs[index]
        frames = [np.array(pair[side], float) for side in ("X_A", "X_B")]
        links.append(
            Link(
                name[index],
                index,
                (int(body_of[pair["a"]]), int(body_of[pair["b"]])),
                (frames[0][9:], frames[1][9:]),
                (frames[0][:9].reshape(3, 3), frames[1][:9].reshape(3, 3)),
                frozenset(equations),
            )
        )
    return links


def body_numbers(system: System) -> np.ndarray:
    """For every dof the number of the body whose frame it is, or -1."""
    numbers = np.full(len(system.tables.dofs), -1, np.int64)
    numbers[system.tables.bodies["link"]] = np.arange(len(system.bodies))
    return numbers


def within(k: Array, directions: Array, tolerance: float = SAME) -> bool:
    """Whether a unit vector lies in the span of orthonormal ones."""
    return bool(np.linalg.norm(k - directions.T @ (directions @ k)) <= tolerance)


def constant_directions(bodies: int, links: list[Link]) -> dict[int, Array]:
    """For every body the directions of its frame that never turn in the world, as orthonormal rows: 0, 1 or 3.

    Two of them fix a third. A second one that is nearly the first fixes nothing firmly: the rows of its joint do that.
    """
    found: dict[int, Array] = {b: np.zeros((0, 3)) for b in range(bodies)} | {-1: np.eye(3)}
    changed = True
    while changed:
        changed = False
        for link in links:
            for here, there in (link.ends, link.ends[::-1]):
                axis = link.axes[0][:, 2]
                fresh: list[Array] = []
                if link.shares_frame:
                    fresh = list(found[here])
                elif link.shares_axis and within(axis, found[here]):
                    fresh = [axis]
                for k in fresh:
                    if not within(k, found[there], FIRM):
                        found[there] = np.eye(3) if len(found[there]) else k[None]
                        changed = True
    return found
