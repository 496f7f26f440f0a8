"""The car of Vlasenko and Kasper: drift, height, what subsystems save, and how the cost grows with the model.

The paper has a figure of its car and no table. Its four results are run here: drift of the constraints, distance from
another program's solution, partitioned against monolithic equations, and cost in proportion to the bodies. The
monolithic equations are the same code with all bodies in one subsystem, whose matrix is dense.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ..compile.subsystems import hierarchy, monolith
from ..mechanism.kinematics import Kinematics
from ..methods.components import ComponentMethod
from ..methods.part import Steps
from ..model import Model
from ..model.rotation import Array
from ..results.record import Record
from ..run.simulate import Simulation
from ..scenes import car
from ..scenes.n_four_bar import four_bar_chain
from . import PAPERS, Reproduction

DT, DURATION = car.DT, car.DURATION
COARSE = 10
"""The reference has a line every so many steps."""
PUBLISHED = {"drift_m": 1e-10, "z_error_m": 1e-5, "speedup": 4.0, "exponent": 1.0}
"""Orders of magnitude in the paper's words, and O(N)."""
OTHERS: dict[str, dict[str, str]] = {
    "simgc": {"integrator": "rk4"},
    "simmc": {"integrator": "rk4"},
    "hybrid": {},
}
"""Other methods that drive the same car, and their settings."""
LARGE = 10
"""Exponents are also fitted from so many cars or cells on: below, what a step costs anyway shows."""
ROUNDS = 5
"""Times, of the processor, are the shortest of so many rounds, in which all that is compared takes turns."""
PATIENCE, QUICK_PATIENCE = 0.2, 0.05  # time for one measurement [s], as far as it takes no more than a step
_MOST = (
    80  # steps of a measurement: all rounds end before a chain of four-bars lies flat, a singular position
)

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True)
class Growth:
    """Models of many sizes, and up to which one their monolithic equations are worth waiting for."""

    unit: str
    build: Callable[[int], Model]
    sizes: tuple[int, ...]
    monolithic: int


GROWTHS = {
    "trains": Growth("cars", car.train, (1, 2, 5, 10, 20, 50, 100, 200), 5),
    "chains": Growth("cells", four_bar_chain, (1, 2, 5, 10, 20, 50, 100, 200, 400), 20),
}
QUICK = {"trains": (1, 10, 20), "chains": (1, 10, 20, 40)}
"""Sizes for a first look."""


def reproduce(progress: Callable[[float], object] | None = None, quick: bool = False) -> Reproduction:
    """Run all of it; `quick` leaves the large models out."""

    def tell(share: float) -> None:
        if progress is not None:
            progress(share)

    rides = {joints: ride(joints) for joints in car.JOINTS}
    tell(0.1)
    found = accuracy(rides)
    agreement = {method: apart(rides["redundant"].record, other_method(method)) for method in OTHERS}
    tell(0.2)
    patience = QUICK_PATIENCE if quick else PATIENCE
    speed = {joints: divided(joints, patience) for joints in car.JOINTS}
    tell(0.25)
    growths = {}
    for i, (name, growth) in enumerate(GROWTHS.items()):
        growths[name] = grown(growth, QUICK[name] if quick else growth.sizes, patience)
        tell(0.25 + 0.75 * (i + 1) / len(GROWTHS))
    exponents = {name: exponent(lines) for name, lines in growths.items()}
    large = {name: exponent(lines, LARGE) for name, lines in growths.items()}
    figures = {
        "drift_m": max(one["drift_m"] for one in found.values()),
        "drift_rate_m_s": max(one["drift_rate_m_s"] for one in found.values()),
        "z_error_m": max(one["z_error_m"] for one in found.values()),
        "variants_apart_m": apart(*(one.record for one in rides.values()))["positions_m"],
        "speedup": speed["redundant"]["speedup"],
        "speedup_written": speed["redundant"]["speedup_written"],
        "exponent": max(exponents.values()),
        "exponents": exponents,
        "exponents_large": large,
        "variants": found,
        "agreement": agreement,
        "speed": speed,
        **growths,
    }
    return Reproduction(
        PAPERS["components"],
        _rows(figures),
        _notes(figures),
        lambda path: _plot(rides, figures, path),
        figures=figures,
    )


