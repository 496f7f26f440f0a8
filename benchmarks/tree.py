"""The suite `tree`: open chains of bodies, against MuJoCo and Pinocchio."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import numpy as np

from . import peer_mujoco, peer_pinocchio
from .progress import Progress
from .report import Result, made_with
from .timing import SHORTEST, Contender, Figure, interleave

if TYPE_CHECKING:
    from linkwork.compile.system import System

SIZES, SIZES_QUICK = (5, 10, 20, 40, 80, 160, 320), (5, 20, 80)
REPETITIONS, REPETITIONS_QUICK = 11, 3
PRECISION_REPETITIONS, PRECISION_REPETITIONS_QUICK = 5, 3
PROCESSES, PROCESSES_QUICK = 5, 2
EXPONENT_FROM = 20
"""Fewest links that count for the exponent of growth."""
_DT = 1e-4  # small enough for every chain to stay tame while it is timed [s]
_BATCH = 1000  # states of a batch of forward dynamics

HOW = {
    "linkwork_us": "semi-implicit Euler, many steps in one compiled call; of forward dynamics, a batch",
    "rk4_us": "the same with the classical Runge-Kutta method",
    "mujoco_us": f"{peer_mujoco.STEP}; of forward dynamics, {peer_mujoco.FORWARD}",
    "mujoco_lean_us": f"{peer_mujoco.STEP_LEAN}; of forward dynamics, {peer_mujoco.FORWARD_LEAN}",
    "*_spread": "half the interquartile range of the repetitions, in the unit of the figure",
    "ratio_*": "time of the other engine over linkwork_us",
    "rk4_ratio": "rk4_us over linkwork_us",
    "exponent": "slope of log(linkwork_us) over log(links), least squares, from 20 links on",
}


class _Peers:
    """Which engines there are; tells once about those that are missing."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.mujoco = self._found("mujoco", "mujoco")
        self.pinocchio = self._found("pinocchio", "pin")
        self.pinocchio_how: str | None = None

    def _found(self, engine: str, package: str) -> bool:
        try:
            version(package)
            __import__(engine)
        except (PackageNotFoundError, ImportError):
            self.notes.append(f"{engine} is not installed: its figures are empty")
            return False
        return True


def run(*, quick: bool = False, progress: Callable[[float], object] | None = None) -> Result:
    """Measure everything; takes a minute or two, a quarter of it when quick."""
    from linkwork.compile.compiler import compile_model
    from linkwork.scenes import scene

    repetitions = REPETITIONS_QUICK if quick else REPETITIONS
    sizes = SIZES_QUICK if quick else SIZES
    peers = _Peers()
    bar = Progress(progress)
    tick = bar.stretch(0.4, repetitions * (len(sizes) + 2))

    rows = []
    for links in sizes:
        system = compile_model(scene("chain", links=links))
        rows.append(_row(f"chain of {links}", links, _steps(system, peers, repetitions, tick)))
    arm = compile_model(scene("puma560", rotors=False, friction=False))
    rows.append(_row("puma560", arm.nv, _steps(arm, peers, repetitions, tick)))
    rows.append(_row("puma560 forward dynamics", arm.nv, _forward(arm, peers, repetitions, tick)))

    work = _precision(quick, peers, bar)
    starts, allocated = in_processes(quick, peers.notes, bar)
    bar.to(1.0)
    return Result(
        suite="tree",
        quick=quick,
        made_with=made_with(repetitions, SHORTEST),
        how=HOW,
        pinocchio_how=peers.pinocchio_how,
        rows=rows,
        exponent=growth(rows),
        startup=starts,
        allocations=allocated,
        precision=work,
        notes=peers.notes,
    )


def growth(rows: list[dict[str, Any]]) -> float | None:
    """Exponent of the time of a step over the number of links."""
    long = [row for row in rows if row["case"].startswith("chain") and row["n"] >= EXPONENT_FROM]
    if len(long) < 2:
        return None
    slope, _ = np.polyfit(np.log([row["n"] for row in long]), np.log([row["linkwork_us"] for row in long]), 1)
    return float(slope)


