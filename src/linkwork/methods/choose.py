"""Which method moves a model: settings, what they default to, and which of them go together."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from ..compile import Compiled
from ..contacts import may_touch
from ..errors import LinkworkError, UnsupportedError, nearest, need_positive
from ..model.sealed import refusal, sealed_parts
from ..providers import provider
from ..system import System
from . import direct, implicit, part, tree
from .base import Method
from .components import ComponentMethod
from .contact import ContactMethod
from .direct import DirectMethod
from .implicit import ImplicitMethod
from .impulses import ImpulseMethod
from .natural import GlobalMethod
from .part import Steps
from .rows import row_features
from .tree import TreeMethod

EXPLICIT, IMPLICIT = ("tree", "simgc", "simmc"), ("global", "hybrid", "topological")
COMPONENTS = ComponentMethod.name
METHODS = (*EXPLICIT, *IMPLICIT, COMPONENTS)
WHOLE = ("tree", *IMPLICIT, COMPONENTS)
"""Methods that need not be told how to solve: they have one way."""
SOLVERS = ("direct", "impulses")

DEFAULT_DT = 1e-3
DEFAULT_TOLERANCE = 1e-8
DEFAULT_EPSILON, DEFAULT_ITERATIONS, DEFAULT_ERP = 1e-6, 1000, 0.8
DEFAULT_SLOP, DEFAULT_SWEEPS = 1e-5, 100


@dataclass(frozen=True)
class Settings:
    """What a simulation is told about how to move; None for what suits the model. See `Simulation`."""

    method: str | None
    solver: str | None
    integrator: str | None
    dt: float
    tolerance: float | None
    epsilon: float | None
    iterations: int | None
    budget: float | None
    erp: float | None
    slop: float | None
    sleep: float | None
    rho: float | None

    def resolved(self, model: Compiled | System) -> Settings:
        """The same with method, solver and integrator chosen; raises if something does not go together."""
        _one_of("method", self.method, METHODS)
        _one_of("solver", self.solver, SOLVERS)
        for name in ("dt", "tolerance", "epsilon", "erp", "budget", "slop", "sleep"):
            if getattr(self, name) is not None:
                need_positive(name, getattr(self, name))
        if isinstance(model, Compiled) and self.method != "components":
            for owner, _ in sealed_parts(model.model):
                raise UnsupportedError(refusal(owner))
        method = self.method
        if method is None:
            rows = isinstance(model, Compiled) and (
                self.solver is not None or row_features(model.flat, model.spanning.cuts)
            )
            method = "simgc" if rows else "tree"
        if method in WHOLE and self.solver is not None:
            what = "has no constraints to solve" if method == "tree" else "has a solver of its own"
            raise UnsupportedError(f"the method '{method}' {what}; solver belongs to simgc and simmc")
        solver = None if method in WHOLE else self.solver or "direct"
        chosen = dataclasses.replace(self, method=method, solver=solver)
        return dataclasses.replace(chosen, integrator=chosen._integrator(chosen.touching(model)))

    def touching(self, model: Compiled | System) -> bool:
        """Whether contact has to be looked for."""
        return self.solver is not None and isinstance(model, Compiled) and bool(may_touch(model.flat))

    def _integrator(self, touching: bool) -> str:
        """The integrator, given or by default."""
        exact = self.solver != "impulses" and not touching
        smooth = self.method in IMPLICIT
        known: Sequence[str] = ("euler",)
        if smooth:
            known = implicit.INTEGRATORS
        elif self.method == "tree":
            known = tuple(tree.TABLEAUS)
        elif self.method == COMPONENTS:
            known = tuple(part.INTEGRATORS)
        elif exact:
            known = tuple(direct.INTEGRATORS)
        self._refuse_strange(exact, touching)
        if self.integrator is not None and self.integrator not in known:
            kind = f"solver '{self.solver}'" if self.solver else f"method '{self.method}'"
            kind += " with contact" if touching else ""
            raise UnsupportedError(
                f"{kind} has no integrator '{self.integrator}' (it has {', '.join(known)})"
            )
        if self.rho is not None and (not smooth or self.integrator == implicit.TRAPEZOIDAL):
            raise UnsupportedError("rho belongs to the integrator 'alpha' of methods " + ", ".join(IMPLICIT))
        fixed = not exact or self.integrator not in (None, "adaptive")
        if self.tolerance is not None and fixed and not smooth:
            who = f"integrator '{self.integrator}'" if exact else f"solver '{self.solver}'"
            why = f"{who}{' with contact' if touching else ''} takes fixed steps"
            advice = "shorten dt instead" if touching else "use the direct solver's integrator 'adaptive'"
            raise UnsupportedError(f"{why} and cannot keep a tolerance; {advice}")
        if self.integrator is not None:
            return self.integrator
        if smooth:
            return implicit.TRAPEZOIDAL if self.rho is None else implicit.ALPHA
        if self.tolerance is not None:
            return "adaptive"
        return "rk4" if self.method in ("tree", COMPONENTS) else "adams" if exact else "euler"

    def _refuse_strange(self, exact: bool, touching: bool) -> None:
        """Knobs that the method does not have."""
        if exact:
            given = {"epsilon": self.epsilon, "erp": self.erp}
            if self.method not in IMPLICIT:
                given |= {"iterations": self.iterations}
            named = [name for name in ("epsilon", "iterations", "erp") if given.get(name) is not None]
            if named:
                raise UnsupportedError(
                    f"{', '.join(named)}: only iterated impulses have these; use solver='impulses'"
                )
        for name, value in (("slop", self.slop), ("sleep", self.sleep)):
            if value is not None and not touching:
                raise UnsupportedError(f"{name} is about contact, and nothing in this model may touch")
        if self.epsilon is not None and self.solver == "direct":
            raise UnsupportedError("epsilon ends sequential impulses; use solver='impulses'")


def make_method(model: Compiled | System, chosen: Settings) -> Method:
    """The method for resolved settings."""
    name, integrator, solver, dt, budget = (
        chosen.method, chosen.integrator, chosen.solver, chosen.dt, chosen.budget,
    )  # fmt: skip
    assert name is not None
    assert integrator is not None
    tolerance = DEFAULT_TOLERANCE if chosen.tolerance is None else chosen.tolerance
    if name == "tree":
        return TreeMethod(model, integrator, dt, tolerance)
    if not isinstance(model, Compiled):
        raise LinkworkError(f"method '{name}' needs the model itself, not a compiled system")
    if name in IMPLICIT:
        iterations = implicit.ITERATIONS if chosen.iterations is None else chosen.iterations
        kind = GlobalMethod if name == "global" else ImplicitMethod
        return kind(model, name, integrator, dt, chosen.rho, chosen.tolerance, iterations, budget)
    if name == COMPONENTS:
        made: Method = provider("component method")(model, Steps(integrator, dt, tolerance, budget))
        return made
    assert solver is not None
    epsilon = DEFAULT_EPSILON if chosen.epsilon is None else chosen.epsilon
    erp = DEFAULT_ERP if chosen.erp is None else chosen.erp
    if chosen.touching(model):
        sweeps = chosen.iterations or (DEFAULT_SWEEPS if solver == "direct" else DEFAULT_ITERATIONS)
        slop = DEFAULT_SLOP if chosen.slop is None else chosen.slop
        return ContactMethod(model, name, solver, dt, epsilon, sweeps, budget, erp, slop, chosen.sleep)
    if solver == "direct":
        return DirectMethod(model, name, integrator, dt, tolerance, budget)
    iterations = DEFAULT_ITERATIONS if chosen.iterations is None else chosen.iterations
    return ImpulseMethod(model, name, dt, epsilon, iterations, budget, erp)


def _one_of(what: str, name: str | None, known: Sequence[str]) -> None:
    if name is not None and name not in known:
        raise LinkworkError(f"there is no {what} '{name}'{nearest(name, known)}")
