"""Where compiled kernels are kept: a folder on disk for each version of a module.

Numba's own cache looks only at the file of the function itself, so an edited callee in another file silently leaves
stale machine code behind. Here the code of a function lies in a folder named after its module and a hash of that module
and of *everything that it imports* of the package's compiled sources, directly or through others (and of the file
itself, for kernels that users write). An edit costs the compilation of what depends on it, and nothing else. The
cache is outside the installation, which may be read-only; where no folder can be written, kernels compile every time.

`LINKWORK_CACHE_DIR` moves the cache, `LINKWORK_CACHE=0` switches it off.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import re
import shutil
import sys
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numba
from numba.core import caching

PACKAGE = Path(__file__).resolve().parents[2]
COMPILED_PARTS = ("engine/**/*.py",)
"""Where kernels and the constants they use may stand; nothing else can make the cache stale."""
_KEPT_STAMPS = 8  # of each module, code of older sources beyond this many versions is deleted
_IMPORT = re.compile(r"^[ \t]*from[ \t]+(\.+)([\w.]*)[ \t]+import[ \t]+(\([^)]*\)|.*)", re.MULTILINE)


@cache
def _sources() -> dict[Path, bytes]:
    """Every source that takes part in compiled code."""
    return {path: path.read_bytes() for part in COMPILED_PARTS for path in sorted(PACKAGE.glob(part))}


@cache
def _imports(path: Path) -> frozenset[Path]:
    """The compiled sources that one of them imports; imports inside the package are relative."""
    found = {path.parent / "__init__.py"}
    for dots, module, names in _IMPORT.findall(_sources()[path].decode()):
        folder = (
            path.parents[len(dots) - 1].joinpath(*module.split("."))
            if module
            else path.parents[len(dots) - 1]
        )
        found |= {folder.with_suffix(".py"), folder / "__init__.py"}
        found |= {folder / f"{name}.py" for name in re.findall(r"\w+", names)}
    return frozenset(found & _sources().keys())


def closure(paths: Iterable[Path]) -> set[Path]:
    """Compiled sources and all that they import of them, directly or through others."""
    known, waiting = set[Path](), set(paths)
    while waiting:
        known |= waiting
        waiting = {other for source in waiting for other in _imports(source)} - known
    return known


@cache
def source_stamp(path: Path | None = None) -> str:
    """A hash of a compiled source and of all that it imports; without a path, of all compiled sources."""
    digest = hashlib.sha256(f"{sys.version_info[:2]}{numba.__version__}".encode())
    for source in sorted(closure(_sources() if path is None else [path])):
        digest.update(source.relative_to(PACKAGE).as_posix().encode())
        digest.update(_sources()[source])
    return digest.hexdigest()[:16]


@cache
def cache_directory() -> Path | None:
    """Where compiled kernels are kept, a folder for each version of a module; None if nowhere."""
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
    directory = root / "kernels"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        probe = directory / f".probe-{os.getpid()}"
        probe.write_bytes(b"")
        probe.unlink()
    except OSError:
        return None
    return directory


@cache
def _folder(path: Path) -> tuple[Path, str] | None:
    """Where the code of a file's functions is kept, and the hash that it holds for; made on first use."""
    directory = cache_directory()
    if directory is None:
        return None
    if path in _sources():
        name, stamp = ".".join(path.relative_to(PACKAGE).with_suffix("").parts), source_stamp(path)
    else:  # a user's kernel may call any of ours
        own = hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else ""
        name, stamp = path.stem, hashlib.sha256(f"{source_stamp()}{own}{path}".encode()).hexdigest()[:16]
    folder = directory / f"{name}-{stamp}"
    if not folder.exists():
        _prune(directory, name)
    return folder, stamp


def _prune(directory: Path, module: str) -> None:
    """Delete the code of all but the newest few versions of a module."""
    stamped = [path for path in directory.glob(f"{module}-*") if path.name.rpartition("-")[0] == module]
    try:
        stamped.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    except OSError:
        return  # another process is deleting the same
    for old in stamped[_KEPT_STAMPS - 1 :]:
        shutil.rmtree(old, ignore_errors=True)


class _Locator(caching._CacheLocator):
    """Tells Numba where to keep the code of a function and when it is stale."""

    def __init__(self, py_func: Callable[..., Any], directory: Path, stamp: str):
        self._line = py_func.__code__.co_firstlineno
        self._directory, self._stamp = directory, stamp

    def get_cache_path(self) -> str:
        return str(self._directory)

    def ensure_cache_path(self) -> None:
        self._directory.mkdir(parents=True, exist_ok=True)

    def get_source_stamp(self) -> str:
        return self._stamp

    def get_disambiguator(self) -> str:
        return str(self._line)

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> _Locator | None:
        found = _folder(Path(py_file).resolve())
        return None if found is None else cls(py_func, *found)


class Content(caching.CompileResultCacheImpl):
    """What is kept of a kernel, and where."""

    _locator_classes: ClassVar[list[type]] = [_Locator]


class KernelCache(caching.FunctionCache):
    """Keeps the machine code of one kernel, for each kind of arguments."""

    _impl_class: ClassVar[type] = Content

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Code for some types of arguments, or nothing.

        What is kept names the types that callers passed, by their modules: where one has moved since, though the
        kernel and its imports are the same, or where a file was cut short, it cannot be read and is made anew.
        """
        try:
            return super().load_overload(sig, target_context)
        except (AttributeError, ImportError, EOFError, pickle.UnpicklingError):
            self.flush()
            return None
