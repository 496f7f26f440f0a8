"""Components and models: named bodies, joints, loads and markers, nested as the user likes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import KW_ONLY, replace
from typing import TYPE_CHECKING, Any, Self, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

from .block import Block, Wire
from .body import Body, Marker
from .errors import ModelError, Problem, nearest
from .item import GROUND, Axis, Item, Orientation, Point, Polar, Refers, Vector, explain, item
from .joints.base import Joint
from .panel import PanelGroup
from .providers import provider
from .rotation import IDENTITY, Placement
from .touch import Material, MaterialPair, NoContact, Scenery

if TYPE_CHECKING:
    from .drive import Drive
    from .load import Load
    from .sealed import Sealed

I = TypeVar("I", bound=Item)
_VECTOR: TypeAdapter[Vector] = TypeAdapter(Polar)


class Shelves:
    """Items by name, those of a kind on a shelf of their own."""

    def __init__(self) -> None:
        self.bodies: dict[str, Body] = {}
        self.markers: dict[str, Marker] = {}
        self.joints: dict[str, Joint] = {}
        self.loads: dict[str, Load] = {}
        self.drives: dict[str, Drive] = {}
        self.couplings: dict[str, Item] = {}
        self.materials: dict[str, Material] = {}
        self.material_pairs: dict[str, MaterialPair] = {}
        self.scenery: dict[str, Scenery] = {}
        self.no_contacts: dict[str, NoContact] = {}
        self.control: dict[str, Block] = {}
        self.panel: dict[str, PanelGroup] = {}

    def take_from(self, other: Shelves) -> None:
        """Have what another has, on shelves of its own."""
        for shelf in SHELVES:
            setattr(self, shelf, dict(getattr(other, shelf)))

    def items(self) -> Iterator[Item]:
        """All items."""
        for shelf in SHELVES:
            yield from getattr(self, shelf).values()

    def __eq__(self, other: object) -> bool:
        return vars(self) == vars(other) if type(other) is type(self) else NotImplemented

    __hash__ = None  # type: ignore[assignment]


SHELVES = tuple(vars(Shelves()))
"""Where a component keeps its items; those of components inside it stand under `instances`."""


class Flat(Shelves):
    """A model without hierarchy: every item in world coordinates under its dotted name."""

    def __init__(self) -> None:
        super().__init__()
        self.ports: dict[str, tuple[str, ...]] = {}
        """Bodies to which others may attach, by the dotted path of the component that says so; '' is the whole."""
        self.strays: list[tuple[str, str]] = []
        """Instances, and inputs that they give to inlets which their components do not have."""

    def of(self, what: Refers) -> dict[str, Any]:
        """What a reference of this kind may name: items, or the members of a group."""
        if what is Refers.GROUP:
            return self.groups()
        if what is Refers.TOUCHING:
            return {**self.groups(), **self.scenery, **self.bodies}
        shelves: dict[Refers, dict[str, Any]] = {
            Refers.BODY: self.bodies,
            Refers.JOINT: self.joints,
            Refers.MARKER: self.markers,
            Refers.MATERIAL: self.materials,
            Refers.DRIVE: self.drives,
            Refers.LOAD: self.loads,
            Refers.PANEL_GROUP: self.panel,
        }
        return shelves[what]

    def groups(self) -> dict[str, list[Body | Scenery]]:
        """Bodies and scenery by the label that they share."""
        found: dict[str, list[Body | Scenery]] = {}
        things: list[Body | Scenery] = [*self.bodies.values(), *self.scenery.values()]
        for thing in things:
            if thing.group is not None:
                found.setdefault(thing.group, []).append(thing)
        return found

    def problems(self) -> Iterator[Problem]:
        """Every reference that leads nowhere, to several things or past ports, and what is said twice."""
        known = {what: self.of(what) for what in Refers}
        for thing in self.items():
            for name, what, target in thing.references():
                if target == GROUND and what is Refers.BODY:
                    continue
                if target not in known[what]:
                    hint = nearest(target, [*known[what], GROUND] if what is Refers.BODY else known[what])
                    yield Problem(
                        f"{thing.kind} '{thing.name}'.{name}", f"there is no {what.value} '{target}'{hint}"
                    )
        for label in known[Refers.GROUP]:
            if label in self.bodies or label in self.scenery:
                kind = Body.kind if label in self.bodies else Scenery.kind
                yield Problem(f"group '{label}'", f"has the name of a {kind}; call one of them otherwise")
        said: dict[frozenset[str], str] = {}
        for pair in self.material_pairs.values():
            first = said.setdefault(frozenset((pair.a, pair.b)), pair.name)
            if first != pair.name:
                what_ = f"is about '{pair.a}' and '{pair.b}', as '{first}' is; keep one of them"
                yield Problem(f"{pair.kind} '{pair.name}'", what_)
        yield from self._attachments()

    def _attachments(self) -> Iterator[Problem]:
        """Ports that are no bodies, and joints and loads that attach to what is no port."""
        for path, ports in self.ports.items():
            where = f"instance '{path}'.ports" if path else "ports"
            for port in ports:
                if port not in self.bodies:
                    yield Problem(where, f"there is no body '{port}'{nearest(port, self.bodies)}")
                elif what := self._past_ports(path, port):
                    yield Problem(where, what)
        for thing in (*self.joints.values(), *self.loads.values()):
            home = thing.name.rpartition(".")[0]
            for name, what_kind, target in thing.references():
                if what_kind is Refers.BODY and (what := self._past_ports(home, target)):
                    yield Problem(f"{thing.kind} '{thing.name}'.{name}", what)

    def _past_ports(self, home: str, body: str) -> str:
        """What is wrong with attaching to a body from the component at the path `home`; nothing if it may be."""
        path = ""
        for part in body.split(".")[:-1]:
            path = f"{path}.{part}" if path else part
            outside = home != path and not home.startswith(f"{path}.")
            if outside and path in self.ports and body in self.bodies and body not in self.ports[path]:
                return past_ports(body, path, self.ports[path])
        return ""


def past_ports(body: str, path: str, ports: Iterable[str]) -> str:
    """What to say about an attachment to a body of the component at `path` that is none of its ports."""
    listed = ", ".join(f"'{port}'" for port in ports) or "none"
    return f"body '{body}' is not among the ports of '{path}' ({listed}); attach to a port, or make it one"


class Component(Shelves):
    """A part that can be used many times: bodies, joints, loads, markers and other components.

    Everything stands where it is in the assembled pose, in the component's own axes. Inside, names are
    local; from outside they are reached with dots: `front.left.arm`.

    `ports` names the bodies by which others may attach, those of components inside with dots: joints and loads
    written outside may name no other body of it. None, the default, leaves every body open. The frame of a port's body
    stands where it is attached, which `replace` relies on.
    """

    def __init__(self, name: str, *, ports: Iterable[str] | None = None):
        super().__init__()
        self.name = name
        self.ports = ports
        self.instances: dict[str, Instance | Sealed] = {}

    @property
    def ports(self) -> tuple[str, ...] | None:
        """Names of the bodies by which others may attach; None for every body."""
        return self._ports

    @ports.setter
    def ports(self, value: Iterable[str] | None) -> None:
        names = None if value is None else tuple(value)
        if isinstance(value, str) or not all(isinstance(name, str) and name for name in names or ()):
            what = f"must be a list of names of bodies, or None for every body (got {value!r})"
            raise ModelError([Problem(f"component '{self.name}'.ports", what)])
        self._ports = names

    def add(self, thing: I) -> I:
        """Add a body, joint, load, marker, material … or instance of a component; returns it.

        The order does not matter: a joint may name a body that is added later.
        """
        shelf = self._shelf(thing)
        placed = thing.shelf == Instance.shelf
        problem = None
        if "." in thing.name:
            problem = "a name may not contain a dot; dots lead into components"
        elif thing.name in shelf:
            problem = "there is already one of that name"
        elif thing.name in self.instances or (placed and thing.name in self.bodies):
            problem = "a body and a component may not share a name"
        elif placed and thing.name in self.scenery:
            problem = "scenery and a component may not share a name"
        elif (isinstance(thing, Body) and thing.name in self.scenery) or (
            isinstance(thing, Scenery) and thing.name in self.bodies
        ):
            problem = "a body and scenery may not share a name"
        if problem:
            raise ModelError([Problem(f"{thing.kind} '{thing.name}'", problem)])
        shelf[thing.name] = thing
        return thing

    def _shelf(self, thing: Item) -> dict[str, Any]:
        shelf = getattr(thing, "shelf", "")
        if not isinstance(thing, Item) or not shelf:
            what = "is not a body, marker, joint, load, drive, coupling, material, scenery or instance"
            raise ModelError([Problem(repr(thing)[:60], what)])
        return getattr(self, shelf)  # type: ignore[no-any-return]

    def instance(
        self,
        name: str,
        *,
        at: Any = (0.0, 0.0, 0.0),
        rotation: Any = IDENTITY,
        mirror: Any = None,
    ) -> Instance:
        """This component, standing somewhere: mirrored (plane normal `mirror`), turned, moved [m]."""
        return Instance(name, self, at=at, rotation=rotation, mirror=mirror)

    def flatten(self) -> Flat:
        """Every item of this component and of all inside it, under dotted names."""
        return self._flatten({})

    def _flatten(self, known: dict[int, tuple[Component, Flat]]) -> Flat:
        """`known`: components that were flattened before, for many instances are of few components."""
        if id(self) in known:
            return known[id(self)][1]
        flat = Flat()
        flat.take_from(self)
        if self.ports is not None:
            flat.ports[""] = self.ports
        for instance in self.instances.values():
            inner = instance.component._flatten(known)
            placement = Placement(instance.at, instance.rotation, instance.mirror)

            def rename(name: str, prefix: str = instance.name) -> str:
                return name if name == GROUND else f"{prefix}.{name}"

            for thing in inner.items():
                placed = thing.placed(placement, rename)
                getattr(flat, placed.shelf)[placed.name] = placed
            for port, wire in instance.inputs.items() if isinstance(instance, Instance) else ():
                inlet = flat.control.get(rename(port))
                if inlet is not None and inlet.kind == "inlet":
                    flat.control[inlet.name] = replace(inlet, input=wire)  # type: ignore[call-arg]
                else:
                    flat.strays.append((instance.name, port))
            flat.strays += [(rename(path), port) for path, port in inner.strays]
            for path, ports in inner.ports.items():
                flat.ports[rename(path) if path else instance.name] = tuple(map(rename, ports))
        known[id(self)] = self, flat  # kept: an id is free again when its owner is gone
        return flat

    def replace(self, path: str, other: Component | str) -> Self:
        """A copy with another component at the dotted path of an instance; this one stays as it is.

        `other` is a component, or the file or address (tcp://host:port) of a sealed one.

        It stands where the old one stood, mirrored and turned as that was. It must have the same ports, with
        their bodies' frames in the same places to 1e-9 m, and all else that is named from outside.
        """
        from .replace import replaced  # which needs this module

        return replaced(self, path, other)

    def __repr__(self) -> str:
        flat = self.flatten()
        return (
            f"{type(self).__name__}({self.name!r}: {len(flat.bodies)} bodies, "
            f"{len(flat.joints)} joints, {len(flat.loads)} loads)"
        )


@item
class Instance(Item):
    """A component placed in another one."""

    kind = "instance"
    shelf = "instances"

    component: Component
    """What is placed; in a model file, the name of one of its components."""
    _: KW_ONLY
    at: Point = (0.0, 0.0, 0.0)
    """Where its origin stands in the axes of whoever holds it [m]."""
    rotation: Orientation = IDENTITY
    """How it is turned against the axes of whoever holds it."""
    mirror: Axis | None = None
    """Normal of the mirror plane through the component's origin, any length but zero [1]; mirrored first, then
    turned and moved."""
    inputs: dict[str, Wire] = Field(default_factory=dict)
    """What the inlets of the component's control diagram take, by their names: outputs of blocks, signals or
    numbers, of whoever holds it."""


class Model(Component):
    """A mechanism as it stands: bodies and joints in world coordinates of the assembled pose, any order.

    Which joints form a tree and which close loops is Linkwork's business.
    """

    def __init__(self, name: str = "model", *, gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)):
        super().__init__(name)
        self.gravity = gravity
        self.files: dict[str, tuple[int, int, int] | None] = {}
        """Every file that it was read from and how it stood then (`linkwork.io.files.stamp`)."""

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return {**vars(self), "files": None} == {**vars(other), "files": None}  # wherever it was read from

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], **options: Any) -> Model:
        """The model that a file describes: a model file (.yaml), or one of another program (.urdf, .xml, .step).

        Options are those of `linkwork.import_model`, or `parameters` of a model file; `import_model` also tells what of
        a file of another program was approximated or dropped.
        """
        opened: Model = provider("foreign file")(path, **options)
        return opened

    @property
    def gravity(self) -> tuple[float, float, float]:
        """Gravitational acceleration in world axes [m/s²]."""
        return self._gravity

    @gravity.setter
    def gravity(self, value: Any) -> None:
        try:
            self._gravity = _VECTOR.validate_python(value)
        except ValidationError as error:
            raise ModelError(
                Problem(f"Model '{self.name}'.gravity", what) for _, what in explain(error, Model)
            ) from None
