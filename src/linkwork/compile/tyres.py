"""Rows of tyres, and the roads that they feel: scenery as numbers that kernels read (`engine/tyres/road.py`)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..engine.elements import CALLED_LAW, LAWS
from ..engine.kernels.called import OWN
from ..engine.loads import Tyre
from ..engine.tables import CALLED, LAW
from ..model import HeightField, Plane, Scenery
from ..model.rotation import Array, matrix
from ..model.shapes import Box, Shape
from ..model.spline import spline_coefficients
from .row_records import row_record

if TYPE_CHECKING:
    from .tabulate import Tabulator

NO_ROAD = (
    "there is no road for it: add scenery with a material whose shapes are planes, boxes or height fields, such as "
    "Scenery('road', shapes=[Plane()], material='asphalt')"
)
_PLANE, _FIELD, _BLOCK = 0.0, 1.0, 2.0
_STEEPEST = 0.1  # cosine of the steepest slope that counts as road


class Part(NamedTuple):
    """One of the things that a tyre measures."""

    name: str
    state: str = ""


PARTS = (Part("load"), Part("along", "deflection.x"), Part("across", "deflection.y"), Part("moment"))
"""What a tyre measures, in the order of its rows."""


class Roads:
    """What of a model's scenery is road."""

    def __init__(self, compiler: Tabulator):
        self._compiler = compiler

    @cached_property
    def surfaces(self) -> list[tuple[float, ...]]:
        """Numbers of each surface, boxes last; coefficients of splines are stored on the way."""
        flat = self._compiler.flat
        found = [
            surface
            for thing in flat.scenery.values()
            if thing.material is not None
            for shape in thing.shapes
            if shape.touches
            and (surface := self._surface(thing, shape, flat.materials[thing.material].friction))
        ]
        return sorted(found, key=lambda surface: surface[0] == _BLOCK)

    @cached_property
    def place(self) -> tuple[int, int]:
        """Where the surfaces begin in the table of numbers, and how many there are."""
        surfaces = self.surfaces
        first, _ = self._compiler.numbers([number for surface in surfaces for number in surface])
        return first, len(surfaces)

    def _surface(self, thing: Scenery, shape: Shape, friction: float) -> tuple[float, ...] | None:
        R0 = matrix(thing.rotation)
        R, p = R0 @ matrix(shape.rotation), np.array(thing.at) + R0 @ np.array(shape.at)
        kind, size, count, first = _PLANE, (0.0, 0.0), (0, 0), 0
        if isinstance(shape, Box):
            R, p, size = _top(R, p, shape.size)
            kind = _BLOCK
        elif isinstance(shape, HeightField):
            grid = shape.grid()
            kind, size, count = _FIELD, shape.size, (grid.shape[1], grid.shape[0])
            if R[2, 2] > _STEEPEST:
                first, _ = self._compiler.numbers(spline_coefficients(grid).ravel().tolist())
        elif not isinstance(shape, Plane):
            self._compiler.notes.append(f"tyres do not feel the {shape.shape} of scenery '{thing.name}'")
            return None
        if R[2, 2] <= _STEEPEST:  # a wall
            return None
        return (kind, friction, *R.ravel().tolist(), *p.tolist(), *size, *map(float, count), float(first))


def _top(R: Array, p: Array, edges: tuple[float, ...]) -> tuple[Array, Array, tuple[float, float]]:
    """Frame in the middle of the uppermost face of a box, and extent of that face."""
    k = int(np.argmax(np.abs(R[2])))
    sign = 1.0 if R[2, k] > 0.0 else -1.0
    up, along = sign * R[:, k], R[:, (k + 1) % 3]
    other = (k + 1) % 3, (k + 2) % 3
    top = np.stack([along, np.cross(up, along), up], axis=1)
    return top, p + 0.5 * edges[k] * up, (edges[other[0]], edges[other[1]])


def tyre_rows(tyre: Tyre, compiler: Tabulator, roads: Roads) -> Iterator[tuple[Part, Any]]:
    """The rows of a tyre."""
    from ..engine.tyres.laws import function_of  # compiles or loads the law: only where there is one

    address, owner = function_of(tyre.law)
    compiler.keep(owner)
    first, count = roads.place
    own = (*tyre.common(), float(first), float(count), *tyre.own())
    at, _ = compiler.numbers([0.0] * OWN)
    compiler.numbers(own)
    for k, part in enumerate(PARTS):
        row = row_record(CALLED, LAW, law=LAWS.index(CALLED_LAW))
        row["alpha"], row["beta"], row["function"] = at, k, address
        yield part, row
