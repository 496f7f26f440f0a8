"""A component stripped of all that is not needed to move it: what a sealed file holds."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

from ..compile.colliders import may_touch
from ..io.kinds import file_types
from ..methods.capabilities import SWITCHING
from ..methods.features import features as found_in
from ..model import Body, Component, Flat, Model
from ..model.errors import ModelError, Problem, nearest
from ..model.item import GROUND, Item, Refers
from ..model.sealed import Port

_KEPT = {Refers.BODY: "bodies", Refers.JOINT: "joints", Refers.MARKER: "markers"}
_MOVING = ("bodies", "markers", "joints", "loads", "drives", "couplings")


def conceal(component: Component, ports: Sequence[str]) -> Model:
    """The component without hierarchy, pictures and names; its ports are the bodies p0, p1 … in their order."""
    flat = component.flatten()
    problems = [*flat.problems(), *_problems(component, flat, ports)]
    if problems:
        raise ModelError(problems)
    names = {
        shelf: {name: f"{shelf[0]}{i}" for i, name in enumerate(getattr(flat, shelf))} for shelf in _MOVING
    }
    names["bodies"] |= {name: f"p{i}" for i, name in enumerate(ports)}
    made = Model("sealed")
    for shelf in _MOVING:
        for thing in getattr(flat, shelf).values():
            targets = {
                field: target if target == GROUND else names[_KEPT[what]][target]
                for field, what, target in thing.references()
                if what in _KEPT
            }
            bare = _bare(thing) if isinstance(thing, Body) else thing
            made.add(dataclasses.replace(bare, name=names[shelf][thing.name], **targets))
    return made


def reveal(model: Model, name: str, ports: Sequence[str]) -> Component:
    """What `conceal` made, with the names of ports again."""
    named = {f"p{i}": port for i, port in enumerate(ports)}
    made = Component(name)
    for thing in model.flatten().items():
        targets = {
            field: named.get(target, target)
            for field, what, target in thing.references()
            if what is Refers.BODY
        }
        called = named.get(thing.name, thing.name) if isinstance(thing, Body) else thing.name
        # Not by `add`: the port of a component inside has a dotted name.
        getattr(made, thing.shelf)[called] = dataclasses.replace(thing, name=called, **targets)
    return made


def features(flat: Flat) -> tuple[str, ...]:
    """What in a component some methods lack, so that they can refuse it before it runs."""
    return tuple(name for name, among in _TOLD.items() if found_in(flat, among))


_TOLD = {
    "limits": ["limits"],
    "friction": ["dry friction"],
    "switching": [SWITCHING],
    "drives": ["torque sources", "velocity servos", "position servos", "DC motors", "motors by their map"],
    "couplings": ["repeaters", "backlash"],
}
"""Features as headers of sealed files name them, and what they are in the table of capabilities."""


def _bare(body: Body) -> Body:
    """A body by its numbers alone."""
    mass, com, inertia = body.mass_properties
    x, y, z = map(float, com)
    moments = tuple(float(inertia[i, j]) for i, j in _ENTRIES)
    return dataclasses.replace(
        body, mass=mass, com=(x, y, z), inertia=moments, trust_inertia=True,
        density=None, shapes=(), material=None, group=None, color=None,
    )  # fmt: skip


_ENTRIES = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))


def _problems(component: Component, flat: Flat, ports: Sequence[str]) -> Iterator[Problem]:
    """Why a component cannot be sealed."""
    where = f"component '{component.name}'"
    if not ports:
        yield Problem(where, "has no ports: name the bodies to which others may be joined (--ports arm,hub)")
    for i, port in enumerate(ports):
        if port not in flat.bodies:
            yield Problem(f"port '{port}'", f"there is no body '{port}'{nearest(port, flat.bodies)}")
        elif port in ports[:i]:
            yield Problem(f"port '{port}'", "is named twice")
    for text in may_touch(flat):
        yield Problem(
            where, f"{text}: contact needs shapes, which a sealed file does not hold; take out the material"
        )
    for body in flat.bodies.values():
        if isinstance(body, Port):
            yield Problem(where, f"'{body.owner}' in it is sealed itself; join the two in a model instead")
    for shelf in ("loads", "drives", "couplings"):
        things: dict[str, Item] = getattr(flat, shelf)
        for thing in things.values():
            kinds: Any = file_types(shelf)
            if type(thing) is not kinds.get(thing.kind):
                yield Problem(
                    f"{thing.kind} '{thing.name}'", "calls a function, which a sealed file cannot hold"
                )
