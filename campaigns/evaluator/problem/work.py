"""Least work of a problem's cases.

Without a `work` function in `ref.py`, bytes are every input read once and every output written
once, and operations are counted while the reference runs. Of a tensor that a call need not go
through as a whole less is counted: nothing honest may be impossible.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from campaigns.evaluator.contract import Case
from campaigns.evaluator.judge.correctness.reference import Example, Reference
from campaigns.evaluator.layout import Layout
from campaigns.evaluator.reference.code import ProblemCode

FLOATING = ("float", "bfloat")


def works_of(code: ProblemCode, cases: Sequence[Case]) -> dict[str, tuple[float, float]]:
    """(operations, bytes) at the least by case. Raises BadReference."""
    reference = Reference(code)
    # `setup` keeps its contract for all cases or for none; one is enough, and quick.
    reference.layout(cases[0], "cpu")
    return {case.name: work_of(code, reference, case) for case in cases}


def work_of(code: ProblemCode, reference: Reference, case: Case) -> tuple[float, float]:
    """(operations, bytes) at the least. Raises BadReference."""
    if code.has_work:
        return code.work(case.name, case.params)
    return _counted(code, reference, case)


def _counted(code: ProblemCode, reference: Reference, case: Case) -> tuple[float, float]:
    layout = reference.layout(case, "cpu")
    example = reference.example(case, seed=0, device="cpu")
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
