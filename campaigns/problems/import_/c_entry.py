"""C++ and CUDA files without a `solve`: one is added that calls a function or launches a kernel.

Expressions of numbers and names, as a tuning file has them, are written in C.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Mapping, Sequence

from campaigns.evaluator.contract.errors import BuildFailed
from campaigns.evaluator.contract.signature import ENTRY, INTEGERS, function_names
from campaigns.problems.import_.draft import DraftError
from campaigns.problems.import_.read_sources import PointerArg, solve_parameters
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
LAUNCH = re.compile(r"\s*(\w+)\s*<<<(.+)>>>\s*", re.DOTALL)
KERNEL = "__global__"


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


def with_solve(text: str, file_name: str, wanted: str) -> tuple[str, str]:
    """The source with a `solve` at its end, and the name that it calls; "" where it has its own.

    wanted: a function, or a launch such as `add<<<(n + 255) / 256, 256>>>`; "": the only function
    that `solve` could call. Raises DraftError, which says what to give.
    """
    try:
        found = function_names(text, file_name)
    except BuildFailed as error:
        raise DraftError("kernel", str(error)) from None
    if wanted in ("", ENTRY) and ENTRY in found:
        return text, ""
    launch = LAUNCH.fullmatch(wanted)
    name = launch.group(1) if launch else wanted
    if name and name not in found:
        raise DraftError("entry", f"{name!r}; {file_name} defines: {', '.join(found) or 'none'}")
    callable_ = {each: params for each in found if (params := _plain(text, file_name, each))}
    hosts = [each for each in callable_ if KERNEL not in found[each] and each != "main"]
    if not name:
        name = hosts[0] if len(hosts) == 1 else ""
    if name in callable_ and (launch or KERNEL not in found[name]):
        grid = f"<<<{launch.group(2)}>>>" if launch else ""
        given = ", ".join(_declared(one) for one in callable_[name])
        called = ", ".join(one.name for one in callable_[name])
        solve = f'extern "C" void {ENTRY}({given}) {{\n  {name}{grid}({called});\n}}'
        return f"{text.rstrip()}\n\n{solve}\n", name
    kernels = {each: callable_[each] for each in callable_ if KERNEL in found[each]}
    field = "entry" if hosts or kernels else "kernel"
    raise DraftError(field, _accepted(file_name, hosts, kernels))


def _plain(text: str, file_name: str, name: str) -> list[PointerArg]:
    """The parameters of a function that takes pointers and numbers only, and a pointer at least."""
    try:
        listed = solve_parameters(text, file_name, name)
    except DraftError:
        return []
    return listed if any(one.pointer for one in listed) else []


def _declared(one: PointerArg) -> str:
    if not one.pointer:
        return f"{one.spelt} {one.name}"
    return f"{'' if one.written else 'const '}{one.spelt}* {one.name}"


def _accepted(file_name: str, hosts: Sequence[str], kernels: dict[str, list[PointerArg]]) -> str:
    ways = [", ".join(hosts)] if hosts else []
    for name, listed in kernels.items():
        number = next((one.name for one in listed if one.spelt in INTEGERS), "1024")
        taken = ", ".join(one.name for one in listed)
        launch = f"{name}<<<({number} + 255) / 256, 256>>>"
        ways.append(f'a launch of {name}({taken}), such as "{launch}"')
    accepted = "; or ".join(ways) or f'extern "C" void {ENTRY}(const float* x, float* y, int n)'
    return f'{file_name} defines no extern "C" void {ENTRY}(…); accepted: {accepted}'
