"""What rays meet: every shape that is not for pictures alone, with a material or without."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..engine.contact.geometry import Hulls
from ..engine.contact.ray import TARGET
from ..engine.kernels.record import named
from ..model import Body, Flat, Scenery
from ..model.rotation import Array, matrix
from .colliders import records_of, solids_of


class Targets(NamedTuple):
    """Shapes as `engine.contact.ray` takes them."""

    shapes: Any
    hulls: Hulls
    targets: Any


def ray_targets(flat: Flat, bodies: Sequence[str]) -> Targets:
    """Everything that a ray can meet; `bodies` are numbered as they are in the tables."""
    carriers: list[Body | Scenery] = [one for one in flat.bodies.values() if isinstance(one, Body)]
    carriers += flat.scenery.values()
    owners = [one for one in carriers if any(shape.touches for shape in one.shapes)]
    solids, made, _ = solids_of(owners)
    shapes, hulls = records_of([solid for owner in owners for solid in solids[owner.name]], made)
    table = np.zeros(len(shapes), TARGET)
    k = 0
    for owner in owners:
        moves = isinstance(owner, Body)
        at, R = (np.zeros(3), np.eye(3)) if moves else (np.array(owner.at), matrix(owner.rotation))
        for shape, _ in solids[owner.name]:
            table[k]["body"] = bodies.index(owner.name) if moves else -1
            table[k]["X_R"] = (R @ matrix(shape.rotation)).ravel()
            table[k]["X_p"] = at + R @ np.array(shape.at)
            k += 1
    return Targets(shapes, hulls, named(table))


def ray_of(body: int, at: Any, direction: Any, reach: float) -> Array:
    """A row of `cast_rays`."""
    way = np.array(direction, float)
    return np.array([body, *at, *(way / np.linalg.norm(way)), reach])
