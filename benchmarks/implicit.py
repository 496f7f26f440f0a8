"""The suite `implicit`: the implicit methods against Exudyn's implicit integrators, at the same steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import exudyn_models
from . import peer_exudyn as exudyn
from .progress import Progress
from .report import Section, grids, made_with, notes_and_targets, number, timed
from .targets import judge_implicit
from .timing import Contender, interleave

if TYPE_CHECKING:
    from rich.table import Table

    from linkwork.model import Model
    from linkwork.model.rotation import Array

GRID = 0.01
"""Errors are looked for at multiples of this time [s]; every step divides it."""
TOLERANCE = 1e-11
"""Of the reference: the direct solver's adaptive integrator."""
REPETITIONS, REPETITIONS_QUICK = 7, 2
EQUAL = 1.01
"""Errors are equal within this factor: the same method differs by less between two programs' ends of iteration."""
TRIED = 0.2
"""Share of a run that Exudyn's linear solvers are tried on."""


_Attempt = tuple[float, Contender, str | None]  # error, what to time, how it was set


class Case(NamedTuple):
    """A mechanism and the coordinate that its errors are taken of."""

    scene: str
    signal: str
    unit: str
    steps: tuple[float, ...]
    """Sizes of steps, coarsest first [s]."""
    forms: tuple[str, ...]
    """How Exudyn is given it: functions of `exudyn_models`."""
    ours: str
    """The method of ours that Exudyn is compared with: the one that we would advise for it. Joint angles of the spatial
    slider-crank run fast near its dead points, points do not."""


CASES = (
    Case("double_four_bar", "A0.angle", "rad", (0.01, 0.005, 0.002, 0.001), ("planar", "tree"), "hybrid"),
    Case(
        "slidercrank3d", "crank.angle", "rad", (0.002, 0.001, 0.0005, 0.00025), ("bodies", "tree"), "global"
    ),
    Case("iltis_quarter", "heave.travel", "m", (0.01, 0.005, 0.002, 0.001), ("bodies",), "hybrid"),
)
INTEGRATORS: dict[str, dict[str, float]] = {
    "trapezoidal": {}, "α, ρ 0.9": {"rho": 0.9}, "α, ρ 0.6": {"rho": 0.6},
}  # fmt: skip
PARTNERS = {
    "α, ρ 0.9": "α, ρ 0.9", "α, ρ 0.6": "α, ρ 0.6", "index 2": "trapezoidal",
}  # fmt: skip
"""The integrator of ours that belongs to one of Exudyn's: the trapezoidal rule is what it calls index 2."""
HOW = {
    "us": "time of a step: a whole run from the start in one compiled call, over its steps; all ways take turns",
    "error": f"largest error of the coordinate named, at multiples of {GRID:g} s, against the direct solver with a "
    f"tolerance of {TOLERANCE:g}",
    "ratio": "of Exudyn: its time over that of our method named in `ours` with the same step and integrator (index 2: "
    "trapezoidal); 0 if that does not arrive",
    "ratio_no_worse": "the same over the most accurate integrator of that method, if its error is no larger, give or "
    "take a hundredth; else 0",
    "ratio_equal": "its time over the time that that method needs for the same error with the same integrator and a "
    "step of its choice: interpolated on logarithmic scales; empty if the error is outside what it was run for",
    "Exudyn": exudyn.HOW,
    "planar": "bodies with three coordinates, joints of two equations",
    "bodies": "bodies with Euler parameters, joints of up to five equations",
    "tree": "joint coordinates, cut where Linkwork cuts, points that coincide close the loops",
}


@dataclass(frozen=True)
class ImplicitResult:
    """Everything that the suite measured, and how."""

    quick: bool
    made_with: dict[str, Any]
    rows: list[dict[str, Any]]
    notes: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        data = {"suite": "implicit", "how": HOW} | asdict(self)
        return data | {"targets": [target._asdict() for target in judge_implicit(data)]}

    def tables(self) -> Iterator[Table]:
        """Tables for the terminal."""
        return grids(sections(self.to_dict()))


