"""Named records that kernels write to: one structure of numbers instead of an array and a list of indices."""

import numpy as np

from .jit import COMPILED


def new_record(layout: np.dtype) -> np.record:
    """A record of zeros. Kernels take it by reference; `np.asarray` of it is a view that can be saved and written."""
    record: np.record = np.zeros(1, layout).view(np.recarray)[0]
    return record


def new_records(count: int, layout: np.dtype) -> np.ndarray:
    """A table of zeros with so many records; as plain Python, kernels read their fields by name, too."""
    table = np.zeros(count, layout)
    return table if COMPILED else table.view(np.recarray)
