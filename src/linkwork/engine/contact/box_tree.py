"""A binary tree of boxes that is no more than an order of the shapes.

At level L, node i covers places n·i >> L to n·(i + 1) >> L of the order, so that nothing but boxes must be kept up to
date, bottom up, at every call. The order is made by halving along the longest axis.
"""

import math

from ..kernels.jit import inlined, kernel
from .boxes import is_bounded

LEAF = 4
"""Shapes to a leaf at most: fewer make the tree deep, more cost tests of boxes that are far apart."""


@kernel
def tree_depth(n):
    """Levels below the root of a tree of n shapes."""
    depth = 0
    while (n - 1) >> depth >= LEAF:
        depth += 1
    return depth


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
def arrange(boxes, order):
    """Put shapes in an order of which the halves, quarters ... lie close together, those without bounds last; returns
    how many have bounds."""
    n = len(order)
    m = 0
    for k in range(n):
        if is_bounded(boxes, order[k]):
            order[m], order[k] = order[k], order[m]
            m += 1
    depth = tree_depth(m)
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
    return m


@kernel
def refit(boxes, order, m, depth, tree):
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
