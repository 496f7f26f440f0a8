"""Model files to models. Every problem of a file is found in one go, with its line."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from ..errors import ModelError, Problem, nearest
from ..item import GROUND, Item, Polar, Refers, _is_number, _plain, _shown, explain, field_marks, field_names
from ..joints import JOINTS
from ..model import Body, Component, Instance, Marker, Model
from .entry import Entry
from .expressions import ExpressionError, UnknownValueError, evaluate, is_expression, parameter_name
from .files import MAX_NESTING, Definition, Files
from .kinds import file_loads, function_loads, text_fields
from .yaml_source import Node

MAX_ITEMS = 1_000_000
"""Bodies, joints, loads and markers of a model, all instances spelled out: a few lines can ask for billions."""
_MAX_PARTS = 10_000

Values = dict[str, float | None]
"""Parameters by name; None where the value could not be found."""


def load_model(path: str | os.PathLike[str], parameters: Mapping[str, float] | None = None) -> Model:
    """Read a model file; `parameters` replaces the values of parameters that the file declares.

    Raises a ModelError with every problem found, each with its file, line and column.
    """
    files = Files(Path(path))
    reader = _Reader(files)
    model = reader.model(parameters or {})
    if files.problems or model is None:
        raise ModelError(_in_order(files.problems))
    return model


def _in_order(problems: list[Problem]) -> list[Problem]:
    """Each problem once (several instances of one component repeat it), by line, file after file."""
    order = {file: i for i, file in enumerate(dict.fromkeys(problem.file for problem in problems))}
    unique = dict.fromkeys(problems)
    return sorted(unique, key=lambda p: (order[p.file], p.line or 0, p.column or 0))


@dataclass
class _Part:
    """A component made from a definition. Names count even where their items are wrong."""

    component: Component
    names: dict[Refers, set[str]]
    inner: dict[str, _Part | None] = field(default_factory=dict)
    """Parts of its instances; None where the component is wrong."""
    items: int = 0
    """Number of items, those of instances included."""

    def knows(self, what: Refers, name: str) -> bool:
        """Whether a name, dotted or not, leads to an item, or into a component that is wrong itself."""
        if name in self.names[what]:
            return True
        head, _, tail = name.partition(".")
        inner = self.inner.get(head)
        return inner.knows(what, tail) if inner else bool(tail) and head in self.inner

    def known(self, what: Refers) -> Iterator[str]:
        """All names of a kind."""
        yield from self.names[what]
        for name, part in self.inner.items():
            if part:
                yield from (f"{name}.{inner}" for inner in part.known(what))


class _Reader:
    """Makes components from definitions."""

    def __init__(self, files: Files):
        self.files = files
        self.problems = files.problems
        self.parts: dict[tuple[Definition, tuple[tuple[str, float | None], ...]], _Part] = {}
        self.stack: list[Definition] = []

    def model(self, parameters: Mapping[str, float]) -> Model | None:
        definition = self.files.model()
        if definition is None:
            return None
        model = Model()
        part = self.part(definition, self._outside_values(definition, parameters), model)
        for unused in self.files.definitions:
            if not any(unused is used for used, _ in self.parts):
                self.part(unused, {}, Component(unused.name))
        if not any(True for _ in part.known(Refers.BODY)) and None not in part.inner.values():
            self.problems.append(definition.entry.problem("the model has no bodies", ("bodies",)))
        return model

    def part(self, definition: Definition, overrides: Values, component: Component) -> _Part:
        """Fill a component from its definition, with these parameters."""
        key = definition, tuple(sorted(overrides.items()))
        if key in self.parts:
            return self.parts[key]
        if len(self.parts) >= _MAX_PARTS:
            what = f"instances with different parameters make more than {_MAX_PARTS} components"
            raise ModelError(_in_order([*self.problems, definition.entry.problem(what)]))
        entry = definition.entry
        values = self._parameters(entry, overrides)
        component.name = self._name(entry.get("name"), definition.name)
        if isinstance(component, Model) and (gravity := entry.get("gravity")):
            component.gravity = self._checked(gravity, Polar, Model, values) or component.gravity
        sections = {
            name: dict(self._mapping(entry.get(name)))
            for name in ("bodies", "markers", "joints", "loads", "instances")
        }
        part = _Part(
            component,
            {
                Refers.BODY: set(sections["bodies"]),
                Refers.MARKER: set(sections["markers"]),
                Refers.JOINT: set(sections["joints"]),
            },
        )
        self.parts[key] = part
        self.stack.append(definition)
        for name, instance in sections.pop("instances").items():
            self._instance(part, name, instance, values)
        self.stack.pop()
        for section, items in sections.items():
            for name, item in items.items():
                self._item(part, section, name, item, values)
        self._count(part, entry, sum(map(len, sections.values())))
        return part

    def _count(self, part: _Part, entry: Entry, own: int) -> None:
        inner = [inside.items for inside in part.inner.values() if inside]
        part.items = own + sum(inner)
        if part.items > MAX_ITEMS >= max(inner, default=0):
            what = f"instances make {part.items} bodies, joints, loads and markers; the limit is {MAX_ITEMS}"
            self.problems.append(entry.problem(what, ("instances",)))

    # --- parameters and expressions ---

    def _parameters(self, entry: Entry, overrides: Values) -> Values:
        values: Values = {}
        for key, parameter in self._mapping(entry.get("parameters")):
            try:
                name = parameter_name(key)
            except ExpressionError as error:
                self.problems.append(parameter.problem(str(error), at_key=True))
                continue
            values[name] = overrides[name] if name in overrides else self._number(parameter, values)
        return values

    def _number(self, entry: Entry, values: Values) -> float | None:
        value = self._checked(entry, float, Model, values)
        return None if value is None else float(value)

    def _outside_values(self, definition: Definition, parameters: Mapping[str, float]) -> Values:
        """Parameters given by the caller of load_model."""
        section = definition.entry.get("parameters") or definition.entry
        values: Values = {}
        for key, given in parameters.items():
            value = _plain(given)
            problem = self._undeclared(definition, key)
            if problem is None and not (_is_number(value) and abs(value) < float("inf")):
                problem = f"must be a finite number (got {_shown(value)})"
            if problem:
                self.problems.append(Problem(f"parameters.{key}", problem, section.file, *section.key))
            else:
                values[parameter_name(key)] = float(value)
        return values

    def _undeclared(self, definition: Definition, key: str) -> str | None:
        section = definition.entry.get("parameters")
        declared = section.value if section and isinstance(section.value, dict) else {}
        if key in declared:
            return None
        return f"there is no such parameter to replace{nearest(key, declared)}"

    def _computed(self, entry: Entry, texts: frozenset[str], values: Values) -> tuple[Any, list[tuple[Any, ...]]]:
        """The plain value with its expressions computed, and the paths where that failed (NaN stands there)."""
        failed: list[tuple[Any, ...]] = []

        def compute(node: Node, path: tuple[Any, ...]) -> Any:
            value = node.value
            if isinstance(value, dict):
                return {key: compute(inner, (*path, key)) for key, inner in value.items()}
            if isinstance(value, list):
                return [compute(inner, (*path, i)) for i, inner in enumerate(value)]
            if path and path[-1] in texts and isinstance(value, str):
                return self._file_name(entry, path) if path[-1] == "file" else value
            if not is_expression(value):
                return value
            try:
                return evaluate(value, values)
            except ExpressionError as error:
                self.problems.append(entry.problem(str(error), path))
            except UnknownValueError:
                pass  # the parameter's own problem is already told
            failed.append(path)
            return float("nan")

        return compute(entry.node, ()), failed

    def _file_name(self, entry: Entry, path: tuple[Any, ...]) -> str:
        """A mesh file by its absolute path."""
        node, place = entry.find(path)
        assert node is not None
        named = Entry(entry.file, (*entry.path, *map(str, path)), node, place)
        return self.files.inside(named) or str(node.value)

    # --- items ---

    def _item(self, part: _Part, section: str, name: str, entry: Entry, values: Values) -> None:
        if not self._is_mapping(entry):
            return
        cls = self._class(section, entry)
        if cls is None:
            return
        made = self._checked(entry, cls, cls, values, name=name)
        self._check_references(part, entry, cls)
        if made is not None:
            self._add(part, entry, made)

    def _class(self, section: str, entry: Entry) -> type[Item] | None:
        if section == "bodies":
            return Body
        if section == "markers":
            return Marker
        kinds: Mapping[str, type[Item]] = JOINTS if section == "joints" else file_loads()
        kind = entry.get("type")
        if kind is None:
            what = f"needs a type: one of {', '.join(kinds)}"
            self.problems.append(entry.problem(what))
        elif section == "loads" and kind.value in function_loads():
            what = f"a model file never runs code; add a load of type {kind.value} in Python"
            self.problems.append(kind.problem(what))
        elif not isinstance(kind.value, str) or kind.value not in kinds:
            got = _shown(kind.node.plain())
            self.problems.append(kind.problem(f"{got} is not a known type{nearest(str(kind.value), kinds)}"))
        else:
            return kinds[kind.value]
        return None

    def _instance(self, part: _Part, name: str, entry: Entry, values: Values) -> None:
        part.inner[name] = None
        if not self._is_mapping(entry):
            return
        inner = part.inner[name] = self._inner(entry, values)
        component = inner.component if inner else Component("?")
        made = self._checked(entry, Instance, Instance, values, name=name, component=component)
        if made is not None:
            self._add(part, entry, made)

    def _inner(self, entry: Entry, values: Values) -> _Part | None:
        """The part that an instance places."""
        named, scope = entry.get("component"), self.stack[-1].scope
        if named is None:
            self.problems.append(entry.problem("is required", ("component",)))
            return None
        if not isinstance(named.value, str) or named.value not in scope:
            hint = nearest(str(named.value), scope)
            self.problems.append(named.problem(f"there is no component {_shown(named.node.plain())}{hint}"))
            return None
        definition = scope[named.value]
        if definition is None:
            return None
        if definition in self.stack:
            chain = [d.name for d in self.stack[self.stack.index(definition) :]]
            self.problems.append(named.problem(f"contains itself: {' > '.join([*chain, chain[0]])}"))
            return None
        if len(self.stack) > MAX_NESTING:
            self.problems.append(named.problem(f"components are nested deeper than {MAX_NESTING}"))
            return None
        overrides: Values = {}
        for key, parameter in self._mapping(entry.get("parameters")):
            problem = self._undeclared(definition, key)
            if problem:
                self.problems.append(parameter.problem(problem, at_key=True))
            else:
                overrides[parameter_name(key)] = self._number(parameter, values)
        return self.part(definition, overrides, Component(definition.name))

    def _checked(self, entry: Entry, hint: Any, cls: type, values: Values, **given: Any) -> Any:
        """The value that an entry describes, or None; every mistake is told."""
        data, failed = self._computed(entry, text_fields(hint), values)
        if given:
            extra = {Body: (), Marker: (), Instance: ("parameters",)}.get(hint, ("type",))
            known = [*(key for key in field_names(cls) if key != "name"), *extra]
            self.problems += entry.unknown_keys(known, {"name": "the key is the name"})
            data = {key: value for key, value in data.items() if key in known and key not in extra} | given
        try:
            made = _adapter(hint).validate_python(data)
        except ValidationError as error:
            for path, what in explain(error, cls):
                self._explain(entry, path, what, failed, given)
            return None
        return None if failed else made

    def _explain(
        self, entry: Entry, path: tuple[Any, ...], what: str, failed: list[tuple[Any, ...]], given: dict[str, Any]
    ) -> None:
        if path and path[0] in given:
            self.problems.append(entry.problem(what, at_key=True))
            return
        node, _ = entry.find(path)
        # What stands in for a failed expression is wrong as well, there or in what was made of it.
        for wrong in failed:
            length = min(len(path), len(wrong)) - (node is None and len(path) > 1)
            if path[:length] == wrong[:length] and length:
                return
        if node is not None and is_expression(node.value):
            what += f", computed from '{node.value}'"
        self.problems.append(entry.problem(what, path))

    def _check_references(self, part: _Part, entry: Entry, cls: type) -> None:
        for name, marks in field_marks(cls).items():
            target = entry.get(name)
            if target is None or not isinstance(target.value, str):
                continue
            for mark in marks:
                if not isinstance(mark, Refers) or part.knows(mark, target.value):
                    continue
                known = list(islice(part.known(mark), 10_000))
                if mark is Refers.BODY:
                    if target.value == GROUND:
                        continue
                    known.append(GROUND)
                what = f"there is no {mark.name.lower()} '{target.value}'{nearest(target.value, known)}"
                self.problems.append(target.problem(what))

    def _add(self, part: _Part, entry: Entry, made: Item) -> None:
        try:
            part.component.add(made)
        except ModelError as error:
            self.problems += [entry.problem(problem.what, at_key=True) for problem in error.problems]

    # --- forms ---

    def _mapping(self, entry: Entry | None) -> Iterator[tuple[str, Entry]]:
        """The entries of a section; one that is left empty has none."""
        if entry is not None and entry.value is not None and self._is_mapping(entry):
            yield from entry.entries()

    def _is_mapping(self, entry: Entry) -> bool:
        if isinstance(entry.value, dict):
            return True
        got = _shown(entry.node.plain())
        self.problems.append(entry.problem(f"must be a mapping of names to values (got {got})"))
        return False

    def _name(self, entry: Entry | None, default: str) -> str:
        if entry is None:
            return default
        if not isinstance(entry.value, str):
            self.problems.append(entry.problem(f"must be a text (got {_shown(entry.node.plain())})"))
            return default
        return entry.value


@cache
def _adapter(hint: Any) -> TypeAdapter[Any]:
    return TypeAdapter(hint)
