"""Mechanisms that come to rest, and numbers about them that are found by other code."""

from linkwork import Body, Hinge, Model, Slider

G = 9.81


def bisect(function, low, high):
    """A root between two values where a function has different signs."""
    below = function(low)
    assert below * function(high) < 0.0
    for _ in range(200):
        middle = 0.5 * (low + high)
        if function(middle) * below > 0.0:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


def slope(function, x, h=1e-2):
    """Derivative by differences of order 8."""
    weights = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
    return sum(w * (function(x + k * h) - function(x - k * h)) for k, w in weights.items()) / h


def lift(mass=2.0, **fields):
    """A block on an upright rail."""
    model = Model("lift")
    model.add(Body("block", mass=mass, inertia=(0.1, 0.1, 0.1)))
    model.add(Slider("rail", "ground", "block", **fields))
    return model


def holder(found, name):
    return next(one for one in found.holders if one.name == name)


def double_pendulum():
    model = Model("double")
    for k, (mass, length) in enumerate(((1.0, 0.5), (0.7, 0.4))):
        model.add(Body(f"bar{k}", at=(0.5 * k, 0, 0), mass=mass, com=(length / 2, 0, 0), inertia=(0.01,) * 3))
    model.add(Hinge("shoulder", "ground", "bar0", axis=(0.0, -1.0, 0.0), spring=4.0, rest=0.5))
    model.add(Hinge("elbow", "bar0", "bar1", at=(0.5, 0, 0), axis=(0.0, -1.0, 0.0), spring=1.5, rest=-0.8))
    return model
