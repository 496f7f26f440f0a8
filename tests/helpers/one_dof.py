"""Mechanisms of one degree of freedom, for which there are formulas."""

from linkwork import Body, Hinge, Model, Slider

I, M = 0.5, 2.0  # what the hinge turns [kg m²] and the slider moves [kg]


def wheel(*drives, **fields):
    """A wheel of inertia I on a hinge, without gravity."""
    model = Model("wheel", gravity=(0.0, 0.0, 0.0))
    model.add(Body("wheel", mass=1.0, inertia=(0.3, 0.4, I)))
    model.add(Hinge("pin", "ground", "wheel", **fields))
    for drive in drives:
        model.add(drive)
    return model


def block(*drives, gravity=0.0, **fields):
    """A block of mass M on an upright rail."""
    model = Model("lift", gravity=(0.0, 0.0, -gravity))
    model.add(Body("block", mass=M, inertia=(0.1, 0.1, 0.1)))
    model.add(Slider("rail", "ground", "block", **fields))
    for drive in drives:
        model.add(drive)
    return model


def arm(mass=2.0, length=0.6, inertia=0.05, **fields):
    """A bar along x on a hinge; a positive angle lifts it."""
    model = Model("arm")
    model.add(Body("bar", mass=mass, com=(length / 2, 0.0, 0.0), inertia=(inertia,) * 3))
    model.add(Hinge("pin", "ground", "bar", axis=(0.0, -1.0, 0.0), **fields))
    return model
