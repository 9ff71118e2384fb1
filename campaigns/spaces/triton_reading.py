"""Reads a Triton source: shapes that its numbers give to tensors, launches, and what a tuner lists.

A tuner is `@triton.autotune`; what it chooses from a search can choose instead.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import libcst as cst
import libcst.matchers as m

from campaigns.evaluator.contract import Param
from campaigns.spaces import ladders
from campaigns.syntax.triton_source import Kernel, Launch, Number, Span, TritonSource, code

SHAPED = ("zeros", "full")


@dataclass(frozen=True, slots=True)
class KernelFacts:
    """How tensors of one kernel are sized, as expressions over its parameters.

    extents: the lengths of tensors along one axis. axes: the most axes of a tensor.
    has_dot: whether it multiplies matrices. sums, depth: the two sides of the tile of sums that a
    product in a loop is added to, and the tile of the axis that is summed over, where they can be
    told. is_exact: whether its products are asked for in full single precision, which matrix units
    do not have. asserted: the conditions of `tl.static_assert`.
    """

    extents: tuple[ast.expr, ...]
    axes: int
    has_dot: bool
    is_exact: bool
    sums: tuple[ast.expr, ast.expr] | None
    depth: ast.expr | None
    asserted: tuple[str, ...]

    @property
    def tiles(self) -> frozenset[str]:
        """The parameters that size a tensor."""
        nodes = (node for extent in self.extents for node in ast.walk(extent))
        return frozenset(node.id for node in nodes if isinstance(node, ast.Name))


def kernel_facts(kernel: Kernel) -> KernelFacts:
    """Read one kernel."""
    tree = ast.parse(code(kernel.node))
    ranges = [call.args[1] for call in _calls(tree, "arange") if len(call.args) > 1]
    extents = {ast.unparse(extent): extent for extent in ranges}
    sums = _sums(tree)
    sides = {ast.unparse(side) for side in sums or ()}
    rest = [extent for text, extent in extents.items() if text not in sides]
    return KernelFacts(
        extents=tuple(extents.values()),
        axes=max(map(_axes, ast.walk(tree))),
        has_dot=any(_calls(tree, "dot")),
        is_exact=any(map(_is_exact, _calls(tree, "dot"))),
        sums=sums,
        depth=rest[0] if sums and len(rest) == 1 else None,
        asserted=tuple(ast.unparse(c.args[0]) for c in _calls(tree, "static_assert") if c.args),
    )


def _calls(tree: ast.AST, name: str) -> Iterator[ast.Call]:
    """Calls of `tl.name` or of `name`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _called(node) == name:
            yield node


def _is_exact(call: ast.Call) -> bool:
    given = {word.arg: ast.unparse(word.value) for word in call.keywords}
    return given.get("input_precision") == "'ieee'" or given.get("allow_tf32") == "False"


def _called(call: ast.Call) -> str:
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _axes(node: ast.AST) -> int:
    """The axes of `x[:, None]`; 1 for any other node."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Tuple):
        return 1
    parts = node.slice.elts
    broadcast = any(isinstance(part, ast.Constant) and part.value is None for part in parts)
    return len(parts) if broadcast else 1


def _sums(tree: ast.AST) -> tuple[ast.expr, ast.expr] | None:
    """The shape of the one tile that products are added to in a loop."""
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.For | ast.While)]
    products = [call for loop in loops for call in _calls(loop, "dot")]
    added = {name.id for call in products for name in ast.walk(call) if isinstance(name, ast.Name)}
    added |= {
        node.target.id
        for loop in loops
        for node in ast.walk(loop)
        if isinstance(node, ast.AugAssign)
        and isinstance(node.target, ast.Name)
        and any(_calls(node.value, "dot"))
    }
    shapes = [shape for name, shape in _tiles_of_zeros(tree) if name in added]
    return shapes[0] if len(shapes) == 1 else None


def _tiles_of_zeros(tree: ast.AST) -> Iterator[tuple[str, tuple[ast.expr, ast.expr]]]:
    """Variables that begin as a two-dimensional tile, with its shape."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
            continue
        value = node.value
        if isinstance(value, ast.Call) and _called(value) in SHAPED and value.args:
            shape = value.args[0]
            if isinstance(shape, ast.Tuple | ast.List) and len(shape.elts) == 2:
                yield node.targets[0].id, (shape.elts[0], shape.elts[1])


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


