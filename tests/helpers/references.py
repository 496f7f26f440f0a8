"""Reference data, and motions that are known."""

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

DATA = Path(__file__).parents[1] / "data"


def reference(name: str) -> dict[str, np.ndarray]:
    """Columns of a reference trajectory by name."""
    with (DATA / name).open() as stream:
        lines = [line for line in stream if not line.startswith("#")]
    names = lines[0].strip().split(",")
    table = np.loadtxt(lines[1:], delimiter=",")
    return dict(zip(names, table.T, strict=True))


def at(table, time):
    """The row of a reference table at a time."""
    row = np.searchsorted(table["t"], time - 1e-9)
    assert table["t"][row] == pytest.approx(time)
    return {name: column[row] for name, column in table.items()}


# The double four-bar has one degree of freedom: 1.5 φ'² + 34.335 cos φ is its energy, so φ'' = 11.445 sin φ, φ
# clockwise from upright.
PULL = 34.335 / 3.0


def exact_four_bar(angle, rate, duration):
    motion = solve_ivp(
        lambda t, y: (y[1], PULL * math.sin(y[0])),
        (0.0, duration),
        (angle, rate),
        method="DOP853",
        rtol=1e-13,
        atol=1e-13,
    )
    return motion.y[:, -1]
