"""Models with some numbers changed: an item by its dotted name, wherever it stands in the hierarchy."""

from __future__ import annotations

import copy
import dataclasses
from typing import TYPE_CHECKING, Any, TypeVar

from .component import Component, Model
from .errors import LinkworkError, nearest
from .sealed import Sealed

if TYPE_CHECKING:
    from .load import Load

C = TypeVar("C", bound=Component)


def with_gravity(model: Model, gravity: tuple[float, float, float]) -> Model:
    """The model under another gravity [m/s²]."""
    made = with_shelves(model)
    made.gravity = gravity
    return made


def with_item(model: C, shelf: str, name: str, **fields: Any) -> C:
    """The model in which fields of one joint, load, drive … have other values.

    Only the instance of the component that holds it is changed, not others made of the same component.
    """
    made = with_shelves(model)
    instance, dot, rest = name.partition(".")
    if dot and instance in made.instances:
        old = made.instances[instance]
        if isinstance(old, Sealed):
            raise LinkworkError(f"'{name}' cannot be changed: component '{instance}' is sealed")
        inner = with_item(old.component, shelf, rest, **fields)
        made.instances[instance] = dataclasses.replace(old, component=inner)
        return made
    items = getattr(made, shelf)
    if name not in items:
        raise LinkworkError(f"there is no '{name}' among the {shelf} of '{model.name}'{nearest(name, items)}")
    items[name] = dataclasses.replace(items[name], **fields)
    return made


def with_shelves(component: C) -> C:
    """A copy of a component with shelves of its own, to be changed."""
    made = copy.copy(component)
    made.take_from(component)
    made.instances = dict(component.instances)
    return made


def with_load(model: Model, load: Load) -> Model:
    """The model with one more load."""
    made = with_shelves(model)
    made.add(load)
    return made
