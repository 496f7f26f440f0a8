"""Kernels that one caller calls again and again with nearly the same arguments: these are laid out once.

A kernel takes some hundred arrays in some twenty tables. To find out their types takes Numba 14 µs a call, to unpack
them 8 µs, where a step takes one. Here addresses, shapes and strides are written down once, as a row of numbers
(words: what the kernel returns, then its arguments) that a few instructions made for these types (`_bridge`) read and
hand over. A call costs some tenths of a microsecond.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from operator import is_
from typing import Any

import numpy as np
from llvmlite import binding, ir
from numba import typeof, types
from numba.core.compiler_lock import global_compiler_lock
from numba.extending import intrinsic

from .jit import COMPILED, compiled, kernel

__all__ = ["LENGTH", "LaidOut", "Steady", "cross", "entry_of", "slots"]

_COUNT, _ITEM, _ADDRESS = (
    2,
    3,
    4,
)  # words of an array, behind its owner and that one's counter; shape and strides follow
LENGTH = 3
"""Words of an array of one axis from its count on: count, size of an item, address, length."""


def slots(array: Any) -> Any:
    """The elements of an array, to be read and written one by one in a tenth of the time that NumPy takes."""
    return memoryview(array)


class LaidOut:
    """A kernel and all arguments of a call of it, in words."""

    def __init__(self, kernel: Any, arguments: Sequence[Any]):
        self.bridge, count, results = _bridge(kernel, tuple(map(typeof, arguments)))
        """Address of the code that hands over words."""
        self.words = np.zeros(count, np.int64)
        self.where = int(self.words.ctypes.data)
        """Address of the words."""
        self.returned = slots(self.words[:results])
        """What the kernel returned, as whole numbers."""
        self.begins = []
        """First word of each argument."""
        self._arguments = arguments  # alive as long as their addresses are used
        for value in arguments:
            self.begins.append(results)
            results = _put(value, self.words, results)
        if results != count:
            raise TypeError(f"{kernel.__name__} takes arguments of a kind that is not known here")

    def replace(self, first: int, values: Sequence[Any]) -> None:
        """Call with other arguments of the same types, from the first-th on."""
        self._arguments = (*self._arguments[:first], *values)
        for at, value in zip(self.begins[first:], values, strict=True):
            _put(value, self.words, at)


def _put(value: Any, words: np.ndarray, at: int) -> int:
    """Write an argument from a place on, as Numba lays it out; returns the place behind it."""
    if isinstance(value, tuple):
        for part in value:
            at = _put(part, words, at)
        return at
    if isinstance(value, np.ndarray):
        end = at + _ADDRESS + 1 + 2 * value.ndim
        words[at + _COUNT : end] = (value.size, value.itemsize, _address(value), *value.shape, *value.strides)
        return end
    if isinstance(value, np.void):
        words[at] = _address(np.asarray(value))
    elif value is not None:
        raise TypeError(f"a {type(value).__name__} cannot be laid out")
    return at + 1


def _address(array: np.ndarray) -> int:
    return int(array.__array_interface__["data"][0])


@cache
def _bridge(kernel: Any, signature: tuple[Any, ...]) -> tuple[int, int, int]:
    """Address of code that calls a kernel with arguments that it reads from words; how many words, and how many of them
    are the result."""
    kernel.compile(signature)
    made = kernel.overloads[signature]
    context, result = made.target_context, made.fndesc.restype
    whole = context.call_conv.get_function_type(result, made.fndesc.argtypes)
    results = len(result) if isinstance(result, types.BaseTuple) else 1
    # Addresses travel as whole numbers do.
    kinds = ["double" if isinstance(kind, ir.DoubleType) else "i64" for kind in whole.args[2:]]
    address = made.library.get_pointer_to_function(made.fndesc.llvm_func_name)
    name = f"linkwork.bridge.{address:x}"
    lines = [f"define i32 @{name}(i64* %words) {{", "%result = ptrtoint i64* %words to i64"]
    for k, kind in enumerate(kinds):
        lines += [
            f"%p{k} = getelementptr i64, i64* %words, i64 {results + k}",
            f"%q{k} = bitcast i64* %p{k} to {kind}*", f"%v{k} = load {kind}, {kind}* %q{k}",
        ]  # fmt: skip
    takes = ", ".join(["i64", "i64", *kinds])  # result, whatever was raised, arguments
    given = ", ".join(["i64 %result", "i64 0", *(f"{kind} %v{k}" for k, kind in enumerate(kinds))])
    lines += [
        f"%kernel = inttoptr i64 {address} to i32 ({takes})*",
        f"%status = call i32 %kernel({given})", "ret i32 %status", "}",
    ]  # fmt: skip
    with global_compiler_lock:
        library = context.codegen().create_library(name)
        library.add_llvm_module(binding.parse_assembly("\n".join(lines)))
        library.finalize()
        _KEPT.append((library, made))
        return library.get_pointer_to_function(name), results + len(kinds), results


_KEPT: list[Any] = []
"""What code at addresses belongs to."""


@intrinsic
def _call(typingctx, address, words):
    """Call the code at an address, which takes the address of words."""

    def codegen(context, builder, signature, arguments):
        kind = ir.FunctionType(ir.IntType(32), [ir.IntType(64)])
        function = builder.inttoptr(arguments[0], kind.as_pointer())
        return builder.sext(builder.call(function, [arguments[1]]), ir.IntType(64))

    return types.int64(types.int64, types.int64), codegen


if COMPILED:

    @kernel
    def cross(bridge: Any, words: Any) -> Any:
        """Call a bridge with the address of words: its status, 0 if all is well."""
        return _call(bridge, words)

else:

    def cross(bridge: int, words: int) -> int:
        """Nothing has an address where nothing is compiled."""
        raise NotImplementedError


@cache
def _entry() -> Callable[[int, int], int]:
    """`cross` without a look at the types of its arguments."""
    return entry_of(cross, (types.int64, types.int64))


def entry_of(kernel: Any, signature: tuple[Any, ...]) -> Callable[..., Any]:
    """A kernel for arguments of these types, called without a look at them."""
    kernel.compile(signature)
    found: Callable[..., Any] = kernel.overloads[signature].entry_point
    return found


def _alike(one: Any, other: Any) -> bool:
    """Whether two arguments are of the same type for sure."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(_alike, one, other))
    if isinstance(one, np.ndarray):
        same = one.ndim == other.ndim and (one.dtype is other.dtype or one.dtype == other.dtype)
        return same and _kind(one) == _kind(other)
    return False


