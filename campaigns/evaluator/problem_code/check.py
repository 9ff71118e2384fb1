"""What a problem's author should know, from a few draws of its inputs."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

import torch

from campaigns.evaluator.contract import Case
from campaigns.evaluator.contract.errors import BadReference
from campaigns.evaluator.contract.layout import Layout, ScalarArg, TensorArg
from campaigns.evaluator.contract.problem_reader import load_problem
from campaigns.evaluator.judge.correctness.tolerance import Draws, sampled, tolerances
from campaigns.evaluator.problem_code.code import ProblemCode
from campaigns.evaluator.problem_code.operations import QuickMode, count_operations
from campaigns.evaluator.reference.reference import Reference

# So many draws of inputs are compared; of large ones, which take seconds, fewer.
DRAWN, LARGE_DRAWN, LARGE_BYTES = 3, 2, 64 << 20
FLOATING = ("float", "bfloat")


def described(code: ProblemCode, folder: Path, case: Case, given: Case) -> dict[str, Any]:
    """Give what a page shows: arguments in `case`, notes for people, the least work of `given`.

    folder: of the problem. The reference is run on `case` alone. Raises BadReference.
    """
    notes: list[str] = []
    reference = Reference(code, notes.append)
    example, answers = first = reference.first(case, "cpu")
    reference.updates(case, "cpu", first)
    layout = reference.layout(case, "cpu", example=example)
    arguments = [_argument(arg) for arg in layout.args]
    for arg in (one for one in arguments if "output" in one["role"]):
        size = sampled(answers[arg["name"]]).double().square().mean().sqrt().item()
        arg["typical"] = size if isfinite(size) else 0.0
    draws = Draws(layout, tolerances(load_problem(folder), layout))
    for seed in range(DRAWN if layout.stride < LARGE_BYTES else LARGE_DRAWN):
        if seed:
            example = reference.example(case, seed, "cpu")
            answers = reference.one(example.inputs, example.outputs)
        draws.see({arg.name: example.inputs[arg.name] for arg in layout.given}, answers)
    work = _work(code, reference, given)._asdict() | {"counted": not code.has_work}
    notes += draws.notes()
    return {"case": given.name, "arguments": arguments, "work": work, "notes": notes}


def _argument(arg: TensorArg | ScalarArg) -> dict[str, Any]:
    if isinstance(arg, ScalarArg):
        return {"name": arg.name, "role": "number", "value": arg.value}
    role = "input" if not arg.output else "output, updated in place" if arg.update else "output"
    return {"name": arg.name, "role": role, "dtype": arg.dtype, "shape": list(arg.shape)}


class LeastWork(NamedTuple):
    """unknown: why nobody knows the operations, and what to do; "" where they are known."""

    operations: float
    bytes: float
    unknown: str = ""


def works_of(
    code: ProblemCode, smallest: Case, cases: Sequence[Case]
) -> dict[str, tuple[float, float]]:
    """(operations, bytes) at the least by case. Raises BadReference.

    smallest: the one on which the reference is run, to see that it keeps its contract.
    """
    reference, found = Reference(code), dict[str, tuple[float, float]]()
    reference.updates(smallest, "cpu")
    for case in cases:
        least = _work(code, reference, case)
        if least.unknown:
            raise BadReference(f"{code.where}: {least.unknown}")
        found[case.name] = least[:2]
    return found


def _work(code: ProblemCode, reference: Reference, case: Case) -> LeastWork:
    """The least work of a case, without running it where its tensors need no contents."""
    if code.has_work:
        return LeastWork(*code.work(case.name, case.params))
    if not reference.updates(case, "cpu"):
        with suppress(BadReference), torch.device("meta"), _WithoutContents():
            return _counted(code, reference, case, "meta")
        with suppress(BadReference), _fake():
            return _counted(code, reference, case)
    # It asks for the contents of a tensor, such as a length.
    return _counted(code, reference, case)


class _WithoutContents(QuickMode):
    """Raises NotImplementedError at the first tensor with contents: working on it takes long."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor) and not result.is_meta:
            raise NotImplementedError(f"{func}: made a tensor with contents")
        return result


class _Generator(torch.Generator):  # type: ignore[misc]  # torch types it as Any
    """One for tensors without contents too, for which torch has none."""

    def __new__(cls, device: Any = "cpu") -> Any:
        return super().__new__(cls, "cpu" if str(device) == "meta" else device)


# A problem's setup makes its generators by this name.
torch.Generator = _Generator


def _fake() -> Any:
    """Within, tensors of a CPU have no contents; it takes seconds to import."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    return FakeTensorMode(allow_non_fake_inputs=True)


def _counted(code: ProblemCode, reference: Reference, case: Case, device: str = "cpu") -> LeastWork:
    """Count operations and bytes; an output in place has the bytes that change."""
    example = reference.example(case, seed=0, device=device)
    layout = reference.layout(case, "cpu", example=example)
    updates = [arg.name for arg in layout.outputs if arg.update]
    before = {name: example.inputs[name].clone() for name in updates}
    least, operators = count_operations(lambda: code.expected(example.inputs))
    changed = sum(
        int((example.inputs[name] != old).sum()) * old.itemsize for name, old in before.items()
    )
    unknown = operators and (
        f"operations UNKNOWN: torch has no formula for {', '.join(operators)}; accepted: a "
        "function work(**params) in ref.py that returns (operations, bytes)"
    )
    return LeastWork(least, float(least_bytes(layout) + changed), unknown or "")


def least_bytes(layout: Layout) -> int:
    """What has to be read and written, but for outputs in place, of which most may stay as it is.

    Integers among the inputs may choose what is read of the others (rows of a table, offsets), so
    of those counts no more than the largest output takes.
    """
    inputs = layout.inputs
    chosen = any(not arg.dtype.startswith(FLOATING) for arg in inputs)
    most = max(arg.nbytes for arg in layout.outputs)
    written = sum(arg.nbytes for arg in layout.outputs if not arg.update)
    return written + sum(
        min(arg.nbytes, most) if chosen and arg.dtype.startswith(FLOATING) else arg.nbytes
        for arg in inputs
    )
