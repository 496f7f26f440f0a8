"""What touching needs: materials, fixed surroundings, and who never touches whom."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from .item import (
    Color,
    GroupName,
    Item,
    MaterialName,
    NonNegative,
    Number,
    Orientation,
    Point,
    TouchingName,
    item,
)
from .rotation import IDENTITY, Placement
from .shapes import Shape

Share = Annotated[Number, Field(ge=0, le=1)]


@item
class Material(Item):
    """What a surface is made of. Bodies and scenery with a material may touch, others never do.

    Two materials make a pair: of friction, rolling and torsion it has the geometric mean of both, of restitution and
    bounce speed the larger one, unless a `MaterialPair` says otherwise.
    """

    kind = "material"
    shelf = "materials"

    _: KW_ONLY
    friction: NonNegative = 0.5
    """Coefficient of dry friction [1]."""
    restitution: Share = 0.0
    """Share of the approach speed that comes back [1]."""
    bounce_speed: NonNegative = 0.01
    """Approach speed below which nothing bounces [m/s]."""
    rolling: NonNegative = 0.0
    """Arm of rolling friction [m]: its torque is at most this times the normal force."""
    torsion: NonNegative = 0.0
    """Arm of the friction against spinning about the normal [m]."""


@item
class MaterialPair(Item):
    """What two materials have between them, where it is not what they combine to. None leaves that as it is."""

    kind = "material_pair"
    shelf = "material_pairs"

    a: MaterialName
    """One material."""
    b: MaterialName
    """The other one; may be the same as a."""
    _: KW_ONLY
    friction: NonNegative | None = None
    """Coefficient of dry friction [1]."""
    restitution: Share | None = None
    """Share of the approach speed that comes back [1]."""
    bounce_speed: NonNegative | None = None
    """Approach speed below which nothing bounces [m/s]."""
    rolling: NonNegative | None = None
    """Arm of rolling friction [m]."""
    torsion: NonNegative | None = None
    """Arm of the friction against spinning about the normal [m]."""


@item
class Scenery(Item):
    """Fixed surroundings: a floor, a wall, terrain. Has no mass and never moves."""

    kind = "scenery"
    shelf = "scenery"

    _: KW_ONLY
    at: Point = (0.0, 0.0, 0.0)
    """Origin of its frame in the world [m]."""
    rotation: Orientation = IDENTITY
    """Orientation of its frame against the world's."""
    shapes: tuple[Shape, ...]
    """Geometry, in its frame."""
    material: MaterialName | None = None
    """What its shapes are made of. Scenery without a material is there for pictures only."""
    group: GroupName | None = None
    """A label for `NoContact`, which bodies and scenery may share."""
    color: Color | None = None
    """For pictures, as #rrggbb."""

    @model_validator(mode="after")
    def _is_there(self) -> Self:
        if not self.shapes:
            raise ValueError("has no shapes; give at least one")
        return self

    def moved_fields(self, placement: Placement) -> dict[str, Any]:
        shapes = tuple(shape.moved(placement) for shape in self.shapes)
        return {**super().moved_fields(placement), "shapes": shapes}


@item
class NoContact(Item):
    """Two that never touch: each is a body, a piece of scenery or a group; a group twice: none of it touches another.

    Not needed for bodies that a joint connects, nor for shapes of one body or of bodies welded together.
    """

    kind = "no_contact"
    shelf = "no_contacts"

    a: TouchingName
    """One of the two."""
    b: TouchingName
    """The other one; may be the same group."""
