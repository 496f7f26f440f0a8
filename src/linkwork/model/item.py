"""What every piece of a model is made of: checked, immutable, placed in the world, named.

`@item` makes a dataclass whose fields are validated when it is built, from Python and from model files
alike. The field types below also say how a value moves when a component is placed somewhere else, and
which strings are names of bodies, joints or markers: one description serves checks, files, the JSON
schema and instancing.
"""

from __future__ import annotations

import dataclasses
import math
import re
import types
import typing
from collections.abc import Callable, Iterator
from enum import Enum
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar, dataclass_transform

import numpy as np
from pydantic import AfterValidator, BeforeValidator, ConfigDict, Discriminator, Field, Tag, ValidationError
from pydantic.dataclasses import dataclass as pydantic_dataclass

from .describe import Doc
from .errors import ModelError, Problem, nearest
from .rotation import Placement, Vector
from .rotation import Quaternion as QuaternionTuple

GROUND = "ground"
"""Name of the world as a body."""


class Moves(Enum):
    """How a field's value changes when its component is placed: the method of `Placement` that does it."""

    POINT = "point"
    POLAR = "polar"
    AXIAL = "axial"
    ORIENTATION = "turn"
    LOCAL_POLAR = "local_polar"


class Refers(Enum):
    """What a string names; the value says it in messages."""

    BODY = "body"
    JOINT = "joint"
    MARKER = "marker"
    MATERIAL = "material"
    DRIVE = "drive"
    LOAD = "load"
    PANEL_GROUP = "panel group"
    GROUP = "group"
    TOUCHING = "body, scenery or group"


def _plain(value: Any) -> Any:
    """NumPy scalars and arrays as Python numbers and lists; everything else as it is."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(x) for x in value]
    return value


def _nonzero(value: tuple[float, ...]) -> tuple[float, ...]:
    if not any(value):
        raise ValueError("must not be the zero vector")
    return value


def _unit(value: tuple[float, ...]) -> tuple[float, ...]:
    """Normalise only what is not already a unit quaternion, so that files round-trip to the bit."""
    norm = math.hypot(*value)  # does not overflow
    if norm < 1e-6:
        raise ValueError("a quaternion must not be zero")
    return value if abs(norm - 1.0) < 4e-16 else tuple(x / norm for x in value)


def _named(value: str) -> str:
    if not value or any(c.isspace() or c in "/:\\\"'" for c in value):
        raise ValueError("a name is one word without spaces, colons, slashes or quotes")
    if value == GROUND:
        raise ValueError(f"'{GROUND}' is the name of the world")
    return value


def _turn(value: Any) -> Any:
    """Allow {axis: [x, y, z], angle: rad} for an orientation."""
    if isinstance(value, dict) and set(value) == {"axis", "angle"}:
        from .rotation import about

        axis, angle = _plain(value["axis"]), value["angle"]
        numeric = isinstance(axis, list) and len(axis) == 3 and any(axis)
        if not numeric or not all(_is_number(x) and abs(x) < 1e308 for x in [*axis, angle]):
            raise ValueError("needs axis: [x, y, z] (not zero) and angle: number [rad]")
        return list(about(axis, angle))
    return _plain(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


Number = Annotated[float, BeforeValidator(_plain), Field(strict=True, allow_inf_nan=False)]
Positive = Annotated[Number, Field(gt=0)]
NonNegative = Annotated[Number, Field(ge=0)]
Flag = Annotated[bool, BeforeValidator(_plain), Field(strict=True)]
"""True or false; 1, "on" and the like are refused."""
_Triple = Annotated[tuple[Number, Number, Number], BeforeValidator(_plain)]
Size3 = Annotated[tuple[Positive, Positive, Positive], BeforeValidator(_plain)]
Name = Annotated[str, Field(strict=True, max_length=200), AfterValidator(_named)]

Point = Annotated[_Triple, Moves.POINT]
"""A position in the world of the assembled pose [m]."""
Polar = Annotated[_Triple, Moves.POLAR]
"""A force or direction in world axes."""
Axial = Annotated[_Triple, Moves.AXIAL]
"""A torque or turning axis in world axes."""
Axis = Annotated[_Triple, Moves.AXIAL, AfterValidator(_nonzero)]
"""A joint's axis in world axes, any length but zero."""
LocalOffset = Annotated[_Triple, Moves.LOCAL_POLAR]
"""A position written in a body's own frame [m]."""
Orientation = Annotated[
    tuple[Number, Number, Number, Number], BeforeValidator(_turn), AfterValidator(_unit), Moves.ORIENTATION
]
"""A unit quaternion [w, x, y, z], or {axis: [x, y, z], angle: rad}."""
LocalOrientation = Annotated[
    tuple[Number, Number, Number, Number], BeforeValidator(_turn), AfterValidator(_unit)
]
"""A unit quaternion [w, x, y, z] or {axis: [x, y, z], angle: rad}, written in a body's own frame."""
BodyName = Annotated[str, Field(strict=True, min_length=1), Refers.BODY]
JointName = Annotated[str, Field(strict=True, min_length=1), Refers.JOINT]
MarkerName = Annotated[str, Field(strict=True, min_length=1), Refers.MARKER]
MaterialName = Annotated[str, Field(strict=True, min_length=1), Refers.MATERIAL]
DriveName = Annotated[str, Field(strict=True, min_length=1), Refers.DRIVE]
LoadName = Annotated[str, Field(strict=True, min_length=1), Refers.LOAD]
PanelGroupName = Annotated[str, Field(strict=True, min_length=1), Refers.PANEL_GROUP]
GroupName = Annotated[str, Field(strict=True), AfterValidator(_named), Refers.GROUP]
"""A label that bodies and scenery share: it exists where it is written, and gets an instance's prefix like a name."""
TouchingName = Annotated[str, Field(strict=True, min_length=1), Refers.TOUCHING]
Color = Annotated[str, Field(pattern=r"^#[0-9a-fA-F]{6}$")]
"""For pictures, as #rrggbb."""


