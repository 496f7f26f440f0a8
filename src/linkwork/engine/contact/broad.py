"""Broad phase: which shapes may touch, by their boxes, in time that grows about linearly with their number.

Boxes stand at the leaves of a binary tree (`box_tree`), `LEAF` of them or fewer to a leaf. Its order is made anew only
when the tree has become half as costly again as it was at its best. A sweep along one axis was measured as well:
in a pile that moves it takes 15 µs where the tree takes 25 µs for 200 bodies, the same for 500 and four times as long
for 1000 (660 and 157 µs), for along one axis a body of a pile of n overlaps with n^(2/3) others.

Pairs come sorted, whatever the order was before: a run that is resumed sees the same pairs in the same order.

Planes have no box. They, and other things without bounds, are tested against all shapes one by one.
"""

from typing import Any, NamedTuple

import numpy as np

from ..kernels.jit import inlined, kernel
from ..kernels.record import as_array, new_record
from .box_tree import LEAF, arrange, refit, tree_depth
from .boxes import boxes_meet, is_bounded, planes_meet

_WORSE = 1.5  # cost of a tree over its best, at which the shapes are put in order anew

TREE_STATE = np.dtype(
    [
        ("bounded", "i8"),  # shapes with bounds, which come first in the order; -1 before the first call
        ("cost", "i8"),  # tests of boxes that the tree took at its best
        ("stale", "i8"),  # 1 if the shapes are to be put in order anew
        ("rebuilt", "i8"),  # how often that was done
    ]
)


class Broad(NamedTuple):
    """What the broad phase keeps between calls, and its working memory: one for each simulation."""

    boxes: Any
    """n x 6: lowest and highest x y z of each shape [m], filled by `enclose`."""
    planes: Any
    """n x 4: outward normal and offset of the shapes that are planes; a normal of zero for others."""
    order: Any
    """Shapes in the order of the leaves."""
    state: Any
    """Of the tree: one record of `TREE_STATE`."""
    tree: Any
    """Boxes of the nodes, then those of the shapes in order."""
    found: Any
    """Pairs before they are sorted: more than twice as long as `out`."""
    counts: Any
    """n + 1 numbers to sort by."""
    out: Any
    """capacity x 2: the pairs (i, j), i < j, sorted."""


def make_broad(count: int, capacity: int = 0) -> Broad:
    """Working memory for `count` shapes and `capacity` pairs (0: 16 for each shape)."""
    capacity = capacity or 16 * max(count, 1)
    state: Any = new_record(TREE_STATE)
    state.bounded, state.stale = -1, 1
    return Broad(
        boxes=np.zeros((count, 6)),
        planes=np.zeros((count, 4)),
        order=np.arange(count, dtype=np.int64),
        state=as_array(state),
        tree=np.zeros(((2 << int(tree_depth(count))) + count, 6)),
        **_pair_room(capacity),
        counts=np.zeros(count + 1, dtype=np.int64),
    )


def enlarge(broad: Broad, capacity: int) -> Broad:
    """Working memory with room for so many pairs, for when `find_pairs` returned less than zero; the tree is kept."""
    return broad._replace(**_pair_room(capacity))


def _pair_room(capacity: int) -> dict[str, Any]:
    return {
        "found": np.zeros(2 * capacity + 4 * LEAF * LEAF, dtype=np.int64),
        "out": np.zeros((capacity, 2), dtype=np.int64),
    }


def exclusions(pairs: Any, count: int) -> Any:
    """Pairs of shapes that never touch => their sorted keys i·n + j, i < j, for `find_pairs`."""
    pairs = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    low, high = pairs.min(axis=1, initial=count), pairs.max(axis=1, initial=-1)
    if len(pairs) and (low.min() < 0 or high.max() >= count):
        raise ValueError(f"excluded pairs must be of shapes 0 to {count - 1}")
    return np.unique((low * count + high)[low != high])


@inlined
def _note(tree, base, a, b, order, found, capacity, new):
    """Write down the shapes at places a and b of the order; it counts only if their boxes meet.

    Whether they do cannot be foretold, and a wrong guess of the processor costs more than the rest.
    """
    found[capacity + new] = (order[a] << 32) | order[b]
    return new + (1 if boxes_meet(tree, base + a, tree, base + b) else 0)


