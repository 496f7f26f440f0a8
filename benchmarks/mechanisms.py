"""Mechanisms with many loops: a row of four-bars of any length, and a random mechanism with joints of all kinds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .stages import DT, STAGES, STEPS, profile
from .timing import Contender, interleave

if TYPE_CHECKING:
    from linkwork.model import Model

SIZES, SIZES_QUICK = (2, 5, 10, 20, 40, 80, 160), (2, 20, 40)
"""Numbers of four-bars."""
MOST_MAXIMAL = 40
"""Four-bars up to which maximal coordinates are measured too."""
LARGE = 20
"""Four-bars from which the exponent of growth is fitted once more."""
BODIES, LOOPS, SEED = 30, 5, 1
# A third of the joints are hinges, as in most machines; every kind is there.
TREE_KINDS = (
    "hinge",
    "universal",
    "slider",
    "hinge",
    "spherical",
    "screw",
    "hinge",
    "cylindrical",
    "planar",
    "weld",
)
LOOP_KINDS = ("spherical", "hinge", "universal", "cylindrical", "planar")
HOW = {
    "*_us": f"direct solver, Adams, 1 ms steps, {STEPS} in one compiled call",
    "exponent": "slope of log(time) over log(number of four-bars), least squares",
}


def exponent(sizes: Sequence[float], times: Sequence[float | None], least: float = 0.0) -> float | None:
    """Power of the size that a time grows with: least squares, sizes from `least` on; None if there are not two."""
    known = [
        (n, us) for n, us in zip(sizes, times, strict=True) if n >= least and us is not None and us > 0.0
    ]
    if len({n for n, _ in known}) < 2:
        return None
    x, y = np.log(np.array(known)).T
    slope, _ = np.polyfit(x, y, 1)
    return float(slope)


def growth(*, quick: bool, repetitions: int, tick: Callable[[], object]) -> dict[str, Any]:
    """Time of a step of rows of four-bars, its stages, and how both grow."""
    from linkwork.run.simulate import Simulation
    from linkwork.scenes import scene

    sizes = SIZES_QUICK if quick else SIZES
    models = {n: scene("n_four_bar", n=n) for n in sizes}
    simulations = {
        f"{method} {n}": Simulation(models[n], method=method, dt=DT)
        for method in ("simgc", "simmc")
        for n in sizes
        if method == "simgc" or n <= MOST_MAXIMAL
    }
    contenders = [
        Contender(name, lambda times, s=s: s.step(STEPS * times), STEPS, s.reset)  # type: ignore[misc]
        for name, s in simulations.items()
    ]
    figures = interleave(contenders, repetitions, shortest=0.0, tick=tick)
    rows = []
    for n in sizes:
        row: dict[str, Any] = {"n": n}
        for method in ("simgc", "simmc"):
            figure, simulation = figures.get(f"{method} {n}"), simulations.get(f"{method} {n}")
            row[f"{method}_us"] = figure.median if figure else None
            row[f"{method}_spread"] = figure.spread if figure else None
            outcome = simulation.method.outcome() if simulation else {}
            row[f"{method}_evaluations"] = outcome.get("evaluations_mean")
        row["stages_us"] = profile(models[n], "simgc", repetitions, tick).stages
        rows.append(row)
    return {"how": HOW, "rows": rows, "exponents": exponents(rows)}


def rounds(quick: bool, repetitions: int) -> int:
    """How often `growth` calls `tick`."""
    return repetitions * (1 + len(SIZES_QUICK if quick else SIZES))


def exponents(rows: list[dict[str, Any]]) -> dict[str, dict[str, float | None]]:
    """Of both methods and of the stages, over all sizes and over the large ones."""
    sizes = [row["n"] for row in rows]
    times = {method: [row[f"{method}_us"] for row in rows] for method in ("simgc", "simmc")}
    times |= {stage: [row["stages_us"][stage] for row in rows] for stage in STAGES}
    return {
        name: {"all": exponent(sizes, column), "large": exponent(sizes, column, LARGE)}
        for name, column in times.items()
    }


def random_mechanism(bodies: int = BODIES, loops: int = LOOPS, seed: int = SEED) -> Model:
    """Bodies in a tree with branches and joints of all kinds; closures where most freedom is left."""
    from linkwork.fuzz.random_mechanisms import build
    from linkwork.fuzz.random_plan import LOOP_KEYS, ON_GROUND, Link, Loop, Plan, spare

    random = np.random.default_rng(seed)
    links = []
    for key in range(bodies):
        parent = key - 1 if random.random() < 0.7 else int(random.integers(ON_GROUND, key))
        links.append(Link(key, TREE_KINDS[key % len(TREE_KINDS)], parent, bool(random.random() < 0.5)))
    closures: list[Loop] = []
    for k in range(loops):
        pairs = [tuple(int(x) for x in random.choice(bodies, 2, replace=False)) for _ in range(5)]
        a, b = max(pairs, key=lambda pair: spare(links, closures, *pair))
        closures.append(Loop(LOOP_KEYS + k, LOOP_KINDS[k % len(LOOP_KINDS)], a, b))
    return build(Plan(tuple(links), tuple(closures), seed=seed, decades=1.0))


def random_thirty(*, repetitions: int, tick: Callable[[], object]) -> dict[str, Any]:
    """Time of a step of the random mechanism, its stages, and what it is made of."""
    from linkwork.run.simulate import Simulation

    model = random_mechanism()
    simulation = Simulation(model, method="simgc", dt=DT)
    simulation.run(1.0, every=1e-3, reactions=False)
    outcome = simulation.method.outcome()
    system = simulation.system
    assert system.rows is not None
    step, _, stages = profile(model, "simgc", repetitions, tick)
    kinds = [placed.joint.kind for placed in system.joints.values()]
    return {
        "bodies": len(system.bodies),
        "loops": LOOPS,
        "dofs": system.nv,
        "rows": len(system.rows.names) - len(outcome["redundant_rows"]),
        "joints": {kind: kinds.count(kind) for kind in sorted(set(kinds))},
        "evaluations": outcome["evaluations_mean"],
        "gap_m": outcome["worst_gap_m"],
        "simgc_us": step,
        "stages_us": stages,
    }
