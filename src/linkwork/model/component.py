"""Components and models: named bodies, joints, loads and markers, nested as the user likes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from ..errors import ModelError, Problem, nearest
from ..item import GROUND, Axis, Item, Orientation, Point, Polar, Refers, Vector, explain, item
from ..joints.base import Joint
from ..rotation import IDENTITY, Placement
from .body import Body, Marker
from .touch import Material, MaterialPair, NoContact, Scenery

if TYPE_CHECKING:
    from ..drives import Drive
    from ..loads.base import Load
    from .sealed import Sealed

I = TypeVar("I", bound=Item)
_VECTOR: TypeAdapter[Vector] = TypeAdapter(Polar)


@dataclass
class Flat:
    """A model without hierarchy: every item in world coordinates under its dotted name."""

    bodies: dict[str, Body] = field(default_factory=dict)
    joints: dict[str, Joint] = field(default_factory=dict)
    loads: dict[str, Load] = field(default_factory=dict)
    markers: dict[str, Marker] = field(default_factory=dict)
    drives: dict[str, Drive] = field(default_factory=dict)
    couplings: dict[str, Item] = field(default_factory=dict)
    materials: dict[str, Material] = field(default_factory=dict)
    material_pairs: dict[str, MaterialPair] = field(default_factory=dict)
    scenery: dict[str, Scenery] = field(default_factory=dict)
    no_contacts: dict[str, NoContact] = field(default_factory=dict)

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

    def items(self) -> Iterator[Item]:
        """All items."""
        yield from self.bodies.values()
        yield from self.markers.values()
        yield from self.joints.values()
        yield from self.loads.values()
        yield from self.drives.values()
        yield from self.couplings.values()
        yield from self.materials.values()
        yield from self.material_pairs.values()
        yield from self.scenery.values()
        yield from self.no_contacts.values()

    def problems(self) -> Iterator[Problem]:
        """Every reference that leads nowhere or to several things, and what is said twice."""
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


SHELVES = tuple(entry.name for entry in fields(Flat))
"""Where a component keeps its items; those of components inside it stand under `instances`."""


class Component:
    """A part that can be used many times: bodies, joints, loads, markers and other components.

    Everything stands where it is in the assembled pose, in the component's own axes. Inside, names are
    local; from outside they are reached with dots: `front.left.arm`.
    """

    def __init__(self, name: str):
        self.name = name
        self.bodies: dict[str, Body] = {}
        self.joints: dict[str, Joint] = {}
        self.loads: dict[str, Load] = {}
        self.markers: dict[str, Marker] = {}
        self.drives: dict[str, Drive] = {}
        self.couplings: dict[str, Item] = {}
        self.materials: dict[str, Material] = {}
        self.material_pairs: dict[str, MaterialPair] = {}
        self.scenery: dict[str, Scenery] = {}
        self.no_contacts: dict[str, NoContact] = {}
        self.instances: dict[str, Instance | Sealed] = {}

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
            raise ModelError(
                [
                    Problem(
                        repr(thing)[:60],
                        "is not a body, marker, joint, load, drive, coupling, material, scenery or instance",
                    )
                ]
            )
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
        flat = Flat(**{shelf: dict(getattr(self, shelf)) for shelf in SHELVES})
        for instance in self.instances.values():
            inner = instance.component.flatten()
            placement = Placement(instance.at, instance.rotation, instance.mirror)

            def rename(name: str, prefix: str = instance.name) -> str:
                return name if name == GROUND else f"{prefix}.{name}"

            for thing in inner.items():
                moved = thing.moved(placement).renamed(rename)
                getattr(flat, moved.shelf)[moved.name] = moved
        return flat

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._contents() == other._contents()

    __hash__ = None  # type: ignore[assignment]

    def _contents(self) -> tuple[Any, ...]:
        return self.name, *(getattr(self, shelf) for shelf in SHELVES), self.instances

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
    _: KW_ONLY
    at: Point = (0.0, 0.0, 0.0)
    """[m]"""
    rotation: Orientation = IDENTITY
    mirror: Axis | None = None
    """Normal of the mirror plane through the component's origin; mirrored first, then turned and moved."""


class Model(Component):
    """A mechanism as it stands: bodies and joints in world coordinates of the assembled pose, any order.

    Which joints form a tree and which close loops is Linkwork's business.
    """

    def __init__(self, name: str = "model", *, gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)):
        super().__init__(name)
        self.gravity = gravity

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

    def _contents(self) -> tuple[Any, ...]:
        return *super()._contents(), self.gravity
