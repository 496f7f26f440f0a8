"""The JSON schema of model files, made from the classes of the model, for completion in editors."""

from __future__ import annotations

import math
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from ..model import Instance
from ..model.describe import field_texts, summary
from ..model.item import GROUND, Item, _classes, _hints, _turn
from ..model.sealed import Sealed
from ..vehicle import Axle, Track, Wheel
from .files import BUILT, VERSION
from .kinds import PLAIN, TYPED, file_types

_NUMBER = {"$ref": "#/$defs/number"}
_EXPRESSION = {"$ref": "#/$defs/expression"}
_VECTOR = {"type": "array", "items": _NUMBER, "minItems": 3, "maxItems": 3}
_TURN = {
    "type": "object",
    "properties": {"axis": {"$ref": "#/$defs/vector"}, "angle": _NUMBER | {"description": "[rad]"}},
    "required": ["axis", "angle"],
    "additionalProperties": False,
}
# Forms that occur everywhere, told once.
_SHARED: dict[str, dict[str, Any]] = {
    "number": {"anyOf": [{"type": "number"}, _EXPRESSION]},
    "non_negative": {"anyOf": [{"type": "number", "minimum": 0}, _EXPRESSION]},
    "positive": {"anyOf": [{"type": "number", "exclusiveMinimum": 0}, _EXPRESSION]},
    "vector": _VECTOR,
    "pair_of_limits": {
        "type": "array",
        "items": {"anyOf": [_NUMBER, {"type": "null"}]},
        "minItems": 2,
        "maxItems": 2,
    },
    "orientation": {"anyOf": [{"type": "array", "items": _NUMBER, "minItems": 4, "maxItems": 4}, _TURN]},
}
_SINGULAR = {
    "joints": "joint", "loads": "load", "drives": "drive", "couplings": "coupling", "control": "block",
}  # fmt: skip
_BESIDE = ("description", "default")
_LIMITS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}


def model_schema() -> dict[str, Any]:
    """A JSON schema (draft 2020-12) of model files."""
    classes: dict[str, Any] = {cls.kind: cls for cls in PLAIN.values()}
    classes |= {"placed": Instance, "sealed": Sealed, "wheel": Wheel, "axle": Axle, "track": Track}
    for shelf in TYPED:
        classes |= {_key(cls): cls for cls in file_types(shelf).values()}
    made, rest = TypeAdapter.json_schemas(
        [(key, "validation", TypeAdapter(cls)) for key, cls in classes.items()], schema_generator=_Generator
    )
    hints = [hint for cls in classes.values() for hint in _hints(cls).values()]
    defs = {cls.__name__: _item(rest["$defs"][cls.__name__], cls) for hint in hints for cls in _classes(hint)}
    for (key, _), schema in made.items():
        cls = classes[str(key)]
        # A class stands among the definitions if pydantic met it more than once.
        defs[str(key)] = _item(rest["$defs"][cls.__name__] if "$ref" in schema else schema, cls)
    defs["placed"]["properties"]["parameters"] = _parameters("Values that replace the component's own.")
    defs["instance"] = {"oneOf": [{"$ref": "#/$defs/placed"}, {"$ref": "#/$defs/sealed"}]}
    for shelf in TYPED:
        options = [{"$ref": f"#/$defs/{_key(cls)}"} for cls in file_types(shelf).values()]
        defs[_SINGULAR[shelf]] = {"oneOf": options}
    include = {"include": _text("A component file, relative to this file and in the model's folder.")}
    built = {
        "name": _text("Name of the component."),
        "parameters": _parameters("Numbers for expressions of this component."),
    }
    constructed = [_object({**built, key: {"$ref": f"#/$defs/{key}"}}, key) for key in BUILT]
    defs["component"] = {"anyOf": [_object(_sections()), _object(include, "include"), *constructed]}
    defs["expression"] = _text("Arithmetic over parameters, such as =L/2.") | {"pattern": "^="}
    top = {
        "linkwork": {"const": VERSION, "description": "Version of the format."},
        "units": {"const": "SI", "description": "Metres, kilograms, seconds, radians."},
        "gravity": {"$ref": "#/$defs/vector", "description": "Acceleration in world axes [m/s²]."},
        **_sections(),
        "components": _named("component", "Parts that instances place.")
        | {"propertyNames": {"type": "string"}},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Linkwork model",
        **_object(top, "linkwork", "units"),
        "$defs": {**_SHARED, **{key: defs[key] for key in sorted(defs)}},
    }


