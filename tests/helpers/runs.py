"""Running mechanisms, and reading what a run left behind."""

import contextlib

import numpy as np
import pytest

from helpers.processes import python
from linkwork import LinkworkError, Record, Simulation
from linkwork.compile.colliders import may_touch

both = pytest.mark.parametrize("method", ["simgc", "simmc"])
explicit = pytest.mark.parametrize("method", ["simgc", "simmc", "components"])
"""Methods whose steps end on the constraints, at the order of their integrator."""
CLOSED = 1e-12
"""A gap of rounding, with room for larger mechanisms than a metre [m]."""
SETTLED = 1e-3
"""Accelerations to which the direct solver settles contact [m/s²]."""
SLOP = 1e-5
"""Penetration that is left alone [m]."""


def rows_in(part):
    """How many rows are in a part file; 0 if it is not there, or just begun."""
    with contextlib.suppress(LinkworkError):
        return len(Record.load(part).time)
    return 0


def touches(model):
    """Whether things may touch in a model: its steps are of first order then."""
    return bool(may_touch(model.flatten()))


def direct(model, method, **options):
    """By the direct solver, or by components, which have a way of their own."""
    return Simulation(model, method=method, solver=None if method == "components" else "direct", **options)


def bits(simulation):
    """All of a state that must not differ between runs that are the same."""
    return simulation.time, simulation.q.tobytes(), simulation.v.tobytes(), simulation.work


def orders(errors):
    """Orders of convergence between steps that were halved."""
    return np.log2(np.divide(errors[:-1], errors[1:]))


def end_of(record, rod, length):
    """x and y of the far end of a rod that lies along its own x axis, in the plane z = 0."""
    w, z = record[f"{rod}.rotation.w"], record[f"{rod}.rotation.z"]
    x = record[f"{rod}.position.x"] + length * (w * w - z * z)
    return x, record[f"{rod}.position.y"] + length * 2.0 * w * z


def way_of(record, marker):
    """Positions of a marker, samples × 3 [m]."""
    return np.column_stack([record[f"{marker}.position.{axis}"] for axis in "xyz"])


def apart(one, other, group="positions"):
    """The largest difference of two records."""
    return np.abs(one.array(group) - other.array(group)).max()


def compiled_and_plain(program):
    """The numbers in each line that a program prints: compiled, and run as plain Python."""
    lines = []
    for disabled in ("0", "1"):
        printed = python("-c", program, environment={"NUMBA_DISABLE_JIT": disabled})
        lines.append([[float(x) for x in line.split()] for line in printed.splitlines()])
    return lines
