"""Table 1 of the SIMGC paper: time and iterations a step, SIMMC against SIMGC, and the direct solver beside them.

The paper's steps vary and are at most 10 ms; so do these, by a fixed pattern. Impulses end at 1e-6.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..model.errors import SimulationError
from ..results.plot import new_figure, write_figure
from ..run.simulate import Simulation
from ..scenes import scene
from . import PAPERS, Reproduction

# (scene, parameters, simulated time [s]) and the paper's (time a step [ms], iterations) on a 3 GHz Pentium D.
CASES: tuple[tuple[str, dict[str, Any], float], ...] = (
    ("chain5", {"friction": 1.0}, 10.0),
    ("peaucellier", {"swing": 0.25}, 10.0),
    ("gripper", {}, 8.5),
)
PAPER = {
    ("chain5", "simmc"): (0.5, 100), ("chain5", "simgc"): (0.1, 6),
    ("peaucellier", "simmc"): (16.0, 2300), ("peaucellier", "simgc"): (1.2, 40),
    ("gripper", "simmc"): (3.0, 200), ("gripper", "simgc"): (0.6, 10),
}  # fmt: skip
METHODS: dict[str, dict[str, Any]] = {
    "simmc": {"method": "simmc", "solver": "impulses", "iterations": 10_000},
    "simgc": {"method": "simgc", "solver": "impulses", "iterations": 10_000},
    "direct": {"method": "simgc", "solver": "direct"},
}
"""The paper's two, and ours by default: generalized coordinates with the direct solver."""
LONGEST, MEAN = 0.01, 0.005


def steps(duration: float) -> np.ndarray:
    """Step sizes between 1 and 10 ms, the same every time, that fill `duration` [s]."""
    random = np.random.default_rng(1)
    sizes = random.uniform(0.1 * LONGEST, LONGEST, int(2.5 * duration / LONGEST))
    return sizes[np.cumsum(sizes) <= duration]


def reproduce(progress: Callable[[float], object] | None = None) -> Reproduction:
    """Run all scenes with all methods."""
    rows = []
    notes = []
    plan = [(case, method) for case in CASES for method in METHODS]
    timed: dict[str, dict[str, Any]] = {}
    for done, ((name, parameters, duration), method) in enumerate(plan):
        sizes = steps(duration)
        simulation = Simulation(scene(name, **parameters), **METHODS[method])
        report: Callable[[], dict[str, Any]] = getattr(simulation.method, "report", dict)
        each: list[Any] = []  # iterations of every step; None if the method does not iterate
        try:
            for h in sizes:
                simulation.step(dt=float(h))
                each.append(report().get("iterations"))
        except SimulationError as failure:
            notes.append(f"{name}, {method}: gave up after {len(each)} steps: {failure}")
        outcome = simulation.method.outcome()
        if method == next(iter(METHODS)):
            timed = _constant_steps(name, parameters, duration)
        paper_ms, paper_iterations = PAPER.get((name, method), (None, None))
        rows.append(
            {
                "scene": name,
                "method": method,
                "solver": METHODS[method]["solver"],
                "iterations": outcome.get("iterations_mean"),
                "iterations_median": float(np.median(each)) if all(each) else None,
                "evaluations": outcome.get("evaluations_mean"),
                **timed[method],
                "paper_iterations": paper_iterations,
                "paper_ms": paper_ms,
                "worst_gap_m": outcome["worst_gap_m"],
                "steps_cut_short": outcome.get("steps_cut_short"),
                "steps": len(each),
            }
        )
        if progress is not None:
            progress((done + 1) / len(plan))
    found = {(row["scene"], row["method"]): row for row in rows}
    for name, _, _ in CASES:
        slow, fast = found[name, "simmc"], found[name, "simgc"]
        ratio, paper = slow["us_per_step"] / fast["us_per_step"], slow["paper_ms"] / fast["paper_ms"]
        notes.append(f"{name}: simmc takes {ratio:.1f} times as long as simgc, in the paper {paper:.1f}")
        direct = found[name, "direct"]
        ratio = fast["us_per_step"] / direct["us_per_step"]
        notes.append(
            f"{name}: simgc takes {ratio:.1f} times as long as the direct solver; "
            f"largest gaps {fast['worst_gap_m']:.1g} and {direct['worst_gap_m']:.1g} m"
        )
    notes.append(
        f"iterations and evaluations: steps of 1 to {1e3 * LONGEST:g} ms; times: of the processor, "
        f"steps of {1e3 * MEAN:g} ms in one call"
    )
    notes.append(
        "direct: simgc with the direct solver, which evaluates instead of iterating. Every new size of step begins "
        "Adams' method anew by Runge-Kutta: four evaluations and more; evaluations_equal_steps is without that"
    )
    notes.append(
        "gripper: things touch, so that the direct solver takes steps of semi-implicit Euler too, and its iterations "
        "are sweeps over contacts; few steps take hundreds, which the mean shows and the median does not"
    )
    return Reproduction(PAPERS["simgc"], rows, notes, lambda path: _plot(rows, path))


def _constant_steps(name: str, parameters: dict[str, Any], duration: float) -> dict[str, dict[str, Any]]:
    """Time of a step of every method [µs] and its evaluations: steps of mean size in one compiled call.

    The methods take turns, so that a busy moment of the machine hits all of them; of three rounds the best counts.
    """
    count = round(duration / MEAN)
    simulations = {
        method: Simulation(scene(name, **parameters), dt=MEAN, **options)
        for method, options in METHODS.items()
    }
    taken: dict[str, list[float]] = {method: [] for method in METHODS}
    for _ in range(3):
        for method, simulation in simulations.items():
            simulation.reset()
            began = time.process_time()
            simulation.step(count)
            taken[method].append((time.process_time() - began) / count)
    return {
        method: {
            "us_per_step": 1e6 * min(taken[method]),
            "evaluations_equal_steps": simulation.method.outcome().get("evaluations_mean"),
        }
        for method, simulation in simulations.items()
    }


def _plot(rows: list[dict[str, Any]], path: Path) -> None:
    """Iterations (evaluations of the direct solver) and time, ours beside the paper's."""
    chart = new_figure(9.0, 4.0)
    axes = chart.subplots(1, 2)
    labels = [f"{row['scene']}\n{row['method']}" for row in rows]
    places = np.arange(len(rows))
    work = [row["evaluations"] if row["iterations"] is None else row["iterations"] for row in rows]
    for axis, ours, theirs, title in (
        (axes[0], work, [row["paper_iterations"] for row in rows], "iterations or evaluations a step"),
        (
            axes[1],
            [row["us_per_step"] for row in rows],
            [row["paper_ms"] and 1000 * row["paper_ms"] for row in rows],
            "time a step [µs]",
        ),
    ):
        axis.bar(places - 0.2, ours, 0.4, label="Linkwork")
        axis.bar(places + 0.2, [np.nan if value is None else value for value in theirs], 0.4, label="paper")
        axis.set_yscale("log")
        axis.set_xticks(places, labels, fontsize=7)
        axis.set_title(title)
        axis.legend()
    write_figure(chart, path)
