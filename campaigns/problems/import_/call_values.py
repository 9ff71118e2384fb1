"""What an expression of an example call stands for: a number, or a tensor and how it is drawn.

Nothing is run. What no table here has is not understood, and is said with its line; a keyword that
would change the tensor is never passed over.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from typing import Any

from campaigns.problems.import_.draft import DTYPES, FLOAT8, FLOATS, Distribution
from campaigns.problems.import_.written import (
    FLOATING,
    KEEPING,
    MAKERS,
    REAL,
    Named,
    TensorValue,
    dtype_of,
    given_text,
    promoted,
    size_text,
)

LARGEST_SIZE = 1 << 31
# Powers of a short text never end.
LARGEST_NUMBER, LARGEST_POWER = 1 << 63, 64
OPERATORS: Mapping[type[ast.AST], tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Add: ("+", operator.add),
    ast.Sub: ("-", operator.sub),
    ast.Mult: ("*", operator.mul),
    ast.FloorDiv: ("//", operator.floordiv),
    ast.Div: ("/", operator.truediv),
    ast.Mod: ("%", operator.mod),
    ast.Pow: ("**", operator.pow),
    ast.LShift: ("<<", operator.lshift),
    ast.Gt: (">", operator.gt),
    ast.GtE: (">=", operator.ge),
    ast.Lt: ("<", operator.lt),
    ast.LtE: ("<=", operator.le),
    ast.Eq: ("==", operator.eq),
    ast.NotEq: ("!=", operator.ne),
}
OF_NUMBERS: Mapping[str, Callable[..., Any]] = {
    **{f"math.{one.__name__}": one for one in (math.sqrt, math.log, math.log2, math.exp)},
    **{one.__name__: one for one in (int, float, min, max)},
    "triton.cdiv": lambda a, b: -(-a // b),
    "triton.next_power_of_2": lambda n: 1 << max(n - 1, 0).bit_length(),
}
CONSTANTS = {"math.pi": math.pi, "math.e": math.e}
FLOAT_SPELLINGS = {"half": "float16", "float": "float32", "double": "float64"}
SPELLINGS = {**FLOAT_SPELLINGS, "long": "int64", "int": "int32", "short": "int16"}
CASTS = {**SPELLINGS, "bfloat16": "bfloat16", "bool": "bool", "char": "int8", "byte": "uint8"}
# Of Python, where torch takes them as dtypes.
BUILT_IN = {"float": "float64", "int": "int64", "bool": "bool"}
# What a tensor stays the same in, as far as its draw is concerned.
SAME = {"cuda", "cpu", "contiguous", "requires_grad_", "clone", "detach", "to_device", "to"}
# How each is drawn, and what it takes by position; low may be left out.
SIZED = {
    "randn": Distribution.NORMAL,
    "rand": Distribution.UNIFORM,
    "zeros": Distribution.NONE,
    "ones": Distribution.NONE,
    "empty": Distribution.NONE,
}
FACTORIES = {
    **{name: (draw, ("size",)) for name, draw in SIZED.items()},
    "full": (Distribution.NONE, ("size", "fill_value")),
    "randint": (Distribution.INTEGERS, ("low", "high", "size")),
    "randperm": (Distribution.PERMUTATION, ("n",)),
    **{f"{name}_like": (draw, ("input",)) for name, draw in SIZED.items()},
    "full_like": (Distribution.NONE, ("input", "fill_value")),
    "randint_like": (Distribution.INTEGERS, ("input", "low", "high")),
}
# Keywords that change neither shape nor values, and the values of others that do not either.
PASSED_OVER = ("device", "generator", "requires_grad", "pin_memory", "copy", "non_blocking")
USUAL = ("None", "torch.strided", "torch.contiguous_format", "torch.preserve_format")
DEVICE = re.compile(r"dev|cuda|gpu|rank", re.IGNORECASE)
ACCEPTED = (
    f"accepted: numbers, texts, None, torch.{', '.join(FACTORIES)} of sizes with dtype=, "
    "torch.tensor and torch.arange of numbers and sizes, arithmetic and comparisons with numbers, "
    f".{', .'.join(sorted(KEEPING | FLOATING))}, and names that the call assigns before: "
    "'D = 64; f(…)'"
)

Value = TensorValue | int | float | bool | str | tuple[Any, ...] | None


class NotUnderstood(Exception):
    """An expression that is not understood. line: where it stands in its text."""

    def __init__(self, node: ast.AST, why: object = "") -> None:
        super().__init__(ast.unparse(node)[:80] + (f" ({why})" if str(why) else ""))
        self.line = getattr(node, "lineno", 1)


# Names before a call, and what each stands for; NotUnderstood where that is not known.
Scope = Mapping[str, Any]


def read_value(node: ast.expr, scope: Scope) -> Value:
    """What an expression stands for. Raises NotUnderstood."""
    try:
        return _value(node, scope)
    except (ValueError, ArithmeticError, TypeError) as error:
        raise NotUnderstood(node, error if type(error) is ValueError else "") from None


def _value(node: ast.expr, scope: Scope) -> Value:
    if isinstance(node, ast.Constant | ast.Name):
        return _plain(node, scope)
    if isinstance(node, ast.Attribute | ast.Subscript):
        return _part(node, scope)
    if isinstance(node, ast.Tuple | ast.List):
        return tuple(read_value(item, scope) for item in node.elts)
    if isinstance(node, ast.BinOp | ast.Call) and (given := _given(node, scope)):
        return given
    if isinstance(node, ast.Call):
        return _call(node, scope)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return _operation(node, ast.Mult, node.operand, ast.Constant(-1), scope)
    if isinstance(node, ast.BinOp):
        return _operation(node, type(node.op), node.left, node.right, scope)
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        return _operation(node, type(node.ops[0]), node.left, node.comparators[0], scope)
    raise NotUnderstood(node)


def _plain(node: ast.Constant | ast.Name, scope: Scope) -> Value:
    found = node.value if isinstance(node, ast.Constant) else scope.get(node.id, node)
    if isinstance(found, NotUnderstood):
        raise found
    if isinstance(found, TensorValue | int | float | str | tuple | None):
        return found
    raise NotUnderstood(node)


def _part(node: ast.Attribute | ast.Subscript, scope: Scope) -> Value:
    """`torch.float16`, `x.shape`, and one number of that or of another tuple."""
    if isinstance(node, ast.Subscript):
        value, place = read_value(node.value, scope), read_value(node.slice, scope)
        if isinstance(value, tuple) and type(place) is int and -len(value) <= place < len(value):
            return value[place]  # type: ignore[no-any-return]
    elif kind := _named_dtype(node, scope):
        return kind
    elif ast.unparse(node) in CONSTANTS:
        return CONSTANTS[ast.unparse(node)]
    elif node.attr == "shape":
        value = read_value(node.value, scope)
        if isinstance(value, TensorValue) and not value.source:
            return value.shape
    raise NotUnderstood(node)


def _given(node: ast.expr, scope: Scope) -> TensorValue | None:
    """A tensor that is the same in each call."""
    plain = _Placed(scope).visit(deepcopy(node))
    source, named = given_text(plain, scope)
    if not source:
        return None
    kind = _given_dtype(plain, scope)
    return TensorValue((), kind, Distribution.NONE, named=named, source=source)


class _Placed(ast.NodeTransformer):
    """Leaves out where calls put a tensor, and writes the dtypes that names stand for."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        node.keywords = [one for one in node.keywords if one.arg not in PASSED_OVER]
        for one in node.keywords:
            if one.arg == "dtype" and isinstance(one.value, ast.Name):
                kind = read_dtype(one.value, self._scope)
                one.value = ast.parse(f"torch.{kind}", mode="eval").body
        return node


