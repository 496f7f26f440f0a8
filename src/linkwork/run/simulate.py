"""Run a model: steps, samples, callbacks, stop conditions, state on disk."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..compile.compiler import Compiled
from ..compile.system import System
from ..engine.coordinates.dynamics import body_pose, body_twist, energies
from ..engine.coordinates.tree import place
from ..engine.steppers.state import OK
from ..mechanism.switching import JointChange
from ..methods.base import Method
from ..methods.capabilities import CONTACT
from ..methods.features import features
from ..methods.options import DEFAULT_DT, DEFAULT_TOLERANCE, Options
from ..methods.registry import options_for
from ..methods.touching import Touch, TouchEvent
from ..model import Flat, Model, Port
from ..model.errors import LinkworkError, PartLostError, SimulationError, need_positive
from ..model.providers import provider
from ..model.rotation import Array, vector
from ..observe.observer import Block
from ..results.builder import RecordBuilder
from ..results.frames import centres_of_mass
from ..results.record import Record
from ..stage.stage import Stage, stage_of
from .access import Access
from .explain import likely_reason
from .operating import Operating
from .pieces import pieces_of
from .progress import about, advance, record_run, rescue, unavailable
from .schedule import Schedule
from .warmup import make_ready


class Simulation(Access, Operating):
    """A model in motion.

    `method` is "tree" (open mechanisms), "simgc" or "simmc" (generalized or maximal coordinates: loops, limits,
    friction, drives); by default the first that can do the model. `solver`, of the last two, is "direct" (the
    default: exact) or "impulses" (the papers' sequential impulses). "hybrid", "global" and "topological" are implicit,
    for large steps and stiff springs: the index-3 augmented Lagrangian in relative or natural coordinates, and
    independent coordinates; they refuse limits, dry friction and contact. "components" keeps the model's hierarchy of
    components and eliminates one subsystem after the other, in this process or several; it refuses the same.

    Or `method` is an object that holds all options but `dt`: `Tree`, `Direct`, `Impulses`, `Hybrid`, `Global`,
    `Topological`, `Components`; `Direct(coordinates="maximal", integrator="rk4")` is "simmc" with the direct solver.
    The other arguments are the same options by name; one that the method does not have is refused.

    `integrator` is one of fixed steps `dt` [s], or "adaptive" (order 5), which keeps the local error at `tolerance`
    and takes dt as its first step; asking for a `tolerance` is enough to get it. Fixed steps: "rk4" (order 4),
    "adams" (order 4, one evaluation a step; of the direct solver, its default), "euler" (semi-implicit, order 1; all
    that impulses have). Implicit methods have "trapezoidal" (order 2, no numerical damping; their default) and "alpha"
    (generalized-α, order 2, which damps what the step cannot resolve: `rho` is the share of such an oscillation that is
    left after a step, 0.8 by default). With a `tolerance`, a step of theirs whose error is larger [rad or m] is taken
    in halves, and these in halves: around corners of a force law, for instance.

    For impulses, `epsilon` is the change of an impulse [N s] at which iterations end, `iterations` their limit and
    `erp` the share of a gap removed in a step. `budget` is the time a step may take [s]: impulses stop iterating at
    it, the direct solver reports steps that took longer.

    Models in which things may touch take fixed steps of semi-implicit Euler with either solver. `slop` is the
    penetration that is left alone [m], `erp` the share of what is beyond it that is removed in a step, `iterations` and
    `budget` bound how long contact forces are sought; a step that ends before they settle is reported. `residual` is
    what may be left of their equations [m/s²]: a large pile takes less time with a larger one. With `sleep`,
    what has been at rest for so long [s] is left alone until something touches it.
    """

    # An argument for every option of every method: so that scripts and the command line can name them.
    def __init__(
        self,
        model: Model | Compiled | System,
        *,
        method: str | Options | None = None,
        solver: str | Options | None = None,
        integrator: str | None = None,
        dt: float = DEFAULT_DT,
        tolerance: float | None = None,
        epsilon: float | None = None,
        iterations: int | None = None,
        budget: float | None = None,
        erp: float | None = None,
        slop: float | None = None,
        residual: float | None = None,
        sleep: float | None = None,
        rho: float | None = None,
    ):
        what = model if isinstance(model, System) else Compiled.of(model)
        self._compiled = None if isinstance(what, System) else what
        need_positive("dt", dt)
        given = {
            "integrator": integrator, "tolerance": tolerance, "epsilon": epsilon, "iterations": iterations,
            "budget": budget, "erp": erp, "slop": slop, "residual": residual, "sleep": sleep,
            "rho": rho,
        }  # fmt: skip
        self.options = options_for(what, method, solver, given, float(dt))
        """Of the method, with all that was left open chosen."""
        self.dt = float(dt)
        self.tolerance = float(getattr(self.options, "tolerance", None) or DEFAULT_TOLERANCE)
        self.integrator = str(self.options.integrator)
        touches = bool(features(what.flat, [CONTACT])) if isinstance(what, Compiled) else bool(what.colliders)
        flat = what.flat if isinstance(what, Compiled) else None
        make_ready(pieces_of(flat, self.options.way, touches, self.integrator))
        self.method: Method = self.options.build(what, self.dt)
        self._refuse_fast_blocks()
        self.method.observer.unavailable = unavailable(self.method)
        self._tables = self.method.scratch.tables("look", self.system)
        if self._compiled is not None:
            self._weigh(self._compiled.flat)

    def _weigh(self, flat: Flat) -> None:
        """Let centres of mass be measured."""
        observer = self.method.observer
        weights = {
            name: (body.mass_properties.mass, vector(body.mass_properties.com))
            for name, body in flat.bodies.items()
            if not isinstance(body, Port)
        }
        centres = centres_of_mass(flat.bodies, weights)
        kept = {name: parts for name, parts in centres.items() if name not in observer.frames.markers}
        observer.set_frames(dataclasses.replace(observer.frames, centres=kept))

    @property
    def compiled(self) -> Compiled | None:
        """The model with all its tables; None for a simulation that was made of a system."""
        return self._compiled

    @cached_property
    def stage(self) -> Stage | None:
        """What there is to see of the model; None for a system without a model."""
        return None if self._compiled is None else stage_of(self._compiled)

    @property
    def model(self) -> Model:
        """The model that is simulated."""
        if self._compiled is None:
            raise LinkworkError("this simulation was made of a compiled system and has no model")
        return self._compiled.model

    def reset(self) -> None:
        """Back to the start: time zero, coordinates, rates, commands and forces as written."""
        self.method.reset()
        self.method.scratch.forget()

    def close(self) -> None:
        """End what other processes do for this simulation; it can still be read and saved, but not go on with them."""
        self.method.close()

    def command(self, drive: str, value: float) -> None:
        """Tell a drive what to do from now on, in units of its kind."""
        self.method.command(drive, float(value))

    def attach(self, *joints: str) -> None:
        """Let switchable joints take hold now, where the bodies are; one that is attached stays as it is.

        Velocities jump to those that the joints allow: see `changes`.
        """
        self.method.switch(joints, ())

    def release(self, *joints: str) -> None:
        """Let go of switchable joints now; one that is released stays so."""
        self.method.switch((), joints)

    @property
    def attached(self) -> frozenset[str]:
        """Switchable joints that hold now."""
        return self.method.attached

    @property
    def changes(self) -> tuple[JointChange, ...]:
        """Joints that were attached and released since the start or `load_state`, with what that took."""
        return tuple(self.method.changes)

    def set_force(self, load: str, force: Any, *, body: str | None = None, at: Any = (0.0, 0.0, 0.0)) -> None:
        """Change the vector of a `Force` of the model [N, world axes] from now on, and where it acts.

        `body` is the body that it acts on from now on, at a point of its frame `at` [m]; None leaves it where it is.
        A force that follows its body keeps its direction to it and is refused.
        """
        vector, point = (np.array(value, float) for value in (force, at))
        for what, value in (("force", vector), ("at", point)):
            if value.shape != (3,) or not np.isfinite(value).all():
                raise LinkworkError(
                    f"{what} of load '{load}' must be three finite numbers, not {value.tolist()}"
                )
        self.method.scratch.set_force(load, vector, body, point)
        self.method.disturb()

    def alter(self, model: Model) -> None:
        """Go on with a changed model: other gravity, masses, friction, springs, drives; the same coordinates.

        Time, coordinates, rates and commands of drives stay; forces that were set are again as the model writes them.
        """
        other = Simulation(model, method=self.options, dt=self.dt)
        other.take_over(self)
        self._compiled, self.method, self._tables = other._compiled, other.method, other._tables
        self.__dict__.pop("stage", None)

    def take_over(self, other: Simulation) -> None:
        """Go on from where another simulation stands, of a model with other numbers and the same coordinates."""
        self.method.take_over(other.method)
        self.method.observer.take_over(other.method.observer)

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self.method.time

    @property
    def q(self) -> Array:
        """Coordinates now; may be written to between steps."""
        return self.method.state.q

    @property
    def v(self) -> Array:
        """Rates now; may be written to between steps."""
        return self.method.state.v

    @property
    def work(self) -> tuple[float, float]:
        """Work supplied by loads and dissipated by dampers so far [J]."""
        return float(self.method.state.work[0]), float(self.method.state.work[1])

    @property
    def steps(self) -> int:
        """Steps taken since the start."""
        return int(self.method.state.clock.taken)

    def __getitem__(self, name: str) -> Any:
        """A signal now, by the names that records have: `sim["pivot.angle"]`, `sim["arm.velocity.x"]`.

        A number; of a vector or quaternion named without its components (`sim["arm.velocity"]`), an array.
        """
        found = self.method.find(name)
        if found is not None:
            return float(found[0][found[1]])
        values = self.method.observer.read(name, self.method.now())[0]
        return values if len(values) > 1 else float(values[0])

    @property
    def signals(self) -> dict[str, str]:
        """Names and units of everything that can be read and recorded."""
        return self.method.observer.signals

    def add_point(self, name: str, body: str, at: Any = (0.0, 0.0, 0.0)) -> None:
        """Measure a point of a body's frame [m] from now on: `<name>.position.x`, `<name>.velocity.x` ..."""
        observer = self.method.observer
        observer.set_frames(observer.frames.with_point(name, body, at, self.system.bodies))

    def add_pair(self, a: str, b: str) -> None:
        """Measure what body or scenery a gives b from now on, friction included: `contact.<a>.<b>.force.x` ... [N]."""
        self.method.measure_pair(a, b)

    def __setitem__(self, name: str, value: float) -> None:
        """Set a coordinate or rate: see `set`."""
        self.set({name: value})

    def set(self, values: Mapping[str, float]) -> None:
        """Set coordinates (`pivot.angle`) and rates (`pivot.angle_rate`) of joints, all at once.

        Where loops or couplings hold a joint, everything they connect follows: the mechanism goes to the new pose along
        the branch that it is on, and its rates to the nearest ones, by kinetic energy, that its joints allow. What is
        set keeps its rate unless that is set too; freedoms that are not set move as little as possible, so set several
        together to have them all. A value that cannot be reached raises a LinkworkError, which names the joint that
        would stay open and how far it goes; the state is then as it was.
        """
        observer = self.method.observer
        state = (*self.system.coordinates, *self.system.rates)
        settable = {name for name, _ in (*observer.coordinates, *observer.rates, *observer.states, *state)}
        for name in values:
            if name not in settable and name in self.signals:
                raise LinkworkError(f"'{name}' follows from the state: set coordinates and rates of joints")
        self.method.set(values)

    def accelerations(self) -> Array:
        """Accelerations of the rates of the state now [rad/s², m/s²]."""
        return self.method.accelerations()

    def point(self, body: str, at: Any = (0.0, 0.0, 0.0)) -> tuple[Array, Array]:
        """Position [m] and velocity [m/s] of a point of a body's frame in the world now."""
        index = self.system.body(body)
        place(self._tables.dofs, self._tables.islands, self.q, self.v)
        (p, R), (w, v) = body_pose(self._tables, index), body_twist(self._tables, index)
        arm = np.array(R).reshape(3, 3) @ np.array(at, float)
        return p + arm, v + np.cross(w, arm)

    def touches(self) -> list[Touch]:
        """Where things pushed each other in the last step: names, points, normals, forces."""
        return self.method.touches()

    @property
    def touch_events(self) -> list[TouchEvent]:
        """Beginnings and ends of contact since the start, in the order of time."""
        return list(self.method.events)

    def energies(self) -> tuple[float, float, float]:
        """Kinetic energy, potential of gravity and of springs now [J]."""
        kinetic, gravity, strain = energies(self._tables, self.q, self.v, self.time)
        return float(kinetic) + self.method.spin(), float(gravity), float(strain) + self.method.strain()

    def step(self, count: int = 1, *, dt: float | None = None) -> None:
        """Take `count` steps of size dt; of the adaptive integrator, as many as reach count dt further.

        A new `dt` [s] holds from now on.
        """
        if dt is not None and dt != self.dt:
            need_positive("dt", dt)
            self.dt = float(dt)
            self._refuse_fast_blocks()
            self.method.change_step(self.dt)
        try:
            status = self.method.go(count)
        except PartLostError as lost:
            rescue(self, lost)
            raise
        if status != OK:
            raise SimulationError(likely_reason(self, status), self.time)

    def advance(self, counts: Sequence[int]) -> Block:
        """Take steps and return raw samples of the state after each of `counts` steps from now, for observers."""
        return advance(self, [self._later(count) for count in counts], None)

    def run(
        self,
        duration: float,
        *,
        every: float | None = None,
        until: Callable[[Simulation], bool] | None = None,
        callbacks: Sequence[tuple[float, Callable[[Simulation], object]]] = (),
        save: str | Path | None = None,
        progress: Callable[[float], object] | None = None,
        reactions: bool = True,
    ) -> Record:
        """Simulate `duration` seconds and return what was recorded, the start and the end included.

        `every` is the time between samples [s]; `until(sim)` is asked at each sample and ends the run when it
        says True; `callbacks` are (period [s], function(sim)) pairs; `save` names an HDF5 file that grows
        while running; `progress(share)` is told how far the run is. With fixed steps all periods must be
        multiples of dt. Without `reactions`, forces and torques in the joints are left out where they take extra
        time (some microseconds a sample). A run that fails raises a SimulationError that holds the record so far.
        """
        need_positive("duration", duration)
        if not (np.isfinite(self.q).all() and np.isfinite(self.v).all()):
            raise LinkworkError("the state holds a number that is not finite; set it before running")
        dt = None if self.method.adaptive else self.dt
        schedule = Schedule(self._later(0), dt, duration, every, bool(until), callbacks)
        self.method.observer.choose(reactions=reactions)
        builder = RecordBuilder(self.method.observer.groups, about(self, duration, schedule.every), save)
        return record_run(self, schedule, builder, until, progress)

    def run_realtime(self, duration: float, controller: Callable[[Simulation], Any], *, rate: float = 100.0,
                     speed: float = 1.0) -> Any:  # fmt: skip
        """Simulate `duration` seconds as the clock goes; returns how it kept up (`Pace`: calls, lateness, lost time).

        `controller(sim)` is called `rate` times a second of the simulation, when its instant has come: it reads signals
        and commands drives, or returns commands by name; False ends the run. What it commands holds from that instant.
        """
        return provider("real time")(self, duration, controller, rate=rate, speed=speed)

    def _later(self, count: int) -> float:
        """The target `count` steps of dt from now: a step count, or a time for the adaptive integrator."""
        if self.method.adaptive:
            return self.time + count * self.dt
        return int(self.method.state.clock["steps"]) + count
