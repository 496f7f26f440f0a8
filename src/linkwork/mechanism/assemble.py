"""Assembly: a start that is a little off becomes one that every loop and coupling agrees with.

Positions: damped Gauss-Newton steps of least displacement close the loops, then steps along them go back as near to
what was written as the loops allow. Rates: the projection on J v = 0 that changes kinetic energy least. Redundant rows
and singular positions are harmless: every solution is by singular values.

What a model says of its start counts in this order: positions of joints in the tree, positions of joints that close
loops, everything that was not written. So a mechanism of which only the crank's position is written starts there, and
the rest follows; if what is written does not fit together, all of it gives way a little. Rates likewise.

A coupling holds the relation that its joints are *written* in: its offset is settled before assembly moves anything, so
that assembly never changes what a repeater keeps.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..compile.rank import ROOM, null_space
from ..compile.spanning import FLOATING
from ..compile.system import System
from ..engine.tables import BALL_AXIS, COORDINATE, DOT, HOLD, LIMIT, ROW, SPIN
from ..model.errors import ModelError, Problem
from ..model.joints.base import AX, AY, BX, BY, BZ
from ..model.rotation import Array
from .closure import CLOSED, Closure, difference, loop_of, row_units
from .kinematics import Kinematics

ACCEPTED = ROOM
"""What may stay open, as a share of the mechanism's size: loops that only rounded numbers keep from closing."""
_CONSISTENT = 1e-9  # rates that miss a row by less, relative to what adds up in it, are left as they are
_DEAD = 1e-4  # rates that the loops move less than this, while others move by one, cannot be prescribed
_FIRM = 100.0  # how much more a written coordinate resists than one that was not written
_RESTARTS, _NUDGE, _ASIDE = 4, 0.05, 1.0  # from where no small motion helps; how far such an assembly may lie
_SHOWN = 4  # coordinates and rates that a report names
_TOLD = 1e-9  # changes below this are not worth telling
_STRONG = 0.01  # a share by which a written rate changes that the user should know about


class Gap(NamedTuple):
    """How far a row is from closed."""

    size: float
    row: str
    unit: str

    @property
    def owner(self) -> str:
        """The joint or coupling that the row belongs to."""
        return self.row.partition(": ")[0]


class Change(NamedTuple):
    """A number of the start that assembly changed."""

    name: str
    before: float
    after: float
    unit: str

    @property
    def by(self) -> float:
        return self.after - self.before

    @property
    def label(self) -> str:
        """Its name without the mark of floating bodies."""
        return self.name.removeprefix(FLOATING)


@dataclass
class Assembly:
    """A start that satisfies every loop, and what had to change for it."""

    q: Array
    v: Array
    gap_before: Gap
    gap_after: Gap
    moved: list[Change] = field(default_factory=list)
    """Coordinates that changed by more than 1e-9, those that moved most first."""
    rates_changed: list[Change] = field(default_factory=list)
    """Rates that changed by more than 1e-9, those that changed most first."""
    contradicted: list[Change] = field(default_factory=list)
    """Written rates, not zero, that changed by more than 1 %; written starts of closing joints that had to give way."""
    beyond: list[Gap] = field(default_factory=list)
    """Limits that this start violates, and by how much."""
    gave_way: bool = False
    """Something that was written had to change, not only what was left open."""

    @property
    def changed(self) -> bool:
        """Whether the start is not the one that was written."""
        return bool(self.moved or self.rates_changed)

    def report(self) -> list[str]:
        """What changed, in words; empty if the start was right as written."""
        lines = []
        if self.moved:
            gap = self.gap_before
            first, *others = [_told(change, "moved") for change in self.moved[:_SHOWN]]
            lines.append(
                f"assembled: {first}; the largest gap was {gap.size:.3g} {gap.unit} in {_kind(gap.owner)}"
                if gap.size > CLOSED
                else f"assembled: {first}"
            )
            lines += [f"assembled: {text}" for text in others]
            lines += _more(self.moved, "coordinates moved")
        if self.gap_after.size > CLOSED and self.changed:
            gap = self.gap_after
            lines.append(f"assembled: {_kind(gap.owner)} stays open by {gap.size:.3g} {gap.unit}")
        told = {change.name for change in self.contradicted}
        lines += [
            f"start: '{change.label}' starts at {change.after:.6g} {change.unit}, not at {change.before:.6g} as "
            "written: the loops contradict it"
            for change in self.contradicted[:_SHOWN]
        ]
        lines += _more(self.contradicted, "written starts contradict the loops")
        followed = [change for change in self.rates_changed if change.name not in told]
        if followed:
            listed = ", ".join(
                f"'{c.label}' {c.before:.6g} → {c.after:.6g} {c.unit}" for c in followed[:_SHOWN]
            )
            rest = f" and {len(followed) - _SHOWN} more" if len(followed) > _SHOWN else ""
            lines.append(f"rates follow the loops: {listed}{rest}")
        if lines:
            lines += [
                f"start: {gap.row.replace(': ', ' is beyond its ')} by {gap.size:.3g} {gap.unit}"
                for gap in self.beyond[:_SHOWN]
            ]
        return lines


