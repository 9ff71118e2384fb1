"""A call on inputs of the judge's choosing, and what is right there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from math import isfinite
from typing import Any

import torch

from campaigns.evaluator.errors import BadReference
from campaigns.evaluator.judge.case_context import CaseContext, Forgive
from campaigns.evaluator.judge.correctness import sets
from campaigns.evaluator.judge.correctness.compare import Tolerance
from campaigns.evaluator.judge.correctness.tolerance import looser
from campaigns.evaluator.judge.correctness.undecided import INDICES, forgiven, in_any_order, others
from campaigns.evaluator.problem import CheckSpec

Inputs = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Trial:
    """One call to make. words: added to a message; tell: whether it names place and values.

    allowed: tolerances other than the problem's. drawn: what setup gave and `inputs` were made
    from, where equal values may be named in any order; None where the problem declares the sets.
    """

    inputs: Inputs
    words: str = ""
    allowed: Mapping[str, Tolerance] | None = None
    drawn: Inputs | None = None
    tell: bool = True


def sets_as_trials(
    context: CaseContext, check: CheckSpec, inputs: Inputs, *, shuffled: bool = False
) -> Iterator[Trial]:
    """The input sets made from an example, with the tolerance on each.

    Each is made on demand: finding its tolerance runs the reference several times. A set on which
    the reference is not finite is left out, and so is an undeclared set that the reference refuses;
    raises BadReference for a declared one.
    """
    outputs = tuple(arg.name for arg in context.layout.outputs)
    found = list(product(check.sets, sets.scopes(inputs, outputs)))
    for name, alone in context.supply.shuffled(found) if shuffled else found:
        made = sets.adversarial(name, inputs, outputs, alone)
        if made is None or not context.reference.allows(made):
            continue
        where = f" in {alone} alone" if alone else ""
        drawn = None if check.declared else inputs
        plain = Trial(made, f" ({sets.WORDS[name]}{where})", drawn=drawn)
        trial = _allowing(context, plain, alike=name == sets.ALIKE)
        if trial is not None:
            yield trial


def _allowing(context: CaseContext, trial: Trial, *, alike: bool) -> Trial | None:
    inputs = trial.inputs
    try:
        exact, own = context.answer(inputs, torch.float64), context.answer(inputs, None)
        near = sets.rounded(inputs, tuple(exact), alike=alike)
        changed = [context.answer(one, torch.float64) for one in near]
    except BadReference:
        # A set that problem.toml does not name may be one that the reference refuses.
        if trial.drawn is None:
            raise
        return None
    if not all(_finite(answer) for answer in (*exact.values(), *own.values())):
        return None
    allowed = {
        name: looser(
            tolerance,
            sets.OWN_ERRORS * _largest_error(own[name], exact[name])
            + sets.CHANGES * max(_largest_error(near[name], exact[name]) for near in changed),
        )
        for name, tolerance in context.tolerances.items()
    }
    return replace(trial, allowed=allowed)


def forgiving(context: CaseContext, trial: Trial) -> Forgive:
    """What else than the wanted answer is right on these inputs."""
    drawn, inputs = trial.drawn, trial.inputs
    near = others(context, inputs)

    def forgive(name: str, found: torch.Tensor, want: torch.Tensor) -> torch.Tensor:
        if drawn is not None and found.dtype in INDICES and not torch.equal(found, want):
            found = in_any_order(context, drawn, inputs, found, want)
        return forgiven(found, want, near.get(name))

    return forgive


def _finite(answer: torch.Tensor) -> bool:
    return not answer.is_floating_point() or bool(torch.isfinite(answer).all())


def _largest_error(found: torch.Tensor, exact: torch.Tensor) -> float:
    if not exact.is_floating_point():
        return 0.0
    error = float((found.double() - exact).abs().max())
    return error if isfinite(error) else 0.0
