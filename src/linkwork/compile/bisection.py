"""Cutting a graph in two halves of about the same size by few edges (Fiduccia and Mattheyses, DAC 1982)."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heapify, heappop, heappush

Weights = dict[int, dict[int, int]]
"""For each vertex its neighbours and how heavy the edges to them are."""

_SMALLER = 0.4  # of all vertices, at least in a half
_PASSES = 6
_PATIENCE = 50  # moves without gain before a pass is given up, and a twentieth of all vertices


def components(weights: Weights) -> Iterator[list[int]]:
    """Connected parts, each sorted."""
    seen: set[int] = set()
    for root in weights:
        if root not in seen:
            group = _breadth_first(weights, root)
            seen.update(group)
            yield sorted(group)


def halves(weights: Weights) -> tuple[list[int], list[int]]:
    """The two sides of a light cut through a connected graph: the best found from both its ends and its middle."""
    end = _breadth_first(weights, next(iter(weights)))[-1]
    across = _breadth_first(weights, end)
    found = []
    for start in (end, across[-1], across[len(across) // 2]):
        order = _breadth_first(weights, start)
        side = _improved(
            weights, dict(zip(order, (i < len(order) // 2 for i in range(len(order))), strict=True))
        )
        cut = sum(w for a, near in weights.items() for b, w in near.items() if side[a] != side[b])
        found.append((cut, side))
    side = min(found, key=lambda pair: pair[0])[1]
    return [a for a in weights if side[a]], [a for a in weights if not side[a]]


def _breadth_first(weights: Weights, root: int) -> list[int]:
    queue, seen = [root], {root}
    for a in queue:
        new = sorted(b for b in weights[a] if b not in seen)
        seen.update(new)
        queue += new
    return queue


def _improved(weights: Weights, side: dict[int, bool]) -> dict[int, bool]:
    """Vertices change sides one by one, each once a pass, even at a loss; the best of all states on the way is kept."""
    least = max(1, int(_SMALLER * len(side)))
    for _ in range(_PASSES):
        moved, best = _one_pass(weights, side, least)
        for a in moved[best:]:
            side[a] = not side[a]
        if best == 0:
            break
    return side


def _one_pass(weights: Weights, side: dict[int, bool], least: int) -> tuple[list[int], int]:
    """Vertices in the order in which they changed sides, and how many of these moves are worth keeping."""
    size = [len(side) - sum(side.values()), sum(side.values())]
    gain = {a: sum(w if side[b] != side[a] else -w for b, w in near.items()) for a, near in weights.items()}
    heap = [(-gain[a], a) for a, near in weights.items() if any(side[b] != side[a] for b in near)]
    heapify(heap)
    moved: list[int] = []
    locked: set[int] = set()
    total = most = best = 0
    while heap and len(moved) - best < _PATIENCE + len(side) // 20:
        lost, a = heappop(heap)
        if a in locked or -lost != gain[a] or size[side[a]] <= least:
            continue
        locked.add(a)
        moved.append(a)
        size[side[a]] -= 1
        side[a] = not side[a]
        size[side[a]] += 1
        total += gain[a]
        if total > most:
            most, best = total, len(moved)
        for b, w in weights[a].items():
            if b not in locked:
                gain[b] += -2 * w if side[b] == side[a] else 2 * w
                heappush(heap, (-gain[b], b))
    return moved, best
