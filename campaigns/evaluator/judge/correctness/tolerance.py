"""How far each output of a problem may be off, from problem.toml and the output's dtype (R15)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import sqrt
from typing import TYPE_CHECKING, Any

import torch

from campaigns.evaluator.contract.errors import BadReference
from campaigns.evaluator.contract.layout import Layout, TensorArg
from campaigns.evaluator.judge.correctness.arena import same_bits
from campaigns.evaluator.judge.correctness.output_comparison import Tolerance, compare

if TYPE_CHECKING:
    from campaigns.evaluator.contract.problem import ProblemSpec

# The largest |error| / |answer| that the rounding of an honest kernel explains, with room to spare:
# a kernel that computes in the next lower precision is beyond it, whatever atol would let pass.
NORM = {"float64": 1e-9, "float32": 1e-4, "tfloat32": 2e-3, "float16": 2e-3, "bfloat16": 1.6e-2}
# 25 dB between answer and error, for outputs of 8 bits that need not be exact.
NORM_8_BIT = 10 ** (-25 / 20)
# Outputs of at most FEW elements may be far smaller than usual; how many draws show the usual size.
FEW, DRAWS = 256, 8
INTEGERS = ("int64", "int32", "int16", "int8", "uint8")
# At least so many elements of a large tensor are compared from draw to draw.
SAMPLED = 1 << 22
BUILT_IN = "so that a kernel may have it built in"


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
    answers, usual = draw(DRAWS), {}
    for name in few:
        squares = 0.0
        for each in answers:
            wide = torch.nan_to_num(each[name].double(), nan=0.0, posinf=0.0, neginf=0.0)
            squares += float(wide.square().sum())
        usual[name] = sqrt(squares / DRAWS)
    return {
        name: replace(tolerance, usual=usual.get(name, 0.0))
        for name, tolerance in tolerances.items()
    }


def looser(tolerance: Tolerance, error: float) -> Tolerance:
    """The tolerance for unusual inputs: an error of at most `error` is right as well.

    Without the norm, which is meaningful for the declared distribution only.
    """
    if tolerance.exact:
        return tolerance
    return Tolerance(max(tolerance.atol, error), tolerance.rtol)


def _tolerance(spec: ProblemSpec, arg: TensorArg) -> Tolerance:
    own, short = spec.bounds.get(arg.name), arg.dtype in ("int8", "uint8")
    if own is not None and own.steps is not None:
        if not short:
            raise BadReference(
                f"problem.toml: [tolerance.outputs.{arg.name}] steps: {arg.dtype}; accepted: an "
                "output of int8 or uint8"
            )
        return Tolerance(0.0, 0.0, exact=True, steps=own.steps, bits=own.bits)
    # Whether the tolerance of the problem as a whole is one for integers.
    speaks_of = spec.dtype in INTEGERS
    if arg.dtype == "bool" or (arg.dtype in INTEGERS and own is None and not speaks_of):
        # An index that is off by one is not a rounding error.
        return Tolerance(0.0, 0.0, exact=True)
    atol = spec.atol if own is None or own.atol is None else float(own.atol)
    rtol = spec.rtol if own is None or own.rtol is None else float(own.rtol)
    norm = own.norm if own is not None else None
    if norm is None and "" in spec.bounds:
        norm = spec.bounds[""].norm
    if norm is None and short:
        norm = max(NORM_8_BIT, rtol)
    if norm is None:
        norm = max(NORM.get(arg.dtype, 0.0), NORM.get(spec.dtype, 0.0), rtol) or float("inf")
    return Tolerance(atol, rtol, norm, arg.dtype in INTEGERS and atol < 1 and rtol == 0)


class Draws:
    """What is the same in every draw of `setup`, so that a kernel may have it built in.

    Inputs and answers of one case over several seeds are seen; only the last of them is kept.
    """

    def __init__(self, layout: Layout, tolerances: Mapping[str, Tolerance]) -> None:
        given = layout.given
        # Other floating inputs may stay: the input sets find kernels that ignore one.
        self._named = {arg.name for arg in given if arg.update or "float" not in arg.dtype}
        self._given = {arg.name: True for arg in given}
        self._answers = dict.fromkeys(tolerances, True)
        self._tolerances = tolerances
        self._before: tuple[Mapping[str, Any], Mapping[str, torch.Tensor]] | None = None
        self._seen = 0

    def see(self, inputs: Mapping[str, Any], answers: Mapping[str, torch.Tensor]) -> None:
        """Compare a draw with the one before. answers: the right ones."""
        inputs = {name: sampled(inputs[name]) for name in self._given}
        answers = {name: sampled(answers[name]) for name in self._answers}
        if self._before is not None:
            drawn, right = self._before
            for name in _alike(self._given):
                self._given[name] = same_bits(drawn[name], inputs[name])
            for name in _alike(self._answers):
                found, want = answers[name], right[name]
                self._answers[name] = compare(found, want, self._tolerances[name]).ok
        self._before, self._seen = (inputs, answers), self._seen + 1

    @property
    def answer_varies(self) -> bool:
        """Whether any answer did; without two draws nobody knows that none does."""
        return self._seen < 2 or not all(self._answers.values())

    def notes(self) -> list[str]:
        """For the author of the problem; none before there are two draws."""
        if self._seen < 2:
            return []
        given = _alike(self._given)
        if given and given == list(self._given):
            return ["setup gives the same inputs for every seed: draw them from a generator of it"]
        found = []
        if named := [name for name in given if name in self._named]:
            found.append(f"the same in every draw of setup, {BUILT_IN}: {', '.join(named)}")
        if answers := _alike(self._answers):
            found.append(
                "the answer is within its tolerance the same in every draw of setup, "
                f"{BUILT_IN}: {', '.join(answers)}"
            )
        return found


def sampled(tensor: torch.Tensor) -> torch.Tensor:
    """Return what shows whether a tensor is drawn anew: of a large one a copied part."""
    flat = tensor.reshape(-1)
    return flat[:: flat.numel() // SAMPLED].clone() if flat.numel() > SAMPLED else flat


def _alike(names: Mapping[str, bool]) -> list[str]:
    return [name for name, alike in names.items() if alike]
