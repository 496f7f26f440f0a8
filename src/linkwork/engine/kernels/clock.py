"""A clock for time budgets inside kernels: the processor's cycle counter."""

from __future__ import annotations

import time
from functools import cache

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from .jit import COMPILED, kernel


@intrinsic
def _counter(typingctx):
    def codegen(context, builder, signature, args):
        function_type = ir.FunctionType(ir.IntType(64), [])
        function = builder.module.declare_intrinsic("llvm.readcyclecounter", fnty=function_type)
        return builder.call(function, [])

    return types.int64(), codegen


if COMPILED:

    @kernel
    def cycles():
        """Ticks of the clock since some time in the past."""
        return _counter()

    cycles.plain = time.perf_counter_ns  # type: ignore[attr-defined]

else:

    def cycles() -> int:
        """Ticks of the clock since some time in the past."""
        return time.perf_counter_ns()


@cache
def cycles_per_second() -> float:
    """How fast that clock ticks, measured once."""
    began, first = time.perf_counter(), cycles()
    time.sleep(0.01)
    return float(cycles() - first) / (time.perf_counter() - began)