def either(*options: tuple[str, Any], by: Callable[[Any], str]) -> Any:
    """A union whose branch is chosen by looking at the value, so that errors speak of that branch only."""
    tagged = tuple(Annotated[hint, Tag(f"{_TAG}{name}")] for name, hint in options)
    return Annotated[typing.Union[tagged], Discriminator(lambda value: f"{_TAG}{by(value)}")]  # noqa: UP007


_TAG = "one:"


def _one_or_each(one: Any) -> Any:
    return either(
        ("one", one),
        ("each", tuple[one, ...]),
        by=lambda value: "each" if isinstance(value, list | tuple | np.ndarray) else "one",
    )


_Bound = Annotated[tuple[Number | None, Number | None], BeforeValidator(_plain)]

if typing.TYPE_CHECKING:
    Place = Vector | str
    Bounds = tuple[float | None, float | None] | tuple[tuple[float | None, float | None], ...]
    PerCoordinate = float | tuple[float, ...]
    PerCoordinateNonNegative = float | tuple[float, ...]
else:
    Place = either(
        ("point", Point), ("marker", MarkerName), by=lambda v: "marker" if isinstance(v, str) else "point"
    )
    PerCoordinate = Annotated[_one_or_each(Number), BeforeValidator(_plain)]
    Bounds = Annotated[
        either(
            ("one", _Bound),
            ("each", tuple[_Bound, ...]),
            by=lambda v: (
                "each" if isinstance(v, list | tuple) and v and isinstance(v[0], list | tuple) else "one"
            ),
        ),
        BeforeValidator(_plain),
    ]
    PerCoordinateNonNegative = Annotated[_one_or_each(NonNegative), BeforeValidator(_plain)]
# Place: a position in the world of the assembled pose [m], or the name of a marker.
# PerCoordinate: one number for all coordinates of a joint, or one for each.

C = TypeVar("C")


