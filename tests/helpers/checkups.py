"""Linkages for the doctor, and what it says of them."""

from math import cos, sin, tau

import numpy as np

from helpers.models import solid
from linkwork import Hinge, Model
from linkwork.model.item import GROUND
from linkwork.scenes.n_four_bar import rod


def chain(*points, gravity=(0.0, -9.81, 0.0), width=0.05):
    """Rods from pin to pin in the plane z = 0, the first and the last pin on the ground."""
    model = Model("chain", gravity=gravity)
    for k in range(len(points) - 1):
        model.add(rod(f"rod{k}", points[k], points[k + 1], 1.0, width))
    bodies = [GROUND, *model.bodies, GROUND]
    for k, (x, y) in enumerate(points):
        model.add(Hinge(f"pin{k}", bodies[k], bodies[k + 1], at=(x, y, 0.0)))
    return model


def said(checkup, *words, level=None):
    """Whether some finding has all these words."""
    return any(
        all(word in f"{f.where}: {f.what}" for word in words) and level in (None, f.level)
        for f in checkup.findings
    )


PARALLELOGRAM = ((0, 0), (0, 1), (2, 1), (2, 0))


def bennett(twist_a=0.9, twist_b=0.4, length_a=1.0, opening=1.1):
    """Four hinges in space that move although Grübler counts -2: a/sin α = b/sin β (Bennett 1903)."""
    length_b = length_a * sin(twist_b) / sin(twist_a)
    # tan(θ/2) tan(φ/2) = sin((β + α)/2) / sin((β - α)/2) couples the angles of neighbouring hinges.
    other = 2 * np.arctan(sin((twist_b + twist_a) / 2) / sin((twist_b - twist_a) / 2) / np.tan(opening / 2))

    def link(angle, length, twist):
        c, s, ca, sa = cos(angle), sin(angle), cos(twist), sin(twist)
        return np.array(
            [[c, -s * ca, s * sa, length * c], [s, c * ca, -c * sa, length * s], [0, sa, ca, 0], [0, 0, 0, 1]]
        )

    frames = [np.eye(4)]
    for angle, length, twist in (
        (opening, length_a, twist_a), (other, length_b, twist_b),
        (tau - opening, length_a, twist_a), (tau - other, length_b, twist_b),
    ):  # fmt: skip
        frames.append(frames[-1] @ link(angle, length, twist))
    np.testing.assert_allclose(frames[4], np.eye(4), atol=1e-12)
    model = Model("bennett")
    for k in range(3):
        model.add(solid(f"bar{k}", at=tuple(frames[k][:3, 3].tolist())))
    bodies = [GROUND, *model.bodies, GROUND]
    for k in range(4):
        p, axis = frames[k][:3, 3], frames[k][:3, 2]
        model.add(Hinge(f"pin{k}", bodies[k], bodies[k + 1], at=tuple(p.tolist()), axis=tuple(axis.tolist())))
    return model
