"""The one way to compile: the decorator `kernel` and its kin.

A kernel called from Python is compiled whole, with everything that it calls, and kept on disk (`store.py`); called from
other kernels it is compiled for linking into them alone (`inner.py`). `NUMBA_DISABLE_JIT=1` runs everything as plain
Python, for debuggers and coverage.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, TypeVar

from numba.core import compiler, config, ir, postproc, targetconfig, transforms, types, typing
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.core.types.functions import BaseFunction
from numba.core.types.misc import unliteral
from numba.np import arrayobj

from .inner import ApartCompiler, EntryCache, EntryCompiler, InnerCache, InnerCompiler, SharedCompiler
from .lanes import ByLane, holds_lanes
from .later import Place, Spec, place_of
from .lowering import lean_array
from .store import KernelCache, kernel_directory

__all__ = [
    "COMPILED",
    "apart",
    "brief_kernel",
    "compiled",
    "exact_inlined",
    "exact_kernel",
    "for_lanes",
    "inlined",
    "kernel",
    "lanewise",
    "later",
    "later_count",
    "later_exact",
    "played",
    "shared_kernel",
    "woven",
]

COMPILED = not config.DISABLE_JIT
"""False under NUMBA_DISABLE_JIT=1, where kernels are plain Python functions."""

F = TypeVar("F", bound=Callable[..., Any])
Play = Callable[["_Entry", tuple[Any, ...]], Any]
_plays: list[Play] = []


def compiled() -> bool:
    """Whether a kernel that is called now runs compiled, and not as plain Python."""
    return COMPILED and not _plays


class _Flags(compiler.Flags):
    """Options of a compilation, one object for each decorator and use: compared by identity.

    Numba compares all forty options, with equal hashes, at each of some 70,000 look-ups of a first step.
    """

    __hash__ = object.__hash__
    __eq__ = object.__eq__


_FLAGS: list[_Flags] = []


def _shared(flags: compiler.Flags) -> _Flags:
    """The one object of these options."""
    for known in _FLAGS:
        if known.values() == flags.values():
            return known
    _FLAGS.append(_Flags(flags))
    return _FLAGS[-1]


_resolve = BaseFunction.get_call_type


def _resolve_once(self: Any, context: Any, args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
    """The signature of an operator or other function of Numba for some types of arguments, looked for only once.

    Numba tries all of its implementations of `+`, a dozen, for every sum in the sources.
    """
    if not all(kind.is_precise() for kind in args) or kws:
        return _resolve(self, context, args, kws)
    found = self.__dict__.setdefault("_found", {})
    key = (*(kind._code for kind in args), targetconfig.ConfigStack.top_or_none())
    if key not in found:
        signature = _resolve(self, context, args, kws)
        assert signature is not None  # or else it has raised
        found[key] = signature, self._impl_keys[signature.args], args  # codes are valid while the types live
    signature, self._impl_keys[signature.args], _ = found[key]
    return signature


_OTHER, _VARIABLE, _INSTRUCTION, _SEQUENCE, _NAMED = range(5)
_KINDS: dict[type, int] = {}
_list_slowly = ir.Inst._rec_list_vars
_post_process = postproc.PostProcessor.run


def _kind_of(value: Any) -> int:
    kinds = ((ir.Var, _VARIABLE), (ir.Inst, _INSTRUCTION), ((list, tuple), _SEQUENCE), (dict, _NAMED))
    return next((kind for types, kind in kinds if isinstance(value, types)), _OTHER)


def _list_variables(self: Any, value: Any) -> list[Any]:
    """The variables in a part of an instruction, by kinds of parts that are looked up.

    Numba asks of each part, two million a method, whether it is an instance of one of five classes.
    """
    kind = _KINDS.get(type(value))
    if kind is None:
        kind = _KINDS[type(value)] = _kind_of(value)
    if kind == _VARIABLE:
        return [value]
    if kind == _INSTRUCTION:
        return list(value.list_vars())
    found: list[Any] = []
    if kind != _OTHER:
        for one in value.values() if kind == _NAMED else value:
            part = _KINDS.get(type(one))
            if part == _VARIABLE:
                found.append(one)
            elif part != _OTHER:
                found += _list_variables(self, one)
    return found


def _note_lifetimes(self: Any, *_: Any, **__: Any) -> None:
    """After a pass: blocks in their usual form, and lifetimes of variables for whoever asks.

    Numba works these out each time, nine times a kernel, and marks where each variable dies, for the sake of counted
    references.
    """
    self.func_ir.blocks = transforms.canonicalize_cfg(self.func_ir.blocks)
    self.func_ir.variable_lifetime = postproc.VariableLifetime(self.func_ir.blocks)
    self.func_ir.generator_info = None


@contextmanager
def _faster() -> Iterator[None]:
    """While kernels compile, overloads are looked for once, code is gone through and written with less effort, and the
    collector does not walk through what is kept."""
    if BaseFunction.get_call_type is _resolve_once:  # a callee is compiled while its caller is
        yield
        return
    collecting, array_of = gc.isenabled(), arrayobj.make_array
    gc.disable()
    BaseFunction.get_call_type = _resolve_once  # type: ignore[method-assign, assignment]
    arrayobj.make_array = lean_array
    ir.Inst._rec_list_vars = _list_variables
    postproc.PostProcessor.run = _note_lifetimes
    try:
        yield
    finally:
        postproc.PostProcessor.run = _post_process
        ir.Inst._rec_list_vars = _list_slowly
        arrayobj.make_array = array_of
        BaseFunction.get_call_type = _resolve  # type: ignore[method-assign]
        if collecting:
            gc.enable()


class _Inner(CPUDispatcher):
    """A kernel as other kernels see it."""

    lanewise = False
    """Whether it is called for one state after the other where it is given lanes."""
    for_lanes: _Entry | None = None
    """What is called instead where it is given lanes."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any], pipeline: type):
        super().__init__(function, targetoptions=options, pipeline_class=pipeline)
        self._compiler._customize_flags = _shared

    def get_call_template(self, args: Any, kws: dict[str, Any]) -> Any:
        """Constants become arguments like any other: Numba would compile a function anew for each of them."""
        kws = {name: unliteral(kind) for name, kind in kws.items()}
        args = tuple(map(unliteral, args))
        if (self.lanewise or self.for_lanes) and any(map(holds_lanes, args)):
            if self.for_lanes is not None:
                return self.for_lanes.inner.get_call_template(args, kws)
            names, found = self._compiler.fold_argument_types(args, kws)
            place, signature = self._by_lane(tuple(found))
            self.targetctx.insert_func_defn([(place.lower, place, signature.args)])
            return typing.make_concrete_template(place.name, place, [signature]), names, found, {}
        return super().get_call_template(args, kws)

    def _by_lane(self, args: tuple[Any, ...]) -> tuple[ByLane, Any]:
        """How it is called for one state after the other, and the types of such a call."""
        place = ByLane(self, args)
        return place, typing.signature(place.result, *args)

    def get_overload(self, sig: Any) -> Any:
        """What its code for some types of arguments is known by."""
        if (self.lanewise or self.for_lanes) and any(map(holds_lanes, sig)):
            if self.for_lanes is not None:
                return self.for_lanes.inner.get_overload(sig)
            return self._by_lane(tuple(sig))[0]
        return super().get_overload(sig)

    def compile(self, sig: Any) -> Any:
        """Compile for some types of arguments, or load what is kept on disk, waiting for a process that makes it."""
        with global_compiler_lock, _faster():
            if sig in self.overloads or not isinstance(self._cache, KernelCache):
                return super().compile(sig)
            with self._cache.claimed(sig, self.targetctx):
                return super().compile(sig)


