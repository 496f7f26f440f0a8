"""The suite `control`: what blocks of a diagram cost, against bdsim and python-control, and beside a vehicle."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from .peer_diagrams import LIMIT, PULL, SWINGS, peers
from .progress import Progress
from .report import Section, grids, made_with, notes_and_targets, number, timed
from .targets import judge_control
from .timing import Contender, interleave, summary

if TYPE_CHECKING:
    from rich.table import Table

    from linkwork.model import Model
    from linkwork.run.simulate import Simulation

STAGES = (2, 8, 32, 128)
"""Lengths of the chain of stages, four blocks each."""
PER_STAGE = 4
VEHICLES = ("krt100_driven", "balancer", "excavator_driven", "crane")
"""Scenes with a diagram and a panel."""
DRIVEN = {
    "krt100_driven": {"left.out": 1.0, "right.out": 1.0},
    "balancer": {"stick.y": 0.5},
    "excavator_driven": {"left.x": 0.4, "right.y": -0.2},
    "crane": {"stick.x": 0.3},
}
"""What the operator does there."""
SETTINGS: dict[str, dict[str, Any]] = {"krt100_driven": {"course": "flat"}}
"""So that steps are alike, whenever they are."""
REPETITIONS, REPETITIONS_QUICK = 15, 3
BEFORE, SETTLING, STEPS = 1500, 50, 200
"""Steps until a scene moves as it is driven, before a turn, and of a turn."""
HOW = {
    "chain": "a sine through stages, each a sum, a gain, a saturation and an integrator that goes back to the sum",
    "linkwork_us": "all blocks once, with states and located switching: a step of 1 ms of RK4 of a mass with that "
    "diagram, less one without, over four evaluations; many steps in one compiled call; time of the processor",
    "bdsim_us": "its function of derivatives, BlockDiagram.evaluate and deriv, called as its integrator does",
    "control_us": "NonlinearIOSystem.dynamics of the interconnected system, called as its integrator does",
    "ns_per_block": "linkwork_us over the number of blocks",
    "ratio_*": "time of the other program over linkwork_us",
    "step_us": "a step of 1 ms of a scene while it is driven, by the method that it has by default",
    "diagram_us": "the same less a step without the diagram, from where it stands, with the commands that it gave last",
    "share": "diagram_us over step_us",
}  # fmt: skip


@dataclass(frozen=True)
class ControlResult:
    """Everything that the suite measured, and how."""

    quick: bool
    made_with: dict[str, Any]
    rows: list[dict[str, Any]]
    scenes: list[dict[str, Any]]
    notes: list[str]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        data = {"suite": "control", "how": HOW} | asdict(self)
        return data | {"targets": [target._asdict() for target in judge_control(data)]}

    def tables(self) -> Iterator[Table]:
        """Tables for the terminal."""
        return grids(sections(self.to_dict()))


def sections(data: dict[str, Any]) -> Iterator[Section]:
    """Every table of a result."""
    yield Section(
        "All blocks of a diagram once [µs], and times faster than others",
        ("blocks", "linkwork", "ns a block", "bdsim", "×", "python-control", "×"),
        [
            (str(row["blocks"]), timed(row, "linkwork"), number(row["ns_per_block"]), timed(row, "bdsim"),
             number(row["ratio_bdsim"]), timed(row, "control"), number(row["ratio_control"]))
            for row in data["rows"]
        ],
        words=0,
    )  # fmt: skip
    yield Section(
        "Share of a step",
        ("scene", "blocks", "step [µs]", "of it the diagram [µs]", "share"),
        [
            (
                row["scene"],
                str(row["blocks"]),
                timed(row, "step"),
                number(row["diagram_us"]),
                f"{row['share']:.1%}",
            )
            for row in data["scenes"]
        ],
    )
    yield from notes_and_targets(data)


def run(*, quick: bool = False, progress: Callable[[float], object] | None = None) -> ControlResult:
    """Measure all of it; takes some minutes."""
    repetitions = REPETITIONS_QUICK if quick else REPETITIONS
    told = Progress(progress)
    stages = STAGES[:2] if quick else STAGES
    rows = []
    for k, count in enumerate(stages):
        rows.append(_chain(count, repetitions))
        told.to(0.5 * (k + 1) / len(stages))
    scenes = []
    for k, name in enumerate(VEHICLES):
        scenes.append(_vehicle(name, repetitions))
        told.to(0.5 + 0.5 * (k + 1) / len(VEHICLES))
    missing = [name for name in ("bdsim", "control") if rows[0][f"{name}_us"] is None]
    notes = [f"{name} is not installed: its figures are missing" for name in missing]
    return ControlResult(quick, made_with(repetitions, 0.02), rows, scenes, notes)


def chain(stages: int) -> Model:
    """A mass on a rail without anything that moves it, and the chain of stages beside it."""
    from linkwork.control.blocks.continuous import Integrator
    from linkwork.control.blocks.mathematics import Gain, Sum
    from linkwork.control.blocks.nonlinear import Saturation
    from linkwork.control.blocks.sources import SineWave
    from linkwork.model import Body, Model, Slider

    model = Model("chain", gravity=(0.0, 0.0, 0.0))
    model.add(Body("mass", mass=1.0, inertia=(1.0, 1.0, 1.0)))
    model.add(Slider("rail", "ground", "mass", axis=(1.0, 0.0, 0.0)))
    if stages:
        model.add(SineWave("wave", SWINGS))
    for k in range(stages):
        model.add(Sum(f"error{k}", ("wave" if k == 0 else f"state{k - 1}", f"-state{k}")))
        model.add(Gain(f"gain{k}", f"error{k}", PULL))
        model.add(Saturation(f"bound{k}", f"gain{k}", low=-LIMIT, high=LIMIT))
        model.add(Integrator(f"state{k}", f"bound{k}"))
    return model


def _chain(stages: int, repetitions: int) -> dict[str, Any]:
    from linkwork.run.simulate import Simulation

    with_diagram, without = (
        Simulation(chain(count), method="simgc", integrator="rk4", dt=1e-3) for count in (stages, 0)
    )
    for simulation in (with_diagram, without):
        _warm(simulation)
    contenders = [
        Contender("with", with_diagram.step, 4, with_diagram.reset),
        Contender("without", without.step, 4, without.reset),
        *(Contender(peer.name, peer.evaluate) for peer in peers(stages)),
    ]
    found = interleave(contenders, repetitions, clock=time.process_time)
    blocks = 1 + PER_STAGE * stages
    ours = found["with"].median - found["without"].median
    row: dict[str, Any] = {
        "stages": stages,
        "blocks": blocks,
        "linkwork_us": ours,
        "linkwork_spread": found["with"].spread + found["without"].spread,
        "ns_per_block": 1e3 * ours / blocks,
    }
    for name in ("bdsim", "control"):
        figure = found.get(name)
        row |= {
            f"{name}_us": figure and figure.median,
            f"{name}_spread": figure and figure.spread,
            f"ratio_{name}": figure and figure.median / ours,
        }
    return row


def _vehicle(name: str, repetitions: int) -> dict[str, Any]:
    """Both go on from the same state, in turns, so that they do the same work but for the diagram."""
    from linkwork.run.simulate import Simulation
    from linkwork.scenes import scene

    settings = SETTINGS.get(name, {})
    driven, plain = Simulation(scene(name, **settings), dt=1e-3), scene(name, **settings)
    plain.control.clear()
    plain.panel.clear()
    free = Simulation(plain, dt=1e-3)
    for simulation in (driven, free):
        _warm(simulation)
        simulation.reset()
    for channel, value in DRIVEN[name].items():
        driven.operate(channel, value)
    driven.step(BEFORE)
    taken: tuple[list[float], list[float]] = [], []
    for turn in range(2 * repetitions + 1):
        free.take_over(driven)
        _obey(driven, free)
        for simulation in (driven, free):
            simulation.step(SETTLING)  # of caches, and of what impulses remember
        for simulation, times in zip((driven, free), taken, strict=True):
            began = time.process_time()
            simulation.step(STEPS)
            if turn:
                times.append(1e6 * (time.process_time() - began) / STEPS)
    step, bare = summary(taken[0]), summary(taken[1])
    return {
        "scene": name, "blocks": len(scene(name).control), "step_us": step.median, "step_spread": step.spread,
        "diagram_us": step.median - bare.median, "share": 1.0 - bare.median / step.median,
    }  # fmt: skip


def _warm(simulation: Simulation) -> None:
    """All kernels are loaded before anything is timed, so that none of it decides how often a contender runs."""
    for _ in range(3):
        simulation.reset()
        simulation.step(STEPS)


def _obey(driven: Simulation, free: Simulation) -> None:
    """Drives without a diagram get what blocks tell those with it now."""
    from linkwork.control.blocks.actuators import DriveCommand

    diagram = driven.diagram
    assert diagram is not None
    for block in diagram.blocks.values():
        if isinstance(block, DriveCommand):
            wire = diagram.into(block.name)[0]
            value = driven[wire.source] if wire.source else wire.number
            free.command(block.drive, -value if wire.negative else value)
