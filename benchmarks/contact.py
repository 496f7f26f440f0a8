"""The suite `contact`: bodies that touch, against other engines at the same step; what slips, how deep things sink, how
piles grow, and what accuracy costs."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwork.model.errors import UnsupportedError

from . import fingers, grasps, heaps, peer_bullet_contact, peer_mujoco_contact, vehicle
from .contact_peer import Engine
from .contact_quality import (
    DT,
    SAMPLE,
    depth_quality,
    fingers_quality,
    gripper_quality,
    pile_quality,
    stack_quality,
    vehicle_quality,
)
from .mechanisms import exponent
from .progress import Progress
from .report import Section, grids, made_with, notes_and_targets, number, timed
from .targets import judge_contact
from .timing import Contender, interleave

if TYPE_CHECKING:
    from rich.table import Table

    from linkwork.model import Model
    from linkwork.model.rotation import Array

REPETITIONS, REPETITIONS_QUICK = 7, 2
NEWTON, OTHERS = 50, 200
"""Bodies up to which MuJoCo runs with Newton's method, whose steps take a hundred times as long at four times the size,
and up to which others run at all: the largest pile is there for the growth of our own."""
HUMANOID = "humanoid_stone"
"""A scene of this name is measured too where the others can be given it."""


class Case(NamedTuple):
    """A model, and the stretch of it that is timed."""

    name: str
    build: Callable[[], Model]
    begin: float
    """When the stretch begins [s]."""
    steps: int
    """Its steps."""
    duration: float
    """How long it is followed to see how well it does [s]."""
    quality: Callable[[Engine, float], dict[str, float]]
    contenders: tuple[str, ...]
    from_start: bool = True
    """Whether it is followed from its start, or from where the stretch begins."""


OURS: dict[str, dict[str, Any]] = {
    "simgc": {"method": "simgc", "solver": "direct"},
    "simgc_impulses": {"method": "simgc", "solver": "impulses"},
    "simmc": {"method": "simmc", "solver": "direct"},
    **{f"simgc_{r:g}": {"method": "simgc", "solver": "direct", "residual": r} for r in heaps.PRECISION},
}
COARSE = f"simgc_{heaps.COARSE:g}"
PEERS: dict[str, Callable[[Model], Engine]] = {
    "mujoco": lambda model: peer_mujoco_contact.MujocoContact(model, DT),
    "mujoco_elliptic": lambda model: peer_mujoco_contact.MujocoContact(model, DT, "elliptic"),
    "mujoco_tight": lambda model: peer_mujoco_contact.MujocoContact(model, DT, "tight"),
    "mujoco_cg": lambda model: peer_mujoco_contact.MujocoContact(model, DT, "cg"),
    "bullet": lambda model: peer_bullet_contact.BulletContact(model, DT),
}
LABELS = {
    "simgc": "SIMGC direct", "simgc_impulses": "SIMGC impulses", "simmc": "SIMMC direct", "mujoco": "MuJoCo",
    "mujoco_elliptic": "MuJoCo elliptic", "mujoco_tight": "MuJoCo tight", "mujoco_cg": "MuJoCo CG",
    "bullet": "PyBullet", **{f"simgc_{r:g}": f"SIMGC, residual {r:g}" for r in heaps.PRECISION},
}  # fmt: skip
FEW = ("simgc", "simgc_impulses", "simmc", "mujoco", "mujoco_elliptic", "mujoco_tight", "bullet")
WHEELED = ("simgc", "simgc_impulses", "simmc")
"""Others close its loops by springs: the suite `loops` has them."""
MANY = ("simgc", COARSE, "simgc_impulses", "mujoco", "mujoco_tight", "mujoco_cg", "bullet")
HOW = {
    "SIMGC, SIMMC": "semi-implicit Euler, slop 1e-5 m; direct solver, or sequential impulses with epsilon 1e-6 N s: "
    "many steps in one compiled call",
    "MuJoCo": peer_mujoco_contact.HOW,
    "MuJoCo elliptic": peer_mujoco_contact.HOW_ELLIPTIC,
    "MuJoCo tight": peer_mujoco_contact.HOW_TIGHT,
    "MuJoCo CG": peer_mujoco_contact.HOW_CG,
    "PyBullet": peer_bullet_contact.HOW,
    "time": "of the processor, for the thread that steps",
    "step": "of the gripper while it carries the box round, of the stack at rest, of the piles from 1.5 s on; each "
    "engine begins with the same poses and comes there by itself",
    "slip": "farthest that the box moves along the pads from when it is held until the jaws open, 5.2 s [m]",
    "creep": "farthest that a box of the stack moves sideways in 5 s [m]",
    "depth": f"deepest penetration, looked at every {SAMPLE} steps [m]",
    "residual": "largest at these looks: how far velocities and impulses are from Signorini's and Coulomb's laws; "
    "others do not tell it [m/s]; as an option, how much may be left, over the step [m/s²]",
    "two fingers": "of two links each with servos at pins and knees, their pads against a box of 0.3 kg; slip: "
    "farthest that it sinks between them in 2 s",
    "vehicle": "chassis on four double wishbones with tie rods and springs, wheels driven on a plane; gap: largest of "
    "its joints",
    **grasps.HOW,
    **heaps.HOW,
    "height": "of the top of the stack after 5 s, less what it should be; of a pile, mean of its bodies [m]",
}


@dataclass(frozen=True)
class ContactResult:
    """Everything that the suite measured, and how."""

    quick: bool
    made_with: dict[str, Any]
    rows: list[dict[str, Any]]
    growth: dict[str, Any]
    floors: dict[str, Any]
    falling: dict[str, Any]
    grasps: list[dict[str, Any]]
    notes: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        data = {"suite": "contact", "how": HOW, "contenders": LABELS} | asdict(self)
        return data | {"targets": [target._asdict() for target in judge_contact(data)]}

    def tables(self) -> Iterator[Table]:
        """Tables for the terminal."""
        return grids(sections(self.to_dict()))


class Ours(Engine):
    """Linkwork as one of the engines."""

    def __init__(self, model: Model, options: dict[str, Any]):
        from linkwork.run.simulate import Simulation

        self._simulation = Simulation(model, dt=DT, **options)
        self._folder = tempfile.TemporaryDirectory(prefix="linkwork-bench-")
        self._kept: Path | None = None

    def reset(self) -> None:
        if self._kept is None:
            self._simulation.reset()
        else:
            self._simulation.load_state(self._kept)

    def run(self, steps: int) -> None:
        """Take steps in one compiled call."""
        self._simulation.step(steps)

    def keep(self) -> None:
        self._kept = Path(self._folder.name) / "state.npz"
        self._simulation.save_state(self._kept)

    def pose(self, body: str) -> tuple[Array, Array]:
        p = self._simulation.point(body)[0]
        return p, np.stack([self._simulation.point(body, axis)[0] - p for axis in np.eye(3)], axis=1)

    def depth(self) -> float:
        method: Any = self._simulation.method
        return float(method.report()["depth"])

    def residual(self) -> float | None:
        method: Any = self._simulation.method
        return float(method.report()["residual"])

    @property
    def gap(self) -> float | None:
        """Largest of all joints so far [m or rad]."""
        return float(self._simulation.method.outcome()["worst_gap_m"])

    @property
    def sweeps(self) -> float:
        """Mean of all steps so far."""
        return float(self._simulation.method.outcome()["iterations_mean"])


def cases(quick: bool) -> list[Case]:
    """What is measured but for the growth of piles."""
    from linkwork.scenes import scene, scene_names

    watched = 0.5 if quick else 5.0
    found = [
        Case("gripper", lambda: scene("gripper"), 2.6, 100 if quick else 1000, 8.5, gripper_quality, FEW),
        Case("two fingers", fingers.build, 0.5, 100 if quick else 1000, 2.0, fingers_quality, FEW),
        Case(
            "stack of 10", lambda: scene("stack10"), 1.0, 100 if quick else 500, watched, stack_quality, FEW
        ),
    ]
    found.append(
        Case("vehicle", vehicle.vehicle, 0.5, 100 if quick else 500, watched / 5, vehicle_quality, WHEELED)
    )
    if HUMANOID in scene_names() and not quick:
        found.append(Case("humanoid", lambda: scene(HUMANOID), 0.5, 500, 1.0, depth_quality, FEW))
    return found


def pile(count: int, quick: bool) -> Case:
    """Bodies of all shapes in a bin, when they have come down."""
    slow = ("simgc_impulses", "mujoco", "mujoco_tight")
    contenders = tuple(c for c in MANY if count <= NEWTON or c not in slow)
    if count > OTHERS:
        contenders = ("simgc", COARSE)
    if count == heaps.PRECISE:
        contenders += tuple(f"simgc_{r:g}" for r in heaps.PRECISION if r != heaps.COARSE)
    return _heap(f"pile of {count}", lambda: heaps.pile(count), quick, contenders)


def floor(across: int, quick: bool) -> Case:
    """The same on a floor that grows with their number."""
    return _heap(f"floor of {across} across", lambda: heaps.floor(across), quick, ("simgc", COARSE))


def _heap(name: str, build: Callable[[], Model], quick: bool, contenders: tuple[str, ...]) -> Case:
    begin = 0.5 if quick else 1.5
    return Case(name, build, begin, 50, 0.5, pile_quality, contenders, from_start=False)


def run(*, quick: bool = False, progress: Callable[[float], object] | None = None) -> ContactResult:
    """Measure everything; takes some minutes, a minute when quick."""
    repetitions = REPETITIONS_QUICK if quick else REPETITIONS
    notes: set[str] = set()
    bar = Progress(progress)
    sizes = heaps.SIZES_QUICK if quick else heaps.SIZES
    wide = heaps.FLOORS_QUICK if quick else heaps.FLOORS
    plan = cases(quick) + [pile(count, quick) for count in sizes] + [floor(across, quick) for across in wide]
    tick = bar.stretch(0.7, repetitions * len(plan))
    rows = [row for case in plan for row in measure(case, repetitions, notes, tick)]
    fallen = heaps.falling(quick=quick, tick=bar.stretch(0.94, len(heaps.FALLING)))
    held = grasps.grasps(quick=quick, tick=bar.stretch(0.99, 2))
    bar.to(1.0)
    by_height = growth(rows, sizes, [f"pile of {n}" for n in sizes], MANY)
    bodies = tuple(heaps.LAYERS * n * n for n in wide)
    by_floor = growth(rows, bodies, [f"floor of {n} across" for n in wide], ("simgc", COARSE))
    made = made_with(repetitions, 0.0)
    return ContactResult(quick, made, rows, by_height, by_floor, fallen, held, sorted(notes))


def measure(
    case: Case, repetitions: int, notes: set[str], tick: Callable[[], object]
) -> list[dict[str, Any]]:
    """Time and quality of all contenders on one case, taking turns."""
    model = case.build()
    engines: dict[str, Engine] = {}
    for key in case.contenders:
        try:
            engines[key] = Ours(model, OURS[key]) if key in OURS else PEERS[key](model)
        except ImportError:
            notes.add(f"{LABELS[key]} is not installed: its figures are empty")
        except UnsupportedError as reason:
            notes.add(f"{case.name}, {LABELS[key]}: {reason}")
    rows: list[dict[str, Any]] = []
    for key, engine in engines.items():
        row: dict[str, Any] = {"case": case.name, "engine": key}
        if case.from_start:
            row |= case.quality(engine, case.duration)
            engine.reset()
        engine.run(round(case.begin / DT))
        engine.keep()
        if not case.from_start:
            row |= case.quality(engine, case.duration)
        if isinstance(engine, Ours):
            row["sweeps"] = engine.sweeps
        engine.reset()
        rows.append(row)
    contenders = [
        Contender(key, lambda times, e=engine: e.run(case.steps * times), case.steps, engine.reset)  # type: ignore[misc]
        for key, engine in engines.items()
    ]
    figures = interleave(contenders, repetitions, shortest=0.0, tick=tick, clock=time.thread_time)
    ours = figures["simgc"].median
    for row in rows:
        figure = figures[row["engine"]]
        row |= {"us": figure.median, "spread": figure.spread, "ratio": figure.median / ours}
    return rows


def growth(
    rows: list[dict[str, Any]], sizes: tuple[int, ...], names: list[str], contenders: tuple[str, ...]
) -> dict[str, Any]:
    """Times of piles of so many bodies, and the power of their number that they grow with."""
    found = {(row["case"], row["engine"]): row["us"] for row in rows}
    us = {key: [found.get((name, key)) for name in names] for key in contenders}
    return {"sizes": list(sizes), "us": us, "exponents": {key: exponent(sizes, us[key]) for key in us}}


def sections(data: dict[str, Any]) -> Iterator[Section]:
    """Every table of a result; the terminal and the page show the same."""
    labels = data["contenders"]
    yield Section(
        "Bodies that touch: time of a step of 1 ms [µs], and × that of SIMGC direct",
        (
            "case",
            "engine",
            "step",
            "×",
            "slip [m]",
            "creep [m]",
            "height [m]",
            "depth [m]",
            "gap [m]",
            "residual [m/s]",
            "sweeps",
        ),
        [_line(row, labels) for row in data["rows"]],
        words=2,
    )
    for name, how in (("growth", "height"), ("floors", "floor")):
        piles = data[name]
        yield Section(
            f"Piles of many shapes whose {how} grows: time of a step [µs]",
            ("engine", *(str(n) for n in piles["sizes"]), "exponent"),
            [
                (labels[key], *map(number, times), number(piles["exponents"][key]))
                for key, times in piles["us"].items()
                if any(us is not None for us in times)
            ],
        )
    yield Section(
        "Many bodies that fall into a box",
        ("bodies", "step [ms]", "memory [MB]", "contacts at the end", "sweeps", "cut short", "deepest [m]"),
        [
            (
                str(row["bodies"]), number(row["step_ms"]), number(row["memory_MB"]), str(row["contacts"]),
                number(row["sweeps"]), f"{row['cut_short']} of {row['steps']}", number(row["deepest_m"]),
            )
            for row in data["falling"]["rows"]
        ],
    )  # fmt: skip
    yield Section(
        "Grasps from starts a nanometre apart: slip [m]",
        ("method", "starts", "least", "most", "spread", "steps cut short"),
        [
            (
                labels[row["method"]], str(row["starts"]), number(row["least_m"]), number(row["most_m"]),
                number(row["spread_m"]), str(row["cut_short"]),
            )
            for row in data["grasps"]
        ],
    )  # fmt: skip
    yield from notes_and_targets(data)


def _line(row: dict[str, Any], labels: dict[str, str]) -> tuple[str, ...]:
    """A contender on a case."""
    figures = ("ratio", "slip_m", "creep_m", "height_m", "depth_m", "gap_m", "residual_m_s", "sweeps")
    step = timed({"step_us": row["us"], "step_spread": row["spread"]}, "step")
    return row["case"], labels[row["engine"]], step, *(number(row.get(key)) for key in figures)
