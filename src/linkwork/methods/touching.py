"""Where things touch now, point by point and as arrays: pictures want hundreds of points many times a second."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..engine.contact.detect import Detection
from ..model.rotation import Array, Vector


class Touch(NamedTuple):
    """A point where two things touch now."""

    a: str
    b: str
    point: Vector
    """In the world [m]."""
    normal: Vector
    """From a to b."""
    distance: float
    """Negative in a penetration [m]."""
    force: float
    """That pushes them apart, mean of the last step [N]."""
    friction: Vector
    """Of a on b, mean of the last step [N]."""
    slides: bool
    """Whether friction is at its bound."""


class TouchEvent(NamedTuple):
    """Two things began (`began`) or ceased to push each other."""

    time: float
    a: str
    b: str
    began: bool


class TouchArrays(NamedTuple):
    """All points where things touch now, in the order of `touches`: copies, which no step changes."""

    points: Array
    """n × 3, in the world [m]"""
    normals: Array
    """n × 3, from one thing to the other: to the second, but never to scenery"""
    forces: Array
    """n × 3: on that other, friction included, mean of the last step [N]"""
    slides: npt.NDArray[np.bool_]
    """n: whether friction is at its bound"""


def touch_arrays(found: Detection, dt: float) -> TouchArrays:
    """What `touches` tells of places and forces in a step of dt [s], some thirty times as fast. Not while a step is
    taken."""
    side = int(found.counts[0]["side"])
    patches = np.asarray(found.patches)[side, : found.counts[0]["patches"]]
    known = np.asarray(found.points)[side, : found.counts[0]["points"]]
    ways = np.repeat(np.where(patches["b"] == 0, -1.0, 1.0), patches["count"])
    pushing = np.flatnonzero(known["p"][:, 0] > 0.0)
    # Column by column: a point has many more, which need not be copied.
    p, n, t, s = (known[name][pushing] for name in ("p", "n", "t", "s"))
    way = ways[pushing, None]
    forces = way * (p[:, :1] * n + p[:, 1:2] * t + p[:, 2:3] * s) / dt
    return TouchArrays(known["x"][pushing], way * n, forces, known["slides"][pushing] != 0)
