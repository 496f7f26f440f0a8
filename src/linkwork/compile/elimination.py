"""Tables for the recursion over subsystems: in which order rows are eliminated, and where everything stands."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from ..engine.coordinates.factor import factor, solve_inward, solve_outward
from ..engine.coordinates.tree import place
from ..engine.kernels.record import new_records
from ..engine.solvers.hierarchy import CHILD, ENDS, NODE, SPOT, Hierarchy
from ..engine.solvers.layout import REPORT
from ..engine.tables import FRICTION, LIMIT, SERVO_RATE
from .constrain import RowTable
from .order import ends_of
from .subsystems import Border, Subsystem
from .system import System

CENTRED = 1e-12
"""A body that floats this near to its centre of mass floats at it [m]."""


def row_ends(system: System, table: RowTable) -> list[list[int]]:
    """The floating bodies at the ends of each row: two of a joint, four of a coupling; -1 for the ground or none."""
    body_of = {0: -1} | {6 * (b + 1): b for b in range(len(system.floating))}
    found = []
    for row in table.constraints.rows:
        links = [link for ends in ends_of(system.tables, table.constraints, row) for link in ends]
        found.append([body_of[link] for link in links] + [-1] * (ENDS - len(links)))
    return found


class Placement:
    """Where bodies and subsystems stand in the hierarchies of a compiled system: one, or several."""

    def __init__(
        self, tops: Sequence[Subsystem], borders: Mapping[str, Border], remote: Collection[str] = ()
    ):
        self.parts = [part for top in tops for part in top.walk()]
        self.number = {part.name: i for i, part in enumerate(self.parts)}
        self.borders = borders
        self.remote = frozenset(remote)
        self.above = {child.name: part.name for part in self.parts for child in part.children}
        self.owner = {body: part.name for part in self.parts for body in part.bodies}

    def path(self, body: str) -> list[str]:
        """The subsystems that hold a body, the smallest first."""
        names = [self.owner[body]]
        while names[-1] in self.above:
            names.append(self.above[names[-1]])
        return names

    def home(self, bodies: Sequence[str]) -> int:
        """The smallest subsystem that holds these bodies and can hold rows; the largest if there are none."""
        if not bodies:
            return len(self.parts) - 1
        paths = [self.path(body) for body in bodies]
        shared = set.intersection(*(set(path) for path in paths)) - self.remote
        return self.number[next(name for name in paths[0] if name in shared)]


def row_order(system: System, table: RowTable, placement: Placement) -> tuple[list[int], list[int]]:
    """Rows sorted by the subsystem that eliminates them, those with bounds behind the others, and these subsystems."""
    bodies = system.floating
    homes = [
        placement.home(list(dict.fromkeys(bodies[b] for b in ends if b >= 0)))
        for ends in row_ends(system, table)
    ]
    bounds = bounded_rows(table)
    order = sorted(range(len(homes)), key=lambda i: (homes[i], bounds[i], i))
    return order, [homes[i] for i in order]


def bounded_rows(table: RowTable) -> np.ndarray:
    """Which rows are constraints with bounds on their force: limits, dry friction, servos of limited strength."""
    rows = table.constraints.rows
    limited = np.isin(rows["role"], (FRICTION, SERVO_RATE)) & np.isfinite(rows["strength"])
    return np.asarray((rows["role"] == LIMIT) | limited)


def new_hierarchy(system: System, table: RowTable, homes: Sequence[int], placement: Placement) -> Hierarchy:
    """Structure and scratch for rows that are sorted by their subsystems."""
    names, rates = system.floating, system.nv
    bodies = len(names)
    assert list(system.tables.dofs["v"][1:]) == list(range(6 * bodies)), (
        "bodies must be numbered like their dofs"
    )
    index = {name: b for b, name in enumerate(names)}
    parts, borders = placement.parts, placement.borders
    node = new_records(len(parts), NODE)
    children: list[tuple[int, ...]] = []
    ports: list[tuple[int, int]] = []
    inside: list[dict[str, tuple[int, int]]] = []  # of each subsystem: body => (child, column there)
    columns, room_D, room_A, room_Z = rates, 36 * bodies, 0, 0
    inertia = _inertias(system)
    floating = _magnitude(inertia[:, :36:7].reshape(bodies, 2, 3).max(axis=2).repeat(3, axis=1))
    loose = list(floating)
    counts = np.bincount(np.array(homes, np.int64), minlength=len(parts))
    ends = np.concatenate([[0], np.cumsum(counts)])
    bounds = bounded_rows(table)
    for i, part in enumerate(parts):
        border = borders[part.name].ports
        size, rows = 6 * len(border), int(counts[i])
        node["row_begin"][i], node["row_end"][i] = ends[i], ends[i + 1]
        node["bound_begin"][i] = ends[i + 1] - np.count_nonzero(bounds[ends[i] : ends[i + 1]])
        node["child_begin"][i], node["port_begin"][i] = len(children), len(ports)
        node["D"][i], node["column"][i] = room_D, columns
        node["A"][i], node["Z"][i] = room_A, room_Z
        where: dict[str, tuple[int, int]] = {}
        base = 0
        if part.name in placement.remote:
            node["remote"][i] = 1
            ports += [(-1, 6 * index[body]) for body in border]
        else:
            for body in part.bodies:
                where[body] = len(children), 0
                children.append((36 * index[body], 6 * index[body], 6, base))
                base += 6
            for child in part.children:
                k = placement.number[child.name]
                its = borders[child.name].ports
                where.update((body, (len(children), 6 * slot)) for slot, body in enumerate(its))
                children.append((int(node["D"][k]), int(node["column"][k]), 6 * len(its), base))
                base += 6 * len(its)
                node["waits"][i] |= node["remote"][k] | node["waits"][k]
            ports += [where[body] for body in border]
        inside.append(where)
        node["child_end"][i], node["port_end"][i], node["width"][i] = len(children), len(ports), base
        loose += [floating[index[body]] for body in border]
        columns, room_D = columns + size, room_D + size * size
        room_A, room_Z = room_A + rows * rows, room_Z + rows * (size + 3)
    block = new_records(len(homes) * ENDS, SPOT).reshape(len(homes), ENDS)
    block["child"] = block["local"] = -1
    for r, touched in enumerate(row_ends(system, table)):
        for end, b in enumerate(touched):
            if b >= 0:
                block[r, end] = inside[homes[r]][names[b]]
    total = len(homes)
    most = int(counts.max(initial=1))
    widest = int(node["width"].max(initial=1))
    D = np.zeros(room_D)
    D[: 36 * bodies] = inertia[:, :36].ravel()
    return Hierarchy(
        node, _table(children, CHILD), block, _table(ports, SPOT),
        np.zeros(total, np.int64), np.zeros((total, ENDS, 6)), D, np.zeros((3, columns)), np.zeros((3, columns)),
        np.zeros((3, rates)), np.zeros((most, max(widest, most))), np.zeros(room_A), np.zeros(room_Z),
        np.concatenate([np.zeros(0), *loose]), inertia, np.zeros(rates), np.zeros((2, most)),
        np.zeros((14, total)), np.zeros((5, total), np.int64), new_records(1, REPORT),
    )  # fmt: skip


def _table(rows: Sequence[tuple[int, ...]], layout: np.dtype) -> np.ndarray:
    """Records of such a layout."""
    made = new_records(len(rows), layout)
    made[:] = rows
    return made


def _magnitude(x: np.ndarray) -> np.ndarray:
    """Rounded up to a power of 1024: enough to judge rounding, and all that a part tells others of a body's mass."""
    powers = np.ceil(np.log2(x, out=np.full(x.shape, -np.inf), where=x > 0.0) / 10.0)
    return np.asarray(np.exp2(10.0 * powers))


def _inertias(system: System) -> np.ndarray:
    """Inverse mass matrix of every body against its rates as it stands at the start, and whether it turns with the
    body."""
    tables, n = system.fresh_tables(), system.nv
    dofs = tables.dofs
    bodies = len(system.floating)
    H, D, rhs, x = np.zeros((n, 6)), np.zeros(n), np.zeros(n), np.zeros(n)
    heavy = dofs["mass"][6::6] > 0.0
    dofs["armature"][1:] += np.repeat(
        ~heavy, 6
    )  # bodies of other processes: any number will do, they are left out below
    place(dofs, tables.islands, system.q0, system.v0)
    factor(dofs, H, D, rhs)
    found = np.zeros((bodies, 37))
    for j in range(6):
        x[:] = 0.0
        x[j::6] = 1.0
        solve_inward(dofs, H, x)
        x *= D
        solve_outward(dofs, H, x)
        found[:, j:36:6] = x.reshape(bodies, 6)
    found[:, 36] = np.abs(dofs["com"][6::6]).max(axis=1) > CENTRED
    found[~heavy] = 0.0
    return found
