"""What loops of users hold on to instead of names and files: signals, and states to go back to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.kernels.steady import slots
from ..model.errors import LinkworkError
from ..model.rotation import Array

if TYPE_CHECKING:
    from .access import Access


class Signal:
    """A signal of a simulation, found once: call it for the value now.

    Coordinates and rates of the state take a tenth of a microsecond, everything else what it takes to measure it.
    """

    def __init__(self, simulation: Access, name: str):
        self.name = name
        """Its name, as in records."""
        self.unit = simulation.method.observer.signals.get(name, "")
        """Its unit; of a vector that is named without its components, empty."""
        self._simulation = simulation
        self._find()

    def _find(self) -> None:
        """Where it is, or what measures it, as the simulation now is."""
        method = self._simulation.method
        self._state, self._known = method.state, method.observer
        found = method.find(self.name)
        self._slot = None if found is None else slots(found[0])[found[1] : found[1] + 1]
        self._read = method.observer.reader(self.name) if found is None else None

    def __call__(self) -> Any:
        """Its value now: a number, or an array of the components of a vector."""
        method = self._simulation.method
        if method.state is not self._state or method.observer is not self._known:
            self._find()
        if self._slot is not None:
            return self._slot[0]
        assert self._read is not None
        values = self._read(method.now())[0]
        return values if len(values) > 1 else float(values[0])

    def __repr__(self) -> str:
        return f"<signal {self.name} [{self.unit}]>"


class State:
    """Where a simulation stood, whole: going on from it gives the same motion, to the last bit.

    Its arrays are copies and may be changed before the simulation is set to it.
    """

    def __init__(self, arrays: Mapping[str, Array], time: float):
        self._arrays = {name: np.array(array) for name, array in arrays.items()}
        self.time = time
        """[s]"""

    @property
    def q(self) -> Array:
        """Coordinates, numbered as `Simulation.q`."""
        return self._arrays["q"]

    @property
    def v(self) -> Array:
        """Rates, numbered as `Simulation.v`."""
        return self._arrays["v"]

    @property
    def commands(self) -> Array:
        """What drives are told, numbered as `Simulation.commands`."""
        return self._arrays.get("commands", np.zeros(0))

    def write(self, arrays: Mapping[str, Array]) -> None:
        """Write all of it into the arrays of a simulation of the same model and method, or nothing."""
        mine = self._arrays
        if mine.keys() != arrays.keys() or any(mine[name].shape != x.shape for name, x in arrays.items()):
            raise LinkworkError(
                "this state is of another model or method, or of other joints attached: a simulation can be set to "
                "states of its own and of simulations made alike"
            )
        for name, array in arrays.items():
            array[...] = mine[name]

    @property
    def arrays(self) -> Mapping[str, Array]:
        """All that it consists of, by name."""
        return self._arrays

    def __repr__(self) -> str:
        return f"<state at t = {self.time:.6g} s>"
