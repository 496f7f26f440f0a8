"""Hulls that were made before: in this process, and on disk by earlier ones."""

from __future__ import annotations

import hashlib
import os
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from .checks import problem
from .polyhedron import Hull, Parts

_KEPT = 256  # hulls remembered in this process
_MAKER = Path(__file__).resolve().with_name("hull.py")


_memory: OrderedDict[str, Parts] = OrderedDict()


def content_key(file: str | os.PathLike[str], where: str, *options: object) -> str:
    """What a hull depends on: the content of the file (and of what it may refer to), its format, the options."""
    path = Path(file)
    digest = hashlib.sha256(repr((path.suffix.lower(), *options)).encode())
    try:
        content = path.read_bytes()
        if path.suffix.lower() == ".gltf":  # the points stand in files beside it
            content += b"".join(other.read_bytes() for other in sorted(path.parent.glob("*.bin")))
    except FileNotFoundError:
        folder = path.resolve().parent
        hint = "" if folder.is_dir() else f"; the folder '{folder}' does not exist either"
        raise problem(where, f"does not exist{hint}; check the path") from None
    except IsADirectoryError:
        raise problem(where, "is a folder, not a file") from None
    except OSError as error:
        raise problem(where, f"cannot be opened: {error.strerror or error}") from None
    if not content:
        raise problem(where, "is empty (0 bytes); export the mesh anew")
    digest.update(content)
    return digest.hexdigest()


def remembered(key: str, make: Callable[[], Parts], lasting: bool) -> Parts:
    """Hulls made before in this process, or, if they last, by an earlier one; else made now."""
    if key in _memory:
        _memory.move_to_end(key)
        return _memory[key]
    hulls = _stored(key) if lasting else None
    if hulls is None:
        hulls = make()
        if lasting:
            _store(key, hulls)
    _memory[key] = hulls
    while len(_memory) > _KEPT:
        _memory.popitem(last=False)
    return hulls


def shelf_of(key: str) -> Path | None:
    """The file that keeps hulls between processes: another one for every version of what makes them."""
    from ..kernels.store import cache_directory, source_stamp

    folder = cache_directory()
    return None if folder is None else folder.parent / "hulls" / f"{key[:32]}-{source_stamp(_MAKER)}.npz"


def forget() -> None:
    """Drop what this process remembers; what lies on disk stays."""
    _memory.clear()


def _stored(key: str) -> Parts | None:
    shelf = shelf_of(key)
    if shelf is None or not shelf.exists():
        return None
    try:
        with shelf.open("rb") as stream, np.load(stream, allow_pickle=False) as data:
            hulls = Parts(
                Hull(
                    **{name: data[f"{k}.{name}"] for name in Hull._fields[:5]},
                    error=float(data[f"{k}.error"]),
                    notes=tuple(map(str, data[f"{k}.notes"])),
                )
                for k in range(int(data["count"]))
            )
            hulls.volume_error, hulls.outside = float(data["volume_error"]), float(data["outside"])
            hulls.notes = tuple(map(str, data["notes"]))
            return hulls
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):
        return None  # cut short by a full disk: made anew


def _store(key: str, hulls: Parts) -> None:
    shelf = shelf_of(key)
    if shelf is None:
        return
    data: dict[str, Any] = {
        "count": len(hulls),
        "volume_error": hulls.volume_error,
        "outside": hulls.outside,
        "notes": np.array(hulls.notes, dtype=np.str_),
    }
    for k, hull in enumerate(hulls):
        for name in Hull._fields[:6]:
            data[f"{k}.{name}"] = getattr(hull, name)
        data[f"{k}.notes"] = np.array(hull.notes, dtype=np.str_)
    partial = shelf.with_name(f"{shelf.stem}-{os.getpid()}.part.npz")
    try:
        shelf.parent.mkdir(parents=True, exist_ok=True)
        np.savez(partial, **data)
        os.replace(partial, shelf)  # at once, since others may be reading
    except OSError:
        partial.unlink(missing_ok=True)
