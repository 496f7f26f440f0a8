"""Redundant joints: which equations of a mechanism say what others say already, and the smallest change that cures it.

Which *joints* are redundant does not depend on where Linkwork cuts loops: it is asked of all joints at once, every body
floating. The self-stresses of the mechanism (impulses of all joints that cancel on every body) are the left null space
of that Jacobian. Equations can be given up without a new freedom exactly as far as self-stresses reach into them: so
the search is linear algebra, and only its result is tried by rebuilding the model.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import Any

import numpy as np

from ..compile.compiler import Compiled, compile_model
from ..compile.rank import null_space, rank_of
from ..compile.system import System
from ..engine.coordinates.dynamics import body_pose
from ..mechanism.closure import Closure, loop_of
from ..mechanism.mobility import Mobility, analyse
from ..model import Flat, Model
from ..model.errors import LinkworkError
from ..model.item import GROUND, Refers
from ..model.joints import Joint
from ..model.rotation import Array, matrix, quaternion
from .loosen import LOOSER, Replacement, joint_axes, triple, with_changes

MANY_ROWS = 800
"""Joint equations beyond which redundancy is counted but not looked for joint by joint."""
_SOUND = 1e-3  # self-stresses nearer to dependent than this are not told apart
_AT_ONCE = 3  # joints of a loop that are changed together
_LONG = 10  # joints in a loop beyond which three at once are too many to try


@dataclass(frozen=True)
class Redundant:
    """A joint some of whose equations the rest of the mechanism already holds."""

    joint: str
    kind: str
    equations: int
    dependent: int
    """How many of them could be given up without a new freedom, all others kept."""


@dataclass(frozen=True)
class Loop:
    """Joints in a ring, and by how many equations they hold each other too often."""

    joints: tuple[str, ...]
    excess: int


@dataclass
class Diagnosis:
    """Mobility of a model, the joints and loops that are overconstrained, and a cure."""

    mobility: Mobility
    redundant: list[Redundant] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    cures: list[tuple[Loop, list[Replacement]]] = field(default_factory=list)
    """Per loop, changes that together leave no redundant equation and the mobility as it is."""
    idle: list[str] = field(default_factory=list)
    """Bodies that can spin about themselves between spherical joints while everything else stands still."""
    remaining: int = 0
    """Redundant equations that the cures leave."""
    skipped: str = ""
    """Why joints or cures were not looked for, or why there is none."""

    @property
    def replacements(self) -> list[Replacement]:
        return [change for _, changes in self.cures for change in changes]


def diagnose(model: Model | Compiled, *, drawn: bool = False) -> Diagnosis:
    """Mobility and redundant joints of a model at its assembled start, or in the pose as drawn, which always closes.

    Raises a ModelError if the start cannot be assembled.
    """
    bare, driven = _skeleton(Compiled.of(model), drawn)
    system, flat = bare.rows, bare.flat
    diagnosis = Diagnosis(analyse(system))
    diagnosis.idle = _idle(flat)
    if diagnosis.mobility.redundant == 0:
        return diagnosis
    equations = sum(6 - len(joint.rates) for joint in flat.joints.values())
    if equations > MANY_ROWS:
        diagnosis.skipped = (
            f"the mechanism has {equations} joint equations: redundant joints were not looked for one by one"
        )
        return diagnosis
    stresses = _Stresses(bare, driven, system, diagnosis.mobility.pose)
    diagnosis.redundant = stresses.redundant()
    diagnosis.loops = stresses.loops()
    if diagnosis.mobility.mobility == 0 < diagnosis.mobility.instantaneous:
        diagnosis.skipped = "locked in a singular position, where redundant equations cannot be told from it"
    else:
        _cure(bare, diagnosis, stresses)
    return diagnosis


def _skeleton(compiled: Compiled, drawn: bool) -> tuple[Compiled, set[str]]:
    """The model's geometry alone: no loads and drives, every body heavy enough to float; joints that these act on."""
    flat = compiled.flat
    bare = Model(compiled.name, gravity=compiled.gravity)
    bare.bodies = {
        name: dataclasses.replace(
            body,
            mass=1.0,
            inertia=(1.0, 1.0, 1.0),
            com=None,
            density=None,
            shapes=(),
            trust_inertia=False,
            material=None,
        )
        for name, body in flat.bodies.items()
    }
    bare.joints, bare.markers, bare.couplings = flat.joints, flat.markers, flat.couplings
    if drawn:
        bare.joints = {name: dataclasses.replace(joint, position=None) for name, joint in flat.joints.items()}
    driven = {
        target for thing in flat.items() for _, what, target in thing.references() if what is Refers.JOINT
    }
    return Compiled(bare), driven


