"""The one way to compile: `kernel`, its on-disk cache, and the switches around it.

Numba's own cache looks only at the file of the function itself, so an edited callee in another file
silently leaves stale machine code behind. Here the cache lies in a directory named after a hash of *all*
sources that kernels are made of (and of the file itself, for kernels that users write), outside the
installation, which may be read-only; where no directory can be written, kernels compile every time.

`LINKWORK_CACHE_DIR` moves the cache, `LINKWORK_CACHE=0` switches it off, and `NUMBA_DISABLE_JIT=1` runs
everything as plain Python for debuggers and coverage.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numba
from numba.core import caching, config

__all__ = ["COMPILED", "cache_directory", "exact_kernel", "inlined", "kernel", "source_stamp", "woven"]

COMPILED = not config.DISABLE_JIT
"""False under NUMBA_DISABLE_JIT=1, where kernels are plain Python functions."""

PACKAGE = Path(__file__).resolve().parent.parent
COMPILED_PARTS = (
    "kernels/*.py", "coordinates/*.py", "loads/*.py", "solvers/*.py", "formulations/*.py", "contact/*.py",
    "tables.py", "integrate.py",
)  # fmt: skip
"""Where kernels and the constants they use may stand; nothing else can make the cache stale."""
_KEPT_STAMPS = 3  # caches of older sources beyond this many are deleted

F = TypeVar("F", bound=Callable[..., Any])


@cache
def source_stamp() -> str:
    """A hash of every source that takes part in compiled code."""
    digest = hashlib.sha256(f"{sys.version_info[:2]}{numba.__version__}".encode())
    sources = [path for part in COMPILED_PARTS for path in sorted(PACKAGE.glob(part))]
    for path in sources:
        digest.update(path.relative_to(PACKAGE).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


@cache
def cache_directory() -> Path | None:
    """Where compiled kernels of this version of the sources are kept; None if nowhere."""
    if os.environ.get("LINKWORK_CACHE", "1") == "0":
        return None
    chosen = os.environ.get("LINKWORK_CACHE_DIR")
    if chosen:
        root = Path(chosen)
    elif sys.platform == "win32":
        root = Path(os.environ.get("LOCALAPPDATA", Path.home())) / "linkwork" / "cache"
    elif sys.platform == "darwin":
        root = Path.home() / "Library" / "Caches" / "linkwork"
    else:
        root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "linkwork"
    directory = root / f"kernels-{source_stamp()}"
    try:
        fresh = not directory.exists()
        directory.mkdir(parents=True, exist_ok=True)
        probe = directory / f".probe-{os.getpid()}"
        probe.write_bytes(b"")
        probe.unlink()
        if fresh:
            _prune(root)
    except OSError:
        return None
    return directory


def _prune(root: Path) -> None:
    """Delete the caches of all but the newest few versions of the sources."""
    stamped = sorted(root.glob("kernels-*"), key=lambda path: path.stat().st_mtime, reverse=True)
    for old in stamped[_KEPT_STAMPS:]:
        shutil.rmtree(old, ignore_errors=True)


class _Locator(caching._CacheLocator):
    """Tells Numba where to keep the code of a function and when it is stale."""

    def __init__(self, py_func: Callable[..., Any], py_file: str, directory: Path):
        self._directory = directory
        self._line = py_func.__code__.co_firstlineno
        self._file = Path(py_file)

    def get_cache_path(self) -> str:
        return str(self._directory)

    def ensure_cache_path(self) -> None:
        self._directory.mkdir(parents=True, exist_ok=True)

    def get_source_stamp(self) -> str:
        if self._file.is_relative_to(PACKAGE) or not self._file.exists():
            return source_stamp()
        return source_stamp() + hashlib.sha256(self._file.read_bytes()).hexdigest()[:16]

    def get_disambiguator(self) -> str:
        return f"{self._line}-{hashlib.sha256(str(self._file).encode()).hexdigest()[:8]}"

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> _Locator | None:
        directory = cache_directory()
        return None if directory is None else cls(py_func, py_file, directory)


class _CacheImpl(caching.CompileResultCacheImpl):
    _locator_classes: ClassVar[list[type]] = [_Locator]


class _Cache(caching.FunctionCache):
    _impl_class = _CacheImpl


def _compile(options: dict[str, Any]) -> Callable[[F], F]:
    def decorate(function: F) -> F:
        # Nobody calls kernels from C; leaving that wrapper out saves compile time. Kernels never allocate,
        # hence need no reference counts: without them (_nrt) a small step takes a fifth less time, and an
        # allocation that slips in does not compile.
        dispatcher = numba.njit(
            error_model="numpy", nogil=True, no_cfunc_wrapper=True, _nrt=False, **options
        )(function)
        if COMPILED and cache_directory() is not None:
            dispatcher._cache = _Cache(function)
        return dispatcher  # type: ignore[no-any-return]

    return decorate


# Fast-math without nnan and ninf, so that NaN checks keep working; products and sums may fuse.
_FAST = {"contract", "nsz", "arcp"}
kernel = _compile({"fastmath": _FAST})
"""Decorator of every compiled function: lazy, cached, no Python objects, GIL released."""

inlined = _compile({"fastmath": _FAST, "forceinline": True})
"""The same for what LLVM would not inline by itself but is called for every dof or step: passing arrays and
tuples through memory costs more than the copies of the code."""

woven = _compile({"fastmath": _FAST, "inline": "always"})
"""The same for the outer loops of a formulation, which are called from one place: woven into the caller before any
machine code is made. As kernels, each would be optimised anew with everything that it calls, level by level."""

exact_kernel = _compile({})
"""The same with strict IEEE arithmetic, for code whose rounding matters (argument reduction)."""
