"""Part files: records that grow while a simulation runs, as pieces of rows that are sealed one by one.

The layout is described in docs/results.md. Nothing but whole pieces counts, so that a file is as good as what of it
was written, whatever ended the writing: a kill, a full disk, a power cut. One writer at a time holds a lock on it,
which the system gives up when its process ends.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ..model.errors import LinkworkError, StorageError
from ..model.rotation import Array
from .contents import Contents
from .files import said, target_of
from .framing import DamagedError, pieces, seal
from .schema import Group, check, named

try:
    import fcntl
except ImportError:  # Windows, where a file that another process writes cannot be renamed anyway
    fcntl = None  # type: ignore[assignment]

ENDING = ".part"
VERSION = 1
_MARK = b"linkwork-part "
_FIRST = _MARK + b"%d\n" % VERSION
_NUMBER = np.dtype("<f8")


class Journal:
    """Appends rows to `<path>.part`. One that an earlier run left there is kept under a numbered name: `kept`."""

    def __init__(self, path: Path | str, groups: Iterable[Group], info: Mapping[str, Any]):
        self.path = target_of(path)
        self.part = self.path.with_name(self.path.name + ENDING)
        self._groups = named(groups)
        self.kept: Path | None = None
        try:
            self._file = self._claim()
            try:
                self._digest, self._end = _start(), 0
                self._put(_FIRST)
                self._add(described(self._groups.values(), info))
            except BaseException:
                self.close(remove=True)
                raise
        except OSError as error:
            raise StorageError(self.part, f"cannot be written: {said(error)}") from error

    def append(self, time: Array, data: Mapping[str, Array]) -> None:
        """Add rows, whole or not at all."""
        blocks = [time[:, None], *(data[name] for name in self._groups)]
        try:
            self._add(np.concatenate([block.ravel() for block in blocks]).astype(_NUMBER).tobytes())
        except OSError as error:
            raise StorageError(self.part, f"rows cannot be added: {said(error)}") from error

    def close(self, *, remove: bool = False) -> None:
        """Write no more, and let others write a part file of this name."""
        if self._file.closed:
            return
        if remove:
            with contextlib.suppress(OSError):
                self.part.unlink()
        with contextlib.suppress(OSError):
            self._file.close()

    def _claim(self) -> Any:
        """The part file, empty and locked; what an earlier run left has gone out of the way."""
        while True:
            file = os.fdopen(os.open(self.part, os.O_RDWR | os.O_CREAT, 0o666), "r+b", buffering=0)
            try:
                if not locked(file):
                    raise StorageError(
                        self.path,
                        f"another run writes it ({self.part.name}): choose another name, or wait for its end",
                    )
                if not same(file, self.part):  # its last writer has just finished it
                    file.close()
                    continue
                if os.fstat(file.fileno()).st_size:
                    self.kept = out_of_the_way(self.part)
                    file.close()
                    continue
                return file
            except BaseException:
                file.close()
                raise

    def _add(self, payload: bytes) -> None:
        piece, digest = seal(payload, self._digest)
        self._put(piece)
        self._digest = digest

    def _put(self, data: bytes) -> None:
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except BaseException:
            # What was begun is taken back, so that later rows follow the last whole piece.
            with contextlib.suppress(OSError):
                self._file.seek(self._end)
                self._file.truncate()
            raise
        self._end += len(data)


def described(groups: Iterable[Group], info: Mapping[str, Any]) -> bytes:
    """All texts of a record, as the first piece has them."""
    told = {"groups": [[g.name, g.columns, g.units] for g in groups], "info": info}
    return json.dumps(told, ensure_ascii=False).encode()


def understood(text: bytes) -> tuple[tuple[Group, ...], dict[str, Any]]:
    """The groups and the information again."""
    told = json.loads(text)
    return tuple(Group(n, tuple(columns), tuple(units)) for n, columns, units in told["groups"]), told["info"]


def is_part(path: Path | str) -> bool:
    """Whether a file begins as part files do."""
    with Path(path).open("rb") as file:
        return file.read(len(_MARK)) == _MARK


def read(path: Path | str) -> Contents:
    """All rows that were written whole; a file in which something before its end was changed is refused."""
    contents, lost = salvage(path)
    if lost:
        raise StorageError(
            path, f"the part file is damaged: {lost[0]}; `linkwork recover {Path(path).name}` reads the rest"
        )
    return contents


def salvage(path: Path | str) -> tuple[Contents, list[str]]:
    """All rows before the first that is not what was written, and what is lost."""
    with Path(path).open("rb") as file:
        first = file.readline(len(_FIRST) + 8)
        number = first.removeprefix(_MARK).strip()
        if first != _FIRST and number.isdigit() and int(number) > VERSION:
            why = (
                f"part format {int(number)}, and this one reads up to {VERSION}; upgrade Linkwork to read it"
            )
            raise StorageError(path, f"written by a newer Linkwork: {why}")
        found = pieces(file, os.fstat(file.fileno()).st_size, _start())
        try:
            text = next(found, None) if first == _FIRST else None
        except DamagedError:
            text = None
        if text is None:
            raise StorageError(path, "the part file is truncated or damaged before its first row")
        groups, info = understood(text)
        time, data, damaged = _rows(found, groups)
    try:
        check(time, named(groups), data)
    except LinkworkError as error:
        raise StorageError(path, f"the part file does not hold a record: {error}") from None
    return Contents(time, groups, data, info, complete=False), damaged


def _rows(found: Iterator[bytes], groups: tuple[Group, ...]) -> tuple[Array, dict[str, Array], list[str]]:
    """Times, and the numbers of each group, up to the first piece that is damaged."""
    widths = [1, *(len(group.columns) for group in groups)]
    blocks: list[list[Array]] = [[np.empty((0, width))] for width in widths]
    damaged: list[str] = []
    try:
        for payload in found:
            numbers = np.frombuffer(payload, _NUMBER).astype(float)
            rows = len(numbers) // sum(widths)
            cuts = np.cumsum([rows * width for width in widths])
            for block, part, width in zip(blocks, np.split(numbers, cuts[:-1]), widths, strict=True):
                block.append(part.reshape(rows, width))
    except DamagedError:
        damaged.append(f"all that follows row {sum(map(len, blocks[0]))}")
    time, *rest = (np.concatenate(block) for block in blocks)
    return time[:, 0], {group.name: block for group, block in zip(groups, rest, strict=True)}, damaged


def _start() -> bytes:
    return hashlib.sha256(_FIRST).digest()


def locked(file: BinaryIO) -> bool:
    """Lock a file for as long as it is open; False if somebody else has."""
    if fcntl is not None:
        try:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:  # a file system without locks
            return True
    return True


def same(file: BinaryIO, path: Path) -> bool:
    """Whether an open file is still the one of that name."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def out_of_the_way(part: Path) -> Path:
    """Give a part file the first numbered name that nothing has: run-1.h5.part for run.h5.part."""
    target = part.with_suffix("")
    for k in itertools.count(1):
        other = target.with_name(f"{target.stem}-{k}{target.suffix}")
        kept = other.with_name(other.name + ENDING)
        if other.exists() or kept.exists():
            continue
        try:
            os.link(part, kept)  # unlike renaming, never in the place of another
        except FileExistsError:
            continue
        except OSError:
            os.rename(part, kept)  # a file system without second names
        else:
            part.unlink()
        return kept
    raise AssertionError
