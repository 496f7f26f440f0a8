"""A mechanism divided among components, with the joints and elements between them in the model above."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any

from ..model import Body, Component, Model
from ..model.item import GROUND, Item

_ENDS = ("a", "b", "body", "joint")
"""Fields of items that name bodies or joints."""


def divide(model: Model, things: Iterable[Item], parts: int, part_of: Callable[[str], int]) -> None:
    """Put bodies, and what is between those of one part, into components `part0`, `part1` ...; the rest into the model.

    `part_of` tells the part of a body by its name.
    """
    components = [Component(f"kind{k}") for k in range(parts)]
    home: dict[str, int] = {}  # of bodies and joints
    above: list[Item] = []
    for thing in things:
        if isinstance(thing, Body):
            home[thing.name] = part_of(thing.name)
            components[home[thing.name]].add(thing)
            continue
        homes = {home.get(name, -1) for name in _named(thing).values() if name != GROUND}
        if len(homes) == 1 and -1 not in homes:
            (home[thing.name],) = homes
            components[home[thing.name]].add(thing)
        else:
            above.append(thing)
    for k, component in enumerate(components):
        if k in home.values():
            model.add(component.instance(f"part{k}"))
    for thing in above:
        full = {field: f"part{home[name]}.{name}" for field, name in _named(thing).items() if name in home}
        model.add(dataclasses.replace(thing, **full))  # type: ignore[type-var]


def _named(thing: Any) -> dict[str, str]:
    """Fields that name bodies or joints, and whom."""
    return {field: name for field in _ENDS if isinstance(name := getattr(thing, field, None), str)}
