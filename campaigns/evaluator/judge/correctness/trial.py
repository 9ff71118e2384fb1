"""Calls on inputs that the judge chooses, and what is right on them.

More than one answer may be right. A threshold, a bin or a rounded value can depend on the last bit:
the reference's own answer changes when its inputs are off by rounding, and any answer in between is
right. Indices of equal values may come in any order, on inputs that the judge made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, product
from math import isfinite
from typing import TYPE_CHECKING, Any

import torch

from campaigns.evaluator.contract.errors import BadReference
from campaigns.evaluator.judge.correctness import sets
from campaigns.evaluator.judge.correctness.arena import Slots
from campaigns.evaluator.judge.correctness.case_context import Answers, CaseContext
from campaigns.evaluator.judge.correctness.output_comparison import (
    NONE,
    Others,
    OutputComparison,
    Tolerance,
    as_bytes,
    forgiven,
)
from campaigns.evaluator.judge.correctness.tolerance import looser

if TYPE_CHECKING:
    from campaigns.evaluator.contract.problem import CheckSpec

Inputs = Mapping[str, Any]
# What a set takes, in bytes of a slot: its inputs, the answer in float64, and the same of the
# largest input alone.
SIZE = 5
INDICES = (torch.int64, torch.int32)


@dataclass(frozen=True, slots=True)
class Trial:
    """One call to make. words: added to a message; tell: whether it names place and values.

    drawn: what setup gave and `inputs` were made from, where equal values may be named in any
    order; None where the problem declares the sets. want: the exact answer, where it is known
    already. made: whether these are inputs that setup would hardly draw, on which rounding may go
    further (`allowed_on`); alike: whether the values of a row may be, too.
    """

    inputs: Inputs
    words: str = ""
    drawn: Inputs | None = None
    tell: bool = True
    want: Answers | None = None
    made: bool = False
    alike: bool = False


def sets_as_trials(
    context: CaseContext, check: CheckSpec, inputs: Inputs, *, shuffled: bool = False
) -> Iterator[Trial]:
    """The input sets made from an example, with the answer to each.

    Each is made on demand. A set on which the reference is not finite is left out, and so is an
    undeclared set that the reference refuses; raises BadReference for a declared one.
    """
    outputs = tuple(arg.name for arg in context.layout.outputs)
    if not context.plan.makes_sets(context.layout):
        words = f"case {context.case.name}: too large for input sets, which smaller sizes are given"
        context.reference.note(words)
        return
    found = list(product(check.sets, sets.scopes(inputs, outputs)))
    for name, alone in context.supply.shuffled(found) if shuffled else found:
        made = sets.adversarial(name, inputs, outputs, alone)
        if made is None or not context.reference.allows(made):
            continue
        try:
            exact = context.answer(made, torch.float64)
        except BadReference:
            # The reference may refuse a set that problem.toml does not declare.
            if check.declared:
                raise
            continue
        if not all(map(_finite, exact.values())):
            continue
        where = f" in {alone} alone" if alone else ""
        yield Trial(
            inputs=made,
            words=f" ({sets.WORDS[name]}{where})",
            drawn=None if check.declared else inputs,
            want=exact,
            made=True,
            alike=name == sets.ALIKE,
        )


def look_at(
    context: CaseContext, slots: Slots, k: int, trial: Trial, want: Answers
) -> OutputComparison | None:
    """Compare the answer in slot `k`; None where it is wrong and these inputs say nothing.

    The tolerance of inputs that the judge made takes some runs of the reference. It is never less
    than the problem's own, so it is found only for an answer that is not within that. At last other
    right answers are accepted besides the wanted one.
    """
    found = context.closer_look(slots, want, k)
    if found.ok:
        return found
    allowed = _allowed_on(context, trial, want) if trial.made else context.tolerances
    if allowed is None:
        return None
    found = context.closer_look(slots, want, k, allowed)
    if found.ok:
        return found
    near, drawn = others(context, trial.inputs), trial.drawn

    def forgive(name: str, found: torch.Tensor, want: torch.Tensor) -> torch.Tensor:
        if drawn is not None and found.dtype in INDICES and not torch.equal(found, want):
            found = _in_any_order(context, drawn, trial.inputs, found, want)
        return forgiven(found, want, near.get(name))

    return context.closer_look(slots, want, k, allowed, forgive)


def _allowed_on(
    context: CaseContext, trial: Trial, exact: Answers
) -> Mapping[str, Tolerance] | None:
    """The tolerances on made inputs: what rounding may do there, by the reference's own.

    None where the reference refuses them, or is not finite in its own precision. Raises
    BadReference for a declared set.
    """
    try:
        own = context.answer(trial.inputs, None)
        changes = dict.fromkeys(exact, 0.0)
        for near in sets.rounded(trial.inputs, tuple(exact), alike=trial.alike):
            changed = context.answer(near, torch.float64)
            changes = {n: max(c, _largest_error(changed[n], exact[n])) for n, c in changes.items()}
    except BadReference:
        if trial.drawn is None:
            raise
        return None
    if not all(map(_finite, own.values())):
        return None
    return {
        name: looser(
            tolerance,
            sets.OWN_ERRORS * _largest_error(own[name], exact[name]) + sets.CHANGES * changes[name],
        )
        for name, tolerance in context.tolerances.items()
    }


def _finite(answer: torch.Tensor) -> bool:
    return not answer.is_floating_point() or bool(torch.isfinite(answer).all())


def _largest_error(found: torch.Tensor, exact: torch.Tensor) -> float:
    if not exact.is_floating_point():
        return 0.0
    error = float((found.double() - exact).abs().max())
    return error if isfinite(error) else 0.0


def others(context: CaseContext, inputs: Inputs) -> Others:
    """For every exact output, answers to inputs that are off by what rounding explains.

    Empty where nothing is rounded.
    """
    names = [arg.name for arg in context.layout.outputs if context.tolerances[arg.name].exact]
    floating = any(getattr(torch, arg.dtype).is_floating_point for arg in context.layout.inputs)
    if not (names and floating):
        return NONE
    outputs = tuple(arg.name for arg in context.layout.outputs)
    near = chain(sets.rounded(inputs, outputs), sets.nudged(inputs, outputs))
    try:
        found = [context.answer(inputs, precision) for precision in (None, torch.float64)]
        found += [context.answer(made, torch.float64) for made in near]
    except BadReference:
        return NONE
    return {name: torch.stack([as_bytes(each[name]) for each in found]) for name in names}


def _in_any_order(
    context: CaseContext, drawn: Inputs, made: Inputs, found: torch.Tensor, want: torch.Tensor
) -> torch.Tensor:
    """`found`, with the wanted indices where it names others of equal values of an input.

    drawn: inputs as `setup` gives them; made: those of this call. Only for an output of indices
    into rows of one input; none may be there more often than is wanted.
    """

    def repeats(indices: torch.Tensor) -> torch.Tensor:
        """How many of a row's indices are there a second time."""
        return (indices.sort(dim=1).values.diff(dim=1) == 0).sum(dim=1)

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
        same = equal & (repeats(named) <= repeats(right)).unsqueeze(1)
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


