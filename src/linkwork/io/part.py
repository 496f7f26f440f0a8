"""What has been made of a definition in a model file, with the names that others may refer to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ..model import Component
from ..model.component import past_ports
from ..model.item import Refers
from ..model.sealed import Sealed
from .entry import Entry


@dataclass
class Part:
    """A component made from a definition. Names count even where their items are wrong."""

    component: Component
    names: dict[Refers, set[str]]
    inner: dict[str, Part | None] = field(default_factory=dict)
    """Parts of its instances; None where the component is wrong."""
    sealed: dict[str, Sealed] = field(default_factory=dict)
    """Instances whose parts are sealed."""
    blocks: dict[str, Entry] = field(default_factory=dict)
    """Blocks of its control diagram as they are written."""
    placed: dict[str, Entry] = field(default_factory=dict)
    """Its instances as they are written."""
    items: int = 0
    """Number of items, those of instances included."""

    def knows(self, what: Refers, name: str) -> bool:
        """Whether a name, dotted or not, leads to an item, or into a component that is wrong itself."""
        if name in self.names[what]:
            return True
        head, _, tail = name.partition(".")
        if not tail or head not in self.inner:
            return False
        inner = self.inner[head]
        return inner is None or inner.knows(what, tail)

    def known(self, what: Refers) -> Iterator[str]:
        """All names of a kind."""
        yield from self.names[what]
        for name, part in self.inner.items():
            if part:
                yield from (f"{name}.{inner}" for inner in part.known(what))

    def place_of(self, block: str, path: tuple[str | int, ...]) -> tuple[Entry, tuple[str | int, ...]]:
        """Where a block of the diagram, or what it takes, is written: the nearest entry and the way from there."""
        head, _, tail = block.partition(".")
        if not tail:
            return (self.blocks.get(head) or self.placed[head]), path
        inner, instance = self.inner.get(head), self.placed[head]
        told = instance.get("inputs")
        if told is not None and told.get(tail) is not None and path[:1] == ("input",):
            return instance, ("inputs", tail)
        if inner is None or (
            path[:1] == ("input",) and tail in inner.blocks and not inner.blocks[tail].get("input")
        ):
            return instance, ()
        return inner.place_of(tail, path)

    def past_ports(self, body: str) -> str:
        """What is wrong with attaching to a body from here: it is inside a component and none of its ports."""
        part: Part | None = self
        path, _, inside = body.partition(".")
        head = path
        while inside and part and (part := part.inner.get(head)):
            ports = part.component.ports
            if ports is not None and inside not in ports:
                return past_ports(body, path, [f"{path}.{port}" for port in ports])
            head, _, inside = inside.partition(".")
            path = f"{path}.{head}"
        return ""
