"""Records that grow while a simulation runs: in memory, and in a part file that outlives the process."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..model.errors import LinkworkError, StorageError
from ..model.rotation import Array
from .journal import Journal
from .record import Record
from .schema import Group, check, named, plain

_log = logging.getLogger(__name__)


class RecordBuilder:
    """Collects rows while a simulation runs, in memory and, if a path is given, in a file too.

    The file is `<path>.part` until `finish`, and can be read meanwhile. Without `finish` it stays there with
    the rows appended so far, and a file at `path` stays as it was. While rows cannot be written, as with a full disk,
    they are kept in memory, and written as soon as they can be; `trouble` tells. One
    builder at a time writes to a path.
    """

    def __init__(self, groups: Sequence[Group], info: dict[str, Any], path: Path | str | None = None):
        self._groups = named(groups)
        self._info = plain(info)
        self._times: list[Array] = []
        self._blocks: dict[str, list[Array]] = {name: [] for name in self._groups}
        self._end = -np.inf
        self._finished = False
        self._path = path
        self._journal = None if path is None else Journal(path, self._groups.values(), self._info)
        self._written = 0  # how many of the blocks are in the file
        self.trouble: StorageError | None = None
        """Why rows are in memory alone, or None."""
        if self._journal is not None and self._journal.kept is not None:
            _log.warning("%s", self.kept)

    @property
    def kept(self) -> str | None:
        """What became of the part file that an earlier run had left, or None."""
        kept = None if self._journal is None else self._journal.kept
        if kept is None:
            return None
        return f"a run that did not end left {kept.name}: `linkwork recover {kept}` makes a record of it"

    def append(self, time: Array, data: Mapping[str, Array]) -> None:
        """Add rows: their times [s], and per group an array of rows × columns. Both are copied."""
        if self._finished:
            raise LinkworkError("the record is finished: no rows can be added")
        # Copies, since a simulation refills the same buffers.
        time = np.array(time, float)
        blocks = {name: np.array(block, float) for name, block in data.items()}
        check(time, self._groups, blocks)
        if not len(time):
            return
        if time[0] < self._end:
            raise LinkworkError(f"times of a record must not decrease: {time[0]:g} s follows {self._end:g} s")
        self._end = time[-1]
        self._times.append(time)
        for name, block in blocks.items():
            self._blocks[name].append(block)
        self._write()

    def _write(self) -> None:
        """Bring the file up to date, if that can be."""
        if self._journal is None:
            return
        before = self.trouble
        try:
            for k in range(self._written, len(self._times)):
                self._journal.append(self._times[k], {name: self._blocks[name][k] for name in self._groups})
                self._written += 1
            self.trouble = None
        except StorageError as error:
            self.trouble = error
        if self.trouble is not None and before is None:
            _log.warning("%s; they are kept in memory, and it goes on", self.trouble)
        elif self.trouble is None and before is not None:
            _log.warning("%s: rows are written again, none is missing", self._journal.part)

    def finish(self, info: dict[str, Any] | None = None) -> Record:
        """The record of all rows; `info` is added to what was known at the start.

        Raises a StorageError that holds the record if it cannot be written.
        """
        if self._finished:
            raise LinkworkError("the record is finished already")
        self._info |= plain(info or {})
        time = np.concatenate([np.empty(0), *self._times])
        data = {
            name: np.concatenate([np.empty((0, len(group.columns))), *self._blocks[name]])
            for name, group in self._groups.items()
        }
        record = Record(time, self._groups.values(), data, self._info)
        if self._path is not None and self._journal is not None:
            try:
                record.save(self._path)
            except StorageError as error:
                self._write()
                rows = sum(map(len, self._times[: self._written]))
                until = f", until {self._times[self._written - 1][-1]:g} s" if self._written else ""
                raise StorageError(
                    self._path,
                    f"{str(error).removeprefix(f'{error.path}: ')}; {rows} of {len(time)} recorded rows{until}, are in "
                    f"{self._journal.part}: make room, then `linkwork recover {self._journal.part}`",
                    record,
                ) from error
            self._journal.close(remove=True)
        self._finished = True
        # The record has its own copy of them.
        self._times.clear()
        self._blocks.clear()
        return record

    def abandon(self) -> None:
        """Write no more; the part file stays, and others may write to its path."""
        if self._journal is not None:
            self._write()
            self._journal.close()
            self._journal = None
