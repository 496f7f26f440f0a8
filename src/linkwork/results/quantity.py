"""What a quantity is that is measured of a motion: its group in a record, its signals, and how it is measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..model.rotation import Array
from .frames import Frames, MovingFrames
from .schema import Group

Columns = Sequence[tuple[str, str]]
"""Names and units."""


class Observed(Protocol):
    """What a declaration may ask of a simulation: names (and units) of what it has.

    None where its method does not know the quantity; empty where the model has nothing that would have it.
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
    report: Columns
    """Of the solver."""


class BodyMotion(NamedTuple):
    """Of all bodies, samples × components; world axes, accelerations and velocities of their origins."""

    positions: Array
    rotations: Array
    velocities: Array
    angular_velocities: Array
    accelerations: Array
    angular_accelerations: Array


class Sampled(Protocol):
    """What a declaration may ask of a block of samples; each is computed when first asked for."""

    t: Array
    q: Array
    """Coordinates of the method."""
    v: Array
    work: Array

    @property
    def a(self) -> Array:
        """Accelerations: derivatives of v."""

    @property
    def bodies(self) -> BodyMotion: ...

    @property
    def frames(self) -> MovingFrames:
        """Markers, points and centres of mass."""

    @property
    def coordinates(self) -> Array:
        """Of joints."""

    @property
    def rates(self) -> Array: ...

    @property
    def energy(self) -> Array: ...

    @property
    def transmitted(self) -> tuple[Array, Array]:
        """Forces and torques in joints."""

    @property
    def element_forces(self) -> Array: ...

    @property
    def states(self) -> Array:
        """Of elements."""

    @property
    def contact_forces(self) -> Array: ...

    @property
    def report(self) -> Array: ...


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
    return (
        None
        if owners is None
        else [(f"{owner}.{quantity}.{axis}", unit) for owner in owners for axis in axes]
    )


def derive(quantity: Derived, motion: MovingFrames, rows: int) -> Array:
    """Samples × columns of a derived quantity."""
    return np.hstack([np.empty((rows, 0)), *quantity.measure(motion)])
