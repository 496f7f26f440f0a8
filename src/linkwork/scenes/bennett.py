"""Bennett's loop of four skew hinges: it should be stuck by any count of equations, and yet it moves."""

from math import atan2, cos, pi, radians, sin

import numpy as np

from ..model import GROUND, Body, Box, Cylinder, Hinge, Model, Weld
from ..model.rotation import Array, about, quaternion, vector

SOURCE = "Bennett (1903), A new mechanism; lengths, twists and masses proposed here"
DURATION = 10.0
ENDLESS = True
PLOT = ("joint?.angle", "energy.balance")
SHORT, SHORT_TWIST, LONG_TWIST = 0.3, radians(40.0), radians(70.0)
"""Length of the short links [m]; angles between the axes of the short and of the long links [rad]."""
LONG = SHORT * sin(LONG_TWIST) / sin(SHORT_TWIST)
"""Length of the long links [m]: the lengths are to each other as the sines of the twists."""
LINKS = ((SHORT, SHORT_TWIST), (LONG, LONG_TWIST), (SHORT, SHORT_TWIST), (LONG, LONG_TWIST))
PRODUCT = sin((LONG_TWIST + SHORT_TWIST) / 2) / sin((LONG_TWIST - SHORT_TWIST) / 2)
"""tan(θ1/2) tan(θ2/2), whatever the pose."""
ALUMINIUM = 2700.0


def angles(first: float) -> tuple[float, float, float, float]:
    """Angles θ of the four hinges for that of the first [rad]."""
    second = 2 * atan2(PRODUCT * cos(first / 2), sin(first / 2))
    return first, second, -first, -second


def frames(first: float) -> list[Array]:
    """4x4 frames of the links for the first angle: z is the axis of the hinge, x runs along the link.

    Four links (Denavit and Hartenberg) from the first hinge on; a fifth frame is that of the first link again.
    """
    found = []
    place = _turn(0, pi / 2 + LONG_TWIST / 2)  # the axes of the base lean evenly to both sides of the horizon
    for angle, (length, twist) in zip(angles(first), LINKS, strict=True):
        link = place @ _turn(2, angle)
        found.append(link)
        shift = np.eye(4)
        shift[0, 3] = length
        place = link @ shift @ _turn(0, twist)
    found.append(place @ _turn(2, first))
    return found


def build(angle: float = 70.0, rate: float = 2.0) -> Model:
    """`angle` θ1 at the start [°]; its `rate` [rad/s]. The fourth link is the base."""
    model = Model("bennett")
    names = ("link1", "link2", "link3", "base")
    places = frames(radians(angle))
    for name, frame, (length, twist) in zip(names, places[:4], LINKS, strict=True):
        bar = Box((length, 0.024, 0.024), at=(length / 2, 0.0, 0.0))
        end = Cylinder(0.02, 0.06, at=(length, 0.0, 0.0), rotation=about((1.0, 0.0, 0.0), twist))
        at, turned = vector(frame[:3, 3]), quaternion(frame[:3, :3])
        shapes = (bar, Cylinder(0.02, 0.06), end)
        model.add(Body(name, at=at, rotation=turned, density=ALUMINIUM, shapes=shapes))
    model.add(Weld("stand", GROUND, "base"))
    # The derivative of tan(θ2/2) = PRODUCT/tan(θ1/2).
    half = radians(angle) / 2
    other = -rate * PRODUCT / (sin(half) ** 2 + (PRODUCT * cos(half)) ** 2)
    for k, velocity in enumerate((rate, other, -rate, -other)):
        at, axis = vector(places[k][:3, 3]), vector(places[k][:3, 2])
        model.add(Hinge(f"joint{k + 1}", names[k - 1], names[k], at=at, axis=axis, velocity=velocity))
    return model


def _turn(axis: int, angle: float) -> Array:
    """4x4 matrix of a turn about x (0) or z (2)."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    made = np.eye(4)
    made[i, i] = made[j, j] = cos(angle)
    made[j, i] = sin(angle)
    made[i, j] = -sin(angle)
    return made
