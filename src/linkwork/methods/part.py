"""A share of a model in motion: its own bodies, rows and subsystems, in step with the shares of other processes.

A model that runs in one process is one part without relatives. Otherwise every part runs the same loop; where something
has to cross to another process the loop returns, and whoever runs the part carries it over (`Relatives`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..compile.constrain import RowTable, without_addresses
from ..compile.elimination import Placement, bounded_rows, new_hierarchy, row_ends, row_order
from ..compile.system import System
from ..engine.kernels.clock import cycles_per_second
from ..engine.kernels.steady import Steady
from ..engine.solvers import layout
from ..engine.solvers.hierarchy import go_up
from ..engine.solvers.passing import go_down
from ..engine.steppers import components, explicit
from ..engine.steppers.floating import evaluate_floating
from ..engine.steppers.integrators import INTEGRATORS
from ..engine.steppers.motion import ADAPTIVE, Run, new_run
from ..engine.steppers.samples import Samples
from ..engine.tables import GIVEN, HELD, HOLD, SERVO_RATE, Constraints, Tables
from ..model.rotation import Array
from .sampled import run_memory


@dataclass(frozen=True)
class Steps:
    """How a model is stepped; the same in all its parts."""

    integrator: str
    dt: float
    """[s]"""
    tolerance: float
    budget: float | None = None
    """Time that a step should take at most [s]."""

    @property
    def adaptive(self) -> bool:
        return INTEGRATORS[self.integrator].kind == ADAPTIVE


class Relatives(Protocol):
    """The parts of other processes that a part is joined to."""

    above: bool
    """Whether one of them holds what this part is inside of."""
    below: bool
    """Whether some of them are inside of this part."""

    def exchange(self, part: Part, what: int) -> None:
        """Carry over what the loop asks for: `components.STATES` …."""


class Part:
    """Structure of a share of a model; `begin` puts it in motion."""

    touch: Any = None
    """Contacts, where things may touch: then all of the model is in it."""

    def __init__(
        self, system: System, table: RowTable, placement: Placement, steps: Steps, alone: bool = False
    ):
        """`alone`: all of the model is in this process, so that events can be located."""
        order, homes = row_order(system, table, placement)
        self.system = system
        self.placement = placement
        self.rows = table.chosen(order)
        self.work = new_hierarchy(system, self.rows, homes, placement)
        self.steps = steps
        self._kind, self._tableau = INTEGRATORS[steps.integrator]
        self._own = 6 * (
            len(system.floating) - sum(len(placement.borders[name].ports) for name in placement.remote)
        )
        self.dt = steps.dt
        located = bounded_rows(self.rows) | (self.rows.constraints.rows["pieces"] != 0)
        self._bounded = alone and bool(located.any())
        self._loop = Steady(explicit.run_parts, changing=2)

    def begin(
        self, tables: Tables, constraints: Constraints, every_row: Constraints, q: Array, v: Array
    ) -> None:
        """Take up a motion at time zero."""
        self.tables = tables
        self.set_rows(constraints, every_row)
        self.work.row[layout.USUAL] = 0.0
        self._take_up(new_run(q, v, len(constraints.inputs), self.rows.states, self.dt))
        course, steps = self.run.course, self.steps
        course.integrator, course.tolerance, course.own = (
            self._kind, steps.tolerance, self._own,
        )  # fmt: skip
        course.budget = 0.0 if steps.budget is None else steps.budget * cycles_per_second()

    def _take_up(self, run: Run) -> None:
        self.run = run
        run.course.bounded = self._bounded
        self.motion, self.stats, self.state = run.motion, run.stats, run.state
        self.vote = np.asarray(run.vote).reshape(1).view(float)
        """Judgements of the step under way, as plain numbers."""

    def set_rows(self, constraints: Constraints, every_row: Constraints) -> None:
        """Go on with these rows."""
        rows = constraints.rows
        held = (rows["role"] == HOLD) | ((rows["role"] == SERVO_RATE) & ~np.isfinite(rows["strength"]))
        rows["mode"] = np.where(held, HELD, GIVEN)
        self.constraints, self.every_row = constraints, every_row

    def go_on(self, before: Part, constraints: Constraints, every_row: Constraints) -> None:
        """Take up the motion of a part with the same bodies and other rows."""
        self.tables, self.dt = before.tables, before.dt
        self._take_up(before.run)
        self.set_rows(constraints, every_row)
        self.disturb()

    def stiffen(self, names: Collection[str]) -> None:
        """Take these rows implicitly, which look ahead by a step."""
        rows = self.constraints.rows
        rows["stiff"] = [name in names for name in self.rows.names]
        self.run.course.stiff = bool(rows["stiff"].any())

    def yielding(self, rows: np.ndarray) -> Array:
        """How much a force along each of these rows accelerates each of them where the part is now [1/kg or 1/(kg m²)].

        Of a part with something of another process inside it is not known: 0.
        """
        work, n, found = self.work, self.system.nv, np.zeros((len(rows), len(rows)))
        if self.placement.remote:
            return found
        kept = work.row[layout.USUAL].copy(), work.node.copy()
        evaluate_floating(
            self.tables,
            self.constraints,
            work,
            self.motion.q,
            np.zeros(n),
            0.0,
            self.dt,
            1,
            False,
        )
        work.flag[layout.ON] = self.constraints.rows["role"] == HOLD
        work.row[[layout.WANT, layout.SOFT]] = 0.0
        inverse = work.D[: 6 * n].reshape(-1, 6, 6)
        ends = np.array(row_ends(self.system, self.rows))
        for k in range(0, len(rows), 3):  # a pass has three columns
            push = np.zeros((3, n))
            for column, row in enumerate(rows[k : k + 3]):
                for end, body in enumerate(ends[row]):
                    if body >= 0:
                        push[column, 6 * body : 6 * body + 6] += work.J[row, end]
            work.r[:, :n] = np.einsum("bij,cbj->cbi", inverse, push.reshape(3, -1, 6)).reshape(3, -1)
            work.row[[layout.PLACE, layout.TURN]] = 0.0  # where the last pass left its forces
            work.tau[:] = 0.0
            go_up(work, 3, 0, 0.0)
            go_down(work, 3)
            moved = work.x[:, :n].reshape(3, -1, 6)
            for end in range(ends.shape[1]):
                body = ends[rows, end]
                along = np.einsum("crj,rj->rc", moved[:, body], work.J[rows, end])
                found[:, k : k + 3] += np.where(body[:, None] >= 0, along, 0.0)[:, : len(rows) - k]
        work.row[layout.USUAL], work.node[:] = kept
        return 0.5 * (found + found.T)

    def redundant(self) -> tuple[str, ...]:
        """Joint equations that followed from the others when they were last eliminated."""
        work, names = self.work, []
        for node in work.node:
            begin, end = node["row_begin"], node["row_end"]
            taking = int(np.count_nonzero(work.flag[layout.ON, begin:end]))
            left_out = sorted(work.order[begin + node["rank"] : begin + taking])
            names += [self.rows.names[i] for i in left_out if i < node["bound_begin"]]
        return tuple(names)

    def disturb(self) -> None:
        """Somebody changed something: the next step begins anew."""
        self.motion.seen[:] = np.nan

    @property
    def disturbed(self) -> bool:
        """Whether state or commands are not those that the last steps left."""
        motion, state = self.motion, self.state
        now = np.concatenate([state.q, state.v, self.constraints.inputs])
        return not np.array_equal(motion.seen, now)

    def advance(
        self, wanted: Array, out: Samples, relatives: Relatives | None = None, phase: int = explicit.PLAN
    ) -> tuple[int, int]:
        """Go through targets, from a phase of the loop on; returns how many were reached and the status."""
        run = self.run
        course = run.course
        course.phase, course.inner, course.step = phase, 0, self.dt
        if relatives is not None:
            course.above, course.below = relatives.above, relatives.below
        while True:
            done, status = self._loop(
                self.tables, self.constraints, self.every_row, None, self.touch, self.work, run.motion, run.books,
                self._tableau, wanted, out,
            )  # fmt: skip
            if not components.STATES <= status <= components.SAMPLE:
                return done, status
            assert relatives is not None
            relatives.exchange(self, status)

    @property
    def columns(self) -> int:
        """Right-hand sides of the evaluation that is under way."""
        return int(components.columns_of(self.run.course))

    def state_of(self, trial: bool) -> tuple[Array, Array]:
        """Coordinates and the rest of the state, of the trial or now."""
        motion = self.motion
        return (motion.q_trial, motion.y_trial) if trial else (motion.q, motion.y)

    def memory(self) -> dict[str, Array]:
        """All that changes while it moves beside the rows, to be saved and written back in place."""
        return {
            "rows": without_addresses(self.constraints.rows),
            "coordinates": self.constraints.coords["value"],
            "commands": self.constraints.inputs,
            "stats": np.asarray(self.stats),
            **run_memory(self.run),
            "report": self.work.report,
            "usual_pivots": self.work.row[layout.USUAL],
            "ranks": self.work.node["arrived"],
        }


class Crossing:
    """Where a part's side of a line stands in its arrays: the subsystems that are on it and their bordering bodies."""

    def __init__(self, part: Part, names: Sequence[str]):
        placement, work = part.placement, part.work
        index = {body: b for b, body in enumerate(part.system.floating)}
        bodies = [index[body] for name in names for body in placement.borders[name].ports]
        self._q = np.array([7 * b + k for b in bodies for k in range(7)], np.int64)
        self._v = np.array([6 * b + k for b in bodies for k in range(6)], np.int64)
        D, columns = [], []
        for name in names:
            i, size = placement.number[name], 6 * len(placement.borders[name].ports)
            D.append(np.arange(size * size) + work.node["D"][i])
            columns.append(np.arange(size) + work.node["column"][i])
        self._D = np.concatenate([np.zeros(0, np.int64), *D])
        self._columns = np.concatenate([np.zeros(0, np.int64), *columns])
        self.states = np.zeros(len(self._q) + len(self._v))
        # With the corrections at the end of a step, also how far bodies would yield if they floated.
        self._shares = {k: np.zeros(len(self._D) + rows * len(self._columns)) for k, rows in ((1, 1), (3, 4))}
        self._forces = {k: np.zeros(k * len(self._columns)) for k in (1, 3)}

    def shares(self, columns: int) -> Array:
        """Room for what `read_shares` reads."""
        return self._shares[columns]

    def forces(self, columns: int) -> Array:
        """Room for τ."""
        return self._forces[columns]

    def read_states(self, part: Part, trial: bool) -> Array:
        """Coordinates and rates of the bordering bodies, of the trial or now."""
        n, split = part.system.nv, len(self._q)
        q, y = part.state_of(trial)
        np.take(q, self._q, out=self.states[:split])
        np.take(y[n : 2 * n], self._v, out=self.states[split:])
        return self.states

    def write_states(self, part: Part, trial: bool) -> None:
        """Take coordinates and rates of the bordering bodies as they were received."""
        n, split = part.system.nv, len(self._q)
        q, y = part.state_of(trial)
        q[self._q] = self.states[:split]
        y[n : 2 * n][self._v] = self.states[split:]

    def read_shares(self, part: Part) -> Array:
        """D and r of the subsystems on the line."""
        columns = part.columns
        room, split = self._shares[columns], len(self._D)
        np.take(part.work.D, self._D, out=room[:split])
        rest = room[split:].reshape(columns + (columns > 1), -1)
        rest[:columns] = part.work.r[:columns, self._columns]
        rest[columns:] = part.work.loose[self._columns]
        return room

    def write_shares(self, part: Part) -> None:
        """Take D and r of the subsystems on the line as they were received."""
        columns = part.columns
        room, split = self._shares[columns], len(self._D)
        part.work.D[self._D] = room[:split]
        rest = room[split:].reshape(columns + (columns > 1), -1)
        part.work.r[:columns, self._columns] = rest[:columns]
        if len(rest) > columns:
            part.work.loose[self._columns] = rest[columns]

    def read_forces(self, part: Part) -> Array:
        """τ of the subsystems on the line."""
        columns = part.columns
        room = self._forces[columns]
        room.reshape(columns, -1)[:] = part.work.tau[:columns, self._columns]
        return room

    def write_forces(self, part: Part) -> None:
        """Take τ of the subsystems on the line as it was received."""
        columns = part.columns
        part.work.tau[:columns, self._columns] = self._forces[columns].reshape(columns, -1)
