"""How far the answers of a kernel are from the reference, on the small cases of interpreters."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch

from campaigns.evaluator.contract.problem import ProblemSpec
from campaigns.evaluator.judge.correctness.output_comparison import compare
from campaigns.evaluator.judge.correctness.tolerance import tolerances
from campaigns.evaluator.problem_code.code import ProblemCode
from campaigns.evaluator.reference.reference import Reference, is_tensor
from campaigns.problems.shipped import shipped_problems

SEED = 1
POISON = 0x5A

Run = Callable[..., Any]


def worst_margin(spec: ProblemSpec, run_kernel: Run) -> float:
    """The largest error as a share of its tolerance, in outputs that held other values before."""
    reference = Reference(ProblemCode(spec.folder))
    margins = []
    for case in spec.cases_of("triton", "cpu"):
        example = reference.example(case.case, SEED, "cpu")
        right = reference.one(example.inputs, example.outputs)
        given = {n: v.clone() if is_tensor(v) else v for n, v in example.inputs.items()}
        layout = reference.layout(case.case, "cpu", example=example)
        for arg in layout.outputs:
            if not arg.update:
                given[arg.name].view(torch.uint8).fill_(POISON)
        run_kernel(**given)
        allowed = tolerances(spec, layout)
        margins += [compare(given[n], right[n], allowed[n]).margin for n in example.outputs]
    return max(margins)


def named_files(backend: str) -> dict[Path, ProblemSpec]:
    """The shipped kernels, or those of the folder that is named on the command line.

    Files of a folder are called `<problem>.<anything>` and the ending of the backend.
    """
    known = {spec.name: spec for spec in shipped_problems() if backend in spec.files}
    shipped = {spec.folder / spec.files[backend]: spec for spec in known.values()}
    if not sys.argv[1:]:
        return shipped
    ending = next(path.suffix for path in shipped)
    found = sorted(Path(sys.argv[1]).glob(f"*{ending}"))
    return {path: known[path.name.partition(".")[0]] for path in found}


def print_margins(files: Mapping[Path, ProblemSpec], load: Callable[[Path], Run]) -> None:
    """Print {file, or problem: margin} as JSON. load: makes what is called with a case's inputs."""
    margins = {
        path.stem if sys.argv[1:] else spec.name: worst_margin(spec, load(path))
        for path, spec in files.items()
    }
    print(json.dumps(margins))
