"""Definitions of FlashInfer Trace and SOL-ExecBench: axes, tensors, a reference and workloads.

Schemas: flashinfer-ai/flashinfer-bench (Definition, Workload, Solution) and NVIDIA/SOL-ExecBench,
which also has axes that are expressions of others.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from campaigns.problems.import_.draft import (
    DTYPES,
    FLOATS,
    MOST_CASES,
    NO_KERNEL,
    NO_SIZE,
    Distribution,
    DraftArg,
    DraftError,
    Number,
    ProblemDraft,
    Role,
    case_name,
    slug_of,
)
from campaigns.problems.import_.entries import wrapped
from campaigns.problems.import_.read_sources import PythonEntry, python_entry, reference_code

ENTRY = "run"
LONGEST_TITLE = 200
# How an input of a workload may be made; one from a file (safetensors) is not read.
MADE = ("random", "scalar", "custom")


def read_definition(text: str, workloads: str = "", solution: str = "") -> ProblemDraft:
    """A problem from the JSON of a definition, the JSON lines of its workloads, and a solution.

    Raises DraftError, which names the file's part and what is accepted.
    """
    found = _object("definition", text)
    axes, inputs = _table(found, "axes"), _table(found, "inputs")
    reference = found.get("reference")
    if not isinstance(reference, str):
        raise DraftError("definition", f"reference: Python with {ENTRY}(…) is needed")
    code = reference_code(reference, "reference", ENTRY)
    given = _workloads(workloads)
    scalars = _scalars(inputs, given)
    varied = {name for name, values in scalars.items() if len({*values}) > 1}
    cases = _cases(axes, given, varied)
    args = [_arg(name, each, axes, Role.INPUT) for name, each in inputs.items()]
    values = {name: name if name in varied else each[0] for name, each in scalars.items()}
    args = [replace(a, value=values.get(a.name, a.value)) for a in args]
    outputs = _table(found, "outputs")
    args += [_arg(name, each, axes, Role.OUTPUT) for name, each in outputs.items()]
    named = str(found.get("name", "definition"))
    entry = PythonEntry(ENTRY, tuple(inputs), (), returns=True)
    kernel, assumed = _kernel(solution, reference, entry, args)
    return ProblemDraft(
        name=slug_of(named) or "definition",
        title=named.replace("_", " ")[:LONGEST_TITLE],
        args=tuple(args),
        reference=code,
        cases=cases,
        kernels={"triton": ("v0.py", kernel)},
        summary=str(found.get("description", "")),
        assumed=assumed,
        made_by=_made_by(found, code.text, axes, args),
    )


def _object(field: str, text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise DraftError(field, f"no JSON: {error}") from None
    if not isinstance(found, dict):
        raise DraftError(field, "a JSON object is needed")
    return found


def _table(found: Mapping[str, Any], name: str) -> dict[str, dict[str, Any]]:
    value = found.get(name)
    rows = value.values() if isinstance(value, dict) else ()
    if not value or not isinstance(value, dict) or not all(isinstance(r, dict) for r in rows):
        raise DraftError("definition", f"{name}: an object of objects is needed")
    if bad := next((key for key in value if not key.isidentifier()), None):
        raise DraftError("definition", f"{name}: {bad!r:.60} is no name")
    return value


def _arg(name: str, said: Mapping[str, Any], axes: Mapping[str, Any], role: Role) -> DraftArg:
    dtype, shape = said.get("dtype"), said.get("shape")
    if dtype not in DTYPES:
        raise DraftError("definition", f"{name}: dtype {dtype!r}; accepted: {', '.join(DTYPES)}")
    if shape is None and role is Role.INPUT:
        return DraftArg(name, Role.NUMBER, dtype, value=1.0 if dtype in FLOATS else 1)
    if shape is None:
        shape = []
    if not isinstance(shape, list):
        raise DraftError("definition", f"{name}: shape: a list of axes is needed")
    sizes = tuple(_size(name, axis, axes) for axis in shape)
    draw = Distribution.NORMAL if dtype in FLOATS else Distribution.INTEGERS
    return DraftArg(name, role, dtype, sizes, draw)


def _size(name: str, axis: object, axes: Mapping[str, Any]) -> str | int:
    """An axis as a size: a name, a constant, or an expression of names."""
    if isinstance(axis, int) or (isinstance(axis, str) and axis.isdigit()):
        return int(axis)
    said = axes.get(axis) if isinstance(axis, str) else None
    if said is None:
        raise DraftError("definition", f"{name}: axis {axis!r}; accepted: {', '.join(axes)}")
    kind = said.get("type")
    if kind == "var":
        return str(axis)
    if kind == "const" and isinstance(said.get("value"), int):
        return int(said["value"])
    if kind == "expr" and isinstance(said.get("expression"), str):
        return _expression(str(axis), said["expression"], axes)
    raise DraftError("definition", f"axes: {axis}: type var, const with a value, or expr is needed")


def _expression(axis: str, text: str, axes: Mapping[str, Any]) -> str:
    """Sums and products of axes as source; anything else is refused."""
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError as error:
        raise DraftError("definition", f"axes: {axis}: {error.msg}") from None
    plain = (ast.Expression, ast.BinOp, ast.Constant, ast.Load, ast.operator)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in axes:
            node.id = str(_size(axis, node.id, axes))
        elif not isinstance(node, plain):
            raise DraftError("definition", f"axes: {axis}: {text!r:.60}; accepted: sums, products")
    return f"({ast.unparse(tree)})"


@dataclass(frozen=True, slots=True)
class _Workload:
    """One line of the workloads. line: its number. sizes: axes. inputs: how each is made."""

    line: int
    sizes: Mapping[str, int]
    inputs: Mapping[str, Any]


def _workloads(text: str) -> list[_Workload]:
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        said = _object(f"workloads line {number}", line)
        said = said.get("workload") or said
        axes, inputs = said.get("axes"), said.get("inputs") or {}
        if not isinstance(axes, dict) or not isinstance(inputs, dict):
            raise DraftError("workloads", f"line {number}: axes, inputs: objects are needed")
        sizes = {name: size for name, size in axes.items() if type(size) is int and size > 0}
        found.append(_Workload(number, sizes, inputs))
    return found


def _cases(
    axes: Mapping[str, Any], given: Sequence[_Workload], varied: Collection[str]
) -> dict[str, Mapping[str, Number]]:
    """varied: numbers that differ between workloads, so that they are a case's."""
    names = [name for name, said in axes.items() if said.get("type") == "var"]
    cases: dict[str, Mapping[str, Number]] = {}
    for each in given:
        numbers = {name: each.inputs[name]["value"] for name in varied if name in each.inputs}
        if set(names) <= set(each.sizes) and len(numbers) == len(varied):
            own = {name: each.sizes[name] for name in names} | numbers
            cases[case_name(own.values())] = own or NO_SIZE
    if not cases and not names:
        return {case_name(()): NO_SIZE}
    if not cases:
        raise DraftError("workloads", f"no workload gives {', '.join(names)}; needed: JSON lines")
    return dict(list(cases.items())[:MOST_CASES])