def _kind(array: np.ndarray) -> tuple[bool, bool, bool]:
    flags = array.flags
    return flags.c_contiguous, flags.writeable, flags.aligned


class Steady:
    """A kernel that one caller calls again and again with nearly the same arguments, of which the last few change most.

    Arrays and tables may change in place between calls. The kernel returns two whole numbers.
    """

    def __init__(self, kernel: Any, changing: int):
        self._kernel, self._changing = kernel, changing
        self._known: tuple[Any, ...] = ()
        self._laid: LaidOut | None = None

    def __call__(self, *arguments: Any) -> tuple[int, int]:
        """Call it."""
        laid, known = self._laid, self._known
        if laid is None or not all(map(is_, arguments, known)):
            self._known = arguments
            if not compiled() or not _alike(arguments, known):
                self._laid = None
                return self._kernel(*arguments)  # type: ignore[no-any-return]
            if laid is None:  # the second time: it is worth it
                laid = self._laid = LaidOut(self._kernel, arguments)
                self._cross = _entry()
            else:
                cut = len(arguments) - self._changing
                first = cut if all(map(is_, arguments[:cut], known)) else 0
                laid.replace(first, arguments[first:])
        return self._call(laid)

    def repeat(self) -> tuple[int, int]:
        """Call it with the arguments of the last call, without a look at them."""
        laid = self._laid
        return self(*self._known) if laid is None else self._call(laid)

    def _call(self, laid: LaidOut) -> tuple[int, int]:
        if self._cross(laid.bridge, laid.where):
            raise RuntimeError(
                f"the kernel {self._kernel.__name__} has failed"
            )  # never: kernels raise nothing
        returned = laid.returned
        return returned[0], returned[1]