class _Later(_Inner):
    """A kernel as others see it that do not wait for it: they know what it returns, and where its address will be."""

    result: Any

    def _place(self, arguments: tuple[Any, ...]) -> Place:
        return place_of(Spec(self.py_func.__module__, self.py_func.__qualname__, arguments, self.result))

    def get_call_template(self, args: Any, kws: dict[str, Any]) -> Any:
        """How to call it, without compiling it."""
        given = {name: unliteral(kind) for name, kind in kws.items()}
        names, found = self._compiler.fold_argument_types(tuple(map(unliteral, args)), given)
        place, signature = self._place(tuple(found)), typing.signature(self.result, *found)
        self.targetctx.insert_func_defn([(place.lower, place, signature.args)])
        return typing.make_concrete_template(place.symbol, place.symbol, [signature]), names, found, {}

    def get_overload(self, sig: Any) -> Any:
        """What its code for some types of arguments is known by."""
        return self._place(tuple(sig))


class _Entry(_Inner):
    """A kernel as Python sees it: an entry into compiled code."""

    def __init__(
        self, function: Callable[..., Any], options: dict[str, Any], pipeline: type, within: type, result: Any
    ):
        super().__init__(function, options, pipeline)
        self.plain = function
        """What runs instead as plain Python."""
        self._within, self._result = within, result
        if kernel_directory() is not None:
            self._cache = EntryCache(function)

    @property
    def is_woven(self) -> bool:
        """Whether it is compiled only as a part of its callers."""
        return bool(self.targetoptions.get("inline") == "always")

    @property
    def is_apart(self) -> bool:
        """Whether it has machine code of its own when other kernels call it."""
        return self._within is ApartCompiler

    @property
    def is_later(self) -> bool:
        """Whether other kernels that call it are compiled without it."""
        return self._result is not None

    @cached_property
    def inner(self) -> _Inner:
        """This kernel as other kernels see it."""
        inner = _Inner(self.py_func, {**self.targetoptions, "no_cpython_wrapper": True}, self._within)
        inner.lanewise, inner.for_lanes = self.lanewise, self.for_lanes
        if kernel_directory() is not None:
            inner._cache = InnerCache(self.py_func)
        return inner

    @property
    def _numba_type_(self) -> Any:
        """Kernels that mention this one call the inner one."""
        return self._promised._type if self.is_later else self.inner._type

    @cached_property
    def _promised(self) -> _Later:
        promised = _Later(self.py_func, self.targetoptions, self._within)
        promised.result = self._result
        return promised


