"""Broad phase: which shapes may touch, by their boxes, in time that grows about linearly with their number.

Boxes stand at the leaves of a binary tree, `LEAF` of them or fewer to a leaf. The tree is no more than an order of
the shapes: at level L, node i covers places n·i >> L to n·(i + 1) >> L of the order, so that nothing but boxes must
be kept up to date, bottom up, at every call. The order is made by halving along the longest axis and made anew only
when the tree has become half as costly again as it was at its best. A sweep along one axis was measured as well:
in a pile that moves it takes 15 µs where the tree takes 25 µs for 200 bodies, the same for 500 and four times as long
for 1000 (660 and 157 µs), for along one axis a body of a pile of n overlaps with n^(2/3) others.

Pairs come sorted, whatever the order was before: a run that is resumed sees the same pairs in the same order.

Planes have no box. They, and other things without bounds, are tested against all shapes one by one.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from ..kernels.jit import inlined, kernel
from .geometry import BOX, CAPSULE, CYLINDER, HEIGHTS, HULL, PLANE, SPHERE

__all__ = ["Broad", "enclose", "enlarge", "exclusions", "find_pairs", "make_broad"]

LEAF = 4
"""Shapes to a leaf at most: fewer make the tree deep, more cost tests of boxes that are far apart."""
_WORSE = 1.5  # cost of a tree over its best, at which the shapes are put in order anew

# Places of `state`.
_BOUNDED, _COST, _STALE, _REBUILT = 0, 1, 2, 3


class Broad(NamedTuple):
    """What the broad phase keeps between calls, and its working memory: one for each simulation."""

    boxes: Any
    """n x 6: lowest and highest x y z of each shape [m], filled by `enclose`."""
    planes: Any
    """n x 4: outward normal and offset of the shapes that are planes; a normal of zero for others."""
    order: Any
    """Shapes in the order of the leaves."""
    state: Any
    """Bounded shapes, cost of the tree at its best, whether to put shapes in order anew, how often that was done."""
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
    return Broad(
        boxes=np.zeros((count, 6)),
        planes=np.zeros((count, 4)),
        order=np.arange(count, dtype=np.int64),
        state=np.array([-1, 0, 1, 0], dtype=np.int64),
        tree=np.zeros(((2 << int(_depth(count))) + count, 6)),
        **_pair_room(capacity),
        counts=np.zeros(count + 1, dtype=np.int64),
    )


def enlarge(broad: Broad, capacity: int) -> Broad:
    """The same with room for as many pairs: for when `find_pairs` returned less than zero."""
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


# --- boxes -----------------------------------------------------------------------------------------------------


@kernel
def enclose(shape, p, R, vertices, margin, boxes, planes, i):
    """The box around a shape (a record of `geometry`) at p with orientation R, `margin` wider on every side [m].

    Exact for every kind; that of a hull is found from all its vertices (n x 3, those of all hulls [m]). A plane gets
    a box without bounds and its equation, moved outward by the margin. Below a height field all is solid.
    """
    planes[i, 0], planes[i, 1], planes[i, 2], planes[i, 3] = 0.0, 0.0, 0.0, 0.0
    kind = shape.kind
    if kind == PLANE:
        x, y, z = R[2], R[5], R[8]
        planes[i, 0], planes[i, 1], planes[i, 2] = x, y, z
        planes[i, 3] = x * p[0] + y * p[1] + z * p[2] + margin
    if kind in (SPHERE, CAPSULE, CYLINDER, BOX):
        a, b, c = shape.dims[0], shape.dims[1], shape.dims[2]
        for k in range(3):
            x, y, z = R[3 * k], R[3 * k + 1], R[3 * k + 2]
            if kind == SPHERE:
                reach = a
            elif kind == CAPSULE:
                reach = a + 0.5 * b * abs(z)
            elif kind == CYLINDER:
                # sqrt(x² + y²), not sqrt(1 - z²), which has no digits left where the axis lies along this one.
                reach = a * math.sqrt(x * x + y * y) + 0.5 * b * abs(z)
            else:
                reach = 0.5 * (a * abs(x) + b * abs(y) + c * abs(z))
            boxes[i, k] = p[k] - (reach + margin)
            boxes[i, k + 3] = p[k] + (reach + margin)
    elif kind == HULL:
        for k in range(3):
            x, y, z = R[3 * k] * shape.dims[0], R[3 * k + 1] * shape.dims[1], R[3 * k + 2] * shape.dims[2]
            low, high = math.inf, -math.inf
            for v in range(shape.vertex, shape.vertex + shape.vertices):
                h = x * vertices[v, 0] + y * vertices[v, 1] + z * vertices[v, 2]
                low = min(low, h)
                high = max(high, h)
            boxes[i, k] = p[k] + (low - margin)
            boxes[i, k + 3] = p[k] + (high + margin)
    elif kind == HEIGHTS:
        for k in range(3):
            x, y, z = R[3 * k], R[3 * k + 1], R[3 * k + 2]
            reach = 0.5 * (shape.dims[0] * abs(x) + shape.dims[1] * abs(y)) + margin
            top = z * shape.dims[2]
            boxes[i, k] = -math.inf if z > 0.0 else p[k] + top - reach
            boxes[i, k + 3] = math.inf if z < 0.0 else p[k] + top + reach
    else:  # planes, and kinds that are not known here, which must not be overlooked
        for k in range(3):
            boxes[i, k], boxes[i, k + 3] = -math.inf, math.inf


# --- pairs -----------------------------------------------------------------------------------------------------


@inlined
def _meet(a, i, b, j):
    """Whether two boxes overlap or touch; false if one has no numbers."""
    # One product of comparisons in place of six branches that cannot be foretold.
    return (
        (a[i, 0] <= b[j, 3]) & (b[j, 0] <= a[i, 3])
        & (a[i, 1] <= b[j, 4]) & (b[j, 1] <= a[i, 4])
        & (a[i, 2] <= b[j, 5]) & (b[j, 2] <= a[i, 5])
    )  # fmt: skip


@inlined
def _note(tree, base, a, b, order, found, capacity, new):
    """Write down the shapes at places a and b of the order; it counts only if their boxes meet.

    Whether they do cannot be foretold, and a wrong guess of the processor costs more than the rest.
    """
    found[capacity + new] = (order[a] << 32) | order[b]
    return new + (1 if _meet(tree, base + a, tree, base + b) else 0)


@inlined
def _reaches(planes, i, boxes, j):
    """Whether a box reaches into the half-space below a plane."""
    low = -planes[i, 3]
    for k in range(3):
        # The corner that is farthest below; a side without bounds must not meet a zero.
        if planes[i, k] != 0.0:
            low += planes[i, k] * (boxes[j, k] if planes[i, k] > 0.0 else boxes[j, k + 3])
    return low <= 0.0


@inlined
def _is_plane(planes, i):
    return planes[i, 0] != 0.0 or planes[i, 1] != 0.0 or planes[i, 2] != 0.0


@inlined
def _meet_planes(planes, boxes, i, j):
    """Whether two shapes meet whose boxes do, if one of them is a plane; two planes never do."""
    if _is_plane(planes, i):
        return not _is_plane(planes, j) and _reaches(planes, i, boxes, j)
    return not _is_plane(planes, j) or _reaches(planes, j, boxes, i)


@kernel
def _wanted(i, j, n, groups, masks, fixed, excluded):
    """Whether the filters let shapes i < j touch."""
    if fixed[i] != 0 and fixed[j] != 0:
        return False
    if (groups[i] & masks[j]) == 0 or (groups[j] & masks[i]) == 0:
        return False
    key = i * n + j
    low, high = 0, len(excluded)
    while low < high:
        middle = (low + high) >> 1
        if excluded[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low == len(excluded) or excluded[low] != key


@kernel
def _sift(n, groups, masks, fixed, excluded, found, capacity, candidates, count):
    """Keep those of the candidates that the filters let through; the new count, which may exceed the capacity."""
    for k in range(capacity, capacity + candidates):
        i, j = found[k] >> 32, found[k] & 0xFFFFFFFF
        if i > j:
            i, j = j, i
        if _wanted(i, j, n, groups, masks, fixed, excluded):
            if count < capacity:
                found[count] = (i << 32) | j
            count += 1
    return count


@kernel
def _depth(n):
    """Levels below the root of a tree of n shapes."""
    depth = 0
    while (n - 1) >> depth >= LEAF:
        depth += 1
    return depth


@inlined
def _bounded(boxes, i):
    """Whether a box has six finite numbers."""
    bounded = True
    for k in range(6):
        bounded &= -math.inf < boxes[i, k] < math.inf
    return bounded


@inlined
def _centre(boxes, i, axis):
    """The middle of a box along an axis; halves, for the sum of two numbers of 1e308 is none."""
    return 0.5 * boxes[i, axis] + 0.5 * boxes[i, axis + 3]


@kernel
def _halve(boxes, order, first, middle, last, axis):
    """Put those of order[first:last] with the lower centres along an axis before `middle` (Hoare's selection)."""
    low, high = first, last - 1
    while low < high:
        pivot = _centre(boxes, order[(low + high) >> 1], axis)
        i, j = low, high
        while i <= j:
            while _centre(boxes, order[i], axis) < pivot:
                i += 1
            while pivot < _centre(boxes, order[j], axis):
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return


@kernel
def _arrange(boxes, order, state):
    """Put the shapes in an order of which the halves, quarters ... lie close together; those without bounds last."""
    n = len(order)
    m = 0
    for k in range(n):
        if _bounded(boxes, order[k]):
            order[m], order[k] = order[k], order[m]
            m += 1
    state[_BOUNDED] = m
    depth = _depth(m)
    for level in range(depth):
        for node in range(1 << level):
            first, last = (m * node) >> level, (m * (node + 1)) >> level
            middle = (m * (2 * node + 1)) >> (level + 1)
            axis, widest = 0, -1.0
            for k in range(3):
                low, high = math.inf, -math.inf
                for place in range(first, last):
                    c = _centre(boxes, order[place], k)
                    low = min(low, c)
                    high = max(high, c)
                if 0.5 * high - 0.5 * low > widest:
                    axis, widest = k, 0.5 * high - 0.5 * low
            _halve(boxes, order, first, middle, last, axis)


@kernel
def _refit(boxes, order, m, depth, tree):
    """Boxes of the nodes from those of the shapes; the shapes' own follow them, in order."""
    leaves = 1 << depth
    base = 2 * leaves
    for node in range(leaves):
        at = leaves + node
        for k in range(3):
            tree[at, k], tree[at, k + 3] = math.inf, -math.inf
        for place in range((m * node) >> depth, (m * (node + 1)) >> depth):
            i = order[place]
            for k in range(3):
                low, high = boxes[i, k], boxes[i, k + 3]
                tree[base + place, k], tree[base + place, k + 3] = low, high
                tree[at, k] = min(tree[at, k], low)
                tree[at, k + 3] = max(tree[at, k + 3], high)
    for at in range(leaves - 1, 0, -1):
        for k in range(3):
            tree[at, k] = min(tree[2 * at, k], tree[2 * at + 1, k])
            tree[at, k + 3] = max(tree[2 * at, k + 3], tree[2 * at + 1, k + 3])


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
def find_pairs(boxes, planes, groups, masks, fixed, excluded, order, state, tree, found, counts, out):
    """Pairs (i, j), i < j, of shapes whose boxes overlap or touch => `out`, sorted; returns how many.

    A pair is left out where both shapes are `fixed` (not zero), where the `groups` of one share no bit with the
    `masks` of the other, either way, or where i·n + j is among the sorted keys `excluded`. Two planes make no pair,
    nor does a box with NaN. If `out` is too small, nothing in it counts, and minus the number of pairs is
    returned: come again with room for as many. The other arrays are those of `make_broad`.
    """
    n = len(boxes)
    capacity = len(out)
    m = state[_BOUNDED]
    stale = state[_STALE] != 0 or m < 0
    if not stale:
        for place in range(n):
            stale |= _bounded(boxes, order[place]) != (place < m)
    if stale:
        _arrange(boxes, order, state)
        m = state[_BOUNDED]
        state[_STALE] = 0
        state[_COST] = 0
        state[_REBUILT] += 1
    # Pairs whose boxes meet wait behind those that the filters have let through, until there is no more room.
    room = len(found) - capacity - 2 * LEAF * LEAF
    count, new = 0, 0
    if m > 1:
        depth = _depth(m)
        leaves = 1 << depth
        base = 2 * leaves
        _refit(boxes, order, m, depth, tree)
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
                down = _meet(tree, mine, tree, node)
                if down and node >= leaves:
                    down = False
                    other = node - leaves
                    start, stop = (m * other) >> depth, (m * (other + 1)) >> depth
                    for a in range(first, last):
                        if _meet(tree, base + a, tree, node):
                            cost += 1
                            for b in range(start, stop):
                                new = _note(tree, base, a, b, order, found, capacity, new)
                    if new > room:
                        count = _sift(n, groups, masks, fixed, excluded, found, capacity, new, count)
                        new = 0
            if new > room:
                count = _sift(n, groups, masks, fixed, excluded, found, capacity, new, count)
                new = 0
        if state[_COST] == 0 or cost < state[_COST]:
            state[_COST] = cost
        elif cost > _WORSE * state[_COST]:
            state[_STALE] = 1
    for place in range(m, n):
        i = order[place]
        for earlier in range(place):  # all bounded shapes, and the unbounded ones before this one
            j = order[earlier]
            if _meet(boxes, i, boxes, j) and _meet_planes(planes, boxes, i, j):
                found[capacity + new] = (i << 32) | j
                new += 1
                if new > room:
                    count = _sift(n, groups, masks, fixed, excluded, found, capacity, new, count)
                    new = 0
    count = _sift(n, groups, masks, fixed, excluded, found, capacity, new, count)
    if count > capacity:
        return -count
    _sort(found, capacity, count, counts, n, out)
    return count
