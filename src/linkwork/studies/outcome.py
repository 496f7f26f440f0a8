"""What comes of a case. Loads nothing heavy: workers begin with this."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..model.errors import LinkworkError
from ..model.rotation import Array

Values = dict[str, float | Array]
"""What came of a case, by name."""


class Task(Protocol):
    """What is done with each case, in whatever process; it must be possible to pickle it."""

    def __call__(self, case: Mapping[str, float]) -> Mapping[str, float | Array]:
        """What comes of a case, by name: numbers, or arrays of one length for all cases."""


class Outcome(NamedTuple):
    """What came of a case."""

    values: Values
    """Numbers and arrays by name; empty if it failed."""
    failure: str = ""
    """Why it failed."""


def attempt(task: Task, case: Mapping[str, float]) -> Outcome:
    """Do a case; what is wrong with it is its outcome."""
    try:
        return Outcome({str(name): _plain(name, value) for name, value in task(case).items()})
    except LinkworkError as error:
        return Outcome({}, str(error))
    except Exception as error:  # whatever a user's function raises
        return Outcome({}, f"{type(error).__name__}: {error}")


def _plain(name: str, value: Any) -> float | Array:
    array = np.asarray(value, float)
    if array.ndim > 1:
        raise LinkworkError(f"'{name}' must be a number or a list of numbers, not of shape {array.shape}")
    return float(array) if array.ndim == 0 else array
