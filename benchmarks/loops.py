"""The suite `loops`: mechanisms with loops and friction, against other engines at the same step; growth; precision."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import mechanisms, peer_bullet, peer_dart, peer_drake, peer_mujoco_loops, precision
from .peer import Peer
from .progress import Progress
from .report import grids, made_with
from .report_loops import sections
from .targets import judge_loops
from .timing import SHORTEST, Contender, interleave

if TYPE_CHECKING:
    from rich.table import Table

    from linkwork.compile.system import System
    from linkwork.run.simulate import Simulation

DT = 1e-3
STEPS = 1000
"""Of the run that gaps and energies are taken from: a second."""
REPETITIONS, REPETITIONS_QUICK = 11, 3
PRECISION_REPETITIONS, PRECISION_REPETITIONS_QUICK = 5, 3
CASES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("peaucellier", {}),
    ("double_four_bar", {}),
    ("chain5", {"friction": 1.0}),
)


class Setting(NamedTuple):
    """One of our own contenders."""

    label: str
    options: dict[str, str]


OURS = {
    "simgc": Setting("SIMGC direct, Adams", {"method": "simgc"}),
    "simgc_rk4": Setting("SIMGC direct, RK4", {"method": "simgc", "integrator": "rk4"}),
    "simgc_impulses": Setting("SIMGC impulses", {"method": "simgc", "solver": "impulses"}),
    "simmc": Setting("SIMMC direct, Adams", {"method": "simmc"}),
    "simmc_impulses": Setting("SIMMC impulses", {"method": "simmc", "solver": "impulses"}),
}
PEERS: dict[str, Callable[[System, float], Peer]] = {
    "mujoco": lambda system, friction: peer_mujoco_loops.MujocoLoops(system, friction, DT),
    "mujoco_tight": lambda system, friction: peer_mujoco_loops.MujocoLoops(system, friction, DT, tight=True),
    "bullet": lambda system, friction: peer_bullet.BulletLoops(system, friction, DT),
    "dart": lambda system, friction: peer_dart.DartLoops(system, friction, DT),
    "drake": lambda system, friction: peer_drake.DrakeLoops(system, friction, DT),
}
LABELS = {key: setting.label for key, setting in OURS.items()} | {
    "mujoco": "MuJoCo", "mujoco_tight": "MuJoCo tight", "bullet": "PyBullet", "dart": "DART", "drake": "Drake",
}  # fmt: skip
HOW = {
    "simgc_us, simmc_us": "direct solver, Adams (the defaults): many steps in one compiled call",
    "simgc_rk4_us": "the same with Runge-Kutta of order four",
    "*_impulses_us": "sequential impulses, epsilon 1e-6, semi-implicit Euler: many steps in one compiled call",
    "mujoco_us": peer_mujoco_loops.HOW,
    "mujoco_tight_us": peer_mujoco_loops.HOW_TIGHT,
    "bullet_us": peer_bullet.HOW,
    "dart_us": peer_dart.HOW,
    "drake_us": peer_drake.HOW,
    "*_gap_m": "largest distance of two points that a loop holds together, over 1 s; of Linkwork, of any row",
    "*_energy": "largest energy error over 1 s, as a share of the largest kinetic energy; of Linkwork from its record, "
    "of the others by Linkwork's tables from their angles and rates, where nothing dissipates",
    "*_work": "evaluations of the direct solver, iterations of impulses, a step",
    "ratio": "time of the fastest other engine over simgc_us",
}


@dataclass(frozen=True)
class LoopResult:
    """Everything that the suite measured, and how."""

    quick: bool
    made_with: dict[str, Any]
    rows: list[dict[str, Any]]
    growth: dict[str, Any]
    random: dict[str, Any]
    precision: dict[str, Any]
    notes: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        data = {"suite": "loops", "how": HOW, "contenders": LABELS} | asdict(self)
        return data | {"targets": [target._asdict() for target in judge_loops(data)]}

    def tables(self) -> Iterator[Table]:
        """Tables for the terminal."""
        return grids(sections(self.to_dict()))


def run(*, quick: bool = False, progress: Callable[[float], object] | None = None) -> LoopResult:
    """Measure everything; takes some minutes, half a minute when quick."""
    repetitions = REPETITIONS_QUICK if quick else REPETITIONS
    notes: set[str] = set()
    bar = Progress(progress)
    tick = bar.stretch(0.4, repetitions * len(CASES))
    rows = [measure(name, parameters, repetitions, notes, tick) for name, parameters in CASES]
    tick = bar.stretch(0.6, mechanisms.rounds(quick, repetitions))
    growth = mechanisms.growth(quick=quick, repetitions=repetitions, tick=tick)
    random = mechanisms.random_thirty(repetitions=repetitions, tick=bar.stretch(0.65, repetitions))
    repeated = PRECISION_REPETITIONS_QUICK if quick else PRECISION_REPETITIONS
    work = precision.chains(
        quick=quick,
        repetitions=repeated,
        mujoco=rows[0]["mujoco_us"] is not None,
        tick=bar.stretch(0.99, repeated * len(precision.FRICTIONS)),
    )
    bar.to(1.0)
    return LoopResult(quick, made_with(repetitions, SHORTEST), rows, growth, random, work, sorted(notes))


def measure(
    name: str, parameters: dict[str, Any], repetitions: int, notes: set[str], tick: Callable[[], object]
) -> dict[str, Any]:
    """All contenders on one mechanism, taking turns."""
    from linkwork.run.simulate import Simulation
    from linkwork.scenes import scene

    model = scene(name, **parameters)
    friction = parameters.get("friction", 0.0)
    ours = {key: Simulation(model, dt=DT, **setting.options) for key, setting in OURS.items()}  # type: ignore[arg-type]
    system = ours["simgc"].system
    peers: dict[str, Peer] = {}
    for key, make in PEERS.items():
        try:
            peers[key] = make(system, friction)
        except ImportError:
            notes.add(f"{LABELS[key]} is not installed: its figures are empty")
    contenders = [Contender(key, simulation.step, reset=simulation.reset) for key, simulation in ours.items()]
    contenders += [Contender(key, peer.run, reset=peer.reset) for key, peer in peers.items()]
    figures = interleave(contenders, repetitions, tick=tick)

    row: dict[str, Any] = {"case": name}
    for key in LABELS:
        figure = figures.get(key)
        row[f"{key}_us"] = figure.median if figure else None
        row[f"{key}_spread"] = figure.spread if figure else None
    others = [figures[key].median for key in peers]
    row["ratio"] = min(others) / figures["simgc"].median if others else None
    for key, simulation in ours.items():
        row[f"{key}_gap_m"], row[f"{key}_energy"], row[f"{key}_work"] = follow(simulation)
    for key in PEERS:
        gap, energy = follow_peer(peers[key], system) if key in peers else (None, None)
        row[f"{key}_gap_m"], row[f"{key}_energy"] = gap, None if friction else energy
    return row


def follow(simulation: Simulation) -> tuple[float, float, float]:
    """Largest gap [m] and energy error (a share) over a second; evaluations or iterations a step."""
    simulation.reset()
    record = simulation.run(STEPS * DT, every=DT, reactions=False)
    outcome = simulation.method.outcome()
    worst = float(np.abs(record["energy.balance"]).max() / record["energy.kinetic"].max())
    work = outcome["evaluations_mean"] if "evaluations_mean" in outcome else outcome["iterations_mean"]
    return float(outcome["worst_gap_m"]), worst, float(work)


def follow_peer(peer: Peer, system: System) -> tuple[float, float]:
    """The same of another engine, without work: energies are those of our tables at its angles and rates."""
    from linkwork.engine.coordinates.dynamics import energies

    tables = system.fresh_tables()
    dofs = tables.dofs[1:]
    q, v = system.q0.copy(), system.v0.copy()
    gap, stored = 0.0, []
    peer.reset()
    for step in range(STEPS + 1):
        if step:
            peer.run(1)
            gap = max(gap, peer.gap)
        q[dofs["q"]], v[dofs["v"]] = dofs["rot"] * peer.angles, dofs["rot"] * peer.rates
        stored.append(energies(tables, q, v, 0.0))
    parts = np.array(stored)
    total = parts.sum(axis=1)
    return gap, float(np.abs(total - total[0]).max() / parts[:, 0].max())
