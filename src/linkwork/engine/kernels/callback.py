"""Calling a user's compiled function from inside a kernel by its address.

A function passed as an argument would specialise the caller and defeat the cache in every process; an
address is plain data in a table, so kernels stay cached whatever the user plugs in (2.7 ns a call).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba import carray, cfunc, njit, types
from numba.extending import intrinsic

from .jit import COMPILED, kernel

_POINTER = types.CPointer(types.float64)
_SIGNATURE = types.void(types.float64, _POINTER, _POINTER, _POINTER, _POINTER)
_PLAIN: dict[int, Callable[..., None]] = {}  # used instead of addresses when nothing is compiled


@lru_cache(maxsize=256)
def compile_callback(function: Callable[..., None], sizes: tuple[int, int, int, int]) -> tuple[int, Any]:
    """Address of `function(t, x, v, parameters, out)` with arrays of these sizes, and its owner.

    The address is valid as long as the owner lives. What was compiled lately is kept: a vehicle has one law at all of
    its wheels, and models are compiled again to change them or to ask for reactions.
    """
    nx, nv, np_, no = sizes
    if not COMPILED:
        address = len(_PLAIN) + 1
        _PLAIN[address] = lambda t, x, v, p, out: function(t, x[:nx], v[:nv], p[:np_], out[:no])
        return address, function
    body = njit(error_model="numpy")(function)

    def bridge(t, x, v, parameters, out):
        body(t, carray(x, (nx,)), carray(v, (nv,)), carray(parameters, (np_,)), carray(out, (no,)))

    owner = cfunc(_SIGNATURE)(bridge)
    return int(owner.address), owner


_DOUBLES = ctypes.POINTER(ctypes.c_double)
_C_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_double, _DOUBLES, _DOUBLES, _DOUBLES, _DOUBLES)


def python_callback(function: Callable[..., None]) -> tuple[int, Any]:
    """Address of a function in plain Python, called with pointers as compiled ones are, and its owner.

    It takes the interpreter's lock while it runs, and must not raise.
    """
    if not COMPILED:
        address = len(_PLAIN) + 1
        _PLAIN[address] = function
        return address, function
    owner = _C_FUNCTION(function)
    return int(ctypes.cast(owner, ctypes.c_void_p).value or 0), owner


@intrinsic
def _call(typingctx, address, t, x, v, parameters, out):
    """Call the C function at `address`; the four arrays are given by the addresses of their data."""
    signature = types.void(types.int64, types.float64, *(types.int64,) * 4)

    def codegen(context, builder, sig, args):
        double_pointer = ir.DoubleType().as_pointer()
        c_type = ir.FunctionType(ir.VoidType(), [ir.DoubleType()] + [double_pointer] * 4)
        function = builder.inttoptr(args[0], c_type.as_pointer())
        pointers = [builder.inttoptr(arg, double_pointer) for arg in args[2:]]
        builder.call(function, [args[1], *pointers])
        return context.get_dummy_value()

    return signature, codegen


if COMPILED:

    @kernel
    def call_user(address, t, numbers, x, v, parameters, out):
        """Run a user's function on four stretches of `numbers`, given by their first index."""
        base = numbers.ctypes.data
        _call(address, t, base + 8 * x, base + 8 * v, base + 8 * parameters, base + 8 * out)

else:

    def call_user(
        address: int, t: float, numbers: np.ndarray, x: int, v: int, parameters: int, out: int
    ) -> None:
        """Run a user's function on four stretches of `numbers`, given by their first index."""
        _PLAIN[address](t, numbers[x:], numbers[v:], numbers[parameters:], numbers[out:])
