"""Mathematics: sums, products, formulas, vectors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from ...model.block import ALIKE, OUT, AnyWire, Block, Input, LikeWire, Port
from ...model.item import Number, item
from ..formula import names_in, parse, renamed

_Several = Annotated[tuple[LikeWire, ...], Field(min_length=1, max_length=64)]


@item
class Sum(Block):
    """The sum of its inputs; a minus before a name takes it negatively. All have one unit."""

    kind = "sum"

    inputs: _Several
    """What is added, such as [wish, -pivot.angle]."""

    def ports(self) -> tuple[Port, ...]:
        return (Port(OUT, ALIKE),)


@item
class Product(Block):
    """The product of its inputs, divided by others."""

    kind = "product"

    inputs: Annotated[tuple[AnyWire, ...], Field(min_length=1, max_length=64)]
    """What is multiplied."""
    _: KW_ONLY
    over: tuple[AnyWire, ...] = ()
    """What the product is divided by."""
    unit: str | None = None
    """Unit of the output; by default any."""

    def ports(self) -> tuple[Port, ...]:
        return (Port(OUT, self.unit),)


@item
class Gain(Block):
    """offset + gain · input."""

    kind = "gain"

    input: AnyWire
    """What is multiplied."""
    gain: Number = 1.0
    """Its factor [unit of the output per unit of the input]."""
    _: KW_ONLY
    offset: Number = 0.0
    """What is added to it [of the unit of the output]."""
    unit: str | None = None
    """Unit of the output; by default any."""

    def ports(self) -> tuple[Port, ...]:
        return (Port(OUT, self.unit),)


def _readable(text: str) -> str:
    parse(text)
    return text


@item
class Formula(Block):
    """A formula of outputs and signals: `2*sin(pivot.angle) + stick.x`.

    It may have + - * / **, comparisons, and, or, not, `a if b else c`, numbers, pi, t (the time [s]) and the functions
    sin, cos, tan, asin, acos, atan, atan2, sqrt, exp, log, abs, sign, hypot, min, max. True is 1, false 0.
    """

    kind = "formula"

    formula: Annotated[str, Field(strict=True, max_length=2000), AfterValidator(_readable)]
    """The formula; names are those of outputs of blocks and signals of the model."""
    _: KW_ONLY
    unit: str | None = None
    """Unit of the output; by default any."""

    def ports(self) -> tuple[Port, ...]:
        return (Port(OUT, self.unit),)

    def inputs_now(self) -> tuple[Input, ...]:
        return tuple(Input(name, ("formula",), name, None) for name in names_in(self.formula))

    def rewired(self, rename: Callable[[str], str]) -> dict[str, Any]:
        return {"formula": renamed(self.formula, rename)}


@item
class Minimum(Block):
    """The least of its inputs."""

    kind = "minimum"

    inputs: _Several
    """What is compared; all have one unit."""

    def ports(self) -> tuple[Port, ...]:
        return (Port(OUT, ALIKE),)


@item
class Maximum(Block):
    """The largest of its inputs."""

    kind = "maximum"

    inputs: _Several
    """What is compared; all have one unit."""

    def ports(self) -> tuple[Port, ...]:
        return (Port(OUT, ALIKE),)


@item
class Norm(Block):
    """Length of a vector: the root of the sum of squares of its inputs."""

    kind = "norm"

    inputs: _Several
    """Components of the vector; all have one unit."""

    def ports(self) -> tuple[Port, ...]:
        return (Port(OUT, ALIKE),)


_Triple = Annotated[tuple[AnyWire, ...], Field(min_length=3, max_length=3)]


@item
class Dot(Block):
    """Scalar product of two vectors."""

    kind = "dot"

    a: _Triple
    """Components of one vector."""
    b: _Triple
    """Components of the other one."""

    def ports(self) -> tuple[Port, ...]:
        return (Port(),)


@item
class Cross(Block):
    """Vector product a × b. Outputs: `x`, `y`, `z`."""

    kind = "cross"

    a: _Triple
    """Components of the first vector."""
    b: _Triple
    """Components of the second vector."""

    def ports(self) -> tuple[Port, ...]:
        return Port("x"), Port("y"), Port("z")


MATHEMATICS = (Sum, Product, Gain, Formula, Minimum, Maximum, Norm, Dot, Cross)
