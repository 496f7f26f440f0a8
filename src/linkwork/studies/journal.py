"""Part files of studies: outcomes one by one as they come, so that a study goes on where it was killed.

The first line is `linkwork-study 1`; then come pieces as in part files of records (`results.framing`): first the study,
then an outcome each, both as JSON.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ..model.errors import StorageError
from ..results.files import said, target_of
from ..results.framing import DIGEST, HEAD, DamagedError, pieces, seal
from ..results.journal import ENDING, locked, out_of_the_way, same
from .outcome import Outcome

_FIRST = b"linkwork-study 1\n"


class StudyJournal:
    """Outcomes of a study in `<path>.part`: those of an earlier run of the same study are in `known`.

    A part file of another study is kept under a numbered name, `kept`.
    """

    def __init__(self, path: Path | str, study: Mapping[str, Any]):
        self.path = target_of(path)
        self.part = self.path.with_name(self.path.name + ENDING)
        self.known: dict[int, Outcome] = {}
        self.kept: Path | None = None
        self.damaged = False
        """Whether something in it was changed: outcomes from there on are left out."""
        told = json.dumps(study, sort_keys=True).encode()
        try:
            self._file = self._claim(told)
        except OSError as error:
            raise StorageError(self.part, f"cannot be written: {said(error)}") from error

    def append(self, k: int, outcome: Outcome) -> None:
        """Add the outcome of a case."""
        values = {name: _listed(value) for name, value in outcome.values.items()}
        try:
            self._add(json.dumps([k, values, outcome.failure]).encode())
        except OSError as error:
            raise StorageError(
                self.part, f"an outcome cannot be added: {said(error)}; make room and run the study again"
            ) from error

    def close(self, *, remove: bool = False) -> None:
        """Write no more; `remove` it when the whole study stands elsewhere."""
        if remove:
            with contextlib.suppress(OSError):
                self.part.unlink()
        self._file.close()

    def _claim(self, study: bytes) -> BinaryIO:
        """The part file, locked, at its end."""
        while True:
            file: Any = os.fdopen(os.open(self.part, os.O_RDWR | os.O_CREAT, 0o666), "r+b", buffering=0)
            try:
                if not locked(file):
                    raise StorageError(
                        self.path, f"another study writes it ({self.part.name}): wait for its end"
                    )
                if not same(file, self.part):
                    file.close()
                    continue
                if os.fstat(file.fileno()).st_size and not self._resume(file, study):
                    self.kept = out_of_the_way(self.part)
                    file.close()
                    continue
                self._file = file
                if not os.fstat(file.fileno()).st_size:
                    file.write(_FIRST)
                    self._digest = hashlib.sha256(_FIRST).digest()
                    self._add(study)
                return file  # type: ignore[no-any-return]
            except BaseException:
                file.close()
                raise

    def _resume(self, file: BinaryIO, study: bytes) -> bool:
        """Read what an earlier run left; False if that was another study."""
        size = os.fstat(file.fileno()).st_size
        if file.read(len(_FIRST)) != _FIRST:
            return False
        before = digest = hashlib.sha256(_FIRST).digest()
        found, place = pieces(file, size, before), len(_FIRST)
        try:
            if next(found, None) != study:
                return False
            digest, place = seal(study, digest)[1], place + HEAD + len(study) + DIGEST
            for payload in found:
                k, values, failure = json.loads(payload)
                kept = {n: np.array(v, float) if isinstance(v, list) else float(v) for n, v in values.items()}
                self.known[int(k)] = Outcome(kept, failure)
                digest, place = seal(payload, digest)[1], place + HEAD + len(payload) + DIGEST
        except DamagedError:
            self.damaged = True
        file.seek(place)
        file.truncate()
        self._digest = digest
        return True

    def _add(self, payload: bytes) -> None:
        piece, digest = seal(payload, self._digest)
        place = self._file.tell()
        try:
            rest = memoryview(piece)
            while rest:
                rest = rest[self._file.write(rest) :]
        except BaseException:
            with contextlib.suppress(OSError):
                self._file.seek(place)
                self._file.truncate()
            raise
        self._digest = digest


def _listed(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else float(value)
