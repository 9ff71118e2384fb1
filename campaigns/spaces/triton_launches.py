"""Reads what Triton launches are given, and what else of a file belongs to those numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import libcst as cst
import libcst.matchers as m

from campaigns.spaces import ladders
from campaigns.syntax.triton_source import Launch, Number, Span, TritonSource, code

# Keywords of a launch that Triton itself reads.
OPTIONS: Mapping[str, tuple[int, ...]] = {
    "num_warps": ladders.WARPS,
    "num_stages": ladders.STAGES,
    "maxnreg": ladders.REGISTERS,
}


def arguments(source: TritonSource, launch: Launch) -> Iterator[tuple[str, cst.BaseExpression]]:
    """The compile-time arguments and options of a launch that are given one by one."""
    kernel = source.kernels[launch.kernel]
    for at, arg in enumerate(launch.call.args):
        starred = any(before.star for before in launch.call.args[: at + 1])
        if arg.keyword is not None:
            name = arg.keyword.value
        elif not starred and at < len(kernel.parameters):
            name = kernel.parameters[at]
        else:
            continue
        if name in kernel.constexprs or name in OPTIONS:
            yield name, arg.value
    if not any(arg.star for arg in launch.call.args):
        yield from _left_out(source, launch)


def _left_out(source: TritonSource, launch: Launch) -> Iterator[tuple[str, cst.BaseExpression]]:
    """Parameters that a launch leaves at what the kernel's signature says."""
    kernel = source.kernels[launch.kernel]
    decorators = " ".join(code(decorator) for decorator in kernel.node.decorators)
    by_position = len(launch.call.args) - len(launch.keywords)
    for at, parameter in enumerate(kernel.node.params.params):
        name = parameter.name.value
        is_given = at < by_position or name in launch.keywords
        decided = re.search(rf"[\"']{name}[\"']", decorators)
        if name in kernel.constexprs and parameter.default and not is_given and not decided:
            yield name, parameter.default


def repetitions(
    source: TritonSource, launch: Launch, name: str, number: Number
) -> tuple[Span, ...] | None:
    """Where the grid repeats a number, to be written along with it; None if that is not clear.

    Clear is a grid that divides by it in `cdiv`, where no other argument has that value, or where
    each quotient belongs to one of them by name: `cdiv(M, 64)` to BLOCK_M.
    """
    grid = _grid(source, launch)
    same = [n for n in m.findall(grid, m.Integer()) if _value(source, n) == number.value]
    if not same or name in OPTIONS:
        return ()
    divided: dict[cst.CSTNode, str] = {
        call.args[1].value: code(call.args[0].value)
        for call in m.findall(grid, m.Call())
        if isinstance(call, cst.Call) and len(call.args) == 2 and "cdiv" in code(call.func)
    }
    given = [(n, v) for n, v in arguments(source, launch) if n not in OPTIONS]
    alike = [other for other, node in given if _value(source, node) == number.value]
    owners = [
        [n for n in alike if alike == [name] or _axis(n) == _axis(divided[node])]
        if node in divided
        else []
        for node in same
    ]
    if any(len(owner) != 1 for owner in owners):
        return () if number.name else None
    mine = (node for node, owner in zip(same, owners, strict=True) if owner == [name])
    return tuple(source.spans[node] for node in mine)


def module_constant(node: cst.BaseSmallStatement) -> tuple[str, cst.BaseExpression | None]:
    """Name and value of a compile-time constant; None as value for any other statement."""
    if isinstance(node, cst.AnnAssign) and isinstance(node.target, cst.Name):
        if "constexpr" in code(node.annotation.annotation):
            return node.target.value, node.value
    elif isinstance(node, cst.Assign) and isinstance(node.targets[0].target, cst.Name):
        call = node.value
        if isinstance(call, cst.Call) and code(call.func).endswith("constexpr") and call.args:
            return node.targets[0].target.value, call.args[0].value
    return "", None


def assertions(source: TritonSource) -> Iterator[str]:
    """The conditions of `assert` outside kernels."""
    kernels = [kernel.node for kernel in source.kernels.values()]
    inside = {found for node in kernels for found in m.findall(node, m.Assert())}
    for node in m.findall(source.module, m.Assert()):
        if isinstance(node, cst.Assert) and node not in inside:
            yield code(node.test)


def _grid(source: TritonSource, launch: Launch) -> cst.CSTNode:
    index = cst.ensure_type(launch.call.func, cst.Subscript).slice[0].slice
    return source.resolved(index.value if isinstance(index, cst.Index) else index)


def _value(source: TritonSource, node: cst.CSTNode) -> int | None:
    number = source.number(node)
    return number.value if number is not None else None


def _axis(name: str) -> str:
    """The last word of a name: `m` of BLOCK_M, `rows` of n_rows."""
    return name.lower().split("_")[-1]
