"""Ways to run a model, and how exact each is."""

import pytest

from linkwork import Body, Hinge, Model

TREE = [{"method": "tree", "integrator": name} for name in ("rk4", "euler", "adaptive")]
DIRECT = [
    {"method": method, "solver": "direct", "integrator": name}
    for method in ("simgc", "simmc")
    for name in ("adams", "rk4", "euler", "adaptive")
]
IMPULSES = [{"method": method, "solver": "impulses"} for method in ("simgc", "simmc")]
ROWS = DIRECT + IMPULSES
DT = 1e-3


def named(ways):
    return pytest.mark.parametrize("way", ways, ids=lambda way: "-".join(way.values()))


def order(way):
    return 1 if way.get("integrator", "euler") == "euler" else 4


def error_bound(way, size=1.0):
    """What a motion of some rad/s may be off after a second.

    Order one: the step, times accelerations of about ten. Order four: (ω h)⁴ of some rad/s is 1e-10; impulses and
    the tolerance of the adaptive integrator, 1e-8, leave more.
    """
    return size * (10 * DT if order(way) == 1 else 1e-6)


def pendulum(gravity, **joint):
    model = Model("pendulum", gravity=(0, 0, -gravity))
    model.add(Body("bob", mass=1.3, com=(0, 0, -0.7), inertia=(0.2, 0.2, 0.1)))
    model.add(Hinge("pivot", "ground", "bob", axis=(0, 1, 0), **{"position": 1.2, "velocity": 0.5} | joint))
    return model