def _told(change: Change, verb: str) -> str:
    unit = "" if change.unit == "1" else f" {change.unit}"  # of a quaternion
    return (
        f"'{change.label}' {verb} by {change.by:.3g}{unit} (from {change.before:.6g} to {change.after:.6g})"
    )


def _more(changes: Sequence[Change], what: str) -> list[str]:
    return [f"assembled: and {len(changes) - _SHOWN} more {what}"] if len(changes) > _SHOWN else []


def _kind(owner: str) -> str:
    return f"joint '{owner}'"


def assemble(system: System, q0: Array | None = None, v0: Array | None = None) -> Assembly:
    """A start of a system compiled with rows that closes every loop and keeps every coupling.

    By default from the start of the system, where what the model's joints say of their position and velocity has
    precedence over what they leave open. A start given as `q0` and `v0` counts alike in all its numbers. Raises a
    ModelError that names the joint which stays open.
    """
    assert system.rows is not None
    q_written = np.array(system.q0 if q0 is None else q0, float)
    v_written = np.array(system.v0 if v0 is None else v0, float)
    positions = _Wishes(system, "position") if q0 is None else None
    velocities = _Wishes(system, "velocity") if v0 is None else None
    closure = Closure(system, q_written)
    before = _largest(system, closure, q_written)
    q, unmet = _assemble_positions(system, closure, q_written, positions)
    after = _largest(system, closure, q)
    _refuse_open(system, closure, q)
    v, unmet_rates = _assemble_rates(system, closure, q, v_written, velocities)
    moved = _changes(system.coordinates, q_written, q)
    rates = _changes(system.rates, v_written, v)
    strong = [c for c in rates if abs(c.by) > _STRONG * abs(c.before) > 0.0]
    contradicted = [*unmet, *strong, *unmet_rates]
    shifted = np.abs(difference(system, q_written, q)) > _TOLD
    gave_way = bool(contradicted) or bool(
        shifted[slice(None) if positions is None else positions.columns].any()
    )
    return Assembly(q, v, before, after, moved, rates, contradicted, _beyond(system, closure, q), gave_way)


