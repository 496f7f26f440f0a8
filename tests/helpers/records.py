"""A record of a swing, made by hand."""

from __future__ import annotations

import numpy as np

from linkwork.model.rotation import Array
from linkwork.results.record import Group, Record

COORDINATES = Group("coordinates", ("pivot.angle",), ("rad",))
RATES = Group("rates", ("pivot.angle_rate",), ("rad/s",))
POSITIONS = Group("positions", tuple(f"arm.position.{axis}" for axis in "xyz"), ("m",) * 3)
ROTATIONS = Group("rotations", tuple(f"arm.rotation.{part}" for part in "wxyz"), ("1",) * 4)
ENERGY = Group("energy", ("energy.kinetic", "energy.balance"), ("J", "J"))
GROUPS = (COORDINATES, RATES, POSITIONS, ROTATIONS, ENERGY)
INFO = {"model": "swing", "dt": 0.001, "warnings": []}


def rows_of(time: Array) -> dict[str, Array]:
    """A swing by t² about z."""
    angle = time**2
    zero = np.zeros_like(time)
    return {
        "coordinates": angle[:, None],
        "rates": 2 * time[:, None],
        "positions": np.column_stack([np.cos(angle), np.sin(angle), zero]),
        "rotations": np.column_stack([np.cos(angle / 2), zero, zero, np.sin(angle / 2)]),
        "energy": np.column_stack([2 * time**2, -1e-6 * time]),
    }


def swing(steps: int = 50, end: float = 0.5) -> Record:
    time = np.linspace(0.0, end, steps + 1)
    return Record(time, GROUPS, rows_of(time), INFO)


def assert_same(a: Record, b: Record) -> None:
    """Equal to the last bit, in the same order."""
    assert list(a.groups.items()) == list(b.groups.items())
    assert a.time.tobytes() == b.time.tobytes()
    for group in a.groups:
        assert a.array(group).shape == b.array(group).shape
        assert a.array(group).tobytes() == b.array(group).tobytes()
    assert a.info == b.info
    assert a.complete == b.complete
