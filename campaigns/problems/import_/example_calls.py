"""Example calls of a kernel, read from source: what its arguments are, without running anything.

A call such as `rms_norm(torch.randn(M, 1024, dtype=torch.float16), w, eps=1e-6)` tells dtypes,
shapes and numbers; names are looked up in what is assigned before it.
"""

from __future__ import annotations

import ast
import contextlib
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from campaigns.problems.import_.draft import DTYPES, FLOAT8, Distribution, DraftError
from campaigns.problems.import_.written import Named, WrittenInt, given_text, size_text

LARGEST_SIZE = 1 << 31
OPERATORS: Mapping[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.truediv,
}
SPELLINGS = {"half": "float16", "float": "float32", "double": "float64", "long": "int64"}
CASTS = {**SPELLINGS, "int": "int32", "bfloat16": "bfloat16", "bool": "bool"}
# What a tensor stays the same in, as far as its draw is concerned.
SAME = {"cuda", "cpu", "contiguous", "requires_grad_", "clone", "detach", "to_device"}
FACTORIES = {
    "randn": Distribution.NORMAL,
    "rand": Distribution.UNIFORM,
    "zeros": Distribution.NONE,
    "ones": Distribution.NONE,
    "empty": Distribution.NONE,
    "full": Distribution.NONE,
    "randint": Distribution.INTEGERS,
}
LIKE = "_like"
OTHER_DTYPE = re.compile(r"(float|complex|bits|q?u?int)\d")
ACCEPTED = (
    f"accepted: numbers, texts, None, torch.{', '.join(FACTORIES)} of sizes, torch.tensor and "
    "torch.arange of numbers and sizes, and names that the call assigns before: 'D = 64; f(…)'"
)


@dataclass(frozen=True, slots=True)
class TensorValue:
    """A tensor of an example. names: how the source writes its sizes, "" where in digits.

    named: values of the names in these. source: of a tensor that is the same in each call.
    is_constant: the same number everywhere, as torch.ones gives; is_blank: torch.empty or zeros, of
    which is_empty says which.
    """

    shape: tuple[int, ...]
    dtype: str
    draw: Distribution
    names: tuple[str, ...] = ()
    low: int = 0
    high: int = 2
    scale: float = 1.0
    shift: float = 0.0
    is_constant: bool = False
    is_blank: bool = False
    is_empty: bool = False
    named: Named = ()
    source: str = ""


Value = TensorValue | int | float | bool | str | tuple[Any, ...] | None


Arguments = tuple[list[Value], dict[str, Value]]


class _Unknown(Exception):
    """An expression that is not understood."""


def read_call(text: str, names: Mapping[str, Value] | None = None) -> Arguments:
    """Positional and named arguments of one call in `text`. Raises DraftError."""
    try:
        tree = ast.parse(text.strip())
    except SyntaxError as error:
        raise DraftError("call", f"{text.strip()[:80]!r}: {error.msg}") from None
    scope = dict(names or {})
    for node in tree.body[:-1]:
        _assign(node, scope)
    last = tree.body[-1] if tree.body else None
    value = last.value if isinstance(last, ast.Expr | ast.Assign) else None
    if not isinstance(value, ast.Call):
        raise DraftError("call", f"{text.strip()[:80]!r}: a call with its arguments is needed")
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


def find_calls(tree: ast.Module, name: str) -> Iterator[Arguments]:
    """Every understood call of `name` in a module: at its top level and in its functions."""
    module: dict[str, Value] = {}
    for statement in tree.body:
        _assign(statement, module)
    places: list[tuple[list[ast.stmt], dict[str, Value]]] = [(tree.body, {})]
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name != name:
            places.append((node.body, _defaults(node)))
    for body, own in places:
        yield from _calls_in(body, name, {**module, **own})


def returned_values(tree: ast.Module, name: str) -> list[Value] | None:
    """What a function without arguments returns as a list; None where it is not understood."""
    function = next(
        (n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == name), None
    )
    if function is None:
        return None
    scope: dict[str, Value] = {}
    for statement in (*tree.body, *function.body):
        _assign(statement, scope)
        if isinstance(statement, ast.Return) and isinstance(statement.value, ast.List | ast.Tuple):
            found = [_maybe(node, scope) for node in statement.value.elts]
            return None if None in found else found
    return None


