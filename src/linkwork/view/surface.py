"""Meshes as the rasteriser takes them: triangles with a normal at every corner."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..model.rotation import Array
from ..stage.meshes import is_open, mesh

_CREASE = np.cos(np.radians(40.0))  # faces that meet more sharply than this have an edge between them


class Surface(NamedTuple):
    """Triangles of a mesh."""

    corners: Array
    """n × 3 × 3"""
    normals: Array
    """n × 3 × 3, unit vectors outwards"""
    closed: bool
    """Whether faces that are seen from behind are hidden anyway, or, as of a plane, are not to be seen."""


@lru_cache(maxsize=256)
def surface(name: str) -> Surface:
    """A mesh by the name that `geometry.mesh` knows, smooth where its faces meet gently."""
    triangles = mesh(name)
    corners = triangles.vertices[triangles.faces]
    face = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])  # as long as twice its area
    size = np.linalg.norm(face, axis=1)
    solid = size > 1e-12 * size.max(initial=0.0)
    corners, face, size = corners[solid], face[solid], size[solid]
    return Surface(corners, _smooth(corners, face, face / size[:, None]), not is_open(name))


def _smooth(corners: Array, face: Array, unit: Array) -> Array:
    """At every corner the mean of the faces around it that are within the crease angle of its own."""
    where = _places(corners.reshape(-1, 3))
    order = np.argsort(where, kind="stable")
    count = np.bincount(where)
    first = np.concatenate([[0], np.cumsum(count)[:-1]])
    owner = np.arange(len(where)) // 3
    around, mine = count[where], np.empty(len(where), np.intp)
    mine[order] = np.arange(len(where)) - first[where[order]]
    total = np.zeros((len(where), 3))
    for shift in range(int(count.max(initial=0))):
        some = np.flatnonzero(around > shift)
        other = owner[order[first[where[some]] + (mine[some] + shift) % around[some]]]
        gentle = np.einsum("ij,ij->i", unit[owner[some]], unit[other]) > _CREASE
        total[some[gentle]] += face[other[gentle]]
    length = np.linalg.norm(total, axis=1, keepdims=True)
    normals: Array = (total / length).reshape(-1, 3, 3)
    return normals


def _places(points: Array) -> npt.NDArray[np.intp]:
    """A number for every point, the same for points in one place."""
    reach = float(np.abs(points).max(initial=0.0)) or 1.0
    _, places = np.unique(np.round(points / (1e-7 * reach)), axis=0, return_inverse=True)
    return places.reshape(-1)
