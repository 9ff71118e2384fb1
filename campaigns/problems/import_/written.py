"""Tensors of an example call: how each call draws them anew, or makes the same, as it is written.

What is written with names of sizes moves with them: `torch.randn(64, 2 * D)` says that one size is
twice another, and `torch.arange(3) * N` where parts begin.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from campaigns.problems.import_.draft import FLOAT8, FLOATS, Distribution

# Functions of torch that make the same tensor in each call, and what is done with one afterwards.
MAKERS = {"tensor", "arange", "full"}
KEPT = {
    *("to", "int", "long", "float", "half", "cuda", "contiguous", "clone", "cumsum", "flip"),
    *("repeat", "repeat_interleave", "view", "reshape", "expand", "unsqueeze", "stack", "cat"),
}
Named = tuple[tuple[str, int], ...]
REAL = (Distribution.NORMAL, Distribution.UNIFORM)
COMPARISONS = {">", ">=", "<", "<=", "==", "!="}
# Functions of each element and of numbers: those that keep the dtype, and those that give floats.
KEEPING = {"abs", "square", "relu", "clamp"}
FLOATING = {"exp", "log", "sqrt", "rsqrt", "sigmoid", "tanh", "softmax"}
WITH_NUMBERS = {"clamp", "softmax"}


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
    # Powers of a size leave any memory soon, where hidden cases change the size.
    steep = (ast.Pow, ast.LShift)
    plain = all(isinstance(one, inner) and not isinstance(one, steep) for one in ast.walk(node))
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
        isinstance(one, ast.Div | ast.Constant) and isinstance(getattr(one, "value", 0.0), float)
        for call in calls
        if _name(call) == "full"
        for one in ast.walk(call)
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


@dataclass(frozen=True, slots=True)
class TensorValue:
    """A tensor of an example. names: how the source writes its sizes, "" where in digits.

    named: values of the names in these. source: of a tensor that is the same in each call.
    fill: of one that is the same number everywhere, as torch.ones gives. blank: "empty" or "zeros".
    after: what is done with what is drawn, as source with {} for it. of: the name that the call
    gives what is drawn. Its methods raise ValueError for what torch has none of.
    """

    shape: tuple[int, ...]
    dtype: str
    draw: Distribution
    names: tuple[str, ...] = ()
    low: int = 0
    high: int = 2
    fill: float | None = None
    blank: str = ""
    named: Named = ()
    source: str = ""
    after: str = ""
    of: str = ""

    def cast(self, kind: str) -> TensorValue:
        """In another dtype; one that rounds counts for what is done with it afterwards."""
        rounds = self.draw in REAL and kind not in (*FLOATS, *FLOAT8)
        if kind != self.dtype and (self.source or self.after or rounds):
            return self._changed(f"{{}}.to(torch.{kind})", kind)
        return replace(self, dtype=kind)

    def with_number(
        self, sign: str, number: float, function: Callable[[Any, Any], Any], *, is_first: bool
    ) -> TensorValue:
        """After an operator with a number, which stands behind it or `is_first`."""
        if sign in COMPARISONS and self.dtype not in FLOAT8:
            kind = "bool"
        else:
            kind = promoted(self.dtype, dtype_of(number), is_division=sign == "/")
            # Integers that torch divides by none, and powers that it has no integers for.
            none = number < 0 if sign in ("**", "<<") else not number and sign in ("//", "%")
            if kind not in FLOATS and none:
                raise ValueError
        if self.fill is not None:
            pair = (number, self.fill) if is_first else (self.fill, number)
            return replace(self, fill=float(function(*pair)), dtype=kind, blank="")
        form = f"({number!r} {sign} {{}})" if is_first else f"({{}} {sign} {number!r})"
        return self._changed(form, kind)

    def elementwise(self, name: str, given: str, *, are_whole: bool) -> TensorValue:
        """After a method of that name. given: its other arguments as source, all numbers."""
        is_float = self.dtype in FLOATS
        kind = self.dtype if name in KEEPING or is_float else "float32"
        no_integers = name == "softmax" or not are_whole
        wrong = (given and name not in WITH_NUMBERS) or (no_integers and not is_float)
        if wrong or self.dtype in ("bool", *FLOAT8) or self.fill is not None:
            raise ValueError(f"of {self.dtype}" if self.fill is None else "of one number")
        return self._changed(f"{{}}.{name}({given})", kind)

    def _changed(self, form: str, dtype: str) -> TensorValue:
        """form: source of what is done, with {} for the tensor."""
        if self.source:
            return replace(self, source=form.replace("{}", f"({self.source})"), dtype=dtype)
        is_drawn_as_it_is = self.draw in REAL or self.dtype == "int64"
        start = "{}" if is_drawn_as_it_is else f"{{}}.to(torch.{self.dtype})"
        after = form.replace("{}", self.after or start)
        return replace(self, after=after, dtype=dtype, blank="")


def dtype_of(number: object) -> str:
    """The dtype that torch gives such a number; ValueError for what is none."""
    if not isinstance(number, int | float):
        raise ValueError
    return "bool" if isinstance(number, bool) else "int64" if isinstance(number, int) else "float32"


def promoted(kind: str, other: str, *, is_division: bool) -> str:
    """The dtype of arithmetic of a tensor with a number of the other. Raises ValueError."""
    if {kind, other} & {"bool", *FLOAT8}:
        raise ValueError(f"torch has no such arithmetic of {kind}")
    if kind in FLOATS:
        return kind
    return "float32" if other in FLOATS or is_division else kind