def _scalars(inputs: Mapping[str, Any], given: Sequence[_Workload]) -> dict[str, list[Number]]:
    """The number of each input that is one, in every workload. Raises DraftError."""
    found: dict[str, list[Number]] = {}
    for each in given:
        for name, said in each.inputs.items():
            if name not in inputs:
                continue
            kind = said.get("type") if isinstance(said, dict) else None
            if kind not in MADE:
                raise DraftError(
                    "workloads",
                    f"line {each.line}: {name}: type {kind!r}; accepted: {', '.join(MADE)}",
                )
            if kind == "scalar" and not isinstance(said.get("value"), int | float):
                raise DraftError("workloads", f"line {each.line}: {name}: a number is needed")
            if kind == "scalar":
                found.setdefault(name, []).append(said["value"])
    return found


def _made_by(
    found: Mapping[str, Any], reference: str, axes: Mapping[str, Any], args: Sequence[DraftArg]
) -> str:
    """A call of the reference's own function for inputs, if it has one (SOL-ExecBench)."""
    name = found.get("custom_inputs_entrypoint")
    if name is None:
        return ""
    functions = [n.name for n in ast.parse(reference).body if isinstance(n, ast.FunctionDef)]
    if name not in functions:
        raise DraftError(
            "definition",
            f"custom_inputs_entrypoint: {name!r:.60}; the reference defines: "
            f"{', '.join(functions)}",
        )
    given = [f'"{axis}": {_size(name, axis, axes)}' for axis in axes]
    given += [f'"{arg.name}": {arg.value}' for arg in args if arg.role is Role.NUMBER]
    return f"{name}({{{', '.join(given)}}}, device)"


def _kernel(
    solution: str, reference: str, entry: PythonEntry, args: list[DraftArg]
) -> tuple[str, tuple[str, ...]]:
    """The text of v0, and what was assumed of it."""
    if not solution.strip():
        return wrapped(reference, entry, args), (NO_KERNEL,)
    found = _object("solution", solution)
    spec, sources = found.get("spec") or {}, found.get("sources") or []
    language = spec.get("language")
    if language not in ("triton", "python") or len(sources) != 1:
        raise DraftError(
            "solution",
            f"language {language!r} with {len(sources)} sources; accepted: triton, with one",
        )
    text = str(sources[0].get("content", ""))
    name = str(spec.get("entry_point", ENTRY)).rsplit("::", 1)[-1]
    own = python_entry(text, str(sources[0].get("path", "solution.py")), name)
    return wrapped(text, own, args), ()
