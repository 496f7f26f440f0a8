"""Elements of an operator's panel: levers, buttons and knobs, whose values are outputs, and lamps and gauges, which
show inputs. Keys and gamepads act on them as hands do."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Annotated, Self

from pydantic import Field, model_validator

from ...model.block import ALIKE, OUT, AnyWire, Block, FactWire, LikeWire, Port
from ...model.item import Color, Flag, Number, PanelGroupName, Positive, item
from ...model.panel import Cell

Key = Annotated[str, Field(strict=True, min_length=1, max_length=20)]
"""A key as browsers call it in `KeyboardEvent.code`: KeyW, ArrowUp, Space, Digit1."""
Control = Annotated[int, Field(strict=True, ge=0, le=31)]
"""Number of an axis or a button of a gamepad, in the standard layout of the Gamepad API."""


@item
class Element(Block):
    """An element of the operator's panel."""

    _: KW_ONLY
    label: str | None = None
    """What stands at it; by default its name."""
    group: PanelGroupName | None = None
    """The group of the panel in which it stands; by default a group without a frame."""
    cell: Cell | None = None
    """Column and row in its group, from 0; by default after the one before."""
    hint: str = ""
    """One sentence for the operator: what it does."""

    @property
    def channels(self) -> tuple[str, ...]:
        """Outputs that an operator sets; none of an element that only shows."""
        return tuple(port.name for port in self.ports())

    def span(self) -> tuple[float, float]:
        """Lowest and highest value of its outputs."""
        return 0.0, 1.0

    def rest(self) -> float:
        """Value at the start."""
        return 0.0

    @property
    def springs(self) -> bool:
        """Whether it goes back to `rest` when it is let go."""
        return False


@item
class _Ranged(Element):
    """An element with a range."""

    _: KW_ONLY
    low: Number = -1.0
    """Lowest value [of the unit that it states]."""
    high: Number = 1.0
    """Highest value [of the unit that it states]."""
    start: Number = 0.0
    """Value at the start, and where it springs back to [of the unit that it states]."""
    spring_back: Flag = True
    """True: goes back to `start` when it is let go."""
    unit: str | None = None
    """Unit of the output, such as rad/s; by default any."""
    dead_zone: Annotated[Number, Field(ge=0, lt=1)] = 0.05
    """Share of a gamepad's way about its middle that counts as nothing [1]."""
    travel_time: Positive = 0.3
    """Time that a held key takes from one end to the other [s]."""

    def ports(self) -> tuple[Port, ...]:
        return (Port(OUT, self.unit),)

    def span(self) -> tuple[float, float]:
        return self.low, self.high

    def rest(self) -> float:
        return self.start

    @property
    def springs(self) -> bool:
        return self.spring_back

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not self.low < self.high:
            raise ValueError(f"must have a low below its high, not {self.low:g} and {self.high:g}")
        if not self.low <= self.start <= self.high:
            raise ValueError(f"starts at {self.start:g}, outside its range {self.low:g} to {self.high:g}")
        return self


@item
class Lever(_Ranged):
    """A lever that goes up and down, or to the sides. Output: `out`."""

    kind = "lever"

    _: KW_ONLY
    sideways: Flag = False
    """True: lies across, and goes to the right for more."""
    keys: tuple[Key, Key] | None = None
    """Keys that push it to lower and to higher values while they are held, as browsers call them: KeyS, KeyW."""
    axis: Control | None = None
    """Axis of a gamepad that moves it; pushed forward is low, as gamepads count."""
    inverted: Flag = False
    """True: the gamepad's axis counts the other way round."""


@item
class Joystick(_Ranged):
    """A joystick with two axes, both of the same range. Outputs: `x`, to the right, and `y`, away from the operator."""

    kind = "joystick"

    _: KW_ONLY
    keys: tuple[Key, Key, Key, Key] | None = None
    """Keys for left, right, towards the operator and away while they are held: KeyA, KeyD, KeyS, KeyW."""
    axes: tuple[Control, Control] | None = None
    """Axes of a gamepad for x and y; a gamepad's axis that grows towards the operator is turned round."""

    def ports(self) -> tuple[Port, ...]:
        return Port("x", self.unit), Port("y", self.unit)


