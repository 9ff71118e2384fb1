"""Bursts like the timed ones, some of whose slots hold what `setup` would hardly draw.

A check is over before anything is timed, and calls in a row are not what it made: a kernel can tell
the two apart and be careful only in the first. Which bursts are salted, and where, nobody can tell
before a call has read its inputs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

import torch

from campaigns.evaluator.contract import Outcome
from campaigns.evaluator.judge.arena import Slots
from campaigns.evaluator.judge.bench import Bench
from campaigns.evaluator.judge.burst import make_burst
from campaigns.evaluator.judge.channel import Channel
from campaigns.evaluator.judge.compare import Comparison
from campaigns.evaluator.judge.fresh import Separate, Truth, fill
from campaigns.evaluator.judge.proof import let_settle, prove
from campaigns.evaluator.judge.stage import Stage
from campaigns.evaluator.judge.trial import Trial, forgiving, sets_as_trials
from campaigns.evaluator.layout import TensorArg
from campaigns.evaluator.problem import CheckSpec

# How many slots of a burst hold something unlike, at the most.
MOST = 4
# How often there is such a burst before a sample.
SHARE = 1 / 4


class Salted:
    """Inputs of a burst with those of some slots exchanged."""

    def __init__(self, truth: Truth, grains: Mapping[int, Truth]) -> None:
        self._truth, self._grains = truth, grains

    def write(self, arg: TensorArg, first: int, into: torch.Tensor) -> None:
        self._truth.write(arg, first, into)
        for slot, grain in self._grains.items():
            if first <= slot < first + len(into):
                grain.write(arg, 0, into[slot - first : slot - first + 1])


def maybe_salted(
    bench: Bench, channel: Channel, slots: Slots, check: CheckSpec, lengths: Sequence[int]
) -> None:
    """By chance a burst of one of these lengths with some of the sets in it.

    Raises what `Channel.blame` makes of a wrong call.
    """
    draw = bench.supply.draw
    if draw.random() < SHARE:
        calls = draw.choice(lengths)
        some = list(islice(_salt(bench, check), min(calls, MOST)))
        if some:
            _salted_burst(bench, channel, slots, calls, some)


def salted_bursts(
    bench: Bench, channel: Channel, slots: Slots, check: CheckSpec, calls: int
) -> None:
    """Bursts of `calls` calls with all sets among them; their times are nobody's.

    Raises what `Channel.blame` makes of a wrong call.
    """
    trials, step = list(_salt(bench, check)), min(calls, MOST)
    for first in range(0, len(trials), step):
        _salted_burst(bench, channel, slots, calls, trials[first : first + step])


def _salt(bench: Bench, check: CheckSpec) -> Iterator[Trial]:
    """The sets, made from an example of their own, in an order that nobody knows."""
    return sets_as_trials(bench, check, bench.supply.example(), shuffled=True)


def _salted_burst(
    bench: Bench, channel: Channel, slots: Slots, calls: int, trials: Sequence[Trial]
) -> None:
    where = dict(zip(bench.supply.shuffled(range(calls)), trials, strict=False))

    def change(stage: Stage) -> Stage:
        grains = {slot: Separate([trial.inputs]) for slot, trial in where.items()}
        for slot, grain in grains.items():
            fill(stage.slots.part(slot, 1), grain)
        return replace(stage, truth=Salted(stage.truth, grains))

    stage, fence = make_burst(bench, channel, slots, calls, change)
    prove(stage, fence, where)
    # An incumbent only has to be right on its case; it makes these calls so as not to know.
    for slot, trial in where.items() if channel.name == "candidate" else ():
        _prove_trial(stage, slot, trial)


def _prove_trial(stage: Stage, slot: int, trial: Trial) -> None:
    bench, channel = stage.bench, stage.channel
    want = bench.expect(stage.truth, slot, torch.float64)

    def look() -> Comparison:
        found = bench.closer_look(stage.slots, want, slot, trial.allowed)
        if found.ok:
            return found
        forgive = forgiving(bench, trial)
        return bench.closer_look(stage.slots, want, slot, trial.allowed, forgive)

    if look().ok:
        return
    let_settle(bench, channel)
    found, number = look(), stage.order.index(slot) + 1
    if found.ok:
        words = "said done before its work was done, on inputs of the judge's own making"
        raise channel.blame(Outcome.CHEATED, words)
    raise channel.blame(
        Outcome.WRONG_RESULT,
        f"timed call {number} of {stage.calls} is wrong: {found.message}{trial.words}",
    )
