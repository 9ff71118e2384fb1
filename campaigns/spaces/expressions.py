"""Arithmetic over named integers as text, so that a condition can be kept, shown and checked.

Texts come from sources that strangers wrote. Whatever is not plain arithmetic on names and integers
is not an expression, and neither powers nor shifts are, because a short text with them never ends.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from copy import deepcopy
from functools import lru_cache
from types import CodeType

from campaigns.evaluator.contract import Param

ALLOWED = (
    *(ast.Expression, ast.Name, ast.Load, ast.Constant, ast.IfExp),
    *(ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod),
    *(ast.UnaryOp, ast.Not, ast.USub, ast.BoolOp, ast.And, ast.Or),
    *(ast.Compare, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE),
)
MOST_CHARACTERS = 1000
# How large an expression may be, so that reading it always ends.
MOST_NODES, MOST_DEPTH = 500, 60
# In C a division of integers drops the rest, and `!` binds tighter than Python's `not`.
C_WORDS = {"&&": " and ", "||": " or ", "/": "//"}


def python_expression(text: str) -> ast.expr | None:
    """The expression that a Python text is; None for anything else."""
    if len(text) > MOST_CHARACTERS:
        return None
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError):
        return None
    plain = all(
        isinstance(node.value, int) if isinstance(node, ast.Constant) else isinstance(node, ALLOWED)
        for node in ast.walk(tree)
    )
    return tree.body if plain and is_small(tree.body) else None


def c_expression(text: str) -> ast.expr | None:
    """The expression that a C text is, with Python's operators; None for anything else."""
    if re.search(r"!(?!=)|//|/\*|[?']", text):
        return None
    joined = re.sub(r"\b(\d+)[uUlL]+\b", r"\1", " ".join(text.split()))
    return python_expression(re.sub(r"&&|\|\||/", lambda found: C_WORDS[found[0]], joined))


def names_of(expression: ast.expr) -> frozenset[str]:
    """Every name that the expression reads."""
    return frozenset(node.id for node in ast.walk(expression) if isinstance(node, ast.Name))


def is_small(expression: ast.expr) -> bool:
    """Whether it has few enough nodes, and few enough below each other."""
    level: list[ast.AST] = [expression]
    depth = nodes = 0
    while level:
        depth, nodes = depth + 1, nodes + len(level)
        if depth > MOST_DEPTH or nodes > MOST_NODES:
            return False
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    return True


def resolved(expression: ast.expr | None, by: Mapping[str, ast.expr]) -> ast.expr | None:
    """The expression with what stands for its names; None where one is unknown or it is large."""
    if expression is None or names_of(expression) - set(by):
        return None
    found: ast.expr = _Replacement(by).visit(deepcopy(expression))
    return found if is_small(found) else None


def value_of(text: str, values: Mapping[str, Param]) -> Param | None:
    """What the expression comes to; None where it divides by zero or lacks a name."""
    try:
        return eval(_compiled(text), {"__builtins__": {}}, values)  # type: ignore[no-any-return]
    except (ZeroDivisionError, NameError, TypeError):
        return None


@lru_cache(maxsize=4096)
def _compiled(text: str) -> CodeType:
    expression = python_expression(text)
    if expression is None:
        raise ValueError(f"{text!r} is no arithmetic on names and integers")
    return compile(ast.Expression(expression), "<expression>", "eval")


class _Replacement(ast.NodeTransformer):
    """Puts an expression in the place of each name."""

    def __init__(self, by: Mapping[str, ast.expr]) -> None:
        self.by = by

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.by[node.id]
