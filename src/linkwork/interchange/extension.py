"""What a format cannot say, in an element of its own that other readers ignore.

Inside stands one element for each item of a model file, `<spring name="s" a="rod" b="ground" .../>`: its tag is the
type, its attributes are the fields, written as in model files, places in the world with all joints at zero. `<set>`
changes fields of an item that the file has, `<drop>` removes one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ..io.kinds import PLAIN, TYPED, file_types
from ..io.yaml_source import read_source
from ..model import Flat, Model
from ..model.errors import LinkworkError, ModelError, Problem, nearest
from ..model.item import GROUND, Item, Refers, _is_number, field_names
from ..model.rotation import matrix, vector
from .values import Values
from .xml_source import Element

TAG = "linkwork"
"""Of the element."""
AS_TEXT = ("name", "shelf", "a", "b", "body", "joint", "material", "group")
"""Attributes that are texts whatever they look like."""


@cache
def types() -> Mapping[str, type[Item]]:
    """Every item that a model file can hold, by its tag."""
    found: dict[str, type[Item]] = {cls.kind: cls for cls in PLAIN.values()}
    for shelf in TYPED:
        found |= file_types(shelf)
    return found


def read_extension(model: Model, element: Element, values: Values) -> None:
    """Add what an extension says to a model."""
    added: list[tuple[Element, Item]] = []
    for child in element.children:
        if child.tag == "frame":
            _frame(model, child, values)
            continue
        if child.tag == "set":
            _set(model, child, values)
            continue
        if child.tag == "drop":
            _drop(model, child, values)
            continue
        cls = types().get(child.tag)
        if cls is None:
            values.refuse(child, f"'{child.tag[:40]}' is no item of a model{nearest(child.tag, types())}")
            continue
        fields = _fields(child, values)
        name = fields.pop("name", "")
        try:
            made = cls(name, **fields)
            if cls.shelf == "joints":
                model.joints.pop(str(name), None)
            model.add(made)
            added.append((child, made))
            values.note("taken", child, f"{child.tag} '{name}'")
        except (LinkworkError, TypeError) as error:
            values.told(
                child, error if isinstance(error, LinkworkError) else ModelError([Problem("", str(error))])
            )
    _check(added, model, values)


def _check(added: list[tuple[Element, Item]], model: Model, values: Values) -> None:
    """Refuse names of what is not there, where they are written."""
    flat = Flat()
    flat.take_from(model)
    for element, made in added:
        for field, what, target in made.references():
            known = flat.of(what)
            if target not in known and not (what is Refers.BODY and target == GROUND):
                values.refuse(element, f"there is no {what.value} '{target}'{nearest(target, known)}", field)


def _frame(model: Model, element: Element, values: Values) -> None:
    """Put the frame of a body elsewhere in its link."""
    body = model.bodies.get(element.attributes.get("name", ""))
    at = _fields(element, values).get("at")
    if body is None or not (isinstance(at, list) and len(at) == 3 and all(_is_number(x) for x in at)):
        values.refuse(element, "needs the name of a body and at: three numbers")
        return
    shift = matrix(body.rotation).T @ (np.array(body.at) - np.array(at))
    moved: dict[str, Any] = {"at": tuple(at), "com": vector(body.mass_properties.com + shift)}
    shapes = tuple(dataclasses.replace(s, at=vector(np.array(s.at) + shift)) for s in body.shapes)
    model.bodies[body.name] = dataclasses.replace(body, **moved, shapes=shapes)


def _drop(model: Model, element: Element, values: Values) -> None:
    """Remove an item, which others stand for."""
    shelf, name = (element.attributes.get(key, "") for key in ("shelf", "name"))
    things = getattr(model, shelf) if shelf in (*PLAIN, *TYPED) else {}
    if things.pop(name, None) is None:
        values.refuse(element, f"there is no '{name}' on the shelf '{shelf}'{nearest(name, things)}")


def _set(model: Model, element: Element, values: Values) -> None:
    """Change fields of an item."""
    fields = _fields(element, values)
    shelf, name = str(fields.pop("shelf", "")), str(fields.pop("name", ""))
    if shelf == "model":
        if "gravity" in fields:
            try:
                model.gravity = fields["gravity"]
            except LinkworkError as error:
                values.told(element, error)
        return
    things = getattr(model, shelf) if shelf in (*PLAIN, *TYPED) else {}
    if name not in things:
        values.refuse(element, f"there is no '{name}' on the shelf '{shelf}'{nearest(name, things)}")
        return
    unknown = fields.keys() - set(field_names(type(things[name])))
    for key in unknown:
        values.refuse(element, f"is not known here{nearest(key, field_names(type(things[name])))}", key)
    if unknown:
        return
    try:
        things[name] = dataclasses.replace(things[name], **fields)
    except LinkworkError as error:
        values.told(element, error)


def _fields(element: Element, values: Values) -> dict[str, Any]:
    """Attributes as model files would read them."""
    found: dict[str, Any] = {}
    for key, text in element.attributes.items():
        if key in AS_TEXT:
            found[key] = text
            continue
        try:
            node, _ = read_source(Path("attribute"), text)
            found[key] = node.plain()
        except ModelError as error:
            values.refuse(element, error.problems[0].what, key)
    shapes = found.get("shapes")
    if isinstance(shapes, list) and any(isinstance(shape, dict) and "file" in shape for shape in shapes):
        values.refuse(element, "shapes of files cannot stand here", "shapes")
        del found["shapes"]
    return found
