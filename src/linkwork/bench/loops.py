"""The suite `loops`: mechanisms with loops and friction, against MuJoCo's constraints, at the same step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..rotation import quaternion
from .progress import Progress
from .report import made_with
from .timing import SHORTEST, Contender, interleave

if TYPE_CHECKING:
    from rich.table import Table

    from ..system import System

DT = 1e-3
REPETITIONS, REPETITIONS_QUICK = 11, 3
CASES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("peaucellier", {}),
    ("double_four_bar", {}),
    ("chain5", {"friction": 1.0}),
)
HOW = {
    "simgc_us, simmc_us": "many steps in one compiled call, epsilon 1e-6",
    "mujoco_us": "mj_step(model, data, nstep), Euler, default options; loops by connect, friction by frictionloss",
    "mujoco_tight_us": "the same with solref = 2 dt and solimp = 0.9999 on loops and friction",
    "*_gap_m": "largest distance of two points that a loop holds together, over 1 s",
    "ratio_*": "time of MuJoCo over simgc_us",
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
    """Measure all mechanisms with both formulations and both settings of MuJoCo, taking turns."""
    from ..scenes import scene
    from ..simulate import Simulation

    repetitions = REPETITIONS_QUICK if quick else REPETITIONS
    notes: list[str] = []
    bar = Progress(progress)
    tick = bar.stretch(1.0, repetitions * len(CASES))
    rows = []
    for name, parameters in CASES:
        model = scene(name, **parameters)
        simulations = {m: Simulation(model, method=m, dt=DT) for m in ("simgc", "simmc")}
        contenders = [Contender(m, s.step, reset=s.reset) for m, s in simulations.items()]
        peers: dict[bool, MujocoLoops] = {}
        try:
            system = simulations["simgc"].system
            peers = {
                tight: MujocoLoops(system, parameters.get("friction", 0.0), tight) for tight in (False, True)
            }
            contenders += [
                Contender("mujoco_tight" if tight else "mujoco", peer.run, reset=peer.reset)
                for tight, peer in peers.items()
            ]
        except ImportError:
            notes.append("mujoco is not installed: its figures are empty")
        figures = interleave(contenders, repetitions, tick=tick)
        row: dict[str, Any] = {"case": name}
        for key in ("simgc", "simmc", "mujoco", "mujoco_tight"):
            row[f"{key}_us"] = figures[key].median if key in figures else None
        for key, simulation in simulations.items():
            simulation.reset()
            simulation.step(1000)
            outcome = simulation.method.outcome()
            row[f"{key}_gap_m"], row[f"{key}_iterations"] = outcome["worst_gap_m"], outcome["iterations_mean"]
        for tight, label in ((False, "mujoco"), (True, "mujoco_tight")):
            row[f"{label}_gap_m"] = peers[tight].largest_gap(1000) if peers else None
            other = row[f"{label}_us"]
            row[f"ratio_{label}"] = None if other is None else other / row["simgc_us"]
        rows.append(row)
    return LoopResult(quick, made_with(repetitions, SHORTEST), rows, sorted(set(notes)))


class MujocoLoops:
    """The same mechanism of hinges in MuJoCo, loops closed by connect equalities."""

    def __init__(self, system: System, friction: float, tight: bool):
        import mujoco

        self._mujoco = mujoco
        solver = {"solref": (2 * DT, 1.0), "solimp": (0.9999, 0.9999, 0.001, 0.5, 2.0)} if tight else {}
        spec = mujoco.MjSpec()
        dofs = system.tables.dofs
        spec.option.gravity = -dofs["A0"][0, 3:]
        bodies = {0: spec.worldbody}
        for d in range(1, len(dofs)):
            moments = dofs["inertia"][d][[0, 3, 5]]  # the rods of these scenes have no products of inertia
            bodies[d] = bodies[int(dofs["parent"][d])].add_body(
                name=f"body{d}", pos=dofs["X_p"][d], quat=quaternion(dofs["X_R"][d].reshape(3, 3)),
                mass=dofs["mass"][d], ipos=dofs["com"][d], inertia=moments, explicitinertial=True,
            )  # fmt: skip
            joint = bodies[d].add_joint(
                type=mujoco.mjtJoint.mjJNT_HINGE, axis=(0, 0, 1), frictionloss=friction
            )
            if tight:
                joint.solref_friction, joint.solimp_friction = solver["solref"], solver["solimp"]
        self._points = []
        assert system.rows is not None
        for pair in system.rows.constraints.pairs:
            ends = [(int(pair[side]), pair[f"X_{side.upper()}"][9:]) for side in ("a", "b")]
            ends.sort(key=lambda end: end[0])
            self._points.append(ends)
            loop = spec.add_equality()
            loop.type, loop.objtype = mujoco.mjtEq.mjEQ_CONNECT, mujoco.mjtObj.mjOBJ_BODY
            loop.name1, loop.name2 = (f"body{end}" if end else "world" for end, _ in ends)
            loop.data = np.r_[ends[0][1], np.zeros(9)]
            for key, value in solver.items():
                setattr(loop, key, value)
        self._model = spec.compile()
        self._model.opt.timestep = DT
        self._data = mujoco.MjData(self._model)
        # Joints in the order of the tree; those that it passes backwards turn the other way.
        self._start = [dofs["rot"][1:] * system.q0[dofs["q"][1:]], dofs["rot"][1:] * system.v0[dofs["v"][1:]]]

    def reset(self) -> None:
        """Back to the start."""
        self._mujoco.mj_resetData(self._model, self._data)
        self._data.qpos[:], self._data.qvel[:] = self._start

    def run(self, steps: int) -> None:
        """Take steps in one call."""
        self._mujoco.mj_step(self._model, self._data, nstep=steps)

    @property
    def angles(self) -> np.ndarray:
        """Of the joints now, in the order of the tree [rad]."""
        return np.array(self._data.qpos)

    def largest_gap(self, steps: int) -> float:
        """The farthest that a loop opens in so many steps [m]."""
        self.reset()
        largest = 0.0
        for _ in range(steps):
            self._mujoco.mj_step(self._model, self._data)
            self._mujoco.mj_kinematics(self._model, self._data)
            for (a, p), (b, r) in self._points:
                ends = [
                    self._data.xpos[k] + self._data.xmat[k].reshape(3, 3) @ x for k, x in ((a, p), (b, r))
                ]
                largest = max(largest, float(np.linalg.norm(ends[0] - ends[1])))
        return largest
