"""Where blocks stand in a drawing: in columns, from what they take to what they give, so that wires run to the right.

Layers by the longest way from a source (loops are cut where they close), then each column sorted by the middle of its
neighbours (Sugiyama, Tagawa and Toda, IEEE Trans. Syst. Man Cybern. 11, 1981). What the user has placed (`spot`) stays.
"""

from __future__ import annotations

from dataclasses import dataclass

from .diagram import Diagram

WIDTH, HEIGHT = 120.0, 44.0
"""Of a block in the drawing; taller where it has many ports."""
_ACROSS, _DOWN = 60.0, 26.0  # between blocks
_PORT = 16.0
_ROUNDS = 12


@dataclass(frozen=True)
class Box:
    """A block in the drawing, or a signal of the model that blocks take."""

    name: str
    kind: str
    """Of a signal "signal"."""
    title: str
    x: float
    """Of its upper left corner, to the right."""
    y: float
    """And down."""
    width: float
    height: float
    inputs: tuple[str, ...]
    """Names of the inputs at its left edge, from above."""
    outputs: tuple[str, ...]
    """Names of the outputs at its right edge, from above."""

    def port_in(self, name: str) -> tuple[float, float]:
        """Where an input stands."""
        return self.x, self._at(self.inputs, name)

    def port_out(self, name: str) -> tuple[float, float]:
        """Where an output stands."""
        return self.x + self.width, self._at(self.outputs, name)

    def _at(self, ports: tuple[str, ...], name: str) -> float:
        return self.y + self.height * (ports.index(name) + 0.5) / len(ports)


@dataclass(frozen=True)
class Line:
    """A wire in the drawing: corners, one after the other."""

    source: str
    """Output or signal that it comes from."""
    block: str
    input: str
    negative: bool
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Drawing:
    """A diagram with its places."""

    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]
    width: float
    height: float


def draw(diagram: Diagram) -> Drawing:
    """The places of blocks, ports and wires. Needs no diagram without faults: what is not connected stands alone."""
    sizes = _boxes(diagram)
    before = {name: _before(diagram, name) for name in sizes}
    columns = _columns(list(sizes), before)
    places = _places(columns, before, sizes)
    placed = {}
    for name, box in sizes.items():
        x, y = places[name]
        block = diagram.blocks.get(name)
        if block is not None and block.spot is not None:
            x = block.spot[0] * (WIDTH + _ACROSS) - box.width / 2
            y = block.spot[1] * (HEIGHT + _DOWN) - box.height / 2
        placed[name] = Box(**{**vars(box), "x": x, "y": y})
    left = min((box.x for box in placed.values()), default=0.0) - _ACROSS / 2
    top = min((box.y for box in placed.values()), default=0.0) - _DOWN
    boxes = {name: Box(**{**vars(box), "x": box.x - left, "y": box.y - top}) for name, box in placed.items()}
    width = max((box.x + box.width for box in boxes.values()), default=0.0) + _ACROSS / 2
    bottom = max((box.y + box.height for box in boxes.values()), default=0.0)
    lines, lowest = _lines(diagram, boxes, bottom)
    return Drawing(tuple(boxes.values()), lines, width, lowest + _DOWN)


def _boxes(diagram: Diagram) -> dict[str, Box]:
    """Blocks and signals with their sizes."""
    made = {}
    for name, block in diagram.blocks.items():
        inputs = tuple(dict.fromkeys(wired.input for wired in diagram.into(name) if wired.source))
        outputs = tuple(port.name for port in block.ports())
        height = max(HEIGHT, _PORT * max(len(inputs), len(outputs)) + 8.0)
        made[name] = Box(name, block.kind, block.note or name, 0.0, 0.0, WIDTH, height, inputs, outputs)
    for wired in diagram.wires:
        if wired.source and wired.source not in diagram.outputs:
            made.setdefault(
                wired.source,
                Box(wired.source, "signal", wired.source, 0.0, 0.0, WIDTH, 0.6 * HEIGHT, (), ("out",)),
            )
    return made


