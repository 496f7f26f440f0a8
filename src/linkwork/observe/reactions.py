"""Forces and torques in every joint of a mechanism, from a motion that is known; and which of them are determinate.

Where joints hold more than the motion tells (a table on four legs, a planar linkage of hinges in space), infinitely
many forces in them balance the bodies. Rigid bodies have no stiffness to choose by: the smallest are given, and the
joints are named. Smallest: the sum over all equations of joints and couplings of force² + (torque/length)², torques at
b's joint frame, and `length` the root mean square distance from joints to the centres of mass that they join.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from ..compile.compiler import Compiled
from ..compile.order import elimination_order, ends_of
from ..compile.row_records import couplings
from ..compile.scratch import Scratch
from ..compile.system import System
from ..engine.coordinates.block_envelope import factor_envelope
from ..engine.coordinates.equations import EQUATION, RIDER, Balance, correct, state_equations
from ..engine.coordinates.reactions import KnownMotion, Transmitted, carry, observe_wrenches
from ..engine.kernels.record import named
from ..engine.kernels.rows import measure
from ..engine.loads import KIND_CODES, JointFunction
from ..engine.tables import COORDINATE, HOLD
from ..mechanism.closure import CLOSED, Closure
from ..mechanism.mobility import poses_nearby
from ..mechanism.switching import Attachment, configured
from ..model import Model
from ..model.rotation import Array

# What may be left of a determinate unit force; of others it is a share of one in the number of equations around a loop.
_DETERMINATE = 1e-6
_NOTHING = np.empty((0, 0))
_POSES = 3  # at which this is judged: the start, and two a random motion further on


class Reactions:
    """Wrenches of all joints of a model, for samples of one of its systems.

    `system` is the model compiled in any coordinates: with rows (then the forces of rows that are no joint equations
    must be given), or without (then there are none but springs and dampers, which follow from the state). `rows` are
    the names of the rows whose forces will be given; by default all of the system, in its order. What is given for
    equations of joints and couplings is not looked at. `attachment` says which joints hold, if not those of the start,
    and `tree_q` a pose of the model's tree in which they fit.
    """

    def __init__(
        self,
        model: Model | Compiled,
        system: System,
        rows: Sequence[str] | None = None,
        attachment: Attachment | None = None,
        tree_q: Array | None = None,
        scratch: Scratch | None = None,
    ):
        compiled = Compiled.of(model)
        self._compiled, self._attachment, self._tree_q = compiled, attachment, tree_q
        self._system = system  # owns the compiled functions that its tables point to
        floating = compiled.floating
        self._tables = (Scratch() if scratch is None else scratch).tables("reactions", floating)
        if attachment is not None:
            floating = configured(floating, attachment)
        self._floating = floating
        self._constraints = floating.row_table.fresh()
        source = system.fresh_tables()
        along = source.loads["kind"] == KIND_CODES[JointFunction]
        self._source = source._replace(loads=source.loads[along])
        self.joints = tuple(joint.name for joint in floating.row_table.joints)
        """Names, in the order of the columns: as declared, joints that the compiler added at the end."""
        self._lawful = system.rows is None
        names = rows if rows is not None else system.rows.names if system.rows is not None else ()
        self._rows = self._given(names)
        self._cuts = compiled.spanning.cuts
        backwards = {edge.joint.name for edge in compiled.spanning.edges if edge.reversed}
        self._outer = np.array([name in backwards for name in self.joints], np.int64)
        self.length = self._length()
        """What torques are divided by to compare them with forces [m]."""
        self._balance = self._new_balance(system)
        self.unbalanced = 0.0
        """Of the last block of samples: the largest share of what acts on a body that no joint forces balance."""

    def of(
        self,
        t: Array,
        q: Array,
        v: Array,
        qdd: Array,
        row_forces: Array | None = None,
        pushes: Array | None = None,
    ) -> tuple[Array, Array]:
        """Forces and torques of a block of samples, of a on b, in world axes, at the outer body's frame [N, N m].

        `qdd` are accelerations of the system's rates; `row_forces` [N or N m] has a column for each of `rows`.
        What springs, dampers, drives, friction, limits and rotors transmit along a joint is part of the result, and so
        are `pushes`, generalised forces by rates that act along joints beside them.
        """
        count = len(t)
        given = np.zeros((count, len(self._rows))) if row_forces is None else row_forces
        if given.shape != (count, len(self._rows)):
            raise ValueError(
                f"row_forces must be {count} samples of {len(self._rows)} rows, not {given.shape}"
            )
        push = _NOTHING if pushes is None else pushes
        t, q, v, qdd, push, given = (
            np.ascontiguousarray(array, float) for array in (t, q, v, qdd, push, given)
        )
        motion = KnownMotion(t, q, v, qdd, push, given, self._rows, self._lawful)
        forces, torques = np.empty((count, 3 * len(self.joints))), np.empty((count, 3 * len(self.joints)))
        out = Transmitted(self._outer, forces, torques, np.zeros(count))
        observe_wrenches(
            self._source, self._tables, self._constraints, self._balance, self.length, motion, out
        )
        self.unbalanced = float(out.unbalanced.max(initial=0.0))
        return forces, torques

    @cached_property
    def indeterminate(self) -> tuple[str, ...]:
        """Joints whose reactions do not follow from the motion: of these the smallest are given."""
        found = {column.rpartition(".")[0].rpartition(".")[0] for column in self.indeterminate_columns}
        return tuple(name for name in self.joints if name in found)

    @cached_property
    def indeterminate_columns(self) -> tuple[str, ...]:
        """Components of reactions that the motion leaves open: of a planar linkage of hinges, those off its plane."""
        if not self._cuts and not len(
            couplings(self._constraints.rows)
        ):  # equations of a tree are independent
            return ()
        reduced = self._compiled.rows
        if self._attachment is not None and self._tree_q is not None and self._floating.row_table.switchable:
            reduced = replace(configured(reduced, self._attachment), q0=self._tree_q)
        judge = Reactions(self._compiled, reduced, attachment=self._attachment)
        return judge._vague(generic_poses(reduced))

    # --- setting up ---

    def _given(self, names: Sequence[str]) -> Any:
        """For every name its row among the floating bodies, -1 for equations, which are solved for."""
        index = {name: i for i, name in enumerate(self._floating.row_table.names)}
        roles = self._constraints.rows["role"]
        return np.array([-1 if roles[index[name]] == HOLD else index[name] for name in names], np.int64)

    def _length(self) -> float:
        tables, pairs = self._floating.tables, self._constraints.pairs[: len(self.joints)]
        offsets = [
            pair[f"X_{side.upper()}"][9:] - tables.dofs["com"][pair[side]]
            for pair in pairs
            for side in "ab"
            if pair[side] != 0
        ]
        length = float(np.sqrt(np.mean(np.sum(np.square(offsets), axis=1)))) if offsets else 0.0
        return length if length > 0.0 else 1.0

    def _new_balance(self, system: System) -> Balance:
        floating, tables, constraints = self._floating, self._tables, self._constraints
        bodies = len(floating.bodies)
        number_of = {0: -1}  # of the dofs that bodies ride on
        links = [int(link) for link in tables.bodies["link"]]
        rows = [int(row) for row in np.flatnonzero(constraints.rows["role"] == HOLD)]
        index = {link: body for body, link in enumerate(links)}
        touching: list[set[int]] = [set() for _ in range(bodies)]
        for e, row in enumerate(rows):
            for link in self._ends(row):
                if link > 0:
                    touching[index[link]].add(e)
        order = elimination_order(touching, both_ends=True)
        number_of.update((links[body], number) for number, body in enumerate(order))

        riders = np.zeros(bodies, RIDER)
        for rider, body in zip(riders, order, strict=True):
            inner, outer = self._source.bodies[body], tables.bodies[body]
            R = inner["X_R"].reshape(3, 3) @ outer["X_R"].reshape(3, 3).T
            rider["source"], rider["link"] = inner["link"], outer["link"]
            rider["X_R"], rider["X_p"] = R.ravel(), inner["X_p"] - R @ outer["X_p"]
        islands = tables.dofs["island"][riders["link"]]
        leaders = np.array([np.argmax(islands == k) for k in range(len(tables.islands) - 1)], np.int64)

        equations = np.zeros(len(rows), EQUATION)
        equations["row"], equations["ends"] = rows, -1
        first = np.arange(bodies)
        for equation, row in zip(equations, rows, strict=True):
            ends = [number_of[link] for link in self._ends(row)]
            equation["ends"][: len(ends)] = ends
            touched = [end for end in ends if end >= 0]
            first[touched] = np.minimum(first[touched], min(touched, default=0))
        widths = np.arange(bodies) - first + 1
        start = np.concatenate([[0], np.cumsum(widths)[:-1]])
        return Balance(
            named(riders),
            leaders,
            named(equations),
            self._along(system),
            first,
            start,
            np.zeros(36 * int(widths.sum())),
            np.zeros(6 * bodies),
            np.zeros(6 * bodies),
            np.zeros(6 * bodies),
            np.zeros(6 * bodies),
            np.zeros(bodies),
            np.zeros((len(constraints.pairs), 12)),
        )

    def _ends(self, row: int) -> list[int]:
        """The dofs of a and b of an equation; of a coupling, of both its joints."""
        ends = ends_of(self._tables, self._constraints, self._constraints.rows[row])
        return [link for both in ends for link in both]

    def _along(self, system: System) -> Any:
        """For every dof of the system the coordinate that reads it off the joint frames, or -1."""
        along = np.full(len(self._source.dofs), -1, np.int64)
        dof_of = {int(v): d for d, v in enumerate(self._source.dofs["v"]) if d > 0}
        coord = 0
        for joint in self._floating.row_table.joints:
            placed = system.joints.get(joint.name)
            for k in range(len(joint.rates)):
                if placed is not None and placed.in_tree:
                    along[dof_of[placed.v.start + k]] = coord
                coord += 1
        return along

    # --- what is determinate ---

    def _vague(self, poses: Sequence[Array]) -> tuple[str, ...]:
        """Columns that the bodies do not determine at the poses where they determine most."""
        judged = [self._judge(q) for q in poses]
        free = min(judged, key=lambda pair: pair[0])[1]
        return tuple(
            f"{name}.{quantity}.{axis}"
            for quantity, part in (("force", free[:, :3]), ("torque", free[:, 3:]))
            for name, vague in zip(self.joints, part, strict=True)
            for axis, open_ in zip("xyz", vague, strict=True)
            if open_
        )

    def _judge(self, q: Array) -> tuple[float, Any]:
        """At a pose: how many forces are undetermined, and which components (joints × force and torque).

        A unit force of one equation less what wrenches on bodies can ask for leaves what nothing tells.
        """
        tables, constraints, balance = self._tables, self._constraints, self._balance
        still = np.zeros(len(self._source.dofs) - 1)
        carry(self._source, tables, balance, 0.0, q, still, still)
        measure(tables, constraints, q)
        state_equations(tables, constraints, balance, self.length)
        factor_envelope(balance)
        balance.load[:] = 0.0
        balance.scale[:] = 1.0
        equations = balance.equations
        group_of: dict[int, list[int]] = defaultdict(list)
        for e, group in enumerate(constraints.rows["group"][equations["row"]]):
            group_of[int(group)].append(e)
        undetermined = 0.0
        vague = np.zeros((len(self.joints), 6), bool)
        for members in group_of.values():
            hidden = np.zeros((len(members), len(members)))
            for k, e in enumerate(members):
                equations["force"] = 0.0
                equations["force"][e] = 1.0
                correct(balance)
                hidden[:, k] = equations["force"][members]
            undetermined += float(np.trace(hidden))
            for joint, wrenches in self._unit_wrenches(members):
                spread = np.einsum("ki,kl,li->i", wrenches, hidden, wrenches)
                vague[joint] |= spread > _DETERMINATE
        return round(undetermined, 3), vague

    def _unit_wrenches(self, members: list[int]) -> list[tuple[int, Array]]:
        """By joint: unit wrenches of equations of one group at b's frame, force first, in units of force."""
        constraints = self._constraints
        found: dict[int, Array] = defaultdict(lambda: np.zeros((len(members), 6)))
        for k, e in enumerate(members):
            equation = self._balance.equations[e]
            row = constraints.rows[equation["row"]]
            parts = [(int(row["pair"]), row["J_B"])]
            if row["kind"] == COORDINATE:
                sides = ((row["first"], row["sign"]), (row["second"], -row["ratio"]))
                parts = [
                    (int(constraints.coords["pair"][c]), s * constraints.coords["J_B"][c]) for c, s in sides
                ]
            for joint, J in parts:
                n, f = J[:3] - np.cross(constraints.pairs["r_B"][joint], J[3:]), J[3:]
                found[joint][k] += np.r_[f, n / self.length] / equation["size"]
        return list(found.items())


def indeterminate(model: Model) -> list[str]:
    """Joints whose reactions do not follow from the motion; only their smallest values are known."""
    compiled = Compiled(model)
    return list(Reactions(compiled, compiled.rows).indeterminate)


def generic_poses(system: System) -> list[Array]:
    """The start with its loops closed, and poses that a random motion leads to from there.

    A mechanism may be drawn in a special pose: stretched out, folded, symmetric. Anywhere else tells what holds in
    general.
    """
    closure = Closure(system, system.q0)
    start, gap = closure.close(system.q0)
    start = start if gap <= CLOSED else system.q0
    return [start, *islice(poses_nearby(closure, start), _POSES - 1)]
