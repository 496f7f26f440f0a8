"""Shapes of bodies: geometry for pictures and contact, and mass properties from a density.

A shape stands in its body's own frame. Cylinders, capsules and tori lie along their z axis. Planes and height fields
are surfaces with something solid below, for scenery. A class has all of a shape but contact: its fields, its tag in
model files, its mass properties and its looks; `Shape` lists the classes.
"""

from __future__ import annotations

import dataclasses
import math
import os
import typing
from dataclasses import KW_ONLY
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from .errors import ModelError, Problem
from .item import (
    Color,
    Flag,
    LocalOffset,
    LocalOrientation,
    Number,
    Positive,
    Size3,
    _moved_fields,
    _plain,
    either,
    item,
)
from .rotation import IDENTITY, Array, Placement, Vector, matrix, quaternion
from .shape_files import grid_fault, mesh_moments, read_heights


class MassProperties(NamedTuple):
    """Mass [kg], centre of mass [m] and inertia about it [kg m²] (3x3), in one frame."""

    mass: float
    com: Array
    inertia: Array

    def scaled(self, factor: float) -> MassProperties:
        """Mass properties of an equal distribution, `factor` times as heavy."""
        return MassProperties(self.mass * factor, self.com, self.inertia * factor)

    def placed(self, at: Any, R: Array) -> MassProperties:
        """Seen from a frame in which the old one stands at `at` with orientation R."""
        return MassProperties(self.mass, np.asarray(at) + R @ self.com, R @ self.inertia @ R.T)


def combine(parts: list[MassProperties]) -> MassProperties:
    """Mass properties of several rigidly joined parts (Steiner)."""
    mass = math.fsum(part.mass for part in parts)
    if mass > 0.0:
        com = sum((part.mass * part.com for part in parts), np.zeros(3)) / mass
    else:
        com = parts[0].com.copy() if parts else np.zeros(3)
    inertia = np.zeros((3, 3))
    for part in parts:
        d = part.com - com
        inertia += part.inertia + part.mass * (d @ d * np.eye(3) - np.outer(d, d))
    return MassProperties(mass, com, inertia)


class Look(NamedTuple):
    """A part of what is seen of a shape: a simple solid, stretched along the shape's axes."""

    solid: str
    """"box", a cube of edge 1 m; "sphere", a ball of radius 1 m; "cylinder", of radius 1 m and length 1 m along z; or
    "torus:0.2", a ring around z of radius 1 m with a tube of that radius [m]."""
    scale: Vector
    """Factors along the axes."""
    at: Vector = (0.0, 0.0, 0.0)
    """Its centre in the shape's frame [m]."""


@item
class _Shape:
    """Base: where a shape stands in its body's frame."""

    has_inside: ClassVar[bool] = True
    """Whether it can be weighed and moved; other shapes are for scenery only."""

    _: KW_ONLY
    at: LocalOffset = (0.0, 0.0, 0.0)
    """Centre in the body's frame [m]."""
    rotation: LocalOrientation = IDENTITY
    """Orientation against the body's frame."""
    use: Literal["all", "picture", "contact"] = "all"
    """What it is for: "picture" is seen, "contact" touches, neither weighs anything; "all" does all three."""
    color: Color | None = None
    """For pictures, as #rrggbb; default: that of its body."""

    @property
    def touches(self) -> bool:
        """Whether contact sees it."""
        return self.use != "picture"

    @property
    def seen(self) -> bool:
        """Whether pictures show it."""
        return self.use != "contact"

    def mass_properties(self, density: float) -> MassProperties:
        """In the body's frame, for a density [kg/m³]."""
        return self._solid().scaled(density).placed(self.at, matrix(self.rotation))

    def _solid(self) -> MassProperties:
        """About its own centre and axes, for a density of one."""
        raise NotImplementedError

    def looks(self) -> tuple[Look, ...]:
        """Simple solids that pictures show in its place. A shape that is a surface has triangles: `stage/meshes.py`."""
        raise NotImplementedError

    def moved(self, placement: Placement) -> Any:
        """A copy of the shape on a body whose component is placed (mirrored) elsewhere."""
        return dataclasses.replace(self, **_moved_fields(self, placement))


@item
class Box(_Shape):
    """A box with edges `size` along its axes."""

    size: Size3
    """Edge lengths along its x, y and z axis [m]."""
    _: KW_ONLY
    shape: Literal["box"] = "box"
    """Which shape it is."""

    def _solid(self) -> MassProperties:
        x, y, z = self.size
        m = x * y * z
        return MassProperties(m, np.zeros(3), m / 12 * np.diag([y * y + z * z, x * x + z * z, x * x + y * y]))

    def looks(self) -> tuple[Look, ...]:
        return (Look("box", self.size),)


