"""The files of a model: the top one and those it includes, their headers and component definitions."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath

from ..model.errors import ModelError, Problem, nearest
from .entry import Entry
from .kinds import SHELVES
from .yaml_source import read_source

VERSION = 1
"""Version of the format."""
MAX_NESTING = 50
"""How deep components and includes may be nested."""

Stamp = tuple[int, int, int] | None
"""What changes when a file is written, replaced or removed: time of change [ns], size, inode; None if there is none."""

COMPONENT_KEYS = ("name", "ports", "parameters", *SHELVES, "instances")
BUILT = ("wheel", "axle", "track")
"""Components that constructors of vehicles make, by the key that describes them."""
FILE_KEYS = ("linkwork", "units", "gravity", "components", *COMPONENT_KEYS)
_NO_GRAVITY = {"gravity": "gravity belongs to the model, not to a component"}
_INLINE_REASONS = {
    **_NO_GRAVITY,
    "components": "components are defined at the top of a file, where all of it knows them",
}
_BUILT_REASONS = dict.fromkeys(
    (*SHELVES, "ports", "instances"),
    "the wheel constructor makes all of this component; put it beside",
)


def stamp(path: str) -> Stamp:
    """The stamp of a file now."""
    try:
        known = os.stat(path)
    except (OSError, ValueError):  # a name that no system knows
        return None
    return known.st_mtime_ns, known.st_size, known.st_ino


@dataclass(eq=False)
class Definition:
    """A component as it is written, or the model itself."""

    name: str
    """Its name unless it states one: the key, or the file's name."""
    entry: Entry
    """The mapping with its sections."""
    scope: dict[str, Definition | None]
    """Components that it may use, by name: those of its file. None: defined, but wrong."""


class Files:
    """Reads files, each once, and gathers what is wrong with them in `problems`."""

    def __init__(self, top: Path, text: str | None = None):
        """`text` stands for the content of the top file, if it is not to be read from there."""
        self.problems: list[Problem] = []
        self.definitions: list[Definition] = []
        self._top, self._text = top, text
        self.stamps: dict[str, Stamp] = {}
        """Every file that is named, there or not, and its stamp before it was read."""
        self._folder = os.path.realpath(os.path.dirname(os.path.abspath(top)))
        self._read: dict[str, Definition | None] = {}
        self._open: list[str] = []

    def model(self) -> Definition | None:
        """The top file; None if it is so wrong that it cannot be read further."""
        return self._file(self._top)

    def _file(self, file: Path) -> Definition | None:
        full = os.path.abspath(file)
        if full in self._read:
            return self._read[full]
        self._read[full] = None
        self._stamp(full)
        try:
            node, twice = read_source(file, None if self._open else self._text)
        except ModelError as error:
            self.problems += error.problems
            return None
        self.problems += twice
        entry = Entry(file, (), node, (node.line, node.column), self.problems)
        if not self._header(entry, component=bool(self._open)):
            return None
        definition = Definition(file.stem, entry, {})
        self._open.append(full)
        self._read[full] = definition
        self._components(definition)
        self._open.pop()
        self.definitions.append(definition)
        return definition

    def _header(self, entry: Entry, *, component: bool) -> bool:
        """Check what every file begins with; False if reading on would only add noise."""
        hint = f"write 'linkwork: {VERSION}' first"
        if not isinstance(entry.value, dict):
            entry.refuse(f"is not a model file: it must be a mapping; {hint} (got {entry.shown})")
            return False
        version = entry.get("linkwork")
        if version is None:
            entry.refuse(f"is required: the version of the format; {hint}", ("linkwork",))
        elif version.value is True or version.value != VERSION:
            version.refuse(f"is not a version that this Linkwork reads; {hint} (got {version.shown})")
            return False
        units = entry.get("units")
        if units is None:
            entry.refuse("is required; write 'units: SI'", ("units",))
        elif units.value != "SI":
            units.refuse(f"must be SI: metres, kilograms, seconds, radians (got {units.shown})")
        known = [key for key in FILE_KEYS if not (component and key == "gravity")]
        entry.refuse_unknown(known, _NO_GRAVITY if component else None)
        return True

    def _components(self, owner: Definition) -> None:
        section = owner.entry.get("components")
        if section is None or section.value is None:
            return
        if not isinstance(section.value, dict):
            section.refuse("must be a mapping of names to components")
            return
        for name, entry in section.entries():
            owner.scope[name] = None
            if not isinstance(entry.value, dict):
                entry.refuse(f"must be a mapping (got {entry.shown})")
            elif include := entry.get("include"):
                entry.refuse_unknown(("include",))
                owner.scope[name] = self._included(include)
            else:
                if built := [key for key in BUILT if entry.get(key)]:
                    entry.refuse_unknown(("name", "parameters", built[0]), _BUILT_REASONS)
                else:
                    entry.refuse_unknown((*COMPONENT_KEYS, "include", *BUILT), _INLINE_REASONS)
                owner.scope[name] = definition = Definition(name, entry, owner.scope)
                self.definitions.append(definition)

    def _included(self, entry: Entry) -> Definition | None:
        full = self.inside(entry)
        if full is None:
            return None
        if full in self._open:
            chain = [Path(open_).name for open_ in self._open[self._open.index(full) :]]
            entry.refuse(f"includes go in a circle: {' > '.join([*chain, chain[0]])}")
            return None
        if len(self._open) > MAX_NESTING:
            entry.refuse(f"includes are nested deeper than {MAX_NESTING}")
            return None
        return self._file(entry.file.parent / entry.value)

    def _stamp(self, full: str) -> None:
        if full not in self.stamps:
            self.stamps[full] = stamp(full)

    def inside(self, entry: Entry) -> str | None:
        """The absolute path of a file named relative to the file that names it, if it may be read.

        Whoever sends a model must not reach files beyond its folder, not by `..` and not by links.
        """
        name = entry.value
        if not isinstance(name, str) or not name:
            entry.refuse(f"must be the name of a file (got {entry.shown})")
            return None
        windows = PureWindowsPath(name)
        if windows.drive or windows.root:
            entry.refuse(f"must be relative to this file, not absolute (got '{name}')")
            return None
        full = os.path.abspath(entry.file.parent / name)
        self._stamp(full)
        try:
            real = Path(os.path.realpath(full))
            if not real.is_relative_to(self._folder):
                entry.refuse(f"leads outside the folder of the model (got '{name}')")
                return None
            if real.is_file():
                return full
            hint = nearest(
                real.name, [near.name for near in real.parent.iterdir()] if real.parent.is_dir() else []
            )
        except (OSError, ValueError):  # a name that no system knows
            hint = ""
        entry.refuse(f"there is no file '{name}'{hint}")
        return None
