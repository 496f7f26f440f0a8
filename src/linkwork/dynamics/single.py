"""Functions of one state, fast: what may be handed to compiled code as it is, is; all else goes the way of arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from ..engine.functions import compute as arrays
from ..engine.functions import single
from ..engine.functions import slopes as derivatives
from ..engine.kernels.jit import compiled
from ..engine.kernels.objects import KNOWN, known, readable
from ..engine.kernels.record import as_array
from ..engine.kernels.steady import LaidOut, entry_of
from ..model.rotation import Array
from .mechanism import Mechanism

_COUNT = 2  # words of an array before its count


class Single:
    """The way of one state to one kernel and back."""

    def __init__(self, mechanism: Mechanism, asked: Any, usual: Mapping[str, Array], slopes: bool = False):
        """`usual`: numbers of a state that are not given; `slopes`: to derivatives."""
        self._usual = usual
        self._mechanism, self._asked, self._slopes = mechanism, as_array(asked), slopes
        self._asked_once = False
        self.told = 0
        """The first argument of `ask`."""
        self.ask: Callable[..., bool] = self._ask_first
        """(told, what, q, v, force, x, u, t, out, more): ask for a function of a state into out and more, which fit;
        False if that is not for this way. None stands for the usual numbers."""

    def _ask_first(self, *_: Any) -> bool:
        """The second time it is worth it to lay everything out; what is asked for goes the way of arrays until then."""
        if self._asked_once and compiled() and readable():
            self._lay_out()
        self._asked_once = True
        return False

    def _lay_out(self) -> None:
        made, given = self._mechanism, self._usual
        parts = [given[name] for name in ("q", "v", "force", "x", "u", "t")]
        usual = np.concatenate(parts)
        numbers = usual.copy()
        bounds = np.cumsum([0, *map(len, parts)])
        inputs = arrays.Inputs(*(numbers[a:b] for a, b in pairwise(bounds)))
        record, out, more = self._asked.view(np.recarray)[0], np.zeros(1), np.zeros(1)
        if self._slopes:
            room, slopes = made.scratch_for_slopes
            laid = LaidOut(
                derivatives.differentiate,
                (made.tables, made.constraints, room, slopes, record, inputs, out),
            )
            results: tuple[int, ...] = (laid.where + 8 * (laid.begins[-1] + _COUNT), 0)
        else:
            laid = LaidOut(
                arrays.compute, (made.tables, made.constraints, made.room, record, inputs, out, more)
            )
            results = tuple(laid.where + 8 * (begin + _COUNT) for begin in laid.begins[-2:])
        fields: Any = self._asked.dtype.fields
        asked = [self._asked.ctypes.data + fields[name][1] for name in ("what", "count", "width", "more")]
        told = np.zeros(single.TOLD, np.int64)
        told[:KNOWN] = known()
        told[KNOWN:] = (
            *map(len, parts[:2]), *map(len, parts[3:5]), laid.bridge, laid.where,
            numbers.ctypes.data, usual.ctypes.data, *asked, *results,
        )  # fmt: skip
        self._kept = laid, told, usual, numbers  # alive as long as their addresses are used
        self.told, self.ask = int(told.ctypes.data), entry_of(single.ask, single.SIGNATURE)
