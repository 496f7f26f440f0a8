"""Values between recorded rows: linear, and along the shortest arc for quaternions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..model.rotation import Array
from .schema import Group

Indices = npt.NDArray[np.intp]

# Groups that hold quaternions, and the beginnings of the last part of their columns' names.
_QUATERNIONS = {"rotations": ".rotation.", "coordinates": ".q"}


class Bracket(NamedTuple):
    """Between which rows each time lies, and how far along."""

    before: Indices
    after: Indices
    weight: Array
    """0 at `before`, 1 at `after`."""


def bracket(time: Array, times: Array) -> Bracket:
    """Find `times` in a non-empty, non-decreasing `time`; beyond its ends, the end rows are taken.

    Where a time was recorded twice (before and after an impact), the later row counts.
    """
    last = len(time) - 1
    before = np.clip(np.searchsorted(time, times, side="right") - 1, 0, last)
    after = np.minimum(before + 1, last)
    step = time[after] - time[before]
    weight = np.divide(times - time[before], step, out=np.zeros(len(times)), where=step > 0)
    return Bracket(before, after, np.clip(weight, 0.0, 1.0))


def interpolate(group: Group, block: Array, place: Bracket) -> Array:
    """Rows of a group at the places found."""
    a, b = block[place.before], block[place.after]
    w = place.weight[:, np.newaxis]
    # Infinities may stand in a record of a run that blew up: beside them NaN is the right answer.
    with np.errstate(invalid="ignore", over="ignore"):
        between = (1.0 - w) * a + w * b
        for columns in quaternion_columns(group):
            between[:, columns] = slerp(a[:, columns], b[:, columns], w)
    # At a recorded time the row is given back to the last bit, even beside a NaN.
    return np.where(w == 0.0, a, between)


def quaternion_columns(group: Group) -> list[list[int]]:
    """Indices of w, x, y, z of every quaternion in a group."""
    link = _QUATERNIONS.get(group.name)
    if link is None:
        return []
    index = {name: i for i, name in enumerate(group.columns)}
    stems = [name[:-1] for name in group.columns if name.endswith(f"{link}w")]
    found = [[index.get(stem + part, -1) for part in "wxyz"] for stem in stems]
    return [columns for columns in found if -1 not in columns]


def slerp(a: Array, b: Array, w: Array) -> Array:
    """Unit quaternions on the shorter arc from a to b [rows × 4]; w [rows × 1] is 0 at a.

    q and -q are the same rotation: where a and b lie in opposite halves, b is taken as -b.
    """
    b = np.where(np.sum(a * b, axis=1, keepdims=True) < 0.0, -b, b)
    # Half of the arc by its tangent: exact for small arcs, where the arc cosine loses all digits.
    arc = 2.0 * np.arctan2(_length(b - a), _length(b + a))
    sine = np.sin(arc)
    # Below this arc the chord and the arc differ by less than rounding.
    small = sine < 1e-8
    sine[small] = 1.0
    q = np.where(small, 1.0 - w, np.sin((1.0 - w) * arc) / sine) * a
    q += np.where(small, w, np.sin(w * arc) / sine) * b
    length = _length(q)
    np.divide(q, length, out=q, where=length > 0.0)
    return q


def _length(q: Array) -> Array:
    length: Array = np.linalg.norm(q, axis=1, keepdims=True)
    return length
