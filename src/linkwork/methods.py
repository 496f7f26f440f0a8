"""Methods: how a model is moved. Each holds a compiled system and its state and goes from target to target.

Targets are step counts for methods of fixed steps and times [s] for the adaptive one.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .compile import compile_model
from .constrain import RowTable
from .coordinates.dynamics import body_pose, body_twist
from .coordinates.factor import project_row
from .coordinates.observe import read_joints
from .coordinates.tree import place
from .errors import LinkworkError, ModelError, Problem, UnsupportedError, nearest
from .formulations import stepping
from .formulations.impulses import DEGENERATE, run_impulses, step, workspace
from .integrate import State, Tableau, dormand_prince, euler, new_state, rk4, run_adaptive, run_fixed
from .kernels.clock import cycles_per_second
from .kernels.rows import measure
from .kinematics import Kinematics
from .model import Flat, Model
from .observe import Block, Observer, RowObserver, TreeObserver
from .order import elimination_order, new_work, touched
from .rotation import Array, matrix, quaternion
from .solvers import layout
from .spanning import spanning_tree
from .system import System
from .tables import COORDINATE, FRICTION, HOLD, LIMIT, SERVO_PLACE, SERVO_RATE

TABLEAUS: dict[str, Callable[[], Tableau]] = {"rk4": rk4, "euler": euler, "adaptive": dormand_prince}
NO_BUDGET = 1e18  # clock ticks
_PROBES = 4  # random poses at which rows are tried
# A start that is open by more than _OPEN [m or rad] is tried: it must close to _CLOSED within so many projections.
_OPEN, _CLOSED, _PROJECTIONS, _INSTANT = 1e-4, 1e-6, 500, 1e-6


class Method(ABC):
    """A way to move a model; see the module."""

    name: str
    adaptive = False
    system: System
    observer: Observer
    state: State
    _dt: float

    @abstractmethod
    def reset(self) -> None:
        """Back to the start."""

    @abstractmethod
    def advance(self, targets: Sequence[float]) -> tuple[int, int, Block]:
        """Go through the targets; returns (how many were reached, status, samples there)."""

    def now(self) -> Block:
        """A sample of the present state."""
        state = self.state
        return state.clock[2:].copy(), state.q[None].copy(), state.v[None].copy(), state.work[None].copy()

    def read(self, name: str) -> float:
        """A coordinate or rate that is not part of the state itself."""
        return float(self.state.q[self.system.coordinate(name)])  # raises, and tells the nearest name

    def strain(self) -> float:
        """Energy in springs that are rows [J]."""
        return 0.0

    def change_step(self, dt: float) -> None:
        """Go on with another step size [s]; time is counted in steps from here."""
        self._dt = dt
        self.state.clock[0] = self.state.clock[2]
        self.state.clock[1] = dt
        self.state.counts[0] = 0

    def memory(self) -> dict[str, Array]:
        """Arrays beside the state that a resumed run needs, to be saved and written back in place."""
        return {}

    def info(self) -> dict[str, Any]:
        """What a record should say about how it was made."""
        return {}

    def outcome(self) -> dict[str, Any]:
        """What a record should say about how it went."""
        return {}

    def warnings(self) -> list[str]:
        """What the user should know about how it went."""
        return []

    def command(self, drive: str, value: float) -> None:
        """Give a drive a new command."""
        raise LinkworkError(f"there is no drive '{drive}' in this method")


class TreeMethod(Method):
    """Open mechanisms: accelerations of the tree, integrated explicitly."""

    name = "tree"

    def __init__(self, model: Model | System, integrator: str, dt: float, tolerance: float):
        if isinstance(model, Model):
            features = row_features(model.flatten())
            if features:
                raise UnsupportedError(
                    "the method 'tree' has no constraints, but "
                    + "; ".join(features)
                    + "; use method 'simgc'"
                )
        self.system = model if isinstance(model, System) else compile_model(model)
        self.adaptive = integrator == "adaptive"
        self._integrator, self._dt, self._tolerance = integrator, dt, tolerance
        self._tableau = TABLEAUS[integrator]()
        self._tables = self.system.fresh_tables()
        self.observer = TreeObserver(self.system)
        self.reset()

    def reset(self) -> None:
        self.state = new_state(self.system.q0, self.system.v0)
        self.state.clock[1] = self._dt

    def advance(self, targets: Sequence[float]) -> tuple[int, int, Block]:
        out = _samples(len(targets), self.system)
        if self.adaptive:
            goals = np.array(targets, float)
            done, status = run_adaptive(self._tables, self._tableau, self.state, self._tolerance, goals, *out)
        else:
            steps = np.array(targets, np.int64)
            done, status = run_fixed(self._tables, self._tableau, self.state, self._dt, steps, *out)
        return done, status, out

    def info(self) -> dict[str, Any]:
        return {"integrator": self._integrator, "tolerance": self._tolerance if self.adaptive else None}

    def outcome(self) -> dict[str, Any]:
        return {"rejected_steps": int(self.state.counts[2])}


class ImpulseMethod(Method):
    """Sequential impulses, in generalized (`simgc`) or maximal coordinates (`simmc`).

    `epsilon`: impulse change at which iterations end [N s]; `iterations`: their limit a step; `budget`: time they
    may take a step [s], None for any; `erp`: share of a gap removed in a step.
    """

    def __init__(
        self,
        model: Model,
        name: str,
        dt: float,
        epsilon: float,
        iterations: int,
        budget: float | None,
        erp: float,
    ):
        if not 0.0 < erp <= 1.0:
            raise LinkworkError(f"erp is a share of the gap: above 0 and at most 1, not {erp!r}")
        if iterations < 1:
            raise LinkworkError(f"iterations must be at least 1, not {iterations!r}")
        self.name = name
        maximal = name == "simmc"
        self.system = compile_model(model, rows=True, maximal=maximal)
        self._q0, self._v0 = self.system.q0, self.system.v0
        if maximal:
            self._q0, self._v0 = floating_start(model, self.system)
        self._rows, self._degenerate = without_degenerate(self.system)
        self._dt = dt
        ticks = NO_BUDGET if budget is None else budget * cycles_per_second()
        self._options = np.array([erp, epsilon, iterations, ticks, float(maximal)])
        self._settings = {"epsilon": epsilon, "iterations": iterations, "budget": budget, "erp": erp}
        self._tables = self.system.fresh_tables()
        self._work = workspace(self.system.nv, self.system.depth, len(self._rows.names))
        self.observer: RowObserver = RowObserver(self.system)
        self.reset()
        self._refuse_contradiction()
        self.reset()

    def reset(self) -> None:
        self.state = new_state(self._q0, self._v0)
        self._stats = np.zeros(9)
        self._stats[[4, 8]] = -1.0  # no row has had a gap
        self._constraints = self._rows.fresh()
        settle(self._tables, self._constraints, self._q0)

    def _refuse_contradiction(self) -> None:
        """Raise if the loops are open at the start and cannot be closed from there.

        Steps of no length, each from rest, move the mechanism by pseudo velocities alone.
        """
        state = self.state
        for trial in range(_PROJECTIONS):
            state.v[:] = 0.0
            _, _, gap, worst = step(
                self._tables, self._constraints, self._work, state.q, state.v, state.work, state.y, 0.0, _INSTANT,
                0.8, 1e-6, 1000, int(NO_BUDGET), self._options[4] != 0.0,
            )  # fmt: skip
            if gap < (_OPEN if trial == 0 else _CLOSED):
                return
        name = self._row_name(worst) or ""
        raise ModelError(
            [
                Problem(
                    f"joint '{name.partition(':')[0]}'",
                    f"stays open by {gap:.3g} ({name.partition(': ')[2]}): the loop that it closes cannot be assembled "
                    "from this start; correct the start positions or the lengths around it",
                )
            ]
        )

    def advance(self, targets: Sequence[float]) -> tuple[int, int, Block]:
        steps = np.array(targets, np.int64)
        out = (*_samples(len(targets), self.system), *self._joint_samples(len(targets)))
        done, status = run_impulses(
            self._tables, self._constraints, self._work, self.state, self._stats, self._dt, self._options,
            steps, *out,
        )  # fmt: skip
        return done, status, out

    def change_step(self, dt: float) -> None:
        self._constraints.rows["p"] *= dt / self._dt  # the forces go on, so the impulses scale
        super().change_step(dt)

    def memory(self) -> dict[str, Array]:
        constraints = self._constraints
        return {
            "impulses": constraints.rows["p"],
            "coordinates": constraints.coords["value"],
            "commands": constraints.inputs,
            "stats": self._stats,
        }

    def _joint_samples(self, count: int) -> tuple[Array, Array, Array]:
        coords = len(self._constraints.coords)
        return np.empty((count, coords)), np.empty((count, coords)), np.empty((count, 3))

    def now(self) -> Block:
        values, rates, solver = self._joint_samples(1)
        q, v = self.state.q, self.state.v
        strain = read_joints(self._tables, self._constraints, q, v, values[0], rates[0])
        solver[0] = strain, self._stats[5], self._stats[7]
        return (*super().now(), values, rates, solver)

    def read(self, name: str) -> float:
        for group, data in zip(self.observer.groups[:2], self.observer.joints(self.now()), strict=True):
            if name in group.columns:
                return float(data[0, group.columns.index(name)])
        known = [column for group in self.observer.groups[:2] for column in group.columns]
        raise LinkworkError(f"there is no coordinate or rate '{name}'{nearest(name, known)}")

    def strain(self) -> float:
        return float(self.now()[6][0, 0])

    def info(self) -> dict[str, Any]:
        return {"integrator": "euler", **self._settings}

    def report(self) -> dict[str, Any]:
        """The last step: iterations, whether it was cut short, largest gap and its row."""
        iterations, cut, gap, worst = self._stats[5:]
        return {
            "iterations": int(iterations),
            "cut_short": bool(cut),
            "gap": float(gap),
            "worst_row": self._row_name(worst),
        }

    def outcome(self) -> dict[str, Any]:
        steps = max(int(self.state.counts[1]), 1)
        now = [name for name, flag in zip(self._rows.names, self._work.dropped, strict=True) if flag]
        return {
            "iterations_mean": float(self._stats[0]) / steps,
            "iterations_max": int(self._stats[1]),
            "steps_cut_short": int(self._stats[2]),
            "worst_gap_m": float(self._stats[3]),
            "worst_row": self._row_name(self._stats[4]),
            "degenerate_rows": [*self._degenerate, *now],
        }

    def warnings(self) -> list[str]:
        cut = int(self._stats[2])
        if not cut:
            return []
        worst = f"; the largest gap is {self._stats[3]:.2g} m in {self._row_name(self._stats[4])}"
        limits = f"{self._settings['iterations']} iterations or the time budget"
        return [f"{cut} steps ended at {limits} before impulses settled{worst}"]

    def _row_name(self, index: float) -> str | None:
        return self._rows.names[int(index)] if index >= 0 and self._rows.names else None

    def command(self, drive: str, value: float) -> None:
        if drive not in self._rows.drives:
            raise LinkworkError(f"there is no drive '{drive}'{nearest(drive, self._rows.drives)}")
        if not np.isfinite(value):
            raise LinkworkError(f"the command of drive '{drive}' must be a finite number, not {value}")
        self._constraints.inputs[self._rows.drives.index(drive)] = value


class DirectMethod(Method):
    """The direct solver, in generalized (`simgc`) or maximal coordinates (`simmc`): loops closed to rounding.

    `integrator`: "adams" (order four, one evaluation a step), "rk4", "adaptive" (order five, keeps the local error at
    `tolerance`) or "euler" (impulses, order one); `budget`: time a step should take at most [s].
    """

    def __init__(
        self, model: Model, name: str, integrator: str, dt: float, tolerance: float, budget: float | None
    ):
        self.name = name
        maximal = name == "simmc"
        self.adaptive = integrator == "adaptive"
        self.system = compile_model(model, rows=True, maximal=maximal)
        self._q0, self._v0 = self.system.q0, self.system.v0
        if maximal:
            self._q0, self._v0 = floating_start(model, self.system)
        self._dt, self._integrator, self._tolerance, self._budget = dt, integrator, tolerance, budget
        self._all = self.system.rows
        self._rows, self._redundant = select_rows(self.system, self._q0)
        self._tables = self.system.fresh_tables()
        self._work = new_work(self._tables, self._rows.constraints)
        tableau = dormand_prince() if self.adaptive else rk4()
        self._tableau = np.vstack([tableau.a, tableau.b, tableau.c, tableau.e])
        self.observer: RowObserver = RowObserver(self.system)
        self.reset()

    def reset(self) -> None:
        self._stats = np.zeros(layout.STATS)
        self._stats[[layout.RATIO, layout.RATIO_ROW, layout.GAP_ROW]] = np.inf, -1.0, -1.0
        self._constraints = self._rows.fresh()
        self._every_row = self._constraints._replace(rows=self._all.fresh().rows)
        settle(self._tables, self._constraints, self._q0)
        settle(self._tables, self._every_row, self._q0)
        nv = self.system.nv
        motion = layout.new_motion(self.system.nq, nv, len(self._constraints.inputs))
        motion.q[layout.NOW] = self._q0
        motion.y[layout.NOW, nv : 2 * nv] = self._v0
        start = new_state(self._q0, self._v0)
        now = motion.y[layout.NOW]
        self.state = start._replace(q=motion.q[layout.NOW], v=now[nv : 2 * nv], work=now[2 * nv :])
        self.state.clock[1] = self._dt
        self._motion = motion
        self._options = self._choose()

    def _choose(self) -> Array:
        """What the kernel is told; parts too stiff for the step are taken implicitly, and Adams' method left."""
        rows = self._constraints.rows
        rows["stiff"] = 0
        code = {"euler": stepping.EULER, "rk4": stepping.RUNGE_KUTTA, "adams": stepping.ADAMS, "adaptive": stepping.ADAPTIVE}[self._integrator]
        bounded = np.isin(rows["role"], (LIMIT, FRICTION)) | (
            np.isin(rows["role"], (SERVO_RATE, SERVO_PLACE)) & np.isfinite(rows["value"][:, 0])
        )
        ticks = NO_BUDGET if self._budget is None else self._budget * cycles_per_second()
        return np.array([code, bounded.any(), self._tolerance, ticks])

    def advance(self, targets: Sequence[float]) -> tuple[int, int, Block]:
        out = (*_samples(len(targets), self.system), *self._joint_samples(len(targets)))
        done, status = stepping.run_direct(
            self._tables, self._constraints, self._every_row, self._work, self._motion, self.state.clock,
            self.state.counts, self._tableau, self._stats, self._dt, self._options, np.array(targets, float),
            layout.Samples(*out),
        )  # fmt: skip
        return done, status, out

    def change_step(self, dt: float) -> None:
        super().change_step(dt)
        self._options = self._choose()
        self._motion.seen[:] = np.nan

    def _joint_samples(self, count: int) -> tuple[Array, ...]:
        coords, rows = len(self._constraints.coords), len(self._constraints.rows)
        return (
            np.empty((count, coords)), np.empty((count, coords)), np.empty((count, 3)),
            np.empty((count, self.system.nv)), np.empty((count, rows)),
        )  # fmt: skip

    def now(self) -> Block:
        done, status, out = self.advance([self.state.clock[2] if self.adaptive else self.state.counts[0]])
        return out

    def outcome(self) -> dict[str, Any]:
        s = self._stats
        steps = max(int(self.state.counts[1]), 1)
        return {
            "evaluations": int(s[layout.EVALUATIONS]), "evaluations_mean": s[layout.EVALUATIONS] / steps,
            "events": int(s[layout.EVENTS]), "euler": int(s[layout.EULER_STEPS]), "redone": int(s[layout.REDONE]),
            "unsettled": int(s[layout.UNSETTLED]),
            "worst_gap_m": s[layout.GAP], "ratio": s[layout.RATIO], "redundant_rows": self._redundant,
        }