# What a configuration has where it does not say.
DEFAULTS: Mapping[str, Param] = {"num_warps": 4, "num_stages": 3}
# Hooks change arguments before a run, which a fixed launch would lack.
HOOKS = frozenset(("pre_hook", "post_hook", "ir_override"))

Values = Mapping[str, tuple[Param, ...]]


class _NotUnderstood(ValueError):
    """Configurations that are made in a way which is not read."""


@dataclass(frozen=True, slots=True)
class Tuner:
    """The decorator's lines, and for each number the values that it lists, the first one first.

    values is empty where the decorator is not understood: its kernel is best left alone.
    """

    lines: Span
    values: Values


def tuner_of(source: TritonSource, kernel: Kernel) -> Tuner | None:
    """The kernel's tuner; None for a kernel without one."""
    for decorator in kernel.node.decorators:
        call = decorator.decorator
        if isinstance(call, cst.Call) and code(call.func) in ("triton.autotune", "autotune"):
            try:
                values = _listed(source, call)
            except (ValueError, TypeError):
                values = {}
            return Tuner(_whole_lines(source, decorator), values)
    return None


def _whole_lines(source: TritonSource, decorator: cst.Decorator) -> Span:
    raw, span = source.text.encode(), source.spans[decorator]
    return Span(raw.rfind(b"\n", 0, span.start) + 1, raw.index(b"\n", span.end - 1) + 1)


def _listed(source: TritonSource, call: cst.Call) -> Values:
    given = {arg.keyword.value if arg.keyword else "configs": arg.value for arg in call.args}
    if "configs" not in given or HOOKS & set(given):
        raise _NotUnderstood
    configs = list(_configs(source, _parsed(source, given["configs"])))
    names = {name for config in configs for name in config}
    if any(names - set(config) - set(DEFAULTS) for config in configs):
        raise _NotUnderstood
    listed = {name: [config.get(name) or (DEFAULTS[name],) for config in configs] for name in names}
    return {
        name: tuple(dict.fromkeys(value for values in listed[name] for value in values))
        for name in sorted(names)
    }


def _parsed(source: TritonSource, node: cst.CSTNode) -> ast.expr:
    return ast.parse(f"(\n{code(source.resolved(node))}\n)", mode="eval").body


def _configs(source: TritonSource, node: ast.expr) -> Iterator[Values]:
    """For each `Config` that is written down, the values that its numbers take."""
    if isinstance(node, ast.List | ast.Tuple):
        yield from (_config(config, {}) for config in node.elts)
    elif isinstance(node, ast.ListComp):
        yield _config(node.elt, dict(_loops(source, node)))
    else:
        raise _NotUnderstood


def _loops(source: TritonSource, node: ast.ListComp) -> Iterator[tuple[str, tuple[Param, ...]]]:
    """The variables of a comprehension with what they walk through."""
    for loop in node.generators:
        series = loop.iter
        if isinstance(series, ast.Name) and len(source.bindings.get(series.id, ())) == 1:
            series = _parsed(source, source.bindings[series.id][0])
        items = _literal(series)
        if isinstance(loop.target, ast.Name):
            yield loop.target.id, tuple(items)
        elif isinstance(loop.target, ast.Tuple):
            for target, column in zip(loop.target.elts, zip(*items, strict=True), strict=True):
                yield ast.unparse(target), column


def _config(node: ast.expr, bound: Values) -> Values:
    """What one `triton.Config(...)` says, its variables replaced by all that they stand for."""
    if not isinstance(node, ast.Call) or not ast.unparse(node.func).endswith("Config"):
        raise _NotUnderstood
    pairs = [(str(word.arg), word.value) for word in node.keywords if word.arg != "kwargs"]
    meta = [word.value for word in node.keywords if word.arg == "kwargs"] or node.args[:1]
    if not meta or not isinstance(meta[0], ast.Dict) or HOOKS & {name for name, _ in pairs}:
        raise _NotUnderstood
    keys = [str(_param(key)) for key in meta[0].keys]
    pairs += zip(keys, meta[0].values, strict=True)
    return {
        name: bound[value.id]
        if isinstance(value, ast.Name) and value.id in bound
        else (_param(value),)
        for name, value in pairs
    }


def _param(node: ast.expr | None) -> Param:
    value = _literal(node)
    if not isinstance(value, Param):
        raise _NotUnderstood
    return value


def _literal(node: ast.expr | None) -> Any:
    try:
        return ast.literal_eval(node or "")
    except (ValueError, TypeError, SyntaxError):
        raise _NotUnderstood from None