@dataclass_transform(frozen_default=True, field_specifiers=(Field, dataclasses.field))
def item(cls: type[C]) -> type[C]:
    """Make a class an immutable dataclass whose constructor explains every wrong value at once."""
    made = pydantic_dataclass(
        frozen=True,
        config=ConfigDict(extra="forbid", arbitrary_types_allowed=True, use_attribute_docstrings=True),
    )(cls)
    build = made.__init__

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        try:
            build(self, *args, **kwargs)
        except ValidationError as error:
            name = args[0] if args and isinstance(args[0], str) else kwargs.get("name", "")
            label = f"{cls.__name__} '{name}'" if name else cls.__name__
            raise ModelError(
                Problem(".".join([label, *map(str, where)]), what) for where, what in explain(error, made)
            ) from None

    __init__.__wrapped__ = build  # type: ignore[attr-defined]
    made.__init__ = __init__  # type: ignore[method-assign]
    made.__doc__ = Doc(made.__doc__)  # type: ignore[assignment]
    return made  # type: ignore[return-value]


def explain(error: ValidationError, cls: type) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """(path, message) of every mistake that pydantic found, in our words."""
    seen: set[tuple[tuple[str | int, ...], str]] = set()
    entries = error.errors(include_url=False)
    for entry in entries:
        kind, value = entry["type"], entry.get("input")
        path, inner = _user_path(cls, entry["loc"])
        short = kind == "missing" and path and isinstance(path[-1], int)
        if short:
            path, what = path[:-1], f"must have {_full_length(entries, entry['loc'])} entries"
        elif kind == "union_tag_invalid":
            path, tag = (*path, entry["ctx"]["discriminator"].strip("'")), entry["ctx"]["tag"]
            what = f"'{tag}' is not known" + nearest(
                tag, re.findall("'(.*?)'", entry["ctx"]["expected_tags"])
            )
        else:
            told = str(entry["msg"]).removeprefix("Value error, ")
            what = _MESSAGES[kind].format(**entry.get("ctx", {})) if kind in _MESSAGES else told
        if kind in ("unexpected_keyword_argument", "extra_forbidden"):
            what += nearest(str(path[-1]), field_names(inner))
        elif path and (short or kind not in ("missing", "missing_argument", "union_tag_invalid")):
            what += f" (got {_shown(value)})"
        if (path, what) not in seen:
            seen.add((path, what))
            yield path, what


_MESSAGES = {
    **dict.fromkeys(("missing", "missing_argument"), "is required"),
    **dict.fromkeys(("unexpected_keyword_argument", "extra_forbidden"), "is not known here"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "must be true or false"),
    **dict.fromkeys(("string_too_short", "too_short"), "must not be empty"),
    **dict.fromkeys(
        ("dict_type", "dataclass_type", "model_attributes_type"), "must be a mapping of names to values"
    ),
    "float_type": "must be a number",
    "finite_number": "must be a finite number",
    "string_type": "must be a text",
    "string_too_long": "must have at most {max_length} characters",
    "string_unicode": "is not valid text",
    "string_pattern_mismatch": "must match the pattern {pattern}",
    "greater_than": "must be greater than {gt:g}",
    "greater_than_equal": "must not be less than {ge:g}",
    "less_than_equal": "must not be greater than {le:g}",
    "tuple_type": "must be a list",
    "too_long": "must have at most {max_length} entries",
    "literal_error": "must be one of {expected}",
    "union_tag_not_found": "needs the key {discriminator}",
}
"""What pydantic's kinds of errors are called here; braces hold what it tells of them."""


def _user_path(cls: type, loc: tuple[str | int, ...]) -> tuple[tuple[str | int, ...], type]:
    """A path of pydantic without its names of union branches, and the class that its last key is in."""
    path: list[str | int] = []
    options: list[type] = [cls]
    for part in loc:
        if isinstance(part, str):
            if part.startswith(_TAG):
                continue
            branch = [option for option in options if part in (f.default for f in dataclasses.fields(option))]
            if len(options) > 1 and branch:
                options = branch
                continue
            cls = options[0] if options else cls
            options = list(_classes(_hints(cls).get(part)))
        path.append(part)
    return tuple(path), cls


