"""Bode plots."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..model.rotation import Array
from ..results.files import atomic, need
from .linear_system import LinearSystem

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DECADES, _POINTS = 1.5, 800  # beyond the lowest and highest frequency of a mode


def usual_frequencies(system: LinearSystem) -> Array:
    """Around those of its modes [Hz]."""
    sizes = np.abs(system.eigenvalues) / (2.0 * np.pi)
    sizes = sizes[sizes > 0.0]
    low, high = (float(sizes.min()), float(sizes.max())) if len(sizes) else (1.0, 1.0)
    return np.geomspace(low / 10**_DECADES, high * 10**_DECADES, _POINTS)


def bode(
    system: LinearSystem, frequencies: npt.ArrayLike | None = None, path: str | Path | None = None
) -> Figure:
    """Gain and phase of every output by every input over frequencies [Hz]."""
    need("matplotlib", "plot", "a plot")
    from matplotlib.figure import Figure

    f = usual_frequencies(system) if frequencies is None else np.atleast_1d(np.asarray(frequencies, float))
    response = system.response(f)
    figure = Figure(figsize=(7.0, 5.5), layout="constrained")
    gain, phase = figure.subplots(2, 1, sharex=True)
    for k, out in enumerate(system.outputs):
        for i, inp in enumerate(system.inputs):
            label = f"{inp.name} → {out.name}"
            gain.loglog(f, np.abs(response[:, k, i]), label=label)
            phase.semilogx(f, np.rad2deg(np.unwrap(np.angle(response[:, k, i]))), label=label)
    gain.set_ylabel("gain [unit of output / unit of input]")
    phase.set_ylabel("phase [°]")
    phase.set_xlabel("frequency [Hz]")
    for axes in (gain, phase):
        axes.grid(True, which="both", alpha=0.3)
    gain.legend(fontsize="small")
    if path is not None:
        with atomic(path) as temporary:
            figure.savefig(temporary, dpi=150)
    return figure