def select_rows(system: System, q0: Array) -> tuple[RowTable, tuple[str, ...]]:
    table, degenerate = without_degenerate(system)
    reduced = dataclasses.replace(system, rows=table)
    mech = Kinematics(reduced)
    mech.place(q0)
    J = mech.jacobian(mech.hold)
    keep = independent(J)
    hold = mech.hold[keep]
    drop = set(mech.hold) - set(hold)
    chosen = [i for i in range(len(table.names)) if i not in drop]
    constraints = table.constraints._replace(rows=table.constraints.rows[chosen])
    order = elimination_order(touched(system.tables, constraints))
    constraints = constraints._replace(rows=constraints.rows[order])
    names = [table.names[i] for i in chosen]
    result = dataclasses.replace(table, constraints=constraints, names=tuple(names[i] for i in order))
    return result, (*degenerate, *(table.names[i] for i in sorted(drop)))


def independent(J: Array, tolerance: float = 1e-8) -> Array:
    """Rows of J that are independent, picked by Gram-Schmidt with pivoting; sorted."""
    rest = J / np.maximum(np.linalg.norm(J, axis=1, keepdims=True), 1e-300)
    chosen = []
    size = np.einsum("ij,ij->i", rest, rest)
    for _ in range(min(J.shape)):
        i = int(np.argmax(size))
        if size[i] <= tolerance:
            break
        chosen.append(i)
        u = rest[i] / np.sqrt(size[i])
        rest = rest - np.outer(rest @ u, u)
        size = np.einsum("ij,ij->i", rest, rest)
        size[chosen] = 0.0
    return np.array(sorted(chosen), np.int64)


