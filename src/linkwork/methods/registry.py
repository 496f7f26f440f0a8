"""The table of methods, and how one is chosen for a model from a name or an object with options.

To add a method: its own file with options (a subclass of `Options`) and the `Method` that they build, an entry here,
and a column in `capabilities`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..compile.compiler import Compiled
from ..compile.system import System
from ..mechanism.softness import softness
from ..model.errors import LinkworkError, UnsupportedError, nearest
from .capabilities import CONTACT, LACKS, STIFF_SPRINGS, called, require
from .components import Components
from .direct import Direct
from .features import features
from .implicit import Hybrid, Topological
from .impulses import Impulses
from .natural import Global
from .options import ADAPTIVE, GENERALIZED, MAXIMAL, Options, option_names
from .tree import Tree


@dataclass(frozen=True)
class Way:
    """A method with its solver: what it is called and made of."""

    method: str
    solver: str | None
    """None where there is no choice."""
    options: type[Options]
    coordinates: str
    constraints: str
    """How they are solved."""
    steps: str
    fixed: Mapping[str, Any] = dataclasses.field(default_factory=dict, hash=False)
    """Options that the name of the method implies."""

    @property
    def name(self) -> str:
        """As tables and selectors have it."""
        return self.method if self.solver is None else f"{self.method}, {self.solver}"

    @property
    def text(self) -> str:
        """What it is, in a line."""
        return self.options.text


_RELATIVE, _FLOATING = "relative, along a spanning tree", "of every body, floating"
_GENERALIZED, _MAXIMAL = {"coordinates": GENERALIZED}, {"coordinates": MAXIMAL}

WAYS = (
    Way("tree", None, Tree, _RELATIVE, "none", "explicit"),
    Way("simgc", "direct", Direct, _RELATIVE, "direct, sparse", "explicit, impulses at events", _GENERALIZED),
    Way("simgc", "impulses", Impulses, _RELATIVE, "sequential impulses", "semi-implicit", _GENERALIZED),
    Way("simmc", "direct", Direct, _FLOATING, "direct, sparse", "explicit, impulses at events", _MAXIMAL),
    Way("simmc", "impulses", Impulses, _FLOATING, "sequential impulses", "semi-implicit", _MAXIMAL),
    Way("hybrid", None, Hybrid, _RELATIVE, "augmented Lagrangian", "implicit"),
    Way("global", None, Global, "natural: points and vectors", "augmented Lagrangian", "implicit"),
    Way("topological", None, Topological, "relative, independent ones", "eliminated", "implicit"),
    Way("components", None, Components, _FLOATING, "direct, by subsystems", "explicit"),
)
"""All methods, in the order in which they are offered."""

_USUAL = ("tree", "simgc, direct")
"""Who is asked, in this order, if no method is named."""


_STIFFENING = ("springs in joints", "springs", "bushings", "line functions")
"""Features by which steps may be too long."""


def methods() -> tuple[str, ...]:
    """Names of all methods."""
    return tuple(dict.fromkeys(way.method for way in WAYS))


def solvers() -> tuple[str, ...]:
    """Names of all solvers that can be chosen."""
    return tuple(dict.fromkeys(way.solver for way in WAYS if way.solver is not None))


def ways_of(*, method: str | None = None, solver: str | None = None) -> list[Way]:
    """Those of a method, or with a solver."""
    return [way for way in WAYS if method in (None, way.method) and (solver is None or way.solver == solver)]


def options_for(
    model: Compiled | System,
    method: str | Options | None,
    solver: str | Options | None,
    given: Mapping[str, Any],
    dt: float,
) -> Options:
    """The options of the method that is meant, with all that they leave open chosen for the model and steps of dt [s].

    `given` are options by name, None for what is left open. Raises if something does not go together, or with the
    model.
    """
    given = {name: value for name, value in given.items() if value is not None}
    options = _as_object(method, solver, given)
    if options is None:
        assert not isinstance(method, Options)
        assert not isinstance(solver, Options)
        adaptive = "tolerance" in given or given.get("integrator") == ADAPTIVE
        way = way_for(model, method, solver, None if adaptive else dt)
        _refuse_foreign(way, given)
        options = way.options(**way.fixed, **given)
    if not isinstance(model, Compiled):
        return options.settled(False)
    require([options.way], model.flat, model.spanning)
    touching = bool(features(model.flat, [CONTACT]))
    if not touching:
        _refuse_contact_options(options)
    return options.settled(touching)


def way_for(model: Compiled | System, method: str | None, solver: str | None, dt: float | None) -> Way:
    """The way that names mean; if they leave it open, the usual one that can do the model in steps of dt [s].

    None for steps that are as small as they need to be.
    """
    _one_of("method", method, methods())
    _one_of("solver", solver, solvers())
    if method is None and solver is None:
        return _usual_way(model, dt)
    found = ways_of(method=method or "simgc", solver=solver)
    if not found:
        own = ways_of(method=method)[0]
        what = "no constraints to solve" if own.constraints == "none" else "a solver of its own"
        others = _listed(dict.fromkeys(way.method for way in ways_of(solver=solver)))
        raise UnsupportedError(f"the method '{method}' has {what}; solver belongs to {others}")
    return found[0]


def usual_ways(model: Compiled) -> list[str]:
    """Names of the ways that a model may run by if no method is named: which of them may depend on the step."""
    possible = [name for name in _USUAL[:-1] if not features(model.flat, LACKS[name], model.spanning)]
    return possible if possible and not features(model.flat, _STIFFENING) else [*possible, _USUAL[-1]]


def _usual_way(model: Compiled | System, dt: float | None) -> Way:
    ways = [next(way for way in WAYS if way.name == name) for name in _USUAL]
    if not isinstance(model, Compiled):
        return ways[0]
    for way in ways[:-1]:
        if not features(model.flat, LACKS[way.name], model.spanning):
            stiff = STIFF_SPRINGS in LACKS[way.name] and dt is not None and _too_stiff(model, dt)
            return ways[-1] if stiff else way
    return ways[-1]


def _too_stiff(model: Compiled, dt: float) -> bool:
    """Whether explicit steps of dt [s] would diverge: for springs, dampers and functions along a line."""
    if not features(model.flat, _STIFFENING):
        return False
    return dt > softness(model.rows, model.rows.q0).limit


def _as_object(method: Any, solver: Any, given: Mapping[str, Any]) -> Options | None:
    """The object with options that was given as method or solver, if it was."""
    for name, options, other in (("method", method, solver), ("solver", solver, method)):
        if isinstance(options, Options):
            beside = [*([] if other is None else ["solver" if name == "method" else "method"]), *given]
            if beside:
                kind = type(options).__name__
                raise LinkworkError(
                    f"{', '.join(beside)}: beside {name}={kind}(...) only dt is given; write them into {kind}(...)"
                )
            return options
    return None


def _refuse_foreign(way: Way, given: Mapping[str, Any]) -> None:
    """Raise for options that a method does not have, with who has them."""
    known = [name for name in option_names(way.options) if name not in way.fixed]
    foreign = [name for name in given if name not in known]
    if foreign:
        told = "; ".join(f"{name} belongs to {_owners(name)}" for name in foreign)
        raise UnsupportedError(f"{', '.join(foreign)}: no option of {called(way.name)}; {told}")


def _refuse_contact_options(options: Options) -> None:
    """Raise for options that are about contact alone, in a model where nothing may touch."""
    given = [name for name in option_names(type(options), contact=True) if getattr(options, name) is not None]
    if given:
        told = [
            f"{name} without contact belongs to {who}"
            for name in given
            if (who := _owners(name, contact=False))
        ]
        raise UnsupportedError(
            f"{', '.join(given)}: about contact in {called(options.way)}, and nothing in this model may touch"
            + "".join(f"; {text}" for text in told)
        )


def _owners(name: str, *, contact: bool | None = None) -> str:
    """Who has an option; about contact alone, or not, if that is asked."""
    return _described(way for way in WAYS if name in option_names(way.options, contact=contact))


def _described(ways: Iterable[Way]) -> str:
    """Methods in words, those of a solver together."""
    found = list(ways)
    texts = []
    for solver in dict.fromkeys(way.solver for way in found):
        names = _listed(way.method for way in found if way.solver == solver)
        texts.append(names if solver is None else f"{names} with solver '{solver}'")
    return ", ".join(texts)


def _listed(names: Iterable[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def _one_of(what: str, name: Any, known: tuple[str, ...]) -> None:
    if name is not None and name not in known:
        raise LinkworkError(f"there is no {what} '{name}'{nearest(str(name), known)}")
