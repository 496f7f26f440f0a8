"""Rows of a model: joint equations, limits, friction, springs, drives, couplings, as tables with names."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..control.tape import Tape
from ..engine.elements import LAWS, SPRING, TORQUE, Backlash, Drive
from ..engine.kernels.record import named
from ..engine.loads import Bushing, LineFunction, Spring, Tyre
from ..engine.tables import (
    BALL_AXIS,
    COORD,
    COORDINATE,
    DISTANCE,
    DOT,
    FRICTION,
    HOLD,
    LAW,
    LIMIT,
    LOAD,
    PAIR,
    ROW,
    SERVO_RATE,
    SLIDE,
    USER_LAW,
    Constraints,
)
from ..model.drive import PairDrive
from ..model.errors import ModelError, Problem, nearest
from ..model.item import GROUND
from ..model.joints import Distance, Joint
from ..model.joints.base import AX, AZ, D
from ..model.rotation import Array, frame_from_axis, matrix, rotation_vectors
from .diagram import Lowered, lowered
from .row_records import VECTORS, along_rate, readings, row_record, stacked
from .tyres import NO_ROAD, Roads, tyre_rows

if TYPE_CHECKING:
    from .tabulate import Tabulator

# Below this approach speed a limit does not bounce, whatever its restitution [rad/s or m/s].
_BOUNCE = 1e-2
MEASURED = (Spring, Bushing, LineFunction, Tyre)
"""Loads that act along one measure each, or several: rows in methods that have rows."""


class Column(NamedTuple):
    """Name and unit of one number of the state."""

    name: str
    unit: str


def without_addresses(rows: np.ndarray) -> np.ndarray:
    """A view of rows less what belongs to one process alone: addresses of users' functions."""
    return rows[[name for name in ROW.names or () if name != "function"]]


@dataclass
class RowTable:
    """Constraints with the names of their rows and of the drives that take commands."""

    constraints: Constraints
    names: tuple[str, ...]
    drives: tuple[str, ...]
    joints: tuple[Joint, ...]
    """In the order of their coordinates in the table."""
    switchable: dict[str, int] = field(default_factory=dict)
    """Joints that are attached and released during a run, and the pair of frames of each."""
    attached: frozenset[str] = frozenset()
    """Those of them whose rows are in this table."""
    needs: tuple[frozenset[str], ...] = ()
    """Of a table with switchable joints: which of them each of its rows needs."""
    states: int = 0
    """Continuous states of elements."""
    recorded: tuple[Column, ...] = ()
    """Names and units of all states of elements, continuous and sampled, as samples have them."""
    diagram: Lowered | None = None
    """Names of the control diagram, if there is one."""
    whole: RowTable | None = None
    """Of a table that was made by `configured`: the one with the rows of all joints."""

    @property
    def every(self) -> RowTable:
        """The table with the rows of all joints, attached or not."""
        return self.whole or self

    def fresh(self) -> Constraints:
        """A copy with scratch of its own."""
        return Constraints(*(named(np.copy(part)) for part in self.constraints))

    def configured(self, attached: Collection[str], pairs: np.ndarray | None = None) -> RowTable:
        """The rows of a mechanism in which these of its switchable joints are attached, its joint frames at `pairs`.

        Pairs, coordinates and commands are the same, and numbered alike, in all configurations.
        """
        if not self.switchable:
            return self
        whole, on = self.every, frozenset(attached)
        table = whole.chosen([i for i, needs in enumerate(whole.needs) if needs <= on])
        constraints = table.constraints if pairs is None else table.constraints._replace(pairs=pairs)
        return replace(table, constraints=constraints, attached=on, whole=whole)

    def with_rows(self, rows: Sequence[Any], names: Sequence[str]) -> RowTable:
        """A table with more rows behind its own."""
        kept = self.constraints.rows
        table = np.concatenate([kept, stacked(rows, ROW)]).view(type(kept))
        return replace(self, constraints=self.constraints._replace(rows=table), names=(*self.names, *names))

    def chosen(self, indices: Sequence[int]) -> RowTable:
        """A table with some of the rows, in this order."""
        return replace(
            self,
            constraints=self.constraints._replace(rows=self.constraints.rows[list(indices)]),
            names=tuple(self.names[i] for i in indices),
            needs=tuple(self.needs[i] for i in indices) if self.needs else (),
        )


