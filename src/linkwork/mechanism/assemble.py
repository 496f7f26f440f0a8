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

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..compile.rank import ROOM
from ..compile.spanning import FLOATING
from ..compile.system import System
from ..engine.tables import DOT, LIMIT
from ..model.errors import ModelError, Problem
from ..model.joints.base import AX, AY, BY, BZ
from ..model.rotation import Array
from .assemble_rates import STRONG, assemble_rates
from .assembly import Assembly, Change, Gap
from .closure import CLOSED, Closure, difference, loop_of
from .wishes import Wishes

_FIRM = 100.0  # how much more a written coordinate resists than one that was not written
_RESTARTS, _NUDGE, _ASIDE = 4, 0.05, 1.0  # from where no small motion helps; how far such an assembly may lie
_SMALL = 1e-9  # changes below this are not worth telling


def assemble(system: System, q0: Array | None = None, v0: Array | None = None) -> Assembly:
    """A start of a system compiled with rows that closes every loop and keeps every coupling.

    By default from the start of the system, where what the model's joints say of their position and velocity has
    precedence over what they leave open. A start given as `q0` and `v0` counts alike in all its numbers. Raises a
    ModelError that names the joint which stays open.
    """
    q_written = np.array(system.q0 if q0 is None else q0, float)
    v_written = np.array(system.v0 if v0 is None else v0, float)
    positions = Wishes(system, "position") if q0 is None else None
    velocities = Wishes(system, "velocity") if v0 is None else None
    closure = Closure(system, q_written)
    before = _largest(closure, q_written)
    q, unmet = _assemble_positions(system, closure, q_written, positions)
    after = _largest(closure, q)
    _refuse_open(system, closure, q)
    v, unmet_rates = assemble_rates(system, closure, q, v_written, velocities)
    moved = _changes(system.coordinates, q_written, q)
    rates = _changes(system.rates, v_written, v)
    strong = [c for c in rates if abs(c.by) > STRONG * abs(c.before) > 0.0]
    contradicted = [*unmet, *strong, *unmet_rates]
    shifted = np.abs(difference(system, q_written, q)) > _SMALL
    gave_way = bool(contradicted) or bool(
        shifted[slice(None) if positions is None else positions.columns].any()
    )
    return Assembly(q, v, before, after, moved, rates, contradicted, _beyond(closure, q), gave_way)


def _assemble_positions(
    system: System, closure: Closure, written: Array, wishes: Wishes | None
) -> tuple[Array, list[Change]]:
    """The assembled pose, and the wishes for closing joints that it could not fulfil."""
    wanted = None
    if wishes is not None and len(wishes.rows):
        wanted = Closure(wishes.system, written)
        # Settling took the wishes for couplings too; they are relations to numbers, not to what the start reads.
        wanted.kin.constraints.rows["offset"][wishes.rows] = wishes.values
    closed = _closed(closure, written)
    if closed and (wanted is None or _closed(wanted, written)):
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
        mine = wanted.gaps(q)[np.searchsorted(wanted.rows, wishes.rows)]
        unmet = [
            Change(name, value, value + float(gap), unit)
            for name, value, gap, unit in zip(wishes.names, wishes.values, mine, wishes.units, strict=True)
            if abs(gap) > _SMALL
        ]
    return q, unmet


def _closed(closure: Closure, q: Array) -> bool:
    gaps = closure.within_reach(q) * closure.row_scale[closure.rows]
    return float(np.abs(gaps).max(initial=0.0)) <= CLOSED


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


def _largest(closure: Closure, q: Array) -> Gap:
    gaps = np.abs(closure.gaps(q))
    if not len(gaps):
        return Gap(0.0, "", "m")
    i = int(np.argmax(gaps / closure.row_scale[closure.rows]))
    row = closure.rows[i]
    return Gap(float(gaps[i]), closure.kin.names[row], str(closure.units[row]))


def _changes(columns: Sequence[Any], before: Array, after: Array) -> list[Change]:
    found = [
        Change(column.name, float(a), float(b), column.unit)
        for column, a, b in zip(columns, before, after, strict=True)
        if abs(b - a) > _SMALL
    ]
    return sorted(found, key=lambda change: -abs(change.by))


def _beyond(closure: Closure, q: Array) -> list[Gap]:
    closure.gaps(q)
    rows = closure.kin.constraints.rows
    over = [
        Gap(float(-rows["phi"][i]), closure.kin.names[i], str(closure.units[i]))
        for i in np.flatnonzero((rows["role"] == LIMIT) & (rows["phi"] < -_SMALL))
    ]
    return sorted(over, key=lambda gap: -gap.size)


def _refuse_open(system: System, closure: Closure, q: Array) -> None:
    """Raise if a joint is open at the assembled pose, or closed the wrong way round."""
    gaps, scale = closure.gaps(q), closure.row_scale[closure.rows]
    rows = closure.kin.constraints.rows[closure.rows]
    if (np.abs(gaps) > ROOM * np.minimum(1.0, scale)).any():
        worst: dict[tuple[int, str], float] = defaultdict(float)
        for row, gap, unit in zip(rows, gaps / scale, closure.units[closure.rows], strict=True):
            worst[int(row["group"]), unit] += gap * gap
        group, unit = max(worst, key=worst.__getitem__)
        size = np.sqrt(worst[group, unit]) * (closure.length if unit == "m" else 1.0)
        named = closure.kin.names[closure.rows[int(np.flatnonzero(rows["group"] == group)[0])]].partition(":")
        if group >= len(system.row_table.joints):
            where, loop = f"coupling '{named[0]}'", "the relation that it keeps"
        else:
            where, loop = f"joint '{named[0]}'", f"the loop that it closes{_through(system, named[0])}"
        advice = "cannot be assembled from this start; correct the start positions or the lengths around it"
        raise ModelError([Problem(where, f"stays open by {size:.3g} {unit}: {loop} {advice}")])
    advice = "cannot be assembled from this start; correct the start positions around it"
    problems = [
        Problem(
            f"joint '{name}'",
            "would close half a turn from where it belongs, its axes reversed: "
            f"the loop{_through(system, name)} {advice}",
        )
        for name in _reversed(closure, rows)
    ]
    if problems:
        raise ModelError(problems)


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
        # Cosines between like axes.
        turn = (record["R_A"].reshape(3, 3) * record["R_B"].reshape(3, 3)).sum(axis=0)
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