# --- the car ---


@dataclass(frozen=True)
class Ride:
    """The paper's six seconds, every step of them."""

    record: Record
    rates: Array
    """Largest rate of a constraint, every `COARSE` steps [m/s or rad/s]."""


def ride(joints: str) -> Ride:
    """Drive the car with subsystems as by default, RK4 and the paper's step."""
    simulation = Simulation(car.build(joints), method="components", integrator="rk4", dt=DT)
    record = simulation.run(DURATION, every=DT, reactions=False)
    simulation.reset()
    method = simulation.method
    _, _, (_, q, v, *_) = method.advance(range(COARSE, round(DURATION / DT) + 1, COARSE))
    kinematics = Kinematics(method.system)
    hold: Any = kinematics.hold
    rates = []
    for pose, speed in zip(q, v, strict=True):
        kinematics.place(pose, speed)
        rates.append(np.abs(kinematics.jacobian(hold) @ speed).max())
    return Ride(record, np.array(rates))


def reference() -> tuple[Array, Array]:
    """Time [s] and height of the chassis [m] of an independent solution."""
    text = (files(__package__) / "data" / "car_height.csv").read_text(encoding="utf-8")
    table = np.loadtxt(text.splitlines(), delimiter=",", skiprows=2)
    return table[:, 0], table[:, 1]


def height(record: Record) -> Array:
    """Height of the chassis [m]."""
    return np.array(record["chassis.position.z"])


def accuracy(rides: Mapping[str, Ride]) -> dict[str, dict[str, float]]:
    """Drift and distance from the reference of each way to hold the dampers."""
    t, z = reference()
    found = {}
    for joints, one in rides.items():
        assert np.allclose(one.record.time[::COARSE], t, atol=1e-9)
        found[joints] = {
            "drift_m": float(np.max(one.record["solver.gap"])),
            "drift_rate_m_s": float(one.rates.max()),
            "z_error_m": float(np.abs(height(one.record)[::COARSE] - z).max()),
        }
    return found


def other_method(method: str) -> Record:
    """The ride of the car by another method, in steps of equal size."""
    simulation = Simulation(car.build(), method=method, dt=DT, **OTHERS[method])  # type: ignore[arg-type]
    return simulation.run(DURATION, every=COARSE * DT, reactions=False)


def apart(one: Record, other: Record) -> dict[str, float]:
    """Largest differences of the chassis' height and of all positions of bodies [m]."""
    stride = (len(one.time) - 1) // (len(other.time) - 1)
    names = [name for name in other.names if ".position." in name]
    far = max(float(np.abs(one[name][::stride] - other[name]).max()) for name in names)
    return {"z_m": float(np.abs(height(one)[::stride] - height(other)).max()), "positions_m": far}


# --- what it costs ---


def divided(joints: str, patience: float) -> dict[str, float]:
    """Time of a step [µs]: subsystems as by default, as written, and none; how much the first two save."""
    model = car.build(joints)
    steps = Steps("rk4", DT, 1.0)
    taken = interleaved(
        {
            "refined": ComponentMethod(model, steps),
            "written": ComponentMethod(model, steps, hierarchy(model)),
            "monolithic": ComponentMethod(model, steps, monolith(model)),
        },
        patience,
    )
    return {
        **{f"{name}_us": us for name, us in taken.items()},
        "speedup": taken["monolithic"] / taken["refined"],
        "speedup_written": taken["monolithic"] / taken["written"],
    }


def grown(growth: Growth, sizes: tuple[int, ...], patience: float) -> list[dict[str, Any]]:
    """Time of a step [µs] over the size of a model."""
    steps = Steps("rk4", DT, 1.0)
    methods: dict[tuple[int, bool], ComponentMethod] = {}
    lines: list[dict[str, Any]] = []
    for size in sizes:
        model = growth.build(size)
        began = time.process_time()
        made = methods[size, True] = ComponentMethod(model, steps)
        ready = time.process_time() - began
        if size <= growth.monolithic:
            methods[size, False] = ComponentMethod(model, steps, monolith(model))
        bodies, equations = len(made.system.bodies), len(Kinematics(made.system).hold)
        lines.append({growth.unit: size, "bodies": bodies, "equations": equations, "setup_s": ready})
    taken = interleaved(methods, patience)
    for line, size in zip(lines, sizes, strict=True):
        line |= {"us_per_step": taken[size, True], "monolithic_us": taken.get((size, False))}
    return lines


