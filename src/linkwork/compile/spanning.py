"""The spanning tree of a mechanism and the joints where its loops are cut."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..model import Body, Flat
from ..model.item import GROUND, Vector
from ..model.joints import Free, Joint
from ..model.rotation import matrix, vector
from ..model.shapes import MassProperties, combine

_DEEP = 4

FLOATING = "~"
"""Marks the free joints of bodies in maximal coordinates; no name that a user can write begins so."""


@dataclass
class Edge:
    """A joint as the tree passes it."""

    joint: Joint
    parent: str
    child: str

    @property
    def reversed(self) -> bool:
        return self.child != self.joint.b


class Spanning(NamedTuple):
    """Which joints carry bodies, and which are constraints."""

    edges: list[Edge]
    """From the ground outward."""
    cuts: list[Joint]
    notes: list[str]
    """What the user may want to know."""


def spanning_tree(flat: Flat) -> Spanning:
    """Tree edges from the ground outward (depth first), cut joints, notes.

    Prim's method from the ground, joints with the fewest dofs first: those that stay in the tree remove
    the most equations, and the loops are cut where the fewest are needed. Among equals, joints of the ground
    come last, so that a part hangs on the ground by one joint and its loops are cut there: sequential impulses
    then need a fifth of the iterations (37 instead of 204 on the Peaucellier linkage). Beyond a depth of four
    bodies the ground is as good, or long rows of loops would make deep trees, whose inertias are dense. Further
    ties go to the shallower joint, then to the one declared first. A part that hangs on nothing gets a free joint.
    Joints that are attached and released during a run, and rods, are always cut.
    """
    touching: dict[str, list[tuple[int, Joint]]] = defaultdict(list)
    for order, joint in enumerate(flat.joints.values()):
        if joint.closes_only:
            continue
        touching[joint.a].append((order, joint))
        touching[joint.b].append((order, joint))
    depth = {GROUND: 0}
    heap: list[tuple[int, bool, int, int, str, Joint]] = []
    children: dict[str, list[tuple[int, Edge]]] = defaultdict(list)
    used: set[str] = set()
    notes: list[str] = []

    def reach(body: str) -> None:
        for order, joint in touching[body]:
            other = joint.b if body == joint.a else joint.a
            if other not in depth:
                late = body == GROUND or depth[body] >= _DEEP
                heapq.heappush(heap, (len(joint.rates), late, depth[body], order, body, joint))

    def grow() -> None:
        while heap:
            _, _, _, order, body, joint = heapq.heappop(heap)
            other = joint.b if body == joint.a else joint.a
            if other in depth:
                continue
            depth[other] = depth[body] + 1
            used.add(joint.name)
            children[body].append((order, Edge(joint, body, other)))
            reach(other)

    reach(GROUND)
    grow()
    for body in flat.bodies:
        if body not in depth:
            name = f"{body}_free"
            while name in flat.joints:
                name += "_"
            joint = Free(name, GROUND, body, at=flat.bodies[body].at)
            notes.append(f"body '{body}' hangs on nothing: it got the free joint '{joint.name}'")
            depth[body] = 1
            children[GROUND].append((len(flat.joints) + len(notes), Edge(joint, GROUND, body)))
            reach(body)
            grow()

    edges: list[Edge] = []
    stack = [edge for _, edge in sorted(children[GROUND], key=lambda pair: -pair[0])]
    while stack:
        edge = stack.pop()
        edges.append(edge)
        stack.extend(e for _, e in sorted(children[edge.child], key=lambda pair: -pair[0]))
    cuts = [joint for joint in flat.joints.values() if joint.name not in used]
    return Spanning(edges, cuts, notes)


def floating(flat: Flat, points: Mapping[str, Vector] | None = None, merged: Sequence[Edge] = ()) -> Spanning:
    """Maximal coordinates: every body free at its centre of mass, or at a point given for it [m], every joint a
    constraint.

    Bodies that `merged` welds join, given from the inside outward, float as one, or stand if the ground is among them.
    """
    carried: dict[str, list[Edge]] = {}
    root: dict[str, str] = {}
    for weld in merged:
        root[weld.child] = root.setdefault(weld.parent, weld.parent)
        carried.setdefault(root[weld.child], []).append(weld)
    edges = list(carried.get(GROUND, ()))
    for name in flat.bodies:
        if root.get(name, name) != name:
            continue
        riders = carried.get(name, [])
        parts = [flat.bodies[body] for body in (name, *(weld.child for weld in riders))]
        com = combine([in_world(body) for body in parts]).com if riders else in_world(parts[0]).com
        at = (points or {}).get(name, vector(com))
        edges.append(Edge(Free(f"{FLOATING}{name}", GROUND, name, at=at), GROUND, name))
        edges += riders
    inside = {weld.joint.name for weld in merged}
    return Spanning(edges, [joint for joint in flat.joints.values() if joint.name not in inside], [])


def in_world(body: Body) -> MassProperties:
    """Mass properties of a body seen from the world, in the assembled pose."""
    return body.mass_properties.placed(body.at, matrix(body.rotation))
