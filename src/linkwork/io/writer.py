"""Models to model files that read back to the same model, bit by bit."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import secrets
import shutil
import typing
from pathlib import Path
from typing import Any, Literal

from ..model import Component, Model
from ..model.errors import ModelError, Problem
from ..model.item import Item, _hints
from ..model.sealed import Sealed
from ..results.files import settle
from .files import MAX_NESTING, VERSION
from .kinds import PLAIN, TYPED, file_types, of_python
from .yaml_source import MAX_BYTES
from .yaml_text import block, flow


def save_model(model: Model, path: str | os.PathLike[str]) -> None:
    """Write a model file. A file of that name is replaced only when the new one is complete."""
    file = Path(path)
    text = dump_model(model, file.parent)
    if len(text.encode()) > MAX_BYTES:
        what = f"would be larger than {MAX_BYTES // 1_000_000} MB, the limit for a model file"
        raise ModelError([Problem("", what, file)])
    real = Path(os.path.realpath(file))  # a link stays a link
    part = real.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        part.write_text(text, encoding="utf-8", newline="\n")
        if real.exists():
            shutil.copymode(real, part)
        settle(part, real)
    except OSError as error:
        what = f"cannot be written: {error.strerror or error}"
        raise ModelError([Problem("", what, file)]) from error
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


def dump_model(model: Model, folder: str | os.PathLike[str] = ".") -> str:
    """The text of a model file that stands in `folder`, from which mesh files are named."""
    writer = _Writer(Path(folder))
    sections = writer.sections(model, [])
    if not writer.problems:
        flat = model.flatten()
        writer.problems += flat.problems()
        if not flat.bodies:
            writer.problems.append(Problem(f"Model '{model.name}'", "has no bodies"))
    if writer.problems:
        raise ModelError(writer.problems)
    header = {"linkwork": VERSION, "name": model.name, "units": "SI", "gravity": list(model.gravity)}
    if "ports" in sections:
        header["ports"] = sections.pop("ports")
    lines = [f"{key}: {flow(value)}" for key, value in header.items()]
    del sections["name"]
    for name, section in (sections | {"components": writer.definitions}).items():
        if section:
            lines += ["", f"{name}:", *block(section, "  ")]
    return "\n".join(lines) + "\n"


class _Writer:
    """Describes components as plain data and gathers what a file cannot hold."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.problems: list[Problem] = []
        self.definitions: dict[str, dict[str, Any]] = {}
        self._keys: dict[str, str] = {}  # of a definition, by its text: equal to the bit is the same
        self._described: dict[int, str] = {}

    def sections(self, component: Component, outside: list[Component]) -> dict[str, Any]:
        """A component as a mapping; `outside` are the components that it is a part of."""
        try:
            component.name.encode()
        except (AttributeError, UnicodeEncodeError):
            self.problems.append(Problem(f"component {component.name!r}", "its name is not valid text"))
        shelves: dict[str, Any] = {
            shelf: {name: self._item(thing, cls) for name, thing in getattr(component, shelf).items()}
            for shelf, cls in PLAIN.items()
        }
        for shelf in TYPED:
            shelves[shelf] = {
                name: {"type": thing.kind, **self._item(thing, file_types(shelf).get(thing.kind))}
                for name, thing in getattr(component, shelf).items()
            }
        shelves["instances"] = {}
        for name, instance in component.instances.items():
            if isinstance(instance, Sealed):
                shelves["instances"][name] = self._fields(instance)
                continue
            key = self._component(instance.component, [*outside, component], f"instance '{name}'")
            shelves["instances"][name] = {"component": key, **self._fields(instance)}
        described: dict[str, Any] = {"name": component.name}
        if component.ports is not None:
            described["ports"] = list(component.ports)
        return described | {shelf: items for shelf, items in shelves.items() if items}

    def _component(self, component: Component, outside: list[Component], where: str) -> str:
        """The name under which a component is defined in the file."""
        if id(component) in self._described:
            return self._described[id(component)]
        problem = None
        if isinstance(component, Model):
            problem = "places a Model, whose gravity would be lost; place a Component"
        elif any(component is outer for outer in outside):
            problem = f"places '{component.name}' in itself"
        elif len(outside) > MAX_NESTING:
            problem = f"components are nested deeper than {MAX_NESTING}"
        if problem:
            self.problems.append(Problem(where, problem))
            return ""
        definition = self.sections(component, outside)
        text = repr(definition)
        if text not in self._keys:
            name = component.name if 0 < len(component.name) < 100 else "component"
            key, number = name, 1
            while key in self.definitions:
                number += 1
                key = f"{name}_{number}"
            if key == component.name:
                del definition["name"]
            self._keys[text] = key
            self.definitions[key] = definition
        self._described[id(component)] = self._keys[text]
        return self._keys[text]

    def _item(self, thing: Item, cls: type | None) -> dict[str, Any]:
        if type(thing) is not cls:
            what = f"a model file cannot hold a {type(thing).__name__}"
            if thing.shelf in TYPED and thing.kind in of_python(thing.shelf):
                what += ": it calls a function, and a model file never runs code"
            self.problems.append(Problem(f"{thing.kind} '{thing.name}'", what))
            return {}
        return self._fields(thing)

    def _fields(self, thing: Any) -> dict[str, Any]:
        """Fields that differ from their defaults, what is required first."""
        cls: Any = type(thing)
        hints = _hints(cls)
        described: dict[str, Any] = {}
        for field in sorted(
            dataclasses.fields(thing), key=lambda field: field.default is not dataclasses.MISSING
        ):
            value = getattr(thing, field.name)
            hint = hints[field.name]
            if (
                typing.get_origin(hint) is Literal and len(typing.get_args(hint)) == 1
            ):  # tells which class it is
                described = {field.name: value, **described}
            # By their texts, for 0.0 equals -0.0.
            elif field.name not in ("name", "component") and repr(value) != repr(field.default):
                described[field.name] = self._value(value)
        if "file" in described:
            described["file"] = self._relative(getattr(thing, "shape", "") or thing.kind, thing.file)
        if isinstance(thing, Sealed) and not thing.remote:
            described["sealed"] = self._relative(thing.kind, thing.sealed)
        return described

    def _value(self, value: Any) -> Any:
        if isinstance(value, tuple):
            return [self._value(entry) for entry in value]
        return self._fields(value) if dataclasses.is_dataclass(value) else value

    def _relative(self, shape: str, file: str) -> str:
        """The file of a shape as seen from the folder of the model file, if load_model would accept it there."""
        try:
            name = Path(file).relative_to(os.path.abspath(self.folder)).as_posix()
            if Path(file).resolve().is_relative_to(self.folder.resolve()) and Path(file).is_file():
                return name
        except ValueError:
            pass
        what = f"must be a file inside the folder of the model file, {os.path.abspath(self.folder)}"
        self.problems.append(Problem(f"{shape} '{file}'", what))
        return ""
