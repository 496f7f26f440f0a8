"""Where boxes and wires of a diagram stand: in layers from left to right, with few crossings.

The steps are those of Sugiyama, Tagawa and Toda (IEEE Trans. Syst. Man Cybern. 11, 1981): wires that go back are turned
round, boxes get layers by longest path, long wires places of their own in the layers that they pass, layers are sorted
by the middle of their neighbours, and heights follow from wires that want to be straight.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

from .graph import Box, Graph, Link

# All lengths in units of the drawing.
WIDTH, PITCH, HEAD = 128.0, 22.0, 30.0
"""Of a box: its width, between two ports, from its top to the first port."""
_GAP, _BETWEEN, _TRACK = 64.0, 26.0, 9.0  # between layers at least, between boxes, between parallel wires
_STUB = 84.0  # room for the name of a signal before a box
MARGIN = 24.0
_SWEEPS = 8
Point = tuple[float, float]


@dataclass
class Place:
    """Of a box: its upper left corner and size."""

    x: float
    y: float
    width: float
    height: float

    def plug(self, number: int) -> Point:
        """Where an input stands."""
        return self.x, self.y + HEAD + PITCH * number

    def socket(self, number: int) -> Point:
        """Where an output stands."""
        return self.x + self.width, self.y + HEAD + PITCH * number


@dataclass
class Layout:
    """Places of all boxes by name, ways of all wires in the order of the graph, and the size of the whole."""

    places: dict[str, Place]
    ways: list[list[Point]]
    width: float
    height: float
    shift: Point = (0.0, 0.0)
    """How far all of it was moved so that nothing stands beyond the edge: blocks with a `spot` stand so far from it."""


@dataclass
class _Spot:
    """A box, or where a long wire passes a layer."""

    box: Box | None
    layer: int
    order: float = 0.0
    y: float = 0.0
    height: float = 0.0
    before: list[tuple[_Spot, float, float]] = field(default_factory=list)  # its place, port there, port here
    after: list[tuple[_Spot, float, float]] = field(default_factory=list)


def height_of(box: Box) -> float:
    """Of a box, by its ports."""
    return HEAD + PITCH * max(len(box.plugs), len(box.sockets), 1) - PITCH / 2 + 4.0


def lay_out(graph: Graph) -> Layout:
    """Places and ways; boxes whose block has a `spot` stand there."""
    layers = _layers(graph)
    forward = [link for link in graph.links if layers[link.source] < layers[link.target]]
    spots, chains = _spots(graph, layers, forward)
    rows: list[list[_Spot]] = [[] for _ in range(max(layers.values(), default=-1) + 1)]
    for spot in spots:
        rows[spot.layer].append(spot)
    _sort(rows)
    _heights(rows)
    places, shift = _places(graph, rows)
    passing = {id(link): [spot.y for spot in chain] for link, chain in zip(forward, chains, strict=True)}
    ways = _ways(graph, places, layers, passing)
    points = [point for way in ways for point in way]
    width = max([place.x + place.width for place in places.values()] + [x for x, _ in points], default=0.0)
    height = max([place.y + place.height for place in places.values()] + [y for _, y in points], default=0.0)
    return Layout(places, ways, width + MARGIN, height + MARGIN, shift)


def _layers(graph: Graph) -> dict[str, int]:
    """Layer of every box: after all that it takes, but for wires that close circles; sources beside what takes them."""
    into: dict[str, list[str]] = {name: [] for name in graph.boxes}
    for link in graph.links:
        into[link.target].append(link.source)
    layers: dict[str, int] = {}
    open_: set[str] = set()

    def layer(name: str) -> int:
        if name not in layers:
            open_.add(name)
            layers[name] = max((layer(one) + 1 for one in into[name] if one not in open_), default=0)
            open_.discard(name)
        return layers[name]

    ends = [name for name, box in graph.boxes.items() if not any(link.source == name for link in graph.links)]
    for name in [*ends, *graph.boxes]:
        layer(name)
    for name in sorted(graph.boxes, key=lambda one: -layers[one]):
        if not into[name]:
            nexts = [layers[link.target] for link in graph.links if link.source == name]
            layers[name] = max(0, min(nexts, default=1) - 1)
    return layers


def _spots(
    graph: Graph, layers: dict[str, int], forward: list[Link]
) -> tuple[list[_Spot], list[list[_Spot]]]:
    boxes = {name: _Spot(box, layers[name], height=height_of(box)) for name, box in graph.boxes.items()}
    every, chains = list(boxes.values()), []
    for link in forward:
        start, end = boxes[link.source], boxes[link.target]
        chain = [_Spot(None, k, height=_TRACK) for k in range(start.layer + 1, end.layer)]
        every += chain
        chains.append(chain)
        for a, b in pairwise([start, *chain, end]):
            leaves = HEAD + PITCH * link.socket if a is start else _TRACK / 2
            comes = HEAD + PITCH * link.plug if b is end else _TRACK / 2
            a.after.append((b, leaves, comes))
            b.before.append((a, leaves, comes))
    return every, chains


def _sort(rows: list[list[_Spot]]) -> None:
    """Order in the layers by the mean of neighbours, forth and back."""
    for row in rows:
        for k, spot in enumerate(row):
            spot.order = float(k)
    for sweep in range(_SWEEPS):
        for row in rows if sweep % 2 == 0 else rows[::-1]:
            wanted = {}
            for spot in row:
                near = spot.before if sweep % 2 == 0 else spot.after
                # Ports of one box count by their place, so that wires into it do not cross.
                ports = [
                    one.order + 0.01 * (leaves if sweep % 2 == 0 else comes) / PITCH
                    for one, leaves, comes in near
                ]
                wanted[id(spot)] = sum(ports) / len(ports) if ports else spot.order
            row.sort(key=lambda spot: wanted[id(spot)])
            for k, spot in enumerate(row):
                spot.order = float(k)


def _heights(rows: list[list[_Spot]]) -> None:
    """Heights: first one below the other, then drawn towards where wires would be straight, order kept."""
    for row in rows:
        y = 0.0
        for spot in row:
            spot.y, y = y, y + spot.height + _BETWEEN
    for sweep in range(2 * _SWEEPS):
        for row in rows if sweep % 2 == 0 else rows[::-1]:
            wanted = []
            for spot in row:
                ends = [one.y + leaves - comes for one, leaves, comes in spot.before]
                ends += [one.y + comes - leaves for one, leaves, comes in spot.after]
                wanted.append(sum(ends) / len(ends) if ends else spot.y)
            _spread(row, wanted)
    top = min((spot.y for row in rows for spot in row), default=0.0)
    for row in rows:
        for spot in row:
            spot.y += MARGIN - top


def _spread(row: list[_Spot], wanted: list[float]) -> None:
    """The nearest heights to those wanted at which nothing overlaps: what would, is moved as one (isotonic means)."""
    blocks: list[tuple[float, int]] = []  # mean of wanted offsets, count
    offset, offsets = 0.0, []
    for spot, want in zip(row, wanted, strict=True):
        offsets.append(offset)
        blocks.append((want - offset, 1))
        offset += spot.height + (_BETWEEN if spot.box is not None else _BETWEEN / 2)
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (a, n), (b, m) = blocks[-2], blocks[-1]
            blocks[-2:] = [((a * n + b * m) / (n + m), n + m)]
    means = [mean for mean, count in blocks for _ in range(count)]
    for spot, start, mean in zip(row, offsets, means, strict=True):
        spot.y = start + mean


def _places(graph: Graph, rows: list[list[_Spot]]) -> tuple[dict[str, Place], Point]:
    """Boxes of a layer stand one below the other; between layers is room for wires that go up and down, and stubs."""
    places: dict[str, Place] = {}
    x = MARGIN
    for k, row in enumerate(rows):
        boxes = [spot.box for spot in row if spot.box is not None]
        stubs = any(plug.stub for box in boxes for plug in box.plugs)
        turning = sum(1 for link in graph.links if any(box.name == link.target for box in boxes))
        x += (_STUB if stubs else 0.0) + (max(_GAP, _TRACK * (turning + 2)) if k else 0.0)
        for spot in row:
            if spot.box is not None:
                places[spot.box.name] = Place(x, spot.y, WIDTH, spot.height)
        x += WIDTH
    for name, box in graph.boxes.items():
        spot_wanted = None if box.block is None else box.block.spot
        if spot_wanted is not None:
            place = places[name]
            place.x = spot_wanted[0] * WIDTH - place.width / 2
            place.y = spot_wanted[1] * (HEAD + PITCH) - place.height / 2
    if all(box.block is None or box.block.spot is None for box in graph.boxes.values()):
        return places, (0.0, 0.0)
    right = max(0.0, MARGIN + _STUB / 2 - min(place.x for place in places.values()))
    down = max(0.0, MARGIN - min(place.y for place in places.values()))
    for place in places.values():
        place.x, place.y = place.x + right, place.y + down
    return places, (right, down)


def _ways(
    graph: Graph, places: dict[str, Place], layers: dict[str, int], passing: dict[int, list[float]]
) -> list[list[Point]]:
    """Ways of wires, along the axes: up and down between layers, each in a track of its own."""
    tracks: dict[tuple[int, str], int] = {}  # how many wires turn before a layer
    known: dict[tuple[int, str], float] = {}  # wires of one output share a track

    def turn(place: Place, layer: int, output: str) -> float:
        key = layer, output
        if key not in known:
            count = tracks[layer, ""] = tracks.get((layer, ""), 0) + 1
            known[key] = _TRACK * count
        return place.x - 10.0 - known[key]

    bottom = max((place.y + place.height for place in places.values()), default=0.0)
    ways: list[list[Point]] = []
    backward = 0
    columns: dict[int, list[Place]] = {}
    for name, place in places.items():
        columns.setdefault(layers[name], []).append(place)
    for link in graph.links:
        a, b = places[link.source], places[link.target]
        (x1, y1), (x2, y2) = a.socket(link.socket), b.plug(link.plug)
        if x1 + 2 * _TRACK < x2:
            points, y = [(x1, y1)], y1
            free = _unmoved(graph, link)
            for k, height in enumerate(passing.get(id(link), []) if free else []):
                column = columns.get(layers[link.source] + 1 + k)
                if column and abs(height + _TRACK / 2 - y) > 0.5:
                    x = turn(column[0], layers[link.source] + 1 + k, link.output)
                    points += [(x, y), (x, height + _TRACK / 2)]
                    y = height + _TRACK / 2
            x = turn(b, layers[link.target], link.output) if abs(y - y2) > 0.5 else x2
            x = max(x, points[-1][0] + _TRACK)
            points += [(x, y), (x, y2), (x2, y2)]
        else:
            backward += 1
            low = bottom + 12.0 + _TRACK * backward
            right, left = x1 + 8.0 + _TRACK * (backward % 4), turn(b, layers[link.target], f"{link.output}<")
            points = [(x1, y1), (right, y1), (right, low), (left, low), (left, y2), (x2, y2)]
        ways.append(_straight(points))
    return ways


def _unmoved(graph: Graph, link: Link) -> bool:
    """Whether both ends stand where the layout put them."""
    ends = (graph.boxes[link.source].block, graph.boxes[link.target].block)
    return all(block is None or block.spot is None for block in ends)


def _straight(points: list[Point]) -> list[Point]:
    """Without points between two others on one line."""
    kept = [points[0]]
    for here, after in pairwise(points[1:]):
        a = kept[-1]
        if not (a[0] == here[0] == after[0] or a[1] == here[1] == after[1]) and a != here:
            kept.append(here)
    return [*kept, points[-1]]
