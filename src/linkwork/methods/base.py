"""What a method is: it holds a compiled system and its state and goes from target to target.

Targets are step counts for methods of fixed steps and times [s] for the adaptive one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from ..compile.diagram import Lowered
from ..compile.scratch import Scratch
from ..compile.system import System, rate_columns
from ..engine.kernels.steady import slots
from ..engine.steppers.state import State
from ..engine.tables import Tables
from ..mechanism.switching import JointChange
from ..model.errors import LinkworkError
from ..model.rotation import Array
from ..observe.observer import Block, Observer
from . import capabilities
from .touching import Touch, TouchArrays, TouchEvent

NO_BUDGET = 1e18  # clock ticks
_NOTHING = np.zeros(0)


class Method(ABC):
    """A way to move a model; see the module."""

    name: str
    solver: str | None = None
    """Which one, of methods that have a choice."""
    circumstances: tuple[str, ...] = ()
    """Columns of the table of capabilities that take something away."""
    adaptive = False
    system: System
    scratch: Scratch
    """Tables of this simulation that kernels write to: its own, the observer's and others'."""
    observer: Observer
    changes: Sequence[JointChange] = ()
    """Joints that were attached and released since the start, in the order of time."""
    events: Sequence[TouchEvent] = ()
    """Beginnings and ends of contact since the start, in the order of time."""
    _dt: float
    _tables: Tables

    @property
    def columns(self) -> tuple[str, ...]:
        """Where it stands in the table of capabilities."""
        return (self.name if self.solver is None else f"{self.name}, {self.solver}", *self.circumstances)

    @property
    def dt(self) -> float:
        """Its step now [s]."""
        return self._dt

    @property
    def state(self) -> State:
        """Where its motion is."""
        return self._state

    @state.setter
    def state(self, state: State) -> None:
        self._state = state
        self._taken, self._clock = slot(state.clock, "steps"), slot(state.clock, "now")

    @property
    def time(self) -> float:
        """Time now [s]."""
        return float(self._clock[0])

    def has(self, feature: str) -> bool:
        """Whether it can do something: see `capabilities`."""
        return capabilities.has(self.columns, feature)

    def require(self, feature: str, *items: str) -> None:
        """Raise if it cannot do something that is asked for because of some items."""
        capabilities.refuse(self.columns, {feature: items})

    def _lacks(self, feature: str, *items: str) -> NoReturn:
        """Refuse what it has no way to do."""
        self.require(feature, *items)
        raise NotImplementedError(f"{self.name} says that it has {feature}")

    @abstractmethod
    def reset(self) -> None:
        """Back to the start."""

    @abstractmethod
    def advance(self, targets: Sequence[float]) -> tuple[int, int, Block]:
        """Go through the targets; returns (how many were reached, status, samples there)."""

    def reach(self, targets: Sequence[float]) -> tuple[int, int, Block]:
        """Go through the targets, and through the changes of joints that the model plans on the way."""
        return self.advance(targets)

    def go(self, count: int) -> int:
        """Take so many steps, or with adaptive ones go as far as these would; returns the status."""
        return self._go(self._clock[0] + count * self._dt if self.adaptive else self._taken[0] + count)

    def _go(self, target: float) -> int:
        """Go to a target, through what the model plans on the way; returns the status."""
        return self.reach([target])[1]

    @property
    def switchable(self) -> tuple[str, ...]:
        """Joints that can be attached and released."""
        return ()

    @property
    def attached(self) -> frozenset[str]:
        """Those of them that hold now."""
        return frozenset()

    def switch(self, attach: Collection[str], release: Collection[str]) -> None:
        """Attach and release joints now, between two steps; what is so already stays as it is."""
        self._lacks(
            capabilities.SWITCHING, *(f"joint '{name}' is to be switched" for name in (*attach, *release))
        )

    def now(self) -> Block:
        """A sample of the present state."""
        state = self.state
        return np.array([state.clock.now]), *(part[None].copy() for part in (state.q, state.v, state.work))

    def set(self, values: Mapping[str, float]) -> None:
        """Set coordinates and rates of joints, all at once; see `Simulation.set`."""
        for name, value in values.items():
            array, index = self.find(name) or (self.state.q, self.system.coordinate(name))
            array[index] = value

    def find(self, name: str) -> tuple[Array, int] | None:
        """Where a coordinate or rate stands in the state, if it does."""
        for array, columns in ((self.state.q, self.system.coordinates), (self.state.v, self.system.rates)):
            names = [column.name for column in columns]
            if name in names:
                return array, names.index(name)
        return None

    def strain(self) -> float:
        """Energy in springs that are rows [J]."""
        return 0.0

    def spin(self) -> float:
        """Kinetic energy of rotors that are rows [J]."""
        return float(np.sum(self.observer.spin(self.now())))

    def change_step(self, dt: float) -> None:
        """Go on with another step size [s]; time is counted in steps from here."""
        self._dt = dt
        self.state.clock.origin = self.state.clock.now
        self.state.clock.proposed = dt
        self.state.clock.steps = 0

    def disturb(self) -> None:  # noqa: B027
        """Forces have changed at once: the next step must not begin with what the last one ended with."""

    def take_over(self, other: Method) -> None:
        """Go on from the state of another method with the same coordinates, of a model with other numbers."""
        mine, theirs = _moving(self.system), _moving(other.system)
        if mine != theirs:
            which = ", ".join(sorted(set(mine) ^ set(theirs))) or "their order"
            raise LinkworkError(f"the changed model moves otherwise, it cannot go on from here: {which}")
        theirs_now = other.state.arrays()
        for name, array in self.state.arrays().items():
            array[...] = theirs_now[name]

    def close(self) -> None:  # noqa: B027
        """Let go of other processes, if there are any."""

    def memory(self) -> dict[str, Array]:
        """Arrays beside the state that a resumed run needs, to be saved and written back in place."""
        return {}

    def make_room(self, data: dict[str, Array]) -> None:  # noqa: B027
        """Let arrays of `memory` that grow with need be as large as those that are about to be written."""

    def accelerations(self) -> Array:
        """Accelerations of the rates of the state now [rad/s², m/s²]."""
        self._lacks(capabilities.ACCELERATIONS)

    def touches(self) -> list[Touch]:
        """Where things touched in the last step, near misses left out."""
        return []

    def measure_pair(self, a: str, b: str) -> None:
        """Sample the sum of the contact forces of a on b from now on."""
        raise LinkworkError(
            f"what '{a}' gives '{b}' cannot be measured: nothing may touch in this model; give both a material"
        )

    def touch_arrays(self) -> TouchArrays | None:
        """Where things touched in the last step, as arrays; None if nothing can touch."""
        return None

    def loose_joints(self) -> list[str]:
        """Of a method that stopped before a singular position: the joints whose equations fail there."""
        return []

    def info(self) -> dict[str, Any]:
        """What a record should say about how it was made."""
        return {}

    def report(self) -> dict[str, Any]:
        """What the last step was like."""
        return {}

    def outcome(self) -> dict[str, Any]:
        """What a record should say about how it went."""
        return {}

    def blame(self) -> str:
        """Where a run failed, if that is not in a rate of the state."""
        return ""

    def warnings(self) -> list[str]:
        """What the user should know about how it went."""
        return []

    @property
    def drives(self) -> tuple[str, ...]:
        """Names of drives, in the order of `commands`."""
        return ()

    @property
    def commands(self) -> Array:
        """What drives are told now, to be written to between steps."""
        return _NOTHING

    @property
    def diagram(self) -> Lowered | None:
        """The control diagram, if the model has one."""
        return None

    def operate(self, channel: str, value: float) -> None:
        """Set what an operator holds."""
        raise LinkworkError(f"there is no element of the panel '{channel}' to operate")

    def wire_values(self) -> Array:
        """Values of all outputs of the diagram now."""
        return np.zeros(0)

    def command(self, drive: str, value: float) -> None:
        """Give a drive a new command."""
        raise LinkworkError(f"there is no drive '{drive}' in this method")


def slot(record: np.record, name: str) -> Any:
    """A field of a record, as element 0: read and written in a tenth of the time that NumPy takes for a field."""
    return slots(np.asarray(record)[name].reshape(1))


def _moving(system: System) -> list[str]:
    """Rates of the state and, with rows, of all joints."""
    joints = () if system.rows is None else system.rows.joints
    columns = [*system.rates, *(column for joint in joints for column in rate_columns(joint))]
    return [column.name for column in columns]