class Constrainer:
    """Collects pairs, coordinates and rows while a model is compiled."""

    def __init__(self, compiler: Tabulator):
        self.compiler = compiler
        self.pairs: list[Any] = []
        self.coords: list[Any] = []
        self.rows: list[Any] = []
        self.names: list[str] = []
        self.pair_of: dict[str, int] = {}
        self.coord_of: dict[str, dict[str, int]] = {}
        self.problems: list[Problem] = []
        self.states = 0
        self.recorded: list[Column] = []
        self.roads = Roads(compiler)

    def table(self) -> RowTable:
        """All rows, in the order: joints as declared, springs, couplings, drives."""
        flat, tree = self.compiler.flat, self.compiler.spans
        joints = dict(flat.joints)
        for edge in self.compiler.tree_edges:  # a part that hangs on nothing has a free joint of its own
            joints.setdefault(edge.joint.name, edge.joint)
        for group, (name, joint) in enumerate(joints.items()):
            cut = name not in tree
            self._coordinates(joint, cut)
            if cut:
                self._hold(joint, group)
            self._along(joint, group, cut)
        group = len(joints)
        for load in flat.loads.values():
            if isinstance(load, MEASURED):
                self._measured(load, group)
                group += 1
        for coupling in flat.couplings.values():
            if isinstance(coupling, Backlash):
                self._play(coupling, group)
            else:
                self._couple(coupling, group)
            group += 1
        inputs: list[float] = []
        for drive in flat.drives.values():
            self._drive(drive, group, len(inputs))
            inputs.append(drive.command)
            group += 1
        if self.problems:
            raise ModelError(self.problems)
        diagram = lowered(self, inputs) if flat.control else None
        tape = Tape() if diagram is None else diagram.tape
        if diagram is not None:
            self.states += tape.states
            self.recorded += diagram.columns(len(self.recorded), self.states - tape.states)
        tables = (stacked(self.pairs, PAIR), stacked(self.coords, COORD), stacked(self.rows, ROW))
        switchable = {joint.name: self._pair(joint) for joint in joints.values() if joint.switchable}
        table = RowTable(
            Constraints(*tables, np.array(inputs, float), tape.table()),
            tuple(self.names),
            tuple(flat.drives),
            tuple(joints.values()),
            switchable,
            frozenset(switchable),
            tuple(self._needs(row, switchable) for row in self.rows) if switchable else (),
            self.states,
            tuple(self.recorded),
            diagram=diagram,
        )
        return table.configured([name for name in switchable if joints[name].attached_at_start])

    def _needs(self, row: Any, switchable: dict[str, int]) -> frozenset[str]:
        """The switchable joints that a row is about."""
        pairs = {int(row["pair"])}
        pairs |= {int(self.coords[row[side]]["pair"]) for side in ("first", "second") if row[side] >= 0}
        return frozenset(name for name, pair in switchable.items() if pair in pairs)

    def _pair(self, joint: Joint) -> int:
        """Index of the frames of a joint; made on first use."""
        if joint.name not in self.pair_of:
            frame = self.compiler.joint_frame(joint)
            row: Any = np.zeros((), PAIR)
            for side, body in (("a", joint.a), ("b", joint.b)):
                if side == "b" and isinstance(joint, Distance):
                    frame = replace(frame, p=np.array(self.compiler.point(joint.to), float))
                link = self.compiler.link_of[body]
                local = self.compiler.frames[link].of(frame)
                row[side] = link
                row[f"X_{side.upper()}"] = np.r_[local.R.ravel(), local.p]
            self.pair_of[joint.name] = self._append(self.pairs, row)
        return self.pair_of[joint.name]

    def _coordinates(self, joint: Joint, cut: bool) -> None:
        """One record per rate: where its value comes from and what moves it."""
        made: dict[str, int] = {}
        rates = iter(joint.rates)
        span = self.compiler.spans.get(joint.name)
        for motion, how, pick in readings(joint):
            name = next(rates)
            row: Any = np.zeros((), COORD)
            row["pair"], row["q"], row["v"] = -1, -1, -1
            row["how"], row["pick"] = how, pick
            row["hand"] = -1.0 if joint.mirrored and how == SLIDE else 1.0
            if motion.ball:
                first = joint.coordinates.index("qw")
                turned = np.array([joint.start()[first : first + 4]])
                row["value"] = rotation_vectors(turned)[0, pick[4]]
            else:  # angles are read near where they were last: begin with the right turn
                row["value"] = joint.start()[joint.coordinates.index(motion.name)]
            if not cut and how != BALL_AXIS and span is not None:
                k = joint.rates.index(name)
                row["q"] = span[0].start + joint.coordinates.index(motion.name)
                row["v"] = int(np.flatnonzero(self.compiler.dofs["v"][1:] == span[1].start + k)[0]) + 1
            else:
                row["pair"] = self._pair(joint)
            made[name] = self._append(self.coords, row)
        self.coord_of[joint.name] = made

    def _hold(self, joint: Joint, group: int) -> None:
        pair = self._pair(joint)
        if isinstance(joint, Distance):
            self._name(self._rod(joint, pair, group), f"{joint.name}: length")
        for alpha, beta in joint.equations():
            row = row_record(DOT, HOLD, group, pair=pair, alpha=alpha, beta=beta)
            self._name(row, f"{joint.name}: {VECTORS[alpha]}·{VECTORS[beta]}")
        for motion in joint.motions():
            if motion.rot and motion.trans:  # a screw: travel follows the angle
                lead = -motion.trans if joint.mirrored else motion.trans
                first = next(iter(self.coord_of[joint.name].values()))
                row = row_record(DOT, HOLD, group, pair=pair, alpha=AZ, beta=D, first=first, ratio=lead)
                self._name(row, f"{joint.name}: thread")

    def _rod(self, joint: Distance, pair: int, group: int) -> Any:
        """The one equation of a distance joint."""
        drawn = float(
            np.linalg.norm(np.subtract(self.compiler.point(joint.to), self.compiler.joint_frame(joint).p))
        )
        if drawn == 0.0:
            what = "is a rod of zero length: its two points coincide as drawn, where it has no direction; move one"
            self.problems.append(Problem(f"joint '{joint.name}'", what))
        return row_record(DISTANCE, HOLD, group, pair=pair, offset=joint.length or drawn)

    def _along(self, joint: Joint, group: int, cut: bool) -> None:
        """Limits, dry friction, springs and dampers of every coordinate, and its rotor unless the tree has it."""
        for k, (rate, coord) in enumerate(self.coord_of[joint.name].items()):
            low, high = joint.bounds()[k]
            bounce = (joint.restitution, _BOUNCE)
            if (low is not None or high is not None) and self.coords[coord]["how"] == BALL_AXIS:
                self._limit_balls(joint, cut)
            label = f"{joint.name}.{rate.removesuffix('_rate')}"
            if low is not None:
                row = row_record(COORDINATE, LIMIT, group, first=coord, offset=low, value=bounce)
                self._name(row, f"{label}: lower limit")
            if high is not None:
                row = row_record(COORDINATE, LIMIT, group, first=coord, sign=-1.0, offset=-high, value=bounce)
                self._name(row, f"{label}: upper limit")
            if joint.per_rate("friction")[k] > 0.0:
                row = self._moving(coord, FRICTION, group, strength=joint.per_rate("friction")[k])
                self._name(row, f"{label}: friction")
            stiffness, damping = joint.per_rate("spring")[k], joint.per_rate("damping")[k]
            if damping and self.coords[coord]["how"] == BALL_AXIS:
                damper = self._moving(coord, LAW, group, law=LAWS.index(SPRING), value=(0.0, damping))
                self._name(damper, f"{label}: damper")
                damping = 0.0
            if stiffness or damping:
                rest = joint.per_rate("rest")[k]
                value = (stiffness, damping)
                row = row_record(
                    COORDINATE, LAW, group, law=LAWS.index(SPRING), first=coord, offset=rest, value=value
                )
                self._name(row, f"{label}: spring")
            if cut and joint.per_rate("armature")[k] > 0.0:  # a drive that does nothing but turn along
                rotor = {"inertia": joint.per_rate("armature")[k], "source": 1, "law": LAWS.index(TORQUE)}
                self._name(self._moving(coord, LAW, group, **rotor), f"{label}: armature")

    def _limit_balls(self, joint: Joint, cut: bool) -> None:
        """Mark the dofs of a ball with limits; of one that closes a loop, all, for any of them may carry it."""
        rates = self.compiler.dofs["v"][1:]
        span = slice(0, len(rates)) if cut else self.compiler.spans[joint.name][1]
        self.compiler.dofs["limited"][1:][(rates >= span.start) & (rates < span.stop)] = 1

    def _moving(self, coord: int, role: int, group: int, **fields: Any) -> Any:
        return along_rate(self.coords[coord], coord, role, group, **fields)

    def _measured(self, load: Any, group: int) -> None:
        """Rows of a load along one measure, or several."""
        if isinstance(load, Tyre):
            self._tyre(load, group)
        elif isinstance(load, Bushing):
            pair, drawn = self._ends(load, matrix(load.rotation))
            rest = drawn if load.rest is None else load.rest
            for k, axis in enumerate("xyz"):
                value = (load.stiffness[k], load.damping[k])
                along = {"alpha": AX + k, "beta": D, "pair": pair, "offset": rest[k]}
                row = row_record(DOT, LAW, group, law=LAWS.index(SPRING), value=value, **along)
                self._name(row, f"{load.name}: bushing {axis}")
        elif isinstance(load, Spring):
            pair, drawn = self._ends(load, np.eye(3))
            length = float(np.linalg.norm(drawn)) if load.length is None else load.length
            value = (load.stiffness, load.damping)
            row = row_record(
                DISTANCE, LAW, group, law=LAWS.index(SPRING), pair=pair, offset=length, value=value
            )
            self._name(row, f"{load.name}: spring")
        else:
            pair, _ = self._ends(load, np.eye(3) if load.axis is None else frame_from_axis(load.axis))
            kind = {"kind": DISTANCE} if load.axis is None else {"kind": DOT, "alpha": AZ, "beta": D}
            record: Any = np.zeros((), LOAD)
            load.fill(record, self.compiler)
            value = (float(record["first"]), float(record["count"]))
            own = {"law": USER_LAW, "function": record["function"], "pair": pair, "value": value}
            self._name(row_record(role=LAW, group=group, **kind, **own), f"{load.name}: function")

    def _tyre(self, tyre: Tyre, group: int) -> None:
        if not self.roads.surfaces:
            self.problems.append(Problem(f"{tyre.kind} '{tyre.name}'", NO_ROAD))
            return
        record: Any = np.zeros((), PAIR)
        self.compiler.end(record, "a", GROUND, (0.0, 0.0, 0.0))
        self.compiler.end(record, "b", tyre.body, tyre.centre(self.compiler), tyre.axes())
        pair = self._append(self.pairs, record)
        for part, row in tyre_rows(tyre, self.compiler, self.roads):
            row["pair"], row["group"] = pair, group
            if part.state:
                row["state"], row["column"] = self.states, len(self.recorded)
                self.states += 1
                self.recorded.append(Column(f"{tyre.name}.{part.state}", "m"))
            self._name(row, f"{tyre.name}: tyre {part.name}")

    def _ends(self, load: Any, axes: Array) -> tuple[int, Array]:
        """The frames of a load's two ends, that on a with these axes, and how far b's is from a's along them [m]."""
        record: Any = np.zeros((), PAIR)
        self.compiler.end(record, "a", load.a, load.at_a, axes)
        self.compiler.end(record, "b", load.b, load.at_b)
        apart = np.subtract(self.compiler.point(load.at_b), self.compiler.point(load.at_a))
        return self._append(self.pairs, record), axes.T @ apart

    def _couple(self, coupling: Any, group: int) -> None:
        first = self._find(coupling, "a", coupling.a, coupling.coordinate_a)
        second = self._find(coupling, "b", coupling.b, coupling.coordinate_b)
        if first is None or second is None:
            return
        row = row_record(COORDINATE, HOLD, group, first=first, second=second, ratio=coupling.ratio)
        row["offset"] = self._start_value(first) - coupling.ratio * self._start_value(second)
        self._name(row, f"{coupling.name}: repeater")

    def _play(self, play: Backlash, group: int) -> None:
        first = self._find(play, "a", play.a, play.coordinate_a)
        second = None if play.b is None else self._find(play, "b", play.b, play.coordinate_b)
        if first is None or (second is None) != (play.b is None):
            return
        along, middle = {"first": first}, self._start_value(first)
        if second is not None:
            along["second"], middle = second, middle - play.ratio * self._start_value(second)
        middle = middle if play.middle is None else play.middle
        if play.rigid:
            bounce = {"value": (play.restitution, _BOUNCE), **along}
            for sign, side in ((1.0, "lower"), (-1.0, "upper")):
                where = {"sign": sign, "ratio": sign * play.ratio, "offset": sign * middle - 0.5 * play.gap}
                row = row_record(COORDINATE, LIMIT, group, **bounce, **where)
                self._name(row, f"{play.name}: {side} flank")
            return
        law = {"law": LAWS.index(play.law), "ratio": play.ratio, "offset": middle}
        row = row_record(COORDINATE, LAW, group, value=play.numbers(), pieces=1, **along, **law)
        self._name(row, f"{play.name}: flanks")

    def _drive(self, drive: Drive, group: int, slot: int) -> None:
        coord = self._find(drive, "joint", drive.joint, drive.coordinate)
        if coord is None:
            return
        fields: dict[str, Any] = {
            "value": drive.numbers(),
            "strength": drive.bound,
            "inertia": drive.rotor,
            "source": int(drive.supplies),
            "input": slot,
            "signal": self.compiler.signal(drive.signal),
            "period": drive.period,
            "x": drive.initial,
        }
        role = SERVO_RATE
        if drive.law is not None:
            role, fields["law"] = LAW, LAWS.index(drive.law)
            if drive.law.state is not None:
                fields["state"] = self.states
                self.states += 1
            fields["column"], fields["slots"] = len(self.recorded), len(drive.law.memory)
            for name, unit in (*([drive.law.state] if drive.law.state else []), *drive.law.memory):
                self.recorded.append(Column(f"{drive.name}.{name}", self._unit(coord, unit)))
        if isinstance(drive, PairDrive):
            second = self._find(drive, "other", drive.other, drive.other_coordinate)
            if second is None:
                return
            apart = self._start_value(coord) - drive.ratio * self._start_value(second)
            row = row_record(COORDINATE, role, group, first=coord, second=second, ratio=drive.ratio, **fields)
            row["offset"] = apart
        elif drive.along_rate:
            row = self._moving(coord, role, group, **fields)
        else:
            row = row_record(COORDINATE, role, group, first=coord, **fields)
        self._name(row, f"{drive.name}: {drive.kind.replace('_', ' ')}")

    def _unit(self, coord: int, unit: str) -> str:
        """A unit of an element on a coordinate: "force" and "place" are those of the coordinate."""
        slides = self.coords[coord]["how"] == SLIDE
        return unit.replace("force", "N" if slides else "N m").replace("place", "m" if slides else "rad")

    def _find(self, thing: Any, field: str, joint: str, coordinate: str | None) -> int | None:
        """The coordinate that a drive or coupling names, or a problem."""
        coords = self.coord_of[joint]
        names = [rate.removesuffix("_rate") for rate in coords]
        if not names:
            what = f"joint '{joint}' is a weld: it has no coordinate to move"
            self.problems.append(Problem(f"{thing.kind} '{thing.name}'.{field}", what))
            return None
        if coordinate is not None and coordinate not in names:
            what = f"joint '{joint}' has no coordinate '{coordinate}'{nearest(coordinate, names)}"
            self.problems.append(Problem(f"{thing.kind} '{thing.name}'", what))
            return None
        return list(coords.values())[names.index(coordinate) if coordinate is not None else 0]

    def _start_value(self, coord: int) -> float:
        """Value of a coordinate at the start as it is written, whether its joint is one of the tree or not."""
        record = self.coords[coord]
        return float(self.compiler.q0[record["q"]] if record["q"] >= 0 else record["value"])

    def _name(self, row: Any, name: str) -> None:
        self._append(self.rows, row)
        for coord in (row["first"], row["second"]):
            if coord >= 0:
                self.coords[coord]["used"] = 1
        self.names.append(name)

    @staticmethod
    def _append(table: list[Any], row: Any) -> int:
        table.append(row)
        return len(table) - 1
