"""Boxes along the axes of the world: whether two of them meet. `kinds.enclose` makes those around shapes."""

import math

from ..kernels.jit import inlined


@inlined
def boxes_meet(a, i, b, j):
    """Whether two boxes overlap or touch; false if one has no numbers."""
    # One product of comparisons in place of six branches that cannot be foretold.
    return (
        (a[i, 0] <= b[j, 3]) & (b[j, 0] <= a[i, 3])
        & (a[i, 1] <= b[j, 4]) & (b[j, 1] <= a[i, 4])
        & (a[i, 2] <= b[j, 5]) & (b[j, 2] <= a[i, 5])
    )  # fmt: skip


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
def planes_meet(planes, boxes, i, j):
    """Whether two shapes meet whose boxes do, if one of them is a plane; two planes never do."""
    if _is_plane(planes, i):
        return not _is_plane(planes, j) and _reaches(planes, i, boxes, j)
    return not _is_plane(planes, j) or _reaches(planes, j, boxes, i)


@inlined
def is_bounded(boxes, i):
    """Whether a box has six finite numbers."""
    bounded = True
    for k in range(6):
        bounded &= -math.inf < boxes[i, k] < math.inf
    return bounded