def _calls_in(body: list[ast.stmt], name: str, scope: dict[str, Value]) -> Iterator[Arguments]:
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            continue
        inner = [getattr(statement, field, []) for field in ("body", "orelse", "finalbody")]
        if any(inner):
            for each in inner:
                yield from _calls_in(each, name, scope)
            continue
        for node in ast.walk(statement):
            if isinstance(node, ast.Call) and _last_name(node.func) == name:
                try:
                    yield _arguments(node, scope)
                except DraftError:
                    continue
        _assign(statement, scope)


def _defaults(function: ast.FunctionDef) -> dict[str, Value]:
    listed = [*function.args.posonlyargs, *function.args.args]
    given = function.args.defaults
    pairs = zip(listed[len(listed) - len(given) :], given, strict=True)
    return {a.arg: _maybe(value, {}) for a, value in pairs if _maybe(value, {}) is not None}


def _arguments(call: ast.Call, scope: Mapping[str, Value]) -> Arguments:
    try:
        listed = [_argument(node, scope) for node in call.args]
        named = {k.arg: _argument(k.value, scope) for k in call.keywords if k.arg}
    except _Unknown as unknown:
        raise DraftError("call", f"{unknown} is not understood; {ACCEPTED}") from None
    return listed, named


def _argument(node: ast.expr, scope: Mapping[str, Value]) -> Value:
    """As `_value`; None is an argument that is not given."""
    if isinstance(node, ast.Constant) and node.value is None:
        return None
    value = _value(node, scope)
    if isinstance(value, int) and not isinstance(value, bool):
        return WrittenInt.of(node, value, scope)
    return value


def _assign(statement: ast.stmt, scope: dict[str, Value]) -> None:
    """Note what a statement assigns, where it is understood."""
    if not isinstance(statement, ast.Assign):
        return
    for target in statement.targets:
        if isinstance(target, ast.Name):
            scope.pop(target.id, None)
            if (found := _maybe(statement.value, scope)) is not None:
                scope[target.id] = found
        elif isinstance(target, ast.Tuple) and isinstance(statement.value, ast.Tuple):
            for name, node in zip(target.elts, statement.value.elts, strict=False):
                if isinstance(name, ast.Name) and (found := _maybe(node, scope)) is not None:
                    scope[name.id] = found


def _maybe(node: ast.AST, scope: Mapping[str, Value]) -> Value:
    try:
        return _value(node, scope)
    except _Unknown:
        return None


def _value(node: ast.AST, scope: Mapping[str, Value]) -> Value:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float | bool | str):
        return node.value
    if isinstance(node, ast.Name) and node.id in scope:
        return scope[node.id]
    if kind := _dtype(node if isinstance(node, ast.Attribute) else None, scope):
        return kind
    if isinstance(node, ast.Tuple | ast.List):
        return tuple(_value(item, scope) for item in node.elts)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _value(node.operand, scope)
        if isinstance(value, int | float):
            return -value
    if isinstance(node, ast.BinOp | ast.Call) and (given := _given(node, scope)):
        return given
    if isinstance(node, ast.BinOp):
        return _operation(node, scope)
    if isinstance(node, ast.Call):
        return _call(node, scope)
    raise _Unknown(ast.unparse(node)[:80])


def _given(node: ast.expr, scope: Mapping[str, Value]) -> TensorValue | None:
    """A tensor that is the same in each call: its dtype is the last one that is named in it."""
    source, named = given_text(node, scope)
    if not source:
        return None
    inner = list(ast.walk(node))
    casts = (CASTS.get(_last_name(one.func), "") for one in inner if isinstance(one, ast.Call))
    written = (_dtype(one, scope) for one in inner if isinstance(one, ast.Attribute))
    floats = any(isinstance(one, ast.Constant) and isinstance(one.value, float) for one in inner)
    dtype = next(filter(None, (*casts, *written)), "float32" if floats else "int64")
    return TensorValue((), dtype, Distribution.NONE, named=named, source=source)


def _operation(node: ast.BinOp, scope: Mapping[str, Value]) -> Value:
    left, right = _value(node.left, scope), _value(node.right, scope)
    if isinstance(right, TensorValue) and isinstance(node.op, ast.Add | ast.Mult):
        left, right = right, left
    if isinstance(left, TensorValue) and isinstance(right, int | float):
        if isinstance(node.op, ast.Mult):
            return replace(left, scale=left.scale * right, shift=left.shift * right)
        if isinstance(node.op, ast.Div) and right:
            return replace(left, scale=left.scale / right, shift=left.shift / right)
        if isinstance(node.op, ast.Add | ast.Sub):
            sign = 1 if isinstance(node.op, ast.Add) else -1
            return replace(left, shift=left.shift + sign * right)
    numbers = isinstance(left, int | float) and isinstance(right, int | float)
    if numbers and type(node.op) in OPERATORS and (right or not isinstance(node.op, ast.FloorDiv)):
        try:
            return OPERATORS[type(node.op)](left, right)  # type: ignore[no-any-return]
        except (ArithmeticError, ValueError):
            pass
    raise _Unknown(ast.unparse(node)[:80])


