"""`python -m linkwork.results.reading`: a process that reads a file of a record which HDF5 may hang or crash with.

Its arguments are what is wanted (`whole` or `good`), the file, where to write what is found (as a part file), and names
of groups to leave out. It tells a line of JSON before each group and one at the end.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import h5py
import numpy as np

from ..model.errors import LinkworkError, StorageError
from ..model.rotation import Array
from . import hdf5, journal
from .contents import Contents
from .load import WHOLE
from .schema import TEXT, TIME, Group, check, named, plain

_BAD = (LinkworkError, OSError, RuntimeError, KeyError, ValueError, TypeError, AttributeError, MemoryError)


def main() -> None:
    """Do what the arguments say."""
    task, path, out, *skipped = sys.argv[1:]
    try:
        contents, lost = (hdf5.read(path), []) if task == WHOLE else _salvaged(path, skipped)
    except StorageError as error:
        _tell(refused=str(error).removeprefix(f"{path}: "))
        return
    written = journal.Journal(out, contents.groups, plain(contents.info))
    written.append(contents.time, contents.data)
    written.close()
    _tell(lost=lost, complete=contents.complete)


def _salvaged(path: str, skipped: list[str]) -> tuple[Contents, list[str]]:
    lost: list[str] = []
    _tell(begin="")
    try:
        with hdf5.opened(path) as file:
            texts = _texts(file, lost)
            _tell(begin=TIME)
            found, good = _numbers(file[TIME])
            # Times that cannot be believed take their rows with them.
            good &= np.isfinite(found) & (found >= np.maximum.accumulate(np.where(good, found, -np.inf)))
            groups: list[Group] = []
            data: dict[str, Array] = {}
            # Checked before it is read: a group that HDF5 does not survive is left out in the next try.
            for name in texts or [name for name, _ in hdf5.record_datasets(file)]:
                if name in skipped:
                    continue
                _tell(begin=name)
                try:
                    group = texts[name] if name in texts else _group(file, name)
                    numbers, whole = _numbers(file[name])
                    if numbers.shape != (len(found), len(group.columns)):
                        raise ValueError(f"{numbers.shape} numbers for {len(found)} rows")
                    named([*groups, group])
                except _BAD as error:
                    lost.append(f"'{name}': {error}")
                    continue
                if not whole[good].all():
                    lost.append(f"'{name}': {int((~whole[good]).sum())} of {int(good.sum())} rows")
                groups.append(group)
                data[name] = numbers[good]
            if not good.all():
                lost.append(f"{int((~good).sum())} of {len(good)} rows: their times")
            check(found[good], named(groups), data)
            return Contents(found[good], tuple(groups), data, _info(file, lost), complete=False), lost
    except _BAD as error:
        raise StorageError(path, f"nothing of it can be read: {error}") from error


def _texts(file: h5py.File, lost: list[str]) -> dict[str, Group]:
    """All groups as the text tells them that has a checksum; none if there is none."""
    try:
        groups, _ = journal.understood(bytes(file[TEXT][:]))
        return {group.name: group for group in groups}
    except _BAD:
        if TEXT in file or file.userblock_size:
            lost.append("what vouches for names and units: they may be wrong")
        return {}


def _info(file: h5py.File, lost: list[str]) -> dict[str, Any]:
    try:
        return journal.understood(bytes(file[TEXT][:]))[1]
    except _BAD:
        pass
    try:
        found = json.loads(hdf5.text_of(file.attrs["info"]))
        return dict(found)
    except _BAD as error:
        lost.append(f"how it was made: {error}")
        return {}


def _group(file: h5py.File, name: str) -> Group:
    columns, units = (tuple(map(hdf5.text_of, file[name].attrs[key])) for key in ("columns", "units"))
    return Group(name, columns, units)


def _numbers(dataset: h5py.Dataset) -> tuple[Array, Any]:
    """All numbers, NaN where a chunk cannot be read, and which rows could."""
    numbers = np.full(dataset.shape, np.nan)
    good = np.zeros(len(dataset), bool)
    for first, stop in _chunks(dataset):
        try:
            numbers[first:stop] = dataset[first:stop]
            good[first:stop] = True
        except _BAD:
            pass
    return numbers, good


def _chunks(dataset: h5py.Dataset) -> Iterator[tuple[int, int]]:
    step = dataset.chunks[0] if dataset.chunks else max(1, len(dataset))
    for first in range(0, len(dataset), step):
        yield first, min(first + step, len(dataset))


def _tell(**what: Any) -> None:
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    main()
