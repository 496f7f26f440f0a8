"""A picture of a partition: subsystems inside each other, from left to right, coloured by the size of D."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..results.plot import new_figure, write_figure
from .partition import Group, Partition, grouped

_WIDTH, _HEIGHT = 3.1, 0.44  # of a box that holds no others [inch]
_GAP = 0.04  # between boxes, of a box


def plot_partition(found: Partition, path: Path | str) -> None:
    """The tree of subsystems, written to a file (PNG, PDF, SVG ... by its ending)."""
    boxes = _boxes(grouped(found.top), 0, 0.0)[0]
    levels, tall = 1 + max(box[0] for box in boxes), boxes[-1][2]
    figure = new_figure(_WIDTH * levels + 1.0, _HEIGHT * tall + 1.3)
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, Normalize
    from matplotlib.patches import FancyBboxPatch

    axes = figure.subplots()
    pale = ListedColormap(colormaps["YlGnBu"](np.linspace(0.0, 0.45, 256)))  # text stays readable on it
    largest = max(6, *(group.size for *_, group in boxes))
    colours: Any = ScalarMappable(Normalize(0, largest), pale)
    for x, y, height, group in boxes:
        axes.add_patch(
            FancyBboxPatch(
                (x + _GAP, y + 2 * _GAP), 1 - 2 * _GAP, height - 4 * _GAP, facecolor=colours.to_rgba(group.size),
                edgecolor="0.25", linestyle="--" if group.made else "-", linewidth=0.8 if group.made else 1.5,
                boxstyle="round,pad=0,rounding_size=0.02", mutation_aspect=_WIDTH / _HEIGHT,
            )
        )  # fmt: skip
        weight = "normal" if group.made else "bold"
        middle = x + 0.5, y + height / 2
        _write(axes, middle[0], middle[1] - 0.17, _short(group.name), fontsize=8.5, weight=weight)
        _write(axes, middle[0], middle[1] + 0.19, group.facts(), fontsize=7.0, color="0.2")
    axes.set_xlim(0, levels)
    axes.set_ylim(tall, 0)
    axes.axis("off")
    bar = figure.colorbar(colours, ax=axes, location="bottom", shrink=1.0 / levels, aspect=30, pad=0.02)
    bar.set_label("rows of D", fontsize=8)
    bar.set_ticks(list(range(0, largest + 1, 6 * -(-largest // 48))))
    bar.ax.tick_params(labelsize=7)
    figure.suptitle(
        f"{found.model}: {found.monolithic / found.cost:.3g} times cheaper than without subsystems\n"
        "bold: written; dashed: made",
        fontsize=9,
        parse_math=False,
    )
    write_figure(figure, path)


def _write(axes: Any, x: float, y: float, text: str, **style: Any) -> None:
    axes.text(x, y, text, ha="center", va="center", parse_math=False, **style)


def _short(name: str, most: int = 38) -> str:
    return name if len(name) <= most else f"{name[: most // 2 - 1]} … {name[2 - most // 2 :]}"


def _boxes(group: Group, level: int, y: float) -> tuple[list[tuple[int, float, float, Group]], float]:
    """Left, top and height of a group and of those inside it, in boxes, itself last; and its height."""
    found: list[tuple[int, float, float, Group]] = []
    height = 0.0
    for inner in group.inside:
        more, tall = _boxes(inner, level + 1, y + height)
        found += more
        height += tall
    height = max(height, 1.0)
    return [*found, (level, y, height, group)], height
