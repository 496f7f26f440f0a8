"""Scratch of the functions of a mechanism with rows: few arrays, since each one costs at every call."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# Lines of numbers per dof, numbered by dof.
INVERSE, FORCE, RESPONSE, RATE = range(4)
# Lines of numbers per row.
WANT, SCALE, MULTIPLIER, SOFT = range(4)
# Lines of integers per row.
KEPT, ORDER = range(2)


class Room(NamedTuple):
    """Scratch; see the module."""

    K: np.ndarray
    """Joint-space inertia, factored: dofs × depth (`coordinates/factor.py`)."""
    line: np.ndarray
    """Numbers per dof."""
    J: np.ndarray
    """Rows in joint space: rows × dofs."""
    Y: np.ndarray
    """The same solved inward."""
    A: np.ndarray
    """What kept rows make of each other, factored: rows × rows."""
    row: np.ndarray
    """Numbers per row."""
    flag: np.ndarray
    """Integers per row."""
    home: np.ndarray
    """Value of each joint coordinate at the start: angles at closed loops are counted from it."""


def new_room(dofs: int, depth: int, rows: int, home: np.ndarray) -> Room:
    """Scratch for a mechanism of so many dofs, without the world, and rows."""
    return Room(
        np.zeros((dofs, depth + 1)),
        np.zeros((4, dofs)),
        np.zeros((rows, dofs)),
        np.zeros((rows, dofs)),
        np.zeros((rows, rows)),
        np.zeros((4, rows)),
        np.zeros((2, rows), np.int64),
        np.array(home, float),
    )
