"""Shapes that may touch, what they are made of and which pairs are left alone, as tables with names.

Which pairs are left alone is decided from the joints of the model, never from dofs, so that it is the same in
generalized and maximal coordinates.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.contact.broad import exclusions
from ..engine.contact.colliders import BOUNCE_SPEED, FRICTION, MOUNT, RESTITUTION, ROLLING, TORSION, Colliders
from ..engine.contact.geometry import Hulls, Terrain, gather_hulls, make_shape, shape_rows
from ..engine.contact.hull import Hull, hull_of
from ..engine.contact.kinds import describe
from ..engine.kernels.record import named
from ..model import Body, Flat, Material, MaterialPair, Scenery
from ..model.errors import ModelError, Problem
from ..model.item import GROUND
from ..model.rotation import matrix
from .union import Union

if TYPE_CHECKING:
    from .tabulate import Tabulator

GROUPS = 62
"""Groups that have a bit of their own; bit 0 is for everyone else, and the last one is the sign."""

_FIELDS = {
    "friction": FRICTION,
    "restitution": RESTITUTION,
    "bounce_speed": BOUNCE_SPEED,
    "rolling": ROLLING,
    "torsion": TORSION,
}
_MEANS = ("friction", "rolling", "torsion")


@dataclass(frozen=True)
class ColliderTable:
    """Shapes that may touch, with names. Nothing in it is ever written."""

    colliders: Colliders
    owners: tuple[str, ...]
    """Bodies and scenery with a material, in the order of `owner` in the mounts."""
    labels: tuple[str, ...]
    """A name for each shape: that of its owner, or `owner.shape2` if it has several."""


def collider_table(compiler: Tabulator) -> ColliderTable | None:
    """The shapes of everything with a material; None if nothing has one."""
    flat = compiler.flat
    things: list[Body | Scenery] = [*flat.bodies.values(), *flat.scenery.values()]
    owners = [thing for thing in things if thing.material is not None]
    if not owners:
        return None
    shapes, hulls, notes = _shapes(owners)
    compiler.notes += notes
    ranges, count = {}, 0
    for owner in owners:
        ranges[owner.name] = range(count, count + len(owner.shapes))
        count += len(owner.shapes)
    rows, materials = _materials(flat, owners)
    rigid = _Rigid(flat)
    groups, masks, apart = _filters(flat, owners)
    apart += rigid.apart(owners)
    pairs = [np.empty((0, 2), np.int64)]
    pairs += [_product(ranges[a], ranges[b]) for a, b in apart]
    colliders = Colliders(
        shapes=shapes,
        mounts=_mounts(compiler, owners, rows),
        hulls=hulls,
        groups=_each_shape(owners, groups),
        masks=_each_shape(owners, masks),
        fixed=_each_shape(owners, [int(rigid.fixed(owner)) for owner in owners]),
        excluded=exclusions(np.concatenate(pairs), count),
        materials=materials,
    )
    labels = [
        owner.name if len(owner.shapes) == 1 else f"{owner.name}.shape{k + 1}"
        for owner in owners
        for k in range(len(owner.shapes))
    ]
    return ColliderTable(colliders, tuple(owner.name for owner in owners), tuple(labels))


def may_touch(flat: Flat) -> list[str]:
    """Bodies with a material, in words; of many, a few by name."""
    names = [name for name, body in flat.bodies.items() if body.material is not None]
    told = names if len(names) <= _TOLD + 1 else names[:_TOLD]
    found = [f"body '{name}' may touch" for name in told]
    if len(told) < len(names):
        found.append(f"{len(names) - len(told)} more bodies may touch")
    return found


_TOLD = 3


# --- shapes ----------------------------------------------------------------------------------------------------


def _shapes(owners: Sequence[Body | Scenery]) -> tuple[Any, Hulls, list[str]]:
    """Records of all shapes, hulls and height fields of all of them, and what the user should know about these."""
    meshes: dict[tuple[str, float, bool], int] = {}
    made: list[Hull] = []
    fields: list[Terrain] = []
    notes: list[str] = []
    problems: list[Problem] = []
    for owner in owners:
        for shape in owner.shapes:
            if shape.shape == "heights":
                fields.append(Terrain(shape.grid(), shape.size, shape.smooth))
            elif shape.shape == "mesh" and (key := (shape.file, shape.scale, shape.inverted)) not in meshes:
                try:
                    hull = hull_of(*key)
                except ModelError as error:
                    problems += [
                        Problem(f"{owner.kind} '{owner.name}': {problem.where}", problem.what)
                        for problem in error.problems
                    ]
                    continue
                meshes[key] = len(made)
                made.append(hull)
                notes += [f"mesh '{shape.file}': {note}" for note in hull.notes]
    if problems:
        raise ModelError(problems)
    hulls, records = gather_hulls(made, fields) if fields else gather_hulls(made)
    surfaces = iter(records[len(made) :])
    rows = shape_rows(sum(len(owner.shapes) for owner in owners))
    for i, shape in enumerate(shape for owner in owners for shape in owner.shapes):
        if shape.shape == "mesh":
            rows[i] = records[meshes[shape.file, shape.scale, shape.inverted]]
        elif shape.shape == "heights":
            rows[i] = next(surfaces)
        else:
            kind, dims = describe(shape)
            rows[i] = make_shape(kind, *dims)
    return rows, hulls, notes


def _mounts(compiler: Tabulator, owners: Sequence[Body | Scenery], rows: Sequence[int]) -> Any:
    """Where every shape stands on the dof that carries it."""
    table = np.zeros(sum(len(owner.shapes) for owner in owners), MOUNT)
    i = 0
    for k, owner in enumerate(owners):
        link = compiler.link_of[owner.name if isinstance(owner, Body) else GROUND]
        home, R = compiler.frames[link], matrix(owner.rotation)
        for shape in owner.shapes:
            at = np.array(owner.at) + R @ np.array(shape.at)
            table[i]["link"], table[i]["owner"], table[i]["material"] = link, k, rows[k]
            table[i]["X_R"] = (home.R.T @ R @ matrix(shape.rotation)).ravel()
            table[i]["X_p"] = home.R.T @ (at - home.p)
            i += 1
    _, which, count = np.unique(table["link"], return_inverse=True, return_counts=True)
    table["neighbours"] = count[which] - 1
    return named(table)


def _each_shape(owners: Sequence[Body | Scenery], values: Sequence[int]) -> Any:
    """A number of every owner, for each of its shapes."""
    return np.repeat(np.array(values, np.int64), [len(owner.shapes) for owner in owners])


def _product(a: range, b: range) -> Any:
    """All pairs of two ranges."""
    return np.stack(np.meshgrid(np.array(a), np.array(b), indexing="ij"), axis=-1).reshape(-1, 2)


# --- materials -------------------------------------------------------------------------------------------------


def combined(a: Material, b: Material, pair: MaterialPair | None = None) -> tuple[float, ...]:
    """What two materials have between them: friction, restitution, bounce speed [m/s], rolling and torsion [m].

    Geometric means, as two materials of one kind have what each has and a slippery one makes the pair slippery; of
    restitution and bounce speed the larger one. What the pair itself states goes before.
    """
    values = [0.0] * len(_FIELDS)
    for name, place in _FIELDS.items():
        stated = getattr(pair, name) if pair is not None else None
        x, y = getattr(a, name), getattr(b, name)
        if stated is not None:
            values[place] = stated
        elif x == y:  # to the last bit, which a root would not give
            values[place] = x
        else:
            values[place] = math.sqrt(x) * math.sqrt(y) if name in _MEANS else max(x, y)
    return tuple(values)


def _materials(flat: Flat, owners: Sequence[Body | Scenery]) -> tuple[list[int], Any]:
    """The row of each owner's material, and what each pair of rows has.

    Instances of a component bring equal materials under many names: those that no pair is about share a row.
    """
    pairs = {frozenset((pair.a, pair.b)): pair for pair in flat.material_pairs.values()}
    named = frozenset[str]().union(*pairs)
    kept: list[Material] = []
    row_of: dict[Any, int] = {}
    rows = []
    for owner in owners:
        assert owner.material is not None
        material = flat.materials[owner.material]
        key = material.name if material.name in named else tuple(getattr(material, name) for name in _FIELDS)
        if key not in row_of:
            row_of[key] = len(kept)
            kept.append(material)
        rows.append(row_of[key])
    table = np.array(
        [[combined(a, b, pairs.get(frozenset((a.name, b.name)))) for b in kept] for a in kept], float
    )
    return rows, table


# --- who never touches whom ------------------------------------------------------------------------------------


class _Rigid:
    """Bodies in rigid clusters: those that welds connect, not by way of the ground."""

    def __init__(self, flat: Flat):
        self._clusters = Union(flat.bodies)
        held, linked = set(), []
        for joint in flat.joints.values():
            if joint.switchable:  # what it joins touches like anything else
                continue
            if GROUND in (joint.a, joint.b):
                # The ground has no shapes: what hangs on it may still hit scenery and what is welded to it.
                if not joint.motions():
                    held.add(joint.b if joint.a == GROUND else joint.a)
            elif not joint.motions():
                self._clusters.join(joint.a, joint.b)
            elif joint.equations():  # a free joint connects nothing
                linked.append((joint.a, joint.b))
        self._fixed = {self._clusters.find(name) for name in held}
        self._linked = {frozenset(map(self._clusters.find, pair)) for pair in linked}

    def fixed(self, thing: Body | Scenery) -> bool:
        """Whether it never moves."""
        return isinstance(thing, Scenery) or self._clusters.find(thing.name) in self._fixed

    def apart(self, owners: Iterable[Body | Scenery]) -> Iterator[tuple[str, str]]:
        """Pairs of bodies that never touch: of one cluster, a body with itself included, and of neighbours."""
        members: dict[str, list[str]] = {}
        for owner in owners:
            if isinstance(owner, Body):
                members.setdefault(self._clusters.find(owner.name), []).append(owner.name)
        for names in members.values():
            yield from combinations(names, 2)
            yield from ((name, name) for name in names)
        for link in self._linked:
            ends = [members.get(cluster, []) for cluster in link]
            if len(ends) == 2:  # one: a joint within a cluster, which welds lock
                yield from ((a, b) for a in ends[0] for b in ends[1])


def _filters(
    flat: Flat, owners: Sequence[Body | Scenery]
) -> tuple[list[int], list[int], list[tuple[str, str]]]:
    """Bits of each owner, those that it touches, and pairs of owners that only names tell apart."""
    members: dict[str, list[str]] = {}
    for owner in owners:
        members.setdefault(owner.name, []).append(owner.name)
        if owner.group is not None:
            members.setdefault(owner.group, []).append(owner.name)
    groups = {owner.group for owner in owners if owner.group is not None}
    between = [(rule.a, rule.b) for rule in flat.no_contacts.values()]
    asked = [name for rule in between if groups.issuperset(rule) for name in rule]
    largest = sorted(dict.fromkeys(asked), key=lambda name: -len(members[name]))[:GROUPS]
    bits = {name: 1 << (k + 1) for k, name in enumerate(largest)}
    masks = dict.fromkeys(bits, -1)
    apart: list[tuple[str, str]] = []
    for a, b in between:
        if a in bits and b in bits:
            masks[a] &= ~bits[b]
            masks[b] &= ~bits[a]
        else:  # nothing stands here for what has no material
            apart += [(one, other) for one in members.get(a, ()) for other in members.get(b, ())]
    return (
        [bits.get(owner.group or "", 1) for owner in owners],
        [masks.get(owner.group or "", -1) for owner in owners],
        apart,
    )
