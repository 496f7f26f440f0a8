"""What a quantity is that is measured of a motion: its group in a record, its signals, and how it is measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..model.rotation import Array
from .frames import Frames, MovingFrames
from .schema import Group

Columns = Sequence[tuple[str, str]]
"""Names and units."""


class Observed(Protocol):
    """An observer, as far as quantities need it: names (and units) of what there is, and how that is measured.

    None where the method does not know the quantity; empty where the model has nothing that would have it.
    """

    frames: Frames
    bodies: Sequence[str]
    coordinates: Columns
    """Of joints."""
    rates: Columns
    accelerating: Columns | None
    """Rates whose accelerations are known."""
    transmitting: Sequence[str] | None
    """Joints whose reactions are known."""
    elements: Columns
    """Forces of drives, springs, bushings ..."""
    states: Columns
    """Of elements."""
    touching: Sequence[str]
    """Bodies and scenery that may touch."""
    pairs: Sequence[tuple[str, str]]
    """Those of which the user wants to know what the first gives the second."""
    report: Columns
    """Of the solver."""

    def state_accelerations(self, sampled: Sampled) -> Array: ...

    def body_motion(self, sampled: Sampled) -> BodyMotion: ...

    def joints(self, block: tuple[Array, ...]) -> tuple[Array, Array]: ...

    def energies(self, sampled: Sampled) -> Array: ...

    def reactions(self, sampled: Sampled) -> tuple[Array, Array]: ...

    def forces_of_elements(self, sampled: Sampled) -> Array: ...


class BodyMotion(NamedTuple):
    """Of all bodies, samples × components; world axes, accelerations and velocities of their origins."""

    positions: Array
    rotations: Array
    velocities: Array
    angular_velocities: Array
    accelerations: Array
    angular_accelerations: Array


BODY_GROUPS = (
    "positions", "rotations", "body_velocities", "body_angular_velocities", "body_accelerations",
    "body_angular_accelerations",
)  # fmt: skip
"""Groups of a record that hold what a `BodyMotion` has, in its order."""


class Sampled:
    """What a declaration may ask of a block of samples; each is computed when first asked for."""

    def __init__(self, observer: Observed, block: tuple[Array, ...]):
        self._observer = observer
        self.block = tuple(np.ascontiguousarray(array) for array in block)
        self.t, self.q, self.v, self.work = self.block[:4]

    @cached_property
    def a(self) -> Array:
        """Accelerations: derivatives of v, the rates of the method."""
        return self._observer.state_accelerations(self)

    @cached_property
    def bodies(self) -> BodyMotion:
        return self._observer.body_motion(self)

    @cached_property
    def frames(self) -> MovingFrames:
        """Markers, points and centres of mass."""
        groups = dict(zip(BODY_GROUPS, self.bodies, strict=True))
        return MovingFrames(self._observer.frames, self._observer.bodies, groups.__getitem__)

    @cached_property
    def joints(self) -> tuple[Array, Array]:
        """Coordinates and rates."""
        return self._observer.joints(self.block)

    @cached_property
    def energy(self) -> Array:
        return self._observer.energies(self)

    @cached_property
    def transmitted(self) -> tuple[Array, Array]:
        """Forces and torques in joints."""
        return self._observer.reactions(self)

    @property
    def element_forces(self) -> Array:
        return self._observer.forces_of_elements(self)

    @property
    def states(self) -> Array:
        """Of elements."""
        return self.block[9]

    @property
    def contact_forces(self) -> Array:
        """On all that may touch."""
        first = 1 + len(self._observer.report)
        return self.block[6][:, first : first + 3 * len(self._observer.touching)]

    @property
    def pair_forces(self) -> Array:
        """Of the first on the second of each pair."""
        return self.block[6][:, 1 + len(self._observer.report) + 3 * len(self._observer.touching) :]

    @property
    def report(self) -> Array:
        """Of the solver."""
        return self.block[6][:, 1 : 1 + len(self._observer.report)]


@dataclass(frozen=True)
class Stored:
    """A quantity that is measured of samples and recorded."""

    group: str
    """Of a record; the name of a dataset in a file."""
    pattern: str
    """Names of its signals, for readers."""
    unit: str
    """Units, for readers."""
    about: str
    """What it is."""
    columns: Callable[[Observed], Columns | None]
    """Names and units for a simulation; None if its records do without the group."""
    measure: Callable[[Sampled], Array]
    """Samples × columns."""
    feature: str = ""
    """What a method must be able to do for it, as the table of capabilities calls it; empty if all methods can."""
    ending: str = ""
    """Of the names of its signals, their axes apart, where they are names of joints or coordinates and this."""


@dataclass(frozen=True)
class Derived:
    """A quantity that follows from the recorded motion of bodies."""

    group: str
    pattern: str
    unit: str
    about: str
    needs: tuple[str, ...]
    """Groups that it follows from."""
    columns: Callable[[Frames], Columns | None]
    measure: Callable[[MovingFrames], Sequence[Array]]
    """Blocks of columns, side by side."""


def group_of(quantity: Stored | Derived, whose: Any) -> Group | None:
    """The group of a record that holds a quantity of an observer or of frames; None if there is none."""
    columns = quantity.columns(whose)
    if columns is None:
        return None
    return Group(quantity.group, tuple(name for name, _ in columns), tuple(unit for _, unit in columns))


def vectors(owners: Sequence[str] | None, quantity: str, unit: str, axes: str = "xyz") -> Columns | None:
    """Columns `<owner>.<quantity>.<axis>`; None if nothing is known of owners."""
    if owners is None:
        return None
    return [(f"{owner}.{quantity}.{axis}", unit) for owner in owners for axis in axes]


def derive(quantity: Derived, motion: MovingFrames, rows: int) -> Array:
    """Samples × columns of a derived quantity."""
    return np.hstack([np.empty((rows, 0)), *quantity.measure(motion)])