def _before(diagram: Diagram, name: str) -> list[str]:
    """Boxes that a block takes something of."""
    found = []
    for wired in diagram.into(name) if name in diagram.blocks else []:
        if wired.source:
            output = diagram.outputs.get(wired.source)
            found.append(wired.source if output is None else output.block)
    return list(dict.fromkeys(found))


def _columns(names: list[str], before: dict[str, list[str]]) -> list[list[str]]:
    """Names column by column: each behind all that it takes, but for what closes a loop."""
    layer: dict[str, int] = {}
    open_: set[str] = set()

    def visit(start: str) -> None:
        stack = [(start, iter(before[start]))]
        open_.add(start)
        while stack:
            name, rest = stack[-1]
            following = next((other for other in rest if other not in layer and other not in open_), None)
            if following is not None:
                open_.add(following)
                stack.append((following, iter(before[following])))
                continue
            stack.pop()
            open_.discard(name)
            layer[name] = 1 + max((layer[o] for o in before[name] if o in layer), default=-1)

    for name in names:
        if name not in layer:
            visit(name)
    users: dict[str, list[int]] = {}
    for name in names:
        for other in before[name]:
            users.setdefault(other, []).append(layer[name])
    for name in names:  # what takes nothing stands near what takes it
        if not before[name] and users.get(name):
            layer[name] = max(0, min(users[name]) - 1)
    columns: list[list[str]] = [[] for _ in range(max(layer.values(), default=-1) + 1)]
    for name in names:
        columns[layer[name]].append(name)
    return columns


def _places(
    columns: list[list[str]], before: dict[str, list[str]], sizes: dict[str, Box]
) -> dict[str, tuple[float, float]]:
    """Corners of boxes: columns sorted by the middle of what they are connected with, then stacked."""
    after: dict[str, list[str]] = {name: [] for name in before}
    for name, others in before.items():
        for other in others:
            after[other].append(name)
    middle = {name: float(k) for column in columns for k, name in enumerate(column)}
    for round_ in range(_ROUNDS):
        near = before if round_ % 2 == 0 else after
        for column in columns if round_ % 2 == 0 else reversed(columns):
            wish = {
                name: sum(middle[o] for o in near[name]) / len(near[name]) if near[name] else middle[name]
                for name in column
            }
            column.sort(key=lambda name: (wish[name], middle[name]))
            middle |= {name: k - (len(column) - 1) / 2 for k, name in enumerate(column)}
    places = {}
    for number, column in enumerate(columns):
        total = sum(sizes[name].height + _DOWN for name in column) - _DOWN
        y = -total / 2
        for name in column:
            places[name] = number * (WIDTH + _ACROSS), y
            y += sizes[name].height + _DOWN
    return places


def _lines(diagram: Diagram, boxes: dict[str, Box], bottom: float) -> tuple[tuple[Line, ...], float]:
    """Wires with right angles, each output on a vertical of its own; those that go back run below all blocks."""
    lines, lowest = [], bottom
    tracks: dict[tuple[float, str], float] = {}
    used: dict[float, int] = {}
    back: dict[str, float] = {}
    for wired in diagram.wires:
        if not wired.source:
            continue
        output = diagram.outputs.get(wired.source)
        home = boxes[wired.source if output is None else output.block]
        x0, y0 = home.port_out("out" if output is None else output.port)
        target = boxes[wired.block]
        x1, y1 = target.port_in(wired.input)
        if (x0, wired.source) not in tracks:
            count = used[x0] = used.get(x0, 0) + 1
            tracks[x0, wired.source] = x0 + 8.0 + 7.0 * ((count - 1) % 6)
        x = tracks[x0, wired.source]
        points: tuple[tuple[float, float], ...]
        if x < x1:
            points = ((x0, y0), (x1, y1)) if y0 == y1 else ((x0, y0), (x, y0), (x, y1), (x1, y1))
        else:
            if wired.source not in back:
                back[wired.source] = lowest = lowest + 12.0
            y = back[wired.source]
            into = x1 - 8.0 - 5.0 * (len(back) % 4)
            points = ((x0, y0), (x, y0), (x, y), (into, y), (into, y1), (x1, y1))
        lines.append(Line(wired.source, wired.block, wired.input, wired.negative, points))
    return tuple(lines), lowest
