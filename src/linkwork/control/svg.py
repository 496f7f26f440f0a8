"""A diagram as an SVG picture, for docs and for the page, which finds boxes, ports and wires by their data attributes."""

from __future__ import annotations

from html import escape
from typing import Any

from .diagram import Diagram, Fault
from ..model.block import Block, wire_fields
from ..model.item import field_names
from .graph import Box, Graph, graph_of
from .layout import HEAD, PITCH, Layout, Place, Point, lay_out

_ROUND = 7.0  # of corners of wires
_LONGEST = 20  # characters on a box
STYLE = """
.diagram { font: 11px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; fill: #1d2733; }
.diagram .box rect { fill: #fff; stroke: #b9c2cc; stroke-width: 1.2; }
.diagram .box.operated rect { fill: #eaf2fd; stroke: #7fa9e4; } .diagram .box.acting rect { fill: #fdf1e3; stroke: #dfae6d; }
.diagram .box.sampled rect { stroke-dasharray: 5 3; } .diagram .box.instance rect { fill: #f0ecfa; stroke: #a592d8; stroke-width: 2; }
.diagram .box.wrong rect { stroke: #c62828; stroke-width: 2.2; } .diagram .box.chosen rect { stroke: #266ed2; stroke-width: 2.5; }
.diagram .title { font-weight: 600; } .diagram .face { fill: #5d6977; } .diagram .port { font-size: 9.5px; fill: #5d6977; }
.diagram .wire { fill: none; stroke: #6b7886; stroke-width: 1.4; } .diagram .hit { fill: none; stroke: transparent; stroke-width: 11; }
.diagram .link:hover .wire, .diagram .link.chosen .wire { stroke: #266ed2; stroke-width: 2.4; }
.diagram .plug, .diagram .socket { fill: #6b7886; } .diagram .plug.wrong { fill: #c62828; r: 6px; }
.diagram .stub { font-size: 10px; fill: #266ed2; } .diagram .stubwire { stroke: #9cbce8; stroke-width: 1.2; }
.diagram .value { font-size: 10px; fill: #0b6b3a; font-variant-numeric: tabular-nums; } .diagram .minus { font-weight: 700; font-size: 13px; }
"""
# What stands on a box, by kind: a symbol, or fields of it in a text.
_FACES = {
    "sum": "Σ", "integrator": "1/s", "first_order": "1/(1 + T s), T = {time_constant}", "gain": "× {gain}", "formula": "{formula}",
    "constant": "{value}", "product": "Π", "compare": "input {relation} {other}",
}  # fmt: skip
_ACTING = ("drive", "force_command", "attach")


def diagram_svg(diagram: Diagram, inside: str = "", *, title: str = "") -> str:
    """The level of a diagram inside an instance (by default the top) as the text of an SVG file."""
    graph = graph_of(diagram, inside)
    layout = lay_out(graph)
    faults: dict[str, list[Fault]] = {}
    for fault in diagram.faults:
        faults.setdefault(fault.block, []).append(fault)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="diagram" width="{layout.width:.0f}" height="{layout.height:.0f}" '
        f'viewBox="0 0 {layout.width:.0f} {layout.height:.0f}" role="img" aria-label="{escape(title or "control diagram")}">',
        f"<style>{STYLE}</style>",
        *_wires(graph, layout),
        *(_box(box, layout.places[name], faults, diagram) for name, box in graph.boxes.items()),
        "</svg>",
    ]
    return "\n".join(parts)


def _wires(graph: Graph, layout: Layout) -> list[str]:
    parts = []
    for link, way in zip(graph.links, layout.ways, strict=True):
        plug = graph.boxes[link.target].plugs[link.plug]
        path, data = _rounded(way), _data(output=link.output, block=plug.block, path=_way(plug.path))
        parts.append(
            f'<g class="link" {data}><title>{escape(link.output)} → {escape(plug.block)}</title>'
            f'<path class="hit" d="{path}"/><path class="wire" d="{path}"/></g>'
        )
    return parts


