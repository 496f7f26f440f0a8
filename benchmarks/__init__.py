"""Benchmarks: speed as ratios against other engines, interleaved in one process.

A suite is a function `suite(quick=..., progress=...)` that returns a `Result`. Importing this package loads
neither Numba nor any other engine; an engine that is not installed leaves its figures empty.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from .contact import ContactResult
    from .control import ControlResult
    from .dynamics import DynamicsResult
    from .implicit import ImplicitResult
    from .links import LinkResult
    from .loops import LoopResult
    from .report import Result
    from .start import StartResult
    from .vehicles import VehicleResult
    from .view import ViewResult


def _tree(*, quick: bool = False, progress: Callable[[float], object] | None = None) -> Result:
    """Trees of bodies: steps, forward dynamics, work against precision, start-up, allocation."""
    from .tree import run

    return run(quick=quick, progress=progress)


def _loops(*, quick: bool = False, progress: Callable[[float], object] | None = None) -> LoopResult:
    """Mechanisms with loops and friction: steps and gaps."""
    from .loops import run

    return run(quick=quick, progress=progress)


def _contact(*, quick: bool = False, progress: Callable[[float], object] | None = None) -> ContactResult:
    """Bodies that touch: steps, slip, creep and penetration; growth of piles."""
    from .contact import run

    return run(quick=quick, progress=progress)


def _dynamics(*, quick: bool = False, progress: Callable[[float], object] | None = None) -> DynamicsResult:
    """Functions of states, and steps one by one, from Python."""
    from .dynamics import run

    return run(quick=quick, progress=progress)


def _control(*, quick: bool = False, progress: Callable[[float], object] | None = None) -> ControlResult:
    """Control diagrams: cost of a block, against other programs, and share of a vehicle's step."""
    from .control import run

    return run(quick=quick, progress=progress)


def _implicit(*, quick: bool = False, progress: Callable[[float], object] | None = None) -> ImplicitResult:
    """Implicit methods at large steps: time and error against Exudyn."""
    from .implicit import run

    return run(quick=quick, progress=progress)


def _view(*, quick: bool = False, progress: Callable[[float], object] | None = None) -> ViewResult:
    """The live page: cost of serving, pictures delivered, lateness of the physics."""
    from .view import run

    return run(quick=quick, progress=progress)


def _links(*, quick: bool = False, progress: Callable[[float], object] | None = None) -> LinkResult:
    """Lines between processes: round trips over TCP and MPI."""
    from .links import run

    return run(quick=quick, progress=progress)


def _start(
    *,
    quick: bool = False,
    progress: Callable[[float], object] | None = None,
    against: Path | None = None,
) -> StartResult:
    """First use, with nothing compiled: each method's first step, the gallery, a live page, all kernels."""
    from .start import run

    return run(quick=quick, progress=progress, against=against)


def _vehicle(*, quick: bool = False, progress: Callable[[float], object] | None = None) -> VehicleResult:
    """A vehicle on double wishbones against MuJoCo, fleets of it, the robot with its cart."""
    from .vehicles import run

    return run(quick=quick, progress=progress)


SUITES: dict[
    str,
    Callable[
        ...,
        Result
        | LoopResult
        | ContactResult
        | ControlResult
        | DynamicsResult
        | ImplicitResult
        | ViewResult
        | LinkResult
        | StartResult
        | VehicleResult,
    ],
] = {
    "tree": _tree,
    "loops": _loops,
    "contact": _contact,
    "dynamics": _dynamics,
    "control": _control,
    "implicit": _implicit,
    "view": _view,
    "links": _links,
    "start": _start,
    "vehicle": _vehicle,
}
"""Every suite by the name that the command line calls it."""
