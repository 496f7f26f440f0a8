"""Whether a file fits the schema of model files."""

from __future__ import annotations

import math
import re
from typing import Any

from linkwork.io import model_schema

SCHEMA = model_schema()
KEYWORDS = {
    "$defs", "$ref", "$schema", "additionalProperties", "anyOf", "const", "default", "description", "enum",
    "exclusiveMaximum", "exclusiveMinimum", "items", "maxItems", "maxLength", "maximum", "minItems", "minLength",
    "minimum", "not", "oneOf", "pattern", "properties", "propertyNames", "required", "title", "type",
}  # fmt: skip
TYPES: dict[str, Any] = {
    "object": dict, "array": list, "string": str, "boolean": bool, "number": (int, float), "null": type(None),
}  # fmt: skip


def mismatches(schema: dict[str, Any], value: Any, root: dict[str, Any] | None = None, at: str = "") -> Any:
    """Where a value does not fit a JSON schema, as far as our schema uses the language."""
    root = root or schema
    assert schema.keys() <= KEYWORDS, f"keywords unknown to this test: {schema.keys() - KEYWORDS}"
    if "$ref" in schema:
        yield from mismatches(root["$defs"][schema["$ref"].removeprefix("#/$defs/")], value, root, at)
    for key, many in (("anyOf", False), ("oneOf", True)):
        fits = [not list(mismatches(option, value, root, at)) for option in schema.get(key, ())]
        if key in schema and (sum(fits) != 1 if many else not any(fits)):
            yield f"{at}: {key} fits {sum(fits)} times"
    if "not" in schema and not list(mismatches(schema["not"], value, root, at)):
        yield f"{at}: not allowed"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{at}: is none of {schema['enum']}"
    if "const" in schema and value != schema["const"]:
        yield f"{at}: is not {schema['const']}"
    types = schema.get("type", [])
    allowed = tuple(TYPES[name] for name in ([types] if isinstance(types, str) else types))
    flat = tuple(t for kind in allowed for t in (kind if isinstance(kind, tuple) else (kind,)))
    if flat and (not isinstance(value, flat) or (isinstance(value, bool) and bool not in flat)):
        yield f"{at}: is no {types}"
        return
    if isinstance(value, str):
        if not re.search(schema.get("pattern", ""), value) or not (
            schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", math.inf)
        ):
            yield f"{at}: pattern"
    elif isinstance(value, int | float) and not isinstance(value, bool):
        if value < schema.get("minimum", value) or value <= schema.get("exclusiveMinimum", -math.inf):
            yield f"{at}: too small"
        if value > schema.get("maximum", value) or value >= schema.get("exclusiveMaximum", math.inf):
            yield f"{at}: too large"
    elif isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", math.inf):
            yield f"{at}: length"
        for i, entry in enumerate(value):
            yield from mismatches(schema.get("items", {}), entry, root, f"{at}[{i}]")
    elif isinstance(value, dict):
        yield from (f"{at}: lacks {key}" for key in schema.get("required", ()) if key not in value)
        for key, inner in value.items():
            yield from mismatches(schema.get("propertyNames", {}), key, root, f"{at}.{key}")
            rest = schema.get("additionalProperties", {})
            known = schema.get("properties", {}).get(key, rest)
            if known is False:
                yield f"{at}.{key}: unknown"
            else:
                yield from mismatches(known, inner, root, f"{at}.{key}")
