"""What a problem's author should know, from a few draws of its inputs."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import Any

from campaigns.evaluator.contract import Case
from campaigns.evaluator.contract.layout import Layout, ScalarArg, TensorArg
from campaigns.evaluator.contract.problem_reader import load_problem
from campaigns.evaluator.judge.correctness.tolerance import Draws, tolerances
from campaigns.evaluator.problem_code.code import ProblemCode
from campaigns.evaluator.reference.reference import Example, Reference

SEEDS = (1, 2, 3)
FLOATING = ("float", "bfloat")


def checked(code: ProblemCode, folder: Path, case: Case) -> list[str]:
    """Notes for people. folder: of the problem. Raises BadReference."""
    notes: list[str] = []
    reference = Reference(code, notes.append)
    layout = reference.layout(case, "cpu")
    draws = Draws(layout, tolerances(load_problem(folder), layout))
    for seed in SEEDS:
        example = reference.example(case, seed, "cpu")
        given = {arg.name: example.inputs[arg.name].clone() for arg in layout.given}
        draws.see(given, reference.one(example.inputs, example.outputs))
    return [*notes, *draws.notes()]


def described(code: ProblemCode, case: Case) -> dict[str, Any]:
    """As a page shows it. Raises BadReference."""
    reference = Reference(code)
    example = reference.example(case, seed=0, device="cpu")
    layout = reference.layout(case, "cpu", example=example)
    answers = reference.one(example.inputs, example.outputs)
    arguments = [_argument(arg) for arg in layout.args]
    for arg in (one for one in arguments if one["name"] in answers):
        size = answers[arg["name"]].double().square().mean().sqrt().item()
        arg["typical"] = size if isfinite(size) else 0.0
    operations, moved = _work(code, case, layout, example)
    work = {"operations": operations, "bytes": moved, "counted": not code.has_work}
    return {"case": case.name, "arguments": arguments, "work": work}


def _argument(arg: TensorArg | ScalarArg) -> dict[str, Any]:
    if isinstance(arg, ScalarArg):
        return {"name": arg.name, "role": "number", "value": arg.value}
    role = "input" if not arg.output else "output, updated in place" if arg.update else "output"
    return {"name": arg.name, "role": role, "dtype": arg.dtype, "shape": list(arg.shape)}


def works_of(code: ProblemCode, cases: Sequence[Case]) -> dict[str, tuple[float, float]]:
    """(operations, bytes) at the least by case. Raises BadReference."""
    reference, found = Reference(code), dict[str, tuple[float, float]]()
    for case in cases:
        # `setup` keeps its contract for all cases or for none; one is enough, and quick.
        if not (code.has_work and found):
            example = reference.example(case, seed=0, device="cpu")
            layout = reference.layout(case, "cpu", example=example)
        found[case.name] = _work(code, case, layout, example)
    return found


def _work(code: ProblemCode, case: Case, layout: Layout, example: Example) -> tuple[float, float]:
    """(operations, bytes) at the least. Raises BadReference."""
    if code.has_work:
        return code.work(case.name, case.params)
    updates = [arg.name for arg in layout.outputs if arg.update]
    before = {name: example.inputs[name].clone() for name in updates}
    operations = _operations(code, example)
    changed = sum(
        int((example.inputs[name] != old).sum()) * old.itemsize for name, old in before.items()
    )
    return operations, float(least_bytes(layout) + changed)


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


def _operations(code: ProblemCode, example: Example) -> float:
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter, _elementwise_counter()() as elements:
        code.expected(example.inputs)
    return float(counter.get_total_flops() + elements.total)


def _elementwise_counter() -> type:
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    class ElementwiseCounter(TorchDispatchMode):  # type: ignore[misc]  # torch types it as Any
        """Counts one operation per output element of every operator that is not a matrix one."""

        def __init__(self) -> None:
            super().__init__()
            self.total = 0

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None):  # type: ignore[no-untyped-def]
            result = func(*args, **(kwargs or {}))
            name = str(func)
            moves = ("copy", "view", "empty", "clone", "expand", "slice", "select", "mm", "conv")
            if isinstance(result, torch.Tensor) and not any(move in name for move in moves):
                reads = [a.numel() for a in args if isinstance(a, torch.Tensor)]
                self.total += max([result.numel(), *reads])
            return result

    return ElementwiseCounter
