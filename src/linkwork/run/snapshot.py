"""States on disk: written whole or not at all, and only taken back whole, by the model and method that made them.

A file is an archive of arrays (`.npz`) whose comment tells format, version and a digest of all that stands before it.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..compile.system import System
from ..model.errors import LinkworkError, StorageError
from ..results.files import atomic

VERSION = 2
_MARK = b"linkwork-state "
_OWN = ("model", "method")
# Where an archive ends: 20 bytes, the length of its comment, the comment.
_END, _END_SIZE = b"PK\5\6", 22


def save(path: str | Path, snapshot: dict[str, Any]) -> None:
    """Write arrays to a file; an interrupted write leaves the old one."""
    packed = io.BytesIO()
    np.savez(packed, **snapshot)
    body = packed.getvalue()[:-2]  # without the length of the comment
    with atomic(path) as temporary:
        temporary.write_bytes(body + _comment(body))


def load(
    path: str | Path, now: Callable[[], dict[str, Any]], make_room: Callable[[dict[str, Any]], object]
) -> None:
    """Write what a file holds into the arrays of a snapshot (`now`) of the same model and method, all of it or nothing.

    `make_room` is shown what will be written, for arrays that grow with need.
    """
    before = {key: np.array(array) for key, array in now().items()}
    data = _arrays(path)
    for key, what in (("model", "another model"), ("method", "another integrator or step")):
        if key in data and str(data[key]) != str(before[key]):
            raise StorageError(path, f"was saved from {what}: {data[key]} instead of {before[key]}")
    missing = before.keys() - data.keys()
    if missing:
        raise StorageError(
            path, f"is not a saved state of this model (it lacks {', '.join(sorted(missing))})"
        )
    for key, array in before.items():
        if key not in _OWN and (data[key].dtype != array.dtype or data[key].ndim != array.ndim):
            raise StorageError(path, f"is not a saved state of this model ('{key}' is of another kind)")
    try:
        make_room(data)
        room = {key: array for key, array in now().items() if key not in _OWN}
        for key, array in room.items():
            if array.shape != data[key].shape:
                wrong = f"'{key}' has the shape {data[key].shape} instead of {array.shape}"
                raise StorageError(path, f"is not a saved state of this model ({wrong})")
    except Exception as error:
        make_room(before)
        _write(before, now())
        if isinstance(error, LinkworkError):
            raise
        raise StorageError(path, f"is not a saved state of this model ({error})") from error
    _write(data, room)


def _write(data: dict[str, Any], arrays: dict[str, Any]) -> None:
    for key, array in arrays.items():
        if key not in _OWN:
            array[...] = data[key]


def _arrays(path: str | Path) -> dict[str, Any]:
    """All arrays of a file that is what was written."""
    try:
        whole = Path(path).read_bytes()
    except OSError as error:
        raise StorageError(path, f"cannot be read: {error.strerror}") from error
    end = whole.rfind(_END)
    body, comment = whole[: end + _END_SIZE - 2], whole[end + _END_SIZE :]
    if not whole.startswith(b"PK") or end < 0:
        raise StorageError(path, "is not a saved state, or its beginning or end is damaged")
    number = comment.removeprefix(_MARK).split(b" ", 1)[0]
    if comment.startswith(_MARK) and number.isdigit() and int(number) > VERSION:
        why = f"state format {int(number)}, and this one reads up to {VERSION}; upgrade Linkwork to read it"
        raise StorageError(path, f"was written by a newer Linkwork: {why}")
    # Version 1 had neither version nor digest: a bare archive, with a checksum for each array.
    if whole[end + _END_SIZE - 2 :] not in (_comment(body), b"\0\0"):
        raise StorageError(path, "is damaged: it is not the state that was saved")
    try:
        with np.load(io.BytesIO(whole), allow_pickle=False) as stored:
            return {key: stored[key] for key in stored.files}
    except (OSError, ValueError, EOFError, KeyError, NotImplementedError, MemoryError, OverflowError,
            SyntaxError, zipfile.BadZipFile, zlib.error) as error:  # fmt: skip
        raise StorageError(path, f"is not a saved state, or damaged ({error})") from error


def _comment(body: bytes) -> bytes:
    """The comment of an archive that begins with these bytes, and its length before it."""
    text = _MARK + b"%d sha256 %s" % (VERSION, hashlib.sha256(body).hexdigest().encode())
    return len(text).to_bytes(2, "little") + text


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
        add(table.constraints.tape, "kind a b c p period")
    add(system.tables.dofs[:1], "A0")
    digest.update("\n".join(column.name for column in system.coordinates).encode())
    return digest.hexdigest()[:16]
