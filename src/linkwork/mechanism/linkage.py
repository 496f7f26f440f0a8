"""The poses of a mechanism with loops: brought to where some of its coordinates are prescribed, along its branch.

Beside the rows of the model there are two for every joint coordinate: one that measures it, so that it can be
prescribed, and one that pushes along it, so that a force there can be asked for.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable

import numpy as np

from ..compile.rank import ROOM, shortest
from ..compile.row_records import along_rate, row_record
from ..compile.system import System
from ..engine.tables import COORDINATE, LAW
from ..model.errors import LinkworkError, nearest
from ..model.joints.base import Joint
from ..model.rotation import Array
from .closure import CLOSED, Closure, difference
from .kinematics import Indices, Kinematics

# A stretch of a motion is fine enough when its chord and the rates at its ends agree to this share.
_SMOOTH, _SHORTEST = 0.02, 1e-9


class Linkage(Closure):
    """A system compiled with rows, in joint coordinates, at its start. Rates are numbered like those of the system.

    Rates of slides, and what their coordinates measure, count in sizes of the mechanism.
    """

    def __init__(self, system: System):
        super().__init__(_with_coordinate_rows(system), system.q0)
        rows, coords = self.kin.constraints.rows, self.kin.constraints.coords
        count = len(coords)
        self.count = len(rows) - 2 * count
        """Number of rows of the model itself."""
        self.joints = self.system.row_table.joints
        self.coordinates = coordinate_names(self.joints)
        """Names of all joint coordinates; those of a ball are the components of its rotation vector."""
        self.places = np.arange(self.count, self.count + count)
        """For every coordinate, the row that measures it."""
        self.pushes = self.places + count
        """For every coordinate, the row along which a force there pushes."""
        self.strides = self.reach
        self.sizes[(rows["kind"] == COORDINATE) & (self.units == "m")] = self.length
        gaps = np.abs(self.kin.gaps[self.rows])
        self.hold: Indices = self.rows[~(self.idle & (gaps <= ROOM))]
        """Joint equations and couplings, less those that no motion changes: but for rounding these are closed."""

    def _size(self) -> float:
        return _length(self.kin)

    def far(self, delta: Array) -> float:
        """Of a displacement: the largest part [rad, or sizes of the mechanism]."""
        return float(np.abs(delta / self.strides).max(initial=0.0))

    def index(self, name: str) -> int:
        """Index of a joint coordinate such as `pivot.angle`."""
        try:
            return self.coordinates.index(name)
        except ValueError:
            raise LinkworkError(f"there is no coordinate '{name}'{nearest(name, self.coordinates)}") from None

    def unit(self, coordinate: int) -> str:
        """Unit of a coordinate: rad or m."""
        return str(self.units[self.places[coordinate]])

    def rates(self, rows: Indices, wanted: Array) -> Array:
        """Rates at the pose that move the rows as wanted: the shortest that come nearest to it."""
        v: Array = self.strides * shortest(self.dimensionless(rows=rows), wanted / self.sizes[rows])
        return v

    def follow(
        self,
        q: Array,
        rows: Indices,
        path: Callable[[float], tuple[Array, Array]],
        start: float,
        end: float,
    ) -> Array:
        """Continue a pose along path(s) = (what the rows shall measure, its derivative).

        Stretches are halved until chord and rates agree, so that the mechanism stays on its branch.
        """
        s, stretch = start, end - start
        self.kin.place(q)
        v, read = self.rates(rows, path(s)[1]), self.values()
        while s < end:
            goal = s + stretch if s + 1.01 * stretch < end else end
            x, xd = path(goal)
            ahead = (goal - s) * v
            guess = self.kin.moved(q, ahead)
            found, gaps = self.settle_down(guess, rows, x)
            v_new = self.rates(rows, xd)
            chord = ahead + difference(self.system, guess, found)
            error = chord - 0.5 * (goal - s) * (v + v_new)
            smooth = self.far(error) <= _SMOOTH * self.far(chord) + 1e-7
            if np.abs(gaps).max(initial=0.0) < CLOSED and smooth:
                q, v, s, read = found, v_new, goal, self.values()
                stretch *= 2.0
                continue
            self.back(q, read)
            stretch = 0.5 * (goal - s)
            if stretch < _SHORTEST * (end - start):
                worst = int(np.argmax(np.abs(gaps)))
                raise Lost(s, self.kin.names[int(rows[worst])], q)
        return q


class Lost(Exception):  # noqa: N818 - caught by the studies, which know what to say
    """A pose could not be continued beyond `at`, where it is `q`: `row` stays open."""

    def __init__(self, at: float, row: str, q: Array | None = None):
        super().__init__(row)
        self.at, self.row, self.q = at, row, q


def coordinate_names(joints: Iterable[Joint]) -> list[str]:
    """One name per rate: `pivot.angle`, of a ball `hip.wx` ..."""
    return [f"{joint.name}.{rate.removesuffix('_rate')}" for joint in joints for rate in joint.rates]


def _with_coordinate_rows(system: System) -> System:
    """The system with two more rows for each coordinate; see the module."""
    table = system.row_table
    coords = list(enumerate(table.constraints.coords))
    places = [row_record(COORDINATE, LAW, first=c) for c, _ in coords]
    pushes = [along_rate(record, c, LAW) for c, record in coords]
    names = coordinate_names(table.joints)
    return dataclasses.replace(system, rows=table.with_rows([*places, *pushes], [*names, *names]))


def _length(kin: Kinematics) -> float:
    """Size of the mechanism: the farthest that anything stands from what carries it [m]."""
    dofs, pairs = kin.tables.dofs, kin.constraints.pairs
    far = [np.abs(dofs["com"]).max(initial=0.0)]
    far.append(np.abs(dofs["X_p"][dofs["parent"] != 0]).max(initial=0.0))
    for side in "ab":
        carried = pairs[pairs[side] != 0]
        far.append(np.abs(carried[f"X_{side.upper()}"][:, 9:]).max(initial=0.0))
    size = float(max(far))
    return size if size > 0.0 else 1.0
