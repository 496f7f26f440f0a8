"""Logic: outputs are 1 for true and 0 for false; inputs are true from 0.5 on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, replace
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from ...model.block import ALIKE, OUT, Block, FactWire, Input, LikeWire, Port, other_wire
from ...model.errors import nearest
from ...model.item import Flag, Name, NonNegative, Positive, item

_TRUTH = (Port(OUT, "1"),)


@item
class _Fact(Block):
    """A block whose output is true or false."""

    def ports(self) -> tuple[Port, ...]:
        return _TRUTH


@item
class Compare(_Fact):
    """Whether its input is less or more than another. The moment when that changes is located as an event."""

    kind = "compare"

    input: LikeWire
    """What stands on the left."""
    relation: Literal["<", "<=", ">", ">="]
    """How they should be."""
    other: LikeWire
    """What stands on the right."""


@item
class And(_Fact):
    """Whether all of its inputs are true."""

    kind = "and"

    inputs: Annotated[tuple[FactWire, ...], Field(min_length=1, max_length=64)]
    """What has to be true; a minus before a name stands for not."""


@item
class Or(_Fact):
    """Whether any of its inputs is true."""

    kind = "or"

    inputs: Annotated[tuple[FactWire, ...], Field(min_length=1, max_length=64)]
    """What may be true; a minus before a name stands for not."""


@item
class Not(_Fact):
    """Whether its input is false."""

    kind = "not"

    input: FactWire
    """What should be false."""


@item
class FlipFlop(_Fact):
    """Remembers: true from when `set` is true until `reset` is; `reset` is stronger.

    It changes between steps, at events and at instants of samples, never within a step.
    """

    kind = "flip_flop"

    set: FactWire
    """What makes it true."""
    reset: FactWire
    """What makes it false."""
    _: KW_ONLY
    begins_on: Flag = False
    """True: it is true at the start."""


@item
class Switch(Block):
    """One of two inputs: `input` while `when` is true, else `other`."""

    kind = "switch"

    when: FactWire
    """What decides."""
    input: LikeWire
    """What comes out while that is true."""
    other: LikeWire
    """What comes out while it is false."""

    def ports(self) -> tuple[Port, ...]:
        return (Port(OUT, ALIKE),)


@item
class Transition:
    """A way from one state of a machine to another."""

    source: str
    """The state that it leaves; * for any."""
    target: str
    """The state that it leads to."""
    when: FactWire
    """What has to be true, at an instant; a minus before a name stands for not."""
    after: NonNegative = 0.0
    """How long the machine must have been in its state [s]."""


@item
class StateMachine(Block):
    """Is in one of several states, and goes over to another at instants `sample_time` apart.

    At each instant it takes the first transition, in their order, that leaves its state and whose `when` is true.
    Outputs: `state`, the number of the state from 0, and one for each state by its name, 1 while it is in it;
    `elapsed`, how long it has been in its state, as of the last instant [s].
    """

    kind = "state_machine"

    states: Annotated[tuple[Name, ...], Field(min_length=1, max_length=64)]
    """Names of the states; it begins in the first."""
    transitions: Annotated[tuple[Transition, ...], Field(max_length=256)]
    """How it goes from state to state."""
    sample_time: Positive
    """Time between instants [s]."""

    def ports(self) -> tuple[Port, ...]:
        return (Port("state", "1"), *(Port(name, "1") for name in self.states), Port("elapsed", "s"))

    def inputs_now(self) -> tuple[Input, ...]:
        return tuple(
            Input(f"{way.source} > {way.target}", ("transitions", i, "when"), way.when, "1")
            for i, way in enumerate(self.transitions)
        )

    def rewired(self, rename: Callable[[str], str]) -> dict[str, Any]:
        ways = [replace(way, when=other_wire(way.when, rename)) for way in self.transitions]
        return {"transitions": tuple(ways)}

    @model_validator(mode="after")
    def _known(self) -> Self:
        if len({*self.states, "state", "elapsed"}) != len(self.states) + 2:
            raise ValueError("names of states must differ, and be neither 'state' nor 'elapsed'")
        for transition in self.transitions:
            for name in (transition.source, transition.target):
                if name not in self.states and (name != "*" or name is transition.target):
                    raise ValueError(f"there is no state '{name}'{nearest(name, self.states)}")
        return self


LOGIC = (Compare, And, Or, Not, FlipFlop, Switch, StateMachine)
