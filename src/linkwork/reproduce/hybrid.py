"""The three tables of Cuadrado and Dopico: global, topological and hybrid formulation at large steps.

Every run is of the paper's length, in steps of the paper's size and some of our own; a step that does not converge is
halved, and how many were is told. What ends a run early is told in words in place of its error.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..model.errors import SimulationError, UnsupportedError
from ..results.plot import new_figure, write_figure
from ..run.simulate import Simulation
from ..scenes import find_scene, scene
from . import PAPERS, Reproduction

if TYPE_CHECKING:
    from ..results.record import Record

METHODS = ("global", "topological", "hybrid")
RUNS = 3
"""Times are the shortest of so many runs."""
LOST, WRONG = "no convergence", "wrong results"

Published = tuple[float | str, float | None]
"""Error or outcome, and CPU time [s] (Matlab)."""


@dataclass(frozen=True)
class Table:
    """A table of the paper."""

    scene: str
    measure: str
    """What its errors are."""
    unit: str
    error: Callable[[Record], float]
    steps: tuple[float, ...]
    """[s]"""
    published: dict[str, tuple[Published, ...]]
    """By method, in the order of `steps`."""
    variants: tuple[dict[str, Any], ...] = field(default=({},))
    """Parameters of the scene to run it with."""
    beyond: tuple[tuple[float, dict[str, Any]], ...] = ()
    """Steps that the paper does not have, with settings of the method."""

    def runs(self, method: str) -> list[tuple[float, dict[str, Any], Published]]:
        """Step, settings, and what the paper says of it."""
        own: list[tuple[float, dict[str, Any], Published]] = [(h, how, ("-", None)) for h, how in self.beyond]
        return own + [(h, {}, told) for h, told in zip(self.steps, self.published[method], strict=True)]


def largest_deviation(record: Record) -> float:
    """Of kinetic, gravitational and elastic energy from the start, with its sign [J]."""
    total = record["energy.kinetic"] + record["energy.gravity"] + record["energy.strain"]
    change = total - total[0]
    return float(change[np.abs(change).argmax()])


def lost_less_dissipated(record: Record) -> float:
    """Gravitational energy lost less the energy that the shock absorber dissipated [J]."""
    gravity = record["energy.gravity"]
    return float(gravity[0] - gravity[-1] - record["energy.dissipated"][-1])


def way_of_hand(record: Record) -> float:
    """Distance of the tool at the end from where it began [m]."""
    path = np.column_stack([record[f"tool.position.{axis}"] for axis in "xyz"])
    return float(np.linalg.norm(path[-1] - path[0]))


TABLES = (
    Table(
        "double_four_bar",
        "largest deviation of kinetic and potential energy",
        "J",
        largest_deviation,
        (0.01, 0.03, 0.05, 0.1),
        {
            "global": ((-0.21, 0.86), (-0.83, 0.37), (-9.03, 0.26), (WRONG, None)),
            "topological": ((LOST, None),) * 4,
            "hybrid": ((-0.01, 3.20), (-0.12, 1.32), (-0.34, 0.83), (-1.34, 0.52)),
        },
    ),
    Table(
        "iltis_quarter",
        "lost gravitational less dissipated energy",
        "J",
        lost_less_dissipated,
        (0.001, 0.01, 0.03),
        {
            "global": ((-43.13, 17.8), (-43.45, 2.04), (-57.96, 0.84)),
            "topological": ((-43.49, 45.7), (-44.06, 6.04), (LOST, None)),
            "hybrid": ((-42.05, 43.2), (-42.80, 5.44), (LOST, None)),
        },
        ({"mass": 325.0}, {"mass": 315.0}),
        ((0.001, {"tolerance": 1e-10}),),
    ),
    Table(
        "puma_hold",
        "distance of the hand's first and last position",
        "m",
        way_of_hand,
        (0.01, 0.05, 0.1),
        {
            "global": ((0.53, 6.25), (3.4, 1.92), (LOST, None)),
            "topological": ((0.26, 3.05), (1.5, 1.20), (3.2, 0.78)),
            "hybrid": ((0.34, 4.02), (1.8, 1.74), (LOST, None)),
        },
        beyond=((0.0025, {}), (0.005, {})),
    ),
)
NOTES = {
    "double_four_bar": "the trapezoidal rule on the exact equation of one degree of freedom gives -0.0137, "
    "-0.1228, -0.3403 and -1.3428 J: the paper's hybrid column to every printed digit",
    "iltis_quarter": "the paper's error is none of integration: what gravity lost and the shock absorber did "
    "not dissipate is in springs and tyre, or was lost with the kerb, whatever the step; it is printed with the other "
    "sign. The paper has no mass of the block: 315 kg is a quarter of the vehicle, 325 kg is fitted to the paper's "
    "figure. The error of integration is in the audited balance; most of it is made where tyre and bump stop begin to "
    "push, and goes with a tolerance, by which such steps are halved",
    "puma_hold": "the paper names neither the unit of its distances nor its motion, so that orders compare, "
    "not figures; ours are in m",
}


def reproduce(progress: Callable[[float], object] | None = None) -> Reproduction:
    """Run all scenes with all methods and steps."""
    total = sum(len(table.variants) * len(table.runs(method)) for table in TABLES for method in METHODS)
    rows: list[dict[str, Any]] = []
    notes: list[str] = []
    for table in TABLES:
        for row in run_table(table):
            rows.append(row)
            if progress is not None:
                progress(len(rows) / total)
        notes += [
            f"{table.scene}, error: {table.measure} [{table.unit}]",
            f"{table.scene}: {NOTES[table.scene]}",
        ]
    notes += [*convergence(rows)]
    notes += dict.fromkeys(f"{row['scene']}, {row['method']}: {row['why']}" for row in rows if row["why"])
    notes.append(
        f"cpu_s: process time of a whole run in compiled code, the shortest of {RUNS}; the paper's is Matlab's"
    )
    return Reproduction(
        PAPERS["hybrid"], rows, notes, lambda path: _plot(rows, path), hidden=("why", "unit", "measure")
    )


def run_table(table: Table, methods: tuple[str, ...] = METHODS) -> Iterator[dict[str, Any]]:
    """Rows of one table."""
    for parameters in table.variants:
        label = table.scene + "".join(f" {name}={value:g}" for name, value in parameters.items())
        for method in methods:
            for h, settings, (paper_error, paper_cpu) in table.runs(method):
                told = "".join(f" {name}={value:g}" for name, value in settings.items())
                yield {
                    "scene": label + told,
                    "method": method,
                    "h": h,
                    **_run(table, parameters, method, h, settings),
                    "paper_error": paper_error,
                    "paper_cpu_s": paper_cpu,
                    "unit": table.unit,
                    "measure": table.measure,
                }


def _run(
    table: Table, parameters: dict[str, Any], method: str, h: float, settings: dict[str, Any]
) -> dict[str, Any]:
    """Error, audited balance [J], steps that were halved and CPU time of a run."""
    count = int(find_scene(table.scene).duration / h + 1e-9)
    found: dict[str, Any] = {"error": None, "why": None, "balance_J": None, "halved": None, "cpu_s": None}
    try:
        simulation = Simulation(scene(table.scene, **parameters), method=method, dt=h, **settings)
        record = simulation.run(count * h, every=h, reactions=False)  # compiles what is to be timed
        found["error"] = table.error(record)
        balance = record["energy.balance"]
        found["balance_J"] = float(balance[np.abs(balance).argmax()])
        found["halved"] = simulation.method.outcome().get("steps_halved")
        found["cpu_s"] = min(_timed(simulation, count) for _ in range(RUNS))
    except SimulationError as failure:
        found["error"], found["why"] = LOST, str(failure)
    except UnsupportedError as refusal:
        found["error"], found["why"] = "refused", str(refusal)
    return found


def _timed(simulation: Simulation, count: int) -> float:
    simulation.reset()
    began = time.process_time()
    simulation.step(count)
    return time.process_time() - began


def convergence(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Orders of convergence between neighbouring steps where errors vanish with the step."""
    vanishing = [row for row in rows if row["scene"] == "puma_hold"]
    for method in METHODS:
        found = [(row["h"], row["error"]) for row in vanishing if row["method"] == method]
        orders = [
            f"{np.log(e1 / e0) / np.log(h1 / h0):.2f} from {h1:g} to {h0:g} s"
            for (h0, e0), (h1, e1) in pairwise(found)
            if not isinstance(e0, str) and not isinstance(e1, str)
        ]
        if orders:
            yield f"puma_hold, {method}: order of convergence {', '.join(orders)}"


def _plot(rows: list[dict[str, Any]], path: Path) -> None:
    """Size of errors over the step, ours beside the paper's; runs that were lost are left out."""
    rows = [row for row in rows if "tolerance" not in row["scene"]]
    scenes = list(dict.fromkeys(row["scene"] for row in rows))
    chart = new_figure(4.5 * len(scenes), 4.0)
    for axis, name in zip(np.atleast_1d(chart.subplots(1, len(scenes))), scenes, strict=True):
        for color, method in zip(("C0", "C1", "C2"), METHODS, strict=True):
            mine = [row for row in rows if row["scene"] == name and row["method"] == method]
            for column, style, who in (("error", "o-", "Linkwork"), ("paper_error", "s--", "paper")):
                known = [(row["h"], abs(row[column])) for row in mine if not isinstance(row[column], str)]
                if known:
                    draw = axis.semilogx if name.startswith("iltis") else axis.loglog
                    draw(*zip(*known, strict=True), style, color=color, label=f"{method}, {who}")
        axis.set_title(
            f"{name}: error [{next(row['unit'] for row in rows if row['scene'] == name)}]", fontsize=9
        )
        axis.set_xlabel("step [s]")
        axis.legend(fontsize=7)
    write_figure(chart, path)
