"""Which files an MJCF file would read, before MuJoCo reads any: only those inside its folder, and no plugins."""

from __future__ import annotations

from pathlib import Path

from ..model.errors import ModelError, Problem
from .places import PlaceError, Places
from .xml_source import Element, read_xml

_MAX_INCLUDES = 100
_FOLDERS = {
    "mesh": "meshdir",
    "hfield": "meshdir",
    "skin": "meshdir",
    "flexcomp": "meshdir",
    "texture": "texturedir",
}
_FILES = (
    "file", "fileright", "fileleft", "fileup", "filedown", "filefront", "fileback", "content_type",
)  # fmt: skip


def scan(file: Path, places: Places) -> tuple[list[Path], list[Element]]:
    """Files that an MJCF file names, itself first, and the roots of those that are MJCF; ModelError if one must not be
    read."""
    scanner = _Scanner(places)
    scanner.file(file, [])
    if scanner.problems:
        raise ModelError(scanner.problems)
    return scanner.files, scanner.roots


class _Scanner:
    def __init__(self, places: Places):
        self.places = places
        self.problems: list[Problem] = []
        self.files: list[Path] = []
        self.roots: list[Element] = []

    def file(self, file: Path, above: list[Path]) -> None:
        """An MJCF file and all that it includes."""
        root = read_xml(file)
        if root.tag not in ("mujoco", "mujocoinclude"):
            what = f"is not MJCF: its root must be <mujoco> (got <{root.tag[:40]}>)"
            self.problems.append(
                root.problem(what + ("; name the file .urdf" if root.tag == "robot" else ""))
            )
            return
        self.files.append(file)
        self.roots.append(root)
        folders: dict[str, str] = {}
        for compiler in root.all("compiler"):
            for key in ("meshdir", "texturedir"):
                folders[key] = compiler.attributes.get(
                    key, compiler.attributes.get("assetdir", folders.get(key, ""))
                )
            if compiler.attributes.get("strippath") == "true":
                folders["strip"] = "true"
        waiting = [root]
        while waiting:
            element = waiting.pop()
            waiting += element.children
            if element.tag == "include":
                self._include(element, [*above, file])
            elif element.tag in ("plugin", "extension"):
                if element.tag == "plugin":
                    self.problems.append(element.problem("plugins are code, which is not run; remove it"))
            else:
                self._named(element, folders)

    def _include(self, element: Element, above: list[Path]) -> None:
        found = self._find(element, element.attributes.get("file", ""), "file")
        if found is None:
            return
        if found in above:
            chain = " > ".join(path.name for path in [*above[above.index(found) :], found])
            self.problems.append(element.problem(f"includes go in a circle: {chain}"))
        elif len(self.files) > _MAX_INCLUDES:
            self.problems.append(element.problem(f"there are more than {_MAX_INCLUDES} includes"))
        else:
            self.file(found, above)

    def _named(self, element: Element, folders: dict[str, str]) -> None:
        for key in _FILES[:-1]:
            name = element.attributes.get(key)
            if not name or element.tag in ("key", "text", "numeric"):
                continue
            if folders.get("strip"):
                name = name.replace("\\", "/").rpartition("/")[2]
            folder = folders.get(_FOLDERS.get(element.tag, ""), "")
            self._find(element, f"{folder.rstrip('/')}/{name}" if folder else name, key)

    def _find(self, element: Element, name: str, key: str) -> Path | None:
        try:
            found = self.places.find(name)
        except PlaceError as error:
            self.problems.append(element.problem(str(error), key))
            return None
        if found not in self.files and element.tag != "include":
            self.files.append(found)
        return found