def interleaved(methods: Mapping[K, ComponentMethod], patience: float) -> dict[K, float]:
    """Time of a step of each [µs]: they take turns, and the best of all rounds counts."""
    steps: dict[K, int] = {}
    for name, method in methods.items():
        method.advance([1])  # compiles, and takes up the motion
        began = time.process_time()
        method.advance([2])
        steps[name] = max(1, min(_MOST, int(patience / (time.process_time() - began))))
    best = dict.fromkeys(methods, np.inf)
    for _ in range(ROUNDS):
        for name, method in methods.items():
            goal = int(method.state.clock.steps) + steps[name]
            began = time.process_time()
            method.advance([goal])
            best[name] = min(best[name], (time.process_time() - began) / steps[name])
    return {name: 1e6 * seconds for name, seconds in best.items()}


def exponent(lines: list[dict[str, Any]], least: int = 1) -> float:
    """p of time ~ Nᵖ, fitted to sizes of at least so many cars or cells."""
    fitted = [(size, line["us_per_step"]) for line in lines if (size := next(iter(line.values()))) >= least]
    sizes, times = np.log(np.array(fitted)).T
    return float(np.polyfit(sizes, times, 1)[0])


# --- what it says ---


def _rows(figures: dict[str, Any]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []

    def add(
        quantity: str, value: float, unit: str, paper: str | None = None, monolithic: float | None = None
    ) -> None:
        rows.append(
            {"quantity": quantity, "linkwork": value, "monolithic": monolithic, "paper": paper, "unit": unit}
        )

    for joints, one in figures["variants"].items():
        add(f"{joints} joints: largest gap", one["drift_m"], "m", "order 1e-10")
        add(f"{joints} joints: largest rate of a gap", one["drift_rate_m_s"], "m/s")
        add(f"{joints} joints: height, from the reference", one["z_error_m"], "m", "order 1e-5")
    add("positions of all bodies, both kinds of joints", figures["variants_apart_m"], "m")
    for method, off in figures["agreement"].items():
        add(f"height, from {method}", off["z_m"], "m")
        add(f"positions of all bodies, from {method}", off["positions_m"], "m")
    for joints, one in figures["speed"].items():
        add(f"{joints} joints: step as written", one["written_us"], "µs", monolithic=one["monolithic_us"])
        add(f"{joints} joints: step", one["refined_us"], "µs", monolithic=one["monolithic_us"])
        add(f"{joints} joints: times faster", one["speedup"], "1", "about 4")
    for name, growth in GROWTHS.items():
        for line in figures[name]:
            label = f"{line[growth.unit]} {growth.unit}, {line['bodies']} bodies: step"
            add(label, line["us_per_step"], "µs", monolithic=line["monolithic_us"])
        add(f"{name}: exponent of the bodies", figures["exponents"][name], "1", "O(N)")
        add(f"{name}: the same from {LARGE} {growth.unit} on", figures["exponents_large"][name], "1", "O(N)")
    return rows


def _notes(figures: dict[str, Any]) -> list[str]:
    written = figures["speedup_written"]
    return [
        f"car: RK4 in steps of {1e3 * DT:g} ms for {DURATION:g} s, as in the paper; a car of as many bodies and joints",
        "paper: its drift is as large as the rounding of its CAD data, its other program is Simpack",
        "reference: relative coordinates and loop closure by other programs (its file says which), error 1e-13 m",
        f"hybrid is of second order: at {1e3 * DT:g} ms it is apart by its own error",
        f"times faster: than with all bodies in one subsystem; as written, in three levels, {written:.1f} times",
        f"exponents: fitted to all sizes, and to the larger ones; times: the shortest of {ROUNDS} rounds in turns",
        "times: of the processor",
    ]


def _plot(rides: Mapping[str, Ride], figures: dict[str, Any], path: Path) -> None:
    from .components_plot import plot  # matplotlib is optional

    one = rides["redundant"]
    t, z = reference()
    plot(path, one.record.time, height(one.record), t, z, one.record["solver.gap"], figures)