def _compile(
    pipeline: type = EntryCompiler, within: type = InnerCompiler, result: Any = None, **options: Any
) -> Callable[[F], F]:
    def decorate(function: F) -> F:
        if not COMPILED:
            return function
        # Nobody calls kernels from C; leaving that wrapper out saves compile time. Kernels never allocate,
        # hence need no reference counts: without them (_nrt) a small step takes a fifth less time, and an
        # allocation that slips in does not compile.
        always = {"nopython": True, "boundscheck": None, "error_model": "numpy", "nogil": True}
        return _Entry(
            function, {**always, "no_cfunc_wrapper": True, "_nrt": False, **options}, pipeline, within, result
        )

    return decorate


# Fast-math without nnan and ninf, so that NaN checks keep working; products and sums may fuse.
_FAST = {"contract", "nsz", "arcp"}
kernel = _compile(fastmath=_FAST)
"""Decorator of every compiled function: lazy, cached, no Python objects, GIL released."""

brief_kernel = _compile(fastmath=_FAST, nogil=False)
"""Decorator of what Python calls for less than a microsecond: other threads wait meanwhile, which saves 40 ns."""

shared_kernel = _compile(SharedCompiler, fastmath=_FAST)
"""Decorator of an entry in which functions stay as they are where other kernels have them, instead of becoming its own.

Usually slower by a tenth to a third; passes over subsystems, which call the same large functions from many places, are
faster for it."""

apart = _compile(within=ApartCompiler, fastmath=_FAST)
"""Decorator of a kernel with machine code of its own, for other kernels, too, which call it once a step or so.

A large loop is compiled in several processes that way, and nothing is optimised twice. A call costs a tenth of a
microsecond for some hundred arrays, for all words of its arguments are passed: give it only those that it needs.
Functions that users compile and keep on disk cannot call it."""

later = _compile(within=ApartCompiler, result=types.none, fastmath=_FAST)
"""The same for a kernel that returns nothing and that few models need: its callers are compiled without it, and ask
for it when they call it first (`later.py`). Who knows that a model needs it compiles it before (`run/pieces.py`)."""

later_exact = _compile(within=ApartCompiler, result=types.none, fastmath=False)
"""The same with strict IEEE arithmetic."""

later_count = _compile(within=ApartCompiler, result=types.int64, fastmath=_FAST)
"""The same for a kernel that returns a whole number."""

inlined = _compile(fastmath=_FAST, forceinline=True)
"""Decorator of a kernel that LLVM would not inline by itself but is called for every dof or step: passing arrays and
tuples through memory costs more than the copies of the code."""

woven = _compile(fastmath=_FAST, inline="always")
"""Decorator of the outer loops of a formulation, which are called from one place: woven into the caller before any
machine code is made. As kernels, each would be optimised anew with everything that it calls, level by level."""

exact_kernel = _compile(fastmath=False)  # said, for else a kernel has it as its caller does
"""Decorator of a kernel with strict IEEE arithmetic, for code whose rounding matters (argument reduction)."""

exact_inlined = _compile(fastmath=False, forceinline=True)
"""Decorator of a part of such a kernel."""


def lanewise(kernel: F) -> F:
    """Decorator of a kernel of numbers whose way depends on them: where it is given lanes (`lanes.py`), it is called
    for one state after the other."""
    if COMPILED:
        kernel.lanewise = True  # type: ignore[attr-defined]
    return kernel


def for_lanes(kernel: Callable[..., Any]) -> Callable[[F], F]:
    """Decorator of a kernel that is called instead of another where that is given lanes."""

    def decorate(other: F) -> F:
        if COMPILED:
            kernel.for_lanes = other  # type: ignore[attr-defined]
        return other

    return decorate


@contextmanager
def played(play: Play) -> Iterator[None]:
    """Meanwhile each call of a kernel, by Python or by another that runs as Python, is `play(kernel, arguments)`."""
    _plays.append(play)
    _Entry.__call__ = lambda self, *arguments: play(self, arguments)
    try:
        yield
    finally:
        del _Entry.__call__
        _plays.remove(play)
