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


def lower_formula(tape: Tape, text: str, taken: Mapping[str, int]) -> int:
    """Operations of a formula; `taken`: those that its names stand for."""

    def op(node: ast.expr) -> int:
        match node:
            case ast.Constant(value=int() | float() as number):
                return tape.number(float(number))
            case ast.Name(id="pi"):
                return tape.number(math.pi)
            case ast.Name(id="t"):
                return tape.once(codes.CLOCK)
            case ast.Name() | ast.Attribute():
                return taken[path_of(node)]
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                return tape.add(codes.NOT, op(inner))
            case ast.UnaryOp(op=sign, operand=inner):
                return tape.add(codes.BLEND, op(inner), p=(-1.0 if isinstance(sign, ast.USub) else 1.0,))
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as sign, right=right):
                factor = 1.0 if isinstance(sign, ast.Add) else -1.0
                return tape.add(codes.BLEND, op(left), op(right), p=(1.0, factor))
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
