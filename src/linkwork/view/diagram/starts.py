"""What a block begins with that is added to a diagram: its inputs are 0, its numbers such that it does something."""

from __future__ import annotations

import dataclasses
from typing import Any

from ...control.blocks import BLOCKS
from ...control.diagram import Diagram
from ...model import Flat
from ...model.block import wire_fields
from ...model.errors import LinkworkError, nearest

# By field, where a block must be told.
_NUMBERS: dict[str, Any] = {
    "value": 1, "frequency": 1, "first": 0.1, "last": 10, "duration": 10, "every": 1, "times": [0, 1], "values": [0, 1],
    "sample_time": 0.01, "direction": [0, 0, -1], "rising": 1, "on_above": 1, "off_below": -1, "gap": 0.1, "x": [0, 1],
    "y": [0, 1], "numerator": [1], "denominator": [1, 1], "A": [[-1]], "B": [[1]], "C": [[1]], "time_constant": 1,
    "count": 10, "relation": ">", "choices": ["one", "two"], "formula": "0",
}  # fmt: skip
_KINDS: dict[str, dict[str, Any]] = {
    "lookup_2d": {"values": [[0, 1], [1, 2]]},
    "sum": {"inputs": [0, 0]},
    "product": {"inputs": [1, 1]},
    "state_machine": {"states": ["off", "on"], "transitions": []},
    "state_space": {"inputs": [0]},
    "sampled_state_space": {"inputs": [0]},
}
_LISTS = ("minimum", "maximum", "norm", "and", "or")


def start_of(kind: str, flat: Flat, diagram: Diagram) -> dict[str, Any]:
    """A block of a kind as a model file writes it."""
    if kind not in BLOCKS:
        raise LinkworkError(f"there is no block '{kind}'{nearest(kind, BLOCKS)}")
    cls = BLOCKS[kind]
    inputs = {name for name, _ in wire_fields(cls)}
    told: dict[str, Any] = {"type": kind}
    for field in dataclasses.fields(cls):
        if field.name == "name" or field.default is not dataclasses.MISSING:
            continue
        if field.name in _KINDS.get(kind, {}):
            told[field.name] = _KINDS[kind][field.name]
        elif field.name in inputs:
            told[field.name] = [0, 0] if kind in _LISTS else [0, 0, 0] if field.name in ("a", "b") else 0
        elif field.name in ("drive", "load", "joint", "body"):
            told[field.name] = _target(field.name, flat, diagram)
        elif field.name in _NUMBERS:
            told[field.name] = _NUMBERS[field.name]
    return told


def _target(what: str, flat: Flat, diagram: Diagram) -> str:
    """The first drive, load, joint or body that no block commands yet."""
    shelves: dict[str, Any] = {
        "drive": flat.drives,
        "load": flat.loads,
        "joint": flat.joints,
        "body": flat.bodies,
    }
    known: list[str] = [
        name
        for name, thing in shelves[what].items()
        if getattr(thing, "signal", None) is None and (what != "joint" or thing.switchable)
    ]
    if not known:
        raise LinkworkError(f"the model has no {what} that such a block could act on")
    taken = {getattr(block, what, None) for block in diagram.blocks.values()} if what != "body" else set()
    return next((name for name in known if name not in taken), known[0])
