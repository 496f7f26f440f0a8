"""Files that appear complete or not at all, and packages that are loaded on use."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from ..model.errors import MissingExtraError, StorageError


def target_of(path: Path | str) -> Path:
    """Where a file will really stand, after a check that it can: a long run must not fail at its end."""
    # os.replace would put a file in the place of a symbolic link instead of following it.
    target = Path(path).expanduser().resolve()
    if target.is_dir():
        raise StorageError(path, "cannot be written, it is a folder")
    if not target.parent.is_dir():
        raise StorageError(path, f"cannot be written, there is no folder {target.parent}")
    return target


@contextlib.contextmanager
def atomic(path: Path | str) -> Iterator[Path]:
    """A temporary path in the same folder; what is written there replaces `path` if no error comes.

    Whatever interrupts it, the old file stays as it was and no temporary one is left.
    """
    target = target_of(path)
    # The ending stays last, since some writers choose the format by it.
    temporary = target.with_name(f".{target.stem}-{secrets.token_hex(4)}{target.suffix}")
    try:
        yield temporary
        settle(temporary, target)
    except OSError as error:
        raise StorageError(path, f"cannot be written: {said(error)}") from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def settle(temporary: Path, target: Path) -> None:
    """Put a finished file in the place of another."""
    # Without fsync a power cut may leave the new name with no content.
    with temporary.open("rb+") as file:
        os.fsync(file.fileno())
    os.replace(temporary, target)


def said(error: OSError) -> str:
    """What the system says of an error, without number and path."""
    return error.strerror or str(error)


def need(module: str, extra: str, purpose: str) -> Any:
    """An optional module, imported now."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtraError(module.partition(".")[0], extra, purpose) from error
