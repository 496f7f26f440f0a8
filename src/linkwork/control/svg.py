"""A diagram as an SVG picture, for docs and the page, which finds boxes, ports and wires by their data attributes."""

from __future__ import annotations

from html import escape
from typing import Any

from ..model.block import Block
from ..model.item import field_names
from .diagram import Diagram, Fault
from .graph import Box, Graph, graph_of
from .layout import HEAD, PITCH, Layout, Place, Point, lay_out

_ROUND = 7.0  # of corners of wires
_LONGEST, _PORT = 20, 9  # characters on a box, and at a port
STYLE = """
.diagram { font: 11px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; fill: #1d2733; }
.diagram .box rect { fill: #fff; stroke: #b9c2cc; stroke-width: 1.2; }
.diagram .box.operated rect { fill: #eaf2fd; stroke: #7fa9e4; }
.diagram .box.acting rect { fill: #fdf1e3; stroke: #dfae6d; }
.diagram .box.sampled rect { stroke-dasharray: 5 3; }
.diagram .box.instance rect { fill: #f0ecfa; stroke: #a592d8; stroke-width: 2; }
.diagram .box.wrong rect { stroke: #c62828; stroke-width: 2.2; }
.diagram .box.chosen rect { stroke: #266ed2; stroke-width: 2.5; }
.diagram .title { font-weight: 600; }
.diagram .face { fill: #5d6977; }
.diagram .port { font-size: 9.5px; fill: #5d6977; }
.diagram .wire { fill: none; stroke: #6b7886; stroke-width: 1.4; }
.diagram .hit { fill: none; stroke: transparent; stroke-width: 11; }
.diagram .link:hover .wire, .diagram .link.chosen .wire { stroke: #266ed2; stroke-width: 2.4; }
.diagram .plug, .diagram .socket { fill: #6b7886; }
.diagram .plug.wrong { fill: #c62828; r: 6px; }
.diagram .stub { font-size: 10px; fill: #266ed2; }
.diagram .stubwire { stroke: #9cbce8; stroke-width: 1.2; }
.diagram .value { font-size: 10px; fill: #0b6b3a; font-variant-numeric: tabular-nums; }
.diagram .minus { font-weight: 700; font-size: 13px; }
"""
# What stands on a box, by kind: a symbol, or fields of it in a text.
_FACES = {
    "sum": "Σ", "product": "Π", "integrator": "1/s", "first_order": "1/(1 + T s), T = {time_constant}",
    "gain": "× {gain}", "formula": "{formula}", "constant": "{value}", "compare": "input {relation} {other}",
}  # fmt: skip
_ACTING = ("drive", "force_command", "attach")


def diagram_svg(
    diagram: Diagram, inside: str = "", *, title: str = "control diagram", styled: bool = True
) -> str:
    """The level of a diagram inside an instance (by default the top) as the text of an SVG file.

    `styled`: with its style in it, as a file needs that stands alone; a page has `STYLE` as a style sheet.
    """
    graph = graph_of(diagram, inside)
    layout = lay_out(graph)
    faults: dict[str, list[Fault]] = {}
    for fault in diagram.faults:
        faults.setdefault(fault.block, []).append(fault)
    width, height, (right, down) = f"{layout.width:.0f}", f"{layout.height:.0f}", layout.shift
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="diagram" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" aria-label="{escape(title)}" '
        f"{_data(x=f'{right:.1f}', y=f'{down:.1f}')}>"
    )
    parts = [
        head,
        *([f"<style>{STYLE}</style>"] if styled else []),
        *_wires(graph, layout),
        *(_box(box, layout.places[name], faults) for name, box in graph.boxes.items()),
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


def _box(box: Box, place: Place, faults: dict[str, list[Fault]]) -> str:
    within = f"{box.name}."
    inner = [
        one for name, every in faults.items() if name == box.name or name.startswith(within) for one in every
    ]
    classes = " ".join(["box", *_classes(box.block), *(["wrong"] if inner else [])])
    said = "\n".join([box.name, *(fault.what for fault in inner)])
    name = box.name.rpartition(".")[2] if box.block is None or box.block.note is None else box.block.note
    face = "component" if box.block is None else face_of(box.block)
    rows = max(len(box.plugs), len(box.sockets), 1)
    middle = place.width / 2
    parts = [
        f'<g class="{classes}" transform="translate({place.x:.1f} {place.y:.1f})" {_data(box=box.name)}>',
        f"<title>{escape(said)}</title>",
        f'<rect width="{place.width:.0f}" height="{place.height:.1f}" rx="8"/>',
        _text("title", middle, 14.0, name, "middle"),
        _text("face", middle, HEAD + PITCH * (rows - 1) / 2 + 4, face, "middle"),
        *_plugs(box, {fault.path for fault in inner}),
        *_sockets(box, place.width),
        "</g>",
    ]
    return "".join(parts)


def _plugs(box: Box, wrong: set[tuple[str | int, ...]]) -> list[str]:
    parts = []
    for k, plug in enumerate(box.plugs):
        y = HEAD + PITCH * k
        if plug.stub:
            parts.append(f'<line class="stubwire" x1="-12" y1="{y}" x2="0" y2="{y}"/>')
            parts.append(_text("stub", -15.0, y + 3.5, plug.stub, "end"))
        if plug.negative:
            parts.append(_text("minus", -9.0, y - 3.0, "−"))
        is_open = {"open": "open"} if plug.open else {}
        kind = "plug wrong" if plug.path in wrong else "plug"
        data = _data(block=plug.block, path=_way(plug.path), **is_open)
        title = f"<title>{escape(plug.block)}: {escape(plug.name)}</title>"
        parts.append(f'<circle class="{kind}" cy="{y}" r="4" {data}>{title}</circle>')
        if len(box.plugs) > 1 and plug.name and not plug.name.isdigit():
            parts.append(_text("port", 8.0, y + 3.5, _short(plug.name, _PORT)))
    return parts


def _sockets(box: Box, width: float) -> list[str]:
    parts = []
    for k, socket in enumerate(box.sockets):
        y = HEAD + PITCH * k
        title = f"<title>{escape(socket.output + (f' [{socket.unit}]' if socket.unit else ''))}</title>"
        data = _data(output=socket.output)
        parts.append(f'<circle class="socket" cx="{width:.0f}" cy="{y}" r="4" {data}>{title}</circle>')
        if socket.name:
            parts.append(_text("port", width - 8.0, y + 3.5, _short(socket.name, _PORT), "end"))
        parts.append(
            f'<text class="value" x="{width + 6:.0f}" y="{y - 4}" {_data(value=socket.output)}></text>'
        )
    return parts


def _text(kind: str, x: float, y: float, text: str, anchor: str = "start") -> str:
    return (
        f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(_short(text))}</text>'
    )


def face_of(block: Block) -> str:
    """What stands on a block: a symbol or its most telling numbers."""
    text = _FACES.get(block.kind)
    if text is None:
        return block.kind.replace("_", " ")
    known = {name: _told(getattr(block, name)) for name in field_names(type(block))}
    return text.format_map(known)


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