def row_features(flat: Flat) -> list[str]:
    """What in a model needs constraints, by name."""
    _, cuts, _ = spanning_tree(flat)
    found = [f"joint '{joint.name}' closes a loop" for joint in cuts]
    for joint in flat.joints.values():
        if joint.limits is not None:
            found.append(f"joint '{joint.name}' has limits")
        if any(joint.per_rate("friction")):
            found.append(f"joint '{joint.name}' has dry friction")
    found += [f"drive '{name}' acts on a joint" for name in flat.drives]
    found += [f"'{name}' couples joints" for name in flat.couplings]
    return found


def without_degenerate(system: System) -> tuple[RowTable, tuple[str, ...]]:
    """The rows of a system less those that no motion of its tree can ever change, and the names of these.

    A row in joint space is an analytic function of the coordinates: if it vanishes at a few random poses, it vanishes
    everywhere. Planar mechanisms built from spatial joints are full of such rows.
    """
    assert system.rows is not None
    tables, constraints = system.fresh_tables(), system.rows.fresh()
    rows = constraints.rows
    moved = np.zeros(len(rows), bool)
    x, random = np.zeros(system.nv), np.random.default_rng(0)
    for _ in range(_PROBES):
        q = np.array(system.q0)
        q += random.normal(size=system.nq)
        place(tables.dofs, tables.islands, q, np.zeros(system.nv))
        measure(tables, constraints, q)
        for i in range(len(rows)):
            size = project_row(tables.dofs, constraints, rows[i], x)
            moved[i] |= bool(np.abs(x).max(initial=0.0) > DEGENERATE * size)
    keep = np.flatnonzero(moved)
    names = system.rows.names
    kept = system.rows.constraints._replace(rows=system.rows.constraints.rows[keep])
    table = dataclasses.replace(system.rows, constraints=kept, names=tuple(names[i] for i in keep))
    return table, tuple(name for name, alive in zip(names, moved, strict=True) if not alive)


