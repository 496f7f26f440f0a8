"""What pictures are drawn into and from: buffers of samples, and pieces of meshes."""

from typing import Any, NamedTuple

import numpy as np

from ..jit import inlined
from ..math3 import cross3, sub3
from .camera import unit

PIECE = np.dtype(
    [
        ("transform", "f8", 12),  # rows of [A | p] with world = A x + p
        ("normals", "f8", 9),  # rows of the matrix that turns normals
        ("color", "f8", 3),  # linear in light
        ("gloss", "f8"),
        # How much nearer it is taken to be, as a share of the distance, so that faces of different bodies in one plane
        # do not flicker.
        ("nearer", "f8"),
        ("first", "i8"),  # its triangles in the mesh
        ("count", "i8"),
        ("tag", "i8"),  # the body that it is part of
        ("closed", "i8"),  # 1 if faces seen from behind can be left out
        ("casts", "i8"),  # 1 if it casts a shadow
    ]
)


class Buffers(NamedTuple):
    """Samples of a picture of h × w pixels, twice as fine in both directions."""

    light: Any
    """2h × 2w × 3, float32."""
    depth: Any
    """2h × 2w, float32: 1/distance along the view."""
    tag: Any
    """2h × 2w, int32: the body that is seen there."""
    shade: Any
    """h × w, uint8: one bit for each part of the lamp that is hidden from the floor there."""


class Mesh(NamedTuple):
    """Triangles of all meshes, in the meshes' own frames: triangles × 3 corners × 3."""

    corners: Any
    normals: Any


@inlined
def _row(m, k, x, y, z):
    return m[k] * x + m[k + 1] * y + m[k + 2] * z


@inlined
def _corner_of(mesh, piece, k, j):
    """Corner j of triangle k in the world [m]."""
    x, y, z = mesh.corners[k, j, 0], mesh.corners[k, j, 1], mesh.corners[k, j, 2]
    A = piece.transform
    return _row(A, 0, x, y, z) + A[3], _row(A, 4, x, y, z) + A[7], _row(A, 8, x, y, z) + A[11]


@inlined
def normal_of(mesh, piece, k, j):
    """Unit normal at corner j of triangle k in the world."""
    x, y, z = mesh.normals[k, j, 0], mesh.normals[k, j, 1], mesh.normals[k, j, 2]
    B = piece.normals
    return unit((_row(B, 0, x, y, z), _row(B, 3, x, y, z), _row(B, 6, x, y, z)))


@inlined
def corners_of(mesh, piece, k):
    """Corners of triangle k in the world [m], and its normal, as long as twice its area."""
    p, q, s = _corner_of(mesh, piece, k, 0), _corner_of(mesh, piece, k, 1), _corner_of(mesh, piece, k, 2)
    return p, q, s, cross3(sub3(q, p), sub3(s, p))