class SharedSets:
    """The unusual inputs of every case, with their answers: made once, for the checks of both arms.

    Finding the tolerance of a set runs the reference several times, which takes longer than the
    calls. So this is done while the compilers run, as far as it gets.
    """

    def __init__(self, check: CheckSpec) -> None:
        self.check = check
        self._made: dict[str, list[Trial]] = {}
        self._rest: dict[str, Iterator[Trial]] = {}
        self._bytes = 0

    def prepare(self, context: CaseContext, is_over: Callable[[], bool]) -> None:
        """Make those of one case ahead, until `is_over`."""
        if not self._keeps(context):
            return
        try:
            for _ in self.of(context):
                if is_over():
                    return
        except BadReference:
            # The check comes upon it again, and says so where it belongs.
            self._rest.pop(context.case.name, None)
            self._made[context.case.name].clear()

    def of(self, context: CaseContext) -> Iterator[Trial]:
        """Sets of one case. Raises BadReference where the reference refuses a declared one."""
        name = context.case.name
        if not self._keeps(context):
            yield from sets_as_trials(context, self.check, context.supply.example())
            return
        made = self._made[name]
        if name not in self._rest:
            self._rest[name] = sets_as_trials(context, self.check, context.supply.example())
        yield from list(made)
        for trial in self._rest[name]:
            made.append(trial)
            yield trial

    def drop(self, case: str) -> None:
        """Give back the memory of a case that is checked."""
        self._made.pop(case, None)
        self._rest.pop(case, None)

    def _keeps(self, context: CaseContext) -> bool:
        """Whether those of this case are kept; room for them is set aside when first asked."""
        if context.case.name in self._made:
            return True
        needed = SIZE * context.layout.stride * len(self.check.sets)
        if self._bytes + needed > context.plan.kept:
            return False
        self._bytes += needed
        self._made[context.case.name] = []
        return True
