"""The process of the visitors (`crowd`), as the one that serves the page sees it."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
from typing import Any


class Visitors:
    """Lets visitors come and go."""

    def __init__(self, port: int):
        import viser

        self._words = [sys.executable, "-m", "linkwork.soak.crowd", str(port), f"viser-v{viser.__version__}"]
        self._before = {"heard": 0, "lost": 0.0}
        self._begin()

    def _begin(self) -> None:
        self._told: dict[str, Any] = {"visitors": 0, "heard": 0, "troubled": False, "lost": 0.0}
        self._process = subprocess.Popen(
            self._words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self._reader = threading.Thread(target=self._read, args=(self._process,), daemon=True)
        self._reader.start()

    def _read(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            with contextlib.suppress(ValueError):
                self._told = json.loads(line)

    @property
    def count(self) -> int:
        """How many are there."""
        return int(self._told["visitors"])

    @property
    def heard(self) -> int:
        """Messages that all of them have heard."""
        return int(self._before["heard"] + self._told["heard"])

    @property
    def lost(self) -> float:
        """Time by which mere sleeps of another process ended too late [s]."""
        return float(self._before["lost"] + self._told["lost"])

    @property
    def troubled(self) -> bool:
        """Whether one of them was told of a recording in trouble."""
        return bool(self._told["troubled"])

    def come(self, number: int) -> None:
        """So many more."""
        self.say(f"come {number}")

    def say(self, words: str) -> None:
        """A line to the process."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.write(f"{words}\n")
            self._process.stdin.flush()

    def kill(self) -> None:
        """End all of them without a word, and begin anew with nobody."""
        self.end(kill=True)
        self._before = {"heard": self.heard, "lost": self.lost}
        self._begin()

    def end(self, *, kill: bool = False) -> None:
        """End the process."""
        if kill:
            self._process.kill()
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(30.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join()
        assert self._process.stdout is not None
        self._process.stdout.close()
