"""The suite `vehicle`: a vehicle of double wishbones against MuJoCo, fleets of it, and the robot with its cart."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from .mechanisms import exponent
from .progress import Progress
from .report import Section, grids, made_with, notes_and_targets, number
from .targets import Target, _least, _most
from .timing import SHORTEST, Contender, interleave
from .view import watched

if TYPE_CHECKING:
    from rich.table import Table

    from linkwork.model import Model

DT = 1e-3
STEPS = 1000
"""Of the run that gaps are taken from: a second."""
REPETITIONS, REPETITIONS_QUICK = 11, 3
FLEETS, FLEETS_QUICK = (1, 3, 10, 30, 100), (1, 3, 10)
APART = 3.0  # of vehicles side by side [m]
OURS: dict[str, dict[str, bool]] = {
    "rigid": {},
    "tyres": {"tyres": True},
    "rods": {"tyres": True, "rods": True},
}
LABELS = {
    "rigid": "rigid wheels", "tyres": "handling tyres", "rods": "handling tyres, tie rods as distance joints",
    "mujoco": "MuJoCo, rigid wheels",
}  # fmt: skip
MUJOCO_US = 22.0
"""Time of a step of MuJoCo on the machine that targets are stated for [µs]; they scale with what it takes here."""
TARGETS = {"rigid": 15.0, "tyres": 13.0, "rods": 11.0}
"""[µs]"""
FRAME_MS = 40.0
MESSAGES = 58.0
"""Of 60 that are sent in a second, those that a visitor gets at least."""
SECONDS, SECONDS_QUICK = 8.0, 2.0
HOW = {
    "us": "direct solver, 1 ms steps, many in one compiled call; each time from 0.2 s on; time that "
    "this process computes, whatever else the machine does",
    "mujoco": "mj_step(model, data, nstep), Euler, default options; loops by connect, springs as tendons, wheels as "
    "spheres",
    "gap": "largest distance of two points that a loop holds together, over the last of a second; of Linkwork of any "
    "row, over all of it",
    "fleet": "as many vehicles with handling tyres, side by side in one model",
    "krt100": "the robot with its cart over the hill: 40 steps of 1 ms are a frame",
    "live": "the same live at 1 kHz, watched by a visitor who reads every message; by the clock, so that other "
    "work of the machine counts",
}


@dataclass(frozen=True)
class VehicleResult:
    """Everything that the suite measured, and how."""

    quick: bool
    made_with: dict[str, Any]
    rows: list[dict[str, Any]]
    fleet: dict[str, Any]
    krt_frame_ms: float
    live: dict[str, Any]
    notes: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        data = {"suite": "vehicle", "how": HOW} | asdict(self)
        return data | {"targets": [target._asdict() for target in judge(data)]}

    def tables(self) -> Iterator[Table]:
        """Tables for the terminal."""
        return grids(sections(self.to_dict()))


def run(*, quick: bool = False, progress: Callable[[float], object] | None = None) -> VehicleResult:
    """Measure everything; takes some minutes."""
    repetitions = REPETITIONS_QUICK if quick else REPETITIONS
    bar, notes = Progress(progress), list[str]()
    rows = _against(repetitions, bar.stretch(0.4, repetitions), notes)
    sizes = FLEETS_QUICK if quick else FLEETS
    tick = bar.stretch(0.9, len(sizes))
    times = [_fleet_time(count, repetitions, tick) for count in sizes]
    fleet = {"vehicles": list(sizes), "us": times, "exponent": exponent(sizes, times, 3)}
    frame, live = _krt(repetitions), _live(SECONDS_QUICK if quick else SECONDS)
    bar.to(1.0)
    return VehicleResult(quick, made_with(repetitions, SHORTEST), rows, fleet, frame, live, notes)


def _against(repetitions: int, tick: Callable[[], object], notes: list[str]) -> list[dict[str, Any]]:
    """One vehicle, ours and MuJoCo's in turns."""
    from linkwork.run.simulate import Simulation

    from .vehicle import vehicle

    ours = {key: Simulation(vehicle(**options), dt=DT) for key, options in OURS.items()}

    def settle(simulation: Simulation) -> Callable[[], None]:
        def reset() -> None:
            simulation.reset()
            simulation.step(200)

        return reset

    contenders = [Contender(key, sim.step, reset=settle(sim)) for key, sim in ours.items()]
    peer: Any = None
    try:
        from .vehicle_mujoco import MujocoVehicle

        peer = MujocoVehicle(DT)

        def again() -> None:
            peer.reset()
            peer.run(200)

        contenders.append(Contender("mujoco", peer.run, reset=again))
    except ImportError:
        notes.append("MuJoCo is not installed: its figures are empty")
    figures = interleave(contenders, repetitions, tick=tick, clock=time.process_time)
    gaps: dict[str, float] = {}
    for key, simulation in ours.items():
        simulation.reset()
        gaps[key] = float(simulation.run(STEPS * DT).info["worst_gap_m"])
    if peer is not None:
        peer.reset()
        peer.run(STEPS)
        gaps["mujoco"] = peer.gap
    return [
        {"case": key, "us": figure.median, "spread": figure.spread, "gap_m": gaps[key]}
        for key, figure in figures.items()
    ]