def sections(data: dict[str, Any]) -> Iterator[Section]:
    """Every table of a result; the terminal and the page show the same."""
    for case in dict.fromkeys(row["case"] for row in data["rows"]):
        rows = [row for row in data["rows"] if row["case"] == case]
        yield Section(
            f"{case}, {rows[0]['duration_s']:g} s: time of an implicit step [µs], error of {rows[0]['signal']} "
            f"[{rows[0]['unit']}]",
            ("engine", "integrator", "h [ms]", "step", "error", "×", "× no worse", "× equal"),
            [_line(row) for row in rows],
            words=2,
        )
    yield from notes_and_targets(data)


def _line(row: dict[str, Any]) -> tuple[str, ...]:
    error = row["outcome"].partition(":")[0] if row["error"] is None else f"{row['error']:.2g}"
    step = "-" if row["us"] is None else timed({"t_us": row["us"], "t_spread": row["spread"]}, "t")
    ratios = [number(row[name]) for name in ("ratio", "ratio_no_worse", "ratio_equal")]
    return (f"{row['engine']} {row['way']}", row["integrator"], f"{1e3 * row['h']:g}", step, error, *ratios)


def run(*, quick: bool = False, progress: Callable[[float], object] | None = None) -> ImplicitResult:
    """Measure everything; takes some minutes, less than one when quick."""
    from linkwork.scenes import find_scene, scene

    repetitions = REPETITIONS_QUICK if quick else REPETITIONS
    notes: set[str] = set()
    rows: list[dict[str, Any]] = []
    bar = Progress(progress)
    for k, case in enumerate(CASES):
        model, duration = scene(case.scene), find_scene(case.scene).duration
        truth = _reference(case, model, duration)
        peers = _peers(case, model, notes)
        sizes = case.steps[:1] if quick else case.steps
        entries = [entry for h in sizes for entry in _entries(case, model, duration, h, truth, peers)]
        # All sizes take turns too, for errors of one are compared with those of another. A repetition is a whole run,
        # however short: the start is part of no one's time.
        tick = bar.stretch((k + 1) / len(CASES), repetitions)
        contenders = [contender for _, contender in entries if contender is not None]
        figures = interleave(contenders, repetitions, shortest=0.0, tick=tick)
        found = []
        for row, contender in entries:
            figure = None if contender is None else figures[contender.name]
            row["us"], row["spread"] = (None, None) if figure is None else (figure.median, figure.spread)
            found.append(row)
        compare(found)
        rows += found
    bar.to(1.0)
    return ImplicitResult(quick, made_with(repetitions, 0.0), rows, sorted(notes))


def _reference(case: Case, model: Model, duration: float) -> Array:
    """The coordinate at multiples of GRID."""
    from linkwork.run.simulate import Simulation

    exact = Simulation(model, method="simgc", tolerance=TOLERANCE)
    return exact.run(duration, every=GRID, reactions=False)[case.signal]


def _peers(case: Case, model: Model, notes: set[str]) -> dict[str, exudyn.Mechanism]:
    """The mechanism in Exudyn, in every form that it can be given in."""
    from linkwork.model.errors import UnsupportedError
    from linkwork.run.simulate import Simulation

    made: dict[str, exudyn.Mechanism] = {}
    start = Simulation(model, method="simgc")
    for form in case.forms:
        try:
            made[form] = getattr(exudyn_models, form)(model, start, case.signal)
        except ImportError:
            notes.add("Exudyn is not installed: its figures are empty")
        except UnsupportedError as refusal:
            notes.add(f"{case.scene} is not run by Exudyn: {refusal}")
    return made


def _entries(
    case: Case, model: Model, duration: float, h: float, truth: Array, peers: dict[str, exudyn.Mechanism]
) -> Iterator[tuple[dict[str, Any], Contender | None]]:
    """Everyone with one size of step: a row with its error, and what is to be timed if it arrives."""
    from linkwork.methods.registry import WAYS

    count = round(duration / h)
    attempts: dict[tuple[str, str, str], Callable[[], _Attempt]] = {}
    for method in (way.method for way in WAYS if way.steps == "implicit"):
        for integrator, options in INTEGRATORS.items():
            attempts["linkwork", method, integrator] = partial(
                _ours, case, model, duration, h, truth, method, options
            )
    for form, mechanism in peers.items():
        for scheme in exudyn.SCHEMES.values():
            attempts["exudyn", form, scheme.label] = partial(_theirs, mechanism, scheme, h, count, truth)
    for who, attempt in attempts.items():
        row: dict[str, Any] = {
            "case": case.scene,
            "signal": case.signal,
            "unit": case.unit,
            "ours": case.ours,
        }
        row |= {
            "duration_s": duration,
            "h": h,
            **dict(zip(("engine", "way", "integrator"), who, strict=True)),
        }
        try:
            error, contender, setting = attempt()
        except ArithmeticError as failure:
            yield row | {"error": None, "outcome": str(failure), "setting": None}, None
        else:
            named = contender._replace(name=f"{h:g} {who}")
            yield row | {"error": error, "outcome": None, "setting": setting}, named


