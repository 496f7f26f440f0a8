"""Formulas of blocks: read, checked and taken apart into operations."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable
from functools import lru_cache

from ..model.errors import nearest

FUNCTIONS = {
    "sin": 1, "cos": 1, "tan": 1, "asin": 1, "acos": 1, "atan": 1, "atan2": 2, "sqrt": 1, "exp": 1, "log": 1, "abs": 1,
    "sign": 1, "hypot": 2, "min": 0, "max": 0,
}  # fmt: skip
"""Names and numbers of arguments; 0 for two or more."""
CONSTANTS = ("pi", "t")
_DEPTH = 40
_BINARY = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)
_COMPARE = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


@lru_cache(maxsize=1024)
def parse(text: str) -> ast.expr:
    """The tree of a formula that has only what formulas may have; else a ValueError that says what is wrong."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ValueError(f"cannot be read as a formula: '{text}'") from None
    _check(tree, 0)
    return tree


def _check(node: ast.expr, depth: int) -> None:
    if depth > _DEPTH:
        raise ValueError("the formula has too many levels")
    match node:
        case ast.Constant(value=bool()):
            return
        case ast.Constant(value=int() | float()):
            return
        case ast.Name() | ast.Attribute() if path_of(node):
            return
        case ast.BinOp(left=left, op=op, right=right) if isinstance(op, _BINARY):
            inner = [left, right]
        case ast.UnaryOp(op=ast.UAdd() | ast.USub() | ast.Not(), operand=operand):
            inner = [operand]
        case ast.BoolOp(values=values):
            inner = values
        case ast.Compare(left=left, ops=[op], comparators=[right]) if isinstance(op, _COMPARE):
            inner = [left, right]
        case ast.IfExp(test=test, body=body, orelse=orelse):
            inner = [test, body, orelse]
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
            if name not in FUNCTIONS:
                raise ValueError(f"there is no function '{name}'{nearest(name, FUNCTIONS)}")
            wanted = FUNCTIONS[name]
            if (wanted and len(args) != wanted) or (not wanted and len(args) < 2):
                raise ValueError(
                    f"the function '{name}' takes {wanted or 'two or more'} arguments, not {len(args)}"
                )
            inner = args
        case _:
            raise ValueError(f"'{ast.unparse(node)}' is nothing that a formula may have")
    for part in inner:
        _check(part, depth + 1)


def path_of(node: ast.expr) -> str:
    """The dotted name that a node is, or nothing."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=attr):
            head = path_of(value)
            return f"{head}.{attr}" if head else ""
    return ""


def names_in(text: str) -> tuple[str, ...]:
    """Names of outputs and signals in a formula, each once, in their order."""
    found: dict[str, None] = {}

    def look(node: ast.AST) -> None:
        if isinstance(node, ast.Name | ast.Attribute):
            name = path_of(node)
            if name not in CONSTANTS:
                found[name] = None
        elif isinstance(node, ast.Call):
            for part in node.args:
                look(part)
        else:
            for child in ast.iter_child_nodes(node):
                look(child)

    look(parse(text))
    return tuple(found)


def renamed(text: str, rename: Callable[[str], str]) -> str:
    """The formula with other names of outputs and signals."""

    class Rename(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.AST:
            return _name(rename(node.id)) if node.id not in CONSTANTS else node

        def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
            return _name(rename(path_of(node)))

        def visit_Call(self, node: ast.Call) -> ast.AST:
            return ast.Call(node.func, [self.visit(part) for part in node.args], [])

    copy = ast.parse(text.strip(), mode="eval").body
    return ast.unparse(ast.fix_missing_locations(Rename().visit(copy)))


def _name(path: str) -> ast.expr:
    head, *rest = path.split(".")
    node: ast.expr = ast.Name(head, ast.Load())
    for part in rest:
        node = ast.Attribute(node, part, ast.Load())
    return node
