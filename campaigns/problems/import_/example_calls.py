"""Example calls of a kernel, read from source: what its arguments are, without running anything.

A call such as `rms_norm(torch.randn(M, 1024, dtype=torch.float16), w, eps=1e-6)` tells dtypes,
shapes and numbers; names are looked up in what is assigned before it.

Where there is none, one is proposed from what a source says of its own arguments: shapes stand in
annotations (`Float[Tensor, "N D"]`, `"f16[N, D]"`), in the docstring or a comment beside an
argument (`x: (N, D)`), or are unpacked (`N, D = x.shape`). Where one tensor's shape is not told,
there is no proposal: a person knows it, and a guess would be measured.
"""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from campaigns.problems.import_.draft import CallNeeded, DraftError
from campaigns.problems.import_.written import TensorValue, WrittenInt

Arguments = tuple[list[Value], dict[str, Value]]
NAMES = r"(?:[A-Za-z_]\w*|\d+)"
SHAPE = re.compile(rf"[\[(]\s*({NAMES}(?:\s*(?:,|×|\bx\b)\s*{NAMES})*)\s*,?\s*[\])]")
# Words in brackets that are no side of a tensor.
NO_SIDE = re.compile(r"tensor|torch|optional|float|int|bool|str|none|fp\d|bf\d|default", re.I)
DTYPES = {
    "float16": r"f16|fp16|float16|half",
    "bfloat16": r"bf16|bfloat16",
    "float64": r"f64|fp64|float64|double",
}
WHOLE = re.compile(r"\b(?:u?int\d*|i32|i64|long|integer)\b", re.IGNORECASE)
# Sizes by what sides are called, and of the others in their order: all different, so that no two
# sides are taken for one.
USUAL = {"b": 8, "batch": 8, "bs": 8, "batch_size": 8, "h": 16, "heads": 16, "num_heads": 16}
OTHERS = (1024, 512, 256, 128, 64, 32, 24, 12)


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


def proposed_call(text: str, name: str) -> str:
    """A call of the function or module `name`, sizes before it; "" where the source does not tell.

    The text is parsed and not run.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return ""
    found = next((n for n in tree.body if getattr(n, "name", "") == name), None)
    shown, function = name, found
    if isinstance(found, ast.ClassDef):
        methods = {n.name: n for n in found.body if isinstance(n, ast.FunctionDef)}
        made = methods.get("__init__")
        if made is not None and len(made.args.args) - 1 > len(made.args.defaults):
            return ""
        shown, function = f"{name}()", methods.get("forward")
    if not isinstance(function, ast.FunctionDef):
        return ""
    return _call(shown, function, text.splitlines()[function.lineno - 1 : function.end_lineno])


def call_needed(shown: str, told: Iterable[tuple[str, str]], refused: Sequence[str]) -> CallNeeded:
    """Asks for example calls of `shown`. told: sources, each with the name of its function.

    refused: why calls that there are were not understood.
    """
    proposed = next(filter(None, (proposed_call(*each) for each in told)), "")
    usual = f"{shown}(torch.randn(4096, 1024, dtype=torch.float16), …)"
    none = f"no call of {shown} with tensors is in the file"
    needed = f"needed: one such as {proposed or usual}"
    return CallNeeded(f"{refused[0] if refused else none}; {needed}", proposed)


def reference_needed(head: str) -> DraftError:
    """Asks for a reference in one sentence. head: its name and arguments, as a person may write."""
    form = f"a function or nn.Module in torch, such as 'def {head}: return torch.…'"
    return DraftError("reference", f"needed, what gives the right answer: {form}")


def _call(shown: str, function: ast.FunctionDef, lines: list[str]) -> str:
    listed = [*function.args.posonlyargs, *function.args.args]
    listed = listed[: len(listed) - len(function.args.defaults)]
    listed = [each for each in listed if each.arg != "self"]
    shapes = {each.arg: _shape(each, function, lines) for each in listed}
    sides = dict.fromkeys(side for shape in shapes.values() for side in shape)
    sizes = _sizes(side for side in sides if not side.isdigit())
    values = [_value(each, shapes[each.arg], sizes, lines) for each in listed]
    if not sides or not all(values) or len(sizes) > len(OTHERS):
        return ""
    before = f"{', '.join(sizes)} = {', '.join(map(str, sizes.values()))}; " if sizes else ""
    return f"{before}{shown}({', '.join(values)})"


def _sizes(sides: Iterator[str]) -> dict[str, int]:
    others = iter(OTHERS * 2)
    return {side: USUAL.get(side.lower()) or next(others, 1) for side in sides}


def _value(arg: ast.arg, shape: tuple[str, ...], sizes: dict[str, int], lines: list[str]) -> str:
    """An argument as the call has it; "" for what is not told."""
    kind = ast.unparse(arg.annotation) if arg.annotation else ""
    if not shape:
        if arg.arg in sizes:
            return arg.arg
        return "1e-6" if kind == "float" or arg.arg in ("eps", "epsilon") else ""
    written = ", ".join(shape)
    said = " ".join((kind, *_beside(arg.arg, lines)))
    if WHOLE.search(said):
        return f"torch.randint(0, 8, ({written},))"
    dtype = next((n for n, p in DTYPES.items() if re.search(rf"\b({p})\b", said, re.I)), "")
    return f"torch.randn({written}{f', dtype=torch.{dtype}' if dtype else ''})"


def _shape(arg: ast.arg, function: ast.FunctionDef, lines: list[str]) -> tuple[str, ...]:
    """The sides of a tensor, names or numbers; empty where nothing tells them."""
    for node in ast.walk(arg.annotation) if arg.annotation else ():
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found = SHAPE.search(node.value)
            sides = re.split(r"[\s,]+", (found[1] if found else node.value).strip())
            if all(re.fullmatch(NAMES, side) for side in sides) and not NO_SIDE.search(node.value):
                return tuple(sides)
    for text in _beside(arg.arg, lines):
        for found in SHAPE.finditer(text):
            if not NO_SIDE.search(found[1]):
                return tuple(re.split(r"\s*(?:,|×|\bx\b)\s*", found[1]))
    return next(_unpacked(arg.arg, function), ())


def _beside(name: str, lines: list[str]) -> Iterator[str]:
    """What comments and the docstring say behind an argument's name, line by line."""
    for line in lines:
        if found := re.search(rf"\b{re.escape(name)}\b[^#]*#(.*)", line):
            yield found[1]
        elif found := re.match(rf"\s*[-*]?\s*`?{re.escape(name)}`?\s*[:(\[](?!\s*torch)", line):
            yield line[found.end() - 1 :]


def _unpacked(name: str, function: ast.FunctionDef) -> Iterator[tuple[str, ...]]:
    """The names that a statement such as `N, D = x.shape` gives the sides."""
    for node in ast.walk(function):
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Tuple):
            continue
        sides = node.targets[0].elts
        if ast.unparse(node.value) in (f"{name}.shape", f"{name}.size()"):
            names = [each.id for each in sides if isinstance(each, ast.Name)]
            if len(names) == len(sides) and "_" not in names:
                yield tuple(names)
