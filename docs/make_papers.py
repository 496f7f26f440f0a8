"""Writes docs/papers.md: every table and figure of the five papers beside ours.

`python docs/make_papers.py` runs everything that they show, which takes some minutes, and keeps the outcomes in
docs/papers; `python docs/make_papers.py limits suspensions` runs some anew, and `none` only writes the page.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

from linkwork import Simulation, render, scene
from linkwork.reproduce import PAPERS, QUICK, reproduce

DOCS = Path(__file__).parent
KEPT, PICTURES, CARDS = DOCS / "papers", DOCS / "pictures", "../src/linkwork/view/cards"


class Shown(NamedTuple):
    """A table or figure of a paper, and where ours is."""

    what: str
    ours: str
    picture: str = ""


def card(name: str) -> str:
    """A picture of the gallery."""
    return f"{CARDS}/{name}.webp"


TITLES = {
    "simgc": "SIMGC: sequential impulses in generalized coordinates",
    "limits": "Limits of relative motion by sequential impulses (SIMMC)",
    "components": "Component-based simulation",
    "hybrid": "Penalties with a semi-recursive formulation",
    "suspensions": "Suspensions of wheeled robots",
}
FIGURES: dict[str, tuple[Shown, ...]] = {
    "simgc": (
        Shown("Figures 1 to 3, algorithms", "[trees](tree-dynamics.md), [impulses](impulses.md)"),
        Shown("Figure 4, chain of five links", "scene `chain5`", card("chain5")),
        Shown("Figure 5, Peaucellier–Lipkin linkage", "scene `peaucellier`", card("peaucellier")),
        Shown("Figure 6, a manipulator grasps", "scene `gripper`", card("gripper")),
        Shown("Figure 7, a robot grasps a stone", "scene `humanoid_stone`", card("humanoid_stone")),
        Shown("Table 1, times and iterations", "below"),
    ),
    "limits": (
        Shown("the robot with its trailer over a hill", "scene `krt100`", "pictures/krt100.png"),
        Shown("the same in turns", "scene `krt100 --set 'course=\"turns\"'`", "pictures/paper_turns.png"),
        Shown("angles within 18°, 15°, 18°", "below", "pictures/paper_limits.png"),
    ),
    "components": (
        Shown(
            "Figures 1 to 4, steps and subsystems", "[components](components.md)", "pictures/partition.svg"
        ),
        Shown("Figure 5, the car", "scene `car`", card("car")),
        Shown("Figure 6, height of the car body", "below", "pictures/paper_components.png"),
    ),
    "hybrid": (
        Shown("Figure 1, an example of topology", "[implicit methods](implicit.md)"),
        Shown("Figure 2, double four-bar", "scene `double_four_bar`", card("double_four_bar")),
        Shown("Figure 3, Iltis suspension", "scene `iltis_quarter`", card("iltis_quarter")),
        Shown("Figure 4, PUMA robot", "scene `puma_hold`", card("puma_hold")),
        Shown("Tables 1 to 3", "below", "pictures/paper_hybrid.png"),
    ),
    "suspensions": (
        Shown("Figures 1 to 4, suspensions", "scene `suspensions`", "pictures/suspensions.png"),
        Shown("Figure 5, KRT-100M with its cart", "scene `krt100`", card("krt100")),
        Shown(
            "Figure 6, right wheels on an obstacle",
            "scene `krt100 --set 'course=\"long box\"'`",
            "pictures/paper_obstacle.png",
        ),
        Shown("the parameter sheet of a wheel", "scene `corner`, tab Model of the page", card("corner")),
        Shown("camber and track over travel", "ours alone", "pictures/paper_suspensions.png"),
    ),
}
HEAD = """# Papers
Every table and figure of the five papers that Linkwork's methods come from, and what Linkwork makes of it. Written by
`python docs/make_papers.py`, which runs `linkwork reproduce PAPER` for each and keeps the outcomes in `docs/papers/`;
names of columns are those of `linkwork reproduce PAPER --json`. Columns that begin with `paper` or `published` are what
the paper prints; all others are measured. Times are those of the processor, on a machine that did other work, too:
compare those of one table with each other.
"""


def measure(paper: str) -> None:
    """Run what a paper shows, and keep it."""
    found = reproduce(paper, quick=paper in QUICK)
    hidden = list(found.hidden)
    data = {"paper": found.paper, "rows": found.rows, "notes": found.notes, "hidden": hidden}
    KEPT.mkdir(exist_ok=True)
    (KEPT / f"{paper}.json").write_text(json.dumps(data, indent=1, default=str) + "\n", encoding="utf-8")
    if found.plot is not None:
        found.plot(PICTURES / f"paper_{paper}.png")


def pictures() -> None:
    """The robot in turns and with its right wheels on the obstacle."""
    for course, name, t in (("turns", "paper_turns", 4.0), ("long box", "paper_obstacle", 4.2)):
        record = Simulation(scene("krt100", course=course)).run(t, every=0.05)
        render(record, PICTURES / f"{name}.png", t=t, width=640, height=400)


def page() -> str:
    """The page of what is kept."""
    parts = [HEAD]
    for paper, title in TITLES.items():
        parts.append(f"## {title}\n{PAPERS[paper]}. `linkwork reproduce {paper}`\n")
        parts.append("| in the paper | ours | |\n|---|---|---|")
        for shown in FIGURES[paper]:
            there = shown.picture and (DOCS / shown.picture).exists()
            picture = f'<img src="{shown.picture}" width="240" alt="{shown.what}">' if there else ""
            parts.append(f"| {shown.what} | {shown.ours} | {picture} |")
        parts.append("")
        file = KEPT / f"{paper}.json"
        if not file.is_file():
            parts.append("Not measured yet.\n")
            continue
        data = json.loads(file.read_text(encoding="utf-8"))
        parts += [*table(data["rows"], data["hidden"]), ""]
        parts += [*(f"* {note}" for note in data["notes"]), ""]
    return "\n".join(parts)


def table(rows: list[dict[str, Any]], hidden: list[str]) -> list[str]:
    """Rows of an outcome, columns that are nowhere more than a number or a word."""
    names = [
        name
        for name in rows[0]
        if name not in hidden and not any(isinstance(row.get(name), dict | list) for row in rows)
    ]
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    return lines + ["| " + " | ".join(cell(row.get(name)) for name in names) + " |" for row in rows]


def cell(value: Any) -> str:
    """Three digits."""
    if value is None:
        return "–"
    return f"{value:.3g}" if isinstance(value, float) else str(value).replace("|", "\\|")


def main(wanted: list[str]) -> None:
    """Measure what was asked for, everything by default, and write the page."""
    unknown = [name for name in wanted if name not in (*PAPERS, "pictures", "none")]
    if unknown:
        sys.exit(f"unknown: {', '.join(unknown)}; known: {', '.join(PAPERS)}, pictures, none")
    for paper in PAPERS:
        if not wanted or paper in wanted:
            measure(paper)
    if not wanted or "pictures" in wanted:
        pictures()
    (DOCS / "papers.md").write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
