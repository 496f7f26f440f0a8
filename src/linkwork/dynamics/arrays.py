"""Arrays that users give and get: checked, flattened for kernels, shaped for users."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..model.errors import LinkworkError
from ..model.rotation import Array

Shape = tuple[int, ...]


def given(name: str, value: Any, width: int, names: Sequence[str]) -> Array:
    """An argument as a contiguous array of numbers whose last axis has `width` of them, called `names`."""
    try:
        array = np.ascontiguousarray(value, dtype=float)
    except (TypeError, ValueError):
        raise LinkworkError(f"{name} must be an array of numbers, not {type(value).__name__}") from None
    if array.ndim == 0 or array.shape[-1] != width:
        shown = ", ".join(names[:6]) + (", …" if len(names) > 6 else "")
        raise LinkworkError(
            f"{name} has the shape {np.shape(value)}; its last axis must have {width} numbers"
            + (f": {shown}" if names else "")
        )
    return array if array.flags.writeable else array.copy()  # kernels know one kind of array


def leading(arrays: dict[str, Array]) -> Shape:
    """The leading axes that all arrays share; those of a single state go with any."""
    found: Shape = ()
    first = ""
    for name, array in arrays.items():
        axes = array.shape[:-1]
        if axes and found and axes != found:
            raise LinkworkError(
                f"{name} has the leading axes {axes} and {first} {found}: they must be the same, or one of the two "
                "a single state"
            )
        if axes:
            found, first = axes, name
    return found


def fits(out: Any, shape: Shape) -> bool:
    """Whether an array can take a result."""
    return (
        isinstance(out, np.ndarray) and out.shape == shape and out.dtype == float and bool(out.flags.carray)
    )


def room_for(out: Any, shape: Shape) -> Array:
    """The array for a result: `out` if it is given and fits."""
    if out is None:
        return np.empty(shape)
    if not fits(out, shape):
        told = f"{out.dtype} of shape {out.shape}" if isinstance(out, np.ndarray) else type(out).__name__
        raise LinkworkError(f"out must be a contiguous array of float64 with the shape {shape}, not {told}")
    taken: Array = out
    return taken
