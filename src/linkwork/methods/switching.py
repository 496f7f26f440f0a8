"""What methods with rows share: joints are attached and released between steps.

Every configuration has a row table of its own, with its own redundant rows, order and scratch: nothing is decided in a
step, and a joint that is released costs nothing.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from ..compile.compiler import Compiled
from ..compile.constrain import RowTable
from ..compile.diagram import Lowered
from ..compile.row_records import couplings
from ..compile.scratch import Scratch, settable_forces
from ..engine.control.codes import ATTACH
from ..engine.coordinates.observe import read_joints
from ..engine.coordinates.tree import place
from ..engine.elements.respond import respond
from ..engine.kernels.rows import measure
from ..engine.kernels.steady import slots
from ..engine.kernels.tape import SWITCH
from ..engine.steppers.samples import Samples, new_samples
from ..engine.steppers.state import OK
from ..engine.tables import LAW, OP, Constraints
from ..mechanism.kinematics import settle
from ..mechanism.setting import Loops, Motion, bring
from ..mechanism.switching import (
    Attachment,
    Impact,
    JointChange,
    here,
    impact,
    plan,
    spin,
    tree_state,
)
from ..model.errors import LinkworkError, SimulationError, nearest
from ..model.rotation import Array
from ..observe.observer import Block, DirectObserver, RowObserver
from .base import Method
from .capabilities import SWITCHING
from .looking import looks_of
from .planned import Plan, joined
from .rows import Start, carry, give_command, operate

_NO_IMPULSE = (0.0, 0.0, 0.0)
# Statistics count rows of earlier configurations downwards from here, as in the table of all rows.
_RETIRED = -2


class RowMethod(Method):
    """A method with rows, of which some may come and go."""

    observer: RowObserver
    _start: Start
    _rows: RowTable
    _constraints: Constraints
    _configuration: int
    """The stretch of the same joints attached that samples belong to: see RowObserver.configure."""
    _stats: Any
    """Counts and extremes of the run: a record with named fields."""

    def _launch(self, compiled: Compiled, start: Start) -> None:
        """The second half of a constructor: begin with a mechanism as it starts."""
        self.scratch = Scratch(settable_forces(compiled.flat))
        self._tables = self.scratch.tables("step", start.system)
        self.observer = self._new_observer(start)
        self._first = start
        self._looks = looks_of(self, start)
        self._plan = plan(start.system.row_table.joints)
        self._done = np.zeros(1, np.int64)  # changes of the plan that have been made
        self.changes: list[JointChange] = []
        self._configure_as(start)
        self.reset()
        self._looks.begin()

    def _new_observer(self, start: Start) -> RowObserver:
        return DirectObserver(start.compiled, start.system, self.scratch)

    def _configure_as(self, start: Start) -> None:
        """Take the joints that are attached in `start`."""
        self._start, self.system, self._only = start, start.system, None
        self._prepare(start)
        self._configuration = self.observer.configure(
            self.system, self._rows.names, start.attachment, start.tree_q
        )

    def reset(self) -> None:
        self._done[0] = 0
        self._looks.counts[:] = 0
        self.changes = []
        if self._start is not self._first:
            self._configure_as(self._first)
        self._fill()
        for _, constraints in self._row_sets():
            settle(self._tables, constraints, self._start.q)
        self._begin()

    @abstractmethod
    def _begin(self) -> None:
        """State and statistics as at time zero; rows are as they start."""

    @abstractmethod
    def _prepare(self, start: Start) -> None:
        """Rows, structure and scratch for the joints that are attached in `start`."""

    @abstractmethod
    def _fill(self) -> None:
        """Fresh constraints for the rows."""

    def _row_sets(self) -> list[tuple[RowTable, Constraints]]:
        """Tables of rows and the constraints made of them: those that are solved first."""
        return [(self._rows, self._constraints)]

    def _marks(self) -> Sequence[tuple[str, RowTable]]:
        """Fields of the statistics that hold the number of a row, and of which table."""
        return []

    def _row_name(self, index: float, table: RowTable) -> str | None:
        """Name of a row that the statistics speak of, of this or an earlier configuration."""
        k = int(index)
        if k <= _RETIRED:
            return self._every_name()[_RETIRED - k]
        return table.names[k] if k >= 0 and table.names else None

    def _every_name(self) -> tuple[str, ...]:
        return self.system.row_table.every.names

    # --- what is attached ---

    def reach(self, targets: Sequence[float]) -> tuple[int, int, Block]:
        return self._looks.reach(targets, self._reach)

    def _reach(self, targets: Sequence[float]) -> tuple[int, int, Block]:
        """Through the changes of joints, planned or as the diagram says."""
        parts: list[Block] = []
        done = 0
        while True:
            plan = Plan(self, self._plan, self._done, self._change)
            reached, status, block = plan.reach(targets[done:])
            parts.append(tuple(part[:reached] for part in block))
            done += reached
            self._refuse_failures()
            if status != SWITCH:
                return done, status, joined(parts) if done else block
            self._switch_as_told()

    def _switch_as_told(self) -> None:
        """Attach and release joints as the diagram says now."""
        told = self._rows.diagram
        assert told is not None
        tape = self._constraints.tape
        taking: list[str] = []
        leaving: list[str] = []
        for op in tape[tape["kind"] == ATTACH]:
            name = told.switches[int(op["b"])]
            (taking if op["value"] else leaving).append(name)
        places = np.flatnonzero(tape["kind"] == ATTACH)
        tape["memory"][places, 0] = tape["value"][places]
        tape["p"][0, 0] = 0.0
        self._change(taking, leaving, float(self.state.clock.now))

    def _refuse_failures(self) -> None:
        """Raise what functions of the user in the diagram have raised."""
        told = self._rows.diagram
        for owner in () if told is None else told.tape.owners:
            error, owner.error = getattr(owner, "error", None), None
            if error is not None:
                raise SimulationError(str(error), float(self.state.clock.now)) from error.__cause__

    def _go(self, target: float) -> int:
        if self._plan or self._rows.diagram is not None:
            return self.reach([target])[1]
        return self._hop(target)

    @property
    def switchable(self) -> tuple[str, ...]:
        return tuple(self.system.row_table.switchable)

    @property
    def attached(self) -> frozenset[str]:
        return self._start.attachment.attached

    def switch(self, attach: Collection[str], release: Collection[str]) -> None:
        self.require(SWITCHING)
        for name in (*attach, *release):
            if name not in self.switchable:
                raise LinkworkError(self._not_switchable(name))
        self._change(attach, release, float(self.state.clock.now))

    def _change(self, attach: Collection[str], release: Collection[str], time: float) -> None:
        taking = [name for name in attach if name not in self.attached]
        leaving = [name for name in release if name in self.attached]
        if not taking and not leaving:
            return
        left = self._energies_of(leaving)
        self._configure(taking, leaving)
        # Whoever attaches a spring or a rotor has wound it, or brought it to the speed that it has.
        stored = sum(self._energies_of(taking).values())
        hit = self._impact(taking) if taking else Impact(self.state.v.copy(), 0.0, {}, {})
        self.state.v[:] = hit.v
        self.state.work[0] += hit.supplied + stored
        self.state.work[1] += sum(hit.lost.values()) + sum(left.values())
        self.disturb()
        for name in leaving:
            self.changes.append(JointChange(time, name, False, _NO_IMPULSE, _NO_IMPULSE, left[name]))
        for name in taking:
            self.changes.append(JointChange(time, name, True, *hit.wrenches[name], hit.lost[name]))

    def _impact(self, taking: Collection[str]) -> Impact:
        """What happens when joints take hold here."""
        return impact(self.system, self.state.q, self.state.v, taking)

    def _not_switchable(self, name: str) -> str:
        if any(joint.name == name for joint in self.system.row_table.joints):
            return f"joint '{name}' always holds; give it `attached`, spans of time or (), to switch it"
        return f"there is no joint '{name}' to attach or release{nearest(name, self.switchable)}"

    def _configure(self, taking: Collection[str], leaving: Collection[str]) -> None:
        """Rows of the joints that are attached from now on; those that take hold do so here."""
        q, constraints = self.state.q, self._constraints
        self._measure()
        frames = {name: here(self.system, self._tables, constraints.pairs, name) for name in taking}
        tree_q = self._in_tree().q
        had = {name for table, _ in self._row_sets() for name in table.names}
        self._restore(self._start.attachment.after(frames, leaving), tree_q)
        self._restart_coordinates(taking)
        place(self._tables.dofs, self._tables.islands, q, self.state.v)
        for table, constraints in self._row_sets():
            measure(self._tables, constraints, q)
            for i in couplings(constraints.rows):
                if table.names[i] not in had:  # a coupling keeps the relation that it finds
                    constraints.rows[i]["offset"] += constraints.rows[i]["phi"]

    def _restore(self, attachment: Attachment, tree_q: Array) -> None:
        """Go on with other joints attached."""
        old, names = self._row_sets(), self._every_name()
        for slot, table in self._marks():
            if self._stats[slot] >= 0:
                self._stats[slot] = _RETIRED - names.index(table.names[int(self._stats[slot])])
        self._configure_as(self._first.switched(attachment, tree_q))
        self._fill()
        self._carry(old)

    def _carry(self, old: list[tuple[RowTable, Constraints]]) -> None:
        """Go on with how rows, coordinates, commands and couplings stood."""
        for now, before in zip(self._row_sets(), old, strict=True):
            carry(*now, *before)
            offsets = {before[0].names[i]: before[1].rows["offset"][i] for i in couplings(before[1].rows)}
            for i in couplings(now[1].rows):
                now[1].rows["offset"][i] = offsets.get(now[0].names[i], now[1].rows["offset"][i])

    def _restart_coordinates(self, taking: Collection[str]) -> None:
        """Coordinates of joints that take hold count from zero."""
        coords, k = self._constraints.coords, 0
        for joint in self._rows.joints:
            if joint.name in taking:
                for field in ("value", "tracked", "turns", "sine"):
                    coords[field][k : k + len(joint.rates)] = 0
            k += len(joint.rates)

    def _measure(self) -> None:
        """Gaps, coordinates and frames of the present state."""
        place(self._tables.dofs, self._tables.islands, self.state.q, self.state.v)
        measure(self._tables, self._constraints, self.state.q)

    def _energies_of(self, joints: Collection[str]) -> dict[str, float]:
        """Energy in the springs and rotors of joints [J]; rows are measured."""
        self._measure()
        rows, now = self._constraints.rows, self.state.clock.now
        found = spin(self.system, self.state.q, self.state.v, joints)
        for i in np.flatnonzero(rows["role"] == LAW):
            for name in self._rows.needs[i] & found.keys():
                found[name] += float(respond(self._tables, rows[i], 0.0, now, False).stored)
        return found

    # --- coordinates set by the user ---

    def set(self, values: Mapping[str, float]) -> None:
        states = {column.name for column in self._rows.recorded}
        for name in states & values.keys():
            self._set_state(name, values[name])
        values = {name: x for name, x in values.items() if name not in states}
        loops = Loops(self._start.tree)
        own = {column.name for column in (*self.system.coordinates, *self.system.rates)}
        alone = {name: x for name, x in values.items() if name in own and not loops.move(name)}
        joined = {name: x for name, x in values.items() if name not in alone}
        if joined:
            self._bring(joined)
        super().set(alone)

    def _set_state(self, name: str, value: float) -> None:
        """Set a state of an element."""
        at = [column.name for column in self._rows.recorded].index(name)
        rows = self._constraints.rows
        told = self._rows.diagram
        if told is not None and at >= told.first:
            self._set_output(name, value)
            return
        own = int(np.argmax(np.where(rows["column"] <= at, rows["column"], -1)))
        slot = at - int(rows["column"][own]) - int(rows["state"][own] >= 0)
        if slot < 0:
            rows["x"][own] = value
        else:
            rows["memory"][own, slot] = value
        self.disturb()

    def _set_output(self, name: str, value: float) -> None:
        """Set the state of a block of the diagram, by the name of its output."""
        tape, told = self._constraints.tape, self._rows.diagram
        assert told is not None
        op = next(output.op for output in told.tape.outputs if output.name == name)
        if tape["state"][op] < 0:
            raise LinkworkError(f"'{name}' follows from what its block takes: it is no state that can be set")
        tape["x"][op] = value
        self.disturb()

    def _in_tree(self) -> Motion:
        """The present motion in the coordinates of the tree."""
        start, state, constraints = self._start, self.state, self._constraints
        read, rates = np.empty((2, len(constraints.coords)))
        read_joints(self._tables, constraints, state.q, state.v, float(state.clock.now), read, rates)
        if start.maximal:
            return Motion(*tree_state(start.tree, read, rates), read)
        return Motion(state.q.copy(), state.v.copy(), read)

    def _bring(self, values: Mapping[str, float]) -> None:
        """Set coordinates and rates of joints that loops, or the bodies' own coordinates, must follow."""
        start, state = self._start, self.state
        table, every = self._row_sets()[-1]
        offsets = {table.names[i]: float(every.rows["offset"][i]) for i in couplings(every.rows)}
        motion = bring(start.tree, self._in_tree(), offsets, values)
        state.q[:], state.v[:] = start.of_tree(motion.q, motion.v)
        for _, rows in self._row_sets():
            rows.coords["value"], rows.coords["tracked"] = motion.values, 0
        self.disturb()

    # --- steps and samples ---

    @abstractmethod
    def _travel(self, wanted: Array, out: Samples) -> tuple[int, int]:
        """Go through targets and write samples there: how many were reached, and the status."""

    def advance(self, targets: Sequence[float]) -> tuple[int, int, Block]:
        if len(targets) == 1:
            status = self._hop(targets[0])
            return int(status == OK), status, tuple(part.copy() for part in self._block(self._one()))
        return self._through(targets)

    def _through(self, targets: Sequence[float]) -> tuple[int, int, Block]:
        """Go through targets, one or many, with new arrays for the samples there."""
        out = self._room(len(targets))
        done, status = self._travel(np.array(targets, self._counting), out)
        return done, status, self._block(out)

    def _hop(self, target: float) -> int:
        """Go to one target, without new arrays; the sample there is `_one()`. Returns the status."""
        out = self._only or self._one()
        self._goal[0] = target
        return self._travel(self._wanted, out)[1]

    def _one(self) -> Samples:
        """Room for one sample, the same until other things are sampled."""
        if self._only is None:
            self._only, self._wanted = self._room(1), np.zeros(1, self._counting)
            self._goal = slots(self._wanted)
        return self._only

    _only: Samples | None = None
    _wanted: Array
    _counting: type = float
    """What targets are: step counts (whole numbers) or step counts and times."""
    _report = 3
    """Numbers of the solver in a sample."""

    def _room(self, count: int) -> Samples:
        """Room for samples."""
        coords, rows = len(self._constraints.coords), len(self._constraints.rows)
        return new_samples(
            count, self.system.nq, self.system.nv, coords, rows, len(self._rows.recorded), self._report
        )

    def _block(self, out: Samples) -> Block:
        """Samples for the observer, which must know whose forces these are where joints can be switched."""
        if not self.switchable:
            return tuple(out)
        count, rows = out.forces.shape
        tag = np.full((count, 1), float(self._configuration))
        rest = np.zeros((count, len(self._every_name()) - rows))
        return tuple(out._replace(forces=np.hstack([tag, out.forces, rest])))

    def now(self) -> Block:
        return self.advance([self.state.clock.now if self.adaptive else self.state.clock.steps])[2]

    def strain(self) -> float:
        return float(Samples(*self.now()).solver[0, 0])

    @property
    def drives(self) -> tuple[str, ...]:
        return self._rows.drives

    @property
    def commands(self) -> Array:
        return self._constraints.inputs

    def command(self, drive: str, value: float) -> None:
        give_command(self._rows, self._constraints, drive, value)

    # --- the control diagram ---

    @property
    def diagram(self) -> Lowered | None:
        return self._rows.diagram

    def operate(self, channel: str, value: float) -> None:
        operate(self._rows, self._constraints, channel, value)

    def look(self, channel: str, value: float) -> None:
        """Hand the diagram what a sensor has seen between steps."""
        operate(self._rows, self._constraints, channel, value)

    def wire_values(self) -> Array:
        told = self._rows.diagram
        if told is None:
            return np.zeros(0)
        states: Array = Samples(*self.now()).states[0]
        return states[told.first : told.first + len(told.tape.outputs)]

    # --- state ---

    def take_over(self, other: Method) -> None:
        super().take_over(other)
        if isinstance(other, RowMethod) and self.switchable == other.switchable:
            self._done[:], self.changes = other._done, other.changes
            if other._start is not other._first:
                self._restore(other._start.attachment, other._start.tree_q)
                self._carry(other._row_sets())
        if isinstance(other, type(self)):
            if self._rows.names == other._rows.names:
                np.asarray(self._stats)[...] = np.asarray(other._stats)
            for mine, theirs in zip(self._row_sets(), other._row_sets(), strict=True):
                carry(*mine, *theirs)

    def memory(self) -> dict[str, Array]:
        known = {
            "coordinates": self._constraints.coords["value"],
            "commands": self._constraints.inputs,
            "stats": np.asarray(self._stats),
        }
        if len(self._constraints.tape):
            known["looks"] = self._looks.counts
            known["diagram"] = self._constraints.tape[[name for name in OP.names or () if name != "function"]]
        if not self.switchable:
            return known
        flags, frames = self._start.attachment.arrays(self.switchable)
        return {
            **known,
            "attached": flags,
            "attached_frames": frames,
            "attached_pose": self._start.tree_q.copy(),
            "attached_done": self._done,
            "attached_offsets": self._constraints.rows["offset"],
        }

    def make_room(self, data: dict[str, Array]) -> None:
        if self.switchable:
            self.changes = []
            attachment = Attachment.of_arrays(self.switchable, data["attached"], data["attached_frames"])
            self._restore(attachment, data["attached_pose"])

    def outcome(self) -> dict[str, Any]:
        return {"changes": [asdict(change) for change in self.changes]} if self.switchable else {}
