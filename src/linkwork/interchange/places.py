"""Where files that a description names may be: in its package, its folder, and where the user says; nowhere else."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

_PACKAGE_FILES = ("package.xml", "manifest.xml")
_WIDEN = "name the folder that it may be read from with search (--search FOLDER)"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")


class PlaceError(Exception):
    """A file that is not there, or may not be read; the text says why and what to do."""


class OutsideError(PlaceError):
    """A file that may not be read."""


@dataclass
class Places:
    """Finds the files that one description names."""

    file: Path
    """The description."""
    search: tuple[Path, ...] = ()
    """Folders that the user names: packages, or folders with packages inside."""
    packages: dict[str, Path] = field(default_factory=dict)
    """Folder of each package that was found."""

    def __post_init__(self) -> None:
        self.file = Path(os.path.abspath(self.file))
        self.home = Path(os.path.realpath(self.file.parent))

    def find(self, name: str) -> Path:
        """The absolute path of a file that the description names."""
        if not name or "\0" in name:
            raise PlaceError(f"must be the name of a file (got {name!r})")
        if name.startswith("package://"):
            return self._in_package(name, *_split(name.removeprefix("package://")))
        if name.startswith("model://"):
            return self._in_package(name, *_split(name.removeprefix("model://")))
        if name.startswith("file://"):
            name = name.removeprefix("file://")
        _refuse_addresses(name)
        tried = [self.file.parent / name, *(folder / name for folder in self.search)]
        return _first(name, tried, self._roots(), _WIDEN)

    def allowed(self, name: str, paths: Iterable[Path]) -> Path:
        """The first of `paths` that is there, for another program that looks at all of them: none may lie outside."""
        if not name or "\0" in name:
            raise PlaceError(f"must be the name of a file (got {name!r})")
        _refuse_addresses(name)
        found, missing = [], PlaceError(f"there is no file '{name}'")
        for path in paths:
            try:
                found.append(_first(name, [path], self._roots(), _WIDEN))
            except OutsideError:
                raise
            except PlaceError as error:
                missing = error
        if not found:
            raise missing
        return found[0]

    def _roots(self) -> list[Path]:
        """Folders inside which files may be read."""
        return [self.home, *self._enclosing(), *(Path(os.path.realpath(folder)) for folder in self.search)]

    def _in_package(self, name: str, package: str, rest: str) -> Path:
        if not package or package.startswith(".") or "\\" in package:
            raise PlaceError(f"'{name}' names no package")
        folders = list(self._folders(package))
        if not folders:
            raise PlaceError(
                f"the package '{package}' is not found; name the folder that holds it with search (--search FOLDER)"
            )
        roots = [Path(os.path.realpath(folder)) for folder in folders]
        return _first(name, [folder / rest for folder in folders], roots, f"it must be inside '{folders[0]}'")

    def _folders(self, package: str) -> Iterable[Path]:
        """Folders that a package may be in: what the user named, and what the description is in or beside."""
        if package in self.packages:
            return [self.packages[package]]
        found = []
        for folder in self.search:
            if folder.name == package and folder.is_dir():
                found.append(folder)
            elif (folder / package).is_dir():
                found.append(folder / package)
        for above in self.file.parents:
            beside = above.parent / package
            # The description's own package, or one beside it that says it is one.
            if above.name == package or (above.parent != above and _is_package(beside)):
                found.append(above if above.name == package else beside)
        if found:
            self.packages[package] = found[0]
        return found[:1]

    def _enclosing(self) -> Iterable[Path]:
        """The package that the description is in, if it says it is one."""
        for above in list(self.file.parents)[:6]:
            if _is_package(above):
                return [Path(os.path.realpath(above))]
        return []


def user_search(search: Iterable[str | os.PathLike[str]]) -> tuple[Path, ...]:
    """Folders named by the user, then those of an installed ROS."""
    named = [Path(os.path.abspath(folder)) for folder in search]
    for folder in named:
        if not folder.is_dir():
            raise PlaceError(f"there is no folder '{folder}' to search")
    known = os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep)
    return (*named, *(Path(folder) for folder in known if folder))


def _refuse_addresses(name: str) -> None:
    if _SCHEME.match(name) and not re.match(r"[A-Za-z]:[\\/]", name):
        raise PlaceError(
            f"'{name}' is no file of this machine: nothing is fetched from elsewhere; download it first"
        )


def _is_package(folder: Path) -> bool:
    return any((folder / name).is_file() for name in _PACKAGE_FILES)


def _split(name: str) -> tuple[str, str]:
    package, _, rest = name.lstrip("/").partition("/")
    return package, rest


def _first(name: str, tried: Iterable[Path], roots: Iterable[Path], advice: str) -> Path:
    """The first path that is a file inside one of the roots, also where links are followed."""
    outside = False
    for path in tried:
        try:
            real = Path(os.path.realpath(path))
            if not any(real.is_relative_to(root) for root in roots):
                outside = True
            elif real.is_file():
                return Path(os.path.abspath(path))
        except (OSError, ValueError):  # a name that no system knows
            continue
    if outside:
        raise OutsideError(f"'{name}' leads outside the folders that may be read; {advice}")
    raise PlaceError(f"there is no file '{name}'; correct it, or leave all meshes out (--no-meshes)")
