"""Nets of ball joints: many loops that share their joints."""

import itertools

import numpy as np

from linkwork import Body, Model, Spherical


def rods(n, height=0.3):
    """n x n knots, rods between neighbours, ball joints where rods meet; hung by its corners, with a slack of `height`.

    The distance from one knot to the next is about 1 m. At no height it is flat and taut between its corners.
    """
    model, middle = Model("net"), (n - 1) / 2
    meeting = {}

    def knot(i, j):
        return np.array([i, j, height / n * ((i - middle) ** 2 + (j - middle) ** 2)])

    for i in range(n):
        for j in range(n):
            for name, k, m in ((f"x{i}_{j}", i + 1, j), (f"y{i}_{j}", i, j + 1)):
                if max(k, m) < n:
                    at = tuple((knot(i, j) + knot(k, m)) / 2)
                    model.add(Body(name, mass=0.1, inertia=(1e-3, 1e-3, 1e-3), at=at))
                    for end in ((i, j), (k, m)):
                        meeting.setdefault(end, []).append(name)
    for (i, j), names in meeting.items():
        at = tuple(knot(i, j))
        if i in (0, n - 1) and j in (0, n - 1):
            model.add(Spherical(f"corner{i}_{j}", "ground", names[0], at=at))
        for a, b in itertools.pairwise(names):
            model.add(Spherical(f"{a}-{b}", a, b, at=at))
    return model


def tiles(n, rough=0.0):
    """n x n square tiles, neighbours joined by a ball at the middle of their common edge; hung at a corner.

    Where tiles do not lie in a plane but are `rough`, they hold each other.
    """
    model = Model("tiles")
    for i in range(n):
        for j in range(n):
            at = (float(i), float(j), rough * (2.0 * (i % 2) + j % 2))
            model.add(Body(f"tile{i}_{j}", mass=0.1, inertia=(1e-3, 1e-3, 2e-3), at=at))
            if i:
                model.add(
                    Spherical(f"x{i}_{j}", f"tile{i - 1}_{j}", f"tile{i}_{j}", at=(i - 0.5, float(j), 0.0))
                )
            if j:
                model.add(
                    Spherical(f"y{i}_{j}", f"tile{i}_{j - 1}", f"tile{i}_{j}", at=(float(i), j - 0.5, 0.0))
                )
    model.add(Spherical("hook", "ground", "tile0_0", at=(-0.5, -0.5, 0.0)))
    return model
