"""Reads what `@triton.autotune` chooses from, so that a search can choose instead."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import libcst as cst

from campaigns.evaluator.contract import Param
from campaigns.syntax.triton_source import Kernel, Span, TritonSource, code

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
