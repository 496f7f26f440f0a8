"""Several states in lock step: numbers of eight of them as one value, from the same sources as those of one.

A `Lane` is a vector of LLVM, as wide as a register of the machine or two. Sums and products of lanes are single
instructions, numbers that all states share are spread, and a kernel whose way depends on the numbers themselves is
called for one state after the other (`jit.lanewise`). Kernels that are given tables and arrays of lanes
(`lanes_in`) are compiled for them as for any other type: `coordinates/tree.py` is written once.
"""

from __future__ import annotations

import math
import operator
from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.core.imputils import lower_builtin, lower_cast
from numba.core.typeconv import Conversion
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, register_model

__all__ = [
    "LANES", "ByLane", "Lane", "aligned", "choose", "floor", "holds_lanes", "lanes_in", "widened", "within",
]  # fmt: skip

LANES = 8
"""States that go in lock step."""
_LINE = 64  # bytes of a line of the cache
_VECTOR = ir.VectorType(ir.DoubleType(), LANES)
_INDEX = ir.IntType(32)


class LaneType(types.Type):
    """Numba's type of a number of each of several states."""

    def __init__(self) -> None:
        super().__init__("Lane")
        self.bitwidth = 64 * LANES

    def can_convert_from(self, typingctx: Any, other: Any) -> Any:
        """A number that all states share is spread."""
        if isinstance(other, types.Float | types.Integer):
            return Conversion.safe
        return None

    def unify(self, typingctx: Any, other: Any) -> Any:
        """A variable that holds a number first, and then one of each state, is of this type."""
        return self if isinstance(other, types.Float | types.Integer | LaneType) else None


Lane = LaneType()


@register_model(LaneType)
class _Model(models.DataModel):
    """A vector in registers; in memory the same numbers, wherever they lie."""

    _packed = ir.LiteralStructType([_VECTOR], packed=True)

    def get_value_type(self) -> Any:
        return _VECTOR

    get_argument_type = get_return_type = get_value_type

    def get_data_type(self) -> Any:
        return self._packed

    def as_data(self, builder: Any, value: Any) -> Any:
        return builder.insert_value(ir.Constant(self._packed, ir.Undefined), value, 0)

    def from_data(self, builder: Any, value: Any) -> Any:
        return builder.extract_value(value, 0)

    def as_argument(self, builder: Any, value: Any) -> Any:
        return value

    from_argument = as_return = from_return = as_argument


class LaneRecord(types.Record):
    """A record some of whose numbers are lanes."""

    _of: np.dtype

    def __init__(self, layout: np.dtype, fields: Any):
        self._of = layout
        super().__init__(fields, layout.itemsize, False)

    @property
    def dtype(self) -> np.dtype:
        """What NumPy calls it."""
        return self._of


register_model(LaneRecord)(models.RecordModel)


def _of_lanes(kind: Any) -> Any:
    """Numba's type for what is a number of each lane along the last axis: an array, a record or a field of one."""
    if isinstance(kind, types.Record):
        return _record(kind)
    if isinstance(kind, types.NestedArray) and kind.shape[-1] == LANES:
        rest = kind.shape[:-1]
        return types.NestedArray(Lane, rest) if rest else Lane
    return kind


@cache
def _record(kind: Any) -> Any:
    fields = [
        (name, {"type": _of_lanes(one.type), "offset": one.offset, "title": None})
        for name, one in kind.fields.items()
    ]
    return LaneRecord(kind.dtype, fields)


