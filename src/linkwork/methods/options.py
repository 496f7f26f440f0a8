"""Options of methods: one small immutable object each, checked when it is made.

`Direct(integrator="rk4")` and `method="simgc", integrator="rk4"` are the same to a `Simulation`. What is None is chosen
to suit the model.
"""

from __future__ import annotations

import dataclasses
import math
import numbers
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

from ..compile.compiler import Compiled
from ..model.errors import LinkworkError, UnsupportedError, nearest
from . import capabilities

if TYPE_CHECKING:
    from ..compile.system import System
    from .base import Method

DEFAULT_DT = 1e-3
DEFAULT_TOLERANCE = 1e-8
ADAPTIVE = "adaptive"
GENERALIZED, MAXIMAL = "generalized", "maximal"
_COORDINATES = {GENERALIZED: "simgc", MAXIMAL: "simmc"}


def option(default: Any, text: str, *, contact: bool = False) -> Any:
    """A field with what docs say of it; of contact alone, it is refused where nothing may touch."""
    return dataclasses.field(default=default, metadata={"text": text, "contact": contact})


@dataclass(frozen=True, kw_only=True)
class Options(ABC):
    """What all methods have."""

    integrators: ClassVar[tuple[str, ...]]
    """The first is the default."""
    text: ClassVar[str]
    """What the method is, in a line."""

    integrator: str | None = option(None, "How time is stepped; by default what suits the other options.")

    @property
    @abstractmethod
    def way(self) -> str:
        """The method's name in the registry."""

    def build(self, model: Compiled | System, dt: float) -> Method:
        """The method, for a model that it can do, with steps of dt [s]; options must be `settled`."""
        if not isinstance(model, Compiled):
            raise LinkworkError(
                f"{capabilities.called(self.way)} needs the model itself, not a compiled system"
            )
        return self._build(model, dt)

    @abstractmethod
    def _build(self, model: Compiled, dt: float) -> Method:
        """A method of these options for a model."""

    def settled(self, touching: bool) -> Self:
        """These options with what was left open chosen. `touching`: whether things in the model may touch."""
        return dataclasses.replace(self, integrator=self.integrator or self._usual())

    def _usual(self) -> str:
        if getattr(self, "tolerance", None) is not None and ADAPTIVE in self.integrators:
            return ADAPTIVE
        return self.integrators[0]

    def __post_init__(self) -> None:
        for name in option_names(type(self)):
            value = getattr(self, name)
            if value is not None and name in _CHECKS:
                _CHECKS[name](name, value)
        if self.integrator is not None:
            self._check_integrator(self.integrator)

    def _check_integrator(self, integrator: str) -> None:
        if integrator == ADAPTIVE:
            capabilities.refuse([self.way], {capabilities.ADAPTIVE: []})
        has_integrator(capabilities.called(self.way), integrator, self.integrators)
        keeps = getattr(self, "tolerance", None) is not None and ADAPTIVE in self.integrators
        if keeps and integrator != ADAPTIVE:
            raise UnsupportedError(
                f"integrator '{integrator}' takes fixed steps and cannot keep a tolerance; use 'adaptive'"
            )


def has_integrator(who: str, integrator: str, known: Sequence[str]) -> None:
    """Raise if an integrator is none of the known ones."""
    if integrator not in known:
        raise UnsupportedError(f"{who} has no integrator '{integrator}' (it has {', '.join(known)})")


def option_names(kind: type[Options], *, contact: bool | None = None) -> tuple[str, ...]:
    """Names of the options of a method; only those that are about contact alone, or not, if that is asked."""
    return tuple(
        field.name for field in dataclasses.fields(kind) if contact in (None, field.metadata["contact"])
    )


class Limits(NamedTuple):
    """When iterations of impulses end, and what a step removes of gaps."""

    epsilon: float
    """Change of impulses at which iterations end [N s]."""
    iterations: int
    """Their limit a step."""
    budget: float | None
    """Time that they may take a step [s], None for any."""
    erp: float
    """Share of a gap, or of a penetration beyond the slop, removed in a step."""


@dataclass(frozen=True, kw_only=True)
class RowOptions(Options):
    """What the direct solver and sequential impulses share: either coordinates, and contact."""

    solver: ClassVar[str]
    contact_integrators: ClassVar[tuple[str, ...]] = ("euler",)

    coordinates: str = option(
        GENERALIZED, "'generalized' (joint coordinates) or 'maximal' (bodies that float)."
    )
    budget: float | None = option(None, "Time that a step may take [s]; steps that take longer are told.")
    slop: float | None = option(None, "Penetration that is left alone [m]; 1e-5 by default.", contact=True)
    sleep: float | None = option(
        None, "What has been at rest for so long [s] is left alone until something touches it.", contact=True
    )

    @property
    def method(self) -> str:
        """The name of the method: that of its coordinates."""
        return _COORDINATES[self.coordinates]

    @property
    def way(self) -> str:
        return f"{self.method}, {self.solver}"

    @property
    @abstractmethod
    def limits(self) -> Limits:
        """Of steps by impulses, with what was left open chosen."""

    def settled(self, touching: bool) -> Self:
        if not touching:
            return super().settled(touching)
        keeps = getattr(self, "tolerance", None) is not None
        chosen = self.integrator or (ADAPTIVE if keeps else self.contact_integrators[0])
        has_integrator(f"{capabilities.called(self.way)} with contact", chosen, self.contact_integrators)
        return dataclasses.replace(self, integrator=chosen)


def _positive(name: str, value: Any) -> None:
    unit = {
        "budget": " of seconds",
        "sleep": " of seconds",
        "slop": " of metres",
        "residual": " of m/s²",
    }.get(name, "")
    if not (isinstance(value, numbers.Real) and math.isfinite(value) and float(value) > 0.0):
        raise LinkworkError(f"{name} must be a positive number{unit}, not {value!r}")


def _share(name: str, value: Any) -> None:
    if not (isinstance(value, numbers.Real) and 0.0 < float(value) <= 1.0):
        raise LinkworkError(f"{name} is a share of the gap: above 0 and at most 1, not {value!r}")


def _radius(name: str, value: Any) -> None:
    if not (isinstance(value, numbers.Real) and 0.0 <= float(value) <= 1.0):
        raise LinkworkError(f"{name} is a spectral radius: from 0 to 1, not {value!r}")


def _count(name: str, value: Any) -> None:
    if not (isinstance(value, numbers.Integral) and int(value) >= 1):
        raise LinkworkError(f"{name} must be at least 1, not {value!r}")


def _known_coordinates(name: str, value: Any) -> None:
    if value not in _COORDINATES:
        raise LinkworkError(f"there are no {name} '{value}'{nearest(str(value), _COORDINATES)}")


_CHECKS = {
    **dict.fromkeys(("tolerance", "epsilon", "budget", "slop", "sleep", "residual"), _positive),
    "erp": _share, "rho": _radius, "iterations": _count, "coordinates": _known_coordinates,
}  # fmt: skip
