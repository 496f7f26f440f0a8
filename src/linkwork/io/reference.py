"""The reference: every item that users write, field by field, from the docstrings of its class."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from ..model import Instance
from ..model.describe import FieldText, field_texts, summary
from ..model.errors import LinkworkError, nearest
from ..model.sealed import Sealed
from ..model.shapes import SHAPES
from ..model.signals import Sine, Table
from ..vehicle import AXLES, SUSPENSIONS, AntiRollBar, Axle, HubMotor, Rack, Track, Wheel
from ..vehicle.springs import SPRINGS
from .kinds import PLAIN, TYPED, all_types


class Entry(NamedTuple):
    """An item of the reference."""

    name: str
    """As model files call it: `hinge`."""
    section: str
    """Where it stands in a model file."""
    written: str
    """How it is begun in a model file and in Python."""
    cls: Any

    @property
    def about(self) -> str:
        """What it is."""
        return summary(self.cls)

    @property
    def fields(self) -> list[FieldText]:
        """What it has."""
        return field_texts(self.cls)


_HEAD = """# Reference: every item, field by field

Written by `linkwork items --markdown > docs/reference.md` from the docstrings that `help(Hinge)` shows;
`linkwork items hinge` prints one. The same texts are in the JSON schema (`linkwork schema`): editors show them.

All is SI: metres, kilograms, seconds, radians. Positions and axes of bodies, joints and loads are those of the
*assembled pose*, in world axes, of which z is up; shapes stand in the frame of their body. Units stand in brackets, [1]
for none; two of them, as in [N m, N], are for coordinates that turn and that slide. Quaternions are (w, x, y, z).
A wire, which an input of a block takes, is the name of a block, of one of its outputs or of a signal, a minus before
it or not, or a number, in the unit of what takes it.
In a model file a number may be an expression of parameters (`=L/2`), and `None` is `null`. Sections, parameters,
components and includes: [model-files.md](model-files.md).
"""


@cache
def entries() -> tuple[Entry, ...]:
    """All items, section by section."""
    return tuple(_entries())


def _entries() -> Iterator[Entry]:
    for shelf, cls in PLAIN.items():
        yield Entry(cls.kind, shelf, f"under `{shelf}`; `{cls.__name__}(...)`", cls)
    for shelf in TYPED:
        for kind, cls in all_types(shelf).items():
            in_file = "in Python only" if "function" in cls.__dataclass_fields__ else f"`type: {kind}`"
            yield Entry(kind, shelf, f"{in_file}; `{cls.__name__}(...)`", cls)
    yield Entry("instance", "instances", "`component: NAME`; `component.instance(...)`", Instance)
    yield Entry("sealed", "instances", "`sealed: FILE`; `Sealed(...)`", Sealed)
    yield Entry("wheel", "wheels", "under `components`, `wheel: {...}`; `Wheel(...)`", Wheel)
    yield Entry("axle", "wheels", "under `components`, `axle: {...}`; `Axle(...)`", Axle)
    yield Entry("track", "wheels", "under `components`, `track: {...}`; `Track(...)`", Track)
    yield Entry("rack", "wheels", "`steering: {...}` of an axle; `Rack(...)`", Rack)
    yield Entry("anti_roll_bar", "wheels", "`anti_roll: {...}` of an axle; `AntiRollBar(...)`", AntiRollBar)
    for tag, hung in (SUSPENSIONS | AXLES).items():
        yield Entry(tag, "wheels", f"`suspension: {{type: {tag}}}`; `{hung.__name__}(...)`", hung)
    for tag, spring in SPRINGS.items():
        yield Entry(tag, "wheels", f"`spring: {{type: {tag}}}`; `{spring.__name__}(...)`", spring)
    yield Entry("hub_motor", "wheels", "`drive: {...}` of a wheel; `HubMotor(...)`", HubMotor)
    for tag, cls in SHAPES.items():
        yield Entry(tag, "shapes", f"`shape: {tag}`; `{cls.__name__}(...)`", cls)
    for signal in (Sine, Table):
        yield Entry(signal.signal, "signals", f"`signal: {signal.signal}`; `{signal.__name__}(...)`", signal)


def find_entry(name: str) -> Entry:
    """An item by its name in files or in Python."""
    for entry in entries():
        if name in (entry.name, entry.cls.__name__):
            return entry
    raise LinkworkError(f"there is no item '{name}'{nearest(name, [entry.name for entry in entries()])}")


def reference() -> str:
    """All of it as a page."""
    parts, section = [_HEAD], ""
    for entry in entries():
        if entry.section != section:
            section = entry.section
            parts.append(f"\n## {section.replace('_', ' ').capitalize()}\n")
        parts.append(f"\n### {entry.name}\n{entry.about}\n\nWritten: {entry.written}.\n")
        parts.append("\n| field | type | default | meaning |\n|---|---|---|---|\n")
        parts += [
            f"| `{field.name}` | {field.type} | {field.default} | {_cell(field.meaning)} |\n"
            for field in entry.fields
        ]
    return "".join(parts)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
