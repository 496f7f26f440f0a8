"""What a record tells of poses, and what of a model decides how smooth a motion can be: plain NumPy for the oracle."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..compile.spanning import FLOATING
from ..compile.system import System
from ..engine.elements import Backlash
from ..model import Flat
from ..model.rotation import Array, matrix, quaternion, rotation_vectors
from ..model.signals import Table
from ..results.record import Record


def largest(values: Array) -> float:
    """The largest magnitude in an array, 0 if it is empty."""
    return float(np.abs(values).max(initial=0.0))


def is_smooth(flat: Flat) -> bool:
    """No impacts, dry friction or free play, no drive that can reach the end of its strength, no corners of signals."""
    joints = flat.joints.values()
    if any(joint.limits is not None or any(joint.per_rate("friction")) for joint in joints):
        return False
    if any(isinstance(item, Backlash) for item in flat.couplings.values()):
        return False
    if any(isinstance(getattr(item, "signal", None), Table) for item in flat.items()):
        return False
    return all(np.isinf(getattr(drive, "strength", np.inf)) for drive in flat.drives.values())


def travelled(record: Record) -> float:
    """How far any body has moved or turned from the start [m or rad]."""
    start = record.array("positions")[0]
    far = largest(record.array("positions") - start)
    return max(far, largest(turned(record.array("rotations"), record.array("rotations")[:1])))


def apart(a: Record, b: Record) -> Array:
    """Differences of all poses: positions [m], then twice those of quaternions, which are half angles [rad]."""
    positions = a.array("positions") - b.array("positions")
    return np.hstack([positions, turned(a.array("rotations"), b.array("rotations"))])


def turned(a: Array, b: Array) -> Array:
    """2 (a - b) of quaternions, of the sign that makes it small."""
    a, b = a.reshape(len(a), -1, 4), b.reshape(len(b), -1, 4)
    sign = np.where(np.sum(a * b, axis=2, keepdims=True) < 0.0, -1.0, 1.0)
    return np.asarray(2.0 * (a - sign * b)).reshape(len(a), -1)


def floating_coordinates(system: System, flat: Flat, record: Record) -> Iterator[Array]:
    """Coordinates of floating bodies, for a system in maximal coordinates, at the poses of a record."""
    q = np.array(system.q0)
    written = {name: (np.array(body.at), matrix(body.rotation)) for name, body in flat.bodies.items()}
    positions, rotations = record.array("positions"), record.array("rotations")
    for p, turns in zip(
        positions.reshape(len(record), -1, 3), rotations.reshape(len(record), -1, 4), strict=True
    ):
        for i, name in enumerate(system.bodies):
            at, R0 = written[name]
            R, com = matrix(turns[i]), flat.bodies[name].mass_properties.com
            placed = system.joints[FLOATING + name]
            q[placed.q] = [*(p[i] + R @ com - at - R0 @ com), *quaternion(R @ R0.T)]
        yield q


def limited_coordinates(flat: Flat, record: Record) -> Iterator[tuple[str, float, float, Array]]:
    """(name, lowest, highest, values) of every coordinate that has a limit; of a ball, of its rotation vector."""
    for joint in flat.joints.values():
        if joint.limits is None:
            continue
        values: list[Array] = []
        for motion in joint.motions():
            columns = [record[f"{joint.name}.{name}"] for name in motion.coordinates]
            values += list(rotation_vectors(np.column_stack(columns)).T) if motion.ball else columns
        for rate, (low, high), column in zip(joint.rates, joint.bounds(), values, strict=True):
            ends = -np.inf if low is None else low, np.inf if high is None else high
            yield f"{joint.name}.{rate.removesuffix('_rate')}", *ends, column
