"""What a user reads and writes between steps: commands and states as arrays, handles of signals, states on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..compile.system import System
from ..methods.base import Method
from ..model.errors import LinkworkError
from ..model.rotation import Array
from . import snapshot
from .handles import Signal, State


class Access:
    """The part of `Simulation` that is about this; see the module."""

    method: Method
    dt: float
    """Step [s]."""

    @property
    def system(self) -> System:
        """The compiled model."""
        return self.method.system

    @property
    def drives(self) -> tuple[str, ...]:
        """Names of drives, in the order of `commands`."""
        return self.method.drives

    @property
    def commands(self) -> Array:
        """What drives are told now, one number each in units of their kinds; may be written to between steps."""
        return self.method.commands

    @commands.setter
    def commands(self, values: Any) -> None:
        now = self.method.commands
        given = np.asarray(values, float)
        if given.shape != now.shape:
            raise LinkworkError(
                f"commands are {len(now)} numbers, for {', '.join(self.drives) or 'no drives'}, not an array of shape "
                f"{given.shape}"
            )
        if not np.isfinite(given).all():
            drive = self.drives[int(np.argmin(np.isfinite(given)))]
            raise LinkworkError(f"the command of drive '{drive}' must be a finite number")
        now[:] = given

    @property
    def state(self) -> State:
        """All that the motion goes on with, as it is now: to look at, and to come back to (`sim.state = kept`)."""
        return State(self._moving(), self.method.time)

    @state.setter
    def state(self, state: State) -> None:
        self.method.make_room(dict(state.arrays))
        state.write(self._moving())
        if self.method.scratch.forces:
            self.method.scratch.restore()

    def _moving(self) -> dict[str, Array]:
        """Every array that changes while it moves."""
        return {
            **self.method.state.arrays(),
            **self.method.memory(),
            "forces": self.method.scratch.values,
        }

    def signal(self, name: str) -> Signal:
        """A handle of a signal, for loops: `h = sim.signal("pivot.angle")` once, then `h()` as often as needed."""
        return Signal(self, name)

    def save_state(self, path: str | Path) -> None:
        """Write everything a run needs to go on bit by bit as if never interrupted."""
        snapshot.save(path, self._snapshot())

    def load_state(self, path: str | Path) -> None:
        """Go on from a state written by `save_state` of the same model, method and step."""
        snapshot.load(path, self._snapshot, self.method.make_room)
        self.method.scratch.restore()

    def _snapshot(self) -> dict[str, Any]:
        return {
            **self._moving(),
            "model": np.array(snapshot.fingerprint(self.system)),
            "method": np.array(f"{self.method.name} dt={self.dt!r} {self.method.info()}"),
        }  # fmt: skip