def _box(box: Box, place: Place, faults: dict[str, list[Fault]], diagram: Diagram) -> str:
    inner = [
        fault
        for name, every in faults.items()
        if name == box.name or name.startswith(f"{box.name}.")
        for fault in every
    ]
    classes = " ".join(["box", *_classes(box.block), *(["wrong"] if inner else [])])
    said = "\n".join([box.name, *(fault.what for fault in inner)])
    name = box.name.rpartition(".")[2] if box.block is None or box.block.note is None else box.block.note
    middle = place.width / 2
    parts = [
        f'<g class="{classes}" transform="translate({place.x:.1f} {place.y:.1f})" {_data(box=box.name)}>',
        f"<title>{escape(said)}</title>",
        f'<rect width="{place.width:.0f}" height="{place.height:.1f}" rx="8"/>',
        f'<text class="title" x="{middle:.0f}" y="14" text-anchor="middle">{escape(_short(name))}</text>',
    ]
    face = face_of(box.block) if box.block is not None else "component"
    rows = max(len(box.plugs), len(box.sockets), 1)
    parts.append(
        f'<text class="face" x="{middle:.0f}" y="{HEAD + PITCH * (rows - 1) / 2 + 4:.1f}" text-anchor="middle">{escape(_short(face))}</text>'
    )
    wrong = {fault.path for fault in inner}
    for k, plug in enumerate(box.plugs):
        y = HEAD + PITCH * k
        if plug.stub:
            parts.append(f'<line class="stubwire" x1="-12" y1="{y}" x2="0" y2="{y}"/>')
            parts.append(
                f'<text class="stub" x="-15" y="{y + 3.5}" text-anchor="end">{escape(_short(plug.stub))}</text>'
            )
        if plug.negative:
            parts.append(f'<text class="minus" x="-9" y="{y - 3}">−</text>')
        kind = "plug wrong" if plug.path in wrong else "plug"
        parts.append(
            f'<circle class="{kind}" cy="{y}" r="4" {_data(block=plug.block, path=_way(plug.path))}>'
            f"<title>{escape(plug.block)}: {escape(plug.name)}</title></circle>"
        )
        if len(box.plugs) > 1 and plug.name and not plug.name.isdigit():
            parts.append(f'<text class="port" x="8" y="{y + 3.5}">{escape(_short(plug.name, 9))}</text>')
    for k, socket in enumerate(box.sockets):
        y = HEAD + PITCH * k
        unit = f" [{socket.unit}]" if socket.unit else ""
        parts.append(
            f'<circle class="socket" cx="{place.width:.0f}" cy="{y}" r="4" {_data(output=socket.output)}>'
            f"<title>{escape(socket.output + unit)}</title></circle>"
        )
        if socket.name:
            parts.append(
                f'<text class="port" x="{place.width - 8:.0f}" y="{y + 3.5}" text-anchor="end">{escape(_short(socket.name, 9))}</text>'
            )
        parts.append(
            f'<text class="value" x="{place.width + 6:.0f}" y="{y - 4}" {_data(value=socket.output)}></text>'
        )
    return "".join([*parts, "</g>"])


def face_of(block: Block) -> str:
    """What stands on a block: a symbol or its most telling numbers."""
    text = _FACES.get(block.kind)
    if text is None:
        return block.kind.replace("_", " ")
    known = {name: _told(getattr(block, name)) for name in field_names(type(block))}
    return text.format_map(known)


def parameters_of(block: Block) -> list[str]:
    """Names of the fields that are no inputs, as an editor lists them."""
    inputs = {name for name, _ in wire_fields(type(block))}
    return [name for name in field_names(type(block)) if name not in {"name", "spot", *inputs}]


def _classes(block: Block | None) -> list[str]:
    if block is None:
        return ["instance"]
    kinds = []
    if hasattr(block, "channels"):
        kinds.append("operated")
    if block.kind in _ACTING:
        kinds.append("acting")
    if block.period > 0.0:
        kinds.append("sampled")
    return kinds


def _told(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _short(text: str, longest: int = _LONGEST) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _way(path: tuple[str | int, ...]) -> str:
    return "/".join(map(str, path))


def _data(**attributes: str) -> str:
    return " ".join(f'data-{name}="{escape(value)}"' for name, value in attributes.items())


def _rounded(way: list[Point]) -> str:
    """A path along points with round corners."""
    x, y = way[0]
    text = f"M {x:.1f} {y:.1f}"
    for before, (x, y), after in zip(way, way[1:], way[2:], strict=False):
        a, b = _near((x, y), before), _near((x, y), after)
        text += f" L {a[0]:.1f} {a[1]:.1f} Q {x:.1f} {y:.1f} {b[0]:.1f} {b[1]:.1f}"
    x, y = way[-1]
    return f"{text} L {x:.1f} {y:.1f}"


def _near(corner: Point, other: Point) -> Point:
    """A point on the way from a corner to another."""
    dx, dy = other[0] - corner[0], other[1] - corner[1]
    length = abs(dx) + abs(dy)
    share = min(_ROUND, length / 2) / length if length else 0.0
    return corner[0] + dx * share, corner[1] + dy * share
