"""What functions of a state are computed from: tables, rows and scratch of a model, and how it starts."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..compile.compiler import Compiled
from ..compile.constrain import RowTable
from ..compile.order import between, ends_of, path
from ..compile.system import System
from ..engine.coordinates.tree import place
from ..engine.functions import compute as ask
from ..engine.functions.lockstep import Lockstep, new_lockstep
from ..engine.functions.room import Room, new_room
from ..engine.functions.slopes import Slopes, new_slopes
from ..engine.kernels.rows import measure
from ..engine.tables import FRICTION, HOLD, LIMIT, SERVO_RATE, Constraints, Tables
from ..mechanism.assemble import assemble
from ..mechanism.kinematics import settle
from ..mechanism.scales import idle_rows
from ..methods import capabilities
from ..methods.features import features
from ..model.errors import LinkworkError, UnsupportedError, nearest
from ..model.rotation import Array
from ..observe.reactions import Reactions

_HISTORY = (
    "limits", "dry friction", "contact", "velocity servos of limited strength", "sampled controllers",
    "joints attached and released",
)  # fmt: skip
_SEALED = "sealed components"


@dataclass
class Mechanism:
    """See the module."""

    compiled: Compiled
    system: System
    tables: Tables
    constraints: Constraints | None
    """Rows; None for an open mechanism whose springs and dampers are forces."""
    room: Room | None
    names: tuple[str, ...]
    """Of the rows that are equations: loops, couplings, servos that keep a rate."""
    equations: npt.NDArray[np.int64]
    """Which of the rows these are."""
    states: tuple[str, ...]
    """Names of the continuous states of elements."""
    q: Array
    v: Array
    x: Array
    u: Array
    """How it starts: coordinates, rates, states of elements, commands of drives."""
    row_names: tuple[str, ...] = ()
    """Of all rows."""

    @cached_property
    def reactions(self) -> Reactions:
        """What tells the forces in joints of a motion that is known."""
        return Reactions(self.compiled, self.system, self.row_names)

    @cached_property
    def scratch_for_slopes(self) -> tuple[Room, Slopes]:
        """Scratch of derivatives."""
        system, count = self.system, len(self.tables.dofs)
        above = np.zeros((count, count), np.int8)
        for link in range(1, count):
            above[list(path(system.tables, link)), link] = 1
        moves = np.zeros((self.rows, count), np.int8)
        if self.constraints is not None:
            for i, row in enumerate(self.constraints.rows):
                moves[i, list(between(self.tables, ends_of(self.tables, self.constraints, row)))] = 1
        reach = np.abs(self.tables.dofs["X_p"][self.tables.dofs["parent"] != 0]).max(initial=0.0) or 1.0
        sizes = np.array([reach if column.unit.startswith("m") else 1.0 for column in system.rates])
        room = self.room or new_room(system.nv, system.depth, 0, np.zeros(0))
        return room, new_slopes(above, moves, system.nq, sizes)

    @cached_property
    def scratch_for_lockstep(self) -> Lockstep:
        """Scratch of several states at a time, for the longest result."""
        nq, nv, bodies = self.system.nq, self.system.nv, len(self.system.bodies)
        return new_lockstep(self.tables, nq, nv, max(nv * nv, 6 * nv, 6 * bodies, nq, 6), 9 * max(bodies, 1))

    def goes_in_lockstep(self, what: int) -> bool:
        """Whether a function asks for nothing but the tree, so that several states can be gone through at a time."""
        if what < ask.PLACED or what in (ask.MOMENTUM, ask.MOVED):
            return True
        if self.constraints is not None:
            return False
        return what in (ask.INERTIA, ask.BIAS) or (
            what in (ask.FORWARD, ask.INVERSE) and len(self.tables.loads) == 0
        )

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return 0 if self.constraints is None else len(self.constraints.rows)


def mechanism_of(model: object, without: Collection[str]) -> Mechanism:
    """The tables of a model, less what it shall be taken without."""
    compiled = Compiled.of(model)  # type: ignore[arg-type]
    needed = _features(compiled, without)
    if all(capabilities.has(("tree",), name) for name in needed):
        system = compiled.tree
        nothing, none = np.zeros(0), np.zeros(0, np.int64)
        tables = system.fresh_tables()
        return Mechanism(
            compiled, system, tables, None, None, (), none, (), system.q0, system.v0, nothing, nothing
        )
    return _with_rows(compiled)


def _features(compiled: Compiled, without: Collection[str]) -> set[str]:
    """What a model has, or an error about what is no function of its state."""
    for name in without:
        if name not in _HISTORY:
            raise LinkworkError(f"`without` cannot be '{name}'{nearest(name, _HISTORY)}")
    found = features(compiled.flat)
    if _SEALED in found:
        raise UnsupportedError(
            f"{', '.join(found[_SEALED])}: what is inside cannot be asked for its mass matrix or forces"
        )
    refused = {name: found[name] for name in _HISTORY if name in found and name not in without}
    if refused:
        items = [item for told in refused.values() for item in told]
        shown = ", ".join(items[:4]) + (" …" if len(items) > 4 else "")
        raise UnsupportedError(
            f"{shown}: what that does is no function of the state alone; leave it out: "
            f"Dynamics(model, without={tuple(refused)!r})"
        )
    return set(found).difference(without)


def _with_rows(compiled: Compiled) -> Mechanism:
    """The mechanism of a model compiled with rows, at a start on its constraints."""
    system = compiled.rows
    table, idle = system.row_table, idle_rows(system, system.q0)
    start = assemble(system)
    role = table.constraints.rows["role"]
    chosen = table.chosen(np.flatnonzero(~idle & (role != LIMIT) & (role != FRICTION)).tolist())
    constraints, tables = chosen.fresh(), system.fresh_tables()
    settle(tables, constraints, system.q0)
    place(tables.dofs, tables.islands, start.q, start.v)
    measure(tables, constraints, start.q)
    rows, coords = constraints.rows, constraints.coords
    rows["strength"][rows["role"] == SERVO_RATE] = np.inf
    x = np.zeros(chosen.states)
    with_state = rows["state"] >= 0
    x[rows["state"][with_state]] = rows["x"][with_state]
    held = np.isin(rows["role"], (HOLD, SERVO_RATE))
    return Mechanism(
        compiled,
        system,
        tables,
        constraints,
        new_room(system.nv, system.depth, len(rows), coords["value"]),
        tuple(name for name, yes in zip(chosen.names, held, strict=True) if yes),
        np.flatnonzero(held),
        _states(chosen, rows),
        start.q,
        start.v,
        x,
        np.array(constraints.inputs),
        tuple(chosen.names),
    )


def _states(table: RowTable, rows: np.ndarray) -> tuple[str, ...]:
    """Names of the continuous states of elements."""
    found = sorted((int(row["state"]), int(row["column"])) for row in rows if row["state"] >= 0)
    return tuple(table.recorded[column].name for _, column in found)