def _idle(flat: Flat) -> list[str]:
    balls: dict[str, list[bool]] = {}
    for joint in flat.joints.values():
        for body in (joint.a, joint.b):
            balls.setdefault(body, []).append(joint.kind == "spherical")
    return [body for body, kinds in balls.items() if body != GROUND and len(kinds) == 2 and all(kinds)]


class _Stresses:
    """Self-stresses of a mechanism at a pose: columns over the scaled equations of all joints and couplings."""

    def __init__(self, bare: Compiled, driven: set[str], tree: System, q: Array):
        self.flat = flat = bare.flat
        self.driven = driven
        system = bare.floating
        self.closure = Closure(system, _floating(flat, tree, system, q))
        J = self.closure.jacobian()
        U, s, _ = np.linalg.svd(J)
        self.J = J
        self.basis = U[:, rank_of(s) :]
        self.left = self.basis
        self.given_up: dict[str, Array] = {}
        rows = self.closure.kin.constraints.rows[self.closure.rows]
        assert system.rows is not None
        names = [joint.name for joint in system.rows.joints]
        self.rows_of: dict[str, Any] = {
            name: np.flatnonzero(rows["group"] == g)
            for g, name in enumerate(names)
            if (rows["group"] == g).any()
        }
        self.pair_of = {
            name: self.closure.kin.constraints.pairs[int(rows["pair"][indices[0]])]
            for name, indices in self.rows_of.items()
        }
        self.twists_of = {name: self._twists(rows[indices]) for name, indices in self.rows_of.items()}
        self.columns_of = {
            placed.joint.b: np.arange(placed.v.start, placed.v.stop)
            for placed in system.joints.values()
            if placed.in_tree
        }
        self.names = {name for name in self.rows_of if name in flat.joints}
        self.rings = rings(flat)
        self.shared = Counter(name for ring in self.rings for name in ring)

    def _twists(self, rows: Any) -> Array:
        """Scaled equations against the twist of B relative to A at the joint (angular, linear in sizes)."""
        r = self.closure.kin.constraints.pairs[int(rows["pair"][0])]["r_B"]
        C = np.array([[*(row["J_B"][:3] - np.cross(r, row["J_B"][3:])), *row["J_B"][3:]] for row in rows])
        lengths = np.abs(C[:, 3:]).max(axis=1) > 0.0  # a row of lengths, measured in sizes
        C[:, 3:] *= self.closure.length
        C[lengths] /= self.closure.length
        return C

    def redundant(self) -> list[Redundant]:
        found = []
        for name in self.names:
            rows = self.rows_of[name]
            dependent = int((np.linalg.svd(self.basis[rows], compute_uv=False) > _SOUND * 1e-3).sum())
            if dependent:
                found.append(Redundant(name, self.flat.joints[name].kind, len(rows), dependent))
        order = list(self.flat.joints)
        return sorted(found, key=lambda joint: order.index(joint.joint))

    def may_change(self, name: str) -> bool:
        """Whether a joint may be replaced: not twice, and a drive or coupling needs the coordinate that it acts on."""
        return name in self.rows_of and name not in self.driven and name not in self.given_up

    def give_up(self, option: _Option) -> None:
        """Do without some equations of a joint; keep the self-stresses that remain."""
        reached = self.left[self.rows_of[option.change.joint]].T @ option.given_up
        self.left = self.left @ np.linalg.qr(reached, mode="complete").Q[:, option.count :]
        self.given_up[option.change.joint] = option.given_up

    def excess(self, joints: tuple[str, ...]) -> int:
        """Redundant equations of some joints by themselves, less those given up."""
        bodies = {
            body for name in joints for body in (self.flat.joints[name].a, self.flat.joints[name].b)
        } - {GROUND}
        columns = np.concatenate([self.columns_of[body] for body in sorted(bodies)])
        parts = []
        for name in joints:
            part = self.J[np.ix_(self.rows_of[name], columns)] if name in self.rows_of else np.zeros((0, 1))
            if name in self.given_up and len(part):
                part = null_space(self.given_up[name].T).T @ part
            if len(part):
                parts.append(part)
        if not parts:
            return 0
        whole = np.concatenate(parts)
        return len(whole) - rank_of(np.linalg.svd(whole, compute_uv=False))

    def loops(self) -> list[Loop]:
        """A basis of short rings that are overconstrained by themselves."""
        found = []
        for ring in self.rings:
            excess = self.excess(ring)
            if excess:
                found.append(Loop(ring, excess))
        return found


