"""Kernels that few models need: compiled when one is first called, not together with the loops that may call it.

A loop finds the address of such a kernel in a place of its own, which has a name; while that holds nothing, the loop
asks for it, and the kernel is compiled, or loaded from the cache, in the midst of the call. Whoever knows that a model
will need it has it compiled before (`run/pieces.py`). A first step of a mechanism without a control diagram, say,
waits no longer for the interpreter of diagrams, a fifth of what its loop calls.
"""

from __future__ import annotations

import _thread
import ctypes
import os
import sys
import threading
import time
import traceback
from collections.abc import Iterable, Iterator
from contextlib import suppress
from hashlib import sha256
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from llvmlite import binding, ir
from numba.core import cgutils

__all__ = ["Place", "Spec", "asked_for", "place_of"]

_PREFIX, _ASK = "linkwork.later.", "linkwork.ask"
_WORD = ir.IntType(64)
_POLL = 0.005  # [s]


class Spec(NamedTuple):
    """Which kernel, by module and name, for which types of arguments, and the type of what it returns."""

    module: str
    name: str
    arguments: tuple[Any, ...]
    result: Any


class Place:
    """Where callers find the address of a kernel: 0 until one of them has asked for it."""

    def __init__(self, spec: Spec, symbol: str):
        self.spec, self.symbol = spec, symbol
        self.word = np.zeros(1, np.int64)
        self.where = int(self.word.ctypes.data)
        binding.add_symbol(symbol, self.where)

    def fill(self) -> None:
        """Compile the kernel, or load it."""
        module, name, arguments, result = self.spec
        kernel = getattr(import_module(module), name).inner
        kernel.compile(arguments)
        made = kernel.overloads[arguments]
        if made.fndesc.restype != result:
            raise TypeError(f"{name} returns {made.fndesc.restype}; its callers take {result}")
        self.word[0] = made.library.get_pointer_to_function(made.fndesc.llvm_func_name)

    def lower(self, context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        """Code of a call: ask for the address while there is none."""
        module = builder.module
        try:
            place = module.get_global(self.symbol)
        except KeyError:
            place = ir.GlobalVariable(module, _WORD, self.symbol)
        with cgutils.if_unlikely(builder, builder.icmp_signed("==", builder.load(place), _WORD(0))):
            kind = ir.FunctionType(ir.VoidType(), [place.type])
            builder.call(cgutils.get_or_insert_function(module, kind, _ASK), [place])
        kind = context.call_conv.get_function_type(signature.return_type, signature.args)
        kernel = builder.inttoptr(builder.load(place), kind.as_pointer())
        _, result = context.call_conv.call_function(
            builder, kernel, signature.return_type, signature.args, arguments
        )
        return result


_places: dict[str, Place] = {}


def place_of(spec: Spec) -> Place:
    """The one place of a kernel; code that names it can be loaded from then on."""
    types = sha256("\n".join(map(str, spec.arguments)).encode()).hexdigest()[:16]
    symbol = f"{_PREFIX}{spec.module}.{spec.name}.{types}"
    if symbol not in _places:
        _places[symbol] = Place(spec, symbol)
    return _places[symbol]


def asked_for(variables: Iterable[Any]) -> Iterator[Spec]:
    """Which kernels code may ask for, by its global variables."""
    for variable in variables:
        if variable.name.startswith(_PREFIX):
            yield _places[variable.name].spec


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _ask(where: int) -> None:
    """Fill the place at an address. In a thread of its own: Ctrl-C, which must not leave the caller without a kernel,
    is for whatever follows."""
    interrupted, started = False, False
    while True:
        try:
            place = next(one for one in _places.values() if one.where == where)
            if place.word[0] != 0:
                break
            if not started:
                _thread.start_new_thread(_fill, (place,))
                started = True
            time.sleep(_POLL)
        except KeyboardInterrupt:
            interrupted = True
    if interrupted:  # once this has returned: what it raises goes nowhere
        threading.Timer(10 * _POLL, _thread.interrupt_main).start()


def _fill(place: Place) -> None:
    try:
        place.fill()
    except BaseException:  # the caller cannot go on, and has no way to say so
        traceback.print_exc()
        with suppress(Exception):
            sys.stderr.flush()
        os.abort()


binding.add_symbol(_ASK, ctypes.cast(_ask, ctypes.c_void_p).value)
