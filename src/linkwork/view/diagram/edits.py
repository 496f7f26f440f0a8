"""What an editor does to a diagram: each a change of the text of the model file."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

from ...control.blocks.actuators import Inlet
from ...io.edit_text import Path, TextEditor
from ...model.block import Block, wire_fields
from ...model.errors import LinkworkError
from .draft import Draft, plain_value
from .starts import start_of


def add(draft: Draft, inside: str, kind: str) -> str:
    """Add a block of a kind; returns its name."""
    base = draft.base(inside)
    entry = start_of(kind, draft.flat, draft.diagram)
    name = _free(draft, inside, kind)
    draft.change(lambda text: text.put((*base, "control", name), entry))
    return f"{inside}.{name}" if inside else name


def connect(draft: Draft, block: str, way: str, wire: str) -> None:
    """Let an input take an output or signal; `way` is its field, and its number in a list; "inputs/+" adds one."""
    here = block.rpartition(".")[0]
    _put_input(draft, block, way, _seen_from(wire, here))


def cut(draft: Draft, block: str, way: str) -> None:
    """Let an input take nothing: of a list it goes, one that must be there takes 0."""
    cls, field, number = _input(draft, block, way)
    entry = draft.entry(block)

    def alter(text: TextEditor) -> None:
        if number is None:
            _clear(text, cls, entry, field)
            return
        values = text.plain((*entry, field))
        if len(values) > 1:
            del values[int(number)]
            text.put((*entry, field), values)
        else:
            text.put((*entry, field), [0])

    draft.change(alter)


def negate(draft: Draft, block: str, way: str) -> None:
    """Take an input with the other sign."""
    _, field, number = _input(draft, block, way)
    entry = draft.entry(block)
    path = (*entry, field) if number is None else (*entry, field, int(number))
    wire = TextEditor(draft.text).plain(path)
    if isinstance(wire, str):
        wire = wire[1:] if wire.startswith("-") else f"-{wire}"
    elif isinstance(wire, int | float):
        wire = -wire
    draft.change(lambda text: text.put(path, wire))


def delete(draft: Draft, names: list[str]) -> None:
    """Take out blocks and instances; what took their outputs is told to be wrong then."""
    entries = [draft.entry(name) for name in names]

    def alter(text: TextEditor) -> None:
        for entry in entries:
            text.remove(entry)

    draft.change(alter)


def put(draft: Draft, block: str, field: str, written: str) -> None:
    """Set a parameter or an input as one would write it in the file; nothing for its default."""
    entry = draft.entry(block)
    value = plain_value(written) if written.strip() else None

    def alter(text: TextEditor) -> None:
        if value is not None:
            text.put((*entry, field), value)
        elif text.has((*entry, field)):
            text.remove((*entry, field))

    draft.change(alter)


def move(draft: Draft, block: str, spot: tuple[float, float] | None) -> None:
    """Let a block stand at a place of the drawing; None: where the layout puts it."""
    if draft.diagram.blocks.get(block) is None:
        raise LinkworkError("instances stand where the layout puts them")
    put(draft, block, "spot", "" if spot is None else f"[{spot[0]:.3g}, {spot[1]:.3g}]")


def rename(draft: Draft, old: str, new: str) -> str:
    """Call a block otherwise, and what takes its outputs with it; returns its new name."""
    inside, _, own = old.rpartition(".")
    entry = draft.entry(old)
    if entry[-2] != "control":
        raise LinkworkError("instances are renamed in the file")
    name = plain_value(new)
    if not isinstance(name, str) or not name or "." in name:
        raise LinkworkError(f"'{new}' is no name for a block")
    if TextEditor(draft.text).has((*entry[:-1], name)):
        raise LinkworkError(f"there is a block '{name}' already")

    def renamed(wire: str) -> str:
        head, dot, tail = wire.partition(".")
        return f"{name}{dot}{tail}" if head == own else wire

    def alter(text: TextEditor) -> None:
        text.rename_key(entry, name)
        _rewire(text, draft, inside, (*entry[:-2],), renamed, {own: name})

    draft.change(alter)
    return f"{inside}.{name}" if inside else name


def group(draft: Draft, inside: str, names: list[str], label: str) -> str:
    """Put blocks into a component of their own, with an instance in their place; returns its name.

    What they take from outside comes in by inlets; who takes their outputs finds them there.
    """
    base = draft.base(inside)
    own = [name.rpartition(".")[2] for name in names]
    entries = [draft.entry(name) for name in names]
    if not names or any(entry[-2] != "control" for entry in entries):
        raise LinkworkError("choose blocks to group (Shift-click for several); instances stay where they are")
    text = TextEditor(draft.text)
    name = _free(draft, inside, label or "group")
    component = name
    for number in itertools.count(2):
        if not text.has(("components", component)):
            break
        component = f"{name}{number}"
    written = {one: text.written(entry) for one, entry in zip(own, entries, strict=True)}
    local = set(own)
    inlets: dict[str, str] = {}  # what comes in: by which inlet

    def inward(wire: str) -> str:
        if wire.partition(".")[0] in local:
            return wire
        if wire not in inlets:
            stem = wire.replace(".", "_")
            inlets[wire] = next(n for n in (stem, *(f"{stem}_{k}" for k in range(1, 99))) if n not in local)
        return inlets[wire]

    def outward(wire: str) -> str:
        return f"{name}.{wire}" if wire.partition(".")[0] in local else wire

    def alter(text: TextEditor) -> None:
        place = ("components", component, "control")
        for one, entry in zip(own, entries, strict=True):
            text.remove(entry)
            text.put_text(
                (*place, one), " ".join(written[one].split()) if "\n" in written[one] else written[one]
            )
        for one, full in zip(own, names, strict=True):
            _rewire_one(text, draft.diagram.blocks[full], (*place, one), inward)
        for inlet in inlets.values():
            text.put((*place, inlet), {"type": Inlet.kind})
        _rewire(text, draft, inside, base, outward, {}, but=local)
        instance: dict[str, Any] = {"component": component}
        if inlets:
            instance["inputs"] = {inlet: wire for wire, inlet in inlets.items()}
        text.put((*base, "instances", name), instance)

    draft.change(alter)
    return f"{inside}.{name}" if inside else name


# --- within ---


def _free(draft: Draft, inside: str, stem: str) -> str:
    """A name that nothing of the model has yet."""
    start = f"{inside}." if inside else ""
    flat = draft.flat
    shelves = (flat.bodies, flat.joints, flat.drives, flat.loads, flat.markers, draft.diagram.blocks)
    taken = {
        name[len(start) :].partition(".")[0] for shelf in shelves for name in shelf if name.startswith(start)
    }
    numbered = (f"{stem}{k}" for k in itertools.count(2))
    return next(name for name in itertools.chain([stem], numbered) if name not in taken)


def _seen_from(output: str, inside: str) -> str:
    """An output as a wire inside of an instance names it."""
    start = f"{inside}." if inside else ""
    minus = "-" if output.startswith("-") else ""
    output = output.removeprefix("-")
    if not output.startswith(start):
        raise LinkworkError(f"'{output}' is not within reach from inside '{inside}': bring it in by an inlet")
    return minus + output[len(start) :].removesuffix(".out")


def _input(draft: Draft, block: str, way: str) -> tuple[type[Block], str, str | None]:
    """Class of a block, and field and number of one of its inputs."""
    known = draft.diagram.blocks.get(block)
    if known is None:
        raise LinkworkError(f"there is no block '{block}'")
    field, _, number = way.partition("/")
    if field not in {name for name, _ in wire_fields(type(known))}:
        raise LinkworkError(f"what '{block}' takes is written in its {field}: change that")
    return type(known), field, number or None


def _put_input(draft: Draft, block: str, way: str, wire: str) -> None:
    _, field, number = _input(draft, block, way)
    if isinstance(draft.diagram.blocks[block], Inlet) and "." in block:
        instance, _, inlet = block.rpartition(".")
        outer = draft.entry(instance)
        outside = instance.rpartition(".")[0]
        wire = _seen_from(wire if not outside else f"{outside}.{wire}", outside)
        draft.change(lambda text: text.put((*outer, "inputs", inlet), wire))
        return
    entry = draft.entry(block)

    def alter(text: TextEditor) -> None:
        if number is None:
            text.put((*entry, field), wire)
            return
        values = text.plain((*entry, field))
        if number == "+":
            values.append(wire)
        else:
            values[int(number)] = wire
        text.put((*entry, field), values)

    draft.change(alter)


def _clear(text: TextEditor, cls: type[Block], entry: Path, field: str) -> None:
    """Let a field take its default, or 0 if it has none."""
    known = next(one for one in dataclasses.fields(cls) if one.name == field)
    if known.default is dataclasses.MISSING:
        text.put((*entry, field), 0)
    elif text.has((*entry, field)):
        text.remove((*entry, field))


def _rewire(text: TextEditor, draft: Draft, inside: str, base: Path, renamed: Any, names: dict[str, str],
            but: set[str] = frozenset()) -> None:  # type: ignore[assignment]  # fmt: skip
    """Rename wires of all blocks and instances of a component, but of those."""
    start = f"{inside}." if inside else ""
    for full, block in draft.diagram.blocks.items():
        own = full[len(start) :]
        if full.startswith(start) and "." not in own and own not in but:
            _rewire_one(text, block, (*base, "control", names.get(own, own)), renamed)
    for instance in text.plain((*base, "instances")) or {}:
        inputs = text.plain((*base, "instances", instance, "inputs")) or {}
        for port, wire in inputs.items():
            if isinstance(wire, str) and (other := _other(wire, renamed)) != wire:
                text.put((*base, "instances", instance, "inputs", port), other)


def _rewire_one(text: TextEditor, block: Block, entry: Path, renamed: Any) -> None:
    """Rename wires of one block as it is written."""
    for field in block.rewired(lambda name: name):
        value = text.plain((*entry, field))
        if isinstance(value, list):
            other: Any = [_other(wire, renamed) if isinstance(wire, str) else wire for wire in value]
        elif isinstance(value, str) and field in {name for name, _ in wire_fields(type(block))}:
            other = _other(value, renamed)
        else:
            continue
        if other != value:
            text.put((*entry, field), other)
    if block.kind == "formula":
        value = text.plain((*entry, "formula"))
        other = block.rewired(renamed)["formula"]
        if other != block.rewired(lambda name: name)["formula"]:
            text.put((*entry, "formula"), other)


def _other(wire: str, renamed: Any) -> str:
    minus = "-" if wire.startswith("-") else ""
    return minus + str(renamed(wire.removeprefix("-")))
