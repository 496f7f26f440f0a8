"""Arithmetic over parameters in model files: `=L/2 + 0.1`. Numbers in, one number out, nothing else."""

from __future__ import annotations

import ast
import keyword
import math
import operator
import unicodedata
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from ..model.errors import nearest

MAX_LENGTH = 500
_MAX_DEPTH = 50

_OF_MATH = ("sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "radians", "degrees")
FUNCTIONS: dict[str, Callable[..., float]] = {name: getattr(math, name) for name in _OF_MATH}
FUNCTIONS |= {"abs": abs, "min": min, "max": max}
CONSTANTS = {"pi": math.pi}
# Everything is a float from the first number on, so no power can grow beyond 1e308.
_BINARY: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: math.pow,  # ** would answer a complex number for (-1)**0.5
}
_UNARY: dict[type[ast.unaryop], Callable[[float], float]] = {ast.UAdd: operator.pos, ast.USub: operator.neg}


class ExpressionError(ValueError):
    """An expression that has no value, and why."""


class UnknownValueError(Exception):
    """The expression needs a parameter whose own value could not be found."""


def is_expression(value: Any) -> bool:
    """Whether a value in a file is to be computed."""
    return isinstance(value, str) and value.startswith("=")


def parameter_name(name: str) -> str:
    """The name as expressions see it (Python reads identifiers in the form NFKC), if it can be one."""
    normal = unicodedata.normalize("NFKC", name)
    if not normal.isidentifier() or keyword.iskeyword(normal):
        raise ExpressionError(f"'{name}' cannot name a parameter: use letters, digits and _")
    if normal in FUNCTIONS or normal in CONSTANTS:
        raise ExpressionError(f"'{name}' cannot name a parameter: it is built in")
    return normal


def evaluate(text: str, parameters: Mapping[str, float | None]) -> float:
    """Value of an expression with its leading `=`; a parameter that is None has no known value."""
    if len(text) > MAX_LENGTH:
        raise ExpressionError(f"the expression is longer than {MAX_LENGTH} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about literals such as `1or`, which are refused anyway
            tree = ast.parse(text[1:].strip(), mode="eval")
        value = _value(tree.body, parameters, 0)
    except ExpressionError as error:
        raise ExpressionError(f"the expression '{text}': {error}") from None
    except (SyntaxError, ValueError, TypeError, ArithmeticError, RecursionError, MemoryError) as error:
        raise ExpressionError(f"the expression '{text}' {_reason(error)}") from None
    if not math.isfinite(value):
        raise ExpressionError(f"the expression '{text}' is not finite")
    return value


def _value(node: ast.expr, parameters: Mapping[str, float | None], depth: int) -> float:
    if depth > _MAX_DEPTH:
        raise ExpressionError("too many levels")
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return float(number)
        case ast.Name(id=name):
            return _named(name, parameters)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            a = _value(left, parameters, depth + 1)
            return _BINARY[type(op)](a, _value(right, parameters, depth + 1))
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _UNARY:
            return _UNARY[type(op)](_value(operand, parameters, depth + 1))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
            if name not in FUNCTIONS:
                raise ExpressionError(f"there is no function '{name}'{nearest(name, FUNCTIONS)}")
            # min and max take any number of values, but not one: Python would look for a list in it.
            values = [_value(arg, parameters, depth + 1) for arg in args]
            return values[0] if name in ("min", "max") and len(values) == 1 else FUNCTIONS[name](*values)
    raise ExpressionError(f"'{ast.unparse(node)}' is not arithmetic")


def _named(name: str, parameters: Mapping[str, float | None]) -> float:
    if name in parameters:
        value = parameters[name]
        if value is None:
            raise UnknownValueError
        return value
    if name in CONSTANTS:
        return CONSTANTS[name]
    if name in FUNCTIONS:
        raise ExpressionError(f"the function '{name}' needs its arguments in parentheses")
    raise ExpressionError(f"there is no parameter '{name}'{nearest(name, [*parameters, *CONSTANTS])}")


def _reason(error: Exception) -> str:
    if isinstance(error, ZeroDivisionError):
        return "divides by zero"
    if isinstance(error, OverflowError):
        return "exceeds 1e308"
    if isinstance(error, TypeError):
        return "calls a function with a wrong number of arguments"
    if isinstance(error, SyntaxError | RecursionError | MemoryError):
        return "cannot be read as arithmetic"
    return "is not defined (such as the root of a negative number)"
