"""Which files an MJCF file would read, before MuJoCo reads any: only those inside its folder, no plugins, nothing that
grows beyond measure."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import NamedTuple

from ..model.errors import ModelError, Problem
from .places import PlaceError, Places
from .xml_source import Element, read_xml

_MAX_INCLUDES = 100
"""Files of MJCF that one may read."""
_MAX_COPIES = 100_000
"""Elements that <replicate> may make."""
_FOLDERS = {
    "mesh": "meshdir",
    "hfield": "meshdir",
    "skin": "meshdir",
    "flexcomp": "meshdir",
    "texture": "texturedir",
}
_FILES = ("file", "fileright", "fileleft", "fileup", "filedown", "filefront", "fileback")
_ADVICE = {
    "robot": "; name the file .urdf",
    "sdf": "; SDF is not read: convert it to URDF or MJCF",
}


_SIZES: dict[str, tuple[tuple[str, ...], ...]] = {
    "hfield": (("nrow", "ncol"),),
    "flexcomp": (("count",),),
    "composite": (("count",),),
    "size": tuple(
        (key,) for key in ("nuserdata", "nkey", "njmax", "nconmax", "nstack", "nuser_body", "nuser_jnt", "nuser_geom",
                           "nuser_site", "nuser_cam", "nuser_tendon", "nuser_actuator", "nuser_sensor")
    ),
}  # fmt: skip
"""Attributes whose product is a number of entries."""
_LARGEST = 20_000_000
_NO_NUMBER = re.compile(r"[-+]?(nan\(?.*|inf|infinity)", re.IGNORECASE)
_TEXTS = ("name", "class", "childclass", "file", "data", "info", "model", "prefix")
"""Attributes that may be called so."""


class Scanned(NamedTuple):
    """What an MJCF file reads."""

    files: list[Path]
    """All of them, itself first."""
    roots: list[Element]
    """Of those that are MJCF."""
    attaches: bool
    """Whether there are models to be attached, whose files are named from their own folders."""


def scan(file: Path, places: Places) -> Scanned:
    """Everything that MuJoCo would read of an MJCF file; ModelError if something must not be read."""
    scanner = _Scanner(places)
    scanner.document(file)
    if scanner.problems:
        raise ModelError(scanner.problems)
    return Scanned(scanner.files, scanner.roots, scanner.attaches)


class _Document:
    """A file with all that it includes: one text for MuJoCo, in which the last <compiler> counts everywhere."""

    def __init__(self, file: Path):
        self.home = file.parent
        self.folders: dict[str, set[str]] = {"meshdir": set(), "texturedir": set()}
        self.strips = False
        self.copies = 0
        self.elements: list[Element] = []

    def compiler(self, element: Element) -> None:
        told = element.attributes
        for key, known in self.folders.items():
            known |= {told[name] for name in (key, "assetdir") if name in told}
        self.strips |= told.get("strippath") == "true"

    def places(self, element: Element, name: str) -> list[Path]:
        """Where MuJoCo may look for a file that an element names."""
        folders = self.folders.get(_FOLDERS.get(element.tag, ""), set()) | {""}
        names = {name, name.replace("\\", "/").rpartition("/")[2]} if self.strips else {name}
        return [self.home / folder / one for folder in sorted(folders) for one in sorted(names)]


class _Scanner:
    def __init__(self, places: Places):
        self.places = places
        self.problems: list[Problem] = []
        self.files: list[Path] = []
        self.roots: list[Element] = []
        self.attaches = False

    def document(self, file: Path, above: tuple[Path, ...] = ()) -> None:
        """A file of MJCF, and then what it names."""
        document = _Document(file)
        self._file(document, file, above)
        for element in document.elements:
            if element.tag == "model" and element.attributes.get("file"):
                self.attaches = True
                self._other(document, element, above)
            elif element.tag not in ("key", "text", "numeric"):
                for key in _FILES:
                    if name := element.attributes.get(key):
                        self._find(element, name, key, document.places(element, name))

    def _file(self, document: _Document, file: Path, above: tuple[Path, ...]) -> None:
        """One file of a document, and those that it includes."""
        root = read_xml(file)
        if root.tag not in ("mujoco", "mujocoinclude"):
            what = f"is not MJCF: its root must be <mujoco> (got <{root.tag[:40]}>)"
            self.problems.append(root.problem(what + _ADVICE.get(root.tag, "")))
            return
        self.files.append(file)
        self.roots.append(root)
        waiting = [(root, 1)]
        while waiting:
            element, copies = waiting.pop()
            copies *= self._count(element)
            document.copies += copies if copies > 1 else 0
            if document.copies > _MAX_COPIES:
                self.problems.append(element.problem(f"its copies make more than {_MAX_COPIES} elements"))
                return
            waiting += [(child, copies) for child in element.children]
            self._numbers(element)
            if element.tag == "include":
                self._other(document, element, (*above, file))
            elif element.tag == "plugin":
                self.problems.append(element.problem("plugins are code, which is not run; remove it"))
            elif element.tag == "compiler":
                document.compiler(element)
            else:
                document.elements.append(element)

    def _count(self, element: Element) -> int:
        """How often what is inside an element is there."""
        count = element.attributes.get("count", "1") if element.tag == "replicate" else "1"
        return max(1, int(count)) if count.strip().isdecimal() else 1

    def _numbers(self, element: Element) -> None:
        """Refuse what MuJoCo warns of at most, and sizes that no memory has."""
        for key, text in element.attributes.items():
            free = key in _TEXTS or key.endswith("range")  # endless ranges are none
            if not free and any(_NO_NUMBER.fullmatch(word) for word in text.split()):
                self.problems.append(element.problem(f"must be finite numbers (got '{text[:40]}')", key))
        for keys in _SIZES.get(element.tag, ()):
            numbers = [word for key in keys for word in element.attributes.get(key, "").split()]
            size = math.prod(int(word) for word in numbers if word.isdecimal())
            if size > _LARGEST:
                what = f"asks for {size:.3g} entries; more than {_LARGEST:.0e} are not read"
                self.problems.append(element.problem(what, keys[0]))
        if element.tag == "distance":
            what = "MJCF has no distance equalities any more: write a connect, or a distance joint in a model file"
            self.problems.append(element.problem(what))

    def _other(self, document: _Document, element: Element, above: tuple[Path, ...]) -> None:
        """Another file of MJCF: a part of this document, or a model that has one of its own."""
        name = element.attributes.get("file", "")
        found = self._find(element, name, "file", [document.home / name])
        if found is None:
            return
        if found in above:
            chain = " > ".join(path.name for path in [*above[above.index(found) :], found])
            self.problems.append(element.problem(f"includes go in a circle: {chain}"))
        elif len(self.roots) > _MAX_INCLUDES:
            self.problems.append(element.problem(f"there are more than {_MAX_INCLUDES} includes"))
        elif element.tag == "include":
            self._file(document, found, above)
        else:
            self.document(found, (*above, found))

    def _find(self, element: Element, name: str, key: str, paths: list[Path]) -> Path | None:
        """The file that MuJoCo reads; none of those that it may read must lie outside."""
        try:
            found = self.places.allowed(name, paths)
        except PlaceError as error:
            self.problems.append(element.problem(str(error), key))
            return None
        if found not in self.files and element.tag not in ("include", "model"):
            self.files.append(found)
        return found
