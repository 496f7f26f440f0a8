"""Files of records of whatever format and version: sound, growing, or damaged."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time as wall
from pathlib import Path
from typing import Any

from ..model.errors import StorageError
from . import hdf5, journal
from .contents import Contents

PATIENCE = 60.0
"""How long a file that HDF5 may choke on is read [s]."""
WHOLE, GOOD = "whole", "good"
"""What another process is asked for: all of a file, or what is still good."""


def load(path: Path | str) -> Contents:
    """Read a record, also one that is being written or whose writer died; one that is damaged is refused."""
    if _is_part(path):
        return journal.read(path)
    if hdf5.verify(path):
        return hdf5.read(path)
    # Nothing vouches for it, and HDF5 may hang or crash with what is damaged.
    return _elsewhere(path, WHOLE, PATIENCE)[0]


def salvage(path: Path | str) -> tuple[Contents, list[str]]:
    """What is still good of a damaged file, and what is lost: one text each."""
    if _is_part(path):
        return journal.salvage(path)
    return _elsewhere(path, GOOD, PATIENCE)


def _is_part(path: Path | str) -> bool:
    try:
        return journal.is_part(path)
    except OSError as error:
        raise StorageError(path, f"cannot be read: {error.strerror}") from error


def _elsewhere(path: Path | str, task: str, patience: float) -> tuple[Contents, list[str]]:
    """Let a process of its own read a file (`reading`); groups that it chokes on are left out in the next try."""
    until = wall.monotonic() + patience
    skipped: list[str] = []
    with tempfile.TemporaryDirectory(prefix="linkwork-") as folder:
        out = Path(folder) / "record"
        while True:
            left = until - wall.monotonic()
            told, ended = _read_by_child(path, task, out, skipped, left if task == WHOLE else left / 2)
            if "refused" in told:
                raise StorageError(path, told["refused"])
            if "lost" in told:
                contents = journal.read(out.with_name(out.name + journal.ENDING))
                lost = [f"'{name}': HDF5 does not survive it" for name in skipped]
                return contents._replace(complete=told["complete"]), [*told["lost"], *lost]
            if task == WHOLE or "begin" not in told or told["begin"] in skipped or left < 1.0:
                why = f"the record cannot be read, it is damaged: reading it {ended}"
                raise StorageError(path, why)
            skipped.append(told["begin"])


def _read_by_child(
    path: Path | str, task: str, out: Path, skipped: list[str], patience: float
) -> tuple[dict[str, Any], str]:
    """What the child told last, and how it ended."""
    command = [sys.executable, "-m", "linkwork.results.reading", task, str(path), str(out), *skipped]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=max(0.1, patience)
        )
        text, ended = done.stdout, f"ended with code {done.returncode}"
    except subprocess.TimeoutExpired as late:
        text, ended = late.stdout or b"", f"took more than {patience:.3g} s"
    lines = text.decode().splitlines()
    return (json.loads(lines[-1]) if lines else {}), ended