def _given_dtype(node: ast.expr, scope: Scope) -> str:
    """The dtype of a tensor that is the same in each call, or that torch gives such a number."""
    if isinstance(node, ast.BinOp):
        kind, other = (_given_dtype(one, scope) for one in (node.left, node.right))
        if isinstance(node.left, ast.Constant | ast.Name):
            kind, other = other, kind
        return promoted(kind, other, is_division=isinstance(node.op, ast.Div))
    if not isinstance(node, ast.Call):
        return dtype_of(read_value(node, scope))
    name, given = _last_name(node.func), {one.arg or "": one.value for one in node.keywords}
    if "dtype" in given:
        return read_dtype(given["dtype"], scope)
    if isinstance(node.func, ast.Attribute) and getattr(node.func.value, "id", "") != "torch":
        owner = _given_dtype(node.func.value, scope)
        if name == "cumsum":
            return owner if owner in FLOATS else "int64"
        return next(filter(None, (_named_dtype(one, scope) for one in node.args)), "") or CASTS.get(
            name, owner
        )
    if name in MAKERS:
        values = [*node.args, *given.values()]
        if name == "full":
            values = [_bound(node, FACTORIES[name][1], given)["fill_value"]]
        kinds = {dtype_of(one) for each in values for one in _flat(read_value(each, scope))}
        return next((kind for kind in ("float32", "int64") if kind in kinds), "bool")
    kinds = {_given_dtype(one, scope) for one in getattr(node.args[0], "elts", ())}
    if len(kinds) == 1:
        return kinds.pop()
    raise NotUnderstood(node)