def settle(tables: Any, constraints: Any, q: Array) -> None:
    """Start of the rows: couplings hold the joints in the relation that they start in."""
    place(tables.dofs, tables.islands, q, np.zeros(len(tables.dofs) - 1))
    measure(tables, constraints, q)
    for row in constraints.rows:
        if row["kind"] == COORDINATE and row["role"] == HOLD:
            row["offset"] += row["phi"]


def floating_start(model: Model, system: System) -> tuple[Array, Array]:
    """Coordinates and rates of floating bodies for the start of the tree."""
    flat = model.flatten()
    tree = compile_model(model)
    tables = tree.fresh_tables()
    place(tables.dofs, tables.islands, tree.q0, tree.v0)
    q, v = system.q0.copy(), system.v0.copy()
    for index, (name, body) in enumerate(flat.bodies.items()):
        p, R = (np.array(part) for part in body_pose(tables, index))
        w, u = (np.array(part) for part in body_twist(tables, index))
        R = R.reshape(3, 3)
        com = body.mass_properties.com
        written = np.array(body.at) + matrix(body.rotation) @ com
        turn = R @ matrix(body.rotation).T
        placed = next(j for j in system.joints.values() if j.joint.b == name and j.dofs)
        q[placed.q] = [*(p + R @ com - written), *quaternion(turn)]
        v[placed.v] = [*(u + np.cross(w, R @ com)), *(turn.T @ w)]
    return q, v


def _samples(count: int, system: System) -> tuple[Array, Array, Array, Array]:
    return np.empty(count), np.empty((count, system.nq)), np.empty((count, system.nv)), np.empty((count, 2))
