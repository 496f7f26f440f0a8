"""Model files to models. Every problem of a file is found in one go, with its line."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from ..model import Component, Instance, Model
from ..model.address import is_address
from ..model.errors import LinkworkError, ModelError, Problem, nearest
from ..model.item import GROUND, Item, Polar, Refers, _is_number, _plain, _shown, field_marks
from ..model.sealed import Sealed
from ..vehicle import Axle, Track, Wheel
from ..vehicle.suspensions import MOUNT
from .entry import Entry
from .expressions import ExpressionError, parameter_name
from .files import MAX_NESTING, Definition, Files, Stamp
from .kinds import PLAIN, SHELVES, TYPED, file_types, of_python
from .part import Part
from .values import Parameters, Values

MAX_ITEMS = 1_000_000
"""Items of all sections with all instances spelled out: a few lines can ask for billions."""
_MAX_PARTS = 10_000
_BUILT: dict[str, type[Wheel | Axle | Track]] = {"wheel": Wheel, "axle": Axle, "track": Track}


def load_model(path: str | os.PathLike[str], parameters: Mapping[str, float] | None = None) -> Model:
    """Read a model file; `parameters` replaces values of parameters that the file declares, and with dots those of
    instances: `left.length`.

    Raises a ModelError with every problem found, each with its file, line and column.
    """
    return _load(Files(Path(path)), parameters or {})


class Reading(NamedTuple):
    """What came of reading a model file."""

    model: Model | None
    error: ModelError | None
    """What is wrong with it, if there is no model."""
    stamps: dict[str, Stamp]
    """Every file that it names, itself and those not found included, as it stood before it was read."""


def read_model(path: str | os.PathLike[str], parameters: Mapping[str, float] | None = None) -> Reading:
    """Read a model file for somebody who wants to know when to read it again; `parameters` as for `load_model`."""
    files = Files(Path(path))
    try:
        return Reading(_load(files, parameters or {}), None, files.stamps)
    except ModelError as error:
        return Reading(None, error, files.stamps)


def parse_model(text: str, file: Path) -> Model:
    """The model that the text of a model file describes; `file` is where messages say it stands."""
    return _load(Files(file, text), {})


def parse_draft(text: str, file: Path, parameters: Mapping[str, float] | None = None) -> Model:
    """The model that the text of a model file describes, though its control diagram may be wrong: for editors."""
    return _load(Files(file, text), parameters or {}, diagram=False)


def _load(files: Files, parameters: Mapping[str, float], *, diagram: bool = True) -> Model:
    model = _Reader(files).model(parameters, diagram=diagram)
    if files.problems or model is None:
        raise ModelError(_in_order(files.problems))
    model.files = files.stamps
    return model


def _in_order(problems: list[Problem]) -> list[Problem]:
    """Each problem once (instances of one component repeat it), by line, file after file."""
    order = {file: i for i, file in enumerate(dict.fromkeys(problem.file for problem in problems))}
    unique = dict.fromkeys(problems)
    return sorted(unique, key=lambda problem: (order[problem.file], problem.line or 0, problem.column or 0))


class _Reader:
    """Makes components from definitions."""

    def __init__(self, files: Files):
        self.files = files
        self.problems = files.problems
        self.values = Values(files)
        self.parts: dict[tuple[Definition, tuple[tuple[str, float | None], ...]], Part] = {}
        self.stack: list[Definition] = []

    def model(self, parameters: Mapping[str, float], *, diagram: bool = True) -> Model | None:
        definition = self.files.model()
        if definition is None:
            return None
        model = Model()
        part = self._part(definition, self._given(definition, parameters), model)
        used = {made for made, _ in self.parts}
        for unused in self.files.definitions:
            if unused not in used:
                self._part(unused, {}, Component(unused.name))
        bodies = definition.entry.get("bodies")
        left_out = bodies is None or bodies.value in (None, {})
        if left_out and next(part.known(Refers.BODY), None) is None and None not in part.inner.values():
            definition.entry.refuse("the model has no bodies", ("bodies",))
        if diagram and not self.problems:
            self._diagram(model, part)
        return model

    def _diagram(self, model: Model, part: Part) -> None:
        """What is wrong with the control diagram of the whole, each told at its block in the file."""
        flat = model.flatten()
        if not flat.control and not flat.strays:
            return
        from ..control.diagram import Diagram  # brings all blocks along

        for fault in Diagram.of(flat).faults:
            entry, path = part.place_of(fault.block, fault.path)
            entry.refuse(fault.what, path, at_key=not path)

    def _given(self, definition: Definition, parameters: Mapping[str, float]) -> Parameters:
        """Parameters replaced by the caller of load_model."""
        section = definition.entry.get("parameters") or definition.entry
        values: Parameters = {}
        for key, given in parameters.items():
            path, dot, own = str(key).rpartition(".")
            inner, what = self._at(definition, path) if dot else (definition, "")
            name = ""
            if inner is not None:
                name, what = _replaceable(inner, own)
                name = f"{path}{dot}{name}" if name else ""
            value = _plain(given)
            if name and not (_is_number(value) and abs(value) <= sys.float_info.max):
                what = f"must be a finite number (got {_shown(value)})"
            if what:
                self.problems.append(Problem(f"parameters.{key}", what, section.file, *section.key))
            else:
                values[name] = float(value)
        return values

    def _at(self, definition: Definition, path: str) -> tuple[Definition | None, str]:
        """The definition of the instance at a dotted path, or what is wrong with the path."""
        here: Definition | None = definition
        for head in path.split("."):
            section = here.entry.get("instances") if here is not None else None
            instances = dict(self.values.mapping(section))
            named = instances[head].get("component") if head in instances else None
            if here is None or named is None or not isinstance(named.value, str):
                return None, f"there is no instance '{head}' with parameters{nearest(head, instances)}"
            here = here.scope.get(named.value)
        return here, "" if here is not None else "its component is wrong itself"

    def _part(self, definition: Definition, overrides: Parameters, component: Component) -> Part:
        """Fill a component from its definition, with these parameters; those with dots are of its instances."""
        key = definition, tuple(sorted(overrides.items()))
        if key in self.parts:
            return self.parts[key]
        entry, values = definition.entry, self.values
        if len(self.parts) >= _MAX_PARTS:
            what = f"instances with different parameters make more than {_MAX_PARTS} components"
            raise ModelError(_in_order([*self.problems, entry.problem(what)]))
        own = {name: value for name, value in overrides.items() if "." not in name}
        parameters = values.parameters(entry.get("parameters"), own)
        component.name = values.text(entry.get("name"), definition.name)
        for kind, cls in _BUILT.items():
            if (described := entry.get(kind)) is not None:
                self.parts[key] = self._built(described, cls, parameters, component)
                return self.parts[key]
        if isinstance(component, Model) and (gravity := entry.get("gravity")):
            component.gravity = values.vector(gravity, Polar, parameters) or component.gravity
        sections = {shelf: dict(values.mapping(entry.get(shelf))) for shelf in SHELVES}
        instances = dict(values.mapping(entry.get("instances")))
        part = Part(component, _names(sections))
        self.parts[key] = part
        self.stack.append(definition)
        # What instances hold must be known before references are checked, and they themselves come last,
        # so that one with the name of a body is told at the instance.
        for name, inner in instances.items():
            within = {
                key.removeprefix(f"{name}."): value
                for key, value in overrides.items()
                if key.startswith(f"{name}.")
            }
            self._prepare_instance(part, name, inner, parameters, within)
        self._ports(part, entry.get("ports"))
        part.blocks, part.placed = sections["control"], instances
        for shelf, items in sections.items():
            for name, inner in items.items():
                self._item(part, shelf, name, inner, parameters)
        for name, inner in instances.items():
            self._place_instance(part, name, inner, parameters)
        self.stack.pop()
        part.items = sum(map(len, sections.values())) + sum(1 + i.items for i in part.inner.values() if i)
        if part.items > MAX_ITEMS:
            what = f"instances make {part.items} bodies, joints and other items; the limit is {MAX_ITEMS}"
            raise ModelError(_in_order([*self.problems, entry.problem(what)]))
        return part

    def _built(
        self, entry: Entry, cls: type[Wheel | Axle | Track], parameters: Parameters, component: Component
    ) -> Part:
        """A component that the constructor of wheels, axles or tracks makes."""
        if self.values.is_mapping(entry):
            made: Wheel | Axle | Track | None = self.values.item(entry, cls, parameters, {})
            try:
                if made is not None:
                    built = made.component()
                    component.take_from(built)
                    component.ports, component.instances = built.ports, built.instances
            except LinkworkError as error:  # hard points that do not go together
                entry.refuse(str(error))
        part = Part.of(component)
        part.names[Refers.BODY].add(MOUNT)  # its port counts even where it is wrong
        return part

    def _ports(self, part: Part, entry: Entry | None) -> None:
        """Bodies to which others may attach."""
        if entry is None or entry.value is None:
            return
        if not isinstance(entry.value, list) or not all(
            isinstance(node.value, str) and node.value for node in entry.value
        ):
            entry.refuse(f"must be a list of names of bodies (got {entry.shown})")
            return
        part.component.ports = [node.value for node in entry.value]
        for i, node in enumerate(entry.value):
            what = part.past_ports(node.value)
            if not part.knows(Refers.BODY, node.value):
                what = f"there is no body '{node.value}'{nearest(node.value, islice(part.known(Refers.BODY), 2_000))}"
            if what:
                entry.refuse(what, (i,))

    # --- items ---

    def _item(self, part: Part, shelf: str, name: str, entry: Entry, parameters: Parameters) -> None:
        if not self.values.is_mapping(entry):
            return
        cls = PLAIN.get(shelf) or self._class(shelf, entry)
        if cls is None:
            return
        beside = ("type",) if shelf in TYPED else ()
        made = self.values.item(entry, cls, parameters, {"name": name}, beside)
        self._check_references(part, entry, cls)
        self._add(part, entry, made)

    def _class(self, shelf: str, entry: Entry) -> type[Item] | None:
        """The class of a joint, load, drive or coupling, by its type."""
        kinds = file_types(shelf)
        kind = entry.get("type")
        if kind is None:
            entry.refuse(f"needs a type: one of {', '.join(kinds)}")
        elif not isinstance(kind.value, str):
            kind.refuse(f"must be a text (got {kind.shown})")
        elif shelf in ("loads", "control") and kind.value in of_python(shelf):
            what = f"'{kind.value}' is not allowed: a model file never runs code; add it in Python"
            kind.refuse(what)
        elif kind.value not in kinds and (right := _section_of(kind.value)):
            kind.refuse(f"'{kind.value}' does not belong here, but under '{right}'")
        elif kind.value not in kinds:
            kind.refuse(f"'{kind.value}' is not known{nearest(kind.value, kinds)}")
        else:
            return kinds[kind.value]
        return None

    def _check_references(self, part: Part, entry: Entry, cls: Any) -> None:
        for name, marks in field_marks(cls).items():
            target = entry.get(name)
            if target is None or not isinstance(target.value, str):
                continue
            for mark in marks:
                if not isinstance(mark, Refers) or (mark is Refers.BODY and target.value == GROUND):
                    continue
                what = ""
                if not part.knows(mark, target.value):
                    known = [*islice(part.known(mark), 2_000), *([GROUND] if mark is Refers.BODY else [])]
                    what = f"there is no {mark.value} '{target.value}'{nearest(target.value, known)}"
                elif mark is Refers.BODY and cls.shelf in ("joints", "loads"):
                    what = part.past_ports(target.value)
                if what:
                    target.refuse(what)

    def _add(self, part: Part, entry: Entry, made: Item | None) -> None:
        if made is None:
            return
        try:
            part.component.add(made)
        except ModelError as error:
            for problem in error.problems:
                entry.refuse(problem.what, at_key=True)

    # --- instances ---

    def _prepare_instance(
        self, part: Part, name: str, entry: Entry, parameters: Parameters, within: Parameters
    ) -> None:
        part.inner[name] = None
        if not self.values.is_mapping(entry):
            return
        if entry.get("sealed"):
            part.inner[name] = self._sealed(part, name, entry, parameters)
        else:
            part.inner[name] = self._inner(entry, parameters, within)

    def _place_instance(self, part: Part, name: str, entry: Entry, parameters: Parameters) -> None:
        if name in part.sealed:
            self._add(part, entry, part.sealed[name])
        elif isinstance(entry.value, dict) and not entry.get("sealed"):
            inner = part.inner[name]
            given = {"name": name, "component": inner.component if inner else Component("?")}
            self._add(part, entry, self.values.item(entry, Instance, parameters, given, ("parameters",)))

    def _sealed(self, part: Part, name: str, entry: Entry, parameters: Parameters) -> Part | None:
        """What can be seen of a sealed component: its ports."""
        source = entry.get("sealed")
        assert source is not None
        address = isinstance(source.value, str) and is_address(source.value)
        where = source.value if address else self.files.inside(source)
        if where is None:
            return None
        given = {"name": name, "sealed": where}
        made: Sealed | None = self.values.item(entry, Sealed, parameters, given)
        if made is None:
            return None
        try:
            component = made.component
        except LinkworkError as error:  # nobody answers at the address
            source.refuse(str(error))
            return None
        part.sealed[name] = made
        names: dict[Refers, set[str]] = {what: set() for what in Refers}
        names[Refers.BODY] = names[Refers.TOUCHING] = set(component.bodies)
        return Part(component, names, items=len(component.bodies))

    def _inner(self, entry: Entry, parameters: Parameters, within: Parameters) -> Part | None:
        """The part that an instance places, with the instance's parameters, or those that the caller replaces."""
        named, scope = entry.get("component"), self.stack[-1].scope
        if named is None:
            entry.refuse("is required", ("component",))
            return None
        if not isinstance(named.value, str) or named.value not in scope:
            named.refuse(f"there is no component {named.shown}{nearest(str(named.value), scope)}")
            return None
        definition = scope[named.value]
        if definition is None:  # its own problem is told already
            return None
        if definition in self.stack:
            chain = [open_.name for open_ in self.stack[self.stack.index(definition) :]]
            named.refuse(f"contains itself: {' > '.join([*chain, chain[0]])}")
            return None
        if len(self.stack) > MAX_NESTING:
            named.refuse(f"components are nested deeper than {MAX_NESTING}")
            return None
        overrides: Parameters = {}
        for key, parameter in self.values.mapping(entry.get("parameters")):
            name, what = _replaceable(definition, key)
            if what:
                parameter.refuse(what, at_key=True)
            else:
                overrides[name] = self.values.number(parameter, parameters)
        return self._part(definition, {**overrides, **within}, Component(definition.name))


