"""What an example call writes with names of sizes is kept as it is written, and moves with them.

`torch.randn(64, 2 * D)` says that one size is twice another, and `torch.arange(3) * N` where parts
begin.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

# Functions of torch that make the same tensor in each call, and what is done with one afterwards.
MAKERS = {"tensor", "arange", "full"}
KEPT = {
    *("to", "int", "long", "float", "half", "cuda", "contiguous", "clone", "cumsum", "flip"),
    *("repeat", "repeat_interleave", "view", "reshape", "expand", "unsqueeze", "stack", "cat"),
}
Named = tuple[tuple[str, int], ...]


class WrittenInt(int):
    """A whole number and the names that it is written with. text: "" for a plain number."""

    text: str = ""
    named: Named = ()

    @classmethod
    def of(cls, node: ast.expr, value: int, scope: Mapping[str, object]) -> WrittenInt:
        made = cls(value)
        made.text, made.named = size_text(node, scope)
        return made


def size_text(node: ast.expr, scope: Mapping[str, object]) -> tuple[str, Named]:
    """The source of a size and the values of its names; ("", ()) where it has none."""
    sizes = dict(_sizes(node, scope))
    inner = (ast.Name, ast.Constant, ast.BinOp, ast.operator, ast.expr_context)
    plain = all(isinstance(one, inner) for one in ast.walk(node))
    names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    if not names or names != set(sizes) or not plain:
        return "", ()
    return ast.unparse(node), tuple(sorted(sizes.items()))


def given_text(node: ast.expr, scope: Mapping[str, object]) -> tuple[str, Named]:
    """The source of a tensor that is the same in each call; ("", ()) for any other expression."""
    calls = [one for one in ast.walk(node) if isinstance(one, ast.Call)]
    made = {_name(one) for one in calls if _is_torch(one)}
    names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)} - {"torch"}
    sizes = dict(_sizes(node, scope))
    known = {_name(one) for one in calls} <= MAKERS | KEPT
    if not made & MAKERS or not known or names != set(sizes) or _is_float_fill(calls):
        return "", ()
    return ast.unparse(node), tuple(sorted(sizes.items()))


def _is_float_fill(calls: list[ast.Call]) -> bool:
    """Whether a tensor of one float is made, which is drawn around it instead."""
    return any(
        isinstance(one, ast.Constant) and isinstance(one.value, float)
        for call in calls
        if _name(call) == "full"
        for one in call.args
    )


def _sizes(node: ast.expr, scope: Mapping[str, object]) -> Iterator[tuple[str, int]]:
    for one in ast.walk(node):
        value = scope.get(one.id) if isinstance(one, ast.Name) else None
        if isinstance(one, ast.Name) and isinstance(value, int) and not isinstance(value, bool):
            yield one.id, int(value)


def _is_torch(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and getattr(call.func.value, "id", "") == "torch"


def _name(call: ast.Call) -> str:
    return str(getattr(call.func, "attr", getattr(call.func, "id", "")))
