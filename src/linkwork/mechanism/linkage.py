"""The poses of a mechanism with loops: brought to where some of its coordinates are prescribed, along its branch.

Beside the rows of the model there are two for every joint coordinate: one that measures it, so that it can be
prescribed, and one that pushes along it, so that a force there can be asked for.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable

import numpy as np

from ..compile.rank import ROOM
from ..compile.row_records import along_rate, row_record
from ..compile.system import System
from ..engine.tables import COORDINATE, LAW
from ..model.errors import LinkworkError, nearest
from ..model.joints.base import Joint
from ..model.rotation import Array
from .closure import idle_rows, row_units
from .kinematics import Indices, Kinematics

# Gaps count as closed below _CLOSED; where rounding stops the iterations earlier, below NEARLY (shares of the
# mechanism's size, or radians).
_CLOSED, NEARLY, _ITERATIONS, _LONGEST = 1e-13, 1e-10, 30, 0.5
# A stretch of a motion is fine enough when its chord and the rates at its ends agree to this share.
_SMOOTH, _SHORTEST = 0.02, 1e-9


class Linkage:
    """A system compiled with rows, in joint coordinates. Rates and Jacobians are numbered like its rates."""

    def __init__(self, system: System):
        self.system = _with_coordinate_rows(system)
        self.kin = Kinematics(self.system)
        rows, coords = self.kin.constraints.rows, self.kin.constraints.coords
        count = len(coords)
        self.count = len(rows) - 2 * count
        """Number of rows of the model itself."""
        joints = self.system.row_table.joints
        self.joints = joints
        self.coordinates = coordinate_names(joints)
        """Names of all joint coordinates; those of a ball are the components of its rotation vector."""
        self.places = np.arange(self.count, self.count + count)
        """For every coordinate, the row that measures it."""
        self.pushes = self.places + count
        """For every coordinate, the row along which a force there pushes."""
        self.hold = self._said()
        """Joint equations and couplings, less those that no motion changes."""
        self.length = _length(self.kin)
        self.units = row_units(self.system)
        """Of what each row measures: rad or m."""
        self.row_scale = np.where(np.array(self.units) == "m", 1.0 / self.length, 1.0)
        sliding = np.array([column.unit == "m/s" for column in self.system.rates], bool)
        self.rate_scale = np.where(sliding, self.length, 1.0)
        """What counts as one unit of each rate beside a radian: the size of the mechanism, for slides."""

    def _said(self) -> Indices:
        """Rows that hold something; those that are idle and closed but for rounded numbers contradict nothing."""
        self.kin.place(self.system.q0)
        idle = idle_rows(self.system, self.system.q0) & (np.abs(self.kin.gaps) <= ROOM)
        said: Indices = self.kin.hold[~idle[self.kin.hold]]
        return said

    def index(self, name: str) -> int:
        """Index of a joint coordinate such as `pivot.angle`."""
        try:
            return self.coordinates.index(name)
        except ValueError:
            raise LinkworkError(f"there is no coordinate '{name}'{nearest(name, self.coordinates)}") from None

    def unit(self, coordinate: int) -> str:
        """Unit of a coordinate: rad or m."""
        return self.units[int(self.places[coordinate])]

    def values(self) -> Array:
        """All joint coordinates at the pose [rad or m]."""
        return np.array(self.kin.constraints.coords["value"])

    def back(self, q: Array, values: Array) -> None:
        """Back to a pose at which coordinates had these values: angles count turns from where they were last."""
        self.kin.constraints.coords["value"] = values
        self.kin.place(q)

    def scaled(self, rows: Indices) -> Array:
        """The Jacobian of rows at the pose, without units."""
        J: Array = self.row_scale[rows, None] * self.kin.jacobian(rows) * self.rate_scale
        return J

    def close(self, q: Array, rows: Indices, wanted: Array) -> tuple[Array, Array, Array]:
        """Newton's method from q to a pose where the rows measure what is wanted.

        Returns the pose, the displacement to it, and the gaps that are left, in shares of the mechanism's size.
        """
        scale = self.row_scale[rows]
        travel = np.zeros(self.system.nv)
        best: tuple[Array, Array, Array] | None = None
        read = self.values()
        for _ in range(_ITERATIONS):
            self.kin.place(q)
            gaps = scale * (self.kin.gaps[rows] - wanted)
            size = np.abs(gaps).max(initial=0.0)
            if best is None or size < np.abs(best[2]).max(initial=0.0):
                best, read = (q, travel, gaps), self.values()
            if size < _CLOSED:
                break
            if size < NEARLY and best[0] is not q:  # rounding: it gets no better
                break
            step = -_solve(self.scaled(rows), gaps)
            step *= min(1.0, _LONGEST / np.abs(step).max(initial=1e-300))
            travel = travel + self.rate_scale * step
            q = self.kin.moved(q, self.rate_scale * step)
        assert best is not None
        self.back(best[0], read)
        return best

    def rates(self, rows: Indices, wanted: Array) -> Array:
        """Rates at the pose that move the rows as wanted: the shortest that come nearest to it."""
        v: Array = self.rate_scale * _solve(self.scaled(rows), self.row_scale[rows] * wanted)
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
            found, more, gaps = self.close(self.kin.moved(q, ahead), rows, x)
            open_by = np.abs(gaps).max(initial=0.0)
            v_new = self.rates(rows, xd)
            chord, mean = ahead + more, 0.5 * (goal - s) * (v + v_new)
            error = np.abs((chord - mean) / self.rate_scale).max(initial=0.0)
            smooth = error <= _SMOOTH * np.abs(chord / self.rate_scale).max(initial=0.0) + 1e-7
            if open_by < NEARLY and smooth:
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


def _solve(A: Array, b: Array) -> Array:
    """The shortest x that brings A x nearest to b."""
    if not A.size:
        return np.zeros(A.shape[1])
    return np.array(np.linalg.lstsq(A, b, rcond=ROOM)[0])


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
