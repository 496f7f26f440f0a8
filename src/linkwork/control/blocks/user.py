"""Blocks of the user's own, through Python only: a model file never runs code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY
from typing import Annotated, Any

from pydantic import Field

from ...model.block import AnyWire, Block, Port
from ...model.item import Name, Number, Positive, item

_Names = Annotated[tuple[Name, ...], Field(min_length=1, max_length=64)]
_Wires = Annotated[tuple[AnyWire, ...], Field(max_length=64)]


@item
class CompiledFunction(Block):
    """A function of yours, compiled by Numba and called at every evaluation.

    `function(t, x, v, parameters, out)`, as of `BodyFunction`: t is the time [s], x holds the inputs, v nothing, and it
    writes its outputs to `out`. It must keep no state: an integrator calls it several times a step.
    """

    kind = "compiled_function"

    function: Callable[..., None]
    """Your function, compiled when the model is."""
    inputs: _Wires = ()
    """What it takes."""
    _: KW_ONLY
    parameters: tuple[Number, ...] = ()
    """Numbers that the function gets [in units of your own]."""
    outputs: _Names = ("out",)
    """Names of its outputs."""

    def ports(self) -> tuple[Port, ...]:
        return tuple(Port(name) for name in self.outputs)


@item
class PythonFunction(Block):
    """A function of yours in plain Python, called at instants `sample_time` apart, its outputs held between them.

    `function(t, *inputs)` returns a number, or as many numbers as it has outputs. Steps end at its instants. What it
    remembers is its own business: saved states do not hold it.
    """

    kind = "python_function"

    function: Callable[..., Any]
    """Your function."""
    sample_time: Positive
    """Time between its calls [s]."""
    inputs: _Wires = ()
    """What it takes."""
    _: KW_ONLY
    outputs: _Names = ("out",)
    """Names of its outputs."""

    def ports(self) -> tuple[Port, ...]:
        return tuple(Port(name) for name in self.outputs)


USER = (CompiledFunction, PythonFunction)
