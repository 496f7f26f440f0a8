"""The triangles of a mesh file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...model.errors import MissingExtraError
from ...model.rotation import Array
from .checks import Indices, check_finite, distinct, package, problem

_MANY_TRIANGLES = 200_000  # worth a note


class Surface(NamedTuple):
    """The triangles of a mesh file, each corner once."""

    points: Array
    triangles: Indices
    volume: float  # NaN unless closed and consistently oriented; negative if inside out
    notes: tuple[str, ...]


def read_surface(file: str | os.PathLike[str]) -> Surface:
    """The triangles of a mesh file, checked."""
    name = os.fspath(file)
    where = f"mesh '{name}'"
    trimesh = package("trimesh", "mesh", f"reading the {where}")
    try:
        # Unprocessed: trimesh would merge vertices closer than 1e-8, which ends tiny meshes, and drop NaN unseen.
        mesh = trimesh.load_mesh(name, process=False)
        points = np.asarray(mesh.vertices, dtype=float)
        triangles = np.asarray(mesh.faces, dtype=np.int64).reshape(-1, 3)
    except MissingExtraError:
        raise
    except MemoryError:
        raise
    except Exception as error:  # trimesh raises whatever the reader of the format raises
        suffix = Path(name).suffix
        said = " ".join(str(error).split())[:200] or type(error).__name__
        raise problem(
            where,
            f"cannot be read as {suffix[1:].upper() or 'a mesh'}: {said}. Check that the file is whole and that its"
            " name ends as its format does; save it as STL, OBJ, PLY or GLB",
        ) from None
    if len(triangles) == 0:
        raise problem(
            where,
            "has no triangles: it is cut short, or holds no surface but points, curves or text; export it anew",
        )
    check_finite(where, points, "vertex")
    notes = []
    if triangles.min() < 0 or triangles.max() >= len(points):
        raise problem(where, "has triangles with corners that do not exist; save the file anew")
    total = len(points)
    points, index = distinct(points)
    triangles = index[triangles]
    used = np.zeros(len(points), dtype=bool)
    used[triangles.ravel()] = True
    if not used.all():
        notes.append(
            f"{np.count_nonzero(~used)} of its {total} vertices belong to no triangle and are left out"
        )
        points, triangles = points[used], (np.cumsum(used) - 1)[triangles]
    if len(triangles) >= _MANY_TRIANGLES:
        notes.append(
            f"it has {len(triangles)} triangles; a mesh for contact needs a few thousand, and a smaller file loads"
            " faster"
        )
    volume, remarks = _enclosed(points, triangles)
    return Surface(points, triangles, volume, (*notes, *remarks))


def _enclosed(points: Array, triangles: Indices) -> tuple[float, list[str]]:
    """Volume inside a surface [units³], NaN if it is open, and what is remarkable about it."""
    tails = triangles.ravel()
    heads = triangles[:, (1, 2, 0)].ravel()
    proper = tails != heads  # triangles may have lost a side when equal corners were merged
    tails, heads = tails[proper], heads[proper]
    count = len(points)
    low, high = np.minimum(tails, heads), np.maximum(tails, heads)
    order = np.argsort(low * count + high, kind="stable")
    keys = (low * count + high)[order]
    balance = np.where(tails < heads, 1, -1)[order]
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    if np.any(np.diff(starts, append=len(keys)) % 2):
        return float("nan"), ["its surface is open; that does not matter to its convex hull"]
    if np.any(np.add.reduceat(balance, starts)):
        return float("nan"), [
            "some of its triangles are turned over; that does not matter to its convex hull"
        ]
    centred = points - points.mean(axis=0)
    a, b, c = (centred[triangles[:, k]] for k in range(3))
    volume = float(np.sum(a * np.cross(b, c))) / 6.0
    inside_out = volume < 0
    return volume, ["it is inside out; that does not matter to its convex hull"] if inside_out else []
