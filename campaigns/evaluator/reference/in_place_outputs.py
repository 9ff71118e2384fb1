"""Outputs that a reference starts from, found by running it from other contents.

A problem may update its outputs in place (`y += a * x`, one new row of a cache). No declaration is
needed: the answer then depends on what an output held before the call. Such outputs begin every
call with what `setup` gave them; all others begin with poison.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from campaigns.evaluator.contract.errors import BadReference
from campaigns.evaluator.reference.memory import as_integers

# Where a reference varies on the same inputs (atomics, random draws), the effect of other contents
# has to exceed that so many times.
STANDS_OUT = 8.0

Answers = Mapping[str, torch.Tensor]


@dataclass(frozen=True, slots=True)
class InPlaceOutputs:
    """Outputs by what a reference does with them; outputs that it only writes are in neither."""

    updated: frozenset[str]
    unwritten: frozenset[str]


def started_from(
    inputs: Mapping[str, Any],
    usual: Answers,
    run: Callable[[Mapping[str, Any], tuple[str, ...]], Answers],
) -> InPlaceOutputs:
    """Which outputs' first contents matter, and which are left as they were.

    usual: the outputs that these inputs gave. run: the reference, which works on copies of what it
    is given.
    """
    outputs, updated, unwritten = tuple(usual), set(), set()
    noise: dict[str, float] = {}
    for name in outputs:
        changed = _other(inputs[name])
        try:
            after = run({**inputs, name: changed}, outputs)
        except BadReference:
            # It failed with other contents, so it depends on them.
            updated.add(name)
            continue
        pairs = ((after[name], changed), (usual[name], inputs[name]))
        if all(torch.equal(as_integers(one), as_integers(other)) for one, other in pairs):
            unwritten.add(name)
            continue
        apart = _apart(usual, after)
        if any(apart.values()):
            noise = noise or _apart(usual, run(inputs, outputs))
        if any(apart[each] > STANDS_OUT * noise.get(each, 0.0) for each in outputs):
            updated.add(name)
    return InPlaceOutputs(frozenset(updated), frozenset(unwritten))


def is_blank(tensor: torch.Tensor) -> bool:
    """Whether a tensor of a marked example has no contents of its own.

    A candidate never gets such a tensor: it may hold old contents of the judge's memory.
    """
    if tensor.is_floating_point():
        return bool(torch.isnan(tensor).all())
    if tensor.dtype is torch.bool:
        return False
    return bool((tensor == torch.iinfo(tensor.dtype).max).all())


def _other(tensor: torch.Tensor) -> torch.Tensor:
    """Different from `tensor` in every element, and of much the same size."""
    if tensor.dtype is torch.bool:
        return ~tensor
    if not tensor.is_floating_point():
        return tensor ^ 1
    # There is no arithmetic on floats of one byte.
    wide = tensor.float() if tensor.element_size() == 1 else tensor
    return (-torch.nan_to_num(wide, nan=0.0, posinf=0.0, neginf=0.0) - 1).to(tensor.dtype)


def _apart(one: Answers, other: Answers) -> dict[str, float]:
    """The largest difference of two elements; elements with equal bits do not count."""
    found = dict.fromkeys(one, 0.0)
    for name in one:
        differ = as_integers(one[name]) != as_integers(other[name])
        if bool(differ.any()):
            apart = (one[name].double() - other[name].double()).abs()[differ]
            found[name] = float(torch.nan_to_num(apart, nan=torch.inf).max())
    return found
