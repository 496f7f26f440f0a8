"""The tyre rig on the command line."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from rich.markup import escape
from rich.table import Table as Grid

from ..model.errors import LinkworkError, nearest
from ..model.tyres import BrushTyre, MagicTyre
from .common import console, print_json, say

_SIZE = {"radius": 0.3, "load": 3000.0}


def show_tyre(
    subject: str, settings: Mapping[str, Any], count: int, plot: Path | None, as_json: bool
) -> None:
    """Forces of a .tir file or a brush tyre over its slip, as a table, a plot or JSON."""
    from ..vehicle.tyre_rig import curves, stiffnesses

    tyre: BrushTyre | MagicTyre
    if subject.lower().endswith(".tir"):
        if settings:
            raise LinkworkError(f"--set {next(iter(settings))}: a tyre of a file has the file's numbers")
        tyre = MagicTyre("tyre", "wheel", file=subject)
    elif subject == "brush":
        tyre = BrushTyre("tyre", "wheel", **{**_SIZE, **settings})
    else:
        raise LinkworkError(
            f"there is no tyre '{subject}'{nearest(subject, ['brush'])}; name a .tir file, or brush"
        )
    if count < 3:
        raise LinkworkError(f"a curve needs at least 3 places (got {count})")
    found = curves(
        tyre, kappa=np.linspace(-0.5, 0.5, count), alpha=np.radians(np.linspace(-15.0, 15.0, count))
    )
    left_out = tyre.read.left_out if isinstance(tyre, MagicTyre) else ()
    stiff = [stiffnesses(tyre, float(load)) for load in found.loads]
    if plot is not None:
        from ..vehicle.rig_plot import plot_tyre

        plot_tyre(found, plot)
    if as_json:
        print_json(
            {
                "tyre": subject,
                "left_out": list(left_out),
                "slip_stiffness": [along for along, _ in stiff],
                "cornering_stiffness": [across for _, across in stiff],
                "curves": {name: values.tolist() for name, values in found._asdict().items()},
            }
        )
        return
    heads = ["kappa [1]", *(f"Fx at {load:.0f} N [N]" for load in found.loads), "alpha [°]"]
    for what, unit in (("Fy", "N"), ("Mz", "N m")):
        heads += [f"{what} at {load:.0f} N [{unit}]" for load in found.loads]
    grid = Grid(*map(escape, heads))
    for i in range(count):
        numbers = [found.kappa[i], *found.braking[:, i], math.degrees(found.alpha[i])]
        numbers += [*found.cornering[:, i], *found.aligning[:, i]]
        grid.add_row(*(f"{round(float(number), 9) + 0.0:.4g}" for number in numbers))
    console.print(grid)
    for load, (along, across) in zip(found.loads, stiff, strict=True):
        say(f"at {load:.0f} N: slip stiffness {along:.5g} N, cornering stiffness {across:.5g} N/rad")
    for line in left_out:
        say(f"note: {line}")
