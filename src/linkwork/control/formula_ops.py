"""Formulas as operations of a tape."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping

from ..engine.control import codes
from .formula import parse, path_of
from .tape import Tape

_FUNCTIONS = {
    "sin": codes.SIN, "cos": codes.COS, "tan": codes.TAN, "asin": codes.ASIN, "acos": codes.ACOS, "atan": codes.ATAN,
    "atan2": codes.ATAN2, "sqrt": codes.ROOT, "exp": codes.EXP, "log": codes.LOG, "abs": codes.ABSOLUTE,
    "sign": codes.SIGN, "hypot": codes.HYPOT, "min": codes.LEAST, "max": codes.MOST,
}  # fmt: skip
_PRODUCTS: dict[type[ast.operator], int] = {
    ast.Mult: codes.MULTIPLY, ast.Div: codes.DIVIDE, ast.Pow: codes.POWER,
}  # fmt: skip


Terms = list[tuple[float, int]]
"""Factors and operations of a sum."""


def known(node: ast.expr) -> float | None:
    """The value of a part of a formula that consists of numbers."""
    match node:
        case ast.Constant(value=int() | float() as number):
            return float(number)
        case ast.Name(id="pi"):
            return math.pi
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            value = known(inner)
            return None if value is None else -value
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div() as how, right=right):
            a, b = known(left), known(right)
            if a is None or b is None or (isinstance(how, ast.Div) and b == 0.0):
                return None
            return a * b if isinstance(how, ast.Mult) else a / b
    return None


def lower_formula(tape: Tape, text: str, taken: Mapping[str, int]) -> int:
    """Operations of a formula; `taken`: those that its names stand for. Sums with factors become one operation."""

    def terms(node: ast.expr, factor: float = 1.0) -> tuple[Terms, float]:
        """A part of a formula times a factor, as terms of a sum and a number."""
        value = known(node)
        if value is not None:
            return [], factor * value
        match node:
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                return terms(inner, -factor)
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as sign, right=right):
                first, offset = terms(left, factor)
                second, more = terms(right, factor if isinstance(sign, ast.Add) else -factor)
                return first + second, offset + more
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                a, b = known(left), known(right)
                if a is not None:
                    return terms(right, factor * a)
                if b is not None:
                    return terms(left, factor * b)
            case ast.BinOp(left=left, op=ast.Div(), right=right):
                b = known(right)
                if b is not None and b != 0.0:
                    return terms(left, factor / b)
        return [(factor, op(node, True))], 0.0

    def op(node: ast.expr, apart: bool = False) -> int:
        """The operation of a part of a formula; `apart`: it is no sum with factors."""
        if not apart:
            return tape.blend(*terms(node))
        match node:
            case ast.Name(id="t"):
                return tape.once(codes.CLOCK)
            case ast.Name() | ast.Attribute():
                return taken[path_of(node)]
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                return tape.add(codes.NOT, op(inner))
            case ast.UnaryOp(op=ast.UAdd(), operand=inner):
                return op(inner)
            case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=2)):
                base = op(left)
                return tape.add(codes.MULTIPLY, base, base)
            case ast.BinOp(left=left, op=how, right=right):
                return tape.add(_PRODUCTS[type(how)], op(left), op(right))
            case ast.BoolOp(op=how, values=values):
                kind = codes.AND if isinstance(how, ast.And) else codes.OR
                return tape.reduce(kind, [op(value) for value in values])
            case ast.Compare(left=left, ops=[relation], comparators=[right]):
                a, b = op(left), op(right)
                if isinstance(relation, ast.Gt | ast.GtE):
                    a, b = b, a
                return tape.add(codes.LESS, a, b, p=(float(isinstance(relation, ast.LtE | ast.GtE)),))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return tape.add(codes.SWITCH, op(test), op(body), op(orelse))
            case ast.Call(func=ast.Name(id=name), args=args):
                ops = [op(arg) for arg in args]
                kind = _FUNCTIONS[name]
                return tape.reduce(kind, ops) if len(ops) > 1 else tape.add(kind, ops[0])
        raise AssertionError(ast.dump(node))

    return op(parse(text))
