"""A chain hangs over a fixed cylinder with unequal ends: friction holds it."""

from itertools import pairwise
from math import atan2, cos, pi, sin, tan

from ..model import GROUND, Body, Capsule, Cylinder, Free, Hinge, Marker, Material, Model, Scenery, about

DURATION = 3.0
PLOT = ("left_end.position.z", "right_end.position.z", "contact.patches")
BUTTONS = {"Swing the longer end": lambda session: session.push("link1", (-1.0, 0.0, 0.0))}
PRESSES = ((0.5, "Swing the longer end"),)
PITCH, THICK = 0.08, 0.012
"""Length of a link from joint to joint, and its radius [m]."""
OVER = 9
"""Links that lie on the cylinder, half around it."""


def build(left: int = 12, right: int = 6, friction: float = 0.4, damping: float = 1e-3) -> Model:
    """`left` and `right` are the links that hang on each side: with `friction` µ a rope would rest up to a ratio of
    exp(µ pi) (Euler, Eytelwein), 3.5 for 0.4. `damping` of each joint [N m s/rad].
    """
    model = Model("chain_over_cylinder")
    # Midpoints of links lie on a circle about the cylinder: a polygon of which each link takes the same angle.
    step = pi / OVER
    circle = PITCH / 2 / tan(step / 2)
    radius = circle - THICK
    model.add(Material("steel", friction=friction))
    drum = Cylinder(radius, 0.3, rotation=about((1.0, 0.0, 0.0), pi / 2))
    model.add(Scenery("cylinder", shapes=(drum,), material="steel"))
    corner = circle / cos(step / 2)
    points = [(-corner, -PITCH * k) for k in range(left, 0, -1)]
    points += [(-corner * cos(step * k), corner * sin(step * k)) for k in range(OVER + 1)]
    points += [(corner, -PITCH * k) for k in range(1, right + 1)]
    rod = Capsule(THICK, PITCH - 2 * THICK, at=(0.0, 0.0, PITCH / 2))
    for k, ((x0, z0), (x1, z1)) in enumerate(pairwise(points)):
        name, at = f"link{k + 1}", (x0, 0.0, z0)
        turn = about((0.0, 1.0, 0.0), atan2(x1 - x0, z1 - z0))
        model.add(Body(name, at=at, rotation=turn, density=7800.0, shapes=(rod,), material="steel"))
        if k == 0:
            model.add(Free("way", GROUND, name, at=at))
        else:
            model.add(Hinge(f"pin{k}", f"link{k}", name, at=at, axis=(0.0, 1.0, 0.0), damping=damping))
    for marker, link, (x, z) in (("left_end", "link1", points[0]), ("right_end", name, points[-1])):
        model.add(Marker(marker, link, at=(x, 0.0, z)))
    return model