def _flat(value: Value) -> Iterator[Value]:
    for one in value if isinstance(value, tuple) else (value,):
        yield from _flat(one) if isinstance(one, tuple) else (one,)


def _operation(
    node: ast.expr, kind: type[ast.AST], first: ast.expr, second: ast.expr, scope: Scope
) -> Value:
    left, right = read_value(first, scope), read_value(second, scope)
    if kind not in OPERATORS:
        raise NotUnderstood(node)
    sign, function = OPERATORS[kind]
    if isinstance(left, TensorValue) and isinstance(right, int | float):
        return left.with_number(sign, right, function, is_first=False)
    if isinstance(right, TensorValue) and isinstance(left, int | float):
        return right.with_number(sign, left, function, is_first=True)
    are_numbers = isinstance(left, int | float) and isinstance(right, int | float)
    if are_numbers and (sign not in ("**", "<<") or abs(right) <= LARGEST_POWER):  # type: ignore[arg-type]
        return _small(function(left, right))
    raise NotUnderstood(node)


def _small(found: object) -> int | float:
    if isinstance(found, int | float) and abs(found) < LARGEST_NUMBER:
        return found
    raise ValueError


def _call(node: ast.Call, scope: Scope) -> Value:
    name, whole = _last_name(node.func), ast.unparse(node.func)
    if whole in OF_NUMBERS and not node.keywords:
        numbers = [number for one in node.args for number in _flat(read_value(one, scope))]
        if all(isinstance(one, int | float) for one in numbers):
            return _small(OF_NUMBERS[whole](*numbers))
    if whole == f"torch.{name}" and name in FACTORIES:
        return _made(node, name, scope)
    if isinstance(node.func, ast.Attribute):
        known = name in CASTS or name in SAME or name in KEEPING | FLOATING
        value = read_value(node.func.value, scope) if known else None
        if isinstance(value, TensorValue) and name in KEEPING | FLOATING:
            more = [("", one) for one in node.args] + [
                (f"{k.arg}=", k.value) for k in node.keywords
            ]
            numbers = [read_value(one, scope) for _, one in more]
            given = ", ".join(f"{key[0]}{n!r}" for key, n in zip(more, numbers, strict=True))
            are_whole = all(dtype_of(one) == "int64" for one in numbers)
            return value.elementwise(name, given, are_whole=are_whole)
        if isinstance(value, TensorValue):
            return value.cast(CASTS.get(name) or _kind_of_to(node, value, scope))
    raise NotUnderstood(node)


def _kind_of_to(node: ast.Call, value: TensorValue, scope: Scope) -> str:
    """The dtype after `.to(…)`, `.cuda(…)` and the like. Raises for no dtype and no device."""
    kind = value.dtype
    for name, one in [("", each) for each in node.args] + [(k.arg, k.value) for k in node.keywords]:
        other = scope.get(one.id) if isinstance(one, ast.Name) else None
        if found := other.dtype if isinstance(other, TensorValue) else _named_dtype(one, scope):
            kind = found
        elif name not in PASSED_OVER and not isinstance(one, ast.Constant):
            text = ast.unparse(one)
            if text not in USUAL and not DEVICE.search(text):
                raise NotUnderstood(node, f"{text[:40]}: no known dtype or device")
    return kind


