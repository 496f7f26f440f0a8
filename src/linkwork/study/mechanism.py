"""A mechanism for studies in NumPy: its poses, what pushes in it, and how its rows bend.

Beside the rows of the model there are two for every joint coordinate: one that measures it, so that it can be
prescribed, and one that pushes along it, so that a force there can be asked for.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..compile import compile_model
from ..contacts import may_touch
from ..errors import LinkworkError, UnsupportedError, nearest
from ..joints.base import BX, D, Joint
from ..kernels.signal import signal_value
from ..kinematics import Kinematics
from ..model import Model
from ..rank import ROOM, null_space
from ..rotation import Array
from ..system import System
from ..tables import (
    BALL_AXIS,
    COORDINATE,
    DC_MOTOR,
    DISTANCE,
    DOT,
    FRICTION,
    LIMIT,
    ROW,
    SERVO_PLACE,
    SERVO_RATE,
    SLIDE,
    SPIN,
    SPRING,
    TORQUE,
)

Indices = npt.NDArray[np.signedinteger[Any]]
"""Numbers of rows or coordinates."""

# Gaps count as closed below _CLOSED; where rounding stops the iterations earlier, below _NEARLY (shares of the
# mechanism's size, or radians).
_CLOSED, _NEARLY, _ITERATIONS, _LONGEST = 1e-13, 1e-10, 30, 0.5
# A stretch of a motion is fine enough when its chord and the rates at its ends agree to this share.
_SMOOTH, _SHORTEST = 0.02, 1e-9


class Mechanism:
    """A model compiled with rows. Rates, Jacobians and forces are numbered like the rates of the system.

    Bodies that touch would carry load that nothing here knows of: a model with contact is refused.
    """

    def __init__(self, model: Model):
        touching = may_touch(model.flatten())
        if touching:
            raise UnsupportedError(
                f"statics and inverse dynamics have no contact, but {'; '.join(touching)}; leave the materials out"
            )
        self.system = _with_coordinate_rows(compile_model(model, rows=True))
        assert self.system.rows is not None
        self.kin = Kinematics(self.system)
        rows, coords = self.kin.constraints.rows, self.kin.constraints.coords
        count = len(coords)
        self.count = len(rows) - 2 * count
        """Number of rows of the model itself."""
        joints = self.system.rows.joints
        self.joints = joints
        self.coordinates = coordinate_names(joints)
        """Names of all joint coordinates; those of a ball are the components of its rotation vector."""
        self.places = np.arange(self.count, self.count + count)
        """For every coordinate, the row that measures it."""
        self.pushes = self.places + count
        """For every coordinate, the row along which a force there pushes."""
        self.hold = self.kin.hold
        self.limits = self._of_role(LIMIT)
        self.friction = self._of_role(FRICTION)
        self.length = _length(self.kin)
        metric = np.array([_in_metres(self.kin.constraints, row) for row in rows], bool)
        self.row_scale = np.where(metric, 1.0 / self.length, 1.0)
        sliding = np.array([column.unit == "m/s" for column in self.system.rates], bool)
        self.rate_scale = np.where(sliding, self.length, 1.0)
        """What counts as one unit of each rate beside a radian: the size of the mechanism, for slides."""
        self._settle()

    def _of_role(self, role: int) -> Indices:
        found: Indices = np.flatnonzero(self.kin.constraints.rows["role"][: self.count] == role)
        return found

    def _settle(self) -> None:
        """Couplings hold the joints in the relation that they start in."""
        self.kin.place(self.system.q0)
        rows = self.kin.constraints.rows
        for i in self.hold:
            if rows["kind"][i] == COORDINATE:
                rows["offset"][i] += rows["phi"][i]

    # --- names ---

    def index(self, name: str) -> int:
        """Index of a joint coordinate such as `pivot.angle`."""
        try:
            return self.coordinates.index(name)
        except ValueError:
            raise LinkworkError(f"there is no coordinate '{name}'{nearest(name, self.coordinates)}") from None

    def unit(self, coordinate: int) -> str:
        """Unit of a coordinate: rad or m."""
        return "m" if self.kin.constraints.coords["how"][coordinate] == SLIDE else "rad"

    def force_unit(self, coordinate: int) -> str:
        """Unit of a force along a coordinate."""
        return "N" if self.unit(coordinate) == "m" else "N m"

    def row_unit(self, row: int) -> str:
        """Unit of what a row of the model measures."""
        return "m" if _in_metres(self.kin.constraints, self.kin.constraints.rows[row]) else "rad"

    def drives_at(self, coordinate: int) -> list[int]:
        """Rows of the drives that act on a coordinate."""
        rows = self.kin.constraints.rows
        return [i for i in range(self.count) if rows["input"][i] >= 0 and rows["first"][i] == coordinate]

    def drive_name(self, row: int) -> str:
        """Name of the drive that a row belongs to."""
        assert self.system.rows is not None
        return self.system.rows.drives[int(self.kin.constraints.rows["input"][row])]

    def busiest(self, direction: Array) -> str:
        """Name of the coordinate of the tree that moves most in a direction of motion; of equals, the first."""
        size = np.abs(direction) / self.rate_scale
        column = self.system.rates[int(np.argmax(size >= 0.9 * size.max()))]
        return column.name.removesuffix("_rate")

    # --- poses ---

    def values(self) -> Array:
        """All joint coordinates at the pose [rad or m]."""
        return np.array(self.kin.constraints.coords["value"])

    def back(self, q: Array, values: Array) -> None:
        """Back to a pose at which coordinates had these values: angles count turns from where they were last."""
        self.kin.constraints.coords["value"] = values
        self.kin.place(q)

    def scaled(self, rows: Indices) -> Array:
        """The Jacobian of rows at the pose, without units."""
        J: Array = self.row_scale[rows, None] * self.jacobian(rows) * self.rate_scale
        return J

    def jacobian(self, rows: Any = None) -> Array:
        """J of some rows at the pose, or of all."""
        return self.kin.jacobian(rows)

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
            if size < _NEARLY and best[0] is not q:  # rounding: it gets no better
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
            if open_by < _NEARLY and smooth:
                q, v, s, read = found, v_new, goal, self.values()
                stretch *= 2.0
                continue
            self.back(q, read)
            stretch = 0.5 * (goal - s)
            if stretch < _SHORTEST * (end - start):
                worst = int(np.argmax(np.abs(gaps)))
                raise Lost(s, self.kin.names[int(rows[worst])])
        return q

    def mobility(self, rows: Indices) -> Array:
        """Directions of motion at the pose that no row of these resists, as columns."""
        N: Array = self.rate_scale[:, None] * null_space(self.scaled(rows))
        return N

    def independent(self, rows: Indices, more: Indices) -> Indices:
        """Those of `more` that resist, each in turn, a motion at the pose that all before them leave free."""
        kept = list(rows)
        rank = self.system.nv - self.mobility(rows).shape[1]
        for row in more:
            wider = self.system.nv - self.mobility(np.array([*kept, row], np.int64)).shape[1]
            if wider > rank:
                kept.append(row)
                rank = wider
        return np.array(kept[len(rows) :], np.int64)

    def assemble(self) -> Array:
        """The pose as written, with its loops closed."""
        q, _, gaps = self.close(self.system.q0, self.hold, np.zeros(len(self.hold)))
        if np.abs(gaps).max(initial=0.0) > _NEARLY:
            worst = self.kin.names[int(self.hold[np.argmax(np.abs(gaps))])]
            raise LinkworkError(
                f"the loops of the model cannot be closed from the pose as written: '{worst}' stays open"
            )
        return q

    def bias(self, q: Array, v: Array, rows: Indices) -> Array:
        """How the rates of rows change by motion alone, J' v [rad/s² or m/s²]; goes back to the pose q."""
        self.kin.place(q, v)
        result: Array = self.kin.bias()[rows]
        self.kin.place(q)
        return result

    # --- forces ---

    def command(self, row: int, t: float) -> float:
        """What the drive of a row is told at a time."""
        record = self.kin.constraints.rows[row]
        if record["input"] < 0:
            return 0.0
        told = float(self.kin.constraints.inputs[record["input"]])
        return told * float(signal_value(self.kin.tables, int(record["signal"]), t))

    def acting(self, without: Iterable[int] = ()) -> Indices:
        """Rows that push by a law of their own: springs, friction, drives; less those in `without`."""
        roles = (SPRING, FRICTION, TORQUE, SERVO_PLACE, DC_MOTOR)
        left_out = set(without)
        chosen = [
            i
            for i in range(self.count)
            if self.kin.constraints.rows["role"][i] in roles and i not in left_out
        ]
        return np.array(chosen, np.int64)

    def law(self, row: int, rate: float, acceleration: float, command: float) -> float:
        """Force of an acting row at the pose, along what it measures [N m or N]."""
        record = self.kin.constraints.rows[row]
        role, phi, value = int(record["role"]), float(record["phi"]), record["value"]
        if role == SPRING:
            return float(-value[0] * phi - value[1] * rate)
        if role == FRICTION:
            return float(-value[0] * np.sign(rate))
        if role == TORQUE:
            return command
        if role == SERVO_PLACE:
            pull = -value[1] * (phi - command) - value[2] * rate
            return float(np.clip(pull, -value[0], value[0]))
        stall, idle, rotor, gear = value[:4]  # a DC motor, or a rotor alone
        voltage = min(1.0, max(-1.0, command))
        back = gear * stall / idle * rate + gear * rotor * acceleration
        return float(gear * (stall * voltage - back))


