"""Benchmarks: speed as ratios against other engines, interleaved in one process.

A suite is a function `suite(quick=..., progress=...)` that returns a `Result`. Importing this package loads
neither Numba nor any other engine; an engine that is not installed leaves its figures empty.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .report import Result


def _tree(*, quick: bool = False, progress: Callable[[float], object] | None = None) -> Result:
    """Trees of bodies: steps, forward dynamics, work against precision, start-up, allocation."""
    from .tree import run

    return run(quick=quick, progress=progress)


SUITES: dict[str, Callable[..., Result]] = {"tree": _tree}
"""Every suite by the name that the command line calls it."""
