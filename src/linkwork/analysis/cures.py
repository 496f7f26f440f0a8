"""Looser joints that leave no redundant equation and the mobility as it is."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations, product

import numpy as np

from ..compile.compiler import Compiled, compile_model
from ..mechanism.mobility import Mobility, analyse
from ..model.errors import LinkworkError
from ..model.item import GROUND
from ..model.rotation import Array, vector
from .loosen import LOOSER, Replacement, with_changes
from .stresses import SOUND, Loop, Redundant, Stresses

_AT_ONCE = 3  # joints of a loop that are changed together
_LONG = 10  # joints in a loop beyond which three at once are too many to try


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


def _options(stresses: Stresses, name: str) -> list[_Option]:
    """Looser joints that could stand in for this one, as far as its equations are dependent."""
    joint = stresses.flat.joints[name]
    if not stresses.may_change(name):
        return []
    pair, rows = stresses.pair_of[name], stresses.rows_of[name]
    R = pair["R_B"].reshape(3, 3)
    C = stresses.twists_of[name]
    found = []
    frame = stresses.bare.joint_frame(joint).R
    for kind, turned, motions in LOOSER.get(joint.kind, ()):
        F = np.zeros((6, len(motions)))
        for k, (sort, along) in enumerate(motions):
            F[3 * sort : 3 * sort + 3, k] = R[:, along]
        u, s, _ = np.linalg.svd(C @ F)
        given_up = u[:, : int((s > 1e-6).sum())]
        change = Replacement(name, joint.kind, kind)
        if turned is not None:
            axis, reference = (vector(frame[:, k]) for k in turned)
            change = dataclasses.replace(change, axis=axis, reference=reference)
        if given_up.shape[1]:
            found.append(_Option(change, given_up, stresses.left[rows].T @ given_up))
    return found


def cure(bare: Compiled, diagnosis: Diagnosis, stresses: Stresses) -> None:
    """Give up equations loop by loop until none is redundant, then try the changed model."""
    for loop in diagnosis.loops:
        chosen = _choose(stresses, loop.joints, stresses.excess(loop.joints))
        for option in chosen:
            stresses.give_up(option.change.joint, option.given_up)
        if chosen:
            diagnosis.cures.append((loop, [option.change for option in chosen]))
    for loop in diagnosis.loops:  # what is left: joints that hold nothing at all which others do not hold
        for name in reversed(loop.joints):
            left_out = _left_out(stresses, name)
            if left_out is not None and _score(stresses, [left_out]):
                stresses.give_up(left_out.change.joint, left_out.given_up)
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


def _left_out(stresses: Stresses, name: str) -> _Option | None:
    if not stresses.may_change(name):
        return None
    rows = stresses.rows_of[name]
    change = Replacement(name, stresses.flat.joints[name].kind, "")
    return _Option(change, np.eye(len(rows)), stresses.left[rows].T)


def _choose(stresses: Stresses, joints: tuple[str, ...], excess: int) -> list[_Option]:
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


def _score(stresses: Stresses, picks: Sequence[_Option]) -> float:
    """How well self-stresses tell the equations apart that are given up; joints between moving parts are preferred."""
    reached = np.concatenate([option.reached for option in picks], axis=1)
    if reached.shape[1] > reached.shape[0]:
        return 0.0
    sound = float(np.sqrt(max(np.linalg.eigvalsh(reached.T @ reached)[0], 0.0)))
    if sound < SOUND:
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