class Lost(Exception):  # noqa: N818 - caught by the studies, which know what to say
    """A pose could not be continued beyond `at`: `row` stays open."""

    def __init__(self, at: float, row: str):
        super().__init__(row)
        self.at, self.row = at, row


def coordinate_names(joints: Iterable[Joint]) -> list[str]:
    """One name per rate: `pivot.angle`, of a ball `hip.wx` ..."""
    return [f"{joint.name}.{rate.removesuffix('_rate')}" for joint in joints for rate in joint.rates]


def as_coordinates(joint: Joint, values: Array) -> Array:
    """Columns of coordinates as a record and `position` have them: of a ball, the quaternion of its rotation vector."""
    columns: list[Array] = []
    k = 0
    for motion in joint.motions():
        part = values[:, k : k + len(motion.rates)]
        columns.append(_quaternions(part) if motion.ball else part)
        k += len(motion.rates)
    return np.hstack([np.zeros((len(values), 0)), *columns])


def _quaternions(phi: Array) -> Array:
    """Unit quaternions of rotation vectors."""
    half = 0.5 * np.linalg.norm(phi, axis=1, keepdims=True)
    return np.hstack([np.cos(half), 0.5 * np.sinc(half / np.pi) * phi])


def velocity_servos(mechanism: Mechanism) -> list[int]:
    """Rows of velocity servos: constraints of a kind, not forces."""
    roles = mechanism.kin.constraints.rows["role"][: mechanism.count]
    return [int(i) for i in np.flatnonzero(roles == SERVO_RATE)]


