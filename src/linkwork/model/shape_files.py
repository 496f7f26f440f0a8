"""Files that shapes name: meshes and heights, read when they are first wanted and again when they have changed."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .errors import MissingExtraError, ModelError, Problem
from .rotation import Array


class Moments(NamedTuple):
    """Of a solid of density one, in units of its file."""

    volume: float
    centre: tuple[float, float, float]
    second: tuple[tuple[float, ...], ...]
    """∫ r rᵀ dV about the centre (3x3)."""


def mesh_moments(file: str, of: str = "solid") -> Moments:
    """Of a mesh file: of what its surface encloses ("solid"), or of its convex hull ("hull")."""
    return _mesh_moments(*file_version(str(Path(file).resolve())), of)


def read_heights(file: str) -> Array:
    """The numbers of a .npy or .csv file [m], checked."""
    return _read_heights(*file_version(file)).copy()


def file_version(file: str) -> tuple[str, int, int]:
    """A file, when it was changed [ns] and its size: by these it is known whether it must be read again.

    Of one that cannot be found, zeros: whoever reads it says what is wrong.
    """
    try:
        known = os.stat(file)
    except OSError:
        return file, 0, -1
    return file, known.st_mtime_ns, known.st_size


def grid_fault(lengths: list[int]) -> str | None:
    """What is wrong with rows of these lengths."""
    uneven = [j for j, length in enumerate(lengths) if length != lengths[0]]
    if uneven:
        j = uneven[0]
        return f"must be a rectangle: row {j} has {lengths[j]} numbers, row 0 has {lengths[0]}"
    if len(lengths) < 2 or lengths[0] < 2:
        return f"must have at least 2 rows of 2 numbers, not {len(lengths)} of {lengths[0] if lengths else 0}"
    return None


@lru_cache(maxsize=256)
def _mesh_moments(file: str, changed: int, size: int, of: str) -> Moments:
    """When the file was changed and its size tell whether to read again."""
    try:
        import trimesh
    except ImportError:
        raise MissingExtraError("trimesh", "mesh", f"reading the mesh '{file}'") from None
    try:
        # Unprocessed, or vertices closer than 1e-8 would be merged, which ends meshes of small things.
        mesh = trimesh.load_mesh(file, process=False)
        if of == "hull":
            mesh = mesh.convex_hull
        points, corners = np.asarray(mesh.vertices, float), np.asarray(mesh.faces, np.int64)
    except Exception as error:  # trimesh raises whatever the format's reader raises
        raise _mesh_problem(file, str(error) or type(error).__name__) from None
    if not len(corners):
        raise _mesh_problem(file, "it has no triangles")
    if not np.isfinite(points).all():
        raise _mesh_problem(file, "it has a vertex that is not finite")
    points, index = np.unique(points, axis=0, return_inverse=True)
    corners = index.reshape(-1)[corners]
    if open_edges := _open_edges(corners):
        raise _mesh_problem(
            file,
            f"its surface is not closed ({open_edges} edges lack a neighbour or join triangles that are turned over), "
            "so that it encloses no volume: close it, give the body mass and inertia, or weigh its convex hull "
            "(weighs: hull)",
        )
    found = _enclosed(points[corners])
    if not (np.isfinite(found.volume) and found.volume > 0.0):
        raise _mesh_problem(file, "it encloses no volume")
    return found


def _open_edges(corners: npt.NDArray[np.int64]) -> int:
    """Edges that are not passed once in each direction by two triangles."""
    ends = corners[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    ends = ends[ends[:, 0] != ends[:, 1]]  # sides that were lost when equal corners became one
    _, edge = np.unique(np.sort(ends, axis=1), axis=0, return_inverse=True)
    balance = np.bincount(edge.reshape(-1), weights=np.where(ends[:, 0] < ends[:, 1], 1.0, -1.0))
    return int(np.count_nonzero(balance))


def _enclosed(triangles: Array) -> Moments:
    """Moments of what closed triangles (n × 3 × 3) enclose: sums over tetrahedra with a common corner in the middle.

    With a corner at the origin and the others at a, b, c: V = a·(b×c)/6, ∫r = V s/4 and ∫r rᵀ = V (s sᵀ + a aᵀ + b bᵀ +
    c cᵀ)/20, s = a + b + c. A surface that is inside out encloses as much.
    """
    flat = triangles.reshape(-1, 3)
    middle = 0.5 * (flat.min(axis=0) + flat.max(axis=0))
    tets = triangles - middle
    volumes = np.einsum("ij,ij->i", tets[:, 0], np.cross(tets[:, 1], tets[:, 2])) / 6.0
    sums = tets.sum(axis=1)
    volume = float(volumes.sum())
    first = volumes @ sums / 4.0
    second = (
        np.einsum("i,ij,ik->jk", volumes, sums, sums) + np.einsum("i,inj,ink->jk", volumes, tets, tets)
    ) / 20.0
    if volume < 0.0:
        volume, first, second = -volume, -first, -second
    centre = first / volume if volume > 0.0 else first
    second -= volume * np.outer(centre, centre)
    x, y, z = (middle + centre).tolist()
    return Moments(volume, (x, y, z), tuple(tuple(row) for row in second.tolist()))


def _mesh_problem(file: str, what: str) -> ModelError:
    return ModelError([Problem(f"mesh '{file}'", f"cannot be used: {what}")])


@lru_cache(maxsize=16)
def _read_heights(file: str, changed: int, size: int) -> Array:
    """The numbers of a .npy or .csv file [m], checked. When it was changed and its size tell whether to read again."""
    if size == 0:
        raise _file_problem(file, "it is empty (0 bytes)")
    try:
        if Path(file).suffix.lower() == ".npy":
            loaded = np.load(file, allow_pickle=False)
        else:
            loaded = _parse_heights(Path(file).read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, EOFError, MemoryError) as error:
        raise _file_problem(file, str(error) or type(error).__name__) from None
    if loaded.ndim != 2 or loaded.dtype.kind not in "fiu":
        shape = " x ".join(map(str, loaded.shape)) or "one value"
        raise _file_problem(file, f"it holds no rows of numbers, but {shape} of type {loaded.dtype}")
    fault = grid_fault([loaded.shape[1]] * loaded.shape[0])
    if fault:
        raise _file_problem(file, fault)
    grid: Array = loaded.astype(float)
    bad = np.argwhere(~np.isfinite(grid))
    if len(bad):
        j, i = map(int, bad[0])
        raise _file_problem(file, f"row {j}, column {i} is {grid[j, i]}, not a finite number")
    return grid


def _parse_heights(text: str) -> Array:
    """Rows of numbers between commas, semicolons or blanks; # begins a comment. ValueError tells the line."""
    rows = []
    for k, line in enumerate(text.splitlines()):
        row = []
        for word in line.partition("#")[0].replace(",", " ").replace(";", " ").split():
            try:
                row.append(float(word))
            except ValueError:
                raise ValueError(f"line {k + 1}: '{word[:40]}' is not a number") from None
        if row:
            rows.append(row)
    fault = grid_fault([len(row) for row in rows])
    if fault:
        raise ValueError(fault)
    return np.array(rows)


def _file_problem(file: str, what: str) -> ModelError:
    return ModelError([Problem(f"heights '{file}'", f"cannot be used: {what}")])