@intrinsic
def lanes_in(typingctx, array):
    """An array whose last axis, or that of its records' fields, is one number for each state, as one of lanes."""
    if isinstance(array.dtype, types.Record):
        result = types.Array(_record(array.dtype), array.ndim, array.layout)
    else:
        result = types.Array(Lane, array.ndim - 1, array.layout)

    def codegen(context, builder, signature, arguments):
        given = cgutils.create_struct_proxy(signature.args[0])(context, builder, arguments[0])
        made = cgutils.create_struct_proxy(result)(context, builder)
        made.meminfo, made.parent = given.meminfo, given.parent
        ndim = result.ndim
        shape = [builder.extract_value(given.shape, k) for k in range(ndim)]
        strides = [builder.extract_value(given.strides, k) for k in range(ndim)]
        items = shape[0]
        for one in shape[1:]:
            items = builder.mul(items, one)
        made.nitems = items
        made.itemsize = context.get_constant(types.intp, result.dtype.bitwidth // 8)
        made.data = builder.bitcast(given.data, made.data.type)
        made.shape = cgutils.pack_array(builder, shape)
        made.strides = cgutils.pack_array(builder, strides)
        return made._getvalue()

    return result(array), codegen


# --- arithmetic ---


def _each(builder: Any, name: str, value: Any) -> Any:
    """An instruction of LLVM that is called by its name."""
    kind = ir.FunctionType(_VECTOR, [_VECTOR])
    return builder.call(
        cgutils.get_or_insert_function(builder.module, kind, f"llvm.{name}.v{LANES}f64"), [value]
    )


@lower_cast(types.Float, LaneType)
@lower_cast(types.Integer, LaneType)
def _spread(context, builder, fromty, toty, value):
    number = context.cast(builder, value, fromty, types.float64)
    first = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), number, _INDEX(0))
    everywhere = ir.Constant(ir.VectorType(_INDEX, LANES), [0] * LANES)
    return builder.shuffle_vector(first, ir.Constant(_VECTOR, ir.Undefined), everywhere)


class _Arithmetic(AbstractTemplate):
    """Sums, products and quotients of which one part at least is a lane."""

    def generic(self, args: Any, kws: Any) -> Any:
        """The types."""
        if any(one is Lane for one in args) and all(
            isinstance(one, LaneType | types.Float | types.Integer) for one in args
        ):
            return signature(Lane, *(Lane,) * len(args))
        return None


def _define(function: Any, instruction: str) -> None:
    infer_global(function)(type("_Of", (_Arithmetic,), {"key": function}))
    kinds = (LaneType,) * (1 if instruction == "fneg" else 2)

    @lower_builtin(function, *kinds)
    def lower(context, builder, signature, arguments):
        return getattr(builder, instruction)(*arguments)


@infer_global(math.sqrt)
class _Root(_Arithmetic):
    key = math.sqrt


@lower_builtin(math.sqrt, LaneType)
def _root(context, builder, signature, arguments):
    return _each(builder, "sqrt", arguments[0])


for _function, _instruction in (
    (operator.add, "fadd"), (operator.iadd, "fadd"), (operator.sub, "fsub"), (operator.isub, "fsub"),
    (operator.mul, "fmul"), (operator.imul, "fmul"), (operator.truediv, "fdiv"), (operator.itruediv, "fdiv"),
    (operator.neg, "fneg"),
):  # fmt: skip
    _define(_function, _instruction)


@intrinsic
def floor(typingctx, x):
    """The largest whole number that is no larger, of each lane."""
    if x is not Lane:
        return None

    def codegen(context, builder, signature, arguments):
        return _each(builder, "floor", arguments[0])

    return Lane(Lane), codegen


@intrinsic
def choose(typingctx, x, least, a, b):
    """a where x is at least so large, else b."""
    if x is not Lane:
        return None

    def codegen(context, builder, signature, arguments):
        x, least, a, b = arguments
        return builder.select(builder.fcmp_ordered(">=", x, least), a, b)

    return Lane(Lane, Lane, Lane, Lane), codegen


