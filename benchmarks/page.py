"""Renders the page of benchmarks from the results in a folder: `python -m benchmarks.page benchmarks/results`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from . import stages
from .contact import sections as contact_sections
from .control import sections as control_sections
from .dynamics import sections as dynamics_sections
from .implicit import sections as implicit_sections
from .report import Section, sections
from .report_loops import limits
from .report_loops import sections as loop_sections
from .start import sections as start_sections
from .vehicles import sections as vehicle_sections
from .view import sections as view_sections

_HEAD = """\
# Benchmarks

This page is made by these commands; change the program, not the page.

```sh
python -m benchmarks tree --json > benchmarks/results/tree.json                # measure
python -m benchmarks loops --json > benchmarks/results/loops.json
python -m benchmarks contact --json > benchmarks/results/contact.json
python -m benchmarks dynamics --json > benchmarks/results/dynamics.json
python -m benchmarks control --json > benchmarks/results/control.json
python -m benchmarks implicit --json > benchmarks/results/implicit.json
python -m benchmarks view --json > benchmarks/results/view.json
python -m benchmarks start --json > benchmarks/results/start.json
python -m benchmarks vehicle --json > benchmarks/results/vehicle.json
python -m benchmarks.page benchmarks/results > docs/benchmarks.md    # write this page
```

`make peers` installs the other engines (MuJoCo, Pinocchio, PyBullet, DART, Drake, Exudyn); without them their figures
are missing. `python -m benchmarks tree` prints tables instead, `--quick` takes fewer sizes and repetitions. Leave the
machine alone meanwhile. What counts are the ratios: they change much less from one processor to the next than times do.

## How it is measured

* All engines run the same numbers: masses, inertias and frames of the other engines' models are copied from
  the tables that Linkwork compiles; a test compares the accelerations of all of them.
* All contenders of a line take turns in one process, each time from the same start, each time for long
  enough; figures are medians, ± half the interquartile range.