def _ours(
    case: Case, model: Model, duration: float, h: float, truth: Array, method: str, options: dict[str, float]
) -> _Attempt:
    """Error and contender of one of our methods; ArithmeticError if it does not arrive."""
    from linkwork.model.errors import SimulationError, UnsupportedError
    from linkwork.run.simulate import Simulation

    try:
        simulation = Simulation(model, method=method, dt=h, **options)  # type: ignore[arg-type]
        record = simulation.run(duration, every=GRID, reactions=False)
    except SimulationError as failure:
        raise ArithmeticError(f"no convergence: {str(failure).partition(';')[0]}") from None
    except UnsupportedError as refusal:
        raise ArithmeticError(f"refused: {str(refusal).partition(';')[0]}") from None
    count = round(duration / h)
    error = float(np.abs(record[case.signal] - truth).max())
    return error, Contender("", lambda _: simulation.step(count), count, simulation.reset), None


def _theirs(
    mechanism: exudyn.Mechanism, scheme: exudyn.Scheme, h: float, count: int, truth: Array
) -> _Attempt:
    """The same of Exudyn, with the fastest of its linear solvers that arrives."""
    tried = {}
    for setting in exudyn.SETTINGS:
        try:
            tried[setting] = exudyn.seconds(mechanism, scheme, setting, h, max(1, int(TRIED * count)))
        except ArithmeticError:
            continue
    for setting in sorted(tried, key=lambda s: tried[s]):
        try:
            found = mechanism.motion(scheme, setting, h, count, round(GRID / h))
        except ArithmeticError:
            continue
        error = float(np.abs(found - truth).max())
        return error, Contender("", _solving(mechanism, scheme, setting, h, count), count), setting.label
    raise ArithmeticError("no convergence: with none of its linear solvers")


def _solving(
    mechanism: exudyn.Mechanism, scheme: exudyn.Scheme, setting: exudyn.Setting, h: float, count: int
) -> Callable[[int], None]:
    """A run from the start, whatever it is asked for."""
    return lambda _: mechanism.solve(scheme, setting, h, count)


def compare(rows: list[dict[str, Any]]) -> None:
    """Fill in how many times faster than Exudyn our method for it is, for all sizes of steps of one case.

    Who is compared with whom is never decided by a time: the fastest of several would owe some of its lead to chance.
    """
    ours = [row for row in rows if row["way"] == row["ours"] and row["us"] is not None]
    for row in rows:
        row |= {"ratio": None, "ratio_no_worse": None, "ratio_equal": None}
        if row["engine"] == "linkwork" or row["us"] is None:
            continue
        same = {other["integrator"]: other for other in ours if other["h"] == row["h"]}
        partner = same.get(PARTNERS[row["integrator"]])
        row["ratio"] = row["us"] / partner["us"] if partner else 0.0
        best = min(same.values(), key=lambda other: float(other["error"]), default=None)
        as_good = best is not None and best["error"] <= EQUAL * row["error"]
        row["ratio_no_worse"] = row["us"] / best["us"] if best is not None and as_good else 0.0
        like = [other for other in ours if other["integrator"] == PARTNERS[row["integrator"]]]
        cost = _cost(like, row["error"])
        row["ratio_equal"] = None if cost is None else row["us"] / row["h"] / cost


def _cost(like: list[dict[str, Any]], error: float) -> float | None:
    """Time per simulated time that runs alike but for the step need for an error; None if it is not between theirs."""
    found = [(row["error"], row["us"] / row["h"]) for row in like]
    for (e0, c0), (e1, c1) in pairwise(found):
        if min(e0, e1) <= error <= max(e0, e1) and e0 != e1:
            share = np.log(error / e0) / np.log(e1 / e0)
            return float(c0 * (c1 / c0) ** share)
    return None