def _solve(A: Array, b: Array) -> Array:
    """The shortest x that brings A x nearest to b."""
    if not A.size:
        return np.zeros(A.shape[1])
    return np.array(np.linalg.lstsq(A, b, rcond=ROOM)[0])


def _with_coordinate_rows(system: System) -> System:
    """The system with two more rows for each coordinate; see the module."""
    assert system.rows is not None
    constraints = system.rows.constraints
    added = np.zeros(2 * len(constraints.coords), ROW)
    added["pair"] = added["second"] = added["input"] = added["signal"] = -1
    added["sign"] = 1.0
    added["kind"], added["role"] = COORDINATE, TORQUE
    for c, coord in enumerate(constraints.coords):
        place, push = c, len(constraints.coords) + c
        added["first"][[place, push]] = c
        if coord["how"] == BALL_AXIS:  # a torque there acts about an axis of b
            added["kind"][push] = SPIN
            added["pair"][push] = coord["pair"]
            added["alpha"][push] = BX + coord["pick"][4]
    names = coordinate_names(system.rows.joints)
    rows = np.concatenate([constraints.rows, added])
    table = dataclasses.replace(
        system.rows, constraints=constraints._replace(rows=rows), names=(*system.rows.names, *names, *names)
    )
    return dataclasses.replace(system, rows=table)


def _in_metres(constraints: Any, row: Any) -> bool:
    if row["kind"] == DOT:
        return D in (row["alpha"], row["beta"])
    if row["kind"] == COORDINATE:
        return bool(constraints.coords["how"][row["first"]] == SLIDE)
    return bool(row["kind"] == DISTANCE)


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


__all__ = ["Indices", "Lost", "Mechanism", "as_coordinates", "velocity_servos"]
