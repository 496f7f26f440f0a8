"""Table 1 of the SIMGC paper: time and iterations a step, SIMMC against SIMGC.

The paper's steps vary and are at most 10 ms; so do these, by a fixed pattern. Impulses end at 1e-6.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..results.plot import new_figure, write_figure
from ..scenes import scene
from ..simulate import Simulation
from . import PAPERS, Reproduction

# (scene, parameters, simulated time [s]) and the paper's (time a step [ms], iterations) on a 3 GHz Pentium D.
CASES: tuple[tuple[str, dict[str, Any], float], ...] = (
    ("chain5", {"friction": 1.0}, 10.0),
    ("peaucellier", {"swing": 0.25}, 10.0),
)
PAPER = {
    ("chain5", "simmc"): (0.5, 100), ("chain5", "simgc"): (0.1, 6),
    ("peaucellier", "simmc"): (16.0, 2300), ("peaucellier", "simgc"): (1.2, 40),
}  # fmt: skip
LONGEST, MEAN = 0.01, 0.005


def steps(duration: float) -> np.ndarray:
    """Step sizes between 1 and 10 ms, the same every time, that fill `duration` [s]."""
    random = np.random.default_rng(1)
    sizes = random.uniform(0.1 * LONGEST, LONGEST, int(2.5 * duration / LONGEST))
    return sizes[np.cumsum(sizes) <= duration]


def reproduce(progress: Callable[[float], object] | None = None) -> Reproduction:
    """Run both scenes with both methods."""
    rows = []
    plan = [(case, method) for case in CASES for method in ("simmc", "simgc")]
    for done, ((name, parameters, duration), method) in enumerate(plan):
        sizes = steps(duration)
        simulation = Simulation(scene(name, **parameters), method=method, iterations=10_000)
        for h in sizes:
            simulation.step(dt=float(h))
        outcome = simulation.method.outcome()
        paper_ms, paper_iterations = PAPER[name, method]
        rows.append(
            {
                "scene": name,
                "method": method,
                "iterations": outcome["iterations_mean"],
                "us_per_step": _time_of_step(name, parameters, method, duration),
                "paper_iterations": paper_iterations,
                "paper_ms": paper_ms,
                "worst_gap_m": outcome["worst_gap_m"],
                "steps": len(sizes),
            }
        )
        if progress is not None:
            progress((done + 1) / len(plan))
    notes = []
    found = {(row["scene"], row["method"]): row for row in rows}
    for name, _, _ in CASES:
        slow, fast = found[name, "simmc"], found[name, "simgc"]
        ratio, paper = slow["us_per_step"] / fast["us_per_step"], slow["paper_ms"] / fast["paper_ms"]
        notes.append(f"{name}: simmc takes {ratio:.1f} times as long as simgc, in the paper {paper:.1f}")
    notes.append(
        f"iterations: steps of 1 to {1e3 * LONGEST:g} ms; times: steps of {1e3 * MEAN:g} ms in one call"
    )
    return Reproduction(PAPERS["simgc"], rows, notes, lambda path: _plot(rows, path))


def _time_of_step(name: str, parameters: dict[str, Any], method: str, duration: float) -> float:
    """Time of a step [µs], the best of three runs of steps of mean size inside one compiled call."""
    simulation = Simulation(scene(name, **parameters), method=method, dt=MEAN, iterations=10_000)
    count = round(duration / MEAN)
    taken = []
    for _ in range(3):
        simulation.reset()
        began = time.perf_counter()
        simulation.step(count)
        taken.append((time.perf_counter() - began) / count)
    return 1e6 * min(taken)


def _plot(rows: list[dict[str, Any]], path: Path) -> None:
    """Iterations and time, ours beside the paper's."""
    chart = new_figure(9.0, 4.0)
    axes = chart.subplots(1, 2)
    labels = [f"{row['scene']}\n{row['method']}" for row in rows]
    places = np.arange(len(rows))
    for axis, ours, theirs, title in (
        (axes[0], "iterations", "paper_iterations", "iterations a step"),
        (axes[1], "us_per_step", "paper_ms", "time a step [µs]"),
    ):
        factor = 1000 if theirs == "paper_ms" else 1
        axis.bar(places - 0.2, [row[ours] for row in rows], 0.4, label="Linkwork")
        axis.bar(places + 0.2, [factor * row[theirs] for row in rows], 0.4, label="paper")
        axis.set_yscale("log")
        axis.set_xticks(places, labels)
        axis.set_title(title)
        axis.legend()
    write_figure(chart, path)
