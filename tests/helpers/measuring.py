"""Ways to run models that are measured, and a pendulum whose motion is known."""

import pytest

from linkwork import Body, Hinge, Marker, Model
from linkwork.model.rotation import about

G = 9.81
SMOOTH = [
    {"method": name} for name in ("tree", "simgc", "simmc", "hybrid", "global", "topological", "components")
]
IMPULSES = [{"method": name, "solver": "impulses", "epsilon": 1e-13} for name in ("simgc", "simmc")]


def label(way):
    return "-".join(str(way[key]) for key in ("method", "solver") if key in way)


smooth = pytest.mark.parametrize("way", SMOOTH, ids=label)
every = pytest.mark.parametrize("way", SMOOTH + IMPULSES, ids=label)
with_rows = pytest.mark.parametrize("way", SMOOTH[1:] + IMPULSES, ids=label)
impulses = pytest.mark.parametrize("way", IMPULSES, ids=label)

LENGTH, MASS, INERTIA = 0.4, 2.0, (0.05, 0.03, 0.04)


def pendulum():
    """A rod in the xz plane that turns about y at the origin; its frame is at its centre of mass."""
    model = Model("pendulum", gravity=(0.0, 0.0, -G))
    model.add(Body("rod", at=(0.0, 0.0, -LENGTH), mass=MASS, inertia=INERTIA))
    model.add(Marker("end", "rod", at=(0.1, 0.2, -0.7), rotation=about((0.0, 1.0, 0.0), 0.3)))
    model.add(Hinge("pivot", "ground", "rod", axis=(0.0, -1.0, 0.0), position=0.9, velocity=-1.7))
    return model
