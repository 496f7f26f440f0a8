"""Functions of one state: from numbers of users to compiled code and back without a detour through Python's calls.

The arguments of `compute` and `differentiate` are laid out once (`kernels/steady.py`); here a state is copied in among
them, the addresses of results are written down, and the call is made.
"""

from __future__ import annotations

import numpy as np

from ..kernels.jit import kernel
from ..kernels.steady import LENGTH, cross

CALL = np.dtype(
    [
        ("bridge", "i8"),  # address of the code that makes the call
        ("nq", "i8"),  # numbers of a state
        ("nv", "i8"),
        ("nx", "i8"),
        ("nu", "i8"),
        ("out", "i8"),  # where the words of the result are, from its count on
        ("more", "i8"),  # and of the second one; 0 if there is none
    ]
)


@kernel
def _copy(x, into, at):
    """Numbers into others from a place on; returns the place behind them."""
    for i in range(x.shape[0]):
        into[at + i] = x[i]
    return at + x.shape[0]


@kernel
def _aim(words, at, array):
    """Let the words of an array of one axis say where the numbers of this one are."""
    words[at] = array.size
    words[at + 2] = array.ctypes.data
    words[at + LENGTH] = array.size


@kernel
def ask(call, asked, what, words, numbers, q, v, force, x, u, t, out, more):
    """Ask for a function of one state; False if these arrays are none.

    numbers: where coordinates, rates, forces, states of elements, commands and time stand one after the other.
    """
    told = call[0]
    if q.shape[0] != told.nq or v.shape[0] != told.nv or force.shape[0] != told.nv:
        return False
    if x.shape[0] != told.nx or u.shape[0] != told.nu:
        return False
    at = _copy(q, numbers, 0)
    at = _copy(v, numbers, at)
    at = _copy(force, numbers, at)
    at = _copy(x, numbers, at)
    at = _copy(u, numbers, at)
    numbers[at] = t
    asked[0].what, asked[0].count = what, 1
    asked[0].width, asked[0].more = out.size, more.size
    _aim(words, told.out, out)
    if told.more != 0:
        _aim(words, told.more, more)
    return cross(told.bridge, words.ctypes.data) == 0
