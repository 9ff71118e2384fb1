"""Tuning files in the T1 format of Kernel Tuner, KTT and BAT: a CUDA kernel and its knobs.

Schema: odgaard/TuningSchema. It has no right answer, so a reference is given beside it. The kernel
gets a `solve` that launches it; parameters become `#define`, conditions `static_assert`, which the
search reads as knobs and constraints.
"""

from __future__ import annotations

import ast
import contextlib
import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

from campaigns.evaluator.contract.signature import ELEMENTS
from campaigns.problems.import_.call_values import NotUnderstood, read_value
from campaigns.problems.import_.draft import (
    FLOATS,
    INTEGERS,
    Distribution,
    DraftArg,
    DraftError,
    ProblemDraft,
    ReferenceCode,
    Role,
    case_name,
    slug_of,
)
from campaigns.problems.import_.read_sources import reference_code
from campaigns.problems.import_.sizes import SIZE_NAMES
from campaigns.spaces.expressions import python_expression

SPACE, KERNEL = "ConfigurationSpace", "KernelSpecification"
TYPES = {"float": "float32", "double": "float64", "half": "float16", "int": "int32"}
ROLES = {"ReadOnly": Role.INPUT, "WriteOnly": Role.OUTPUT, "ReadWrite": Role.IN_PLACE}
MOST_VALUES = 4096
SIDES = ("X", "Y", "Z")
OPENCL = "OpenCL"  # where a global size counts threads; else blocks
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


def kernel_file(text: str) -> str:
    """The name of the kernel's file, as the JSON has it. Raises DraftError."""
    return _text(_object(json.loads(text), KERNEL), "KernelFile")


def read_tuning(text: str, kernel: str, reference: tuple[str, str]) -> ProblemDraft:
    """kernel: its source. reference: file name and text. Raises DraftError."""
    found = json.loads(text)
    space = _object(found, SPACE)
    known = {_text(one, "Name"): _values(one) for one in _list(space, "TuningParameters")}
    spec = _computed(_object(found, KERNEL), known)
    if spec.get("Language") != "CUDA":
        raise DraftError("definition", f"Language: {spec.get('Language')!r}; accepted: CUDA")
    if not reference[1].strip():
        raise DraftError("reference", "a tuning file has no right answer; needed: --reference")
    listed = _list(spec, "Arguments")
    sizes = _sizes(listed)
    args = [_arg(each, n, sizes) for n, each in enumerate(listed)]
    extra = [name for name in sizes.values() if name not in {a.value for a in args}]
    args += [DraftArg(name, Role.NUMBER, "int32", value=name) for name in extra]
    code = _called(reference_code(reference[1], reference[0]), args)
    name = str(_object(found, "General").get("BenchmarkName", "")) if "General" in found else ""
    name = name or _text(spec, "KernelName")
    knobs, left_out = _knobs(space)
    solve = _solve(spec, args, len(listed), sizes)
    cased = {size: value for value, size in sizes.items()}
    return ProblemDraft(
        name=slug_of(name) or "kernel",
        title=name.replace("_", " ").capitalize()[:200],
        args=tuple(args),
        reference=code,
        cases={case_name(cased.values()): cased},
        kernels={"cuda": ("v0.cu", "\n".join([*knobs, kernel.rstrip("\n"), "", *solve, ""]))},
        assumed=(
            "Vectors are given to the reference flat, as the kernel gets them.",
            "The search tries its own values for a parameter, those that the file lists.",
            *(f"Left out: {words}" for words in left_out),
        ),
    )


def _called(code: ReferenceCode, args: list[DraftArg]) -> ReferenceCode:
    """The reference with its arguments by the kernel's names: the same ones, else in order."""
    inputs = [arg.name for arg in args if arg.role is not Role.OUTPUT]
    needed = code.needed
    if {*needed} <= {arg.name for arg in args}:
        return code
    if len(needed) > len(inputs):
        raise DraftError(
            "reference", f"{code.name} takes {', '.join(needed)}; there are {', '.join(inputs)}"
        )
    return replace(code, takes=tuple(inputs[: len(needed)]), by_name=False)


def _object(found: object, name: str) -> dict[str, Any]:
    value = found.get(name) if isinstance(found, dict) else None
    if not isinstance(value, dict):
        raise DraftError("definition", f"{name}: an object is needed")
    return value


