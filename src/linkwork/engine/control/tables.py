"""Tables over one and two inputs."""

import math

from ..kernels.jit import exact_kernel


@exact_kernel
def segment(numbers, first, count, x):
    """How many of some increasing places are at or below x."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if numbers[first + middle] > x:
            high = middle
        else:
            low = middle + 1
    return low


@exact_kernel
def lookup(op, numbers, x, rate):
    """p: first of its numbers (places, then values), count, 1 if it goes on beyond its ends; mode: places passed."""
    first, count = int(op.p[0]), int(op.p[1])
    k = op.mode if op.mode >= 0 else segment(numbers, first, count, x)
    values = first + count
    if op.p[2] == 0.0:
        if k == 0:
            return numbers[values], 0.0
        if k == count:
            return numbers[values + count - 1], 0.0
    i = min(max(k, 1), count - 1)
    x0, y0 = numbers[first + i - 1], numbers[values + i - 1]
    slope = (numbers[values + i] - y0) / (numbers[first + i] - x0)
    return y0 + slope * (x - x0), slope * rate


@exact_kernel
def lookup_margin(op, numbers, x, rate):
    """How far x is from the end of its segment, and the rate of that."""
    first, count, k = int(op.p[0]), int(op.p[1]), op.mode
    below = x - numbers[first + k - 1] if k > 0 else math.inf
    above = numbers[first + k] - x if k < count else math.inf
    return (below, rate) if below < above else (above, -rate)


@exact_kernel
def cell(op, numbers, x, y):
    """Of a table over two inputs the piece at a place: places passed along x, times the number along y, and along y."""
    first, nx, ny = int(op.p[0]), int(op.p[1]), int(op.p[2])
    return segment(numbers, first, nx, x) * (ny + 1) + segment(numbers, first + nx, ny, y)


@exact_kernel
def lookup_2d(op, numbers, x, y):
    """p: first of its numbers (places along x, along y, values row by row), counts; bilinear, constant outside."""
    first, nx, ny = int(op.p[0]), int(op.p[1]), int(op.p[2])
    mode = op.mode if op.mode >= 0 else cell(op, numbers, x, y)
    i, j = mode // (ny + 1), mode % (ny + 1)
    s, i = _share(numbers, first, nx, i, x)
    r, j = _share(numbers, first + nx, ny, j, y)
    at = first + nx + ny + i * ny + j
    low = numbers[at] + r * (numbers[at + 1] - numbers[at])
    high = numbers[at + ny] + r * (numbers[at + ny + 1] - numbers[at + ny])
    return low + s * (high - low)


@exact_kernel
def _share(numbers, first, count, k, x):
    """Share of the way between two places, and the first of them."""
    if k == 0:
        return 0.0, 0
    if k == count:
        return 1.0, count - 2
    x0, x1 = numbers[first + k - 1], numbers[first + k]
    return (x - x0) / (x1 - x0), k - 1


@exact_kernel
def cell_margin(op, numbers, x, y):
    """How far a place is from the edge of its cell, against the size of the cell's edges."""
    first, nx, ny = int(op.p[0]), int(op.p[1]), int(op.p[2])
    i, j = op.mode // (ny + 1), op.mode % (ny + 1)
    nearest = math.inf
    if i > 0:
        nearest = min(nearest, x - numbers[first + i - 1])
    if i < nx:
        nearest = min(nearest, numbers[first + i] - x)
    first += nx
    if j > 0:
        nearest = min(nearest, y - numbers[first + j - 1])
    if j < ny:
        nearest = min(nearest, numbers[first + j] - y)
    return nearest