def _steps(system: System, peers: _Peers, repetitions: int, tick: Callable[[], object]) -> dict[str, Figure]:
    """Time of a step inside one call; of Pinocchio, of the forward dynamics in it."""
    from .runner import Runner, random_states

    ours, ours_rk4 = Runner(system, "euler", _DT), Runner(system, "rk4", _DT)
    contenders = [
        Contender("linkwork", ours.run, 1, ours.reset),
        Contender("rk4", ours_rk4.run, 1, ours_rk4.reset),
    ]
    if peers.mujoco:
        for name, lean in (("mujoco", False), ("mujoco_lean", True)):
            theirs = peer_mujoco.MujocoRunner(system, dt=_DT, lean=lean)
            contenders.append(Contender(name, theirs.run, 1, theirs.reset))
    # A batch of a millisecond or more hides the call from Python, and its states fit into the cache.
    return _against_pinocchio(
        system, random_states(system, max(64, 5 * _BATCH // system.nv)), peers, contenders, repetitions, tick
    )


def _forward(
    system: System, peers: _Peers, repetitions: int, tick: Callable[[], object]
) -> dict[str, Figure]:
    """Time of forward dynamics alone, over the same batch of states in every engine."""
    from .runner import Forward, random_states

    states = random_states(system, _BATCH)
    contenders = [Contender("linkwork", Forward(system, *states).run, _BATCH)]
    if peers.mujoco:
        try:
            for name, lean in (("mujoco", False), ("mujoco_lean", True)):
                theirs = peer_mujoco.MujocoForward(system, *states, lean=lean)
                contenders.append(Contender(name, theirs.run, _BATCH))
        except (OSError, AttributeError) as error:
            peers.notes.append(f"forward dynamics of mujoco alone could not be measured: {error}")
    return _against_pinocchio(system, states, peers, contenders, repetitions, tick)


def _against_pinocchio(
    system: System,
    states: tuple[Any, Any],
    peers: _Peers,
    contenders: list[Contender],
    repetitions: int,
    tick: Callable[[], object],
) -> dict[str, Figure]:
    overhead = 0.0
    if peers.pinocchio:
        aba = peer_pinocchio.PinocchioForward(system, *states)
        peers.pinocchio_how = aba.how
        overhead = aba.overhead_us()
        contenders = [*contenders, Contender("pinocchio", aba.run, len(states[0]))]
    figures = interleave(contenders, repetitions, tick=tick)
    if overhead:
        figures["pinocchio"] = figures["pinocchio"]._replace(median=figures["pinocchio"].median - overhead)
    return figures


def _row(case: str, links: int, figures: dict[str, Figure]) -> dict[str, Any]:
    ours = figures["linkwork"].median
    row: dict[str, Any] = {"case": case, "n": links}
    for name in ("linkwork", "mujoco", "mujoco_lean", "pinocchio", "rk4"):
        figure = figures.get(name)
        row[f"{name}_us"] = figure.median if figure else None
        row[f"{name}_spread"] = figure.spread if figure else None
    for name in ("mujoco", "mujoco_lean", "pinocchio"):
        row[f"ratio_{name}"] = row[f"{name}_us"] / ours if row[f"{name}_us"] else None
    row["rk4_ratio"] = row["rk4_us"] / ours if row["rk4_us"] else None
    return row


def _precision(quick: bool, peers: _Peers, bar: Progress) -> dict[str, Any]:
    from .precision import precision

    repetitions = PRECISION_REPETITIONS_QUICK if quick else PRECISION_REPETITIONS
    return precision(
        quick=quick,
        repetitions=repetitions,
        mujoco=peers.mujoco,
        tick=bar.stretch(0.6, repetitions),
    )


def in_processes(
    quick: bool, notes: list[str], bar: Progress
) -> tuple[dict[str, Any] | None, list[dict[str, Any]] | None]:
    """Figures that need processes of their own; a failing one must not cost the others."""
    from .allocations import allocations
    from .startup import startup

    starts, allocated = None, None
    try:
        starts = startup(processes=PROCESSES_QUICK if quick else PROCESSES, cold=not quick)
        if quick:
            notes.append("the first run with an empty kernel cache is left out when quick")
        bar.to(0.9)
        allocated = allocations()
    except subprocess.CalledProcessError as error:
        last = (error.stderr or "").strip().splitlines()[-1:] or ["no message"]
        notes.append(f"start-up or allocation could not be measured: {last[0]}")
    return starts, allocated
