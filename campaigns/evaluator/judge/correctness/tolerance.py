"""How far each output of a problem may be off, from problem.toml and the output's dtype (R15)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import sqrt

import torch

from campaigns.evaluator.errors import BadReference
from campaigns.evaluator.judge.correctness.output_comparison import Tolerance
from campaigns.evaluator.layout import Layout, TensorArg
from campaigns.evaluator.problem import Bounds, ProblemSpec

# The largest |error| / |answer| that the rounding of an honest kernel explains, with room to spare:
# a kernel that computes in the next lower precision is beyond it, whatever atol would let pass.
NORM = {
    "float64": 1e-9,
    "float32": 1e-4,
    "tfloat32": 2e-3,
    "float16": 2e-3,
    "bfloat16": 1.6e-2,
}
# 25 dB between answer and error, for outputs of 8 bits that need not be exact.
NORM_8_BIT = 10 ** (-25 / 20)
# Outputs of at most FEW elements may be far smaller than usual; how many draws show the usual size.
FEW, DRAWS = 256, 8
INTEGERS = ("int64", "int32", "int16", "int8", "uint8")


def tolerances(spec: ProblemSpec, layout: Layout) -> dict[str, Tolerance]:
    """The tolerance of every output, by name."""
    return {arg.name: _tolerance(spec, arg) for arg in layout.outputs}


def of_usual_size(
    tolerances: Mapping[str, Tolerance],
    layout: Layout,
    draw: Callable[[int], Sequence[Mapping[str, torch.Tensor]]],
) -> dict[str, Tolerance]:
    """The same, where outputs of few elements are compared by the usual size of answers.

    A sum of a million values of either sign is sometimes near zero, and then rounding exceeds any
    share of it. The norm of many elements is never far from its usual value. draw: the reference's
    answers to some fresh inputs.
    """
    few = [arg.name for arg in layout.outputs if arg.count <= FEW]
    few = [name for name in few if not tolerances[name].exact]
    if not few:
        return dict(tolerances)
    answers = draw(DRAWS)
    usual = {name: sqrt(sum(_square(each[name]) for each in answers) / DRAWS) for name in few}
    return {
        name: replace(tolerance, usual=usual.get(name, 0.0))
        for name, tolerance in tolerances.items()
    }


def _square(answer: torch.Tensor) -> float:
    wide = torch.nan_to_num(answer.double(), nan=0.0, posinf=0.0, neginf=0.0)
    return float(wide.square().sum())


def looser(tolerance: Tolerance, error: float) -> Tolerance:
    """The tolerance for unusual inputs: an error of at most `error` is right as well.

    Without the norm, which is meaningful for the declared distribution only.
    """
    if tolerance.exact:
        return tolerance
    return Tolerance(max(tolerance.atol, error), tolerance.rtol)


def _tolerance(spec: ProblemSpec, arg: TensorArg) -> Tolerance:
    own = spec.bounds.get(arg.name)
    if own is not None and own.steps is not None:
        return _in_steps(own, arg)
    if arg.dtype == "bool" or (arg.dtype in INTEGERS and own is None and not _speaks_of(spec)):
        # An index that is off by one is not a rounding error.
        return Tolerance(0.0, 0.0, exact=True)
    atol = _first(own, "atol", spec.atol)
    rtol = _first(own, "rtol", spec.rtol)
    exact = arg.dtype in INTEGERS and atol < 1 and rtol == 0
    declared = own.norm if own is not None else None
    if declared is None and "" in spec.bounds:
        declared = spec.bounds[""].norm
    return Tolerance(atol, rtol, _norm(spec, arg, rtol) if declared is None else declared, exact)


def _in_steps(own: Bounds, arg: TensorArg) -> Tolerance:
    if arg.dtype not in ("int8", "uint8"):
        raise BadReference(
            f"problem.toml: [tolerance.outputs.{arg.name}] steps: {arg.dtype}; accepted: an output "
            "of int8 or uint8"
        )
    return Tolerance(0.0, 0.0, exact=True, steps=own.steps, bits=own.bits)


def _speaks_of(spec: ProblemSpec) -> bool:
    """Whether the tolerance of the problem as a whole is one for integers."""
    return spec.dtype in INTEGERS


def _first(own: Bounds | None, name: str, otherwise: float) -> float:
    found = getattr(own, name) if own is not None else None
    return otherwise if found is None else float(found)


def _norm(spec: ProblemSpec, arg: TensorArg, rtol: float) -> float:
    if arg.dtype in ("int8", "uint8"):
        return max(NORM_8_BIT, rtol)
    known: Mapping[str, float] = NORM
    return max(known.get(arg.dtype, 0.0), known.get(spec.dtype, 0.0), rtol) or float("inf")
