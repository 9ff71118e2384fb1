"""Definitions of FlashInfer Trace and SOL-ExecBench: axes, tensors, a reference and workloads.

Schemas: flashinfer-ai/flashinfer-bench (Definition, Workload, Solution) and NVIDIA/SOL-ExecBench,
which also has axes that are expressions of others.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping
from typing import Any

from campaigns.problems.import_.draft import (
    DTYPES,
    FLOATS,
    MOST_CASES,
    NO_KERNEL,
    DraftArg,
    DraftError,
    Draw,
    ProblemDraft,
    Role,
    slug_of,
)
from campaigns.problems.import_.entries import wrapped
from campaigns.problems.import_.read_sources import PythonEntry, python_entry, reference_code

ENTRY = "run"


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
    args = [_arg(name, each, axes, Role.INPUT) for name, each in inputs.items()]
    outputs = _table(found, "outputs")
    args += [_arg(name, each, axes, Role.OUTPUT) for name, each in outputs.items()]
    named = str(found.get("name", "definition"))
    entry = PythonEntry(ENTRY, tuple(inputs), (), returns=True)
    kernel, assumed = _kernel(solution, reference, entry, args)
    return ProblemDraft(
        name=slug_of(named) or "definition",
        title=named.replace("_", " "),
        args=tuple(args),
        reference=code,
        cases=_cases(axes, workloads),
        kernels={"triton": ("v0.py", kernel)},
        summary=str(found.get("description", "")),
        assumed=assumed,
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
    if not isinstance(shape, list):
        raise DraftError("definition", f"{name}: shape: a list of axes is needed")
    sizes = tuple(_size(name, axis, axes) for axis in shape)
    draw = Draw.NORMAL if dtype in FLOATS else Draw.INTEGERS
    return DraftArg(name, role, dtype, sizes, draw)


def _size(name: str, axis: object, axes: Mapping[str, Any]) -> str | int:
    """An axis as a size: a name, a constant, or an expression of names."""
    if isinstance(axis, int):
        return axis
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


def _cases(axes: Mapping[str, Any], workloads: str) -> dict[str, dict[str, int]]:
    names = [name for name, said in axes.items() if said.get("type") == "var"]
    cases: dict[str, dict[str, int]] = {}
    for sizes in _given_sizes(workloads):
        if set(names) <= set(sizes):
            own = {name: sizes[name] for name in names}
            cases["x".join(map(str, own.values())) or "given"] = own
    if not cases:
        raise DraftError(
            "workloads", f"no workload gives {', '.join(names) or 'a case'}; needed: JSON lines"
        )
    return dict(list(cases.items())[:MOST_CASES])


def _given_sizes(workloads: str) -> Iterator[dict[str, int]]:
    for number, line in enumerate(workloads.splitlines(), 1):
        if not line.strip():
            continue
        said = _object(f"workloads line {number}", line)
        axes = (said.get("workload") or said).get("axes")
        if not isinstance(axes, dict):
            raise DraftError("workloads", f"line {number}: axes: an object is needed")
        yield {name: size for name, size in axes.items() if isinstance(size, int) and size > 0}


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
