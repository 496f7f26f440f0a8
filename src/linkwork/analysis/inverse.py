"""Inverse dynamics: the forces that drive a mechanism, loops included, through a prescribed motion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ..compile.rank import ROOM, null_space
from ..compile.system import coordinate_columns, rate_columns
from ..engine.elements.respond import respond, settled
from ..engine.tables import SERVO_RATE
from ..model import Model
from ..model.errors import LinkworkError
from ..model.rotation import Array
from ..results.record import Group, Record
from ..version import __version__
from .mechanism import Lost, Mechanism, as_coordinates, velocity_servos
from .motion import Motion, corners, prescribed

# A rate below this share of the fastest one is rest: dry friction has no direction then.
_AT_REST = 1e-9
# Gaps that count as closed, in shares of the mechanism's size.
_OPEN = 1e-10
# Shares of the forces in play that may be left over, or count as a contradiction between accelerations.
_LEFT_OVER, _ROUNDING, _CONTRADICTION = 1e-7, 1e-11, 1e-6


@dataclass
class InverseResult:
    """Forces, motion and power over time. Rows of all arrays belong to `times`."""

    times: Array
    """[s]"""
    torques: dict[str, Array]
    """Force at each driven coordinate [N m or N]."""
    units: dict[str, str]
    """Unit of each of them."""
    power: Array
    """That all of them supply together [W]."""
    commands: dict[str, Array]
    """What the drives of the model must be told to give these forces, in units of their kind."""
    q: Array
    """Coordinates of the tree, as `Simulation.q` has them."""
    v: Array
    """Rates of the tree."""
    qdd: Array
    """Accelerations of the tree [rad/s², m/s²]."""
    record: Record
    """Everything by name: coordinates, rates and accelerations of all joints, `<coordinate>.drive`,
    `<coordinate>.power`, `power.total`, `<drive>.command`; for plots, files, pandas and xarray."""
    warnings: list[str] = field(default_factory=list)
    """Limits that the motion passes, drives that are too weak, forces that are not determined ..."""

    def to_dict(self) -> dict[str, Any]:
        """For JSON: times, forces, power, commands, warnings."""
        return {
            "times": self.times.tolist(),
            "torques": {name: values.tolist() for name, values in self.torques.items()},
            "units": dict(self.units),
            "power": self.power.tolist(),
            "commands": {name: values.tolist() for name, values in self.commands.items()},
            "warnings": list(self.warnings),
        }


def inverse(
    model: Model,
    motion: Mapping[str, Any],
    times: npt.ArrayLike,
    *,
    at: Sequence[str] | None = None,
) -> InverseResult:
    """Forces that make a mechanism move as prescribed.

    `motion` says how coordinates such as `crank.angle` move [rad, m]; of a ball, `hip.wx` ... are the components of its
    rotation vector. Each is

    * a number: it stays there;
    * a `Sine` or `Table`, whose derivatives are known;
    * a function of time [s] that gives the value, or value, rate and acceleration; or three functions. Of the
      value alone, derivatives are found by differences, to some 9 digits, for which it must be defined a little
      beyond the times;
    * values at the times, joined by a spline of degree 5; or values, rates and accelerations there.

    `times` [s] increase. Together the coordinates must determine the motion of every joint; those of loops follow.
    `at` names the coordinates where forces act, by default the prescribed ones. Drives there are replaced by the
    unknown forces, other drives act as they are told; springs, dampers, dry friction and loads act as ever.
    """
    t = _times(times)
    if not motion:
        raise LinkworkError(
            "inverse needs the motion of at least one coordinate, such as {'crank.angle': ...}"
        )
    study = _Study(model, list(motion), None if at is None else list(at))
    study.motions = [prescribed(name, given, t) for name, given in motion.items()]
    for name, given in motion.items():
        study.warn_of_corners(name, corners(given, t))
    return study.run(t)


def _times(times: npt.ArrayLike) -> Array:
    t = np.array(times, float)
    if t.ndim != 1 or not len(t) or not np.isfinite(t).all() or np.any(np.diff(t) <= 0.0):
        raise LinkworkError("times must be a list of finite numbers that increase [s]")
    return t


class _Study:
    """A mechanism on its way through the motion."""

    motions: list[Motion]

    def __init__(self, model: Model, names: list[str], at: list[str] | None):
        self.mech = Mechanism(model)
        self.names = names
        self.moved = np.array([self.mech.index(name) for name in names], np.int64)
        self.driven = self.moved if at is None else np.array([self.mech.index(n) for n in at], np.int64)
        if len(set(self.driven.tolist())) != len(self.driven):
            raise LinkworkError("`at` names a coordinate twice")
        replaced = [row for c in self.driven for row in self.mech.drives_at(int(c))]
        self._refuse_servos(set(replaced))
        self.rows = np.concatenate([self.mech.hold, self.mech.places[self.moved]])
        self.acting = self.mech.acting(without=replaced)
        self.warnings: list[str] = list(self.mech.system.notes)
        self._resting: dict[int, int] = {}
        self._deepest: dict[int, tuple[float, float]] = {}
        self._undetermined = False

    def _refuse_servos(self, replaced: set[int]) -> None:
        for row in velocity_servos(self.mech):
            if row not in replaced:
                c = int(self.mech.kin.constraints.rows["first"][row])
                raise LinkworkError(
                    f"velocity servo '{self.mech.drive_name(row)}' keeps a rate of its own: prescribe "
                    f"'{self.mech.coordinates[c]}' or let the force there be asked for (`at`)"
                )

    def warn_of_corners(self, name: str, found: list[float]) -> None:
        if found:
            where = ", ".join(f"{time:g}" for time in found[:3]) + (" ..." if len(found) > 3 else "")
            self.warnings.append(
                f"the rate of '{name}' jumps at {where} s: the impulse that this takes is not among the forces"
            )

    # --- motion ---

    def _wanted(self, t: float) -> tuple[Array, Array, Array]:
        """Value, rate and acceleration of the prescribed coordinates."""
        x = np.array([motion(t) for motion in self.motions], float)
        if not np.isfinite(x).all():
            bad = self.names[int(np.argmin(np.isfinite(x).all(axis=1)))]
            raise LinkworkError(f"the motion of '{bad}' is not finite at {t:g} s")
        return x[:, 0], x[:, 1], x[:, 2]

    def _path(self, t: float) -> tuple[Array, Array]:
        x, xd, _ = self._wanted(t)
        held = np.zeros(len(self.mech.hold))
        return np.concatenate([held, x]), np.concatenate([held, xd])

    def _begin(self, t: float) -> Array:
        """From the pose as written to the start of the motion, without leaving the branch."""
        mech = self.mech
        q = mech.assemble()
        places = mech.places[self.moved]
        own = mech.independent(mech.hold, places)  # the others follow, on curves that are not known
        chosen = np.isin(places, own)
        start, goal = mech.values()[self.moved], self._wanted(t)[0]
        held = np.zeros(len(mech.hold))

        def approach(s: float) -> tuple[Array, Array]:
            way = (goal - start)[chosen]
            return np.concatenate([held, start[chosen] + s * way]), np.concatenate([held, way])

        when = f"on the way to the start of the motion at {t:g} s"
        try:
            q = mech.follow(q, np.concatenate([mech.hold, own]), approach, 0.0, 1.0)
        except Lost as lost:
            raise self._refusal(lost, when) from None
        q, _, gaps = mech.close(q, self.rows, np.concatenate([held, goal]))
        if np.abs(gaps).max(initial=0.0) > _OPEN:
            worst = mech.kin.names[int(self.rows[np.argmax(np.abs(gaps))])]
            raise self._refusal(Lost(t, worst), when)
        return q

    def _refusal(self, lost: Lost, when: str) -> LinkworkError:
        """Why a pose could not be continued: too much was prescribed, or something out of reach."""
        excess = len(self.moved) - self.mech.mobility(self.mech.hold).shape[1]
        names = ", ".join(f"'{name}'" for name in self.names)
        if excess > 0:
            what = f"{excess} of the coordinates {names} {'is' if excess == 1 else 'are'} too many, and they disagree"
        else:
            what = f"{names} cannot go on from there: out of reach, or through a singular position"
        return LinkworkError(f"{when}: {what} ('{lost.row}' stays open)")

    def _refuse_freedom(self, t: float, first: bool) -> None:
        """Raise if something can still move."""
        free = self.mech.mobility(self.rows)
        missing = free.shape[1]
        if not missing:
            return
        examples = ", ".join(f"'{name}'" for name in self._movers(free))
        if not first:
            raise LinkworkError(
                f"at {t:g} s the mechanism is in a singular position: the prescribed coordinates leave {examples} free"
            )
        raise LinkworkError(
            f"the motion is not determined: {missing} more coordinate{'s' if missing > 1 else ''} must be prescribed, "
            f"for example {examples}; or the mechanism starts in a singular position"
        )

    def _movers(self, free: Array) -> list[str]:
        """As many coordinates as there are free directions, which together would determine them."""
        left, found = free / self.mech.rate_scale[:, None], []
        for _ in range(free.shape[1]):
            k = int(np.argmax(np.linalg.norm(left, axis=1)))
            found.append(self.mech.system.rates[k].name.removesuffix("_rate"))
            row = left[k] / np.linalg.norm(left[k])
            left = left - np.outer(left @ row, row)
        return found

    # --- forces ---

    def run(self, times: Array) -> InverseResult:
        mech, columns = self.mech, _Columns()
        q = self._begin(float(times[0]))
        for i, t in enumerate(map(float, times)):
            if i:
                try:
                    q = mech.follow(q, self.rows, self._path, float(times[i - 1]), t)
                except Lost as lost:
                    raise self._refusal(lost, f"at {lost.at:g} s") from None
            mech.kin.place(q)
            self._refuse_freedom(t, i == 0)
            self._instant(q, t, columns)
        return self._result(times, columns)

    def _instant(self, q: Array, t: float, columns: _Columns) -> None:
        """Rates, accelerations and forces at one time."""
        mech = self.mech
        _, xd, xdd = self._wanted(t)
        held = np.zeros(len(mech.hold))
        v = mech.rates(self.rows, np.concatenate([held, xd]))
        everything = np.arange(len(mech.kin.names))
        bias = mech.bias(q, v, everything)
        wanted = np.concatenate([held, xdd]) - bias[self.rows]
        a = mech.rates(self.rows, wanted)
        self._refuse_contradiction(t, a, wanted)
        J = mech.jacobian()
        rates, accelerations = J @ v, J @ a + bias
        forces = self._forces(t, v, rates, accelerations)
        self._watch_limits(t)
        values = mech.values()
        spread = np.zeros(mech.system.nv)
        push = np.zeros(mech.system.nv)
        for row, force in forces.items():
            push += J[row] * force
            spread += np.abs(J[row] * force)
        needed = mech.kin.demand(q, v, a, t) - push
        N = self._free_directions(J)
        B = J[mech.pushes[self.driven]]
        tau = self._drive(t, N, B, needed, spread + np.abs(needed))
        columns.add(
            q=q, v=v, qdd=a, values=values, tau=tau, power=tau * (B @ v),
            rates=rates[mech.pushes], accelerations=accelerations[mech.pushes],
            driven_rates=(B @ v), driven_accelerations=accelerations[mech.pushes[self.driven]],
        )  # fmt: skip

    def _refuse_contradiction(self, t: float, a: Array, wanted: Array) -> None:
        left = np.abs(self.mech.row_scale[self.rows] * (self.mech.jacobian(self.rows) @ a - wanted))
        size = np.abs(self.mech.row_scale[self.rows] * wanted).max(initial=0.0)
        if left.max(initial=0.0) > _CONTRADICTION * max(size, 1.0):
            names = ", ".join(f"'{name}'" for name in self.names)
            raise LinkworkError(f"at {t:g} s the accelerations prescribed for {names} contradict each other")

    def _forces(self, t: float, v: Array, rates: Array, accelerations: Array) -> dict[int, float]:
        """What springs, friction and the drives that are not replaced do, by row [N m or N]."""
        mech, forces = self.mech, {}
        still = _AT_REST * np.abs(v).max(initial=0.0)
        friction = set(mech.friction.tolist())
        for row in map(int, self.acting):
            rate = float(rates[row])
            if row in friction and abs(rate) <= still:
                self._resting[row] = self._resting.get(row, 0) + 1
                rate = 0.0
            forces[row] = mech.law(row, rate, float(accelerations[row]), mech.command(row, t), t)
        return forces

    def _watch_limits(self, t: float) -> None:
        gaps = self.mech.kin.gaps
        for row in map(int, self.mech.limits):
            depth = -float(gaps[row])
            if depth * self.mech.row_scale[row] > 1e-9 and depth > self._deepest.get(row, (0.0, 0.0))[0]:
                self._deepest[row] = depth, t

    def _free_directions(self, J: Array) -> Array:
        mech = self.mech
        scaled = mech.row_scale[mech.hold, None] * J[mech.hold] * mech.rate_scale
        N: Array = mech.rate_scale[:, None] * null_space(scaled)
        return N

    def _drive(self, t: float, N: Array, B: Array, needed: Array, size: Array) -> Array:
        """Forces at the driven coordinates that, with those of the loops, give what is needed."""
        A, b = (B @ N).T, N.T @ needed
        if not A.size:
            return np.zeros(len(self.driven))
        tau, _, rank, _ = np.linalg.lstsq(A, b, rcond=ROOM)
        if rank < len(self.driven):
            self._undetermined = True
        left = A @ tau - b
        play = np.abs(N).T @ size
        if np.any(np.abs(left) > _LEFT_OVER * play + _ROUNDING * play.max()):
            idle = self.mech.busiest(N @ left)
            names = ", ".join(f"'{self.mech.coordinates[c]}'" for c in self.driven)
            raise LinkworkError(
                f"at {t:g} s forces at {names} cannot give this motion: nothing there drives '{idle}'"
            )
        return np.array(tau)

    # --- result ---

    def _result(self, times: Array, columns: _Columns) -> InverseResult:
        mech, data = self.mech, columns.arrays()
        names = [mech.coordinates[c] for c in self.driven]
        units = {name: mech.force_unit(int(c)) for name, c in zip(names, self.driven, strict=True)}
        commands, command_units = self._commands(times, data)
        self._conclude(data, commands)
        torques = {name: data["tau"][:, k].copy() for k, name in enumerate(names)}
        power = data["power"].sum(axis=1)
        record = self._record(times, data, names, units, commands, command_units)
        return InverseResult(
            times, torques, units, power, commands, data["q"], data["v"], data["qdd"], record, self.warnings
        )

    def _commands(self, times: Array, data: dict[str, Array]) -> tuple[dict[str, Array], dict[str, str]]:
        """What a drive must be told, where one acts alone on a driven coordinate."""
        mech, rows = self.mech, self.mech.kin.constraints.rows
        commands: dict[str, Array] = {}
        units: dict[str, str] = {}
        for k, c in enumerate(map(int, self.driven)):
            found = mech.drives_at(c)
            if len(found) != 1:
                continue
            tau, rate = data["tau"][:, k], data["driven_rates"][:, k]
            row, name = found[0], mech.drive_name(found[0])
            units[name] = self._command_unit(name, c)
            if rows["role"][row] == SERVO_RATE:
                commands[name] = rate.copy()
            else:
                tau = tau + rows["inertia"][row] * data["driven_accelerations"][:, k]
                commands[name] = self._inverted(row, times, data["values"][:, c], rate, tau)
        return commands, units

    def _command_unit(self, drive: str, coordinate: int) -> str:
        """Unit of the command of a drive on a coordinate."""
        mech, what = self.mech, self.mech.drives[drive].command_unit
        known = {"force": mech.force_unit(coordinate), "place": mech.unit(coordinate)}
        return known.get(what, f"{mech.unit(coordinate)}/s" if what == "rate" else what)

    def _inverted(self, row: int, times: Array, values: Array, rates: Array, forces: Array) -> Array:
        """Commands at which the law of a drive gives these forces: laws are linear in their command."""
        mech, record = self.mech, self.mech.kin.constraints.rows[row]
        commands = np.zeros(len(times))
        for i, (t, value, rate) in enumerate(zip(times, values, rates, strict=True)):
            record["phi"], record["rate"] = value, rate
            ends = []
            for command in (0.0, 1.0):
                if record["state"] >= 0:
                    record["x"] = settled(record, command)
                ends.append(respond(mech.kin.tables, record, command, t, False).force)
            commands[i] = (forces[i] - ends[0]) / (ends[1] - ends[0])
        return commands

    def _conclude(self, data: dict[str, Array], commands: dict[str, Array]) -> None:
        """Warnings that are known only when all times are."""
        mech, rows = self.mech, self.mech.kin.constraints.rows
        for row, (depth, t) in self._deepest.items():
            self.warnings.append(
                f"the motion passes '{mech.kin.names[row]}' by up to {depth:.3g} {mech.row_unit(row)}, at {t:g} s"
            )
        for row, count in self._resting.items():
            bound = float(rows["strength"][row])
            self.warnings.append(
                f"'{mech.kin.names[row]}' is at rest at {count} of the times: it may carry up to {bound:.3g} "
                f"{'N' if mech.row_unit(row) == 'm' else 'N m'} there, and is taken to carry nothing"
            )
        if self._undetermined:
            self.warnings.append(
                "more forces than degrees of freedom: they are not determined, and the smallest were taken "
                "(least sum of squares)"
            )
        for k, c in enumerate(map(int, self.driven)):
            for row in mech.drives_at(c):
                self._judge_strength(row, data["tau"][:, k], commands)

    def _judge_strength(self, row: int, tau: Array, commands: dict[str, Array]) -> None:
        record = self.mech.kin.constraints.rows[row]
        name, most = self.mech.drive_name(row), float(np.abs(tau).max())
        if most > record["strength"]:
            self.warnings.append(
                f"drive '{name}' is too weak: it needs up to {most:.4g} and has {record['strength']:.4g}"
            )
        full = self.mech.drives[name].full_command
        if full and name in commands and np.abs(commands[name]).max() > 1.0:
            share = float(np.abs(commands[name]).max())
            self.warnings.append(f"drive '{name}' is too weak: it needs up to {share:.4g} times its {full}")

    def _record(
        self,
        times: Array,
        data: dict[str, Array],
        names: list[str],
        units: dict[str, str],
        commands: dict[str, Array],
        command_units: dict[str, str],
    ) -> Record:
        joints = self.mech.joints
        coordinates = [column for joint in joints for column in coordinate_columns(joint)]
        rates = [column for joint in joints for column in rate_columns(joint)]
        groups = {
            Group("coordinates", *_columns(coordinates)): self._coordinates(data["values"]),
            Group("rates", *_columns(rates)): data["rates"],
            Group(
                "accelerations",
                tuple(f"{name.removesuffix('_rate')}_acceleration" for name, _ in rates),
                tuple(f"{unit}²" for _, unit in rates),
            ): data["accelerations"],
            Group("drives", tuple(f"{n}.drive" for n in names), tuple(units[n] for n in names)): data["tau"],
            Group("powers", tuple(f"{n}.power" for n in names), ("W",) * len(names)): data["power"],
            Group("power", ("power.total",), ("W",)): data["power"].sum(axis=1)[:, None],
        }
        if commands:
            group = Group(
                "commands", tuple(f"{n}.command" for n in commands), tuple(command_units[n] for n in commands)
            )
            groups[group] = np.column_stack(list(commands.values()))
        info = {
            "linkwork": __version__,
            "model": self.mech.system.name,
            "study": "inverse dynamics",
            "warnings": self.warnings,
        }
        return Record(times, groups, {group.name: block for group, block in groups.items()}, info)

    def _coordinates(self, values: Array) -> Array:
        """Coordinates of all joints as they are recorded."""
        columns, k = [], 0
        for joint in self.mech.joints:
            columns.append(as_coordinates(joint, values[:, k : k + len(joint.rates)]))
            k += len(joint.rates)
        return np.hstack(columns)


class _Columns:
    """Arrays that grow by one row a time."""

    def __init__(self) -> None:
        self._rows: dict[str, list[Array]] = {}

    def add(self, **row: Array) -> None:
        for name, values in row.items():
            self._rows.setdefault(name, []).append(np.array(values))

    def arrays(self) -> dict[str, Array]:
        return {name: np.array(rows) for name, rows in self._rows.items()}


def _columns(columns: Sequence[tuple[str, str]]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(name for name, _ in columns), tuple(unit for _, unit in columns)
