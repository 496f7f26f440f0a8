"""Reading the reference data."""

from pathlib import Path

import numpy as np

DATA = Path(__file__).parent / "data"


def reference(name: str) -> dict[str, np.ndarray]:
    """Columns of a reference trajectory by name."""
    with (DATA / name).open() as stream:
        lines = [line for line in stream if not line.startswith("#")]
    names = lines[0].strip().split(",")
    table = np.loadtxt(lines[1:], delimiter=",")
    return dict(zip(names, table.T, strict=True))
