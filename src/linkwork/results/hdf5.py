"""Records in HDF5 files, written whole and verified whole before HDF5 opens them.

The layout is described in docs/results.md. A block of text before HDF5's own beginning holds the digest of all that
follows. A file is laid out in memory and then written by plain means: HDF5 neither meets a full disk, which it does not
survive, nor a damaged file, with which it may hang or read what was never written.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import h5py
import numpy as np

from ..model.errors import LinkworkError, StorageError
from . import journal
from .contents import Contents
from .files import atomic
from .schema import TEXT, TIME, TIME_UNIT, Group, check, named

FORMAT = "linkwork-record"
VERSION = 2
UNSEALED = 1
"""The version without a digest, which older releases wrote and other programs may write."""

# Attributes of thousands of columns need the file format of HDF5 1.10; nothing needs a newer one.
_LIBVER = ("v110", "v110")
_CHUNK_BYTES = 1 << 15
_STRINGS = h5py.string_dtype()
_HEAD = 512  # bytes before HDF5's own beginning; HDF5 looks for that at 0, 512, 1024 ...
_MARK = f"{FORMAT} ".encode()
_SIGNATURE = b"\x89HDF\r\n\x1a\n"
_BLOCK = 1 << 22  # bytes that are hashed at a time


def save(path: Path | str, contents: Contents) -> None:
    """Write a file at once; an old one stays untouched until the new one is complete."""
    image = io.BytesIO()
    with h5py.File(image, "w", libver=_LIBVER, track_order=True, userblock_size=_HEAD) as file:
        _fill(file, contents)
    body = image.getbuffer()[_HEAD:]
    with atomic(path) as temporary, temporary.open("wb") as stream:
        stream.write(_head(hashlib.sha256(body).hexdigest(), len(body)))
        stream.write(body)


def verify(path: Path | str) -> bool:
    """Whether a file is sealed; one that is sealed and not what was written is refused, and so is what is no record."""
    try:
        with Path(path).open("rb") as file:
            head = file.read(_HEAD)
            if head.startswith(_SIGNATURE):
                return False
            digest, size = _digest(file)
    except OSError as error:
        raise StorageError(path, f"cannot be read: {error.strerror}") from error
    if not head.startswith(_MARK):
        raise StorageError(path, "not a record: it is no HDF5 file, or its beginning is damaged")
    number = head.split(b"\n", 1)[0].removeprefix(_MARK)
    if number.isdigit() and int(number) > VERSION:
        raise StorageError(path, _newer(int(number)))
    if head != _head(digest, size):
        raise StorageError(
            path,
            "the record cannot be read, it is truncated, damaged or was edited: it is not what was written; "
            f"`linkwork recover {Path(path).name}` reads what is still good",
        )
    return True


def read(path: Path | str) -> Contents:
    """Read a file that HDF5 can open without harm: a sealed one that was verified, or in a process of its own."""
    try:
        with opened(path) as file:
            refused = _refused(file)
            if not refused:
                return _read(file)
    except FileNotFoundError as error:
        raise StorageError(path, "cannot be read: it was moved or removed meanwhile") from error
    except (LinkworkError, OSError, RuntimeError, KeyError, ValueError, TypeError) as error:
        # h5py reports damage by whatever exception the damaged part leads to.
        raise StorageError(path, f"the record cannot be read, it is truncated or damaged: {error}") from error
    raise StorageError(path, refused)


def opened(path: Path | str) -> h5py.File:
    """A file to read."""
    # No locks, since within one process all must lock or none.
    try:
        return h5py.File(path, "r", locking=False)
    except OSError as error:
        # Part files of version 1, whose writer died, open only as SWMR readers.
        if "already open for" not in str(error):
            raise
        return h5py.File(path, "r", swmr=True, locking=False)


def _fill(file: h5py.File, contents: Contents) -> None:
    """Write everything, time last. Every chunk has a checksum, by which salvage tells good ones."""
    file.attrs["format"] = FORMAT
    file.attrs["version"] = VERSION
    file.attrs["info"] = json.dumps(contents.info, ensure_ascii=False)
    file.attrs["complete"] = int(contents.complete)
    text = np.frombuffer(journal.described(contents.groups, contents.info), np.uint8)
    file.create_dataset(TEXT, data=text, chunks=(min(len(text), _CHUNK_BYTES),), fletcher32=True)
    rows = len(contents.time)
    for group in contents.groups:
        columns = len(group.columns)
        # HDF5 has no chunks of zero columns.
        width = max(1, columns)
        dataset = file.create_dataset(
            group.name, shape=(rows, columns), maxshape=(None, width), chunks=(_chunk_rows(width), width),
            dtype=np.float64, fletcher32=True,
        )  # fmt: skip
        for key, texts in (("columns", group.columns), ("units", group.units)):
            dataset.attrs.create(key, list(texts), shape=(columns,), dtype=_STRINGS)
        dataset[:] = contents.data[group.name]
    time = file.create_dataset(
        TIME, shape=(rows,), maxshape=(None,), chunks=(_chunk_rows(1),), dtype=np.float64, fletcher32=True
    )
    time.attrs["unit"] = TIME_UNIT
    time[:] = contents.time


def _chunk_rows(columns: int) -> int:
    return max(1, min(4096, _CHUNK_BYTES // (8 * columns)))


def _head(digest: str, size: int) -> bytes:
    """What stands before HDF5's own beginning."""
    text = b"%s%d\nsha256 %s\nbytes %d\n" % (_MARK, VERSION, digest.encode(), size)
    return text.ljust(_HEAD, b"\0")


