"""Named records that kernels write to: one structure of numbers instead of an array and a list of indices."""

import numpy as np

from .jit import compiled


def new_record(layout: np.dtype) -> np.record:
    """A record of zeros. Kernels take it by reference; `np.asarray` of it is a view that can be saved and written."""
    taken = [name for name in layout.names or () if hasattr(np.void, name)]
    assert not taken, f"NumPy's records have methods of these names: {taken}"
    record: np.record = np.zeros(1, np.dtype(layout.descr, align=True)).view(np.recarray)[0]
    return record


def named(table: np.ndarray) -> np.ndarray:
    """A table as kernels take it: as plain Python, they read fields as attributes."""
    return table if compiled() or table.dtype.names is None else table.view(np.recarray)


def as_array(record: np.record) -> np.ndarray:
    """The record as an array of one, which it shares its memory with: Numba unpacks that ten times as fast."""
    return named(np.asarray(record).reshape(1))


def new_records(count: int, layout: np.dtype) -> np.ndarray:
    """A table of zeros with so many records; as plain Python, kernels read their fields by name, too."""
    return named(np.zeros(count, layout))
