"""A diagram as an SVG picture."""

from __future__ import annotations

from xml.sax.saxutils import escape

from .blocks import FAMILIES
from .diagram import Diagram
from .layout import Box, Drawing, Line, draw

_COLORS = {
    "sources": "#dbeafe", "sensors": "#dcfce7", "signal": "#dcfce7", "panel": "#fef3c7", "mathematics": "#f1f5f9",
    "nonlinear": "#fce7f3", "continuous": "#ede9fe", "sampled": "#e0f2fe", "logic": "#ffedd5", "user": "#e2e8f0",
    "actuators": "#fee2e2", "indicators": "#fef3c7", "ports": "#ffffff",
}  # fmt: skip
_FAMILY = {cls.kind: family for family, classes in FAMILIES.items() for cls in classes}
_STYLE = """
text { font: 11px system-ui, sans-serif; fill: #0f172a }
.kind { font-size: 9px; fill: #475569 }
.wire { fill: none; stroke: #334155; stroke-width: 1.2 }
.box { stroke: #334155; stroke-width: 1 }
"""


def diagram_svg(diagram: Diagram) -> str:
    """The text of an SVG file."""
    drawing = draw(diagram)
    width, height = drawing.width, drawing.height
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
            f'width="{width:.0f}" height="{height:.0f}">'
        ),
        f"<style>{_STYLE}</style>",
        (
            '<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" '
            'orient="auto"><path d="M0 0L8 4L0 8z" fill="#334155"/></marker></defs>'
        ),
        f'<rect width="{width:.0f}" height="{height:.0f}" fill="#ffffff"/>',
        *map(_line, drawing.lines),
        *_joints(drawing),
        *map(_box, drawing.boxes),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _line(line: Line) -> str:
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in line.points)
    wire = (
        f'<path class="wire" d="M{path}" marker-end="url(#arrow)"><title>{escape(line.source)}</title></path>'
    )
    if not line.negative:
        return wire
    x, y = line.points[-1]
    return f'{wire}<text x="{x - 14:.1f}" y="{y - 3:.1f}">−</text>'


def _joints(drawing: Drawing) -> list[str]:
    """Dots where wires of one output part."""
    seen: dict[tuple[str, tuple[float, float]], int] = {}
    for line in drawing.lines:
        for point in line.points[1:-1]:
            seen[line.source, point] = seen.get((line.source, point), 0) + 1
    return [
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.2" fill="#334155"/>'
        for (_, (x, y)), n in seen.items()
        if n > 1
    ]


def _box(box: Box) -> str:
    color = _COLORS[_FAMILY.get(box.kind, "signal")]
    middle = box.x + box.width / 2
    round_ = 10 if box.kind == "signal" else 3
    parts = [
        (
            f'<rect class="box" x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" '
            f'rx="{round_}" fill="{color}"/>'
        )
    ]
    label = box.y + box.height / 2 + (4 if box.kind == "signal" else -1)
    parts.append(
        f'<text x="{middle:.1f}" y="{label:.1f}" text-anchor="middle">{escape(_short(box.title))}</text>'
    )
    if box.kind != "signal":
        kind = box.kind.replace("_", " ")
        parts.append(
            f'<text class="kind" x="{middle:.1f}" y="{label + 12:.1f}" text-anchor="middle">{escape(kind)}</text>'
        )
    if len(box.outputs) > 1:
        for name in box.outputs:
            x, y = box.port_out(name)
            parts.append(
                f'<text class="kind" x="{x - 3:.1f}" y="{y + 3:.1f}" text-anchor="end">{escape(name)}</text>'
            )
    return f'<g data-name="{escape(box.name)}">{"".join(parts)}</g>'


def _short(text: str) -> str:
    return text if len(text) <= 19 else f"{text[:9]}…{text[-9:]}"