class _Wishes:
    """What the joints of a model say of one field of the start: columns of the tree, and rows of closing joints."""

    def __init__(self, system: System, field: str):
        assert system.rows is not None
        self.columns = np.zeros(system.nv, bool)
        rows: list[Any] = []
        self.names: list[str] = []
        self.units: list[str] = []
        self.values: list[float] = []
        coord = 0
        for joint in system.rows.joints:
            placed = system.joints.get(joint.name)
            written = getattr(joint, field) is not None
            if written and placed is not None and placed.in_tree:
                self.columns[placed.v] = True
            elif written:
                values = _rotation_vectors(joint) if field == "position" else joint.per_rate(field)
                for k, name in enumerate(joint.rates):
                    row: Any = np.zeros((), ROW)
                    row["kind"], row["role"], row["sign"] = COORDINATE, HOLD, 1.0
                    row["first"], row["offset"] = coord + k, values[k]
                    row["pair"] = row["second"] = row["input"] = row["signal"] = -1
                    record = system.rows.constraints.coords[coord + k]
                    if (
                        field == "velocity" and record["how"] == BALL_AXIS
                    ):  # angular velocity, about axes of B
                        row["kind"], row["pair"], row["alpha"] = SPIN, record["pair"], BX + record["pick"][4]
                    rows.append(row)
                    rate = f"{joint.name}.{name}"
                    self.names.append(rate if field == "velocity" else rate.removesuffix("_rate"))
                    self.values.append(values[k])
                self.units += [
                    m.rate_unit if field == "velocity" else m.rate_unit.removesuffix("/s")
                    for m in joint.motions()
                    for _ in m.rates
                ]
            coord += len(joint.rates)
        table = np.zeros(len(rows), ROW)
        for i, row in enumerate(rows):
            table[i] = row
        kept = system.rows.constraints.rows
        constraints = system.rows.constraints._replace(rows=np.concatenate([kept, table]).view(type(kept)))
        self.rows: Any = np.arange(len(kept), len(kept) + len(rows))
        self.system = dataclasses.replace(
            system,
            rows=dataclasses.replace(
                system.rows, constraints=constraints, names=(*system.rows.names, *self.names)
            ),
        )


def _rotation_vectors(joint: Any) -> list[float]:
    """The written position of a joint, one number per rate: of a quaternion, its rotation vector."""
    numbers, i = list(joint.start()), 0
    values: list[float] = []
    for motion in joint.motions():
        part = numbers[i : i + len(motion.coordinates)]
        i += len(part)
        if motion.ball:
            w, u = part[0], np.array(part[1:])
            sine = float(np.linalg.norm(u))
            turn = 2.0 * np.arctan2(sine, abs(w)) * (1.0 if w >= 0.0 else -1.0)
            values += (turn / sine * u).tolist() if sine > 0.0 else [0.0, 0.0, 0.0]
        else:
            values += part
    return values


# --- positions ---


def _assemble_positions(
    system: System, closure: Closure, written: Array, wishes: _Wishes | None
) -> tuple[Array, list[Change]]:
    """The assembled pose, and the wishes for closing joints that it could not fulfil."""
    wanted = None
    if wishes is not None and len(wishes.rows):
        wanted = Closure(wishes.system, written)
        # Settling took the wishes for couplings too; they are relations to numbers, not to what the start reads.
        wanted.kin.constraints.rows["offset"][wishes.rows] = wishes.values
    closed = float(np.abs(closure.within_reach(written) * closure.row_scale).max(initial=0.0)) <= CLOSED
    if closed and (wanted is None or _met(wanted, written)):
        return written, []
    fixed = closure.reach.copy()
    if wishes is not None:
        fixed[wishes.columns] = 0.0
        firm = closure.reach / np.where(wishes.columns, _FIRM, 1.0)
    else:
        firm = closure.reach
    if wanted is not None:
        q, gap = wanted.close(written, fixed)
        if gap <= CLOSED:
            return wanted.close(wanted.nearest(q, written, fixed), fixed)[0], []
    unmet: list[Change] = []
    if closed:
        q = written
    else:
        some = bool((fixed > 0.0).any()) and bool((fixed == 0.0).any())
        for reach in (fixed, firm, closure.reach) if some else (closure.reach,):
            closure.forget()
            q, gap = closure.close(written, reach)
            if gap <= CLOSED:
                q = closure.nearest(q, written, reach)
                break
        else:
            q = _from_beside(closure, written, q)
        q, _ = closure.close(q, reach)  # to rounding
    if wanted is not None and wishes is not None:
        closure_gaps = wanted.gaps(q) * wanted.row_scale
        mine = closure_gaps[np.searchsorted(wanted.rows, wishes.rows)]
        unmet = [
            Change(name, value, value + float(gap), unit)
            for name, value, gap, unit in zip(wishes.names, wishes.values, mine, wishes.units, strict=True)
            if abs(gap) > _TOLD
        ]
    return q, unmet


