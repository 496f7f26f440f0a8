"""Functions of one state: from arrays of users to compiled code and back without a detour through Python's calls.

The arguments of `compute` and `differentiate` are laid out once (`kernels/steady.py`); here a state is copied in among
them, the addresses of results are written down, and the call is made.
"""

from __future__ import annotations

from ..kernels.jit import brief_kernel, inlined
from ..kernels.objects import (
    KNOWN,
    Handle,
    Word,
    copy_numbers,
    is_none,
    number_of,
    peek,
    poke,
    size_and_place,
)
from ..kernels.steady import LENGTH, cross

# What `told` holds, a word each: numbers of a state; addresses of the code that makes the call, of its arguments, of
# the state among them and of the one that is usual, of fields of what is asked for, of the words of results, from
# their count on (the second is 0 if there is none).
NQ, NV, NX, NU, BRIDGE, WORDS, NUMBERS, USUAL, WHAT, COUNT, WIDTH, MORE_WIDTH, OUT, MORE = range(
    KNOWN, KNOWN + 14
)
TOLD = MORE + 1
"""Words of `told`, which begins with those of `objects.known`."""
SIGNATURE = (Word, Word, *(Handle,) * 8)


@inlined
def _told(told, k):
    return peek(told + 8 * k)


@inlined
def _aim(words, size, place):
    """Let the words of an array of one axis say where the numbers of this one are."""
    poke(words, size)
    poke(words + 16, place)
    poke(words + 8 * LENGTH, size)


@brief_kernel
def ask(told, what, q, v, force, x, u, t, out, more):
    """Ask for a function of one state, into arrays that fit; False if what is given are neither arrays of as many
    numbers as a state has, nor (but q) None.

    told: address of what is said above.
    """
    into, usual = _told(told, NUMBERS), _told(told, USUAL)
    nv, nx = 8 * _told(told, NV), 8 * _told(told, NX)
    if is_none(told, q) or not copy_numbers(told, q, _told(told, NQ), usual, into):
        return False
    at = 8 * _told(told, NQ)
    if not copy_numbers(told, v, _told(told, NV), usual + at, into + at):
        return False
    at += nv
    if not copy_numbers(told, force, _told(told, NV), usual + at, into + at):
        return False
    at += nv
    if not copy_numbers(told, x, _told(told, NX), usual + at, into + at):
        return False
    at += nx
    if not copy_numbers(told, u, _told(told, NU), usual + at, into + at):
        return False
    if not number_of(told, t, into + at + 8 * _told(told, NU)):
        return False
    size, place = size_and_place(out)
    _aim(_told(told, OUT), size, place)
    poke(_told(told, WHAT), what)
    poke(_told(told, COUNT), 1)
    poke(_told(told, WIDTH), size)
    if _told(told, MORE) != 0:
        size, place = size_and_place(more)
        _aim(_told(told, MORE), size, place)
        poke(_told(told, MORE_WIDTH), size)
    return cross(_told(told, BRIDGE), _told(told, WORDS)) == 0