def _made(node: ast.Call, name: str, scope: Scope) -> TensorValue:
    """The tensor of a factory of torch."""
    draw, own = FACTORIES[name]
    base = name.removesuffix("_like")
    given = {one.arg or "": one.value for one in node.keywords}
    said = {key: ast.unparse(one) for key, one in given.items()}
    for key, text in said.items():
        if key not in (*own, "dtype", *PASSED_OVER) and text not in USUAL:
            raise NotUnderstood(node, f"of {key}={text[:40]}")
    arguments = _bound(node, own, given)
    low, high, fill = 0, 2, 1 if base == "ones" else 0
    if "high" in own:
        low = _whole(arguments["low"], scope) if "low" in arguments else 0
        high = _whole(arguments["high"], scope)
    if "fill_value" in own:
        fill = read_value(arguments["fill_value"], scope)  # type: ignore[assignment]
    dtype = "int64" if base in ("randint", "randperm") else "float32"
    dtype = dtype_of(fill) if "fill_value" in own else dtype
    if "input" in own:
        like = read_value(arguments["input"], scope)
        if not isinstance(like, TensorValue) or like.source:
            raise NotUnderstood(node)
        shape, names, named, dtype = like.shape, like.names, like.named, like.dtype
    else:
        is_tuple = len(own) > 1 or "size" in given
        size = arguments.get("size") or ast.Tuple([arguments["n"]], ast.Load())
        shape, names, named = _shape(size, scope, is_tuple=is_tuple)
    if said.get("dtype", "None") != "None":
        dtype = read_dtype(given["dtype"], scope)
    if low >= high or (draw in REAL and dtype not in FLOATS):
        raise NotUnderstood(node, "torch makes none")
    return TensorValue(
        shape=shape,
        dtype=dtype,
        draw=draw,
        names=names,
        low=low,
        high=high,
        fill=float(fill) if draw is Distribution.NONE else None,
        blank=base if base in ("empty", "zeros") else "",
        named=named,
    )


def _bound(
    node: ast.Call, own: tuple[str, ...], given: Mapping[str, ast.expr]
) -> dict[str, ast.expr]:
    """The arguments of a factory by name, each given once. Raises NotUnderstood."""
    named = {name: given[name] for name in own if name in given}
    listed = list(node.args)
    if own == ("size",) and listed and not named:
        several = len(listed) > 1 or isinstance(listed[0], ast.Starred)
        return {"size": ast.Tuple(listed, ast.Load()) if several else listed[0]}
    places = [name for name in own if name not in named]
    if "low" in places and len(listed) < len(places):
        places.remove("low")
    if len(listed) != len(places):
        raise NotUnderstood(node)
    return named | dict(zip(places, listed, strict=True))


def _shape(
    node: ast.expr, scope: Scope, *, is_tuple: bool
) -> tuple[tuple[int, ...], tuple[str, ...], Named]:
    """Sizes, how they are written, and the values of names in that. is_tuple: and no number."""
    value = () if isinstance(node, ast.Tuple | ast.List) else read_value(node, scope)
    listed = node.elts if isinstance(node, ast.Tuple | ast.List) else [node]
    if is_tuple and not isinstance(value, tuple):
        raise NotUnderstood(node, "a tuple of sizes is needed")
    sizes: list[int] = []
    written: list[str] = []
    named: set[tuple[str, int]] = set()
    for one in listed:
        starred = one.value if isinstance(one, ast.Starred) else one
        found = read_value(starred, scope)
        text, pairs = size_text(one, scope)
        whole = found if isinstance(found, tuple) and (one is node or starred is not one) else None
        sizes += (found,) if whole is None else whole
        written += [text] if whole is None else [""] * len(whole)
        named |= set() if text.isidentifier() else {*pairs}
    if any(type(one) is not int or not 0 < one < LARGEST_SIZE for one in sizes):
        raise NotUnderstood(node, f"sizes {tuple(sizes)}")
    return tuple(sizes), tuple(written), tuple(sorted(named))


def _whole(node: ast.expr, scope: Scope) -> int:
    value = read_value(node, scope)
    if type(value) is not int:
        raise NotUnderstood(node)
    return value


def read_dtype(node: ast.expr, scope: Scope) -> str:
    """The dtype that a keyword says. Raises NotUnderstood for what is none that is known."""
    if kind := _named_dtype(node, scope):
        return kind
    if isinstance(node, ast.Name) and node.id in BUILT_IN and node.id not in scope:
        return BUILT_IN[node.id]
    raise NotUnderstood(node, "no known dtype")


def _named_dtype(node: ast.expr, scope: Scope) -> str:
    """The dtype of `torch.float16`, `x.dtype` or a name for either; "" for anything else."""
    if isinstance(node, ast.Name):
        found = scope.get(node.id)
        return found if isinstance(found, str) and found in (*DTYPES, *FLOAT8) else ""
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return ""
    if node.value.id == "torch":
        name = SPELLINGS.get(node.attr, node.attr)
        return name if name in (*DTYPES, *FLOAT8) else ""
    owner = scope.get(node.value.id)
    return owner.dtype if node.attr == "dtype" and isinstance(owner, TensorValue) else ""


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
