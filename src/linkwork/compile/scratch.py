"""Working copies of compiled tables: one place per simulation, so that a force that is set acts in all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..engine.loads import Force
from ..engine.tables import Tables
from ..model import Flat
from ..model.errors import LinkworkError, nearest
from ..model.rotation import Array
from .system import System

_NOT_SET = np.array(
    [0.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0]
)  # of a force: set?, force (3), body or -1, point (3)
_ORIGIN = np.zeros(3)

Relay = Callable[[str, Array | None, str | None, Array], None]
"""Told of a force before it is set, with load, vector or None, body and point; may refuse."""


class Scratch:
    """Tables that the kernels of one simulation write to, by purpose, and the forces that were set in all of them.

    Stepping, observing and looking at the present state have tables of their own: they may run in different threads.
    """

    def __init__(self, forces: Sequence[str] = ()):
        self.forces = tuple(forces)
        """Names of the loads whose vector can be set."""
        self.values = np.tile(_NOT_SET, (len(self.forces), 1))
        """What was set, for snapshots; `restore` makes it true after it was written to."""
        self.relays: list[Relay] = []
        self._made: dict[str, tuple[System, Tables]] = {}

    def tables(self, purpose: str, system: System) -> Tables:
        """The tables for a purpose, made of a system when first asked for."""
        if purpose not in self._made:
            self._made[purpose] = system, system.fresh_tables()
            for name in self.forces:
                force, body, at = self._set(name)
                self._write(*self._made[purpose], name, force, body, at)
        return self._made[purpose][1]

    def set_force(self, load: str, force: Array | None, body: str | None = None, at: Array = _ORIGIN) -> None:
        """Change the vector of a force load [N, world axes] from now on, and where it acts; None: as it was written.

        `body` is the body that it acts on from now on, None for the same as before, and `at` the point in the frame of
        that body [m].
        """
        if load not in self.forces:
            raise LinkworkError(f"there is no force '{load}' that can be set{nearest(load, self.forces)}")
        systems = [system for system, _ in self._made.values()]
        index = -1 if body is None or not systems else systems[0].body(body)
        for relay in self.relays:
            relay(load, force, body, at)
        now = self.values[self.forces.index(load)]
        if force is None:
            now[:] = _NOT_SET
        else:
            now[:4] = 1.0, *force
            if body is not None:
                now[4:] = index, *at
        for system, tables in self._made.values():
            self._write(system, tables, load, force, body, at)

    def forget(self) -> None:
        """All forces as they were written."""
        for load in self.forces:
            self.set_force(load, None)

    def restore(self) -> None:
        """Make true what `values` say."""
        wanted = [self._set(load) for load in self.forces]
        self.forget()
        for load, (force, body, at) in zip(self.forces, wanted, strict=True):
            if force is not None:
                self.set_force(load, force, body, at)

    def _set(self, load: str) -> tuple[Array | None, str | None, Array]:
        """Vector, body and point of a force as it is set: None for what is as written."""
        is_set, *numbers = self.values[self.forces.index(load)]
        if not is_set:
            return None, None, _ORIGIN
        system = next(iter(self._made.values()))[0]
        body = int(numbers[3])
        return np.array(numbers[:3]), None if body < 0 else system.bodies[body], np.array(numbers[4:])

    @staticmethod
    def _write(
        system: System, tables: Tables, load: str, force: Array | None, body: str | None, at: Array
    ) -> None:
        if load not in system.loads:  # another process has it
            return
        index = system.loads.index(load)
        if force is None:
            tables.loads[index] = system.tables.loads[index]
            return
        row = tables.loads[index]
        row["value"][:3] = force
        if body is not None:
            place = tables.bodies[system.body(body)]
            row["a"] = place["link"]
            row["X_A"][:9] = place["X_R"]
            row["X_A"][9:] = place["X_p"] + place["X_R"].reshape(3, 3) @ at


def settable_forces(flat: Flat) -> list[str]:
    """Loads whose vector can be set: forces in world axes. One that follows its body keeps its direction to it."""
    return [load.name for load in flat.loads.values() if isinstance(load, Force) and not load.follows]
