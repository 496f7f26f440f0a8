"""The JSON schema of model files, made from the classes of the model, for completion and checks in editors."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from ..item import GROUND, Polar, _turn
from ..joints import JOINTS
from ..model import Body, Instance, Marker
from .files import VERSION
from .kinds import file_loads

_EXPRESSION = {"$ref": "#/$defs/expression"}
_SOURCES: dict[str, Any] = {"body": Body, "marker": Marker, "instance": Instance, "vector": Polar}


def model_schema() -> dict[str, Any]:
    """A JSON schema (draft 2020-12) of model files."""
    kinds = {f"joint.{kind}": cls for kind, cls in JOINTS.items()}
    kinds |= {f"load.{kind}": cls for kind, cls in file_loads().items()}
    made, shared = TypeAdapter.json_schemas(
        [(key, "validation", TypeAdapter(hint)) for key, hint in (_SOURCES | kinds).items()],
        schema_generator=_Generator,
    )
    defs: dict[str, Any] = dict(shared["$defs"])
    for (key, _), schema in made.items():
        # Dataclasses stand among the definitions under their own names already.
        described = defs.pop(schema["$ref"].removeprefix("#/$defs/")) if "$ref" in schema else schema
        defs[str(key)] = _described(described, str(key).partition("joint.")[2] or str(key).partition("load.")[2])
    defs["instance"]["properties"]["parameters"] = _parameters("Values that replace the component's own.")
    defs["joint"] = {"oneOf": [{"$ref": f"#/$defs/joint.{kind}"} for kind in JOINTS]}
    defs["load"] = {"oneOf": [{"$ref": f"#/$defs/load.{kind}"} for kind in file_loads()]}
    defs["component"] = {
        "anyOf": [
            {"type": "object", "properties": _sections(), "additionalProperties": False},
            {
                "type": "object",
                "properties": {"include": _text("A component file, relative to this one and in its folder.")},
                "required": ["include"],
                "additionalProperties": False,
            },
        ]
    }
    defs["expression"] = _text("Arithmetic over parameters, such as =L/2.") | {"pattern": "^="}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Linkwork model",
        "type": "object",
        "properties": {
            "linkwork": {"const": VERSION, "description": "Version of the format."},
            "units": {"const": "SI", "description": "Metres, kilograms, seconds, radians."},
            "gravity": {"$ref": "#/$defs/vector", "description": "Acceleration in world axes [m/s²]."},
            **_sections(),
            "components": _named("component", "Definitions of parts that instances place."),
        },
        "required": ["linkwork", "units"],
        "additionalProperties": False,
        "$defs": _with_expressions({key: defs[key] for key in sorted(defs)}),
    }


class _Generator(GenerateJsonSchema):
    """Knows the two places where a file holds something else than the model does."""

    def is_instance_schema(self, schema: core_schema.IsInstanceSchema) -> JsonSchemaValue:
        return _text("Name of a component.")

    def function_before_schema(self, schema: core_schema.BeforeValidatorFunctionSchema) -> JsonSchemaValue:
        inner = super().function_before_schema(schema)
        if schema["function"]["function"] is not _turn:
            return inner
        vector = {"type": "array", "items": {"type": "number"}, "minItems": 3, "maxItems": 3}
        turn = {
            "type": "object",
            "properties": {"axis": vector, "angle": {"type": "number", "description": "[rad]"}},
            "required": ["axis", "angle"],
            "additionalProperties": False,
        }
        return {"anyOf": [inner, turn]}


def _described(schema: dict[str, Any], kind: str) -> dict[str, Any]:
    """The schema of an item as it stands in a file: its key is its name, and a joint or load has a type."""
    if "properties" not in schema:
        return schema
    properties = {key: value for key, value in schema["properties"].items() if key != "name"}
    required = [key for key in schema.get("required", ()) if key != "name"]
    if kind:
        properties = {"type": {"const": kind, "description": schema.get("description", "")}, **properties}
        required = ["type", *required]
    return {**schema, "properties": properties, "required": required, "additionalProperties": False}


def _sections() -> dict[str, Any]:
    return {
        "name": _text("Name of the model or component."),
        "parameters": _parameters("Numbers for expressions, each with its value."),
        "bodies": _named("body", "Rigid bodies."),
        "markers": _named("marker", "Frames on bodies."),
        "joints": _named("joint", "Joints between bodies."),
        "loads": _named("load", "Forces, torques and springs."),
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
    values = {"anyOf": [{"type": "number"}, _EXPRESSION]}
    return {"type": ["object", "null"], "description": description, "additionalProperties": values}


def _text(description: str) -> dict[str, Any]:
    return {"type": "string", "description": description}


def _with_expressions(schema: Any) -> Any:
    """The same schema where every number may also be an expression, and without pydantic's titles."""
    if isinstance(schema, list):
        return [_with_expressions(entry) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: _with_expressions(value) for key, value in schema.items() if not _is_title(key, value)}
    if schema.get("type") != "number":
        return made
    beside = {key: made.pop(key) for key in ("default", "description") if key in made}
    return {"anyOf": [made, _EXPRESSION], **beside}


def _is_title(key: str, value: Any) -> bool:
    return key == "title" and isinstance(value, str)
