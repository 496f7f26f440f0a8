"""Exudyn as a contender: a mechanism stepped implicitly inside the engine."""

from __future__ import annotations

import contextlib
import io
import sys
import time
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwork.model.errors import LinkworkError

if TYPE_CHECKING:
    from linkwork.model.rotation import Array

HOW = (
    "exudynCPPfast, MainSolverImplicitSecondOrder.SolveSystem over the whole run in one call: nothing printed, written "
    "or drawn, no sensors, steps never shortened"
)


class Scheme(NamedTuple):
    """How Exudyn steps."""

    label: str
    rho: float | None
    """Spectral radius of generalized-α with constraints on positions; None is the trapezoidal rule with constraints on
    velocities (index 2)."""


SCHEMES = {
    "alpha": Scheme("α, ρ 0.9", 0.9),  # the default of its settings
    "alpha_damped": Scheme("α, ρ 0.6", 0.6),  # what its examples with constraints take
    "index2": Scheme("index 2", None),
}
LINEAR = ("EXUdense", "EigenDense", "EigenSparse")
"""Linear solvers to choose the fastest of; EigenDense may also ignore that a matrix is singular."""


class Setting(NamedTuple):
    """One way to solve a step."""

    solver: str
    modified: bool
    """Keep the Jacobian while it converges (the default of Exudyn)."""
    ignore_singular: bool = False

    @property
    def label(self) -> str:
        """For tables."""
        newton = "modified Newton" if self.modified else "Newton"
        return f"{self.solver}{' ignoring singularity' if self.ignore_singular else ''}, {newton}"


SETTINGS = tuple(Setting(solver, modified) for solver in LINEAR for modified in (True, False)) + tuple(
    Setting("EigenDense", modified, True) for modified in (True, False)
)


class Mechanism:
    """A model in Exudyn, and the coordinate that its errors are taken of."""

    def __init__(self, container: Any, system: Any, sensor: Any, read: Callable[[Array], Array]):
        self._container = container  # owns the system
        self._system = system
        self._sensor, self._read = sensor, read

    def solve(self, scheme: Scheme, setting: Setting, dt: float, steps: int, every: int = 0) -> None:
        """Take steps from the start; with `every`, the coordinate is kept at every so many."""
        exu = engine()
        options = exu.SimulationSettings()
        stepping = options.timeIntegration
        stepping.numberOfSteps, stepping.endTime = steps, dt * steps
        stepping.verboseMode = 0
        stepping.adaptiveStep = False
        stepping.newton.useModifiedNewton = setting.modified
        alpha = stepping.generalizedAlpha
        if scheme.rho is None:
            alpha.useNewmark, alpha.useIndex2Constraints = True, True
        else:
            alpha.spectralRadius = scheme.rho
        options.linearSolver.solverType = getattr(exu.LinearSolverType, setting.solver)
        options.linearSolver.ignoreSingularJacobian = setting.ignore_singular
        options.solution.file.write = False
        options.solution.sensors.active = every > 0
        options.solution.sensors.writePeriod = max(every, 1) * dt
        solver = exu.MainSolverImplicitSecondOrder()
        try:
            done = solver.SolveSystem(self._system, options)
        except Exception as failure:  # what its core throws has no type of its own
            raise ArithmeticError(str(failure).strip().splitlines()[-1]) from None
        if not done:
            raise ArithmeticError("the solver gave up")

    def motion(self, scheme: Scheme, setting: Setting, dt: float, steps: int, every: int) -> Array:
        """The coordinate at the start and after every so many steps [rad or m]."""
        self.solve(scheme, setting, dt, steps, every)
        table = np.atleast_2d(self._system.GetSensorStoredData(self._sensor))
        times = every * dt * np.arange(steps // every + 1)
        if len(table) != len(times) or np.abs(table[:, 0] - times).max() > 1e-6 * dt:
            raise LinkworkError("Exudyn kept its sensor at other times than those asked for")
        return self._read(table[:, 1:])


def seconds(mechanism: Mechanism, scheme: Scheme, setting: Setting, dt: float, steps: int) -> float:
    """The shorter time of two runs [s]."""
    taken = []
    for _ in range(2):
        began = time.perf_counter()
        mechanism.solve(scheme, setting, dt, steps)
        taken.append(time.perf_counter() - began)
    return min(taken)


@cache
def engine() -> Any:
    """The module, in its build without range checks; quiet. ImportError if it is not installed."""
    if "exudyn" not in sys.modules:
        sys.exudynFast = True  # type: ignore[attr-defined]
    with contextlib.redirect_stdout(io.StringIO()):
        import exudyn
        import exudyn.utilities
    exudyn.config.printToConsole = False
    return exudyn