@item
class Knob(_Ranged):
    """A knob that stays where it is turned to. Output: `out`."""

    kind = "knob"

    _: KW_ONLY
    spring_back: Flag = False
    """True: goes back to `start` when it is let go."""
    keys: tuple[Key, Key] | None = None
    """Keys that turn it to lower and to higher values while they are held."""


@item
class _Switched(Element):
    """An element that is on or off: 1 or 0."""

    _: KW_ONLY
    key: Key | None = None
    """A key that acts as pressing it does, as browsers call it: Space."""
    button: Control | None = None
    """Button of a gamepad that acts as pressing it does."""

    def ports(self) -> tuple[Port, ...]:
        return (Port(OUT, "1"),)


@item
class Button(_Switched):
    """A button: its output `out` is 1 while it is pressed, else 0."""

    kind = "button"

    @property
    def springs(self) -> bool:
        return True


@item
class Toggle(_Switched):
    """A toggle: its output `out` changes between 0 and 1 when it is pressed."""

    kind = "toggle"

    _: KW_ONLY
    on: Flag = False
    """True: it is on at the start."""

    def rest(self) -> float:
        return float(self.on)


@item
class Selector(Element):
    """A choice of several. Output `out`: the number of the choice, from 0."""

    kind = "selector"

    choices: Annotated[tuple[str, ...], Field(min_length=2, max_length=24)]
    """What stands at its positions."""
    _: KW_ONLY
    chosen: Annotated[int, Field(strict=True, ge=0)] = 0
    """The choice at the start, from 0."""
    key: Key | None = None
    """A key that takes the next choice."""
    button: Control | None = None
    """Button of a gamepad that takes the next choice."""

    def ports(self) -> tuple[Port, ...]:
        return (Port(OUT, "1"),)

    def span(self) -> tuple[float, float]:
        return 0.0, float(len(self.choices) - 1)

    def rest(self) -> float:
        return float(self.chosen)

    @model_validator(mode="after")
    def _among(self) -> Self:
        if self.chosen >= len(self.choices):
            raise ValueError(f"has {len(self.choices)} choices, from 0 on; there is no choice {self.chosen}")
        return self


@item
class Lamp(Element):
    """A lamp: lit while its input is true (0.5 or more)."""

    kind = "lamp"

    input: FactWire
    """What it shows."""
    _: KW_ONLY
    color: Color = "#3fb950"
    """When it is lit."""


@item
class Gauge(Element):
    """A gauge with a pointer."""

    kind = "gauge"

    input: LikeWire
    """What it shows."""
    _: KW_ONLY
    low: Number = 0.0
    """Value at its lower end [of its input's unit times `factor`]."""
    high: Number = 1.0
    """Value at its upper end [of its input's unit times `factor`]."""
    factor: Number = 1.0
    """What is shown per unit of the input [of its own]."""
    unit: str | None = None
    """Unit of what is shown; by default that of its input."""

    def span(self) -> tuple[float, float]:
        return self.low, self.high

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not self.low < self.high:
            raise ValueError(f"must have a low below its high, not {self.low:g} and {self.high:g}")
        return self


@item
class Text(Element):
    """A text on the panel, with the value of its input if it has one."""

    kind = "text"

    text: str = ""
    """What is written; {} stands for the value of the input."""
    _: KW_ONLY
    input: AnyWire | None = None
    """What it shows."""
    digits: Annotated[int, Field(strict=True, ge=0, le=12)] = 2
    """Digits behind the point."""


OPERATED = (Lever, Joystick, Knob, Button, Toggle, Selector)
SHOWING = (Lamp, Gauge, Text)
ELEMENTS = (*OPERATED, *SHOWING)
__all__ = ["ALIKE", "ELEMENTS", "OPERATED", "SHOWING", "Button", "Element", "Gauge", "Joystick", "Knob", "Lamp",
           "Lever", "Selector", "Text", "Toggle"]  # fmt: skip
