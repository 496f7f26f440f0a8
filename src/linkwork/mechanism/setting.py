"""Coordinates and rates of joints set by the user, where loops must follow.

A coordinate goes to its value along the branch that the mechanism is on, in small stretches; all loops around it stay
closed, freedoms that nobody sets move as little as possible (in radians and sizes of the mechanism). Rates are then
projected, in the metric of inertia, onto those that the loops allow and in which everything that was set has the rate
that it had before, or that is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..compile.order import between, coordinate_ends, ends_of
from ..compile.system import System, coordinate_columns, rate_columns
from ..engine.tables import BALL_AXIS, HOLD
from ..model.errors import LinkworkError, nearest
from ..model.rotation import Array
from .kinematics import Indices
from .linkage import Linkage, Lost
from .scales import idle_here
from .switching import impulses

_STRETCH = 0.2  # that a coordinate goes at once, in radians or sizes of the mechanism
_FARTHEST = 4.0  # sizes of the mechanism over which the reach of a slide is looked for
_BEYOND = 0.05  # of a stretch: how far beyond its reach a mechanism is pulled to see where it opens
_MET = 1e-7  # rates that miss by less, against the largest, are met


class Motion(NamedTuple):
    """Where a mechanism is and how it moves."""

    q: Array
    """Coordinates of its tree."""
    v: Array
    """Rates of its tree."""
    values: Array
    """Of all joint coordinates, in the order of the row table: angles with the turns that they have made."""


class Loops:
    """Which joint coordinates the loops and couplings of a system in joint coordinates have to do with."""

    def __init__(self, system: System):
        self._system, self._constraints = system, system.row_table.constraints
        rows, tables = self._constraints.rows, system.tables
        self.rows = {
            i: between(tables, ends_of(tables, self._constraints, rows[i]))
            for i in np.flatnonzero(rows["role"] == HOLD).tolist()
        }
        """Rows that hold, and the dofs that move each of them."""

    def move(self, name: str) -> bool:
        """Whether a coordinate or rate of the state cannot change by itself."""
        for placed in self._system.joints.values():
            columns = (*coordinate_columns(placed.joint), *rate_columns(placed.joint))
            if name in (column.name for column in columns):
                return bool(self.around(placed.dofs))
        return False

    def around(self, dofs: Iterable[int]) -> list[int]:
        """Rows that have to be looked at when these dofs move: theirs, those of all that these move, and so on."""
        reached, found, left = set(dofs), set[int](), dict(self.rows)
        while more := [i for i, moving in left.items() if moving & reached]:
            for i in more:
                reached |= left.pop(i)
            found |= set(more)
        return sorted(found)

    def around_coordinates(self, coordinates: Iterable[int]) -> list[int]:
        """Rows that have to be looked at when these joint coordinates change."""
        tables = self._system.tables
        return self.around(
            between(tables, (coordinate_ends(tables, self._constraints, c) for c in coordinates))
        )


def bring(
    system: System, motion: Motion, offsets: Mapping[str, float], wanted: Mapping[str, float]
) -> Motion:
    """The motion of a system with rows, in joint coordinates, with joint coordinates and rates as wanted.

    `offsets`: what couplings hold, by the names of their rows. Raises where the loops do not allow it.
    """
    linkage = Linkage(system)
    rows = linkage.kin.constraints.rows
    for i in linkage.hold:
        rows["offset"][i] = offsets.get(linkage.kin.names[i], rows["offset"][i])
    linkage.back(motion.q, motion.values)
    places, rates = _read(linkage, wanted)
    around = Loops(system).around_coordinates((*places, *rates))
    hold = np.intersect1d(around, linkage.hold).astype(np.int64)
    kept = linkage.kin.jacobian(linkage.pushes[list(places)]) @ motion.v
    q = _led(linkage, motion.q, hold, places) if places else motion.q
    known = dict(zip(places, kept, strict=True)) | rates
    v = _projected(linkage, q, motion.v, hold, known)
    if v is None and not rates:  # a dead point: it has no rate here
        v = _projected(linkage, q, motion.v, hold, {})
    if v is None:
        names = ", ".join(f"'{name}'" for name in wanted)
        raise LinkworkError(
            f"{names} cannot be set: in this pose the loops through {_named(linkage, hold)} do not allow such rates"
        )
    linkage.kin.place(q)
    return Motion(q, v, linkage.values())


def _read(linkage: Linkage, wanted: Mapping[str, float]) -> tuple[dict[int, float], dict[int, float]]:
    """Coordinates and rates by their numbers, and what they shall be."""
    how = linkage.kin.constraints.coords["how"]
    coordinates = {name: c for c, name in enumerate(linkage.coordinates) if how[c] != BALL_AXIS}
    names = [column.name for joint in linkage.joints for column in rate_columns(joint)]
    numbers = {name: c for c, name in enumerate(names)}
    places: dict[int, float] = {}
    rates: dict[int, float] = {}
    for name, value in wanted.items():
        if not np.isfinite(value):
            raise LinkworkError(f"'{name}' must be a finite number, not {value}")
        if name in coordinates:
            places[coordinates[name]] = float(value)
        elif name in numbers:
            rates[numbers[name]] = float(value)
        elif any(name == c.name for joint in linkage.joints for c in coordinate_columns(joint)):
            raise LinkworkError(
                f"'{name}' is part of the orientation of a ball that loops hold: it cannot be set by itself"
            )
        else:
            known = [*coordinates, *numbers]
            raise LinkworkError(f"there is no coordinate or rate '{name}'{nearest(name, known)}")
    return places, rates


def _led(linkage: Linkage, q: Array, hold: Indices, places: dict[int, float]) -> Array:
    """The pose with coordinates at their places, from a pose q along its branch."""
    chosen, goal = list(places), np.array(list(places.values()))
    start, read = linkage.values()[chosen], linkage.values()
    rows = np.concatenate([hold, linkage.places[chosen]])
    q, _ = linkage.settle_down(q, rows, np.concatenate([np.zeros(len(hold)), start]))
    try:
        found = _follow(linkage, q, rows, start, goal)
    except Lost as lost:
        raise LinkworkError(_refusal(linkage, q, read, hold, places, lost)) from None
    coords = linkage.kin.constraints.coords
    for c, value in places.items():
        if coords["q"][c] >= 0:
            found[coords["q"][c]] = value  # to the last bit
    return found


def _follow(linkage: Linkage, q: Array, rows: Indices, start: Array, goal: Array) -> Array:
    """Continue a closed pose, the last of the rows from start to goal; `Lost.at` is the share of the way."""
    still = np.zeros(len(rows) - len(goal))
    way = goal - start
    count = int(np.ceil(np.abs(way / linkage.sizes[rows[len(still) :]]).max() / _STRETCH))
    ends = np.linspace(0.0, 1.0, count + 1) if count else np.zeros(1)

    def path(s: float) -> tuple[Array, Array]:
        x = goal if s == 1.0 else start + s * way
        return np.concatenate([still, x]), np.concatenate([still, way])

    for begin, end in pairwise(ends):
        q = linkage.follow(q, rows, path, float(begin), float(end))
    return q


def _refusal(
    linkage: Linkage, q: Array, read: Array, hold: Indices, places: dict[int, float], lost: Lost
) -> str:
    """Which joint opens where, and how far it goes from here."""
    chosen, goal = list(places), np.array(list(places.values()))
    start, rows = read[chosen], np.concatenate([hold, linkage.places[chosen]])
    reached = start + lost.at * (goal - start)
    assert lost.q is not None
    push = _BEYOND * _STRETCH / np.abs((goal - start) / linkage.sizes[linkage.places[chosen]]).max()
    beyond = np.concatenate([np.zeros(len(hold)), reached + push * (goal - start)])
    gaps = linkage.settle_down(lost.q, rows, beyond)[1][: len(hold)]
    joint = linkage.kin.names[int(hold[np.argmax(np.abs(gaps))])].partition(":")[0] if len(hold) else "?"
    if len(chosen) > 1:
        names = ", ".join(f"'{linkage.coordinates[c]}'" for c in chosen)
        return f"{names} cannot be set so together: joint '{joint}' would stay open after {lost.at:.0%} of the way"
    c, unit = chosen[0], linkage.unit(chosen[0])
    back = 2.0 * np.pi if unit == "rad" else _FARTHEST * linkage.length
    other = start - np.sign(goal - start) * back
    linkage.back(q, read)
    try:
        _follow(linkage, q, rows, start, other)
        turned = "as far as it was looked for"
    except Lost as also:
        turned = f"{float(start[0] + also.at * (other - start)[0]):.6g} {unit}"
    return (
        f"'{linkage.coordinates[c]}' cannot be set to {goal[0]:.6g} {unit}: joint '{joint}' would stay open. From "
        f"{start[0]:.6g} {unit} it reaches {reached[0]:.6g} {unit}, and {turned} the other way"
    )


def _projected(linkage: Linkage, q: Array, v: Array, hold: Indices, known: dict[int, float]) -> Array | None:
    """Rates nearest to v, by kinetic energy, with some rates known and all loops closed; None if there are none."""
    linkage.kin.place(q)
    A = linkage.kin.jacobian(np.concatenate([hold, linkage.pushes[list(known)]]))
    A[: len(hold)][idle_here(linkage.kin)[hold]] = 0.0
    b = np.concatenate([np.zeros(len(hold)), np.array(list(known.values()), float)])
    sums = np.abs(A) @ np.abs(v) + np.abs(b)
    if (np.abs(A @ v - b) <= 1e-13 * sums).all():
        return v
    H = linkage.kin.inertia()
    found = v
    for _ in range(2):  # once more, for what rounding left
        found = found + np.linalg.solve(H, A.T @ impulses(A, H, b - A @ found))
    size = float((np.abs(A) @ np.abs(found)).max(initial=0.0)) + float(np.abs(b).max(initial=0.0))
    return found if (np.abs(A @ found - b) <= _MET * size).all() else None


def _named(linkage: Linkage, rows: Indices) -> str:
    """Joints of some rows."""
    names = list(dict.fromkeys(linkage.kin.names[i].partition(":")[0] for i in rows))
    shown = [f"'{name}'" for name in names[:3]]
    return ", ".join(shown) + (" …" if len(names) > 3 else "")