def _call(node: ast.Call, scope: Mapping[str, Value]) -> Value:
    name = _last_name(node.func)
    owner = node.func.value if isinstance(node.func, ast.Attribute) else None
    base = name.removesuffix(LIKE)
    if isinstance(owner, ast.Name) and owner.id == "torch" and base in FACTORIES:
        return _made(node, name, scope)
    if owner is not None and (name in CASTS or name in SAME or name == "to"):
        value = _value(owner, scope)
        if isinstance(value, TensorValue):
            kinds = [
                _dtype(each, scope) for each in (*node.args, *(k.value for k in node.keywords))
            ]
            kind = CASTS.get(name) or next(filter(None, kinds), value.dtype)
            return replace(value, dtype=kind)
    raise _Unknown(ast.unparse(node)[:80])


def _made(node: ast.Call, name: str, scope: Mapping[str, Value]) -> TensorValue:
    """The tensor of a factory of torch."""
    base, like = name.removesuffix(LIKE), name.endswith(LIKE)
    given = {keyword.arg: keyword.value for keyword in node.keywords}
    arguments = list(node.args)
    dtype = _dtype(given.get("dtype"), scope) or ("int64" if base == "randint" else "float32")
    low, high, fill = 0, 2, 1.0 if base == "ones" else 0.0
    if base == "randint" and not like:
        bounds = [_number(each, scope) for each in arguments[:-1]]
        low, high = (0, bounds[0]) if len(bounds) == 1 else (bounds[0], bounds[1])
        arguments = arguments[-1:]
    if base == "full":
        fill = float(_number(arguments.pop(), scope, whole=False))
    shape, names, named = _shape(arguments, like=like, scope=scope)
    if like and "dtype" not in given:
        source = _value(node.args[0], scope)
        dtype = source.dtype if isinstance(source, TensorValue) else dtype
    constant = base in ("zeros", "ones", "full", "empty")
    return TensorValue(
        shape=shape,
        dtype=dtype,
        draw=FACTORIES[base],
        names=names,
        low=low,
        high=high,
        shift=fill if constant else 0.0,
        is_constant=constant,
        is_blank=base in ("empty", "zeros"),
        is_empty=base == "empty",
        named=named,
    )


def _shape(
    arguments: list[ast.expr], *, like: bool, scope: Mapping[str, Value]
) -> tuple[tuple[int, ...], tuple[str, ...], Named]:
    if like:
        source = _value(arguments[0], scope) if arguments else None
        if not isinstance(source, TensorValue):
            raise _Unknown("a shape")
        return source.shape, source.names, source.named
    if len(arguments) == 1 and isinstance(arguments[0], ast.Tuple | ast.List):
        arguments = list(arguments[0].elts)
    if len(arguments) == 1 and isinstance(arguments[0], ast.Name):
        whole = scope.get(arguments[0].id)
        if isinstance(whole, tuple) and all(isinstance(size, int) for size in whole):
            return whole, ("",) * len(whole), ()
    sizes = tuple(_number(each, scope) for each in arguments)
    if any(not 0 < size < LARGEST_SIZE for size in sizes):
        raise _Unknown(f"a shape of {sizes}")
    written = [size_text(each, scope) for each in arguments]
    named = {pair for text, names in written if not text.isidentifier() for pair in names}
    return sizes, tuple(text for text, _ in written), tuple(sorted(named))


def _number(node: ast.expr, scope: Mapping[str, Value], *, whole: bool = True) -> Any:
    value = _value(node, scope)
    if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
        raise _Unknown(ast.unparse(node)[:80])
    return value


def _dtype(node: ast.expr | None, scope: Mapping[str, Value]) -> str:
    """The dtype that `torch.float16`, or a name for it, stands for; "" for anything else."""
    if isinstance(node, ast.Name):
        found = scope.get(node.id)
        return found if isinstance(found, str) and found in (*DTYPES, *FLOAT8) else ""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        name = SPELLINGS.get(node.attr, node.attr)
        if node.value.id == "torch" and name in (*DTYPES, *FLOAT8):
            return name
        if node.value.id == "torch" and OTHER_DTYPE.match(name):
            raise _Unknown(ast.unparse(node))
    return ""


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
