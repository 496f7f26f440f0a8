"""Where compiled kernels are kept: a folder on disk for each version of a module.

Numba's own cache looks only at the file of the function itself, so an edited callee in another file silently leaves
stale machine code behind. Here the code of a function lies in a folder named after its module and a hash of that module
and of *everything that it imports* of the package's compiled sources, directly or through others (and of the file
itself, for kernels that users write). An edit costs the compilation of what depends on it, and nothing else. The
cache is outside the installation, which may be read-only. A folder that cannot be written to, or a disk that is full,
gives one warning; kernels are then compiled in every process.

Each piece of code is a file of its own, named by a hash of what it is for and put in place whole: Numba's index, which
all processes rewrite, loses entries when two of them compile at once, or leads to the code of another signature. Of
processes that want the same kernel one compiles it, and the others wait for that (`claims.py`).

`LINKWORK_CACHE_DIR` moves the cache, `LINKWORK_CACHE=0` switches it off.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import re
import shutil
import sys
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numba
from numba.core import caching

from .claims import claim

PACKAGE = Path(__file__).resolve().parents[2]
COMPILED_PARTS = ("engine/**/*.py",)
"""Where kernels and the constants they use may stand; nothing else can make the cache stale."""
_COMPILER = PACKAGE / "engine/kernels/jit.py"
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
    # How kernels are compiled belongs to it, even where a file (laws of elements) leaves that to others.
    for source in sorted(closure(_sources() if path is None else [path, _COMPILER])):
        digest.update(source.relative_to(PACKAGE).as_posix().encode())
        digest.update(_sources()[source])
    return digest.hexdigest()[:16]


@cache
def kernel_directory() -> Path | None:
    """Where compiled kernels are kept, a folder for each version of a module; None if nowhere.

    A folder that can be read but not written to is as good, while all that is wanted is there.
    """
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
    except OSError as error:
        cannot_keep(directory, error)
        return None
    return directory


@cache
def cache_directory() -> Path | None:
    """The folder of compiled kernels, if something can be written there."""
    directory = kernel_directory()
    if directory is not None:
        probe = directory / f".probe-{os.getpid()}"
        try:
            probe.write_bytes(b"")
            probe.unlink()
        except OSError:
            return None
    return directory


_warned: list[Path] = []


def cannot_keep(path: Path, error: OSError) -> None:
    """Warn, once, that kernels are compiled in every process."""
    if not _warned:
        _warned.append(path)
        warnings.warn(
            f"compiled kernels cannot be kept in {path}: {error.strerror or error}; each process compiles them anew. "
            "Make room or name another folder by LINKWORK_CACHE_DIR (LINKWORK_CACHE=0: none, and no warning)",
            stacklevel=2,
        )


@cache
def _folder(path: Path) -> tuple[Path, str] | None:
    """Where the code of a file's functions is kept, and the hash that it holds for; made on first use."""
    directory = kernel_directory()
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


class _Files:
    """Code of one function, a file for each kind of arguments."""

    def __init__(self, folder: Path, base: str):
        self._folder, self._base = folder, base

    def path(self, key: Any) -> Path:
        """Where code for this is, or would be."""
        signature, *others = key
        digest = hashlib.sha256(repr((*map(str, signature), others)).encode()).hexdigest()[:24]
        return self._folder / f"{self._base}.{digest}.nbc"

    def load(self, key: Any) -> Any:
        """What `save` was given for an equal key, or None."""
        with suppress(FileNotFoundError):
            known, data = pickle.loads(self.path(key).read_bytes())
            return data if known == key else None
        return None

    def save(self, key: Any, data: Any) -> None:
        """Keep this, whole or not at all."""
        path = self.path(key)
        part = path.with_name(f"{path.name}.{uuid.uuid4().hex[:12]}.part")
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            part.write_bytes(caching.dumps((key, data)))
            part.replace(path)
        except OSError as error:
            cannot_keep(self._folder.parent, error)
            with suppress(OSError):
                part.unlink()

    def forget(self, key: Any) -> None:
        """Delete what cannot be read."""
        with suppress(OSError):
            self.path(key).unlink()


class KernelCache(caching.FunctionCache):
    """Keeps the machine code of one kernel, for each kind of arguments."""

    _impl_class: ClassVar[type] = Content
    suffix: ClassVar[str] = ""

    def __init__(self, function: Any):
        super().__init__(function)
        self._cache_file = _Files(Path(self._cache_path), f"{self._impl.filename_base}{self.suffix}")

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Code for some types of arguments, or nothing.

        What is kept names the types that callers passed, by their modules: where one has moved since, though the
        kernel and its imports are the same, or where a file was cut short, it cannot be read and is made anew.
        """
        try:
            return super().load_overload(sig, target_context)
        except (AttributeError, ImportError, EOFError, OSError, pickle.UnpicklingError, RuntimeError):
            self._cache_file.forget(self._index_key(sig, target_context.codegen()))
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep code for some types of arguments, if there is room."""
        if self._impl.check_cachable(data):
            self._cache_file.save(self._index_key(sig, data.codegen), self._impl.reduce(data))

    @contextmanager
    def claimed(self, sig: Any, target_context: Any) -> Iterator[None]:
        """While this lasts, no other process compiles the same; waits for one that does."""
        path = self._cache_file.path(self._index_key(sig, target_context.codegen()))
        if path.exists():
            yield
        else:
            with claim(path):
                yield
