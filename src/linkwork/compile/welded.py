"""Bodies that are welded together and count as one where a body must have inertia of its own."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable

import numpy as np

from ..model import Body, Flat, Port
from ..model.errors import ModelError, Problem
from ..model.item import GROUND
from ..model.shapes import MassProperties, combine
from .spanning import FLOATING, Edge, in_world
from .system import System

# Share of its largest moment of inertia below which a body has none about an axis: rounding leaves some 1e-16.
_LIGHT = 1e-13


def light_welds(flat: Flat, edges: Collection[Edge]) -> tuple[Edge, ...]:
    """Welds of the tree, from the root outward, that make one body of those which cannot float by themselves.

    A point mass has no inertia to turn, a marker body no mass at all: in maximal coordinates they are part of what they
    are welded to, with all others of the same weldment. Weldments of bodies that can float stay apart.
    """
    welds = [edge for edge in edges if edge.joint.kind == "weld"]
    roots = _roots(welds)
    members: dict[str, set[str]] = defaultdict(set)
    for body, root in roots.items():
        members[root].add(body)
    light = {root for root, bodies in members.items() if any(_lacks_inertia(flat, body) for body in bodies)}
    return tuple(edge for edge in welds if roots[edge.child] in light)


def carriers(bodies: Iterable[str], merged: Collection[Edge]) -> dict[str, str]:
    """For every body the one that it is part of: itself, unless it is merged with others, or the ground."""
    roots = _roots(merged)
    return {body: roots.get(body, body) for body in bodies}


def _roots(welds: Iterable[Edge]) -> dict[str, str]:
    """For every body of some welds, in the order of a tree, the innermost of its weldment."""
    roots: dict[str, str] = {}
    for edge in welds:
        roots[edge.child] = roots.setdefault(edge.parent, edge.parent)
    return roots


def _lacks_inertia(flat: Flat, body: str) -> bool:
    if body == GROUND or isinstance(flat.bodies[body], Port):
        return False
    return _is_light(flat.bodies[body].mass_properties)


def too_light(flat: Flat, merged: Collection[Edge]) -> list[str]:
    """Bodies that cannot float, not even as one with those that `merged` welds join them to."""
    parts: dict[str, list[Body]] = defaultdict(list)
    for name, root in carriers(flat.bodies, merged).items():
        parts[root].append(flat.bodies[name])
    return [
        root
        for root, bodies in parts.items()
        if root != GROUND
        and not any(isinstance(body, Port) for body in bodies)  # what it weighs is not known here
        and _is_light(combine([in_world(body) for body in bodies]))
    ]


def _is_light(properties: MassProperties) -> bool:
    moments = np.linalg.eigvalsh(properties.inertia)
    return bool(properties.mass <= 0.0 or moments[0] <= _LIGHT * moments[2])


def label(body: str, merged: Collection[Edge]) -> str:
    """What to call a body in messages, with those that are welded to it and count as part of it."""
    others = [f"'{name}'" for name, root in _roots(merged).items() if root == body and name != body]
    if not others:
        return f"'{body}'"
    listed = others[0] if len(others) == 1 else f"{', '.join(others[:-1])} and {others[-1]}"
    return f"'{body}' (with {listed} welded to it)"


def refuse_zero_inertia(system: System, merged: Collection[Edge] = ()) -> None:
    """Raise for dofs that nothing resists: little articulated inertia against what rides on them.

    `merged`: welds of bodies that count as one.
    """
    from ..engine.coordinates.tree import NO_INERTIA, inertia_shares

    tables = system.fresh_tables()
    share, whole = np.zeros(system.nv), np.zeros(system.nv)
    inertia_shares(tables.dofs, tables.islands, system.q0, np.zeros(system.nv), share, whole)
    lacking = ~(share > NO_INERTIA * np.maximum(whole, np.finfo(float).tiny))
    problems: dict[str, Problem] = {}
    for v in np.flatnonzero(lacking):
        joint, _, rate = system.rates[v].name.rpartition(".")
        if joint.startswith(FLOATING):
            body = joint.removeprefix(FLOATING)
            heavy = tables.dofs["mass"][tables.bodies["link"][system.body(body)]] > 0.0
            lacks = "inertia about one of its axes" if heavy else "mass"
            what = (
                f"has no {lacks}, and in methods 'simmc' and 'components' every body moves by itself: give it some, "
                "weld it to a body that has, or use method 'simgc'"
            )
            problems.setdefault(joint, Problem(f"body {label(body, merged)}", what))
        else:
            what = (
                "has no inertia to accelerate: the bodies behind it have no mass, or none about this axis "
                "in the starting pose; give them mass and inertia, or the joint an armature"
            )
            problems[f"{joint}.{rate}"] = Problem(f"joint coordinate '{joint}.{rate}'", what)
    if problems:
        raise ModelError(problems.values())
