"""Saving what was imported as a model file, with copies of its meshes beside it."""

from __future__ import annotations

import dataclasses
import filecmp
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..io import save_model
from ..model import Model
from ..model.errors import LinkworkError


def save_imported(model: Model, path: str | os.PathLike[str]) -> list[Path]:
    """Write a model file; meshes that are not in its folder are copied into `NAME_meshes` beside it.

    Returns the copies. A model file names only files inside its folder, so that it can be sent to others whole.
    """
    file = Path(os.path.abspath(path))
    copies = Copies(file.parent, file.with_name(f"{file.stem}_meshes"))
    kept = Model(model.name, gravity=model.gravity)
    kept.take_from(model)
    kept.instances = model.instances
    for shelf in (kept.bodies, kept.scenery):
        things: dict[str, Any] = shelf
        for name, thing in things.items():
            shapes = tuple(map(copies.shape, thing.shapes))
            if shapes != thing.shapes:
                things[name] = dataclasses.replace(thing, shapes=shapes)
    save_model(kept, file)
    return copies.made


class Copies:
    """Copies files into a folder inside another one, each once."""

    def __init__(self, home: Path, folder: Path):
        self.home, self.folder = Path(os.path.realpath(home)), folder
        self.known: dict[str, str] = {}
        self.made: list[Path] = []

    def shape(self, shape: Any) -> Any:
        """The shape, with its file inside the folder."""
        source = getattr(shape, "file", None)
        if source is None or Path(os.path.realpath(source)).is_relative_to(self.home):
            return shape
        if source not in self.known:
            self.known[source] = self._copy(Path(source))
        return dataclasses.replace(shape, file=self.known[source])

    def _copy(self, source: Path) -> str:
        try:
            target = self._free(source.name, lambda there: filecmp.cmp(source, there, shallow=False))
            if not target.exists():
                shutil.copyfile(source, target)
        except OSError as error:
            raise LinkworkError(
                f"{source}: cannot be copied into '{self.folder}': {error.strerror or error}"
            ) from None
        self.made.append(target)
        return str(target)

    def write(self, name: str, content: bytes) -> Path:
        """Write a file of this name, or one like it."""
        try:
            target = self._free(name, lambda there: there.read_bytes() == content)
            target.write_bytes(content)
        except OSError as error:
            raise LinkworkError(
                f"{name}: cannot be written into '{self.folder}': {error.strerror or error}"
            ) from None
        self.made.append(target)
        return target

    def _free(self, name: str, same: Callable[[Path], bool]) -> Path:
        """A path that nothing else has: not there, or there with the same content."""
        self.folder.mkdir(exist_ok=True)
        wanted = target = self.folder / name
        number = 1
        while target.exists() and (target in self.made or not same(target)):
            number += 1
            target = wanted.with_stem(f"{wanted.stem}_{number}")
        return target


def write_text(file: Path, text: str) -> None:
    """Write a file, which takes the place of another one only when it is complete."""
    part = file.with_name(f".{file.name}.{os.getpid()}.part")
    try:
        part.write_text(text, encoding="utf-8", newline="\n")
        os.replace(part, file)
    except OSError as error:
        raise LinkworkError(f"{file}: cannot be written: {error.strerror or error}") from None
    finally:
        part.unlink(missing_ok=True)
