"""The suite `dynamics`: functions of states and steps taken one by one from Python, against MuJoCo and Pinocchio."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from . import functions_mujoco, functions_pinocchio, sweeps
from .progress import Progress
from .report import Section, grids, made_with, notes_and_targets, number, timed
from .targets import judge_dynamics
from .timing import SHORTEST, Contender, Figure, interleave

if TYPE_CHECKING:
    from rich.table import Table

    from linkwork.dynamics import Dynamics

REPETITIONS, REPETITIONS_QUICK = 21, 3
DT = 1e-3
_BATCH = 1000
_SWEPT = ("here_cpu_s", "processes_cpu_s", "efficiency", "efficiency_wall")
_BUSY = 1.5  # programs that want a core, this one among them
FUNCTIONS = ("forward", "inverse", "mass matrix", "jacobian")
STEPS: tuple[tuple[str, dict[str, Any]], ...] = (("chain5", {}), ("peaucellier", {}))
"""Scenes, and options of ours; the first default of each."""
HOW = {
    "*_us": "CPU time of the process, so that what else the machine does counts little; medians of repetitions that "
    "take turns",
    "linkwork_us": "of a batch: `linkwork.Dynamics` with arrays of 1000 states and `out`; of a call: one state; of a "
    "step: `sim.step()` in a Python loop, default integrator (chain5: RK4, four evaluations)",
    "adams_us": "the same with Adams' method: order four, one evaluation",
    "inside_us": "a step where `sim.step(1000)` takes many",
    "over_us": "what a step or call from Python costs beside the compiled code: linkwork_us less inside_us, or less "
    "the time per state of a batch, which goes eight at a time: a bound from above",
    "lean_us": functions_mujoco.HOW,
    "batch_us": functions_mujoco.HOW_BATCH,
    "mujoco_us": f"of a call: {functions_mujoco.HOW_SINGLE}; of a step: mj_step(model, data) in a Python loop, Euler",
    "pinocchio_us": f"of a batch: {functions_pinocchio.HOW}; of a call: {functions_pinocchio.HOW_SINGLE}",
    "ratio": "of a batch: the fastest of the others over linkwork_us; of a call: Pinocchio over linkwork_us; of a "
    "step: MuJoCo over linkwork_us",
    "efficiency": sweeps.HOW,
}


@dataclass(frozen=True)
class DynamicsResult:
    """Everything that the suite measured, and how."""

    quick: bool
    made_with: dict[str, Any]
    batches: list[dict[str, Any]]
    calls: list[dict[str, Any]]
    steps: list[dict[str, Any]]
    sweeps: list[dict[str, Any]]
    notes: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        data = {"suite": "dynamics", "how": HOW} | asdict(self)
        return data | {"targets": [target._asdict() for target in judge_dynamics(data)]}

    def tables(self) -> Iterator[Table]:
        """Tables for the terminal."""
        return grids(sections(self.to_dict()))


def sections(data: dict[str, Any]) -> Iterator[Section]:
    """Every table of a result; the terminal and the page show the same."""
    yield _section(
        "PUMA 560, per state of a batch of 1000 [µs]",
        "function", data["batches"], ("linkwork", "lean", "batch", "pinocchio"),
        ("linkwork", "MuJoCo lean", "MuJoCo batch", "Pinocchio"), ("ratio",), ("×",),
    )  # fmt: skip
    yield _section(
        "PUMA 560, one call from Python for one state [µs]",
        "function", data["calls"], ("linkwork", "mujoco", "pinocchio"), ("linkwork", "MuJoCo", "Pinocchio"),
        ("ratio", "over_us"), ("×", "over"),
    )  # fmt: skip
    yield _section(
        "One step of 1 ms from Python [µs]",
        "scene", data["steps"], ("linkwork", "adams", "inside", "mujoco"),
        ("sim.step()", "with Adams", "inside", "mj_step"), ("ratio", "over_us"), ("×", "over"),
    )  # fmt: skip
    yield Section(
        "A sweep on two processes: CPU time [s]",
        ("sweep", "here", "all processes", "efficiency", "by the clock"),
        [(row["case"], *(number(row[name]) for name in _SWEPT)) for row in data["sweeps"]],
    )  # fmt: skip
    yield from notes_and_targets(data)


def _section(
    title: str, what: str, rows: list[dict[str, Any]], times: tuple[str, ...], names: tuple[str, ...],
    numbers: tuple[str, ...], labels: tuple[str, ...],
) -> Section:  # fmt: skip
    lines = [
        (row["case"], *(timed(row, name) for name in times), *(number(row[name]) for name in numbers))
        for row in rows
    ]
    return Section(title, (what, *names, *labels), lines)


def run(*, quick: bool = False, progress: Callable[[float], object] | None = None) -> DynamicsResult:
    """Measure everything; takes a minute, some seconds when quick."""
    repetitions = REPETITIONS_QUICK if quick else REPETITIONS
    notes: list[str] = []
    bar = Progress(progress)
    tick = bar.stretch(0.7, repetitions * (2 * len(FUNCTIONS) + len(STEPS)))
    made = _Arm(notes)
    batches = [made.batches(what, repetitions, tick) for what in FUNCTIONS]
    calls = [made.calls(what, repetitions, tick) for what in FUNCTIONS]
    for row, batch in zip(calls, batches, strict=True):
        row["over_us"] = row["linkwork_us"] - batch["linkwork_us"]
    steps = [_steps(name, options, repetitions, tick, notes) for name, options in STEPS]
    if os.getloadavg()[0] > _BUSY:
        notes.append("other programs were running: times of the sweep by the clock mean nothing")
    swept = [sweeps.measure(quick)]
    bar.to(1.0)
    return DynamicsResult(quick, made_with(repetitions, SHORTEST), batches, calls, steps, swept, notes)


class _Arm:
    """The PUMA 560 and the same states of it in every engine."""

    def __init__(self, notes: list[str]):
        from linkwork.dynamics import Dynamics
        from linkwork.scenes import scene

        self.dynamics: Dynamics = Dynamics(scene("puma560", rotors=False, friction=False))
        random = np.random.default_rng(1)
        n = self.dynamics.nv
        self.states = (
            random.uniform(-np.pi, np.pi, (_BATCH, n)), random.uniform(-1, 1, (_BATCH, n)),
            random.uniform(-1, 1, (_BATCH, n)),
        )  # fmt: skip
        self.mujoco: Any = None
        self.pinocchio: Any = None
        try:
            self.mujoco = functions_mujoco.MujocoFunctions(self.dynamics.system, *self.states)
        except ImportError:
            notes.append("mujoco is not installed: its figures are empty")
        try:
            self.pinocchio = functions_pinocchio.PinocchioFunctions(self.dynamics.system, *self.states)
        except ImportError:
            notes.append("pinocchio is not installed: its figures are empty")

    def ours(self, what: str, q: Any, v: Any, a: Any, out: Any = None) -> Callable[[], Any]:
        """A function of one state or of many."""
        arm = self.dynamics
        last = arm.bodies[-1]
        calls: dict[str, Callable[[], Any]] = {
            "forward": lambda: arm.forward(q, v, out=out),
            "inverse": lambda: arm.inverse(q, v, a, out=out),
            "mass matrix": lambda: arm.mass_matrix(q, out=out),
            "jacobian": lambda: arm.jacobian(q, last, out=out),
        }
        return calls[what]

    def batches(self, what: str, repetitions: int, tick: Callable[[], object]) -> dict[str, Any]:
        """Times per state."""
        out = self.ours(what, *self.states)()
        ours = self.ours(what, *self.states, out)
        contenders = [Contender("linkwork", _often(ours), _BATCH)]
        if self.mujoco is not None:
            contenders.append(Contender("lean", _often(lambda: self.mujoco.lean(what)), _BATCH))
            if what in ("forward", "jacobian"):
                contenders.append(Contender("batch", _often(lambda: self.mujoco.batch(what)), _BATCH))
        less = 0.0
        if self.pinocchio is not None:
            less = self.pinocchio.overhead_us(what)
            contenders.append(Contender("pinocchio", _often(lambda: self.pinocchio.batch(what)), _BATCH))
        figures = interleave(contenders, repetitions, tick=tick, clock=time.process_time)
        if "pinocchio" in figures:
            figure = figures["pinocchio"]
            figures["pinocchio"] = figure._replace(median=figure.median - less)
        row = _row(what, figures, ("linkwork", "lean", "batch", "pinocchio"))
        others = [row[f"{name}_us"] for name in ("lean", "batch", "pinocchio") if row[f"{name}_us"]]
        return row | {"ratio": min(others) / row["linkwork_us"] if others else None}

    def calls(self, what: str, repetitions: int, tick: Callable[[], object]) -> dict[str, Any]:
        """Times of a call for one state."""
        contenders = [
            Contender("linkwork", _often(self.ours(what, *(part[0].copy() for part in self.states))))
        ]
        if self.mujoco is not None:
            contenders.append(Contender("mujoco", _often(self.mujoco.single(what))))
        if self.pinocchio is not None:
            contenders.append(Contender("pinocchio", _often(self.pinocchio.single(what))))
        row = _row(
            what,
            interleave(contenders, repetitions, tick=tick, clock=time.process_time),
            ("linkwork", "mujoco", "pinocchio"),
        )
        theirs = row["pinocchio_us"]
        return row | {"ratio": theirs / row["linkwork_us"] if theirs else None}


def _often(call: Callable[[], object]) -> Callable[[int], None]:
    def run(count: int) -> None:
        for _ in range(count):
            call()

    return run


def _row(case: str, figures: dict[str, Figure], names: tuple[str, ...]) -> dict[str, Any]:
    row: dict[str, Any] = {"case": case}
    for name in names:
        figure = figures.get(name)
        row[f"{name}_us"] = figure.median if figure else None
        row[f"{name}_spread"] = figure.spread if figure else None
    return row


def _steps(
    name: str, options: dict[str, Any], repetitions: int, tick: Callable[[], object], notes: list[str]
) -> dict[str, Any]:
    """Steps of a scene, one by one."""
    from linkwork.run.simulate import Simulation
    from linkwork.scenes import scene

    model = scene(name)
    usual, inside = Simulation(model, dt=DT, **options), Simulation(model, dt=DT, **options)
    adams = Simulation(model, dt=DT, integrator="adams", **options)
    contenders = [
        Contender("linkwork", _often(usual.step), reset=usual.reset),
        Contender("adams", _often(adams.step), reset=adams.reset),
        Contender("inside", inside.step, reset=inside.reset),
    ]
    try:
        from .peer_mujoco_loops import MujocoLoops

        theirs = MujocoLoops(usual.system if usual.system.rows else _rows_of(model), 0.0, DT)
        data, mj_model, step = theirs._data, theirs._model, theirs._mujoco.mj_step
        contenders.append(Contender("mujoco", _often(lambda: step(mj_model, data)), reset=theirs.reset))
    except ImportError:
        notes.append("mujoco is not installed: its steps are empty")
    row = _row(
        name,
        interleave(contenders, repetitions, tick=tick, clock=time.process_time),
        ("linkwork", "adams", "inside", "mujoco"),
    )
    row["over_us"] = row["linkwork_us"] - row["inside_us"]
    return row | {"ratio": row["mujoco_us"] / row["linkwork_us"] if row["mujoco_us"] else None}


def _rows_of(model: Any) -> Any:
    from linkwork.compile.compiler import Compiled

    return Compiled.of(model).rows
