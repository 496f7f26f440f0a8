"""Tables of the suite `loops`; the terminal and the page show the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .mechanisms import LARGE
from .report import Section, cost, notes_and_targets, number, timed
from .stages import STAGES


def sections(data: dict[str, Any]) -> Iterator[Section]:
    """Every table of a result (see `LoopResult.to_dict`)."""
    yield Section(
        "Mechanisms with loops and friction: time of a step of 1 ms [µs], and × that of SIMGC direct",
        ("case", "engine", "step", "×", "gap [m]", "energy", "work"),
        [line for row in data["rows"] for line in contenders(row, data["contenders"])],
        words=2,
    )
    growth, random = data["growth"], data["random"]
    yield Section(
        "N four-bars in a row: time of a step, and its stages in SIMGC [µs]",
        ("N", *(str(row["n"]) for row in growth["rows"]), "exponent", f"N ≥ {LARGE}"),
        [_sizes(growth, name) for name in ("simgc", "simmc", *STAGES)],
    )
    yield Section(
        f"A random mechanism of {random['bodies']} bodies with {random['loops']} loops: a step of SIMGC direct [µs]",
        ("stage", "time", "share"),
        [("step", number(random["simgc_us"]), "")]
        + [(s, number(us), f"{us / random['simgc_us']:.0%}") for s, us in random["stages_us"].items()],
    )
    work = data["precision"]
    yield Section(
        "Time per simulated second [ms] for a tip error after 1 s: chain of 5, free and dry",
        ("friction [N m]", "engine", "method", *(f"{error:g} m" for error in work["errors_m"])),
        [
            (f"{chain['friction_Nm']:g}", entry["engine"], entry["method"], *map(cost, entry["costs"]))
            for chain in work["chains"]
            for entry in chain["methods"]
        ],
        words=3,
    )
    yield from notes_and_targets(data)


def limits(growth: dict[str, Any]) -> str:
    """What most of the time of the longest row goes into, and what grows fastest, in words."""
    last = growth["rows"][-1]
    stages = last["stages_us"]
    total = sum(stages.values())
    largest = sorted(stages, key=lambda name: stages[name], reverse=True)[:3]
    shares = ", ".join(f"{name} {stages[name] / total:.0%}" for name in largest)
    text = f"At N = {last['n']} most of a step is {shares}."
    # What is left over after the others is too noisy for an exponent.
    large = [name for name in STAGES if stages[name] >= 0.05 * total and name not in ("again", "rest")]
    powers = {name: growth["exponents"][name]["large"] for name in large}
    known = {name: power for name, power in powers.items() if power is not None}
    if known:
        fastest = max(known, key=lambda name: known[name])
        text += (
            f" Of the stages of an evaluation, {fastest} grows fastest: N to the power {known[fastest]:.2f}."
        )
    return text


def contenders(row: dict[str, Any], labels: dict[str, str]) -> Iterator[tuple[str, ...]]:
    """Lines of the contenders that were there."""
    for key, label in labels.items():
        us = row[f"{key}_us"]
        if us is not None:
            yield (
                row["case"], label, timed(row, key), number(us / row["simgc_us"]), number(row[f"{key}_gap_m"]),
                number(row[f"{key}_energy"]), number(row.get(f"{key}_work")),
            )  # fmt: skip


def _sizes(growth: dict[str, Any], name: str) -> tuple[str, ...]:
    """A method or stage at all sizes."""
    times = [row["stages_us"][name] if name in STAGES else row[f"{name}_us"] for row in growth["rows"]]
    label = {"simgc": "SIMGC direct", "simmc": "SIMMC direct"}.get(name, name)
    return (
        label,
        *map(number, times),
        *(number(growth["exponents"][name][span]) for span in ("all", "large")),
    )
