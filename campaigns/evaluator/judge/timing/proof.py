"""Is every call of a burst right, when the clock stopped and now, and nothing else changed?

Most calls are, so many are compared at once; a call that this quick comparison does not find right
is compared closely.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping

import torch

from campaigns.evaluator.contract import Outcome
from campaigns.evaluator.judge.correctness.arena import same_bits
from campaigns.evaluator.judge.correctness.case_context import Answers, let_settle
from campaigns.evaluator.judge.correctness.fresh_inputs import changed_input, starts_intact
from campaigns.evaluator.judge.correctness.output_comparison import NONE, Others
from campaigns.evaluator.judge.correctness.undecided import others
from campaigns.evaluator.judge.timing.prepared_slots import OutputFence, PreparedSlots


def prove(prepared: PreparedSlots, fence: OutputFence, but: Container[int] = ()) -> None:
    """Every call's answer, when the clock stopped and now; nothing else may have changed.

    but: slots whose answers the caller compares. Raises what `RunnerChannel.blame` makes of it.
    """
    channel, slots = prepared.channel, prepared.slots
    quick = _QuickLook(prepared, fence)
    for k in quick.doubtful():
        if k not in but:
            _prove_call(prepared, fence, k)
    if not prepared.guards.intact():
        raise channel.blame(Outcome.WRONG_RESULT, "a call wrote outside its output")
    if changed := quick.changed or changed_input(slots, prepared.truth, prepared.calls):
        raise channel.blame(Outcome.CHEATED, f"a call changed its input {changed!r}")
    untouched = prepared.poison.untouched(prepared.calls)
    if not (untouched and starts_intact(slots, prepared.truth, prepared.calls)):
        raise channel.blame(Outcome.CHEATED, "it wrote the output of a call that was not made")


class _QuickLook:
    """A quick comparison of all calls of a burst. changed: the first input that has changed."""

    def __init__(self, prepared: PreparedSlots, fence: OutputFence) -> None:
        self._prepared, self._fence = prepared, fence
        self.changed = ""

    def doubtful(self) -> Iterator[int]:
        """The slots that the quick comparison does not find right."""
        prepared, context, slots = self._prepared, self._prepared.context, self._prepared.timed
        step = context.proven_at_once
        for first in range(0, prepared.calls, step):
            rows = context.given_all(prepared.truth, first, min(step, prepared.calls - first))
            self._compare_inputs(rows, first)
            want = context.answer_all(rows)
            right = context.all_right(slots, want, first) & self._fence.saw_all(
                context, want, first
            )
            yield from (first + int(k) for k in torch.nonzero(~right))

    def _compare_inputs(self, rows: Mapping[str, torch.Tensor], first: int) -> None:
        slots = self._prepared.timed
        for arg in slots.layout.inputs:
            wanted = rows[arg.name]
            if not same_bits(slots.all(arg)[first : first + len(wanted)], wanted):
                self.changed = self.changed or arg.name


def _prove_call(prepared: PreparedSlots, fence: OutputFence, k: int) -> None:
    """Compare one call with every accepted answer, and say whether its work is late or missing."""
    context, channel, slots = prepared.context, prepared.channel, prepared.slots
    answers = list(_answers(prepared, k))
    for want, near in answers:
        if context.right(slots, want, k, near) and fence.saw(context, want, k, near):
            return
    number = prepared.order.index(k) + 1
    let_settle(context, channel)
    if any(context.right(slots, want, k, near) for want, near in answers):
        raise channel.blame(
            Outcome.CHEATED,
            f"said done before its work was done: the output of call {number} of {prepared.calls} "
            "was not right when the clock stopped, and became right later",
        )
    worst = context.closer_look(slots, context.expect(prepared.truth, k, torch.float64), k)
    raise channel.blame(
        Outcome.WRONG_RESULT,
        f"timed call {number} of {prepared.calls} is wrong: {worst.message}",
    )


def _answers(prepared: PreparedSlots, k: int) -> Iterator[tuple[Answers, Others]]:
    """The reference's answers to slot `k`, each with alternatives that are right as well.

    In its own precision first. That can be so far off that a better kernel is not within tolerance
    of it: then the answer in float64 counts.
    """
    context = prepared.context
    own = context.expect(prepared.truth, k, None)
    yield own, NONE
    exact = context.expect(prepared.truth, k, torch.float64)
    yield exact, NONE
    near = others(context, context.given(prepared.truth, k))
    if near:
        yield own, near
        yield exact, near
