"""Forces, commands of drives, power and record of a prescribed motion, from what was found at its instants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ..compile.system import as_coordinates, coordinate_columns, rate_columns
from ..engine.elements.respond import respond, settled
from ..engine.tables import SERVO_RATE
from ..model.rotation import Array
from ..results.record import Group, Record
from ..version import __version__
from .mechanism import Mechanism


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
    """Commands at which the drives of the model give these forces, in units of their kind."""
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


@dataclass
class Troubles:
    """What happened on the way that is told in the end."""

    resting: dict[int, int] = field(default_factory=dict)
    """Rows of dry friction that were at rest, and at how many of the times."""
    deepest: dict[int, tuple[float, float]] = field(default_factory=dict)
    """Limits that the motion passes: by how much at most, and when [s]."""
    undetermined: bool = False
    """More forces than degrees of freedom."""


class Conclusion:
    """Makes a result of a motion of `mech` with forces at the coordinates `driven`; `warnings` grow."""

    def __init__(self, mech: Mechanism, driven: npt.NDArray[np.int64], warnings: list[str]):
        self.mech, self.driven, self.warnings = mech, driven, warnings

    def result(self, times: Array, rows: list[dict[str, Array]], troubles: Troubles) -> InverseResult:
        """Everything that is told of the motion, from what was found at each of its times."""
        mech, data = self.mech, {name: np.array([row[name] for row in rows]) for name in rows[0]}
        names = [mech.coordinates[c] for c in self.driven]
        units = {name: mech.force_unit(int(c)) for name, c in zip(names, self.driven, strict=True)}
        commands, command_units = self._commands(times, data)
        self._conclude(data, commands, troubles)
        torques = {name: data["tau"][:, k].copy() for k, name in enumerate(names)}
        power = data["power"].sum(axis=1)
        record = self._record(times, data, names, units, commands, command_units)
        return InverseResult(
            times, torques, units, power, commands, data["q"], data["v"], data["qdd"], record, self.warnings
        )

    def _commands(self, times: Array, data: dict[str, Array]) -> tuple[dict[str, Array], dict[str, str]]:
        """Commands of drives and their units, where one acts alone on a driven coordinate."""
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

    def _conclude(self, data: dict[str, Array], commands: dict[str, Array], troubles: Troubles) -> None:
        """Warnings that are known only when all times are."""
        mech, rows = self.mech, self.mech.kin.constraints.rows
        for row, (depth, t) in troubles.deepest.items():
            self.warnings.append(
                f"the motion passes '{mech.kin.names[row]}' by up to {depth:.3g} {mech.units[row]}, at {t:g} s"
            )
        for row, count in troubles.resting.items():
            bound = float(rows["strength"][row])
            self.warnings.append(
                f"'{mech.kin.names[row]}' is at rest at {count} of the times: it may carry up to {bound:.3g} "
                f"{mech.row_force_unit(row)} there, and is taken to carry nothing"
            )
        if troubles.undetermined:
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
            Group("coordinates", *_columns(coordinates)): as_coordinates(joints, data["values"]),
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


def _columns(columns: Sequence[tuple[str, str]]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(name for name, _ in columns), tuple(unit for _, unit in columns)
