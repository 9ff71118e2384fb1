"""Tuning files in the T1 format of Kernel Tuner, KTT and BAT: a CUDA kernel and its knobs.

Schema: odgaard/TuningSchema. It has no right answer, so a reference is given beside it. The kernel
gets a `solve` that launches it; parameters become `#define`, conditions `static_assert`, which the
search reads as knobs and constraints.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from campaigns.evaluator.contract.signature import ELEMENTS
from campaigns.problems.import_.arguments import SIZE_NAMES
from campaigns.problems.import_.c_entry import PlainC
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
from campaigns.spaces.expressions import value_of

SPACE, KERNEL = "ConfigurationSpace", "KernelSpecification"
TYPES = {"float": "float32", "double": "float64", "half": "float16", "int": "int32"}
ROLES = {"ReadOnly": Role.INPUT, "WriteOnly": Role.OUTPUT, "ReadWrite": Role.IN_PLACE}
MOST_VALUES = 4096
SIDES = ("X", "Y", "Z")
OPENCL = "OpenCL"  # where a global size counts threads; else blocks


def is_tuning_file(text: str) -> bool:
    """Whether a JSON is of this format."""
    try:
        found = json.loads(text)
    except ValueError:
        return False
    return isinstance(found, dict) and KERNEL in found


def kernel_file(text: str) -> str:
    """The name of the kernel's file, as the JSON has it. Raises DraftError."""
    return _text(_object(json.loads(text), KERNEL), "KernelFile")


def read_tuning(text: str, kernel: str, reference: tuple[str, str]) -> ProblemDraft:
    """kernel: its source. reference: file name and text. Raises DraftError."""
    found = json.loads(text)
    space, spec = _object(found, SPACE), _object(found, KERNEL)
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
                    "definition", f"Size: {size!r}; accepted: whole numbers, ten at most"
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


def _values(said: Mapping[str, Any]) -> list[int | float | str]:
    """The values of a parameter: a list, a list as text, or `list(range(…))`."""
    given = said.get("Values")
    try:
        node = ast.parse(given.strip(), mode="eval").body if isinstance(given, str) else None
        if node is not None:
            inner = _arguments(node, "list") or [node]
            steps = _arguments(inner[0], "range")
            given = range(*map(_whole, steps)) if steps else ast.literal_eval(inner[0])
    except (SyntaxError, ValueError, TypeError, IndexError):
        given = None
    if not isinstance(given, list | tuple | range) or not 0 < len(given) <= MOST_VALUES:
        raise DraftError(
            "definition", f"Values: {said.get('Values')!r:.60}; accepted: a list, list(range(1, 9))"
        )
    return list(given)


def _whole(node: ast.expr) -> int:
    """The number that an expression of numbers is, such as `1024+1`. Raises ValueError."""
    found = value_of(ast.unparse(node), {})
    if type(found) is not int:
        raise ValueError(ast.unparse(node))
    return found


def _arguments(node: ast.expr, name: str) -> list[ast.expr]:
    """What a call of `name` is given; nothing for anything else."""
    called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    return node.args if called and node.func.id == name else []  # type: ignore[attr-defined]


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
    given = ", ".join(arg.name for arg in args[:own])
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