def _list(found: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    value = found.get(name, [])
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        raise DraftError("definition", f"{name}: a list of objects is needed")
    return value


def _text(found: Mapping[str, Any], name: str) -> str:
    value = found.get(name)
    if not isinstance(value, str) or not value:
        raise DraftError("definition", f"{name}: a text is needed")
    return value


def _sizes(listed: list[dict[str, Any]]) -> dict[int, str]:
    """A name for each number of elements that a vector has."""
    names = iter(SIZE_NAMES)
    found: dict[int, str] = {}
    for each in listed:
        if each.get("MemoryType") == "Vector":
            size = each.get("Size")
            if type(size) is not int or size < 1 or (size not in found and len(found) == 10):
                raise DraftError(
                    "definition",
                    f"Size: {size!r:.80}; accepted: whole numbers, ten at most, also as formulas "
                    "of numbers, ProblemSize[0], max(parameter), min(parameter)",
                )
            if size not in found:
                found[size] = next(names)
    if not found:
        raise DraftError("definition", "Arguments: a Vector with a Size is needed")
    return found


def _arg(said: Mapping[str, Any], place: int, sizes: Mapping[int, str]) -> DraftArg:
    name = slug_of(str(said.get("Name", ""))) or f"arg{place}"
    kind = str(said.get("Type"))
    dtype = TYPES.get(kind, kind)
    if dtype not in (*FLOATS, *INTEGERS):
        raise DraftError("definition", f"{name}: Type {kind!r}; accepted: {', '.join(TYPES)}, …")
    memory, access = said.get("MemoryType"), said.get("AccessType", "ReadOnly")
    fill = said.get("FillValue", 0)
    if memory == "Scalar" and isinstance(fill, int | float):
        # A size where the number is one of those, else the number itself.
        value = sizes.get(fill, fill) if isinstance(fill, int) else fill
        return DraftArg(name, Role.NUMBER, dtype, value=value)
    if memory != "Vector" or access not in ROLES:
        raise DraftError(
            "definition",
            f"{name}: {memory!r}, {access!r}; accepted: Scalar with a FillValue, Vector with "
            f"AccessType {', '.join(ROLES)}",
        )
    draw = Distribution.NORMAL if dtype in FLOATS else Distribution.INTEGERS
    return DraftArg(name, ROLES[access], dtype, (sizes[said["Size"]],), draw)


def _knobs(space: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Lines of C for parameters and conditions, and what C has no words for."""
    lines: list[str] = []
    asserted: list[str] = []
    left_out: list[str] = []
    names: list[str] = []
    for each in _list(space, "TuningParameters"):
        name, values = _text(each, "Name"), _values(each)
        if not name.isidentifier():
            raise DraftError("definition", f"TuningParameters: {name!r:.60} is no name")
        names.append(name)
        present = each.get("Default", values[0])
        if present not in values:
            raise DraftError("definition", f"{name}: Default {present!r:.40} is none of its Values")
        lines.append(f"#define {name} {present}")
        if all(type(value) is int for value in values):
            one_of = " || ".join(f"{name} == {value}" for value in values)
            asserted.append(f'static_assert({one_of}, "{name}: a value of the tuning file");')
    for each in [*_list(space, "Conditions"), *_list(space, "Constraints")]:
        text = _text(each, "Expression")
        try:
            asserted.append(f'static_assert({PlainC(names).of(text)}, "a condition of the file");')
        except ValueError as error:
            left_out.append(f"the condition {text!r:.80} ({error})")
    return [*lines, *asserted, ""], left_out


def _values(said: Mapping[str, Any]) -> tuple[Any, ...]:
    """The values of a parameter: a list, or the text of one as Python writes it."""
    given = said.get("Values")
    try:
        text = ast.parse(given.strip(), mode="eval").body if isinstance(given, str) else None
        found = _listed(text) if text is not None else given
    except (SyntaxError, ValueError, TypeError, IndexError, RecursionError, NotUnderstood):
        found = None
    if not isinstance(found, list | tuple) or not 0 < len(found) <= MOST_VALUES:
        raise DraftError(
            "definition",
            f"Values: {given!r:.60}; accepted: a list, list(range(1, 9)), "
            "[2**i for i in range(6)], and sums of these",
        )
    return tuple(found)


def _listed(node: ast.expr) -> tuple[Any, ...]:
    """The values of a list, a range, a comprehension over one, or a sum. Raises NotUnderstood."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return (*_listed(node.left), *_listed(node.right))
    if isinstance(node, ast.ListComp | ast.GeneratorExp) and len(node.generators) == 1:
        each, target = node.generators[0], node.generators[0].target
        scopes = [{getattr(target, "id", ""): one} for one in _listed(each.iter)]
        kept = [one for one in scopes if all(read_value(test, one) for test in each.ifs)]
        return tuple(read_value(node.elt, one) for one in kept)
    if isinstance(node, ast.Call) and ast.unparse(node.func) in ("list", "tuple"):
        return _listed(node.args[0])
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "range":
        steps = range(*[read_value(one, {}) for one in node.args])  # type: ignore[arg-type]
        return tuple(steps[: MOST_VALUES + 1])
    found = read_value(node, {})
    if isinstance(found, tuple):
        return found
    raise NotUnderstood(node)


def _computed(spec: Mapping[str, Any], known: Mapping[str, tuple[Any, ...]]) -> dict[str, Any]:
    """The same with the numbers that formulas come to. known: values of the parameters.

    A formula has numbers, `ProblemSize[0]`, and max or min of the values of a parameter.
    """
    size = spec.get("ProblemSize")
    scope = {**known, "ProblemSize": tuple(size) if isinstance(size, list) else size}
    listed = [
        each | {key: _number_of(each[key], scope) for key in ("Size", "FillValue") if key in each}
        for each in _list(spec, "Arguments")
    ]
    shapes = {
        name: {side: _Known(scope).text(one) for side, one in spec[name].items()}
        for name in ("GlobalSize", "LocalSize")
        if isinstance(spec.get(name), dict)
    }
    return {**spec, **shapes, "Arguments": listed}


def _number_of(said: object, scope: Mapping[str, Any]) -> object:
    """The number that a formula comes to; what is none stays."""
    with contextlib.suppress(SyntaxError, ValueError, RecursionError, NotUnderstood):
        if isinstance(said, str):
            found = read_value(ast.parse(said.strip(), mode="eval").body, scope)
            return found if isinstance(found, int | float) else said
    return said


class _Known(ast.NodeTransformer):
    """Writes the numbers that `ProblemSize[0]` and max or min of a parameter come to."""

    def __init__(self, scope: Mapping[str, Any]) -> None:
        self._scope = scope

    def text(self, said: object) -> object:
        """The formula with these numbers; what is no formula stays."""
        with contextlib.suppress(SyntaxError, ValueError, RecursionError):
            if isinstance(said, str):
                return ast.unparse(self.visit(ast.parse(said.strip(), mode="eval")))
        return said

    def visit_Name(self, node: ast.expr) -> ast.expr:
        said = ast.unparse(node)
        with contextlib.suppress(NotUnderstood):
            if re.match(r"(ProblemSize|max|min)\b", said):
                return ast.Constant(read_value(node, self._scope))  # type: ignore[arg-type]
        return self.generic_visit(node)  # type: ignore[return-value]

    visit_Call = visit_Subscript = visit_Name


def _solve(
    spec: Mapping[str, Any], args: list[DraftArg], own: int, sizes: Mapping[int, str]
) -> Iterator[str]:
    """The function that the judge calls; the first `own` arguments are the kernel's."""
    local, blocks = _object(spec, "LocalSize"), _object(spec, "GlobalSize")
    called = {arg.value: arg.name for arg in reversed(args) if arg.role is Role.NUMBER}
    plain = PlainC(None, {value: called[size] for value, size in sizes.items()})
    try:
        sides = [plain.of(str(local.get(side, 1))) for side in SIDES]
        counts = [plain.of(str(blocks.get(side, 1))) for side in SIDES]
        shared = plain.of(str(spec.get("SharedMemory", 0)))
    except ValueError as error:
        raise DraftError("definition", f"GlobalSize, LocalSize: {error}") from None
    if spec.get("GlobalSizeType", "CUDA") == OPENCL:
        counts = [f"(({n}) + ({s}) - 1) / ({s})" for n, s in zip(counts, sides, strict=True)]
    listed = ", ".join(map(_parameter, args))
    yield f'extern "C" void solve({listed}) {{'
    yield f"  dim3 blocks({', '.join(counts)}), threads({', '.join(sides)});"
    given = ", ".join(map(_handed, args[:own]))
    name = _text(spec, "KernelName")
    if not name.isidentifier():
        raise DraftError("definition", f"KernelName: {name!r:.60} is no name")
    yield f"  {name}<<<blocks, threads, {shared}>>>({given});"
    yield "}"


def _parameter(arg: DraftArg) -> str:
    kind = ELEMENTS[arg.dtype][0]
    if arg.role is Role.NUMBER:
        return f"{kind} {arg.name}"
    return f"{'const ' if arg.role is Role.INPUT else ''}{kind}* {arg.name}"


def _handed(arg: DraftArg) -> str:
    """The argument as the kernel takes it: many leave `const` out where they only read."""
    if arg.role is not Role.INPUT:
        return arg.name
    return f"const_cast<{ELEMENTS[arg.dtype][0]}*>({arg.name})"
