"""States on disk: written whole or not at all, and only taken back by the model and method that made them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..compile.system import System
from ..model.errors import LinkworkError
from ..results.files import atomic


def save(path: str | Path, snapshot: dict[str, Any]) -> None:
    """Write arrays to a file; an interrupted write leaves the old one."""
    with atomic(path) as temporary, temporary.open("wb") as stream:
        np.savez(stream, **snapshot)


def load(
    path: str | Path, now: Callable[[], dict[str, Any]], make_room: Callable[[dict[str, Any]], object]
) -> None:
    """Write what a file holds into the arrays of a snapshot (`now`) of the same model and method.

    `make_room` is shown what will be written, for arrays that grow with need.
    """
    snapshot = now()
    try:
        with np.load(path, allow_pickle=False) as stored:
            data = {key: stored[key] for key in stored.files}
    except (OSError, ValueError, EOFError) as error:
        raise LinkworkError(f"{path}: is not a saved state ({error})") from None
    for key, what in (("model", "another model"), ("method", "another integrator or step")):
        if key in data and str(data[key]) != str(snapshot[key]):
            raise LinkworkError(f"{path}: was saved from {what}: {data[key]} instead of {snapshot[key]}")
    missing = snapshot.keys() - data.keys()
    if missing:
        raise LinkworkError(f"{path}: is not a saved state (it lacks {', '.join(sorted(missing))})")
    make_room(data)
    for key, array in now().items():
        if key not in ("model", "method"):
            array[...] = data[key]


def fingerprint(system: System) -> str:
    """A hash of everything that decides a model's motion."""
    digest = hashlib.sha256()

    def add(table: np.ndarray, names: str) -> None:
        for name in names.split():
            digest.update(np.ascontiguousarray(table[name]).tobytes())

    constants = "parent q v motion rot trans X_R X_p mass com inertia armature stiffness rest damping"
    add(system.tables.dofs, constants)
    add(system.tables.loads, "kind a b X_A X_B value signal")
    if system.rows is not None:
        table = system.rows.every
        for joint in table.joints:
            if joint.switchable:
                digest.update(f"{joint.name} {joint.attached}".encode())
        measures = "kind role pair alpha beta first second sign ratio offset"
        add(table.constraints.rows, f"{measures} value strength inertia law period")
    add(system.tables.dofs[:1], "A0")
    digest.update("\n".join(column.name for column in system.coordinates).encode())
    return digest.hexdigest()[:16]