def _digest(file: BinaryIO) -> tuple[str, int]:
    """Of all that follows in a file, and how many bytes that is."""
    digest, size = hashlib.sha256(), 0
    while block := file.read(_BLOCK):
        digest.update(block)
        size += len(block)
    return digest.hexdigest(), size


def _newer(version: int) -> str:
    return (
        f"written by a newer Linkwork: record format {version}, and this one reads up to {VERSION}; "
        "upgrade Linkwork to read it"
    )


def _refused(file: h5py.File) -> str:
    """Why a sound HDF5 file is not for this reader, or nothing."""
    if text_of(file.attrs.get("format", "")) != FORMAT:
        return f"not a record: an HDF5 file, but its attribute 'format' is not '{FORMAT}'"
    version = int(file.attrs["version"])
    if version > VERSION:
        return _newer(version)
    if version != UNSEALED and not file.userblock_size:
        return f"a record of format {version} that has lost its digest: another program wrote it anew"
    return ""


def _read(file: h5py.File) -> Contents:
    # Time first: part files of version 1 may grow meanwhile, and groups are never behind it.
    time = file[TIME][:]
    groups, data = [], {}
    for name, dataset in record_datasets(file):
        columns, units = (tuple(map(text_of, dataset.attrs[key])) for key in ("columns", "units"))
        groups.append(Group(name, columns, units))
        data[name] = dataset[: len(time)]
    check(time, named(groups), data)
    if file.swmr_mode:
        for name in (TIME, *data):
            _check_chunks(file[name], len(time))
    complete = bool(file.attrs.get("complete", True))
    return Contents(time, tuple(groups), data, json.loads(text_of(file.attrs["info"])), complete)


def record_datasets(file: h5py.File) -> Iterator[tuple[str, h5py.Dataset]]:
    """The groups of a record; others may keep data of their own in the file."""
    for name, dataset in file.items():
        if isinstance(dataset, h5py.Dataset) and "columns" in dataset.attrs:
            yield name, dataset


def _check_chunks(dataset: h5py.Dataset, rows: int) -> None:
    """Refuse a part file that lost its end: HDF5 reads zeros there, since it does not know the length."""
    size = os.path.getsize(dataset.file.filename)
    for row in range(0, rows if dataset.size else 0, dataset.chunks[0]):
        chunk = dataset.id.get_chunk_info_by_coord((row, 0)[: dataset.ndim])
        if chunk.byte_offset is None or chunk.byte_offset + chunk.size > size:
            raise ValueError(
                f"the file ends before row {min(rows, row + dataset.chunks[0])} of '{dataset.name}'"
            )


def text_of(value: Any) -> str:
    """A text of an attribute; other writers may use fixed-length strings, which h5py gives as bytes."""
    return value.decode() if isinstance(value, bytes) else str(value)
