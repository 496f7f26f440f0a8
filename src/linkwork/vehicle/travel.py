"""Travel of a wheel and limits of its suspension's coordinate, exact and by the arc sine of the paper's equation 7."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..model.errors import LinkworkError
from .kinematics import Chain
from .linkage import joint_axes

Pair = tuple[float, float]


class Travel(NamedTuple):
    """What was asked for, what limits follow, and what they reach."""

    requested: Pair
    """Lowest and highest place of the wheel's centre from its neutral one [m]."""
    exact: Pair
    """Coordinates at which it is there [rad or m]."""
    approximate: Pair
    """Coordinates by asin(z/l) [rad], l from the hinge to the wheel's centre; of a slide, z itself [m]."""
    reached: Pair
    """Places of the wheel's centre at the approximate coordinates [m]."""
    lever: float
    """l, from the hinge to the wheel's centre, across the hinge [m]; 0 of a slide."""

    @classmethod
    def of(cls, chain: Chain, requested: Pair, exact: Pair, near: Pair) -> Travel:
        """With the places that the approximate coordinates lead to."""
        low, high = (chain.height(chain.at(value)) if value else 0.0 for value in near)
        return cls(requested, exact, near, (low, high), lever(chain))

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return self._asdict()


def lever(chain: Chain) -> float:
    """From the hinge of the coordinate to the wheel's centre, across the hinge [m]; 0 of a slide."""
    joint = chain.travel
    if not joint.motions()[0].rot:
        return 0.0
    axis = joint_axes(joint)[:, joint.motions()[0].axis]
    return float(np.linalg.norm(np.cross(axis, np.array(joint.at, float))))


def approximate(chain: Chain, travel: Pair) -> Pair:
    """Limits by asin(z/l), equation 7 of Strashnov and Torgashev; of a slide, the travel itself."""
    length = lever(chain)
    if length == 0.0:
        return travel
    if max(map(abs, travel)) > length:
        raise LinkworkError(
            f"{chain.what}: a travel of {1e3 * max(travel, key=abs):+.6g} mm is beyond its hinge, which is "
            f"{1e3 * length:.4g} mm from the wheel's centre; shorten the travel, or lengthen the arm"
        )
    sign = math.copysign(1.0, chain.lift)
    low, high = (sign * math.asin(z / length) for z in travel)
    return low, high