def _met(wanted: Closure, q: Array) -> bool:
    return float(np.abs(wanted.within_reach(q) * wanted.row_scale).max()) <= CLOSED


def _from_beside(closure: Closure, written: Array, best: Array) -> Array:
    """Try again from poses beside the start: at a singular one the way out may be square to every gap."""
    random = np.random.default_rng(0)
    for trial in range(_RESTARTS):
        closure.forget()
        nudge = random.normal(size=len(closure.reach)) * _NUDGE * (1 + trial)
        q, gap = closure.close(closure.kin.moved(written, closure.reach * nudge))
        if gap <= CLOSED:
            q = closure.nearest(q, written)
            if np.abs(difference(closure.system, written, q) / closure.reach).max() <= _ASIDE:
                return q
    return best


def _largest(system: System, closure: Closure, q: Array) -> Gap:
    gaps = np.abs(closure.gaps(q))
    if not len(gaps):
        return Gap(0.0, "", "m")
    i = int(np.argmax(gaps))
    return Gap(float(gaps[i] * closure.row_scale[i]), closure.kin.names[closure.rows[i]], closure.units[i])


def _refuse_open(system: System, closure: Closure, q: Array) -> None:
    """Raise if a joint is open at the assembled pose, or closed the wrong way round."""
    assert system.rows is not None
    gaps = closure.gaps(q)
    rows = closure.kin.constraints.rows[closure.rows]
    allowed = ACCEPTED * np.where(closure.row_scale == 1.0, 1.0, np.minimum(1.0, 1.0 / closure.length))
    if (np.abs(gaps) > allowed).any():
        worst: dict[tuple[int, str], float] = defaultdict(float)
        for row, gap, unit in zip(rows, gaps, closure.units, strict=True):
            worst[int(row["group"]), unit] += gap * gap
        group, unit = max(worst, key=worst.__getitem__)
        size = np.sqrt(worst[group, unit]) * (closure.length if unit == "m" else 1.0)
        named = closure.kin.names[closure.rows[int(np.flatnonzero(rows["group"] == group)[0])]].partition(":")
        if group >= len(system.rows.joints):
            where, loop = f"coupling '{named[0]}'", "the relation that it keeps"
        else:
            where, loop = f"joint '{named[0]}'", f"the loop that it closes{_through(system, named[0])}"
        raise ModelError(
            [
                Problem(
                    where,
                    f"stays open by {size:.3g} {unit}: {loop} cannot be assembled from this start; correct the start "
                    "positions or the lengths around it",
                )
            ]
        )
    reversed_ = _reversed(closure, rows)
    if reversed_:
        raise ModelError(
            Problem(
                f"joint '{name}'",
                f"would close half a turn from where it belongs, its axes reversed: the loop{_through(system, name)} "
                "cannot be assembled from this start; correct the start positions around it",
            )
            for name in reversed_
        )


def _reversed(closure: Closure, rows: Any) -> list[str]:
    """Joints whose axes are parallel but point against each other: their equations cannot tell, only the frames can."""
    held: dict[int, set[tuple[int, int]]] = defaultdict(set)
    names = {}
    for row, i in zip(rows, closure.rows, strict=True):
        if row["kind"] == DOT:
            held[int(row["pair"])].add((int(row["alpha"]), int(row["beta"])))
            names[int(row["pair"])] = closure.kin.names[i].partition(":")[0]
    found = []
    for pair, equations in held.items():
        record = closure.kin.constraints.pairs[pair]
        turn = (record["R_A"].reshape(3, 3) * record["R_B"].reshape(3, 3)).sum(
            axis=0
        )  # cosines between like axes
        along = {(AX, BZ), (AY, BZ)} <= equations
        if along and (turn[2] < 0.0 or ((AX, BY) in equations and turn[0] < 0.0)):
            found.append(names[pair])
    return found


def _through(system: System, name: str) -> str:
    joints = [p.joint for p in system.joints.values() if not p.name.startswith(FLOATING)]
    path = loop_of(joints, system.joints[name].joint)
    if not path:
        return ""
    shown = path if len(path) <= 6 else [*path[:3], "...", *path[-2:]]
    return f" (through {', '.join(shown)})"


