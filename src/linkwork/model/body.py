"""Bodies and markers, placed as they stand in the assembled mechanism."""

from __future__ import annotations

from dataclasses import KW_ONLY
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Self

import numpy as np
from pydantic import BeforeValidator, model_validator

from .item import (
    BodyName,
    Color,
    Flag,
    GroupName,
    Item,
    LocalOffset,
    MaterialName,
    NonNegative,
    Number,
    Orientation,
    Point,
    Positive,
    _plain,
    either,
    item,
)
from .rotation import IDENTITY, Array, Placement, matrix
from .shapes import MassProperties, Shape, combine

if TYPE_CHECKING:
    Inertia = tuple[float, ...]
else:
    Inertia = Annotated[
        either(
            ("principal", tuple[(Number,) * 3]),
            ("full", tuple[(Number,) * 6]),
            by=lambda value: "principal" if not isinstance(value, list | tuple) or len(value) < 4 else "full",
        ),
        BeforeValidator(_plain),
    ]

# Published inertias carry three or four digits: a violation below this share of the largest moment is
# rounding, not a mistake.
_ROUNDING = 1e-6


@item
class Body(Item):
    """A rigid body. Its frame stands at `at`, `rotation` in the world of the assembled pose.

    Mass properties come from one of three sources: `mass` with `inertia` (about the centre of mass, body
    axes); `density` with `shapes`; `mass` with `shapes`, spread evenly over their volume. `mass` alone is a
    point mass at `com`.
    """

    kind = "body"
    shelf = "bodies"

    _: KW_ONLY
    at: Point = (0.0, 0.0, 0.0)
    """Origin of the body's frame, in the world of the assembled pose [m]."""
    rotation: Orientation = IDENTITY
    """Orientation of the body's frame against the world's."""
    mass: NonNegative | None = None
    """Mass [kg]; of massless bodies 0."""
    com: LocalOffset | None = None
    """Centre of mass in the body's frame [m]; default: the shapes' or the origin."""
    inertia: Inertia | None = None
    """(xx, yy, zz) or (xx, yy, zz, xy, xz, yz) about the centre of mass, in axes parallel to the body's [kg m²].

    They are the elements of the inertia matrix as it stands: xx = ∫(y² + z²) dm, xy = -∫x y dm. Programs that list
    products of inertia as ∫x y dm have the other sign."""
    density: Positive | None = None
    """Density of the shapes, from which mass, centre of mass and inertia follow [kg/m³]."""
    shapes: tuple[Shape, ...] = ()
    """Geometry for pictures, contact and mass properties, in the body's frame."""
    trust_inertia: Flag = False
    """Accept an inertia that violates the triangle inequality, as published measurements sometimes do."""
    material: MaterialName | None = None
    """What its shapes are made of. A body without a material touches nothing."""
    group: GroupName | None = None
    """A label for `NoContact`, which bodies and scenery may share."""
    color: Color | None = None
    """For pictures, as #rrggbb."""

    @model_validator(mode="after")
    def _has_mass(self) -> Self:
        if self.density is not None:
            if not self._heavy:
                raise ValueError("has a density but no shapes that weigh; give shapes, or mass and inertia")
            if self.mass is not None or self.inertia is not None:
                raise ValueError("has a density and also a mass or inertia; give one or the other")
        elif self.mass is None:
            raise ValueError("has no mass; give mass and inertia, or shapes with a density or a mass")
        if self.inertia is not None:
            _check_inertia(self.inertia, self.trust_inertia)
        return self

    @model_validator(mode="after")
    def _can_touch(self) -> Self:
        if self.material is not None and not any(shape.touches for shape in self.shapes):
            raise ValueError(
                "has a material but no shapes to touch with; give shapes, or leave the material out"
            )
        for shape in self.shapes:
            if not shape.has_inside:
                raise ValueError(f"a shape '{shape.shape}' has no inside to weigh or move; put it on scenery")
        return self

    @property
    def _heavy(self) -> list[Any]:
        """Shapes that a density or a mass is spread over."""
        return [shape for shape in self.shapes if shape.use == "all"]

    @cached_property
    def mass_properties(self) -> MassProperties:
        """Mass [kg], centre of mass [m] and inertia about it [kg m²], in the body's frame."""
        if self.mass is not None and (self.inertia is not None or not self._heavy):
            com = np.array(self.com if self.com is not None else (0.0, 0.0, 0.0))
            return MassProperties(self.mass, com, inertia_matrix(self.inertia or (0.0, 0.0, 0.0)))
        solid = combine([shape.mass_properties(self.density or 1.0) for shape in self._heavy])
        if self.mass is not None:
            solid = solid.scaled(self.mass / solid.mass)
        return solid if self.com is None else solid._replace(com=np.array(self.com))

    def moved_fields(self, placement: Placement) -> dict[str, Any]:
        shapes = tuple(shape.moved(placement) for shape in self.shapes)
        return {**super().moved_fields(placement), "shapes": shapes}


@item
class Marker(Item):
    """A named frame on a body, placed in the world of the assembled pose."""

    kind = "marker"
    shelf = "markers"

    body: BodyName
    """The body that carries it."""
    _: KW_ONLY
    at: Point = (0.0, 0.0, 0.0)
    """Origin of its frame, in the world of the assembled pose [m]."""
    rotation: Orientation = IDENTITY
    """Orientation of its frame against the world's."""

    @property
    def frame(self) -> tuple[Array, Array]:
        """Position [m] and rotation matrix in the world of the assembled pose."""
        return np.array(self.at), matrix(self.rotation)


def inertia_matrix(inertia: tuple[float, ...]) -> Array:
    """3x3 matrix of (xx, yy, zz) or (xx, yy, zz, xy, xz, yz)."""
    xx, yy, zz = inertia[:3]
    xy, xz, yz = inertia[3:] if len(inertia) == 6 else (0.0, 0.0, 0.0)
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _check_inertia(inertia: tuple[float, ...], trust: bool) -> None:
    a, b, c = np.linalg.eigvalsh(inertia_matrix(inertia))
    if a < -_ROUNDING * c:
        raise ValueError(f"the inertia is not positive: its principal moments are {a:g}, {b:g}, {c:g} kg m²")
    if not trust and a + b < c * (1 - _ROUNDING):
        raise ValueError(
            f"the inertia violates the triangle inequality: {a:g} + {b:g} < {c:g} kg m², which no mass "
            "distribution can have; correct it, or set trust_inertia: true if it was published so"
        )
