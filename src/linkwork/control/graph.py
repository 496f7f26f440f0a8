"""What of a diagram is seen at once: blocks of one level, instances of components as one box each, what joins them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from ..model.block import Block
from .blocks.actuators import Inlet
from .diagram import Diagram, Wired


class Plug(NamedTuple):
    """An input of a box."""

    name: str
    """As it is called in the box."""
    block: str
    """The block of the diagram whose input it is."""
    path: tuple[str | int, ...]
    """Field of that block, and number in the list."""
    stub: str
    """What it takes that is not in sight: a signal of the model, a number; nothing if a wire comes in."""
    negative: bool
    open: bool
    """Whether it takes a number, as one does that nobody has connected."""


class Socket(NamedTuple):
    """An output of a box."""

    name: str
    output: str
    """The output of the diagram: `<block>.<port>`."""
    unit: str


@dataclass
class Box:
    """A block, or an instance of a component with all that is in it."""

    name: str
    block: Block | None
    """None of an instance."""
    plugs: list[Plug] = field(default_factory=list)
    sockets: list[Socket] = field(default_factory=list)


class Link(NamedTuple):
    """A wire in sight, from a socket to a plug."""

    source: str
    socket: int
    target: str
    plug: int
    output: str
    negative: bool


@dataclass
class Graph:
    """A level of a diagram; made by `graph_of`."""

    boxes: dict[str, Box]
    links: list[Link]


def graph_of(diagram: Diagram, inside: str = "") -> Graph:
    """The level of a diagram inside an instance; by default the top."""
    start = f"{inside}." if inside else ""
    boxes: dict[str, Box] = {}
    for name, block in diagram.blocks.items():
        if name.startswith(start):
            head, dot, _ = name[len(start) :].partition(".")
            boxes.setdefault(start + head, Box(start + head, None if dot else block))
    seen: dict[str, tuple[str, int]] = {}  # outputs: box and socket
    taken = {wire.source for wire in diagram.wires if not _same(wire, start)}
    for output in diagram.outputs.values():
        box = _box_of(output.block, start)
        if box is None or (boxes[box].block is None and output.name not in taken):
            continue  # what an instance has inside and nobody takes is not shown
        name = output.name[len(box) + 1 :].removesuffix(".out") if boxes[box].block is None else output.port
        seen[output.name] = box, len(boxes[box].sockets)
        boxes[box].sockets.append(Socket("" if name == "out" else name, output.name, output.unit))
    links: list[Link] = []
    told = {(wire.block, wire.input): wire for wire in diagram.wires}
    for name, block in diagram.blocks.items():
        box = _box_of(name, start)
        if box is None:
            continue
        one = boxes[box]
        if one.block is None and not (isinstance(block, Inlet) and "." not in name[len(box) + 1 :]):
            continue  # inputs of an instance are its inlets
        for taken_in in block.inputs_now():
            wire = told.get((name, taken_in.name))
            label = name[len(box) + 1 :] if one.block is None else taken_in.name.replace("inputs.", "")
            if block.kind == "formula":
                label = ""  # its text names what it takes
            here = seen.get(wire.source) if wire is not None else None
            stub = "" if here else _stub(wire, taken_in.wire)
            negative = wire is not None and wire.negative
            if here:
                links.append(
                    Link(here[0], here[1], box, len(one.plugs), wire.source if wire else "", negative)
                )
            one.plugs.append(
                Plug(label, name, taken_in.path, stub, negative, not isinstance(taken_in.wire, str))
            )
    return Graph(boxes, links)


def _box_of(block: str, start: str) -> str | None:
    if not block.startswith(start):
        return None
    return start + block[len(start) :].partition(".")[0]


def _same(wire: Wired, start: str) -> bool:
    """Whether a wire stays within one box."""
    return _box_of(wire.block, start) is not None and _box_of(wire.block, start) == _box_of(
        wire.source, start
    )


def _stub(wire: Wired | None, text: str | float) -> str:
    if isinstance(text, str):
        return text.removeprefix("-")
    return f"{text:g}"