def fleet(count: int) -> Model:
    """Vehicles with handling tyres side by side on one road."""
    from linkwork.model import Component, Model

    from .vehicle import vehicle

    one = vehicle(tyres=True)
    model = Model("fleet")
    for shelf in (one.materials, one.scenery):
        for thing in shelf.values():
            model.add(thing)
    part = Component("vehicle")
    part.take_from(one)
    part.materials, part.scenery = {}, {}
    for k in range(count):
        model.add(part.instance(f"v{k}", at=(0.0, APART * k, 0.0)))
    return model


def _fleet_time(count: int, repetitions: int, tick: Callable[[], object]) -> float:
    """Of a step [µs]."""
    from linkwork.run.simulate import Simulation

    simulation = Simulation(fleet(count), dt=DT)
    simulation.step(100)
    found = interleave([Contender("fleet", simulation.step)], min(repetitions, 5), clock=time.process_time)
    tick()
    return found["fleet"].median


def _krt(repetitions: int) -> float:
    """The 40 steps of a frame of the robot with its cart [ms]."""
    from linkwork.run.simulate import Simulation
    from linkwork.scenes import scene

    simulation = Simulation(scene("krt100", course="hill"), dt=DT)

    def reset() -> None:
        simulation.reset()
        simulation.step(1500)

    contender = Contender("krt", simulation.step, reset=reset)
    figure = interleave([contender], min(repetitions, 5), clock=time.process_time)["krt"]
    return 40e-3 * figure.median


def _live(seconds: float) -> dict[str, Any]:
    """What a visitor of the robot with its cart gets."""
    from linkwork.scenes import scene
    from linkwork.view.live import show

    page = show(scene("krt100", course="hill"), port=0, dt=DT, block=False)
    try:
        return watched(page, 1, seconds)
    finally:
        page.close()


def judge(data: dict[str, Any]) -> list[Target]:
    """Targets against the figures of a result."""
    times = {row["case"]: row["us"] for row in data["rows"]}
    theirs = times.get("mujoco")
    found = [
        _most(
            f"{LABELS[key]}: step over MuJoCo's with rigid wheels",
            round(limit / MUJOCO_US, 3),
            [times[key] / theirs if theirs else None],
        )
        for key, limit in TARGETS.items()
    ]
    gaps = [row["gap_m"] for row in data["rows"] if row["case"] != "mujoco"]
    found.append(_most("pin gaps of all of ours [m]", 1e-9, gaps))
    found.append(
        _most("growth of a step with the number of vehicles, exponent", 1.05, [data["fleet"]["exponent"]])
    )
    found.append(_most("KRT-100M with its cart: 40 steps of a frame [ms]", FRAME_MS, [data["krt_frame_ms"]]))
    live = data["live"]
    found.append(
        _least("KRT-100M live at 1 kHz: states per second at a visitor", MESSAGES, [live["pictures_per_s"]])
    )
    found.append(_most("longest time between two of them [ms]", FRAME_MS, [live["longest_gap_ms"]]))
    return found


def sections(data: dict[str, Any]) -> Iterator[Section]:
    """Every table of a result; the terminal and the page show the same."""
    theirs = next((row["us"] for row in data["rows"] if row["case"] == "mujoco"), None)
    yield Section(
        "A vehicle on four double wishbones with tie rods, springs and four motors",
        ("case", "step [µs]", "over MuJoCo", "gap [m]"),
        [
            (
                LABELS[row["case"]], f"{row['us']:.3g} ±{100 * row['spread'] / row['us']:.0f}%",
                number(row["us"] / theirs if theirs else None), f"{row['gap_m']:.1e}",
            )
            for row in data["rows"]
        ],
    )  # fmt: skip
    fleet = data["fleet"]
    yield Section(
        "Vehicles in one model",
        ("vehicles", "step [µs]", "for each [µs]"),
        [(str(n), number(us), number(us / n)) for n, us in zip(fleet["vehicles"], fleet["us"], strict=True)],
    )
    yield from notes_and_targets(data)
