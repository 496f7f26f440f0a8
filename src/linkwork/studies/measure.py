"""What is measured of a run: a number that a record comes down to, `max(arm.angle)`, or a signal over time."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..model.errors import LinkworkError, nearest
from ..model.rotation import Array
from ..results.record import Record, matching

STATISTICS: dict[str, Callable[[Array, Array], float]] = {
    "initial": lambda t, x: float(x[0]),
    "final": lambda t, x: float(x[-1]),
    "max": lambda t, x: float(x.max()),
    "min": lambda t, x: float(x.min()),
    "peak": lambda t, x: float(np.abs(x).max()),
    "range": lambda t, x: float(np.ptp(x)),
    "mean": lambda t, x: _mean(t, x),
    "rms": lambda t, x: float(np.sqrt(_mean(t, x * x))),
}
"""Times and values of a signal => a number: `peak` is the largest absolute value, `range` from lowest to highest,
`mean` and `rms` are over time, whatever the steps."""
_CALL = re.compile(r"([a-z]+)\((.+)\)")


def _mean(t: Array, x: Array) -> float:
    return float(np.trapezoid(x, t) / (t[-1] - t[0])) if t[-1] > t[0] else float(x.mean())


@dataclass(frozen=True)
class Measure:
    """A number of each run, or a signal over time."""

    name: str
    """As it is called in results: `max(arm.angle)`, `arm.angle`."""
    signal: str
    statistic: str = ""
    """One of STATISTICS; empty for the signal over time."""
    unit: str = "1"

    @property
    def over_time(self) -> bool:
        """Whether it is one value for each time."""
        return not self.statistic

    def of(self, record: Record) -> float | Array:
        """Its value; of a signal over time, one for each row."""
        values = record[self.signal]
        if self.statistic:
            return STATISTICS[self.statistic](record.time, values)
        return np.array(values)


def measures_of(texts: Sequence[str], signals: dict[str, str]) -> tuple[Measure, ...]:
    """What texts ask for, of a simulation that has these signals with their units; patterns with * and ? may be used.

    Without texts: where every coordinate ends, and the farthest that it goes.
    """
    found: dict[str, Measure] = {}
    for text in texts:
        call = _CALL.fullmatch(text.strip())
        statistic, pattern = (call[1], call[2].strip()) if call else ("", text.strip())
        if statistic and statistic not in STATISTICS:
            raise LinkworkError(f"'{text}': there is no '{statistic}'{nearest(statistic, STATISTICS)}")
        names = matching(pattern, signals)
        if not names:
            raise LinkworkError(f"'{text}': there is no signal '{pattern}'{nearest(pattern, signals)}")
        for name in names:
            label = f"{statistic}({name})" if statistic else name
            found[label] = Measure(label, name, statistic, signals[name])
    return tuple(found.values())


def usual(coordinates: Sequence[str]) -> list[str]:
    """What is measured if nobody says what."""
    return [f"{statistic}({name})" for name in coordinates for statistic in ("final", "peak")]