@item
class Sphere(_Shape):
    """A solid ball."""

    radius: Positive
    """Radius [m]."""
    _: KW_ONLY
    shape: Literal["sphere"] = "sphere"
    """Which shape it is."""

    def _solid(self) -> MassProperties:
        m = 4 / 3 * math.pi * self.radius**3
        return MassProperties(m, np.zeros(3), 0.4 * m * self.radius**2 * np.eye(3))

    def looks(self) -> tuple[Look, ...]:
        return (Look("sphere", (self.radius,) * 3),)


@item
class Cylinder(_Shape):
    """A solid cylinder along its z axis."""

    radius: Positive
    """Radius [m]."""
    length: Positive
    """Length along its z axis [m]."""
    _: KW_ONLY
    shape: Literal["cylinder"] = "cylinder"
    """Which shape it is."""

    def _solid(self) -> MassProperties:
        r2, l2 = self.radius**2, self.length**2
        m = math.pi * r2 * self.length
        return MassProperties(m, np.zeros(3), m * np.diag([r2 / 4 + l2 / 12, r2 / 4 + l2 / 12, r2 / 2]))

    def looks(self) -> tuple[Look, ...]:
        return (Look("cylinder", (self.radius, self.radius, self.length)),)


@item
class Capsule(_Shape):
    """A cylinder along its z axis with half balls on both ends."""

    radius: Positive
    """Radius [m]."""
    length: Positive
    """Length of the cylindrical part along its z axis [m]."""
    _: KW_ONLY
    shape: Literal["capsule"] = "capsule"
    """Which shape it is."""

    def _solid(self) -> MassProperties:
        r, length = self.radius, self.length
        tube = math.pi * r * r * length
        balls = 4 / 3 * math.pi * r**3
        side = tube * (r * r / 4 + length**2 / 12) + balls * (
            0.4 * r * r + length**2 / 4 + 3 / 8 * length * r
        )
        axial = tube * r * r / 2 + balls * 0.4 * r * r
        return MassProperties(tube + balls, np.zeros(3), np.diag([side, side, axial]))

    def looks(self) -> tuple[Look, ...]:
        r, half = self.radius, 0.5 * self.length
        ends = [Look("sphere", (r, r, r), (0.0, 0.0, z)) for z in (-half, half)]
        return (Look("cylinder", (r, r, self.length)), *ends)


@item
class Ellipsoid(_Shape):
    """A solid ellipsoid: a ball stretched along its axes."""

    radii: Size3
    """Half of its extent along x, y and z [m]."""
    _: KW_ONLY
    shape: Literal["ellipsoid"] = "ellipsoid"
    """Which shape it is."""

    def _solid(self) -> MassProperties:
        x, y, z = self.radii
        m = 4 / 3 * math.pi * x * y * z
        return MassProperties(m, np.zeros(3), m / 5 * np.diag([y * y + z * z, x * x + z * z, x * x + y * y]))

    def looks(self) -> tuple[Look, ...]:
        return (Look("sphere", self.radii),)


@item
class Torus(_Shape):
    """A solid ring around its z axis, as tyres are. Contact sees its convex hull: the hole is closed."""

    radius: Positive
    """From its centre to the middle of the tube [m]."""
    tube: Positive
    """Radius of the tube, not larger than `radius` [m]."""
    _: KW_ONLY
    shape: Literal["torus"] = "torus"
    """Which shape it is."""

    @model_validator(mode="after")
    def _has_a_hole(self) -> Self:
        if self.tube > self.radius:
            raise ValueError(f"tube {self.tube:g} m must not be larger than radius {self.radius:g} m")
        return self

    def _solid(self) -> MassProperties:
        r2, t2 = self.radius**2, self.tube**2
        m = 2 * math.pi**2 * self.radius * t2
        across = r2 / 2 + 5 / 8 * t2
        return MassProperties(m, np.zeros(3), m * np.diag([across, across, r2 + 3 / 4 * t2]))

    def looks(self) -> tuple[Look, ...]:
        return (Look(f"torus:{self.tube / self.radius!r}", (self.radius,) * 3),)


if typing.TYPE_CHECKING:
    Scale = float | Vector
else:
    Scale = Annotated[
        either(
            ("one", Positive), ("each", Size3), by=lambda v: "each" if isinstance(v, list | tuple) else "one"
        ),
        BeforeValidator(_plain),
    ]


