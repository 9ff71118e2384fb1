"""Is every call of a burst right, when the clock stopped and now, and nothing else touched?

Most calls are, so many are looked at together; one that a quick look does not find right is looked
at alone, and then blamed or not.
"""

from __future__ import annotations

import time
from collections.abc import Container, Iterator, Mapping

import torch

from campaigns.evaluator.contract import Outcome
from campaigns.evaluator.judge.arena import same_bits
from campaigns.evaluator.judge.case_context import Answers, Bench
from campaigns.evaluator.judge.channel import Channel
from campaigns.evaluator.judge.correctness.fresh_inputs import at_once, changed_input, starts_intact
from campaigns.evaluator.judge.correctness.undecided import NONE, Others, others
from campaigns.evaluator.judge.timing.fence import Fence
from campaigns.evaluator.judge.timing.stage import Stage

# How long a burst that looked unfinished is left alone before it is judged late or empty.
SETTLE_S = 0.2


def prove(stage: Stage, fence: Fence, but: Container[int] = ()) -> None:
    """Every call's answer, when the clock stopped and now; nothing else may have changed.

    but: the slots whose answers somebody else looks at. Raises what `Channel.blame` makes of it.
    """
    channel, slots = stage.channel, stage.slots
    quick = _QuickLook(stage, fence)
    for k in quick.doubtful():
        if k not in but:
            _prove_call(stage, fence, k)
    if not stage.guards.intact():
        raise channel.blame(Outcome.WRONG_RESULT, "a call wrote outside its output")
    if changed := quick.changed or changed_input(slots, stage.truth, stage.calls):
        raise channel.blame(Outcome.CHEATED, f"a call changed its input {changed!r}")
    untouched = stage.poison.untouched(stage.calls)
    if not (untouched and starts_intact(slots, stage.truth, stage.calls)):
        raise channel.blame(Outcome.CHEATED, "it wrote the output of a call that was not made")


class _QuickLook:
    """A look at all calls of a burst, many at once. changed: the first input not as given."""

    def __init__(self, stage: Stage, fence: Fence) -> None:
        self._stage, self._fence = stage, fence
        self.changed = ""

    def doubtful(self) -> Iterator[int]:
        """The slots that it does not find right."""
        stage, bench, slots = self._stage, self._stage.bench, self._stage.timed
        step = at_once(slots, slots.layout.stride)
        for first in range(0, stage.calls, step):
            rows = bench.given_all(stage.truth, first, min(step, stage.calls - first))
            self._compare_inputs(rows, first)
            want = bench.answer_all(rows)
            right = bench.all_right(slots, want, first) & self._fence.saw_all(bench, want, first)
            yield from (first + int(k) for k in torch.nonzero(~right))

    def _compare_inputs(self, rows: Mapping[str, torch.Tensor], first: int) -> None:
        slots = self._stage.timed
        for arg in slots.layout.inputs:
            wanted = rows[arg.name]
            if not same_bits(slots.all(arg)[first : first + len(wanted)], wanted):
                self.changed = self.changed or arg.name


def _prove_call(stage: Stage, fence: Fence, k: int) -> None:
    """The same for one call, by every answer that there is; is its work late, or never done?"""
    bench, channel, slots = stage.bench, stage.channel, stage.slots
    answers = list(_answers(stage, k))
    for want, near in answers:
        if bench.right(slots, want, k, near) and fence.saw(bench, want, k, near):
            return
    number = stage.order.index(k) + 1
    let_settle(bench, channel)
    if any(bench.right(slots, want, k, near) for want, near in answers):
        raise channel.blame(
            Outcome.CHEATED,
            f"said done before its work was done: the output of call {number} of {stage.calls} was "
            "not right when the clock stopped, and became right later",
        )
    worst = bench.closer_look(slots, bench.expect(stage.truth, k, torch.float64), k)
    raise channel.blame(
        Outcome.WRONG_RESULT,
        f"timed call {number} of {stage.calls} is wrong: {worst.message}",
    )


def _answers(stage: Stage, k: int) -> Iterator[tuple[Answers, Others]]:
    """The reference's answers to slot `k`, each with those that are right as well.

    In its own precision first. That can be so far off that a better kernel is not within tolerance
    of it: then the answer in float64 counts.
    """
    bench = stage.bench
    own = bench.expect(stage.truth, k, None)
    yield own, NONE
    exact = bench.expect(stage.truth, k, torch.float64)
    yield exact, NONE
    near = others(bench, bench.given(stage.truth, k))
    if near:
        yield own, near
        yield exact, near


def let_settle(bench: Bench, channel: Channel) -> None:
    """Give a runner time to finish what it has left running, then stop it again."""
    bench.wait()
    channel.thaw()
    time.sleep(SETTLE_S)
    bench.wait()
    channel.freeze()
