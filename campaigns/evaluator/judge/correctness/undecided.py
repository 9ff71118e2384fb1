"""What an exact output may hold where more than one answer is right.

A threshold, a bin or a rounded value can depend on the last bit: the reference's own answer changes
when its inputs are off by rounding, and any answer in between is right. Indices of equal values may
come in any order, on inputs that the judge made.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from campaigns.evaluator.contract.errors import BadReference
from campaigns.evaluator.judge.correctness import sets
from campaigns.evaluator.judge.correctness.case_context import CaseContext
from campaigns.evaluator.judge.correctness.output_comparison import NONE, Others, as_bytes

Inputs = Mapping[str, Any]
INDICES = (torch.int64, torch.int32)


def others(context: CaseContext, inputs: Inputs) -> Others:
    """For every exact output, answers to inputs that are off by what rounding explains.

    Empty where nothing is rounded.
    """
    names = [arg.name for arg in context.layout.outputs if context.tolerances[arg.name].exact]
    floating = any(getattr(torch, arg.dtype).is_floating_point for arg in context.layout.inputs)
    if not (names and floating):
        return NONE
    outputs = tuple(arg.name for arg in context.layout.outputs)
    near = sets.rounded(inputs, outputs) + sets.nudged(inputs, outputs)
    try:
        found = [context.answer(inputs, precision) for precision in (None, torch.float64)]
        found += [context.answer(made, torch.float64) for made in near]
    except BadReference:
        return NONE
    return {name: torch.stack([as_bytes(each[name]) for each in found]) for name in names}


def in_any_order(
    context: CaseContext, drawn: Inputs, made: Inputs, found: torch.Tensor, want: torch.Tensor
) -> torch.Tensor:
    """`found`, with the wanted indices where it names others of equal values of an input.

    drawn: inputs as `setup` gives them; made: those of this call. Only for an output of indices
    into rows of one input; none may be there more often than is wanted.
    """
    for name, value in made.items():
        if not (isinstance(value, torch.Tensor) and value.is_floating_point() and value.dim()):
            continue
        rows = value.reshape(-1, value.shape[-1])
        if want.shape[: value.dim() - 1] != value.shape[:-1] or not _are_places(want, rows):
            continue
        if not (_are_places(found, rows) and _points_into(context, drawn, name, want.shape)):
            continue
        named, right = (indices.reshape(len(rows), -1).long() for indices in (found, want))
        equal = rows.gather(1, named) == rows.gather(1, right)
        same = equal & (_repeats(named) <= _repeats(right)).unsqueeze(1)
        return torch.where(same, right, named).to(found.dtype).view(found.shape)
    return found


def _are_places(indices: torch.Tensor, rows: torch.Tensor) -> bool:
    return bool(((indices >= 0) & (indices < rows.shape[1])).all())


def _points_into(context: CaseContext, drawn: Inputs, name: str, shape: torch.Size) -> bool:
    """Whether the output of that shape follows the columns of an input when they change places."""
    order = torch.randperm(drawn[name].shape[-1], device=context.device)
    moved = {**drawn, name: drawn[name][..., order].contiguous()}
    try:
        before, after = (context.answer(inputs, torch.float64) for inputs in (drawn, moved))
    except BadReference:
        return False
    return any(
        before[arg.name].dtype in INDICES
        and before[arg.name].shape == shape
        and _are_places(after[arg.name], drawn[name].reshape(-1, drawn[name].shape[-1]))
        and bool(torch.equal(order[after[arg.name].long()], before[arg.name].long()))
        for arg in context.layout.outputs
    )


def _repeats(indices: torch.Tensor) -> torch.Tensor:
    """How many of a row's indices are there a second time."""
    return (indices.sort(dim=1).values.diff(dim=1) == 0).sum(dim=1)
