"""The registry of methods in words: what `linkwork methods` prints and docs/methods.md holds."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from .capabilities import FEATURES, LACKS, REASONS, STUDIES
from .registry import WAYS, Way

_INTRO = """# Methods
Made by `linkwork methods --markdown > docs/methods.md` from the tables that the simulator itself refuses by
(`methods/registry.py`, `methods/capabilities.py`); a test tells if this page is not theirs.

A method is chosen by name, `Simulation(model, method="simgc", solver="direct", integrator="rk4", dt=1e-3)`, or by an
object that holds its options, `Simulation(model, method=Direct(integrator="rk4"), dt=1e-3)`. Without either it is the
first of `tree` and `simgc` that can do the model. An option that the method does not have is refused with the names of
those that have it.
"""


def markdown() -> str:
    """The whole page."""
    return "\n".join([_INTRO, *_ways(), *_options(), *_table(), *_circumstances(), *_reasons()])


def described() -> list[dict[str, Any]]:
    """For JSON: every method, what it is made of, its options and what it lacks."""
    return [
        {
            "method": way.method,
            "solver": way.solver,
            "description": way.text,
            "coordinates": way.coordinates,
            "constraints": way.constraints,
            "steps": way.steps,
            "integrators": list(way.options.integrators),
            "object": _call(way),
            "options": {field.name: field.metadata["text"] for field in dataclasses.fields(way.options)},
            "lacks": {
                feature: f"{REASONS[key].why}; {REASONS[key].advice}"
                for feature, key in LACKS[way.name].items()
            },
        }
        for way in WAYS
    ]


def _ways() -> Iterator[str]:
    yield "| method | what it is | coordinates | constraints | steps | integrators | object |"
    yield "|---|---|---|---|---|---|---|"
    for way in WAYS:
        integrators = ", ".join(way.options.integrators)
        yield (
            f"| `{way.name}` | {way.text} | {way.coordinates} | {way.constraints} | {way.steps} | {integrators} "
            f"| `{_call(way)}` |"
        )
    yield (
        "\nThe first integrator is the default. With contact it is `euler`; the direct solver has the others, too:\n"
        "then contacts are constraints between events ([contact](contact.md#smooth-between-events)).\n"
    )


def _call(way: Way) -> str:
    defaults = {field.name: field.default for field in dataclasses.fields(way.options)}
    given = ", ".join(f'{name}="{value}"' for name, value in way.fixed.items() if value != defaults[name])
    return f"{way.options.__name__}({given})"


def _options() -> Iterator[str]:
    yield "## Options"
    yield "| option | of | meaning |"
    yield "|---|---|---|"
    owners: dict[tuple[str, str], list[str]] = {}
    for kind in dict.fromkeys(way.options for way in WAYS):
        for field in dataclasses.fields(kind):
            text = field.metadata["text"] + (" With contact only." if field.metadata["contact"] else "")
            if isinstance(field.default, int | float):
                text += f" By default {field.default:g}."
            owners.setdefault((field.name, text), []).append(kind.__name__)
    for (name, text), kinds in owners.items():
        yield f"| `{name}` | {', '.join(kinds)} | {text} |"
    yield ""


def _table() -> Iterator[str]:
    yield "## What each can do"
    yield f"| | {' | '.join(way.name for way in WAYS)} |"
    yield "|---" * (len(WAYS) + 1) + "|"
    for feature in FEATURES:
        cells = [_cell(way.name, feature) for way in WAYS]
        yield f"| {feature} | {' | '.join(cells)} |"
    yield ""


def _cell(column: str, feature: str) -> str:
    key = LACKS[column].get(feature)
    return "✓" if key is None else str(_number(key))


def _circumstances() -> Iterator[str]:
    own = {way.name for way in WAYS}
    yield f"Numbers are reasons, below. Circumstances take away more, and {STUDIES}, which are no method, lack some:\n"
    for column, lacks in LACKS.items():
        if column not in own:
            listed = ", ".join(f"{feature} ({_number(key)})" for feature, key in lacks.items())
            yield f"* {column}: {listed}."
    yield ""


def _reasons() -> Iterator[str]:
    yield "## Reasons"
    yield "| | the method … | instead |"
    yield "|---|---|---|"
    for key, reason in REASONS.items():
        yield f"| {_number(key)} | {reason.why} | {reason.advice} |"
    yield ""


def _number(key: str) -> int:
    return list(REASONS).index(key) + 1