def _names(sections: Mapping[str, Mapping[str, Entry]]) -> dict[Refers, set[str]]:
    """What the items of a component may refer to, instances left out. Groups exist where they are written."""
    bodies, scenery = sections["bodies"], sections["scenery"]
    labels = [entry.get("group") for entry in (*bodies.values(), *scenery.values())]
    groups = {label.value for label in labels if label is not None and isinstance(label.value, str)}
    return {
        Refers.BODY: set(bodies),
        Refers.JOINT: set(sections["joints"]),
        Refers.MARKER: set(sections["markers"]),
        Refers.MATERIAL: set(sections["materials"]),
        Refers.DRIVE: set(sections["drives"]),
        Refers.LOAD: set(sections["loads"]),
        Refers.PANEL_GROUP: set(sections["panel"]),
        Refers.GROUP: groups,
        Refers.TOUCHING: {*bodies, *scenery, *groups},
    }


def _section_of(kind: str) -> str:
    """The section that a type belongs to, if there is one."""
    return next((shelf for shelf in TYPED if kind in file_types(shelf)), "")


def _replaceable(definition: Definition, key: str) -> tuple[str, str]:
    """The name of a parameter that a definition declares, and nothing, or nothing and what is wrong."""
    section = definition.entry.get("parameters")
    declared = section.value if section is not None and isinstance(section.value, dict) else {}
    try:
        name = parameter_name(key)
        if name in map(parameter_name, declared):
            return name, ""
    except ExpressionError:
        pass  # then it was not declared, or told where it was
    return "", f"there is no such parameter{nearest(key, declared)}"