def _key(cls: type[Item]) -> str:
    """Under which name an item with a type is defined: `joint_hinge`."""
    return f"{_SINGULAR[cls.shelf]}_{cls.kind}"


class _Generator(GenerateJsonSchema):
    """Knows the two places where a file holds something else than the model does."""

    def is_instance_schema(self, schema: core_schema.IsInstanceSchema) -> JsonSchemaValue:
        return _text("Name of a component.")

    def function_before_schema(self, schema: core_schema.BeforeValidatorFunctionSchema) -> JsonSchemaValue:
        if schema["function"]["function"] is _turn:
            return {"format": "orientation"}  # becomes a reference below: pydantic resolves its own only
        return super().function_before_schema(schema)


def _item(schema: dict[str, Any], cls: Any) -> dict[str, Any]:
    """The schema of an item as it stands in a file: its key is its name, and some have a type."""
    properties: dict[str, Any] = {}
    meanings = {field.name: field.meaning for field in field_texts(cls) if field.meaning}
    required = [key for key in schema.get("required", ()) if key != "name"]
    if getattr(cls, "shelf", "") in TYPED:
        properties["type"] = {"const": cls.kind, "description": summary(cls)}
        required.insert(0, "type")
    for key, value in schema["properties"].items():
        if key == "name":
            continue
        properties[key] = _simple(value)
        if "const" in value:  # it tells which class is meant, so a file must state it
            required.insert(0, key)
        if key in meanings:
            properties[key]["description"] = meanings[key]
    return {"description": summary(cls), **_object(properties, *required)}


def _simple(schema: Any) -> Any:
    """A shorter schema that says as much: shared forms by reference, every number may also be an expression."""
    if isinstance(schema, list):
        return [_simple(entry) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    # JSON has no infinity; what is unlimited by default says so in its description.
    beside = {key: schema[key] for key in _BESIDE if key in schema and schema[key] != math.inf}
    made = {
        _LIMITS.get(key, key): _simple(value)
        for key, value in schema.items()
        if key not in (*_BESIDE, "title", "discriminator")
    }
    if made.get("type") == "number":
        made = {"anyOf": [made, _EXPRESSION]}
    if "prefixItems" in made and all(entry == made["prefixItems"][0] for entry in made["prefixItems"]):
        made["items"] = made.pop("prefixItems")[0]
    for name, shared in _SHARED.items():
        if made in (shared, {"format": name}):
            made = {"$ref": f"#/$defs/{name}"}
    return made | beside


def _sections() -> dict[str, Any]:
    return {
        "name": _text("Name of the model or component."),
        "ports": {
            "type": ["array", "null"],
            "items": {"type": "string", "minLength": 1},
            "description": "Bodies by which others may attach; without it, every body.",
        },
        "parameters": _parameters("Numbers for expressions; a later one may be computed from earlier ones."),
        "bodies": _named("body", "Rigid bodies."),
        "scenery": _named("scenery", "Fixed surroundings: floors, walls, terrain."),
        "markers": _named("marker", "Frames on bodies."),
        "joints": _named("joint", "Joints between bodies."),
        "loads": _named("load", "Forces, torques and springs."),
        "drives": _named("drive", "Motors, servos and torques on joints."),
        "couplings": _named("coupling", "Joints that follow others."),
        "materials": _named("material", "What touches is made of them."),
        "material_pairs": _named("material_pair", "What two materials have between them."),
        "no_contacts": _named("no_contact", "What never touches."),
        "control": _named("block", "Blocks of the control diagram, and elements of the operator's panel."),
        "panel": _named("panel_group", "Groups of the operator's panel."),
        "instances": _named("instance", "Components, placed."),
    }


def _named(what: str, description: str) -> dict[str, Any]:
    """A section: names to items."""
    return {
        "type": ["object", "null"],
        "description": description,
        "propertyNames": {"pattern": r"^[^\s/:\\\"'.]+$", "not": {"const": GROUND}},
        "additionalProperties": {"$ref": f"#/$defs/{what}"},
    }


def _parameters(description: str) -> dict[str, Any]:
    return {"type": ["object", "null"], "description": description, "additionalProperties": _NUMBER}


def _object(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def _text(description: str) -> dict[str, Any]:
    return {"type": "string", "description": description}