@item
class Mesh(_Shape):
    """A mesh file (STL, OBJ, PLY, GLB ... whatever trimesh reads): a solid that touches with its convex hull, or with
    several convex parts."""

    file: Annotated[str, Field(min_length=1), AfterValidator(os.path.abspath)]
    """Path of the mesh file; in a model file, relative to its folder and inside it."""
    _: KW_ONLY
    scale: Scale = 1.0
    """Length of a unit of the file [m]: 0.001 for a mesh in millimetres; or three such lengths, along x, y and z."""
    inverted: Flag = False
    """Reflected through its origin, as in a mirrored component."""
    contact: Literal["hull", "parts"] = "hull"
    """What it touches with: "hull", its convex hull, or "parts", convex parts that follow its hollows (extra
    `decompose`; made once, kept by the content of the file)."""
    weighs: Literal["solid", "hull"] = "solid"
    """What a density fills: "solid", what its surface encloses, which must be closed, or "hull", its convex hull."""
    shape: Literal["mesh"] = "mesh"
    """Which shape it is."""

    @property
    def scales(self) -> Vector:
        """Length of a unit of the file along x, y and z [m]."""
        return self.scale if isinstance(self.scale, tuple) else (self.scale,) * 3

    def _solid(self) -> MassProperties:
        moments = mesh_moments(self.file, self.weighs)
        s = np.array(self.scales)
        mass = moments.volume * float(s.prod())
        second = np.array(moments.second) * np.outer(s, s) * float(s.prod())
        sign = -1.0 if self.inverted else 1.0
        return MassProperties(
            mass, sign * s * np.array(moments.centre), np.trace(second) * np.eye(3) - second
        )

    def moved(self, placement: Placement) -> Any:
        moved = super().moved(placement)
        return dataclasses.replace(moved, inverted=self.inverted ^ (placement.mirror is not None))


@item
class Plane(_Shape):
    """Everything below a plane: the half-space z <= 0 of its frame. For scenery: it has no mass."""

    has_inside = False

    _: KW_ONLY
    shape: Literal["plane"] = "plane"
    """Which shape it is."""

    def mass_properties(self, density: float) -> MassProperties:
        raise ModelError([Problem("Plane", "a plane has no mass; put it on scenery")])

    def moved(self, placement: Placement) -> Any:
        return _reflected(super().moved(placement), placement)


def _rectangular(rows: tuple[tuple[float, ...], ...]) -> tuple[tuple[float, ...], ...]:
    fault = grid_fault([len(row) for row in rows])
    if fault:
        raise ValueError(fault)
    return rows


@item
class HeightField(_Shape):
    """Terrain: heights z over a grid of x and y, centred on its frame, and everything below. It has no mass.

    Row j of the heights lies along +y, column i along +x. Every cell is two triangles, cut along the diagonal from its
    corner (i, j) to (i + 1, j + 1), unless it is smooth. Outside of the grid there is nothing.
    """

    has_inside = False

    size: Annotated[tuple[Positive, Positive], BeforeValidator(_plain)]
    """Extent along x and y, from the first column or row to the last [m]."""
    _: KW_ONLY
    heights: (
        Annotated[tuple[tuple[Number, ...], ...], BeforeValidator(_plain), AfterValidator(_rectangular)]
        | None
    ) = None
    """Rows of numbers [m], at least 2 x 2; or `file`."""
    file: Annotated[str, Field(min_length=1), AfterValidator(os.path.abspath)] | None = None
    """Path of a .npy file, or a .csv file with a row a line; in a model file, relative to its folder and inside it."""
    smooth: Flag = False
    """One smooth surface through all heights, a bicubic spline with continuous curvature, instead of triangles: what is
    round rolls on it without bumps; boxes and meshes meet the triangles between the same heights."""
    shape: Literal["heights"] = "heights"
    """Which shape it is."""

    @model_validator(mode="after")
    def _has_heights(self) -> Self:
        if (self.heights is None) == (self.file is None):
            raise ValueError("needs either heights or a file with them")
        if self.file is not None and Path(self.file).suffix.lower() not in (".npy", ".csv"):
            raise ValueError(f"file '{self.file}' must be a .npy or a .csv file")
        return self

    def grid(self) -> Array:
        """The heights, rows (y) x columns (x) [m]; those of a file are read and checked now."""
        if self.file is None:
            return np.array(self.heights, float)
        return read_heights(self.file)

    def mass_properties(self, density: float) -> MassProperties:
        raise ModelError([Problem("HeightField", "a height field has no mass; put it on scenery")])

    def moved(self, placement: Placement) -> Any:
        moved = _reflected(super().moved(placement), placement)
        if placement.mirror is None:
            return moved
        # Swapping x and y keeps the diagonals; a file cannot be swapped.
        return dataclasses.replace(moved, size=self.size[::-1], heights=self.grid().T, file=None)


# A reflection through the origin is a turn by half about this axis after swapping x and y.
_SWAPPED = np.array([[0.0, -1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])


def _reflected(shape: Any, placement: Placement) -> Any:
    """In a mirrored component, turned so that what is solid stays on the right side."""
    if placement.mirror is None:
        return shape
    return dataclasses.replace(shape, rotation=quaternion(matrix(shape.rotation) @ _SWAPPED))


Shape = Annotated[
    Box | Sphere | Cylinder | Capsule | Ellipsoid | Torus | Mesh | Plane | HeightField,
    Field(discriminator="shape"),
]
"""Any shape; in model files the key `shape` tells which."""


SHAPES: dict[str, type] = {cls.shape: cls for cls in typing.get_args(typing.get_args(Shape)[0])}
"""All shapes by their tags."""