* Every engine steps inside its own compiled code: one call from Python for many steps or states.
* Chains hang on hinges and start horizontally; the arm is the PUMA 560 without rotors and friction.
* Nothing collides and no joint has limits, so that no engine does more than the dynamics of the tree.
"""


def render(data: dict[str, Any]) -> str:
    """The page of a result (see `Result.to_dict`)."""
    made = data["made_with"]
    versions = ", ".join(
        f"{name} {made[name]}" for name in ("linkwork", "python", "numpy", "numba", "mujoco", "pinocchio")
        if made.get(name)
    )  # fmt: skip
    parts = [_HEAD]
    if data["quick"]:
        parts.append("**These figures come from a quick run: they show the form of the page, not speed.**\n")
    parts.append(
        f"{made['repetitions']} repetitions of at least {made['shortest_repetition_ms']:g} ms on "
        f"{made['machine']}; {versions}.\n"
    )
    columns = dict(data["how"])
    if data["pinocchio_how"]:
        columns["pinocchio_us"] = data["pinocchio_how"]
    parts.append("| figure | how it is made |\n|---|---|")
    parts.append("\n".join(f"| `{name}` | {text} |" for name, text in columns.items()) + "\n")
    for section in sections(data):
        title = section.title
        parts.append(f"## {title}\n")
        parts.append(_table(section))
        if title.startswith("Time per simulated"):
            parts.append(_about_precision(data["precision"]))
        if title.startswith("Time of a step") and data["exponent"] is not None:
            parts.append(f"A step takes time as the number of links to the power {data['exponent']:.3f}.\n")
    return "\n".join(parts)


def _table(section: Section) -> str:
    rule = "|---" * section.words + "|---:" * (len(section.header) - section.words) + "|"
    lines = [section.header, *section.lines]
    rows = ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]
    return "\n".join([rows[0], rule, *rows[1:]]) + "\n"


def _about_precision(work: dict[str, Any]) -> str:
    reference = work["reference"]
    return (
        f"{work['how']}; steps from coarse to fine (tolerances of the adaptive integrator), interpolated on "
        "logarithmic scales. ≤: even the coarsest setting was better than asked for; -: no setting was good "
        f"enough. Errors are against the adaptive integrator at {reference['tolerance']:.0e}, which differs "
        f"from an independent solution by {reference['difference_m']:.1e} m. MuJoCo runs with everything but "
        "gravity off.\n"
    )


def render_loops(data: dict[str, Any]) -> str:
    """The part of the page about mechanisms with loops (see `LoopResult.to_dict`)."""
    made = data["made_with"]
    versions = ", ".join(
        f"{name} {made[name]}" for name in ("mujoco", "bullet", "dart", "drake") if made.get(name)
    )
    parts = ["## Loops and friction\n"]
    if data["quick"]:
        parts.append("**These figures come from a quick run: they show the form of the page, not speed.**\n")
    parts.append(
        f"{made['repetitions']} repetitions on {made['machine']}; linkwork {made['linkwork']}, {versions}. Masses and "
        "frames of all engines are those of the tables that Linkwork compiles; a test compares their motions.\n"
    )
    for section in loop_sections(data):
        parts.append(f"### {section.title}\n")
        parts.append(_table(section))
        parts += _about(section.title, data)
    return "\n".join(parts)


def _about(title: str, data: dict[str, Any]) -> list[str]:
    """What a table of the suite `loops` needs said."""
    if title.startswith("Mechanisms"):
        return [_explained("figure", data["how"])]
    if title.startswith("N four-bars"):
        growth = data["growth"]
        return [limits(growth) + "\n", _explained("figure", growth["how"]), _explained("stage", stages.HOW)]
    if title.startswith("A random"):
        random = data["random"]
        joints = ", ".join(f"{count} {kind}" for kind, count in random["joints"].items())
        size = f"{random['dofs']} degrees of freedom in the tree, {random['rows']} rows; joints: {joints}."
        work = f"{random['evaluations']:.3g} evaluations a step; the largest gap over 1 s is {random['gap_m']:.1g} m."
        return [f"{size} {work}\n"]
    if title.startswith("Time per simulated"):
        return [_about_chains(data["precision"])]
    return []


def _explained(what: str, how: dict[str, str]) -> str:
    lines = "\n".join(f"| `{name}` | {text} |" for name, text in how.items())
    return f"| {what} | how it is made |\n|---|---|\n{lines}\n"


def _about_chains(work: dict[str, Any]) -> str:
    known = [chain for chain in work["chains"] if chain["reference"]["difference_m"] is not None]
    checks = "; ".join(
        f"{chain['friction_Nm']:g} N m ({chain['reference']['how']}): {chain['reference']['difference_m']:.1e} m"
        for chain in known
    )
    return (
        f"{work['how']}; the free chain as a tree, dry friction by the direct solver. Steps from coarse "
        "to fine (tolerances of the adaptive integrator), interpolated on logarithmic scales. ≤: even the coarsest "
        "setting was better than asked for; -: no setting was good enough. Errors are against references of our own, "
        f"which differ from independent solutions, where there are any, by: {checks}.\n"
    )


def render_contact(data: dict[str, Any]) -> str:
    """The part of the page about bodies that touch (see `ContactResult.to_dict`)."""
    made = data["made_with"]
    versions = ", ".join(f"{name} {made[name]}" for name in ("mujoco", "bullet") if made.get(name))
    parts = ["## Contact\n"]
    if data["quick"]:
        parts.append("**These figures come from a quick run: they show the form of the page, not speed.**\n")
    parts.append(
        f"{made['repetitions']} repetitions on {made['machine']}; linkwork {made['linkwork']}, "
        f"{versions or 'no other engine'}. Bodies, shapes, joints, servos and surroundings of all engines are those of "
        "the same model.\n"
    )
    for section in contact_sections(data):
        parts.append(f"### {section.title}\n")
        parts.append(_table(section))
        if section.title.startswith("Bodies that touch"):
            parts.append(_explained("engine or figure", data["how"]))
    return "\n".join(parts)


def render_dynamics(data: dict[str, Any]) -> str:
    """The part of the page about functions and single steps (see `DynamicsResult.to_dict`)."""
    made = data["made_with"]
    versions = ", ".join(f"{name} {made[name]}" for name in ("mujoco", "pinocchio") if made.get(name))
    parts = ["## From Python: functions of states, single steps\n"]
    if data["quick"]:
        parts.append("**These figures come from a quick run: they show the form of the page, not speed.**\n")
    parts.append(
        f"{made['repetitions']} repetitions on {made['machine']}; linkwork {made['linkwork']}, "
        f"{versions or 'no other engine'}.\n"
    )
    for section in dynamics_sections(data):
        parts.append(f"### {section.title}\n")
        parts.append(_table(section))
    parts.append(_explained("figure", data["how"]))
    return "\n".join(parts)


def render_control(data: dict[str, Any]) -> str:
    """The part of the page about control diagrams (see `ControlResult.to_dict`)."""
    made = data["made_with"]
    parts = ["## Control diagrams\n"]
    if data["quick"]:
        parts.append("**These figures come from a quick run: they show the form of the page, not speed.**\n")
    versions = ", ".join(f"{name} {made[name]}" for name in ("bdsim", "control") if made.get(name))
    parts.append(
        f"{made['repetitions']} repetitions on {made['machine']}; linkwork {made['linkwork']}, "
        f"{versions or 'no other program'} (`pip install bdsim control`). A test compares the motions of all three.\n"
    )
    for section in control_sections(data):
        parts.append(f"### {section.title}\n")
        parts.append(_table(section))
    parts.append(_explained("figure", data["how"]))
    return "\n".join(parts)


def render_implicit(data: dict[str, Any]) -> str:
    """The part of the page about implicit methods (see `ImplicitResult.to_dict`)."""
    made = data["made_with"]
    parts = ["## Implicit methods\n"]
    if data["quick"]:
        parts.append("**These figures come from a quick run: they show the form of the page, not speed.**\n")
    exudyn = f"exudyn {made['exudyn']}" if made.get("exudyn") else "no other engine"
    parts.append(
        f"{made['repetitions']} runs of each on {made['machine']}; linkwork {made['linkwork']}, {exudyn}. Masses, "
        "frames and starts are those of the same model. Of Exudyn's linear solvers, and of Newton's method with and "
        "without keeping the Jacobian, each line has the fastest that arrives.\n"
    )
    for section in implicit_sections(data):
        parts.append(f"### {section.title}\n")
        parts.append(_table(section))
    parts.append(_explained("figure or way", data["how"]))
    return "\n".join(parts)


def render_view(data: dict[str, Any]) -> str:
    """The part of the page about the live page (see `ViewResult.to_dict`)."""
    made = data["made_with"]
    parts = ["## The live page\n"]
    if data["quick"]:
        parts.append("**These figures come from a quick run: they show the form of the page, not speed.**\n")
    parts.append(f"Server and visitors share one machine: {made['machine']}; linkwork {made['linkwork']}.\n")
    for section in view_sections(data):
        parts.append(f"### {section.title}\n")
        parts.append(_table(section))
    parts.append(_explained("figure", data["how"]))
    return "\n".join(parts)


def render_vehicle(data: dict[str, Any]) -> str:
    """The part of the page about vehicles (see `VehicleResult.to_dict`)."""
    made = data["made_with"]
    parts = ["## Vehicles\n"]
    if data["quick"]:
        parts.append("**These figures come from a quick run: they show the form of the page, not speed.**\n")
    mujoco = f"mujoco {made['mujoco']}" if made.get("mujoco") else "no other engine"
    parts.append(
        f"{made['repetitions']} repetitions on {made['machine']}; linkwork {made['linkwork']}, {mujoco}. Points, "
        "masses, springs and motors of both engines are the same.\n"
    )
    for section in vehicle_sections(data):
        parts.append(f"### {section.title}\n")
        parts.append(_table(section))
    parts.append(_explained("figure", data["how"]))
    return "\n".join(parts)


def render_start(data: dict[str, Any]) -> str:
    """The part of the page about first starts (see `StartResult.to_dict`)."""
    made = data["made_with"]
    parts = ["## First start\n"]
    if data["quick"]:
        parts.append("**These figures come from a quick run: they show the form of the page, not speed.**\n")
    parts.append(
        f"Each in new processes with a new folder for kernels, on {made['machine']}; linkwork {made['linkwork']}.\n"
    )
    for section in start_sections(data):
        parts.append(f"### {section.title}\n")
        parts.append(_table(section))
    parts.append(_explained("figure", data["how"]))
    return "\n".join(parts)


def main(arguments: list[str]) -> int:
    """Print the page of the results in a folder."""
    folder = Path(arguments[0]) if len(arguments) == 1 else None
    if folder is None or not (folder / "tree.json").is_file():
        print("usage: python -m benchmarks.page FOLDER > PAGE.md, tree.json in the folder", file=sys.stderr)
        return 2
    page = render(json.loads((folder / "tree.json").read_text(encoding="utf-8")))
    loops = folder / "loops.json"
    if loops.is_file():
        data = json.loads(loops.read_text(encoding="utf-8"))
        if "growth" not in data:
            print("loops.json is of an older version: measure again", file=sys.stderr)
            return 2
        page += "\n" + render_loops(data)
    touching = folder / "contact.json"
    if touching.is_file():
        page += "\n" + render_contact(json.loads(touching.read_text(encoding="utf-8")))
    functions = folder / "dynamics.json"
    if functions.is_file():
        page += "\n" + render_dynamics(json.loads(functions.read_text(encoding="utf-8")))
    diagrams = folder / "control.json"
    if diagrams.is_file():
        page += "\n" + render_control(json.loads(diagrams.read_text(encoding="utf-8")))
    large_steps = folder / "implicit.json"
    if large_steps.is_file():
        page += "\n" + render_implicit(json.loads(large_steps.read_text(encoding="utf-8")))
    live = folder / "view.json"
    if live.is_file():
        page += "\n" + render_view(json.loads(live.read_text(encoding="utf-8")))
    driven = folder / "vehicle.json"
    if driven.is_file():
        page += "\n" + render_vehicle(json.loads(driven.read_text(encoding="utf-8")))
    first = folder / "start.json"
    if first.is_file():
        page += "\n" + render_start(json.loads(first.read_text(encoding="utf-8")))
    sys.stdout.write(page)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
