"""Sealed components in a model: their ports are seen, their inside is not."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import KW_ONLY
from functools import cached_property
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from .address import is_address, parse_address
from .body import Body
from .component import Component
from .errors import LinkworkError, UnsupportedError
from .header import Header
from .item import Axis, Item, Orientation, Point, item
from .providers import provider
from .rotation import IDENTITY
from .shapes import MassProperties


def _full(source: str) -> str:
    return source if is_address(source) else os.path.abspath(source)


@item
class Port(Body):
    """A body of a sealed component that others may be joined to. What it weighs is known inside only."""

    kind = "port"

    _: KW_ONLY
    port: str
    """Its name in the component."""

    @model_validator(mode="after")
    def _has_mass(self) -> Self:
        return self  # it has, but who places it need not know

    @property
    def owner(self) -> str:
        """Name of the sealed component."""
        return self.name.removesuffix(f".{self.port}")

    @cached_property
    def mass_properties(self) -> MassProperties:
        raise UnsupportedError(refusal(self.owner))


@item
class Sealed(Item):
    """A sealed component placed in a model: a file, or the address of whoever serves it.

    Only its ports can be seen: they are bodies that joints and loads outside may name.
    """

    kind = "sealed"
    shelf = "instances"

    sealed: Annotated[str, Field(strict=True, min_length=1), AfterValidator(_full)]
    """A file made by `linkwork seal`, or tcp://host:port."""
    _: KW_ONLY
    at: Point = (0.0, 0.0, 0.0)
    """Where its origin stands in the axes of whoever holds it [m]."""
    rotation: Orientation = IDENTITY
    """How it is turned against the axes of whoever holds it."""
    mirror: Axis | None = None
    """Normal of the mirror plane through the component's origin, any length but zero [1]; mirrored first, then
    turned and moved."""

    @model_validator(mode="after")
    def _readable(self) -> Self:
        try:
            if self.remote:
                parse_address(self.sealed)
            else:
                _ = self.header
        except LinkworkError as error:
            raise ValueError(str(error)) from None
        return self

    @property
    def remote(self) -> bool:
        """Whether another process serves it, at an address."""
        return is_address(self.sealed)

    @cached_property
    def header(self) -> Header:
        """What it tells of itself. That of an address is asked for when it is first needed."""
        header: Header = provider("header of an address" if self.remote else "header of a file")(self.sealed)
        return header

    @cached_property
    def component(self) -> Component:
        """Its ports as bodies, in its own axes."""
        made = Component(self.header.name, ports=tuple(port.name for port in self.header.ports))
        for port in self.header.ports:  # not by `add`: the port of a component inside has a dotted name
            made.bodies[port.name] = Port(port.name, at=port.at, rotation=port.rotation, port=port.name)
        return made


def refusal(owner: str) -> str:
    """Why a method cannot take a model with a sealed component."""
    return f"component '{owner}' is sealed: only method 'components' can move it"


def sealed_parts(component: Component) -> Iterator[tuple[str, Sealed]]:
    """The sealed components in a component and in all inside it, by their dotted names."""
    for name, instance in component.instances.items():
        if isinstance(instance, Sealed):
            yield name, instance
        else:
            yield from ((f"{name}.{inner}", part) for inner, part in sealed_parts(instance.component))