@intrinsic
def within(typingctx, x, bound):
    """Whether all lanes are numbers whose size does not exceed a bound."""
    if x is not Lane:
        return None

    def codegen(context, builder, signature, arguments):
        size = _each(builder, "fabs", arguments[0])
        inside = builder.fcmp_ordered("<=", size, arguments[1])
        bits = builder.bitcast(inside, ir.IntType(LANES))
        return builder.icmp_unsigned("==", bits, ir.Constant(ir.IntType(LANES), (1 << LANES) - 1))

    return types.boolean(Lane, Lane), codegen


# --- what is done for one state after the other ---


def holds_lanes(kind: Any) -> bool:
    """Whether this is the type of a lane, or of a tuple with one."""
    return kind is Lane or (isinstance(kind, types.BaseTuple) and any(map(holds_lanes, kind)))


def _of_one(kind: Any) -> Any:
    """The type of one state's numbers in this."""
    if isinstance(kind, types.BaseTuple):
        return types.Tuple([_of_one(one) for one in kind])
    return types.float64 if kind is Lane else kind


def _of_all(kind: Any) -> Any:
    """The type of all states' numbers, of one for each."""
    if isinstance(kind, types.BaseTuple):
        return types.Tuple([_of_all(one) for one in kind])
    return Lane if isinstance(kind, types.Float) else kind


class ByLane:
    """Calls of a kernel of numbers, for one state after the other."""

    def __init__(self, kernel: Any, arguments: tuple[Any, ...]):
        self.name = f"{kernel.py_func.__qualname__} by lane"
        self._key = kernel, arguments
        self._kinds = tuple(map(_of_one, arguments))
        kernel.compile(self._kinds)
        self._made = kernel.overloads[self._kinds]
        self.result = _of_all(self._made.signature.return_type)

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ByLane) and self._key == other._key

    def lower(self, context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        """Code of the calls."""
        made = self._made
        context.active_code_library.add_linking_library(made.library)
        result = ir.Constant(context.get_value_type(self.result), ir.Undefined)
        for lane in range(LANES):
            given = [
                _taken(builder, kind, value, lane)
                for kind, value in zip(signature.args, arguments, strict=True)
            ]
            one = context.call_internal(builder, made.fndesc, made.signature, given)
            result = _put(builder, self.result, result, one, lane)
        return result


def _taken(builder: Any, kind: Any, value: Any, lane: int) -> Any:
    """One state's numbers."""
    if isinstance(kind, types.BaseTuple):
        parts = [_taken(builder, one, builder.extract_value(value, k), lane) for k, one in enumerate(kind)]
        pack = cgutils.pack_array if isinstance(kind, types.UniTuple) else cgutils.pack_struct
        return pack(builder, parts)
    return builder.extract_element(value, _INDEX(lane)) if kind is Lane else value


def _put(builder: Any, kind: Any, whole: Any, value: Any, lane: int) -> Any:
    """All states' numbers with those of one of them put in."""
    if isinstance(kind, types.BaseTuple):
        for k, one in enumerate(kind):
            part = _put(builder, one, builder.extract_value(whole, k), builder.extract_value(value, k), lane)
            whole = builder.insert_value(whole, part, k)
        return whole
    return builder.insert_element(whole, value, _INDEX(lane)) if kind is Lane else value


# --- tables ---


def widened(layout: np.dtype, after: str) -> np.dtype:
    """The layout of a record whose numbers from a field on are one of each state."""
    fields, wide = [], False
    for name in layout.names or ():
        wide |= name == after
        kind = layout[name]
        base, shape = kind.subdtype or (kind, ())
        fields.append((name, base, (*shape, LANES) if wide else shape))
    return np.dtype(fields)


def aligned(shape: tuple[int, ...], layout: Any = float) -> np.ndarray:
    """Zeros that begin with a line of the cache, as vectors should."""
    kind = np.dtype(layout)
    count = int(np.prod(shape, dtype=np.int64)) * kind.itemsize
    raw = np.zeros(count + _LINE, np.uint8)
    start = -raw.ctypes.data % _LINE
    return raw[start : start + count].view(kind).reshape(shape)
