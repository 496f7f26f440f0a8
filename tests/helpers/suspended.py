"""A car of components with ports."""

from helpers.models import solid
from linkwork import Component, Model
from linkwork.engine.loads import Spring
from linkwork.model.joints import Hinge, Spherical


def suspension():
    wheel = Component("wheel")
    for name in ("carrier", "rim"):
        wheel.add(solid(name))
    wheel.add(Hinge("axle", "carrier", "rim"))
    part = Component("suspension")
    part.add(wheel.instance("wheel"))
    for name in ("lower", "upper"):
        part.add(solid(name))
        part.add(Spherical(f"ball_{name}", name, "wheel.carrier"))
    return part


def car():
    model = Model("car")
    model.add(solid("chassis"))
    for side in ("left", "right"):
        model.add(suspension().instance(side))
        for name in ("lower", "upper"):
            model.add(Hinge(f"{side}_{name}", "chassis", f"{side}.{name}"))
        model.add(
            Spring(
                f"{side}_spring", "chassis", f"{side}.lower", at_a=(0, 0, 0), at_b=(0, 0, 1), stiffness=1.0
            )
        )
    model.add(Component("empty").instance("nothing"))
    return model
