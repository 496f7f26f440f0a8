"""Which points and vectors of a mechanism are its natural coordinates, and where each body is in terms of them.

Bodies are taken one after the other, those first that need the fewest new unknowns. What a body shares with bodies
that have been taken (points of hinges and ball joints, axes of hinges, whole frames of welds) are linear equations on
the twelve numbers that say where it is. Those that fix it well are used, and vanish; the others stay rows of the joint.
What is left open becomes unknowns: points and axes that it shares with bodies to come, else vectors of its own.

Directions that joints keep constant in the world (axes of hinges on the ground, and so on outward) are no unknowns,
and a body that can only turn about such a direction w has the third column of its frame for nothing: w × e is linear
in e. So a planar mechanism has two unknowns a point.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np

from ...engine.coordinates.natural import SLOTS
from ...model.joints.base import D
from ...model.rotation import Array, frame_from_axis
from ..system import System
from .affine import Affine, stacked
from .links import FIRM, SAME, Link, constant_directions, joint_links, point_map, vector_map, within

_WIDEST = 2
"""Unknowns that a body may depend on, for each of its own free numbers. Beyond that joints stay rows, lest in a lattice
everything depends on everything."""


@dataclass
class _Known:
    """What is known of a body: equations on its free numbers x, and an orthonormal basis of what they fix."""

    size: int
    rows: list[Array] = field(default_factory=list)
    values: list[Affine] = field(default_factory=list)
    basis: Array = field(init=False)

    def __post_init__(self) -> None:
        self.basis = np.zeros((0, self.size))

    @property
    def left(self) -> int:
        """Numbers that nothing fixes yet."""
        return self.size - len(self.basis)

    def width(self, more: Affine) -> int:
        """Unknowns that it will depend on, those that fill it up included."""
        unknowns = {i for value in [*self.values, more] for i in value.index}
        return len(unknowns) + self.left - len(more.constant)

    def open(self, rows: Array) -> Array:
        """What is left open of the rows."""
        return rows - (rows @ self.basis.T) @ self.basis

    def combine(self, rows: Array, scale: float) -> Array:
        """Combinations of the rows, of size `scale`, that fix something firmly: the rows themselves if they do."""
        rest = self.open(rows) / scale
        alive = np.flatnonzero(np.linalg.norm(rest, axis=1) > SAME)
        if not len(alive):
            return np.zeros((0, len(rows)))
        u, s, _ = np.linalg.svd(rest[alive])
        if len(s) == len(alive) and s[-1] > FIRM:
            return np.eye(len(rows))[alive]
        combined = np.zeros((int((s > FIRM).sum()), len(rows)))
        combined[:, alive] = u.T[: len(combined)]
        return combined

    def add(self, rows: Array, values: Affine) -> None:
        """Take independent equations rows @ x = values."""
        _, _, vt = np.linalg.svd(self.open(rows), full_matrices=False)
        self.basis = np.vstack([self.basis, vt])
        self.rows.append(rows)
        self.values.append(values)

    def solution(self) -> Affine:
        """x by the unknowns."""
        return stacked(self.values).times(np.linalg.inv(np.vstack(self.rows)))


@dataclass(frozen=True)
class _Shape:
    """How a body can be at all, from what is constant: y = span @ x + start, lengths in x counted in `size`."""

    span: Array
    start: Array
    frame: Array
    """Columns: axes in which points and vectors are counted; the last one is the constant direction, if any."""


class Basis:
    """Unknowns of a mechanism of floating bodies; see the module."""

    def __init__(self, system: System):
        self.links = joint_links(system)
        bodies = len(system.bodies)
        self.count = 0
        """How many unknowns."""
        self.names: list[str] = []
        self.readings: list[tuple[int, Array]] = []
        """For every unknown the body that it is read from, and the factors of the body's twelve numbers."""
        self.bodies: list[Affine | None] = [None] * bodies
        """The twelve numbers of every body by the unknowns; none is missing once this is made."""
        self._body_names = system.bodies
        self._links_of: dict[int, list[Link]] = defaultdict(list)
        for link in self.links:
            for end in link.ends:
                self._links_of[end].append(link)
        self.constant = constant_directions(bodies, self.links)
        self._size = [self._reach(b) for b in range(bodies)]
        self._shapes = [self._shape(b) for b in range(bodies)]
        self._take_all()

    def where(self, body: int) -> Affine:
        """The twelve numbers of a body, or of the ground (-1), by the unknowns."""
        if body < 0:
            return Affine.fixed(np.r_[0.0, 0.0, 0.0, np.eye(3).ravel()])
        found = self.bodies[body]
        assert found is not None
        return found

    def links_of(self, body: int) -> list[Link]:
        """The joints of a body that hold anything."""
        return self._links_of[body]

    def own_frame(self, body: int) -> Array:
        """Columns: directions in the frame of a body along which it has vectors of its own."""
        if len(self.constant[body]) == 1:
            return self._shapes[body].frame
        for link in self._links_of[body]:
            if link.shares_axis:
                return frame_from_axis(tuple(link.axes[link.ends.index(body)][:, 2]))
        return np.eye(3)

    # --- the order of bodies ---

    def _take_all(self) -> None:
        queue = [(self._known(b).left, b) for b in range(len(self.bodies))]
        heapq.heapify(queue)
        while queue:
            needed, b = heapq.heappop(queue)
            if self.bodies[b] is not None:
                continue
            known = self._known(b)
            if known.left < needed:  # more is known than when it was queued: it has been queued anew
                continue
            self._take(b, known)
            for link in self._links_of[b]:
                for other in link.ends:
                    if other >= 0 and self.bodies[other] is None:
                        heapq.heappush(queue, (self._known(other).left, other))

    def _take(self, b: int, known: _Known) -> None:
        """Give a body the unknowns that it still needs."""
        for name, body_map in self._candidates(b):
            if not known.left:
                break
            self._open(b, known, name, body_map)
        shape = self._shapes[b]
        if known.left:  # what no point or vector fixes firmly: any combination
            rest = np.linalg.svd(known.basis)[2][len(known.basis) :]
            self._open(b, known, f"{self._body_names[b]}: rest", rest @ np.linalg.pinv(shape.span))
        self.bodies[b] = known.solution().times(shape.span).plus(shape.start)

    def _open(self, b: int, known: _Known, name: str, body_map: Array) -> None:
        """Make unknowns of what is left open of a point or vector."""
        shape = self._shapes[b]
        combined = known.combine(body_map @ shape.span, self._scale(b, body_map))
        if not len(combined):
            return
        reading = combined @ body_map
        fresh = Affine.unknowns(self.count, len(reading))
        known.add(reading @ shape.span, fresh.plus(-reading @ shape.start))
        self.readings += [(b, row) for row in reading]
        self.names += [f"{name} {k + 1}" for k in range(len(reading))]
        self.count += len(reading)

    # --- what is known and what may become unknowns ---

    def _reach(self, b: int) -> float:
        """Size of a body: how far its joints are from its origin [m]."""
        distances = [np.linalg.norm(link.at[link.ends.index(b)]) for link in self._links_of[b]]
        return float(max(distances, default=0.0)) or 1.0

    def _scale(self, b: int, body_map: Array) -> float:
        """Size of a map of a body's numbers, lengths counted in the size of the body."""
        counted = body_map * np.r_[np.ones(3), np.full(9, 1.0 / self._size[b])]
        return float(np.linalg.norm(counted, axis=1).max())

    def _shape(self, b: int) -> _Shape:
        size, directions = self._size[b], self.constant[b]
        if len(directions) == 0:
            return _Shape(np.diag([1.0] * 3 + [1.0 / size] * 9), np.zeros(SLOTS), np.eye(3))
        if len(directions) == 1:
            w = directions[0]
            frame = frame_from_axis(tuple(w))
            x, y, _ = frame.T
            span, start = np.zeros((SLOTS, 5)), np.zeros(SLOTS)
            span[:3, :3] = frame
            # The body's frame stands along the world's as written: R = w wᵀ + e xᵀ + (w×e) yᵀ, e = x cos + y sin.
            start[3:] = np.kron(w, w)
            span[3:, 3] = (np.kron(x, x) + np.kron(y, y)) / size
            span[3:, 4] = (np.kron(x, y) - np.kron(y, x)) / size
            return _Shape(span, start, frame)
        return _Shape(np.eye(SLOTS)[:, :3], np.r_[0.0, 0.0, 0.0, np.eye(3).ravel()], np.eye(3))

    def _known(self, b: int) -> _Known:
        """Equations with bodies that have been taken, constant ones first."""
        shape, found = self._shapes[b], []
        for link in self._links_of[b]:
            side = link.ends.index(b)
            other = link.ends[1 - side]
            found += self._constant_angles(b, link)
            if other >= 0 and self.bodies[other] is None:
                continue
            there = self.where(other)
            maps = self._shared(link, side)
            theirs = self._shared(link, 1 - side)
            found += [(mine, there.times(its)) for mine, its in zip(maps, theirs, strict=True)]
        known = _Known(shape.span.shape[1])
        for body_map, value in sorted(found, key=lambda pair: len(pair[1].index)):
            if body_map.shape[0] == 3:
                body_map, value = shape.frame.T @ body_map, value.times(shape.frame.T)
            combined = known.combine(body_map @ shape.span, self._scale(b, body_map))
            if not len(combined):
                continue
            rows, values = combined @ body_map, value.times(combined)
            if not values.index or known.width(values) <= _WIDEST * known.size:
                known.add(rows @ shape.span, values.plus(-rows @ shape.start))
        return known

    def _shared(self, link: Link, side: int) -> list[Array]:
        """Maps of a body's numbers onto what a joint makes equal on both of its bodies."""
        at, axes = link.at[side], link.axes[side]
        maps = []
        if link.shares_point:
            maps.append(point_map(at))
        else:
            maps += [n[None] @ point_map(at) for n in self._held_along(link)]
        if link.shares_frame:
            maps += [vector_map(axes[:, k]) for k in range(3)]
        elif link.shares_axis:
            maps.append(vector_map(axes[:, 2]))
        return maps

    def _held_along(self, link: Link) -> list[Array]:
        """Constant directions along which a joint keeps its two points together."""
        found = []
        for alpha, beta in sorted(link.equations):
            if beta == D and alpha != D:
                body, k = link.vector(alpha)
                if self.is_constant(body, k):
                    found.append(k)
        return found

    def _constant_angles(self, b: int, link: Link) -> list[tuple[Array, Affine]]:
        """Equations α·β = 0 on a body one of whose vectors is constant: those of a universal joint on the ground."""
        if link.shares_axis:
            return []
        found = []
        for alpha, beta in sorted(link.equations):
            if D in (alpha, beta):
                continue
            first, second = link.vector(alpha), link.vector(beta)
            for (body, k), (other, n) in ((first, second), (second, first)):
                if body == b and self.is_constant(other, n):
                    found.append((n[None] @ vector_map(k), Affine.fixed(np.zeros(1))))
        return found

    def is_constant(self, body: int, k: Array) -> bool:
        """Whether a direction of a body's frame never turns in the world."""
        return within(k, self.constant[body])

    def _candidates(self, b: int) -> list[tuple[str, Array]]:
        """Points and vectors that may be unknowns of a body, those first that others can share."""
        frame = self._shapes[b].frame.T
        shared = []
        for link in self._links_of[b]:
            side = link.ends.index(b)
            other = link.ends[1 - side]
            if other < 0 or self.bodies[other] is not None:
                continue
            if link.shares_point:
                shared.append((f"{link.name} point", frame @ point_map(link.at[side])))
            if link.shares_axis:
                shared.append((f"{link.name} axis", frame @ vector_map(link.axes[side][:, 2])))
        name, own = self._body_names[b], self.own_frame(b)
        vectors = [(f"{name} {'xyz'[k]} vector", frame @ vector_map(own[:, k])) for k in range(3)]
        return [*shared, *vectors, (f"{name} origin", frame @ point_map(np.zeros(3)))]
