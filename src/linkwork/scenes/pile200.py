"""Two hundred balls, boxes, capsules and cylinders fall into a bin; live, the first thirty of them.

In real time two hundred are too many for a core: `linkwork view pile200 --set count=200` shows them slowly.
"""

from math import cos, pi, sin, sqrt

import numpy as np

from ..model import GROUND, Body, Box, Capsule, Cylinder, Free, Material, Model, Scenery, Sphere

DURATION = 3.0
LIVE = {"count": 30}
LIVE_OPTIONS = {"dt": 2e-3}
WATCHED = 0.5  # until most of it lies, which takes most of the time
PLOT = ("contact.*", "solver.iterations", "energy.kinetic")
PITCH = 0.11
"""Between neighbours of the grid that they start in [m]: wider than any of them, however it is turned."""
SHAPES = (
    Sphere(0.04),
    Box((0.07, 0.05, 0.04)),
    Capsule(0.02, 0.05),
    Cylinder(0.03, 0.06),
    Box((0.055, 0.055, 0.055)),
)
COLORS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee")


def build(
    count: int = 200, friction: float = 0.5, restitution: float = 0.0, seed: int = 1, across: int = 5
) -> Model:
    """`seed` of how they are turned at the start; `across` things in a row, and rows in a layer, for which the bin is
    just wide enough."""
    model = Model(f"pile{count}")
    model.add(Material("wood", friction=friction, restitution=restitution))
    _add_bin(model, across * PITCH / 2)
    random = np.random.default_rng(seed)
    for k in range(count):
        layer, place = divmod(k, across * across)
        row, column = divmod(place, across)
        jitter = 0.01 * (random.random(2) - 0.5)
        middle = (across - 1) / 2
        at = (
            (column - middle) * PITCH + float(jitter[0]),
            (row - middle) * PITCH + float(jitter[1]),
            (layer + 0.75) * PITCH,
        )
        shape = (column + 2 * row + layer) % len(SHAPES)  # none above or beside its like
        name = f"thing{k + 1}"
        turn, look, color = _any_turn(random), (SHAPES[shape],), COLORS[shape]
        model.add(Body(name, at=at, rotation=turn, density=700.0, shapes=look, material="wood", color=color))
        model.add(Free(f"{name}_way", GROUND, name, at=at))
    return model


def _add_bin(model: Model, half: float) -> None:
    wall, high = 0.04, 0.5
    wide, aside = 2 * half + 2 * wall, (-half - wall / 2, half + wall / 2)
    floor = Box((wide, wide, wall), at=(0.0, 0.0, -wall / 2))
    ends = (Box((wall, wide, high), at=(x, 0.0, high / 2)) for x in aside)
    sides = (Box((2 * half, wall, high), at=(0.0, y, high / 2)) for y in aside)
    model.add(Scenery("bin", shapes=(floor, *ends, *sides), material="wood"))


def _any_turn(random: np.random.Generator) -> tuple[float, float, float, float]:
    """A rotation, all equally likely (Shoemake)."""
    a, b, c = (float(x) for x in random.random(3))
    p, q = sqrt(1.0 - a), sqrt(a)
    return q * cos(2 * pi * c), p * sin(2 * pi * b), p * cos(2 * pi * b), q * sin(2 * pi * c)
