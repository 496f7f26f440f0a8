"""Records in HDF5 files, written whole or row by row while the simulation runs.

The layout is described in docs/results.md. A file that grows is written in HDF5's single-writer,
multiple-reader (SWMR) mode: others may read it meanwhile, and it survives the death of its writer.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import h5py
import numpy as np

from ..model.errors import LinkworkError
from ..model.rotation import Array
from .files import atomic, settle, target_of
from .schema import TIME, TIME_UNIT, Group, check, named

FORMAT = "linkwork-record"
VERSION = 1

# SWMR and attributes of thousands of columns need the file format of HDF5 1.10; nothing needs a newer one.
_LIBVER = ("v110", "v110")
# The smallest file has a chunk per group, and every append writes the last chunk anew: keep them small.
_CHUNK_BYTES = 1 << 15
_TEXT = h5py.string_dtype()


class Contents(NamedTuple):
    """What a file holds."""

    time: Array
    groups: tuple[Group, ...]
    data: dict[str, Array]
    info: dict[str, Any]
    complete: bool


class Writer:
    """Appends rows to `<path>.part`, and moves it to `path` when finished."""

    def __init__(self, path: Path | str, groups: Iterable[Group], info: Mapping[str, Any]):
        self.path = target_of(path)
        self.part = self.path.with_name(self.path.name + ".part")
        groups = tuple(groups)
        # The part file appears as a record without rows: a reader waiting for it never finds half a layout.
        # An older one may still be open in this process, where HDF5 would refuse to overwrite it.
        empty = {group.name: np.empty((0, len(group.columns))) for group in groups}
        save(self.part, Contents(np.empty(0), groups, empty, dict(info), complete=False))
        try:
            self._file = self._open()
            self._file.swmr_mode = True
            # Kept open, since a dataset that is closed loses its cache. Time comes last: a reader that sees a
            # time finds all its values.
            self._datasets = {name: self._file[name] for name in (*empty, TIME)}
        except OSError as error:
            raise LinkworkError(f"{self.part}: cannot be written: {error}") from error

    def append(self, time: Array, data: Mapping[str, Array]) -> None:
        """Add rows and make them visible to readers."""
        try:
            # Counted once, by time: an append that failed may have left more rows in some groups.
            rows = len(self._datasets[TIME])
            for name, dataset in self._datasets.items():
                dataset.resize(rows + len(time), axis=0)
                dataset[rows:] = time if name == TIME else data[name]
                dataset.flush()
        except OSError as error:
            raise LinkworkError(f"{self.part}: rows cannot be added: {error}") from error

    def finish(self, info: Mapping[str, Any]) -> None:
        """Write the final information and give the file its name."""
        try:
            self._file.close()
            # In SWMR mode attributes cannot be changed.
            with self._open() as file:
                file.attrs["info"] = _json(info)
                file.attrs["complete"] = 1
            settle(self.part, self.path)
        except OSError as error:
            raise LinkworkError(
                f"{self.path}: cannot be completed: {error}; the recorded rows are in {self.part}"
            ) from error

    def _open(self) -> h5py.File:
        # Others lock the file as long as they read it, and must not stop its only writer.
        return h5py.File(self.part, "r+", libver=_LIBVER, locking=False)


def save(path: Path | str, contents: Contents) -> None:
    """Write a file at once; an old one stays untouched until the new one is complete."""
    with atomic(path) as temporary, h5py.File(temporary, "w", libver=_LIBVER, track_order=True) as file:
        datasets = _lay_out(file, contents.groups, contents.info, contents.complete)
        for name, dataset in datasets.items():
            dataset.resize(len(contents.time), axis=0)
            dataset[:] = contents.time if name == TIME else contents.data[name]


def load(path: Path | str) -> Contents:
    """Read a file, also one that is being written or whose writer died."""
    try:
        # HDF5's own messages for a missing or forbidden file are hard to read.
        Path(path).open("rb").close()
    except OSError as error:
        raise LinkworkError(f"{path}: cannot be read: {error.strerror}") from error
    if not h5py.is_hdf5(path):
        raise LinkworkError(f"{path}: not a record: it is no HDF5 file, or its beginning is damaged")
    try:
        with _open(path) as file:
            refused = _refused(file)
            if not refused:
                return _read(file)
    except FileNotFoundError as error:
        raise LinkworkError(f"{path}: cannot be read: it was moved or removed meanwhile") from error
    except (LinkworkError, OSError, RuntimeError, KeyError, ValueError, TypeError) as error:
        # h5py reports damage by whatever exception the damaged part leads to.
        raise LinkworkError(
            f"{path}: the record cannot be read, it is truncated or damaged: {error}"
        ) from error
    raise LinkworkError(f"{path}: {refused}")


def _lay_out(
    file: h5py.File, groups: Iterable[Group], info: Mapping[str, Any], complete: bool
) -> dict[str, h5py.Dataset]:
    """Make the attributes and empty datasets, time last."""
    file.attrs["format"] = FORMAT
    file.attrs["version"] = VERSION
    file.attrs["info"] = _json(info)
    file.attrs["complete"] = int(complete)
    datasets = {}
    for group in groups:
        columns = len(group.columns)
        # HDF5 has no chunks of zero columns.
        width = max(1, columns)
        datasets[group.name] = dataset = file.create_dataset(
            group.name,
            shape=(0, columns),
            maxshape=(None, width),
            chunks=(_chunk_rows(width), width),
            dtype=np.float64,
        )
        for key, texts in (("columns", group.columns), ("units", group.units)):
            dataset.attrs.create(key, list(texts), shape=(columns,), dtype=_TEXT)
    time = file.create_dataset(TIME, shape=(0,), maxshape=(None,), chunks=(_chunk_rows(1),), dtype=np.float64)
    time.attrs["unit"] = TIME_UNIT
    return {**datasets, TIME: time}


def _chunk_rows(columns: int) -> int:
    return max(1, min(4096, _CHUNK_BYTES // (8 * columns)))


def _open(path: Path | str) -> h5py.File:
    # No locks, since within one process all must lock or none, and the writer does not.
    try:
        return h5py.File(path, "r", locking=False)
    except OSError as error:
        # A file that is being written, or was when its writer died, opens only as a SWMR reader.
        if "already open for" not in str(error):
            raise
        return h5py.File(path, "r", swmr=True, locking=False)


def _refused(file: h5py.File) -> str:
    """Why a sound HDF5 file is not for this reader, or nothing."""
    if _text(file.attrs.get("format", "")) != FORMAT:
        return f"not a record: an HDF5 file, but its attribute 'format' is not '{FORMAT}'"
    version = int(file.attrs["version"])
    if version > VERSION:
        return (
            f"written by a newer Linkwork: record format {version}, and this one reads up to {VERSION}; "
            "upgrade Linkwork to read it"
        )
    return ""


def _read(file: h5py.File) -> Contents:
    # Time first: the groups may grow meanwhile, and are never behind it.
    time = file[TIME][:]
    groups, data = [], {}
    for name, dataset in file.items():
        # Others may keep data of their own in the file.
        if not isinstance(dataset, h5py.Dataset) or "columns" not in dataset.attrs:
            continue
        columns, units = (tuple(map(_text, dataset.attrs[key])) for key in ("columns", "units"))
        groups.append(Group(name, columns, units))
        data[name] = dataset[: len(time)]
    check(time, named(groups), data)
    if file.swmr_mode:
        for name in (TIME, *data):
            _check_chunks(file[name], len(time))
    complete = bool(file.attrs.get("complete", True))
    return Contents(time, tuple(groups), data, json.loads(_text(file.attrs["info"])), complete)


def _check_chunks(dataset: h5py.Dataset, rows: int) -> None:
    """Refuse a part file that lost its end: HDF5 reads zeros there, since it does not know the length."""
    size = Path(dataset.file.filename).stat().st_size
    for row in range(0, rows if dataset.size else 0, dataset.chunks[0]):
        chunk = dataset.id.get_chunk_info_by_coord((row, 0)[: dataset.ndim])
        if chunk.byte_offset is None or chunk.byte_offset + chunk.size > size:
            raise ValueError(
                f"the file ends before row {min(rows, row + dataset.chunks[0])} of '{dataset.name}'"
            )


def _json(info: Mapping[str, Any]) -> str:
    return json.dumps(info, ensure_ascii=False)


def _text(value: Any) -> str:
    # Other writers may use fixed-length strings, which h5py gives as bytes.
    return value.decode() if isinstance(value, bytes) else str(value)
