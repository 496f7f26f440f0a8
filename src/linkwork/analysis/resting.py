"""Statics of models whose bodies touch: the rest that is reached from the start by creeping, and what carries it."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..compile.compiler import Compiled
from ..engine.elements import VelocityServo
from ..methods.contact import ContactMethod
from ..model import Model
from ..model.errors import LinkworkError
from ..model.rotation import Array
from ..run.simulate import Simulation
from .creep import REST, Creep, Restless
from .forces import Forces
from .holders import holders, posed
from .matter import Matter
from .statics_result import Equilibrium, Holder, Stability

_NUDGE = 1e-3  # how far the fastest body is pushed to try whether it comes back [sizes]
_BACK, _PUT = (
    0.1,
    3.0,
)  # ways from the rest after a nudge, in ways of the nudge: it came back, it stays where it is put
_NUDGES = 10  # before no stable rest is to be expected
_TURNS = (
    "wx",
    "wy",
    "wz",
)  # of a ball: components of a rotation vector, which rates about single axes do not keep
_NAME = "holds_"  # of servos that hold coordinates, before the name of the coordinate


class Resting:
    """A model with contact, its forces as statics knows them, and a simulation of it that creeps."""

    def __init__(self, forces: Forces, patience: float):
        self.forces, self._patience = forces, patience
        q, compiled = forces.start(), Compiled(_calm(forces))
        self.simulation = Simulation(compiled, method="simgc")
        self.simulation.q[:] = q
        self.matter = Matter(self.simulation, compiled)
        weights = np.diag(forces.inertia(q)).copy()
        self._creep = Creep(self.simulation, self.matter, weights, forces.time, self._settle)
        self._random = np.random.default_rng(0)

    def find(self, stable: bool, progress: Callable[[float], object] | None) -> Equilibrium:
        """The rest that is reached; with `stable`, one from which no nudge leads away."""
        self._creep.to_rest(self._patience, progress)
        for _ in range(_NUDGES):
            found = self._described()
            stability, there = self._tried()
            if stability != "unstable" or not stable:
                return dataclasses.replace(found, stability=stability, iterations=self._creep.steps)
            if there is None:
                break
            self._stand(there)
            self._creep.to_rest(self._patience, progress)
        raise LinkworkError("every rest that was reached is unstable: a small push leads away from it")

    def _stand(self, q: Array) -> None:
        self.simulation.q[:], self.simulation.v[:] = q, 0.0
        self.simulation.method.disturb()

    def _tried(self) -> tuple[Stability, Array | None]:
        """What a nudge and its opposite lead to: the worse of both, and the pose where that ended, if it did."""
        sim, rest, places = self.simulation, self.simulation.q.copy(), self.matter.places()
        rates, worst, there = self._random.normal(size=len(sim.v)), 0.0, None
        pushed = _NUDGE * self.matter.size()
        for way in (1.0, -1.0):
            self._stand(rest)
            sim.v[:] = way * rates
            sim.v[:] *= pushed / sim.dt / float(self.matter.speeds().max())
            sim.step()
            try:
                self._creep.to_rest(self._patience)
                share, end = float(self.matter.ways(places).max()) / pushed, sim.q.copy()
            except Restless:
                share, end = math.inf, None
            if share > worst:
                worst, there = share, end
        if worst <= _BACK:
            return "stable", there
        return ("indifferent" if worst <= _PUT else "unstable"), there

    def _settle(self) -> None:
        """States of elements, such as pressures, are those that they would come to if nothing moved."""
        mech, method = self.forces.mech, self.simulation.method
        rows = mech.kin.constraints.rows
        owners = [row for row in map(int, self.forces.acting) if rows["state"][row] >= 0]
        if owners:
            assert isinstance(method, ContactMethod)
            mech.kin.place(self.simulation.q)
            for row in owners:
                mech.law(row, 0.0, 0.0, self.forces.command(row), self.forces.time)
            method.set_states({mech.kin.names[row]: float(rows["x"][row]) for row in owners})

    def _described(self) -> Equilibrium:
        """Everything about the rest that was reached."""
        forces, sim = self.forces, self.simulation
        q, mech = sim.q.copy(), forces.mech
        H = forces.inertia(q)  # goes to the pose
        left = H @ sim.v / sim.dt
        values = dict(zip(mech.coordinates, map(float, mech.values()), strict=True))
        notes = list(forces.notes)
        carried = self._holders(notes)
        if self._creep.rest() > REST:
            notes.append(
                f"there are too many contacts for exact forces: bodies may accelerate by {self._creep.rest():.1g} m/s²"
            )
        if not self._creep.settled:
            notes.append("how contacts share the load changes from step to step: statics leaves it open")
        return Equilibrium(
            forces.compiled.name, q, values, "indifferent", [], carried, float(np.abs(left).max(initial=0.0)),
            self._creep.steps, notes, posed(forces, q), contacts=sim.touches(), crept=True,
        )  # fmt: skip

    def _holders(self, notes: list[str]) -> list[Holder]:
        """Laws as at rest; what limits, dry friction and what is held carry is what the last step found."""
        mech = self.forces.mech
        assert isinstance(self.simulation.method, ContactMethod)
        found = self.simulation.method.row_forces()
        by_row = [found.get(name, 0.0) for name in mech.kin.names]
        equal = np.zeros(len(mech.hold) + len(self.forces.held))
        for k, c in enumerate(self.forces.held):
            lock = self.forces.locks.get(c)
            label = f"{_NAME}{mech.coordinates[c]}: velocity servo"
            equal[len(mech.hold) + k] = found[label] if lock is None else by_row[lock]
        carried = holders(self.forces, equal, np.array([by_row[row] for row in mech.limits]), notes)
        for row in map(int, mech.friction):
            if by_row[row] != 0.0:
                name = mech.kin.names[row].partition(":")[0]
                carried.append(Holder(name, "friction", by_row[row], mech.row_force_unit(row)))
        return carried


def _calm(forces: Forces) -> Model:
    """The model for creeping: dampers left out, which carry nothing at rest and take time, drives told what they
    are to do, and coordinates held."""
    made = forces.compiled.dissolved()
    shelves: tuple[dict[str, Any], ...] = (made.joints, made.loads, made.drives)
    for shelf in shelves:
        for name, item in shelf.items():
            damping = getattr(item, "damping", None)
            if damping is not None:
                none = (0.0,) * len(damping) if isinstance(damping, tuple) else 0.0
                shelf[name] = dataclasses.replace(item, damping=none)
    mech, rows = forces.mech, forces.mech.kin.constraints.rows
    for slot, command in forces.commands.items():
        name = mech.system.row_table.drives[slot]
        made.drives[name] = dataclasses.replace(made.drives[name], command=command, signal=None)
    held = [c for c in forces.held if c not in forces.locks]
    for row in map(int, mech.servos):
        if int(rows["first"][row]) in held:  # two servos on one coordinate would share its load
            del made.drives[mech.drive_name(row)]
    names = [mech.coordinates[c] for c in held]
    for name in names:
        joint, _, coordinate = name.rpartition(".")
        turns = [f"{joint}.{axis}" for axis in _TURNS]
        if coordinate in _TURNS and not set(turns) <= set(names):
            raise LinkworkError(
                f"where bodies may touch, '{name}' cannot be held alone: hold {', '.join(turns)} together, or none"
            )
        servo = VelocityServo(f"{_NAME}{name}", joint, coordinate=coordinate)
        made.drives[servo.name] = servo
    return made