def rings(flat: Flat) -> list[tuple[str, ...]]:
    """One ring of joints for every loop, each as short as joints taken earlier allow."""
    tree: list[Joint] = []
    group = {body: body for body in (GROUND, *flat.bodies)}

    def find(body: str) -> str:
        while group[body] != body:
            body = group[body]
        return body

    closing = []
    # Joints of the ground first: rings through it are short.
    for joint in sorted(flat.joints.values(), key=lambda j: GROUND not in (j.a, j.b)):
        a, b = find(joint.a), find(joint.b)
        if a == b:
            closing.append(joint)
        else:
            group[a] = b
            tree.append(joint)
    return [(*loop_of(tree, joint), joint.name) for joint in closing]


def _floating(flat: Flat, tree: System, system: System, q: Array) -> Array:
    """Coordinates of floating bodies for a pose of the tree."""
    closure = Closure(tree, q)
    closure.gaps(q)
    result = system.q0.copy()
    placed = {p.joint.b: p for p in system.joints.values() if p.in_tree}
    for index, (name, body) in enumerate(flat.bodies.items()):
        p, R = (np.array(part) for part in body_pose(closure.kin.tables, index))
        turn = R.reshape(3, 3) @ matrix(body.rotation).T
        result[placed[name].q] = [*(p - np.array(body.at)), *quaternion(turn)]
    return result


# --- cures ---


@dataclass(frozen=True)
class _Option:
    """A joint replaced by a looser one: the equations given up, as orthonormal combinations of its rows."""

    change: Replacement
    given_up: Array
    """Rows of the joint × equations given up."""
    reached: Array
    """How self-stresses reach into them: stresses × equations."""

    @property
    def count(self) -> int:
        return int(self.given_up.shape[1])


def _options(stresses: _Stresses, name: str) -> list[_Option]:
    """Looser joints that could stand in for this one, as far as its equations are dependent."""
    joint = stresses.flat.joints[name]
    if not stresses.may_change(name):
        return []
    pair, rows = stresses.pair_of[name], stresses.rows_of[name]
    R = pair["R_B"].reshape(3, 3)
    C = stresses.twists_of[name]
    found = []
    frame = joint_axes(stresses.flat, joint)
    for kind, turned, motions in LOOSER.get(joint.kind, ()):
        F = np.zeros((6, len(motions)))
        for k, (sort, along) in enumerate(motions):
            F[3 * sort : 3 * sort + 3, k] = R[:, along]
        u, s, _ = np.linalg.svd(C @ F)
        given_up = u[:, : int((s > 1e-6).sum())]
        change = Replacement(name, joint.kind, kind)
        if turned is not None:
            axis, reference = (triple(frame[:, k]) for k in turned)
            change = dataclasses.replace(change, axis=axis, reference=reference)
        if given_up.shape[1]:
            found.append(_Option(change, given_up, stresses.left[rows].T @ given_up))
    return found


