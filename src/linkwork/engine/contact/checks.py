"""What meshes and points must fulfil, and how it is said if they do not."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model.errors import MissingExtraError, ModelError, Problem
from ...model.rotation import Array

_FEWEST = 8  # vertices of the box that a simplified hull is cut from
Indices = NDArray[Any]
"""Whole numbers."""


def distinct(points: Array) -> tuple[Array, Indices]:
    """Different points in order of first appearance, and the index among them of every point.

    By a hash of each row, since sorting rows takes ten times as long; equal hashes of different rows are found out.
    """
    points = np.ascontiguousarray(points) + 0.0  # -0 and 0 are the same
    bits = points.view(np.uint64)
    mixed = bits * np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], dtype=np.uint64)
    mixed ^= mixed >> np.uint64(29)
    codes = (
        mixed[:, 0]
        + (mixed[:, 1] * np.uint64(0xBF58476D1CE4E5B9))
        + (mixed[:, 2] * np.uint64(0x94D049BB133111EB))
    )
    _, first, index = np.unique(codes, return_index=True, return_inverse=True)
    index = index.ravel()
    if not np.array_equal(points[first][index], points):
        _, first, index = np.unique(points, axis=0, return_index=True, return_inverse=True)
        index = index.ravel()
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return points[first[order]], rank[index]


def check_finite(where: str, points: Array, kind: str) -> None:
    bad = ~np.isfinite(points).all(axis=1)
    if bad.any():
        k = int(np.argmax(bad))
        values = ", ".join(f"{x:g}" for x in points[k])
        plural = "vertices" if kind == "vertex" else f"{kind}s"
        raise problem(
            where,
            f"{np.count_nonzero(bad)} of {len(points)} {plural} are not finite, the first of them number {k} at"
            f" ({values}); repair or export the mesh anew",
        )


def check_scale(where: str, scale: float) -> None:
    if not (np.isfinite(scale) and scale > 0.0):
        raise problem(where, f"scale = {scale} must be positive; to reflect it use inverted=True")


def check_limit(where: str, limit: int) -> None:
    if limit < _FEWEST:
        raise problem(where, f"limit = {limit}: a hull may have to have {_FEWEST} vertices; allow as many")


def problem(where: str, what: str) -> ModelError:
    return ModelError([Problem(where, what)])


def package(name: str, extra: str, purpose: str) -> Any:
    """An optional package, loaded when it is needed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise MissingExtraError(name.split(".")[0], extra, purpose) from None