@kernel
def _wanted(i, j, groups, masks, fixed, excluded):
    """Whether the filters let shapes i < j touch."""
    if fixed[i] != 0 and fixed[j] != 0:
        return False
    if (groups[i] & masks[j]) == 0 or (groups[j] & masks[i]) == 0:
        return False
    key = i * len(fixed) + j
    low, high = 0, len(excluded)
    while low < high:
        middle = (low + high) >> 1
        if excluded[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low == len(excluded) or excluded[low] != key


@kernel
def _sift(groups, masks, fixed, excluded, found, capacity, candidates, count):
    """Keep those of the candidates that the filters let through; the new count, which may exceed the capacity."""
    for k in range(capacity, capacity + candidates):
        i, j = found[k] >> 32, found[k] & 0xFFFFFFFF
        if i > j:
            i, j = j, i
        if _wanted(i, j, groups, masks, fixed, excluded):
            if count < capacity:
                found[count] = (i << 32) | j
            count += 1
    return count


@kernel
def _sort(found, capacity, count, counts, n, out):
    """Pairs in `found` => sorted in `out`: by their second shape, then, keeping that order, by their first."""
    for turn in range(2):
        for k in range(n + 1):
            counts[k] = 0
        source = turn * capacity
        for k in range(source, source + count):
            shape = found[k] & 0xFFFFFFFF if turn == 0 else found[k] >> 32
            counts[shape + 1] += 1
        for k in range(n):
            counts[k + 1] += counts[k]
        for k in range(source, source + count):
            pair = found[k]
            if turn == 0:
                shape = pair & 0xFFFFFFFF
                found[capacity + counts[shape]] = pair
            else:
                shape = pair >> 32
                out[counts[shape], 0] = shape
                out[counts[shape], 1] = pair & 0xFFFFFFFF
            counts[shape] += 1


@kernel
def _renew(boxes, order, state):
    """Put the shapes in order anew if the tree has become costly, or shapes have lost or gained their bounds."""
    stale = state.stale != 0 or state.bounded < 0
    if not stale:
        for place in range(len(boxes)):
            stale |= is_bounded(boxes, order[place]) != (place < state.bounded)
    if stale:
        state.bounded = arrange(boxes, order)
        state.stale = 0
        state.cost = 0
        state.rebuilt += 1


@kernel
def find_pairs(broad, groups, masks, fixed, excluded):
    """Pairs (i, j), i < j, of shapes whose boxes overlap or touch => `broad.out`, sorted; returns how many.

    A pair is left out where both shapes are `fixed` (not zero), where the `groups` of one share no bit with the
    `masks` of the other, either way, or where i·n + j is among the sorted keys `excluded`. Two planes make no pair,
    nor does a box with NaN. If `out` is too small, nothing in it counts, and minus the number of pairs is
    returned: come again with room for as many.
    """
    boxes, planes, order, state = broad.boxes, broad.planes, broad.order, broad.state[0]
    tree, found = broad.tree, broad.found
    n = len(boxes)
    capacity = len(broad.out)
    _renew(boxes, order, state)
    m = state.bounded
    # Pairs whose boxes meet wait behind those that the filters have let through, until there is no more room.
    room = len(found) - capacity - 2 * LEAF * LEAF
    count, new = 0, 0
    if m > 1:
        depth = tree_depth(m)
        leaves = 1 << depth
        base = 2 * leaves
        refit(boxes, order, m, depth, tree)
        cost = 0
        for leaf in range(leaves):
            first, last = (m * leaf) >> depth, (m * (leaf + 1)) >> depth
            for a in range(first, last):
                for b in range(a + 1, last):
                    new = _note(tree, base, a, b, order, found, capacity, new)
            # All nodes to the right of this leaf, without a stack: down to the left child (2k), else on to the
            # right brother (k + 1) of the first forefather, or itself, that is a left child (even).
            mine = leaves + leaf
            node = mine
            down = False
            while True:
                if down:
                    node = 2 * node
                else:
                    while node & 1:
                        node >>= 1
                    if node == 0:
                        break
                    node += 1
                cost += 1
                down = boxes_meet(tree, mine, tree, node)
                if down and node >= leaves:
                    down = False
                    other = node - leaves
                    start, stop = (m * other) >> depth, (m * (other + 1)) >> depth
                    for a in range(first, last):
                        if boxes_meet(tree, base + a, tree, node):
                            cost += 1
                            for b in range(start, stop):
                                new = _note(tree, base, a, b, order, found, capacity, new)
                    if new > room:
                        count = _sift(groups, masks, fixed, excluded, found, capacity, new, count)
                        new = 0
            if new > room:
                count = _sift(groups, masks, fixed, excluded, found, capacity, new, count)
                new = 0
        if state.cost == 0 or cost < state.cost:
            state.cost = cost
        elif cost > _WORSE * state.cost:
            state.stale = 1
    for place in range(m, n):
        i = order[place]
        for earlier in range(place):  # all bounded shapes, and the unbounded ones before this one
            j = order[earlier]
            if boxes_meet(boxes, i, boxes, j) and planes_meet(planes, boxes, i, j):
                found[capacity + new] = (i << 32) | j
                new += 1
                if new > room:
                    count = _sift(groups, masks, fixed, excluded, found, capacity, new, count)
                    new = 0
    count = _sift(groups, masks, fixed, excluded, found, capacity, new, count)
    if count > capacity:
        return -count
    _sort(found, capacity, count, broad.counts, n, broad.out)
    return count
