"""Objects of JSON from strangers: whatever they send, there is an object or a `ValueError`."""

from __future__ import annotations

import json
import math
from typing import Any


def parsed(text: str | bytes, longest: int) -> dict[str, Any]:
    """An object of JSON of at most so many characters or bytes; a `ValueError` says why it is none."""
    if len(text) > longest:
        raise ValueError(f"it has more than {longest} characters")
    try:
        message = json.loads(text)
    except RecursionError:  # brackets within brackets
        raise ValueError("it is nested too deeply") from None
    if not isinstance(message, dict):
        raise ValueError("it is no object")
    return message


def number(value: Any) -> float | None:
    """A number as JSON has them, or None: not true and false, nor whole numbers that no float holds."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
