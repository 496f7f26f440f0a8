"""What an editor shows of a block: its fields with what they mean and how they are written, and what it may take."""

from __future__ import annotations

from typing import Any

from ...control.blocks import BLOCKS, FAMILIES
from ...io.edit_text import TextEditor
from ...io.kinds import file_types
from ...model.block import wire_fields
from ...model.describe import field_texts, summary
from ...model.errors import LinkworkError
from .draft import Draft


def palette() -> list[dict[str, Any]]:
    """All blocks that a file can hold, by family."""
    known = file_types("control")
    told = []
    for family, classes in FAMILIES.items():
        blocks = [
            {"kind": cls.kind, "about": summary(cls).split("\n")[0]} for cls in classes if cls.kind in known
        ]
        if blocks:
            told.append({"family": family, "blocks": blocks})
    return told


def form_of(draft: Draft, name: str) -> dict[str, Any]:
    """The form of a block or an instance."""
    block = draft.diagram.blocks.get(name)
    faults = [fault.what for fault in draft.diagram.faults if fault.block == name]
    if block is None:
        return {
            "name": name,
            "kind": "component",
            "about": "Double-click to look inside.",
            "fields": [],
            "faults": faults,
        }
    inputs = {field for field, _ in wire_fields(type(block))}
    try:
        entry, locked = draft.entry(name), ""
    except LinkworkError as error:
        entry, locked = None, str(error)
    editor = TextEditor(draft.text)
    fields = [
        {
            "name": field.name, "type": field.type, "default": field.default, "meaning": field.meaning,
            "input": field.name in inputs,
            "text": editor.written((*entry, field.name)) if entry and editor.has((*entry, field.name)) else "",
        }
        for field in field_texts(BLOCKS[block.kind])
        if field.name not in ("name", "spot")
    ]  # fmt: skip
    return {
        "name": name, "kind": block.kind, "about": summary(type(block)), "fields": fields, "faults": faults,
        "locked": locked, "spot": block.spot is not None,
    }  # fmt: skip


def wires_of(draft: Draft, inside: str) -> list[str]:
    """What inputs may take at a level: outputs and signals."""
    start = f"{inside}." if inside else ""
    outputs = [
        name[len(start) :].removesuffix(".out") for name in draft.diagram.outputs if name.startswith(start)
    ]
    signals = [name[len(start) :] for name in draft.diagram.signals if name.startswith(start)]
    return [*outputs, *signals]
