"""Boxes along the axes of the world around shapes, and whether two of them meet."""

import math

from ..kernels.jit import inlined, kernel
from .geometry import BOX, CAPSULE, CYLINDER, HEIGHTS, HULL, PLANE, SPHERE


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
