"""Expressions of numbers and names as a tuning file has them, in C."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping

from campaigns.spaces.expressions import python_expression

ACCEPTED = "whole numbers, names, + - * / // % < <= == and or not"
OPERATORS: Mapping[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.FloorDiv: "/",
    ast.Div: "/",
    ast.Mod: "%",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.And: "&&",
    ast.Or: "||",
}


class PlainC:
    """names: those that may occur; None for any. sizes: names for some of the numbers."""

    def __init__(
        self, names: Collection[str] | None, sizes: Mapping[int, str] | None = None
    ) -> None:
        self._names = names
        self._sizes = sizes or {}

    def of(self, text: str) -> str:
        """The expression in C. Raises ValueError for what is none of numbers and names."""
        tree = python_expression(text.replace("&&", " and ").replace("||", " or "))
        if tree is None:
            raise ValueError(f"{text!r:.60}: accepted: {ACCEPTED}")
        return self._one(tree)

    def _one(self, node: ast.expr) -> str:
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return self._sizes.get(node.value, str(node.value))
        if isinstance(node, ast.Name) and (self._names is None or node.id in self._names):
            return node.id
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            left, right = self._one(node.left), self._one(node.right)
            return f"({left} {OPERATORS[type(node.op)]} {right})"
        if isinstance(node, ast.BoolOp):
            joined = f" {OPERATORS[type(node.op)]} ".join(map(self._one, node.values))
            return f"({joined})"
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return f"!({self._one(node.operand)})"
        if isinstance(node, ast.Compare) and all(type(op) in OPERATORS for op in node.ops):
            sides = [self._one(each) for each in (node.left, *node.comparators)]
            pairs = zip(sides, node.ops, sides[1:], strict=False)
            return "(" + " && ".join(f"{a} {OPERATORS[type(op)]} {b}" for a, op, b in pairs) + ")"
        raise ValueError(f"{ast.unparse(node)[:60]}: accepted: {ACCEPTED}")
