"""Python's objects, read where they lie: for calls so short that taking arguments apart would be most of them.

Numba takes some 40 ns for each array that a kernel is given, and as much for letting other threads run, where a
function of a state takes 200. Here an object is passed as its address (`Handle`), and the kernel itself looks whether
it is an array of numbers, and where these are. What it reads are fields of `PyArrayObject`, which NumPy's C interface
publishes; whether they are where they should be is tried once (`readable`).
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.datamodel import models
from numba.extending import NativeValue, intrinsic, register_model, unbox

from .jit import COMPILED, inlined

__all__ = [
    "KNOWN", "Handle", "Word", "copy_numbers", "is_none", "known", "number_of", "peek", "poke", "readable",
    "size_and_place",
]  # fmt: skip

_WORD = ir.IntType(64)
_TYPE, _VALUE, _AXES, _SHAPE, _STRIDES, _DTYPE, _FLAGS = 8, 16, 24, 32, 40, 56, 64
"""Where fields of an object are [bytes]: its type; data or, of a float, the number; of an array the rest."""
_HALF = 0xFFFFFFFF  # what is a field of 32 bits
_ALIGNED = 0x100

KNOWN = 4
"""Words that `known` writes: addresses of None, of the types of arrays and floats, and of the dtype of numbers."""


class HandleType(types.Type):
    """Numba's type of an object that is passed as its address; the caller keeps it alive."""

    def __init__(self) -> None:
        super().__init__("Handle")


Handle, Word = HandleType(), types.int64


@register_model(HandleType)
class _Model(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any):
        super().__init__(manager, kind, _WORD)


@unbox(HandleType)
def _address(kind: Any, value: Any, context: Any) -> Any:
    return NativeValue(context.builder.ptrtoint(value, _WORD))


@intrinsic
def _where(typingctx, handle):
    """Address of an object."""
    return types.int64(Handle), lambda context, builder, signature, arguments: arguments[0]


def _pointer(builder: Any, address: Any, kind: Any) -> Any:
    return builder.inttoptr(address, kind.as_pointer())


@intrinsic
def peek(typingctx, address):
    """The word at an address."""

    def codegen(context, builder, signature, arguments):
        return builder.load(_pointer(builder, arguments[0], _WORD))

    return types.int64(types.int64), codegen


@intrinsic
def poke(typingctx, address, word):
    """Write the word at an address."""

    def codegen(context, builder, signature, arguments):
        builder.store(arguments[1], _pointer(builder, arguments[0], _WORD))

    return types.void(types.int64, types.int64), codegen


def known() -> tuple[int, ...]:
    """What kernels compare with, since addresses differ from one process to the next."""
    return id(None), id(np.ndarray), id(float), id(np.dtype(float))


@cache
def readable() -> bool:
    """Whether fields of objects are where kernels look for them."""
    if not COMPILED:
        return False
    array = np.arange(6.0).reshape(2, 3).T

    def word(address: int) -> int:
        return ctypes.c_int64.from_address(address).value

    at, number = id(array), 1.25
    if array.__sizeof__() < _FLAGS + 4 or word(at + _TYPE) != id(np.ndarray):
        return False
    return (
        word(at + _VALUE) == array.ctypes.data
        and word(at + _AXES) & _HALF == 2
        and word(at + _DTYPE) == id(np.dtype(float))
        and tuple(word(word(at + _SHAPE) + 8 * k) for k in range(2)) == array.shape
        and tuple(word(word(at + _STRIDES) + 8 * k) for k in range(2)) == array.strides
        and word(at + _FLAGS) & _HALF == array.flags.num
        and word(id(number) + _TYPE) == id(float)
        and ctypes.c_double.from_address(id(number) + _VALUE).value == number
    )


@inlined
def is_none(known, handle):
    """Whether an object is None."""
    return _where(handle) == peek(known)


@inlined
def copy_numbers(known, handle, count, usual, into):
    """Copy so many numbers of an array of one axis, or the usual ones for None; False if the object is neither."""
    here = _where(handle)
    if is_none(known, handle):
        data, stride = usual, 8
    else:
        if peek(here + _TYPE) != peek(known + 8) or peek(here + _DTYPE) != peek(known + 24):
            return False
        if peek(here + _AXES) & _HALF != 1 or peek(here + _FLAGS) & _ALIGNED == 0:
            return False
        if peek(peek(here + _SHAPE)) != count:
            return False
        data, stride = peek(here + _VALUE), peek(peek(here + _STRIDES))
    for i in range(count):
        poke(into + 8 * i, peek(data + stride * i))
    return True


@inlined
def number_of(known, handle, into):
    """Copy the number of a float; False if the object is none."""
    here = _where(handle)
    if peek(here + _TYPE) != peek(known + 16):
        return False
    poke(into, peek(here + _VALUE))
    return True


@inlined
def size_and_place(handle):
    """How many items an array has, and where they are."""
    here, size = _where(handle), 1
    for k in range(peek(here + _AXES) & _HALF):
        size *= peek(peek(here + _SHAPE) + 8 * k)
    return size, peek(here + _VALUE)