def _classes(hint: Any) -> Iterator[type]:
    """The dataclasses that a type hint mentions."""
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        yield hint
    for option in typing.get_args(hint):
        yield from _classes(option)


def _full_length(entries: Any, loc: tuple[str | int, ...]) -> int:
    """Length of the list of which the entry at `loc` is missing: pydantic tells every missing one."""
    return 1 + max(int(e["loc"][-1]) for e in entries if e["type"] == "missing" and e["loc"][:-1] == loc[:-1])


def _shown(value: Any) -> str:
    text = "nothing" if value is None else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


@item
class Item:
    """Base of bodies, joints, loads and markers: a checked dataclass with a name."""

    kind: ClassVar[str] = ""
    """What model files call it."""
    shelf: ClassVar[str] = ""
    """Where a component keeps it: bodies, joints, loads, markers, materials, instances ..."""

    name: Name
    """One word, by which others refer to it; in a model file, its key."""

    def placed(self, placement: Placement, rename: Callable[[str], str]) -> Self:
        """A copy of the item in a component that stands at `placement`; `rename` turns its name and every reference."""
        named = {field: rename(value) for field, _, value in self.references()}
        # One construction for all of it: checking every item is most of what it takes to flatten a model.
        return dataclasses.replace(self, name=rename(self.name), **named, **self.moved_fields(placement))

    def moved_fields(self, placement: Placement) -> dict[str, Any]:
        """What changes of an item when its component is put at `placement`."""
        return _moved_fields(self, placement)

    def references(self) -> Iterator[tuple[str, Refers, str]]:
        """(field, what it refers to, name) of every reference to another item."""
        for name, marks in field_marks(type(self)).items():  # type: ignore[arg-type]
            value = getattr(self, name)
            if isinstance(value, str):
                for mark in marks:
                    if isinstance(mark, Refers):
                        yield name, mark, value


def _moved_fields(thing: Any, placement: Placement, **instead: Any) -> dict[str, Any]:
    """Fields of a thing as they are when it is put at `placement`; `instead` of those that it has."""
    changes: dict[str, Any] = {}
    for name, marks in field_marks(type(thing)).items():  # type: ignore[arg-type]
        value = instead.get(name, getattr(thing, name))
        if value is None or isinstance(value, str):
            continue
        for mark in marks:
            if isinstance(mark, Moves):
                changes[name] = getattr(placement, mark.value)(value)
    return changes


@cache
def field_marks(cls: type) -> dict[str, tuple[Any, ...]]:
    """The marks (Moves, Refers) in the annotations of a dataclass's fields."""
    return {name: tuple(_marks(hint)) for name, hint in _hints(cls).items()}


@cache
def _hints(cls: type) -> dict[str, Any]:
    """The type hints of a dataclass's fields."""
    hints = typing.get_type_hints(cls, include_extras=True)
    return {f.name: hints[f.name] for f in dataclasses.fields(cls)}


def _marks(hint: Any) -> Iterator[Any]:
    if typing.get_origin(hint) is Annotated:
        yield from (mark for mark in hint.__metadata__ if isinstance(mark, Moves | Refers))
        yield from _marks(hint.__origin__)
    elif typing.get_origin(hint) in (typing.Union, types.UnionType):
        for option in typing.get_args(hint):
            yield from _marks(option)


def field_names(cls: type) -> list[str]:
    """Names of a dataclass's fields, for hints."""
    return [f.name for f in dataclasses.fields(cls)] if dataclasses.is_dataclass(cls) else []


__all__ = [
    "GROUND", "Axial", "Axis", "BodyName", "Bounds", "Color", "DriveName", "Flag", "GroupName", "Item", "JointName",
    "Literal", "LoadName", "LocalOffset", "LocalOrientation", "MarkerName", "MaterialName", "Name", "NonNegative",
    "Number", "Orientation", "PanelGroupName", "PerCoordinate", "PerCoordinateNonNegative", "Place", "Point", "Polar",
    "Positive", "QuaternionTuple", "Refers", "Size3", "TouchingName", "Vector", "explain", "item",
]  # fmt: skip
