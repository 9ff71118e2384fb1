"""One burst whose outputs the judge reads halfway, on inputs of which some are unusual.

To the runner it is like any other: nothing distinguishes it before a call has read its inputs, and
nothing shows when the judge reads.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import torch

from campaigns.evaluator.contract import Outcome
from campaigns.evaluator.contract.job import CANDIDATE
from campaigns.evaluator.contract.layout import ITEM_BYTES, TensorArg
from campaigns.evaluator.judge.correctness.case_context import let_settle
from campaigns.evaluator.judge.correctness.fresh_inputs import BurstInputs, SeparateInputs, fill
from campaigns.evaluator.judge.correctness.trial import Trial, look_at
from campaigns.evaluator.judge.timing.proof import PreparedSlots, telling_positions
from campaigns.evaluator.reference.memory import as_integers

# Positions read of each slot's output. Values of one byte need more: of so many, a call that was
# made changes at least one.
POSITIONS, NARROW_POSITIONS = 4, 64
# With fewer calls no order can be seen.
LEAST_CALLS = 6
# One slot is being written when the judge reads; one more may lie between its reads.
UNDER_WAY = 2
# An honest burst is about as far as its share of time. On a busy host it is behind, the more so the
# shorter it is: the runner has to wake, and its threads wait for cores.
WAKE_S, LEAST_PACE_S, BEHIND = 2e-3, 4e-3, 1 / 4
# In a shorter burst outputs are all missing so late only rarely: a burst whose runner woke that
# late takes longer than usual, and says nothing.
LEAST_EMPTY_S = 5e-4


@dataclass(frozen=True, slots=True)
class ProbeReading:
    """What was seen halfway: share of slots begun, and slots unfinished before the last one begun.

    share: of the burst's time, since the runner must have woken; None where that is unknown. at_s:
    when it was read, in a burst of calls made one by one; else 0.
    """

    begun: float
    unfinished: int
    share: float | None
    at_s: float = 0.0

    @property
    def words(self) -> str:
        when = "halfway" if self.share is None else f"at {self.share:.0%} of its time"
        return f"{self.begun:.0%} begun {when}, {self.unfinished} unfinished before others"

    @property
    def says_something(self) -> bool:
        return self.begun < 1 or self.unfinished > UNDER_WAY

    @property
    def odd(self) -> bool:
        if self.share is None:
            late = not self.begun and self.at_s >= LEAST_EMPTY_S
        else:
            late = self.begun < BEHIND * self.share
        return self.unfinished > UNDER_WAY or late


def is_narrow(arg: TensorArg) -> bool:
    """Whether a value may equal the poison by chance."""
    return ITEM_BYTES[arg.dtype] == 1


def share_passed(at_s: float, seconds: float) -> float | None:
    """Share of a burst's time that had passed at `at_s`, counted from the runner's waking."""
    if seconds < LEAST_PACE_S or at_s <= WAKE_S:
        return None
    return (at_s - WAKE_S) / (seconds - WAKE_S)


class SaltedInputs(BurstInputs):
    """Inputs of a burst in which some slots hold others; salt: those, by slot."""

    def __init__(self, truth: BurstInputs, salt: Mapping[int, BurstInputs]) -> None:
        super().__init__(truth.writers)
        self._salt = salt

    def write(self, arg: TensorArg, first: int, into: torch.Tensor) -> None:
        super().write(arg, first, into)
        for slot, grain in self._salt.items():
            if first <= slot < first + len(into):
                grain.write(arg, 0, into[slot - first : slot - first + 1])


class ProbedBurst:
    """What the judge does before, during and after one burst.

    trials: unusual inputs, each for one slot. arg: the output to read halfway, after `delay_s`;
    None reads nothing. proven: the slots whose answers `check` compares.
    """

    def __init__(self, trials: Sequence[Trial], arg: TensorArg | None, delay_s: float) -> None:
        self._trials, self._arg, self._delay_s = trials, arg, delay_s
        self._at_s = 0.0
        self.proven: Mapping[int, Trial] = {}

    def prepare(self, prepared: PreparedSlots) -> PreparedSlots:
        """Exchange the inputs of some slots, while no runner can read them."""
        context, calls = prepared.context, prepared.calls
        self.proven = dict(zip(context.supply.shuffled(range(calls)), self._trials, strict=False))
        salt = {slot: SeparateInputs([trial.inputs]) for slot, trial in self.proven.items()}
        for slot, grain in salt.items():
            fill(prepared.slots.part(slot, 1), grain)
        if salt:
            prepared = replace(prepared, truth=SaltedInputs(prepared.truth, salt))
        self._prepared = prepared
        if (arg := self._arg) is not None:
            each = NARROW_POSITIONS if is_narrow(arg) else POSITIONS
            shape = (calls, min(each, arg.count))
            found = telling_positions(context, prepared.truth, {arg: shape}, calls)
            at, tells = found[arg.name]
            # Read from the last call to the first: what is seen early was written early.
            slots = torch.tensor(prepared.order[::-1], device=context.device)
            self._view = as_integers(prepared.timed.all(arg))
            self._tells, self._places = tells[slots], (slots.unsqueeze(1), at[slots])
            self._before = self._view[self._places]
        return prepared

    def during(self, started: float) -> None:
        """Read the positions `delay_s` after the start signal of `started`.

        started: on the judge's clock (`time.perf_counter`), in seconds.
        """
        if self._arg is None:
            return
        time.sleep(self._delay_s)
        # Before reading: a delay of the judge then makes outputs appear early, never late.
        self._at_s = time.perf_counter() - started
        self._seen = self._view[self._places]
        self._prepared.context.wait()

    def glance(self, seconds: float) -> ProbeReading:
        """What was seen, in a burst that took `seconds`."""
        share = share_passed(self._at_s, seconds)
        at_s = self._at_s if self._prepared.context.device.type == "cpu" else 0.0
        changed = (self._seen != self._before)[self._tells].flip(0)
        if self._arg is None or len(changed) < LEAST_CALLS:
            return ProbeReading(1.0, 0, None)
        begun = changed.any(1)
        # Some bytes equal the poison by chance, so one changed byte counts as finished.
        finished = begun if is_narrow(self._arg) else changed.all(1)
        if not begun.any():
            return ProbeReading(0.0, 0, share, at_s)
        last = int(torch.nonzero(begun)[-1])
        return ProbeReading((last + 1) / len(begun), int((~finished[:last]).sum()), share, at_s)

    def check(self) -> None:
        """Compare the answers to unusual inputs, with the runners stopped.

        An incumbent only has to be right on its case; it makes these calls so as not to know that
        it is the incumbent. Raises what `RunnerChannel.blame` makes of a wrong answer.
        """
        prepared, context = self._prepared, self._prepared.context
        channel = prepared.channel
        for slot, trial in self.proven.items() if channel.role == CANDIDATE else ():
            want = trial.want or context.expect(prepared.truth, slot, torch.float64)
            found = look_at(context, prepared.slots, slot, trial, want)
            if found is None or found.ok:
                continue
            let_settle(context, channel)
            settled = look_at(context, prepared.slots, slot, trial, want)
            if settled is None:
                continue
            if settled.ok:
                words = "said done before its work was done, on inputs of the judge's own making"
                raise channel.blame(Outcome.CHEATED, words)
            number = prepared.order.index(slot) + 1
            raise channel.blame(
                Outcome.WRONG_RESULT,
                f"timed call {number} of {prepared.calls} is wrong: {settled.message}{trial.words}",
            )
