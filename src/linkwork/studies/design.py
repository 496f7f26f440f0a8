"""Which cases a study has: values of parameters on a grid, drawn at random, or listed."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from ..model.errors import LinkworkError, nearest
from ..model.rotation import Array

MAX_CASES = 10_000_000
CASE = "case"
"""Name of the dimension of cases that form no grid."""


@dataclass(frozen=True)
class Distribution:
    """How a parameter is spread: `normal(mean, deviation)`, `uniform(low, high)`, `triangular(low, mode, high)`,
    or `lognormal(median, deviation of the logarithm)`."""

    kind: str
    numbers: tuple[float, ...]

    def __post_init__(self) -> None:
        if self.kind not in _FORMS:
            raise LinkworkError(f"there is no distribution '{self.kind}'{nearest(self.kind, _FORMS)}")
        names, proper = _FORMS[self.kind]
        good = len(self.numbers) == len(names) and all(map(math.isfinite, self.numbers))
        if not (good and proper(*self.numbers)):
            raise LinkworkError(f"{self.text}: write {self.kind}({', '.join(names)}){_ADVICE[self.kind]}")

    @property
    def text(self) -> str:
        """As it is written."""
        return f"{self.kind}({', '.join(f'{x:g}' for x in self.numbers)})"

    def at(self, share: Array) -> Array:
        """The values below which these shares of all draws lie, 0 < share < 1."""
        if self.kind == "uniform":
            low, high = self.numbers
            return np.asarray(low + share * (high - low))
        if self.kind == "triangular":
            low, mode, high = self.numbers
            knee = (mode - low) / (high - low)
            rising = low + np.sqrt(share * (high - low) * (mode - low))
            falling = high - np.sqrt((1.0 - share) * (high - low) * (high - mode))
            return np.where(share < knee, rising, falling)
        centre, deviation = self.numbers
        standard = np.vectorize(NormalDist().inv_cdf, otypes=[float])(share)
        if self.kind == "lognormal":
            return np.asarray(centre * np.exp(deviation * standard))
        return np.asarray(centre + deviation * standard)


_FORMS: dict[str, tuple[tuple[str, ...], Any]] = {
    "normal": (("mean", "deviation"), lambda mean, deviation: deviation > 0.0),
    "uniform": (("low", "high"), lambda low, high: low < high),
    "triangular": (("low", "mode", "high"), lambda low, mode, high: low <= mode <= high and low < high),
    "lognormal": (("median", "deviation"), lambda median, deviation: median > 0.0 and deviation > 0.0),
}
_ADVICE = {
    "normal": ", with a deviation above 0",
    "uniform": ", with low < high",
    "triangular": ", with low <= mode <= high",
    "lognormal": ", both above 0",
}


@dataclass(frozen=True)
class Design:
    """All cases of a study, in order."""

    names: tuple[str, ...]
    """Of the parameters that vary."""
    values: Array
    """Cases × parameters."""
    grid: tuple[int, ...] | None = None
    """How many values each parameter has, if the cases are all their combinations, the last one changing fastest."""

    def __len__(self) -> int:
        return len(self.values)

    def case(self, k: int) -> dict[str, float]:
        """The parameters of a case."""
        return dict(zip(self.names, map(float, self.values[k]), strict=True))

    @property
    def dims(self) -> dict[str, int]:
        """Dimensions of the results and their lengths."""
        if self.grid is None:
            return {CASE: len(self)}
        return dict(zip(self.names, self.grid, strict=True))

    def axis(self, name: str) -> Array:
        """Values of a parameter along its own dimension, or case by case."""
        k = self.names.index(name)
        if self.grid is None:
            return self.values[:, k]
        along: Array = np.moveaxis(self.values[:, k].reshape(self.grid), k, 0).reshape(self.grid[k], -1)[:, 0]
        return along


def grid(axes: Mapping[str, npt.ArrayLike]) -> Design:
    """All combinations of the values of each parameter."""
    if not axes:
        raise LinkworkError("nothing varies: give at least one parameter, such as {'length': [0.2, 0.3]}")
    values = [_numbers(name, given) for name, given in axes.items()]
    for name, numbers in zip(axes, values, strict=True):
        if len(np.unique(numbers)) < len(numbers):
            raise LinkworkError(f"'{name}' has a value twice")
    lengths = tuple(map(len, values))
    if math.prod(lengths) > MAX_CASES:
        raise LinkworkError(f"{' × '.join(map(str, lengths))} are more than {MAX_CASES} cases")
    table = np.stack([part.ravel() for part in np.meshgrid(*values, indexing="ij")], axis=1)
    return Design(tuple(axes), table, lengths)


def samples(spread: Mapping[str, Distribution], count: int, seed: int = 0) -> Design:
    """So many cases drawn at random and independently; the same for the same seed, on every machine."""
    if not spread:
        raise LinkworkError("nothing varies: give at least one parameter a distribution")
    if not 1 <= count <= MAX_CASES:
        raise LinkworkError(f"a study has 1 to {MAX_CASES} cases, not {count}")
    random = np.random.default_rng(seed)
    shares = (random.integers(0, 1 << 52, (count, len(spread))) + 0.5) / (1 << 52)  # never 0 or 1
    columns = [kind.at(shares[:, k]) for k, kind in enumerate(spread.values())]
    return Design(tuple(spread), np.stack(columns, axis=1))


def listed(table: Mapping[str, npt.ArrayLike]) -> Design:
    """Cases one by one: a column of values for each parameter."""
    if not table:
        raise LinkworkError("nothing varies: give at least one parameter")
    columns = {name: _numbers(name, given) for name, given in table.items()}
    if len({len(column) for column in columns.values()}) > 1:
        told = ", ".join(f"'{name}' {len(column)}" for name, column in columns.items())
        raise LinkworkError(f"all parameters need as many values as there are cases, but have: {told}")
    return Design(tuple(columns), np.stack(list(columns.values()), axis=1))


def design_of(vary: Mapping[str, Any] | Design, count: int | None = None, seed: int = 0) -> Design:
    """The cases that are meant: a design as it is; of parameters with values all combinations; of parameters with
    distributions (or texts of either, see `variation`) `count` draws."""
    if isinstance(vary, Design):
        return vary
    read: dict[str, Any] = {
        name: variation(name, given) if isinstance(given, str) else given for name, given in vary.items()
    }
    spread = {name: given for name, given in read.items() if isinstance(given, Distribution)}
    if spread and len(spread) < len(read):
        fixed = ", ".join(f"'{name}'" for name in read if name not in spread)
        raise LinkworkError(f"{fixed} must have a distribution too, such as uniform(1, 2): others do")
    if spread:
        if count is None:
            raise LinkworkError("parameters have distributions: say how many cases to draw (count)")
        return samples(spread, count, seed)
    if count is not None:
        raise LinkworkError("a count belongs to distributions, such as normal(1, 0.1); values have their own")
    return grid(read)


_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_RANGE = re.compile(rf"({_NUMBER}):({_NUMBER}):(\d+)(:log)?")
_SPREAD = re.compile(r"([a-z]+)\((.*)\)")


def variation(name: str, text: str) -> Array | Distribution:
    """What a text says of a parameter: `0.2:0.4:21` (from, to, how many), `10:1e4:7:log` (evenly in the logarithm),
    `1,2,5` (these values), or a distribution, `normal(1, 0.1)`."""
    if match := _SPREAD.fullmatch(text.strip()):
        try:
            numbers = tuple(float(part) for part in match[2].split(","))
        except ValueError:
            raise LinkworkError(f"'{name}': {text}: a distribution has numbers in its brackets") from None
        return Distribution(match[1], numbers)
    if match := _RANGE.fullmatch(text.strip()):
        low, high, many = float(match[1]), float(match[2]), int(match[3])
        if many < 1 or (many == 1 and low != high):
            raise LinkworkError(f"'{name}': {text}: from {low:g} to {high:g} takes at least 2 values")
        if many > MAX_CASES:
            raise LinkworkError(f"'{name}': {text}: more than {MAX_CASES} values")
        if not match[4]:
            return np.linspace(low, high, many)
        if not (low > 0.0 and high > 0.0):
            raise LinkworkError(f"'{name}': {text}: a logarithmic range needs ends above 0")
        return np.geomspace(low, high, many)
    try:
        return np.array([float(part) for part in text.split(",")])
    except ValueError:
        raise LinkworkError(
            f"'{name}': '{text}' is no variation: write FROM:TO:COUNT, FROM:TO:COUNT:log, values such as 1,2,5, "
            "or a distribution such as normal(1, 0.1)"
        ) from None


def _numbers(name: str, given: npt.ArrayLike) -> Array:
    try:
        numbers = np.atleast_1d(np.asarray(given, float))
    except (TypeError, ValueError):
        raise LinkworkError(f"values of '{name}' must be numbers, not {given!r}") from None
    if numbers.ndim != 1 or not len(numbers) or not np.isfinite(numbers).all():
        raise LinkworkError(f"values of '{name}' must be a list of finite numbers")
    return numbers


def columns_of(cases: Sequence[Mapping[str, float]]) -> dict[str, list[float]]:
    """A table of cases that all have the same parameters."""
    return {name: [case[name] for case in cases] for name in (cases[0] if cases else ())}
