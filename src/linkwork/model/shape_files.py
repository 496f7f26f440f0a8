"""Files that shapes name: meshes and heights, read when they are first wanted and again when they have changed."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

import numpy as np

from .errors import MissingExtraError, ModelError, Problem
from .rotation import Array

Hull = tuple[float, tuple[float, ...], tuple[tuple[float, ...], ...]]
"""Volume, centroid and inertia about it, for a density of one, in units of the file."""


def hull_properties(file: str) -> Hull:
    """Of the convex hull of a mesh file."""
    return _hull_properties(*file_version(str(Path(file).resolve())))


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
def _hull_properties(file: str, changed: int, size: int) -> Hull:
    """Volume, centroid and inertia about it of the convex hull of a mesh file, for a density of one.

    When it was changed and its size tell whether to read again.
    """
    try:
        import trimesh
    except ImportError:
        raise MissingExtraError("trimesh", "mesh", f"reading the mesh '{file}'") from None
    problem = None
    try:
        hull = trimesh.load_mesh(file).convex_hull
        if not (np.isfinite(hull.volume) and hull.volume > 0):
            problem = "its convex hull has no volume"
    except Exception as error:  # trimesh raises whatever the format's reader raises
        problem = str(error) or type(error).__name__
    if problem is not None:
        raise ModelError([Problem(f"mesh '{file}'", f"cannot be used: {problem}")])
    return (
        float(hull.volume),
        tuple(map(float, hull.center_mass)),
        tuple(tuple(map(float, row)) for row in hull.moment_inertia),
    )


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
