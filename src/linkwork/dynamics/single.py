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
from ..engine.kernels.record import as_array, new_record
from ..engine.kernels.steady import LaidOut, entry_of
from ..model.rotation import Array
from .mechanism import Mechanism

_FLOAT = np.dtype(float)
_COUNT = 2  # words of an array before its count
_NOTHING = np.zeros(0)
_ANY = np.broadcast_to(np.zeros(4)[::2], 2)
"""An array with gaps that cannot be written to: code for it takes any array of numbers."""


class Single:
    """The way of one state to one kernel and back."""

    def __init__(self, mechanism: Mechanism, asked: Any, usual: Mapping[str, Array], slopes: bool = False):
        """`usual`: numbers of a state that are not given; `slopes`: to derivatives."""
        self._q, self._v, self._force = usual["q"], usual["v"], usual["force"]
        self._x, self._u = usual["x"], usual["u"]
        self._mechanism, self._asked, self._slopes = mechanism, as_array(asked), slopes
        self._ask: Callable[..., bool] | None = None
        self._ask_table: Callable[..., bool] | None = None
        """For results of two axes."""
        self._asked_once = False

    def __call__(
        self, what: int, out: Array, more: Array, q: Any, v: Any, force: Any, x: Any, u: Any, t: Any
    ) -> bool:
        """Ask for a function of a state into out, of one axis or two, and more, of one; False if that is not for this
        way."""
        # What is an array of one axis goes as it is; compiled code looks how long it is.
        if type(q) is not np.ndarray or q.ndim != 1 or q.dtype is not _FLOAT:
            return False
        if v is None:
            v = self._v
        elif type(v) is not np.ndarray or v.ndim != 1 or v.dtype is not _FLOAT:
            return False
        if force is None:
            force = self._force
        elif type(force) is not np.ndarray or force.ndim != 1 or force.dtype is not _FLOAT:
            return False
        if x is None:
            x = self._x
        elif type(x) is not np.ndarray or x.ndim != 1 or x.dtype is not _FLOAT:
            return False
        if u is None:
            u = self._u
        elif type(u) is not np.ndarray or u.ndim != 1 or u.dtype is not _FLOAT:
            return False
        if type(t) is not float:
            return False
        if self._ask is None:
            return self._asked_twice() and self(what, out, more, q, v, force, x, u, t)
        ask = self._ask if out.ndim == 1 else self._ask_table
        return ask(  # type: ignore[misc]
            self._call, self._asked, what, self._words, self._numbers, q, v, force, x, u, t, out, more
        )

    def _asked_twice(self) -> bool:
        """Whether it is worth it to lay everything out."""
        if self._asked_once and compiled():
            self._lay_out()
        self._asked_once = True
        return self._ask is not None

    def _lay_out(self) -> None:
        made, call = self._mechanism, new_record(single.CALL)
        parts = (self._q, self._v, self._force, self._x, self._u, np.zeros(1))
        self._numbers = np.concatenate(parts)
        bounds = np.cumsum([0, *map(len, parts)])
        inputs = arrays.Inputs(*(self._numbers[a:b] for a, b in pairwise(bounds)))
        record, out, more = self._asked.view(np.recarray)[0], np.zeros(1), np.zeros(1)
        if self._slopes:
            room, slopes = made.scratch_for_slopes
            laid = LaidOut(
                derivatives.differentiate,
                (made.tables, made.constraints, room, slopes, record, inputs, out),
            )
            call.out = laid.begins[-1] + _COUNT
        else:
            laid = LaidOut(
                arrays.compute, (made.tables, made.constraints, made.room, record, inputs, out, more)
            )
            call.out, call.more = laid.begins[-2] + _COUNT, laid.begins[-1] + _COUNT
        call.bridge = laid.bridge
        call.nq, call.nv, call.nx, call.nu = len(self._q), len(self._v), len(self._x), len(self._u)
        self._laid, self._words, self._call = laid, laid.words, as_array(call)
        examples = (self._call, self._asked, 0, self._words, self._numbers, *(_ANY,) * 5, 0.0)
        self._ask = entry_of(single.ask, (*examples, _NOTHING, _NOTHING))
        self._ask_table = entry_of(single.ask, (*examples, np.zeros((1, 1)), _NOTHING))
