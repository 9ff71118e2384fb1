"""Example calls of a kernel, read from source: what its arguments are, without running anything.

A call such as `rms_norm(torch.randn(M, 1024, dtype=torch.float16), w, eps=1e-6)` tells dtypes,
shapes and numbers; names are looked up in what is assigned before it.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from campaigns.problems.import_.call_values import (
    ACCEPTED,
    SAME,
    NotUnderstood,
    Scope,
    Value,
    read_value,
)
from campaigns.problems.import_.draft import DraftError
from campaigns.problems.import_.written import TensorValue, WrittenInt

Arguments = tuple[list[Value], dict[str, Value]]


def read_call(text: str, names: Mapping[str, Value] | None = None) -> Arguments:
    """Positional and named arguments of one call in `text`. Raises DraftError."""
    try:
        return _read_call(text.strip(), names or {})
    except (SyntaxError, ValueError, RecursionError) as error:
        if isinstance(error, DraftError):
            raise
        said = getattr(error, "msg", str(error))
        raise DraftError("call", f"{text.strip()[:80]!r}: {said}") from None


def _read_call(text: str, names: Scope) -> Arguments:
    tree = ast.parse(text)
    scope: dict[str, Any] = dict(names)
    for node in tree.body[:-1]:
        _assign(node, scope)
    last = tree.body[-1] if tree.body else None
    value = last.value if isinstance(last, ast.Expr | ast.Assign) else None
    if not isinstance(value, ast.Call):
        raise DraftError("call", f"{text[:80]!r}: a call with its arguments is needed")
    return _arguments(value, scope)


def named_numbers(text: str) -> dict[str, int | float]:
    """The numbers that `text` gives names before its call."""
    scope: dict[str, Value] = {}
    for node in ast.parse(text.strip()).body[:-1]:
        _assign(node, scope)
    return {name: value for name, value in scope.items() if isinstance(value, int | float)}


def called_name(text: str) -> str:
    """The name of what the last statement calls, or constructs before it calls it."""
    with contextlib.suppress(SyntaxError, IndexError, AttributeError):
        node = ast.parse(text.strip()).body[-1].value  # type: ignore[attr-defined]
        while isinstance(node, ast.Call):
            node = node.func
            if isinstance(node, ast.Attribute) and node.attr in ("apply", "backward"):
                node = node.value
        return str(node.attr if isinstance(node, ast.Attribute) else node.id)
    return ""


def find_calls(tree: ast.Module, name: str, refused: list[str]) -> Iterator[Arguments]:
    """Every understood call of `name` in a module: at its top level and in its functions.

    refused: gets what is not understood of the others.
    """
    module: dict[str, Any] = {}
    for statement in tree.body:
        _assign(statement, module)
    places: list[tuple[list[ast.stmt], dict[str, Any]]] = [(tree.body, {})]
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name != name:
            places.append((node.body, _defaults(node)))
    for body, own in places:
        yield from _calls_in(body, name, {**module, **own}, refused)


def returned_values(tree: ast.Module, name: str) -> list[Value] | None:
    """What a function without arguments returns as a list; None where it is not understood."""
    function = next(
        (n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == name), None
    )
    if function is None:
        return None
    scope: dict[str, Any] = {}
    for statement in (*tree.body, *function.body):
        _assign(statement, scope)
        if isinstance(statement, ast.Return) and isinstance(statement.value, ast.List | ast.Tuple):
            with contextlib.suppress(NotUnderstood):
                return [read_value(node, scope) for node in statement.value.elts]
            return None
    return None


def _calls_in(
    body: list[ast.stmt], name: str, scope: dict[str, Any], refused: list[str]
) -> Iterator[Arguments]:
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            continue
        if isinstance(statement, ast.For):
            _spoil(statement.target, scope)
        inner = [getattr(statement, field, []) for field in ("body", "orelse", "finalbody")]
        if any(inner):
            for each in inner:
                yield from _calls_in(each, name, scope, refused)
            continue
        for node in ast.walk(statement):
            if isinstance(node, ast.Call) and _last_name(node.func) == name:
                try:
                    yield _arguments(node, scope)
                except DraftError as error:
                    refused.append(error.message)
        _assign(statement, scope)


def _defaults(function: ast.FunctionDef) -> dict[str, Any]:
    listed = [*function.args.posonlyargs, *function.args.args]
    given = function.args.defaults
    pairs = zip(listed[len(listed) - len(given) :], given, strict=True)
    # Arguments without a default hide what is called so outside.
    return {a.arg: NotUnderstood(a) for a in listed} | {a.arg: _maybe(n, {}) for a, n in pairs}


def _arguments(call: ast.Call, scope: Scope) -> Arguments:
    try:
        listed = [_argument(node, scope) for node in call.args]
        named = {k.arg or "": _argument(k.value, scope) for k in call.keywords}
        if "" in named:
            raise NotUnderstood(call)
    except NotUnderstood as unknown:
        said = f"line {unknown.line}: {unknown} is not understood; {ACCEPTED}"
        raise DraftError("call", said) from None
    return listed, named


def _argument(node: ast.expr, scope: Scope) -> Value:
    value = read_value(node, scope)
    if isinstance(value, int) and not isinstance(value, bool):
        return WrittenInt.of(node, value, scope)
    return value


def _assign(statement: ast.stmt, scope: dict[str, Any]) -> None:
    """Note what a statement assigns; what it changes otherwise is not understood from there on."""
    if isinstance(statement, ast.AnnAssign) and statement.value:
        statement = ast.Assign([statement.target], statement.value)
    if isinstance(statement, ast.Assign):
        for target in statement.targets:
            _assign_one(target, statement.value, scope)
    if isinstance(statement, ast.AugAssign):
        _spoil(statement.target, scope)
    for node in ast.walk(statement) if isinstance(statement, ast.Assign | ast.Expr) else ():
        # In torch a name that ends so changes its tensor in place.
        name = _last_name(node.func) if isinstance(node, ast.Call) else ""
        if name.endswith("_") and name not in SAME:
            _spoil(node, scope)


def _assign_one(target: ast.expr, value: ast.expr, scope: dict[str, Any]) -> None:
    pairs = [(target, value)]
    if isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List):
        pairs = list(zip(target.elts, value.elts, strict=False))
    for one, found in [(one, _maybe(node, scope)) for one, node in pairs]:
        if not isinstance(one, ast.Name):
            _spoil(one, scope)
        elif isinstance(found, TensorValue) and not found.source:
            scope[one.id] = replace(found, of=found.of or one.id)
        else:
            scope[one.id] = found


def _spoil(node: ast.AST, scope: dict[str, Any]) -> None:
    """What it assigns, and every tensor in it, stands for what is not understood."""
    for one in ast.walk(node):
        if isinstance(one, ast.Name):
            is_read = isinstance(one.ctx, ast.Load)
            if not is_read or isinstance(scope.get(one.id), TensorValue):
                scope[one.id] = NotUnderstood(node)


def _maybe(node: ast.expr, scope: Scope) -> Value | NotUnderstood:
    try:
        return read_value(node, scope)
    except NotUnderstood as unknown:
        return unknown


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