# --- rates ---


def _assemble_rates(
    system: System, closure: Closure, q: Array, written: Array, wishes: _Wishes | None
) -> tuple[Array, list[Change]]:
    """Rates on J v = 0, and the wishes for closing joints that they could not fulfil."""
    closure.gaps(q)
    J = closure.gradients()
    K, values = np.zeros((0, system.nv)), np.zeros(0)
    if wishes is not None and len(wishes.rows):
        kin = Kinematics(wishes.system)
        kin.place(q)
        K, values = kin.jacobian(wishes.rows), np.array(wishes.values)
    if _consistent(J, written, np.zeros(len(J))) and _consistent(K, written, values):
        return written, []
    scaled = closure.dimensionless()
    H = closure.kin.inertia()
    motions = closure.strides[:, None] * null_space(scaled)
    c, left = np.zeros(motions.shape[1]), np.eye(motions.shape[1])
    loose = np.abs(scaled).max(axis=0, initial=0.0) == 0.0
    if wishes is not None and not (wishes.columns | loose).all():
        # What was not written follows what was: joints of the tree first, then those that close loops.
        firm = wishes.columns | loose
        if firm.any():
            metric = np.linalg.cholesky(H[np.ix_(firm, firm)]).T.astype(float)
            c, left = _towards(c, left, motions[firm], written[firm], closure.reach[firm], metric)
        if len(K):
            units = np.array([closure.length if unit == "m/s" else 1.0 for unit in wishes.units])
            c, left = _towards(c, left, K @ motions, values, units, np.diag(1.0 / units).astype(float))
    inertia = left.T @ motions.T @ H @ motions @ left
    c = c + left @ np.linalg.solve(inertia, left.T @ motions.T @ H @ (written - motions @ c))
    v = motions @ c
    # Rates that no row touches, exactly as they were.
    same = np.abs(v - written) <= 1e-13 * max(float(np.abs(v).max(initial=0.0)), 1e-300)
    v[same] = written[same]
    unmet = []
    if len(K) and wishes is not None:
        got = K @ v
        unmet = [
            Change(name, value, float(rate), unit)
            for name, value, rate, unit in zip(wishes.names, values.tolist(), got, wishes.units, strict=True)
            if abs(rate - value) > _STRONG * abs(value) > 0.0
        ]
    return v, unmet


def _consistent(J: Array, v: Array, wanted: Array) -> bool:
    sums = np.abs(J) @ np.abs(v) + np.abs(wanted)
    return bool((np.abs(J @ v - wanted) <= _CONSISTENT * sums).all())


def _towards(c: Array, left: Array, A: Array, b: Array, units: Array, metric: Array) -> tuple[Array, Array]:
    """Least squares of A c = b, measured by a metric, in the directions left; the solution and what it leaves open.

    Near a dead point a rate is not fulfilled by ten thousand times as much elsewhere.
    """
    if not left.shape[1]:
        return c, left
    _, s, Vt = np.linalg.svd(A @ left / units[:, None])
    rank = int((s > _DEAD).sum())
    seen = left @ Vt[:rank].T
    e = np.linalg.lstsq(metric @ A @ seen, metric @ (b - A @ c), rcond=None)[0]
    return c + seen @ e, left @ Vt[rank:].T


# --- what to tell ---


def _changes(columns: Sequence[Any], before: Array, after: Array) -> list[Change]:
    found = [
        Change(column.name, float(a), float(b), column.unit)
        for column, a, b in zip(columns, before, after, strict=True)
        if abs(b - a) > _TOLD
    ]
    return sorted(found, key=lambda change: -abs(change.by))


def _beyond(system: System, closure: Closure, q: Array) -> list[Gap]:
    closure.gaps(q)
    rows, units = closure.kin.constraints.rows, row_units(system)
    over = [
        Gap(float(-rows["phi"][i]), closure.kin.names[i], units[i])
        for i in np.flatnonzero((rows["role"] == LIMIT) & (rows["phi"] < -_TOLD))
    ]
    return sorted(over, key=lambda gap: -gap.size)
