"""What the checks and bursts of one case share, and how their answers are compared."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from campaigns.evaluator.contract import Case
from campaigns.evaluator.contract.errors import BadReference
from campaigns.evaluator.contract.layout import Layout, TensorArg
from campaigns.evaluator.contract.memory_plan import MemoryPlan
from campaigns.evaluator.judge.correctness.arena import Gather, Slots, copy_of
from campaigns.evaluator.judge.correctness.fresh_inputs import BurstInputs, InputSupply, scalars
from campaigns.evaluator.judge.correctness.output_comparison import (
    NONE,
    Others,
    OutputComparison,
    Tolerance,
    compare,
    forgiven,
    quick,
)
from campaigns.evaluator.judge.integrity.channel import RunnerChannel
from campaigns.evaluator.judge.integrity.cold_caches import Cool
from campaigns.evaluator.judge.integrity.device_quiescence import DeviceQuiescence
from campaigns.evaluator.reference.memory import as_integers
from campaigns.evaluator.reference.reference import Reference, ReferenceCall, is_tensor

# A proof of one call that takes less is measured by that of some.
QUICK_S, SOME_CALLS = 0.02, 64

# How long a burst that seems unfinished is left alone before it is judged late or empty.
SETTLE_S = 0.2

Answers = Mapping[str, torch.Tensor]
# (output name, found, wanted) → what to compare with the wanted answer.
Forgive = Callable[[str, torch.Tensor, torch.Tensor], torch.Tensor]


@dataclass(frozen=True, slots=True)
class CaseContext:
    """One case of one arm: how its inputs are made and its answers judged.

    tolerances: by output name. cool: empties the caches before a cold burst. quiescence: None
    where a stopped runner cannot leave work on the device. plan: of the memory. gathers: those in
    use, by where their slots begin and how many there are.
    """

    case: Case
    layout: Layout
    reference: Reference
    supply: InputSupply
    tolerances: Mapping[str, Tolerance]
    refresh: str
    device: torch.device
    cool: Cool
    limit_s: float
    quiescence: DeviceQuiescence | None
    plan: MemoryPlan
    gathers: dict[tuple[int, int], Gather] = field(default_factory=dict)

    def wait(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)

    def proof_s(self) -> float:
        """Measure the seconds that inputs and reference of one call take; of many where quick.

        To ask for one takes longer than to work out a small one, and bursts ask for many together.
        """

        def proof_s(calls: int) -> float:
            started = time.perf_counter()
            self.answer_all(self.given_all(self.supply.fresh(calls, self.refresh), 0, calls))
            self.wait()
            return time.perf_counter() - started

        one_s, calls = proof_s(1), min(SOME_CALLS, self.proven_at_once)
        return min(one_s, proof_s(calls) / calls) if one_s < QUICK_S else one_s

    @property
    def proven_at_once(self) -> int:
        """How many calls' answers the reference is asked for together.

        Two processes take turns for each question, so the fewer the better.
        """
        return max(1, self.plan.piece // self.layout.stride)

    def expect(self, truth: BurstInputs, k: int, precision: torch.dtype | None) -> Answers:
        """What slot `k` should hold, computed from the judge's own inputs.

        precision: the dtype that floating tensors are raised to first; None keeps their own, and so
        does a reference that cannot run in another dtype.
        """
        if precision is None or not self.reference.can_be_raised:
            found = self.answer_all(self.given_all(truth, k, 1))
            return {arg.name: found[arg.name].view(arg.shape) for arg in self.layout.outputs}
        return self.answer(self.given(truth, k), precision)

    def answer(self, inputs: Mapping[str, Any], precision: torch.dtype | None) -> Answers:
        """The same for given inputs, which may be more precise than a slot could hold."""
        rows = {n: v.unsqueeze(0) if is_tensor(v) else v for n, v in inputs.items()}

        def answer(raised: torch.dtype | None) -> Answers:
            return {name: found[0] for name, found in self._answers(rows, raised).items()}

        if precision is None or not self.reference.can_be_raised:
            return answer(None)
        try:
            return answer(precision)
        except BadReference:
            why = "the reference does not run in float64 (it fixes dtypes or reads bits)"
        except (MemoryError, torch.OutOfMemoryError):
            why = "the reference in float64 does not fit into memory"
        # Raises where the inputs are wrong in any precision.
        answers = answer(None)
        self.reference.can_be_raised = False
        self.reference.note(f"{why}, so answers are compared in its own precision")
        return answers

    def changes(
        self, truth: BurstInputs, names: Sequence[str], first: int, count: int
    ) -> list[tuple[str, torch.Tensor]]:
        """[slots, elements] of these outputs that calls on `count` slots from `first` on change."""
        rows = self.given_all(truth, first, count)
        before = {name: as_integers(rows[name]).clone() for name in names}
        after = self.answer_all(rows)
        return [(name, as_integers(after[name]) != before[name]) for name in names]

    def given(self, truth: BurstInputs, k: int) -> dict[str, Any]:
        """The arguments of a call on slot `k`, in order, in copies of their own."""
        rows = {}
        for arg in self.layout.tensors:
            rows[arg.name] = self._empty(arg)
            if arg in self.layout.given:
                truth.write(arg, k, rows[arg.name].view(1, -1))
        given: dict[str, Any] = {**scalars(self.layout), **rows}
        return {arg.name: given[arg.name] for arg in self.layout.args}

    def answer_all(self, rows: Mapping[str, torch.Tensor]) -> Answers:
        """[slots, elements] of each output, in the reference's own precision.

        rows: see `given_all`.
        """
        given: dict[str, Any] = dict(scalars(self.layout))
        given |= {arg.name: rows[arg.name].view(-1, *arg.shape) for arg in self.layout.tensors}
        return {n: answer.view(len(answer), -1) for n, answer in self._answers(given, None).items()}

    def given_all(self, truth: BurstInputs, first: int, count: int) -> dict[str, torch.Tensor]:
        """[slots, elements] of every tensor; outputs that calls only write hold anything.

        For `answer_all`, and gone at the next question to the reference.
        """
        found = self.reference.room(self.layout, count)
        for arg in self.layout.given:
            truth.write(arg, first, found[arg.name])
        return found

    def _answers(self, rows: Mapping[str, Any], precision: torch.dtype | None) -> Answers:
        outputs = self.layout.outputs
        call = ReferenceCall(
            inputs={arg.name: rows[arg.name] for arg in self.layout.args},
            outputs=tuple(arg.name for arg in outputs),
            blank=frozenset(arg.name for arg in outputs if not arg.update),
            precision=precision,
        )
        return self.reference.answers(call)

    def all_right(self, slots: Slots, want: Answers, first: int) -> torch.Tensor:
        """[slots] Which slots from `first` on are right, by a quick comparison."""
        count = len(next(iter(want.values())))
        right = torch.ones(count, dtype=torch.bool, device=self.device)
        for arg in self.layout.outputs:
            found = slots.all(arg)[first : first + count]
            right &= self.supply.passes.close(found, want[arg.name], self.tolerances[arg.name])
        return right

    def right(self, slots: Slots, want: Answers, k: int, near: Others = NONE) -> bool:
        """Whether slot `k` holds what is wanted; each output is read once, into a copy."""
        return all(
            is_right(
                forgiven(copy_of(slots.one(arg, k)), want[arg.name], near.get(arg.name)),
                want[arg.name],
                self.tolerances[arg.name],
            )
            for arg in self.layout.outputs
        )

    def closer_look(
        self,
        slots: Slots,
        want: Answers,
        k: int,
        tolerances: Mapping[str, Tolerance] | None = None,
        forgive: Forgive | None = None,
    ) -> OutputComparison:
        """The comparison of slot `k` with the largest error, over its outputs."""
        allowed = tolerances or self.tolerances
        found = []
        for arg in self.layout.outputs:
            have = copy_of(slots.one(arg, k))
            have = forgive(arg.name, have, want[arg.name]) if forgive else have
            one = compare(have, want[arg.name], allowed[arg.name])
            message = one.message and f"output {arg.name}: {one.message}"
            found.append(replace(one, message=message, output=arg.name))
        return max(found, key=lambda comparison: comparison.margin)

    def _empty(self, arg: TensorArg) -> torch.Tensor:
        return torch.empty(arg.shape, dtype=getattr(torch, arg.dtype), device=self.device)


def is_right(found: torch.Tensor, want: torch.Tensor, tolerance: Tolerance) -> bool:
    one = bool(quick(found.reshape(1, -1), want.reshape(1, -1), tolerance))
    # Of what is exact a closer look says no more, and it takes as long as many calls.
    return one if one or tolerance.exact else compare(found, want, tolerance).ok


def let_settle(context: CaseContext, channel: RunnerChannel) -> None:
    """Give a runner time to finish work that it has left running, then stop it again."""
    context.wait()
    channel.thaw()
    time.sleep(SETTLE_S)
    context.wait()
    channel.freeze()
