"""Rows of a model as methods take them: where they start, which of them matter."""

from __future__ import annotations

import copy
import dataclasses
import functools
from collections.abc import Callable, Collection
from typing import NamedTuple

import numpy as np

from ..compile.compiler import Compiled
from ..compile.constrain import RowTable
from ..compile.elimination import CENTRED
from ..compile.embedding import Elimination, eliminate
from ..compile.order import elimination_order, measured, multiplications, new_work, root_of, touched
from ..compile.system import System
from ..control.tape import carry_tape
from ..engine.coordinates.dynamics import body_pose, body_twist
from ..engine.coordinates.tree import place
from ..engine.solvers.layout import Work
from ..engine.tables import DOT, HOLD, Constraints
from ..mechanism.assemble import assemble
from ..mechanism.dependence import Dependence, dependence
from ..mechanism.scales import idle_rows
from ..mechanism.switching import Attachment, configured
from ..model import Model
from ..model.errors import LinkworkError, nearest
from ..model.joints.base import AX, D
from ..model.rotation import Array, matrix, quaternion


class Start:
    """A model with rows, compiled and assembled: a start on its constraints, in the coordinates of the method."""

    def __init__(
        self, model: Model | Compiled, maximal: bool, floats: Callable[[Compiled], System] | None = None
    ):
        """`floats` tells the tables with every body floating; the usual ones by default."""
        self.compiled = compiled = Compiled.of(model)
        self.maximal = maximal
        self.tree = compiled.rows
        """In generalized coordinates, whatever the method."""
        assembly = assemble(self.tree)
        self.tree_q = assembly.q
        told = assembly.report()
        beyond = [gap.beyond for gap in assembly.beyond]
        self.notes = [*told, *(line for line in beyond if line not in told), *self.dependence.notes]
        """What assembly changed, and which joints do not quite fit, in words."""
        self.attachment = Attachment(self.tree.row_table.attached)
        """Which switchable joints hold, and where."""
        self.system, self.q, self.v = self.tree, assembly.q, assembly.v
        if maximal:
            self.system = floats(compiled) if floats else compiled.maximal
            self.q, self.v = self.of_tree(assembly.q, assembly.v)

    def of_tree(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Coordinates and rates of the method for those of the tree."""
        return floating(self.compiled, self.system, self.tree, q, v) if self.maximal else (q, v)

    def switched(self, attachment: Attachment, tree_q: Array) -> Start:
        """This mechanism with other joints attached, to be analysed at another pose of its tree."""
        made = copy.copy(self)
        made.attachment, made.tree_q = attachment, tree_q
        made.tree, made.system = (configured(system, attachment) for system in (self.tree, self.system))
        made.__dict__.pop("dependence", None)
        return made

    @functools.cached_property
    def dependence(self) -> Dependence:
        """Joint equations that follow from others."""
        return dependence(self.tree, self.tree_q)


def without_degenerate(system: System) -> tuple[RowTable, tuple[str, ...]]:
    """The rows of a system less those that no motion of its tree can ever change, and the names of these."""
    idle = idle_rows(system, system.q0)
    names = system.row_table.names
    dead = tuple(name for name, still in zip(names, idle, strict=True) if still)
    return system.row_table.chosen(np.flatnonzero(~idle).tolist()), dead


def in_world_axes(system: System) -> System:
    """The system with coincidence of points written in axes of the world, if as many rows are degenerate that way.

    Sequential impulses need fewer iterations so (26 instead of 36 a step on the Peaucellier linkage), since
    neighbouring rows are then parallel or perpendicular. But where a planar loop is carried about, its idle rows
    must be carried along.
    """
    whole = system.row_table.every
    rows = whole.constraints.rows.copy()
    points = (rows["role"] == HOLD) & (rows["kind"] == DOT) & (rows["beta"] == D) & (rows["first"] < 0)
    names = list(whole.names)
    for group in np.unique(rows["group"][points]):
        members = np.flatnonzero(points & (rows["group"] == group))
        if len(members) == 3:
            rows["alpha"][members] -= AX
            for i in members:
                names[i] = names[i].replace(": a", ": ")
    constraints = whole.constraints._replace(rows=rows)
    table = dataclasses.replace(whole, constraints=constraints, names=tuple(names))
    other = dataclasses.replace(system, rows=table.configured(system.row_table.attached))
    return other if len(without_degenerate(other)[1]) >= len(without_degenerate(system)[1]) else system


def ordered_rows(system: System, without: Collection[str]) -> RowTable:
    """The rows of a system less some, in an order in which elimination fills little."""
    table = system.row_table
    kept = table.chosen([i for i, name in enumerate(table.names) if name not in without])
    return kept.chosen(elimination_order(touched(system.tables, kept.constraints)))


def coupled_rows(system: System, without: Collection[str]) -> tuple[RowTable, Work]:
    """Rows of a system less some, with what eliminates them: all by what they couple, none with the tree."""
    table = ordered_rows(system, without)
    return table, new_work(system.tables, table.constraints)


class Planned(NamedTuple):
    """Rows, and what eliminates them."""

    rows: RowTable
    """The embedded ones first."""
    work: Work
    plan: Elimination


def unembedded_rows(system: System, without: Collection[str]) -> Planned:
    """Rows of a system less some, none of them embedded, with factors that stand apart from the inertia."""
    table, plan = ordered_rows(system, without), eliminate(system.tables, [])
    return Planned(table, new_work(system.tables, table.constraints, plan), plan)


def embedded_rows(system: System, without: Collection[str], free: Collection[str]) -> Planned | None:
    """Rows of a system less some, with what eliminates them: joint equations of loops that close inside the tree, less
    those that are `free` since they follow from others, come first and are eliminated with it. None if that does not
    save work."""
    ordered, work = coupled_rows(system, without)
    rows, tables = ordered.constraints.rows, system.tables
    inside = [
        i
        for i, row in enumerate(rows)
        if row["role"] == HOLD
        and ordered.names[i] not in free
        and root_of(tables, ordered.constraints, row) != 0
    ]
    if inside:
        moved = measured(tables, ordered.constraints)
        inside.sort(key=lambda i: (-min(moved[i]), i))
        plan = eliminate(tables, [moved[i] for i in inside])
        rest = [i for i in range(len(rows)) if i not in set(inside)]
        behind = elimination_order(touched(tables, ordered.chosen(rest).constraints))
        table = ordered.chosen(inside + [rest[k] for k in behind])
        found = new_work(tables, table.constraints, plan)
        if multiplications(found) < multiplications(work):
            return Planned(table, found, plan)
    return None


def give_command(table: RowTable, constraints: Constraints, drive: str, value: float) -> None:
    """Give a drive a new command, or say why not."""
    if drive not in table.drives:
        raise LinkworkError(f"there is no drive '{drive}'{nearest(drive, table.drives)}")
    if not np.isfinite(value):
        raise LinkworkError(f"the command of drive '{drive}' must be a finite number, not {value}")
    if table.diagram is not None and drive in table.diagram.driven:
        block = table.diagram.driven[drive]
        raise LinkworkError(
            f"drive '{drive}' obeys block '{block}' of the control diagram: operate that instead"
        )
    constraints.inputs[table.drives.index(drive)] = value


def operate(table: RowTable, constraints: Constraints, channel: str, value: float) -> None:
    """Set what is set between steps, an output of an element of the panel or of a sensor, or say why not."""
    known = [] if table.diagram is None else [told.name for told in table.diagram.channels]
    if channel not in known:
        raise LinkworkError(
            f"there is no element of the panel '{channel}' to operate{nearest(channel, known)}"
        )
    constraints.inputs[len(table.drives) + known.index(channel)] = value


_ROW_STATE = ("rate", "active", "p", "mode", "force", "x", "memory", "samples")
_COORD_STATE = ("value", "tracked", "turns", "sine")


def carry(table: RowTable, now: Constraints, old_table: RowTable, old: Constraints) -> None:
    """Go on with how rows, coordinates and commands of another table stood; rows and drives are found by name."""
    for i, name in enumerate(table.names):
        if name in old_table.names:
            was = old.rows[old_table.names.index(name)]
            for field in _ROW_STATE:
                now.rows[i][field] = was[field]
    for field in _COORD_STATE:
        now.coords[field] = old.coords[field]
    for i, name in enumerate(table.drives):
        if name in old_table.drives:
            now.inputs[i] = old.inputs[old_table.drives.index(name)]
    if table.diagram is not None and old_table.diagram is not None:
        channels = [told.name for told in old_table.diagram.channels]
        for i, told in enumerate(table.diagram.channels):
            if told.name in channels:
                place = len(old_table.drives) + channels.index(told.name)
                now.inputs[len(table.drives) + i] = old.inputs[place]
        carry_tape(table.diagram.tape.names, now.tape, old_table.diagram.tape.names, old.tape)


def floating(
    model: Model | Compiled, system: System, tree: System, q0: Array, v0: Array
) -> tuple[Array, Array]:
    """Coordinates and rates of floating bodies for those of the tree."""
    flat = Compiled.of(model).flat
    tables = tree.fresh_tables()
    place(tables.dofs, tables.islands, q0, v0)
    q, v = system.q0.copy(), system.v0.copy()
    carriers = {placed.joint.b: placed for placed in system.joints.values() if placed.dofs}
    for index, (name, body) in enumerate(flat.bodies.items()):
        if name not in carriers:  # it rides on another one
            continue
        p, R = (np.array(part) for part in body_pose(tables, index))
        w, u = (np.array(part) for part in body_twist(tables, index))
        R = R.reshape(3, 3)
        placed = carriers[name]
        com = body.mass_properties.com
        written = np.array(body.at) + matrix(body.rotation) @ com
        if np.abs(np.array(placed.joint.at) - written).max() > CENTRED:  # it floats at another point of it
            written = np.array(placed.joint.at)
            com = matrix(body.rotation).T @ (written - np.array(body.at))
        turn = R @ matrix(body.rotation).T
        q[placed.q] = [*(p + R @ com - written), *quaternion(turn)]
        v[placed.v] = [*(u + np.cross(w, R @ com)), *(turn.T @ w)]
    return q, v
