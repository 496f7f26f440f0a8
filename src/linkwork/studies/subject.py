"""What a study varies: a scene, a model file, a model or a function that builds one, with numbers of it changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..model import Model
from ..model.component import SHELVES, Flat
from ..model.edit import with_gravity, with_item
from ..model.errors import LinkworkError, nearest
from ..scenes import Scene, open_subject

Buildable = str | Model | Callable[..., Model]
"""A scene's name, a file's path, a model, or a function of the parameters that gives one."""
_AXES = ("x", "y", "z")


@dataclass(frozen=True)
class Subject:
    """Something to simulate many times."""

    what: Buildable
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Parameters that are the same in all cases."""
    edits: frozenset[str] = frozenset()
    """Names that stand for fields of items; all others are parameters."""

    @property
    def name(self) -> str:
        """As the user wrote it, or the name of the model or function."""
        if isinstance(self.what, str):
            return self.what
        return (
            self.what.name if isinstance(self.what, Model) else str(getattr(self.what, "__name__", self.what))
        )

    def varying(self, names: Iterable[str]) -> Subject:
        """This, after a look at which of the names of parameters stand for fields of items."""
        if callable(self.what):
            return self
        model, _ = open_subject(self.what, dict(self.settings))
        flat = model.flatten()
        wanted = list(names)
        edits = frozenset(name for name in wanted if "." in name and _field_of(flat, name))
        for name in wanted:
            within = "." in name and name.partition(".")[0] in model.instances
            if name not in edits and (isinstance(self.what, Model) or ("." in name and not within)):
                raise LinkworkError(_nothing(model, name))
        return replace(self, edits=edits)

    def build(self, values: Mapping[str, float]) -> tuple[Model, Scene | None]:
        """The model of a case, and the scene that it is of.

        A name without a dot is a parameter of the scene, file or function; one with dots a field of an item
        (`spring.stiffness`, `arm.com.x`, `gravity.z`) or else a parameter of an instance of the file (`left.length`).
        """
        if callable(self.what):
            return self.what(**self.settings, **values), None
        mine = {name: _fitting(value) for name, value in values.items() if name not in self.edits}
        model, scene = open_subject(self.what, {**self.settings, **mine})
        for name in values:
            if name in self.edits:
                model = edited(model, name, values[name])
        return model, scene


def _fitting(value: float) -> float | int:
    """Whole numbers as such: a number of links, for instance."""
    return int(value) if float(value).is_integer() and abs(value) < 2**53 else float(value)


def edited(model: Model, name: str, value: float) -> Model:
    """The model with one number changed: a field of an item, or a component of one, by its dotted name."""
    found = _field_of(model.flatten(), name)
    if not found:
        raise LinkworkError(_nothing(model, name))
    shelf, owner, attribute, axis = found
    if not owner:
        old = list(model.gravity)
        old[axis or 0] = value
        return with_gravity(model, (old[0], old[1], old[2]))
    if axis is None:
        return with_item(model, shelf, owner, **{attribute: value})
    vector = list(getattr(getattr(model.flatten(), shelf)[owner], attribute))
    vector[axis] = value
    return with_item(model, shelf, owner, **{attribute: tuple(vector)})


def _nothing(model: Model, name: str) -> str:
    return f"there is nothing called '{name}' to vary{nearest(name, fields(model))}"


def fields(model: Model) -> list[str]:
    """All numbers of a model that may be varied by name."""
    flat, found = model.flatten(), [f"gravity.{axis}" for axis in _AXES]
    for shelf in SHELVES:
        for owner, item in getattr(flat, shelf).items():
            for attribute, value in vars(item).items():
                if _is_number(value):
                    found.append(f"{owner}.{attribute}")
                elif _is_triple(value):
                    found += [f"{owner}.{attribute}.{axis}" for axis in _AXES]
    return found


def _field_of(flat: Flat, name: str) -> tuple[str, str, str, int | None] | None:
    """Shelf, item, field and component that a dotted name stands for, if it is one."""
    parts = name.split(".")
    axis = _AXES.index(parts[-1]) if parts[-1] in _AXES and len(parts) > 1 else None
    if axis is not None and parts[:-1] == ["gravity"]:
        return "", "", "gravity", axis
    for cut, component in ((1, None), (2, axis)):
        if cut == 2 and (axis is None or len(parts) < 3):
            continue
        owner, attribute = ".".join(parts[:-cut]), parts[-cut]
        for shelf in SHELVES:
            item = getattr(flat, shelf).get(owner)
            value = getattr(item, attribute, None) if item is not None and attribute in vars(item) else None
            if (_is_number(value) and cut == 1) or (_is_triple(value) and cut == 2):
                return shelf, owner, attribute, component
    return None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_triple(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) == 3 and all(map(_is_number, value))
