"""What remains to be kept in natural coordinates: rigid rows, and joint equations that sharing does not satisfy."""

from __future__ import annotations

import itertools
from collections import defaultdict

import numpy as np

from ...engine.tables import DOT, HOLD
from ...model.joints.base import D
from ...model.rotation import Array
from ..constrain import RowTable
from .affine import Affine
from .basis import Basis
from .links import SAME, Link, point_map, vector_map

_ROUNDING = 1e-11  # a factor below this share of those that a polynomial is made of is rounding
_STEEP = 0.3  # sine of the angle that a vector of a body must make with those chosen before, at least
_MANY = 8  # points of a body beyond which no more distances are looked at

_Monomial = tuple[int, int]
_Polynomial = dict[_Monomial, float]
_ONE = -1  # stands for the factor 1 in a monomial


def rigid_products(basis: Basis) -> tuple[list[Affine], list[tuple[int, int, float]]]:
    """Vectors of the bodies, and which dot products of two must have which value for the bodies to be rigid.

    Six of three vectors a body, less those that hold for any z, and those that follow from others: a unit vector that
    two bodies share is told its length once.
    """
    vectors: list[Affine] = []
    products: list[tuple[int, int, float]] = []
    kept = _Polynomials()
    for b in range(len(basis.bodies)):
        directions = _directions(basis, b)
        places: dict[int, int] = {}
        for ends in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)):
            (alpha, u), (beta, v) = (directions[end] for end in ends)
            value = float(alpha @ beta)
            if kept.add(_product(u, v, value), u.size * v.size):
                for end in ends:
                    if end not in places:
                        places[end] = len(vectors)
                        vectors.append(directions[end][1])
                products.append((places[ends[0]], places[ends[1]], value))
    return vectors, products


def _directions(basis: Basis, b: int) -> list[tuple[Array, Affine]]:
    """Three vectors of a body's frame, far from one plane, that depend on few unknowns; and how."""
    where = basis.where(b)
    sides = [(link, link.ends.index(b)) for link in basis.links_of(b)]
    found = [link.axes[side][:, 2] for link, side in sides]
    points = [link.at[side] for link, side in sides[:_MANY]]
    for first, second in itertools.combinations(points, 2):
        length = np.linalg.norm(second - first)
        if length > SAME:
            found.append((second - first) / length)
    candidates = [(k, where.times(vector_map(k))) for k in [*found, *basis.own_frame(b).T]]
    candidates.sort(key=lambda candidate: np.count_nonzero(candidate[1].matrix))
    chosen: list[tuple[Array, Affine]] = []
    across = np.eye(3)
    for k, vector in candidates:
        rest = across @ k
        size = np.linalg.norm(rest)
        if len(chosen) < 3 and size > _STEEP:
            chosen.append((k, vector))
            across = across - np.outer(rest, rest) / size**2
    return chosen


def satisfied_rows(basis: Basis, table: RowTable) -> tuple[str, ...]:
    """Names of the joint equations that hold for any z, given that bodies are rigid."""
    links = {link.pair: link for link in basis.links}
    found = []
    for name, row in zip(table.names, table.constraints.rows, strict=True):
        equation = row["role"] == HOLD and row["kind"] == DOT and row["first"] < 0
        if equation and _holds(basis, links[int(row["pair"])], int(row["alpha"]), int(row["beta"])):
            found.append(name)
    return tuple(found)


def _holds(basis: Basis, link: Link, alpha: int, beta: int) -> bool:
    """Whether α·β = 0 for any z, α an axis of one body, β an axis of the other or the distance between both points."""
    body, k = link.vector(alpha)
    first = basis.where(body).times(vector_map(k))
    if beta == D:
        ends = [basis.where(end).times(point_map(at)) for end, at in zip(link.ends, link.at, strict=True)]
        second = ends[1].minus(ends[0])
    else:
        other, n = link.vector(beta)
        second = basis.where(other).times(vector_map(n))
        # An axis that both bodies have in common keeps its angles with the axes of either.
        if basis.where(body).times(vector_map(n)).minus(second).vanishes(SAME):
            return True
        if basis.where(other).times(vector_map(k)).minus(first).vanishes(SAME):
            return True
    return all(abs(factor) <= SAME for factor in _product(first, second, 0.0).values())


def _product(u: Affine, v: Affine, value: float) -> _Polynomial:
    """The polynomial u·v - value."""
    products = np.column_stack([u.matrix, u.constant]).T @ np.column_stack([v.matrix, v.constant])
    found: _Polynomial = defaultdict(float)
    for i, row in zip([*u.index, _ONE], products, strict=True):
        for k, factor in zip([*v.index, _ONE], row, strict=True):
            found[min(i, k), max(i, k)] += float(factor)
    found[_ONE, _ONE] -= value
    return found


class _Polynomials:
    """Polynomials none of which is a combination of the others.

    Each is kept with one monomial that leads it, which none of the others contains.
    """

    def __init__(self) -> None:
        self._led_by: dict[_Monomial, _Polynomial] = {}
        self._containing: dict[_Monomial, set[_Monomial]] = defaultdict(set)

    def add(self, polynomial: _Polynomial, size: float) -> bool:
        """Keep a polynomial unless it is zero or a combination of those kept; tells whether it is kept.

        `size` is that of the factors which it was made of, before any cancelled.
        """
        rest = dict(polynomial)
        for lead in polynomial:
            if lead in self._led_by:
                _subtract(rest, lead, self._led_by[lead])
        rest = {key: factor for key, factor in rest.items() if abs(factor) > _ROUNDING * size}
        if not rest:
            return False
        lead = max(rest, key=lambda key: abs(rest[key]))
        for other in self._containing.pop(lead, set()):
            _subtract(self._led_by[other], lead, rest)
            for key in rest:
                self._containing[key].add(other)
        self._led_by[lead] = rest
        for key in rest:
            self._containing[key].add(lead)
        return True


def _subtract(target: _Polynomial, lead: _Monomial, source: _Polynomial) -> None:
    """Take as much of the source away that the leading monomial is gone."""
    factor = target.pop(lead) / source[lead]
    for key, value in source.items():
        if key != lead:
            target[key] = target.get(key, 0.0) - factor * value
