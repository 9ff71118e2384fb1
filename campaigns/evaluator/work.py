"""Least work of a problem's cases, printed as JSON: `python -m campaigns.evaluator.work FOLDER`.

Reads cases as JSON on standard input. Without a `work` function in `ref.py`, bytes are every input
read once and every output written once, and operations are counted while the reference runs.
Exit 1 with one line on stderr when the problem's code does not keep its contract.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from campaigns.evaluator.contract import Case
from campaigns.evaluator.errors import BadReference
from campaigns.evaluator.judge.reference import Reference
from campaigns.evaluator.layout import Layout


def main(folder: Path, wanted: list[Mapping[str, Any]]) -> int:
    try:
        reference = Reference(folder)
        cases = [Case(item["name"], item["params"]) for item in wanted]
        # `setup` keeps its contract for all cases or for none; one is enough, and quick.
        reference.layout(cases[0], "cpu")
        found = {c.name: reference.work(c) or _counted(reference, c) for c in cases}
    except BadReference as error:
        print(error.reason, file=sys.stderr)
        return 1
    print(json.dumps(found))
    return 0


def _counted(reference: Reference, case: Case) -> tuple[float, float]:
    layout = reference.layout(case, "cpu")
    return _operations(reference, case, layout), sum(arg.nbytes for arg in layout.tensors)


def _operations(reference: Reference, case: Case, layout: Layout) -> float:
    from torch.utils.flop_counter import FlopCounterMode

    example = reference.example(case, seed=0, device="cpu")
    with FlopCounterMode(display=False) as counter, _elementwise_counter()() as elements:
        reference.expected(example.inputs, example.outputs)
    return float(counter.get_total_flops() + elements.total)


def _elementwise_counter() -> type:
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    class Counter(TorchDispatchMode):  # type: ignore[misc]  # torch types it as Any
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

    return Counter


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), json.load(sys.stdin)))
