"""Shapes that may touch, what they are made of and which pairs are left alone, as tables with names.

Which pairs are left alone is decided from the joints of the model, never from dofs, so that it is the same in
generalized and maximal coordinates.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..engine.contact.broad import exclusions
from ..engine.contact.colliders import BOUNCE_SPEED, FRICTION, MOUNT, RESTITUTION, ROLLING, TORSION, Colliders
from ..engine.contact.geometry import Hulls, Terrain, gather_hulls, make_shape, shape_rows
from ..engine.contact.hull import Hull, Parts, decompose, hull_of
from ..engine.contact.kinds import describe
from ..engine.kernels.record import named
from ..model import Body, Flat, Material, MaterialPair, Scenery
from ..model.errors import LinkworkError, ModelError, Problem
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
    owners = [
        thing for thing in things if thing.material is not None and any(s.touches for s in thing.shapes)
    ]
    if not owners:
        return None
    solids, made, notes = solids_of(owners)
    shapes, hulls = records_of([solid for owner in owners for solid in solids[owner.name]], made)
    compiler.notes += notes
    ranges, count = {}, 0
    for owner in owners:
        ranges[owner.name] = range(count, count + len(solids[owner.name]))
        count += len(solids[owner.name])
    rows, materials = _materials(flat, owners)
    rigid = _Rigid(flat)
    groups, masks, apart = _filters(flat, owners)
    apart += rigid.apart(owners)
    pairs = [np.empty((0, 2), np.int64)]
    pairs += [_product(ranges[a], ranges[b]) for a, b in apart]
    colliders = Colliders(
        shapes=shapes,
        mounts=_mounts(compiler, owners, solids, rows),
        hulls=hulls,
        groups=_each_solid(owners, solids, groups),
        masks=_each_solid(owners, solids, masks),
        fixed=_each_solid(owners, solids, [int(rigid.fixed(owner)) for owner in owners]),
        excluded=exclusions(np.concatenate(pairs), count),
        materials=materials,
    )
    labels = [
        owner.name if len(solids[owner.name]) == 1 else f"{owner.name}.shape{k + 1}"
        for owner in owners
        for k in range(len(solids[owner.name]))
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


class Solid(NamedTuple):
    """Something convex that may touch: a shape, one of the convex parts of a mesh, or terrain."""

    shape: Any
    hull: int = -1
    """Of a mesh, which of all hulls it is."""


def solids_of(owners: Sequence[Body | Scenery]) -> tuple[dict[str, list[Solid]], list[Hull], list[str]]:
    """What everything touches with, the hulls of all meshes, and what the user should know about these."""
    meshes: dict[Any, range] = {}
    made: list[Hull] = []
    notes: list[str] = []
    problems: list[Problem] = []
    solids: dict[str, list[Solid]] = {}
    for owner in owners:
        solids[owner.name] = found = []
        for shape in owner.shapes:
            if not shape.touches:
                continue
            if shape.shape != "mesh":
                found.append(Solid(shape))
                continue
            key = shape.file, shape.scale, shape.inverted, shape.contact
            if key not in meshes:
                try:
                    hulls = decompose(*key[:3]) if shape.contact == "parts" else Parts([hull_of(*key[:3])])
                except LinkworkError as error:
                    problems += _told(owner, error)
                    continue
                meshes[key] = range(len(made), len(made) + len(hulls))
                made += hulls
                told = dict.fromkeys(note for hull in hulls for note in (*hulls.notes, *hull.notes))
                notes += [f"mesh '{shape.file}': {note}" for note in told]
            found += [Solid(shape, hull) for hull in meshes[key]]
    if problems:
        raise ModelError(problems)
    return solids, made, notes


def _told(owner: Body | Scenery, error: LinkworkError) -> list[Problem]:
    """What is wrong with a mesh, and whose it is."""
    if not isinstance(error, ModelError):  # a package that is not installed
        raise error
    return [Problem(f"{owner.kind} '{owner.name}': {one.where}", one.what) for one in error.problems]


def records_of(solids: Sequence[Solid], made: Sequence[Hull]) -> tuple[Any, Hulls]:
    """A record for every solid, and hulls and height fields of all of them."""
    fields = [
        Terrain(one.shape.grid(), one.shape.size, one.shape.smooth)
        for one in solids
        if one.shape.shape == "heights"
    ]
    hulls, records = gather_hulls(made, fields) if fields else gather_hulls(made)
    surfaces = iter(records[len(made) :])
    rows = shape_rows(len(solids))
    for i, (shape, hull) in enumerate(solids):
        if shape.shape == "mesh":
            rows[i] = records[hull]
        elif shape.shape == "heights":
            rows[i] = next(surfaces)
        else:
            kind, dims = describe(shape)
            rows[i] = make_shape(kind, *dims)
    return rows, hulls


def _mounts(
    compiler: Tabulator,
    owners: Sequence[Body | Scenery],
    solids: Mapping[str, Sequence[Solid]],
    rows: Sequence[int],
) -> Any:
    """Where every solid stands on the dof that carries it."""
    table = np.zeros(sum(map(len, solids.values())), MOUNT)
    i = 0
    for k, owner in enumerate(owners):
        link = compiler.link_of[owner.name if isinstance(owner, Body) else GROUND]
        home, R = compiler.frames[link], matrix(owner.rotation)
        for shape, _ in solids[owner.name]:
            at = np.array(owner.at) + R @ np.array(shape.at)
            table[i]["link"], table[i]["owner"], table[i]["material"] = link, k, rows[k]
            table[i]["X_R"] = (home.R.T @ R @ matrix(shape.rotation)).ravel()
            table[i]["X_p"] = home.R.T @ (at - home.p)
            i += 1
    _, which, count = np.unique(table["link"], return_inverse=True, return_counts=True)
    table["neighbours"] = count[which] - 1
    return named(table)


def _each_solid(
    owners: Sequence[Body | Scenery], solids: Mapping[str, Sequence[Solid]], values: Sequence[int]
) -> Any:
    """A number of every owner, for each of its solids."""
    return np.repeat(np.array(values, np.int64), [len(solids[owner.name]) for owner in owners])


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
            if joint.closes_only:  # what it joins touches like anything else
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
