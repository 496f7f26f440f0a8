"""The suite `loops`: mechanisms with loops and friction, against other engines, at the same step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from . import peer_bullet, peer_dart, peer_mujoco_loops
from .progress import Progress
from .report import made_with
from .timing import SHORTEST, Contender, interleave

if TYPE_CHECKING:
    from rich.table import Table

DT = 1e-3
REPETITIONS, REPETITIONS_QUICK = 11, 3
CASES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("peaucellier", {}),
    ("double_four_bar", {}),
    ("chain5", {"friction": 1.0}),
)
HOW = {
    "simgc_us, simmc_us": "many steps in one compiled call, epsilon 1e-6",
    "mujoco_us": peer_mujoco_loops.HOW,
    "mujoco_tight_us": peer_mujoco_loops.HOW_TIGHT,
    "bullet_us": peer_bullet.HOW,
    "dart_us": peer_dart.HOW,
    "*_gap_m": "largest distance of two points that a loop holds together, over 1 s",
    "ratio": "time of the fastest other engine over simgc_us",
}
PEERS: dict[str, Callable[[Any, float], Any]] = {
    "mujoco": lambda system, friction: peer_mujoco_loops.MujocoLoops(system, friction, DT),
    "mujoco_tight": lambda system, friction: peer_mujoco_loops.MujocoLoops(system, friction, DT, tight=True),
    "bullet": lambda system, friction: peer_bullet.BulletLoops(system, friction, DT),
    "dart": lambda system, friction: peer_dart.DartLoops(system, friction, DT),
}


@dataclass(frozen=True)
class LoopResult:
    """Everything that the suite measured, and how."""

    quick: bool
    made_with: dict[str, Any]
    rows: list[dict[str, Any]]
    notes: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {
            "suite": "loops", "quick": self.quick, "made_with": self.made_with, "how": HOW, "rows": self.rows,
            "notes": self.notes,
        }  # fmt: skip

    def tables(self) -> Iterator[Table]:
        """A table for the terminal."""
        from rich.table import Table

        grid = Table(
            *self.rows[0], title="Mechanisms with loops and friction, 1 ms steps", title_justify="left"
        )
        for row in self.rows:
            grid.add_row(
                *("-" if v is None else f"{v:.3g}" if isinstance(v, float) else str(v) for v in row.values())
            )
        yield grid


def run(*, quick: bool = False, progress: Callable[[float], object] | None = None) -> LoopResult:
    """Measure all mechanisms with both formulations and all other engines, taking turns."""
    from ..scenes import scene
    from ..simulate import Simulation

    repetitions = REPETITIONS_QUICK if quick else REPETITIONS
    notes: set[str] = set()
    bar = Progress(progress)
    tick = bar.stretch(1.0, repetitions * len(CASES))
    rows = []
    for name, parameters in CASES:
        model = scene(name, **parameters)
        simulations = {m: Simulation(model, method=m, dt=DT) for m in ("simgc", "simmc")}
        contenders = [Contender(m, s.step, reset=s.reset) for m, s in simulations.items()]
        peers: dict[str, Any] = {}
        for key, make in PEERS.items():
            try:
                peers[key] = make(simulations["simgc"].system, parameters.get("friction", 0.0))
            except ImportError:
                notes.add(f"{key} is not installed: its figures are empty")
        contenders += [Contender(key, peer.run, reset=peer.reset) for key, peer in peers.items()]
        figures = interleave(contenders, repetitions, tick=tick)
        row: dict[str, Any] = {"case": name}
        for key in (*simulations, *PEERS):
            row[f"{key}_us"] = figures[key].median if key in figures else None
        others = [figures[key].median for key in peers]
        row["ratio"] = min(others) / figures["simgc"].median if others else None
        for key, simulation in simulations.items():
            simulation.reset()
            simulation.step(1000)
            outcome = simulation.method.outcome()
            row[f"{key}_iterations"], row[f"{key}_gap_m"] = outcome["iterations_mean"], outcome["worst_gap_m"]
        for key in PEERS:
            row[f"{key}_gap_m"] = peers[key].largest_gap(1000) if key in peers else None
        rows.append(row)
    return LoopResult(quick, made_with(repetitions, SHORTEST), rows, sorted(notes))