def _cure(bare: Compiled, diagnosis: Diagnosis, stresses: _Stresses) -> None:
    """Give up equations loop by loop until none is redundant, then try the changed model."""
    for loop in diagnosis.loops:
        chosen = _choose(stresses, loop.joints, stresses.excess(loop.joints))
        for option in chosen:
            stresses.give_up(option)
        if chosen:
            diagnosis.cures.append((loop, [option.change for option in chosen]))
    for loop in diagnosis.loops:  # what is left: joints that hold nothing at all which others do not hold
        for name in reversed(loop.joints):
            left_out = _left_out(stresses, name)
            if left_out is not None and _score(stresses, [left_out]):
                stresses.give_up(left_out)
                diagnosis.cures.append((loop, [left_out.change]))
    diagnosis.remaining = stresses.left.shape[1]
    if not diagnosis.cures:
        diagnosis.skipped = (
            "no joint of the known kinds takes the place of one of these without a new freedom"
        )
        return
    before = diagnosis.mobility
    try:
        changed = analyse(compile_model(with_changes(bare, diagnosis.replacements), rows=True))
        sound = changed.mobility == before.mobility and changed.redundant == diagnosis.remaining
    except LinkworkError:
        sound = False
    if not sound:
        diagnosis.cures.clear()
        diagnosis.remaining = before.redundant
        diagnosis.skipped = "changes that would do at this position do not do elsewhere"


def _left_out(stresses: _Stresses, name: str) -> _Option | None:
    if not stresses.may_change(name):
        return None
    rows = stresses.rows_of[name]
    change = Replacement(name, stresses.flat.joints[name].kind, "")
    return _Option(change, np.eye(len(rows)), stresses.left[rows].T)


def _choose(stresses: _Stresses, joints: tuple[str, ...], excess: int) -> list[_Option]:
    """The fewest joints whose looser kinds give up all the excess; if there are none, as much as can be had."""
    options = {name: _options(stresses, name) for name in joints}
    names = [name for name, some in options.items() if some]
    best: tuple[float, list[_Option]] = (0.0, [])
    for size in range(1, min(_AT_ONCE, len(names)) + 1):
        if size > 2 and len(names) > _LONG:
            break
        for group in combinations(names, size):
            for picks in product(*(options[name] for name in group)):
                if sum(option.count for option in picks) == excess:
                    score = _score(stresses, picks)
                    if score > 1.001 * best[0]:  # among equals the first, whatever rounding says
                        best = (score, list(picks))
        if best[1]:
            return best[1]
    for name in reversed(joints):  # no such joints: one that holds nothing which others do not hold?
        left_out = _left_out(stresses, name)
        if left_out is not None and left_out.count == excess and _score(stresses, [left_out]):
            return [left_out]
    chosen: list[_Option] = []
    while len(chosen) < len(names):
        left = excess - sum(option.count for option in chosen)
        used = {option.change.joint for option in chosen}
        some = [o for name in names if name not in used for o in options[name] if o.count <= left]
        scored = [(o.count, _score(stresses, [*chosen, o]), o) for o in some]
        scored = [entry for entry in scored if entry[1] > 0.0]
        if not scored:
            break
        chosen.append(max(scored, key=lambda entry: entry[:2])[2])
    return chosen


def _score(stresses: _Stresses, picks: Sequence[_Option]) -> float:
    """How well self-stresses tell the equations apart that are given up; joints between moving parts are preferred."""
    reached = np.concatenate([option.reached for option in picks], axis=1)
    if reached.shape[1] > reached.shape[0]:
        return 0.0
    sound = float(np.sqrt(max(np.linalg.eigvalsh(reached.T @ reached)[0], 0.0)))
    if sound < _SOUND:
        return 0.0
    for option in picks:
        joint = stresses.flat.joints[option.change.joint]
        if GROUND in (joint.a, joint.b):
            sound *= 0.5
        # A joint of several loops is needed by the others too.
        sound *= 0.5 ** (stresses.shared[joint.name] - 1)
        if option.change.axis is not None:  # needs an axis of its own: more to get wrong
            sound *= 0.8
    return sound
