"""Plots of signals over time. Imports matplotlib on use, and never touches pyplot's global state."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..model.errors import LinkworkError
from .files import atomic, need
from .schema import TIME_UNIT

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .record import Record

# Colours that colour-blind readers tell apart (Okabe and Ito, Color Universal Design, 2008), without the
# yellow that is too pale for a thin line; a second round is dashed.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
STYLES = [(colour, dash) for dash, colour in product(("-", "--", "-.", ":"), _COLOURS)]

_QUANTITIES = {
    "rad": "angle",
    "m": "length",
    "rad/s": "angular velocity",
    "m/s": "velocity",
    "rad/s²": "angular acceleration",
    "m/s²": "acceleration",
    "J": "energy",
    "W": "power",
    "N": "force",
    "N m": "torque",
}
_LEGEND_ROWS = 14


def plot(record: Record, names: Sequence[str], path: Path | str | None = None) -> Figure:
    """Signals over time, one plot per unit, written to `path` if given (PNG, PDF, SVG ... by its ending)."""
    by_unit: dict[str, list[str]] = {}
    for name in names:
        by_unit.setdefault(record.unit(name), []).append(name)

    figure = new_figure(9.0, 0.8 + 2.4 * len(by_unit))
    rows = figure.subplots(len(by_unit), sharex=True, squeeze=False)[:, 0]
    for axes, (unit, signals) in zip(rows, by_unit.items(), strict=True):
        _draw(axes, record, signals)
        what = signals[0] if len(signals) == 1 else _QUANTITIES.get(unit, "")
        axes.set_ylabel(f"{what} [{unit}]".strip(), parse_math=False)
    rows[-1].set_xlabel(f"time [{TIME_UNIT}]")
    if record.title:
        figure.suptitle(record.title, parse_math=False)
    figure.align_ylabels(rows)
    if path is not None:
        write_figure(figure, path)
    return figure


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of this size [inch] that needs no display."""
    figures = need("matplotlib.figure", "plot", "a plot")
    agg = need("matplotlib.backends.backend_agg", "plot", "a plot")
    figure: Figure = figures.Figure(figsize=(width, height), layout="constrained")
    agg.FigureCanvasAgg(figure)
    return figure


def plain(axes: Any) -> None:
    """A light grid behind the curves, no frame, no margins in time."""
    axes.grid(True, color="0.88", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.margins(x=0.0)


def _draw(axes: Any, record: Record, signals: Sequence[str]) -> None:
    lines = []
    for i, name in enumerate(signals):
        colour, dash = STYLES[i % len(STYLES)]
        lines += axes.plot(record.time, record[name], dash, color=colour, linewidth=1.4, label=name)
    plain(axes)
    # Beside the plot, where it hides no curve.
    legend = axes.legend(
        lines,
        ["name"] * len(lines),
        loc="upper left",
        bbox_to_anchor=(1.0, 1.0),
        ncols=-(-len(signals) // _LEGEND_ROWS),
        fontsize="small",
        frameon=False,
    )
    # Written afterwards, since a legend hides what begins with an underscore.
    for text, name in zip(legend.get_texts(), signals, strict=True):
        text.set(text=name, parse_math=False)


def write_figure(figure: Figure, path: Path | str) -> None:
    """Write a figure, whole or not at all."""
    kind = Path(path).suffix.removeprefix(".").lower() or "png"
    known = figure.canvas.get_supported_filetypes()
    if kind not in known:
        raise LinkworkError(
            f"{path}: plots are not written as '{kind}', but as one of {', '.join(sorted(known))}"
        )
    with atomic(path) as temporary:
        figure.savefig(temporary, format=kind, dpi=150)
