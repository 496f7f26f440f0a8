"""Small models of things that may touch, and what a table of colliders allows."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from linkwork import (
    Body,
    Material,
    Model,
    Plane,
    Scenery,
    Sphere,
)
from linkwork.compile.colliders import ColliderTable
from linkwork.compile.compiler import compile_model

BALL = (Sphere(0.1),)


def model_of(*things: Any) -> Model:
    model = Model()
    model.add(Material("steel"))
    for thing in things:
        model.add(thing)
    return model


def ball(name: str, **fields: Any) -> Body:
    return Body(name, **{"shapes": BALL, "density": 1000.0, "material": "steel"} | fields)


def floor(name: str = "floor", **fields: Any) -> Scenery:
    return Scenery(name, **{"shapes": (Plane(),), "material": "steel"} | fields)


def table_of(model: Model, maximal: bool = False) -> ColliderTable:
    table = compile_model(model, rows=True, maximal=maximal).colliders
    assert table is not None
    return table


def allowed(table: ColliderTable, i: int, j: int) -> bool:
    """What the broad phase lets through, from its documentation."""
    c = table.colliders
    if c.fixed[i] and c.fixed[j]:
        return False
    if not c.groups[i] & c.masks[j] or not c.groups[j] & c.masks[i]:
        return False
    return min(i, j) * len(c.shapes) + max(i, j) not in c.excluded


def touching(model: Model) -> set[frozenset[str]]:
    """Pairs of names that may touch; the same whatever the coordinates are."""
    found = []
    for maximal in (False, True):
        table = table_of(model, maximal)
        names = [table.owners[k] for k in table.colliders.mounts["owner"]]
        pairs = combinations(range(len(names)), 2)
        found.append({frozenset((names[i], names[j])) for i, j in pairs if allowed(table, i, j)})
    assert found[0] == found[1]
    return found[0]


def pairs(*names: str) -> set[frozenset[str]]:
    """`"a b"` => {a, b}."""
    return {frozenset(name.split()) for name in names}
