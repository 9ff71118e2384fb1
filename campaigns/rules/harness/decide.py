"""What follows from tables of incumbent and candidate, benchmarked in alternation (R13, R18, R19).

The figures are the project's own, from the candidate's process. They decide what is kept on the
branch, and nothing else: no experience, no ceiling and no proven gain rests on them.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass, replace

from campaigns.evaluator.contract.intervals import Pairs
from campaigns.rules.harness.description import Better, Harness, Score
from campaigns.rules.noise.gain import (
    Gain,
    improved,
    interval,
    noise_floor,
    regressed,
    stray,
)
from campaigns.rules.verdict.case_limits import GuardPolicy
from campaigns.rules.verdict.decision import Reason, VerdictWord
from campaigns.rules.verdict.dispatch import divergence, grouped

OWN_HARNESS = "by the project's own harness"
BASELINE = "the incumbent"
# Of the bootstrap: the same tables give the same interval.
SEED = 5


@dataclass(frozen=True, slots=True)
class Noise:
    """The least gain that is told from none, of the score and of each class, as fractions."""

    score: float
    classes: Mapping[str, float]

    def of(self, name: str) -> float:
        return self.classes.get(name, self.score)


@dataclass(frozen=True, slots=True)
class HarnessClass:
    """One config class. before, after: medians over all its rows' runs, as in the table."""

    name: str
    rows: int
    before: float
    after: float
    gain: Gain


@dataclass(frozen=True, slots=True)
class HarnessResult:
    """What the tables show: the score's gain, and each class with its own."""

    score: Gain
    classes: tuple[HarnessClass, ...]


@dataclass(frozen=True, slots=True)
class Proven:
    """What kopt's own judge found about one file of a change, as a kernel by itself.

    gain: against the incumbent's file, measured by the judge; None where it was not timed.
    """

    problem: str
    reason: Reason
    sentence: str
    gain: Gain | None = None

    @property
    def verdict(self) -> VerdictWord:
        return self.reason.verdict


@dataclass(frozen=True, slots=True)
class HarnessDecision:
    """The conclusion, one sentence for it, and what it rests on; None where nothing was timed.

    proven: what kopt's own judge says, where it was asked.
    """

    reason: Reason
    sentence: str
    result: HarnessResult | None = None
    proven: Proven | None = None

    @property
    def verdict(self) -> VerdictWord:
        return self.reason.verdict


def compare(
    pairs: Mapping[str, Pairs], classes: Mapping[str, str], harness: Harness
) -> HarnessResult:
    """Gains from row → pairs that are better when lower, in the order of their runs."""
    results = []
    for name, rows in grouped(pairs, classes).items():
        before = statistics.median(one for of_row in rows.values() for one, _ in of_row)
        after = statistics.median(one for of_row in rows.values() for _, one in of_row)
        if harness.better is Better.HIGHER:
            before, after = 1 / before, 1 / after
        results.append(HarnessClass(name, len(rows), before, after, interval(rows, SEED)))
    if harness.score is Score.WORST:
        score = min((one.gain for one in results), key=lambda gain: gain.gain)
    elif harness.score is Score.TOTAL:
        runs = zip(*pairs.values(), strict=True)
        sums = [(sum(a for a, _ in run), sum(b for _, b in run)) for run in runs]
        score = interval({"total": sums}, SEED)
    else:
        score = interval(pairs, SEED)
    return HarnessResult(score, tuple(results))


def noise_of(result: HarnessResult) -> Noise:
    """The noise of this harness here, from a comparison of the same code with itself."""
    classes = {one.name: noise_floor(stray(one.gain)) for one in result.classes}
    return Noise(noise_floor(stray(result.score)), classes)


def decide(result: HarnessResult, noise: Noise, target: str = "") -> HarnessDecision:
    """The verdict on a candidate whose every row was right.

    target: the config class that the hypothesis is about; "" for all of them. A class that loses
    refuses the candidate, whatever the others gain.
    """
    gains = {one.name: one.gain for one in result.classes}
    losers = [name for name, gain in gains.items() if regressed(gain, noise.of(name))]
    if losers:
        apart = divergence(gains, max(noise.of(name) for name in gains))
        if apart is not None:
            return HarnessDecision(Reason.CLASS_REGRESSED, apart.words, result)
        won = any(improved(gain, noise.of(name)) for name, gain in gains.items())
        reason = Reason.CLASS_REGRESSED if won else Reason.SLOWER
        return HarnessDecision(reason, f"{losers[0]}: {_told(gains[losers[0]])}", result)
    wanted = gains[target] if target else result.score
    named = target or "the score"
    if not improved(wanted, noise.of(target) if target else noise.score):
        reason = Reason.CLASS_NOT_GAINED if target else Reason.WITHIN_NOISE
        said = f"no change of {named} shown: {_told(wanted)}"
        return HarnessDecision(reason, said, result)
    limit = GuardPolicy.DEFAULT.limit
    unclear = [name for name, gain in gains.items() if gain.low < min(limit, -noise.of(name))]
    if unclear:
        said = (
            f"{named} gained ({_told(wanted)}), but a loss of {unclear[0]} is not ruled out: "
            f"{_told(gains[unclear[0]])}. More pairs may show it."
        )
        return HarnessDecision(Reason.TOO_FEW_SAMPLES, said, result)
    return HarnessDecision(Reason.PROMOTED, f"{named}: {_told(wanted)}", result)


def with_proof(decision: HarnessDecision, proven: Proven) -> HarnessDecision:
    """The decision of the harness, unless the judge refuses what the harness let pass.

    That the judge shows no gain, or could not measure here, takes nothing from the harness's own.
    """
    refused = proven.verdict in (VerdictWord.REJECTED, VerdictWord.INVALID)
    if refused and proven.reason is not Reason.BROKEN_HOST:
        said = f"kopt's judge refuses it as a kernel of {proven.problem}: {proven.sentence}"
        return HarnessDecision(proven.reason, said, decision.result, proven)
    return replace(decision, proven=proven)


def _told(gain: Gain) -> str:
    return f"{gain.against(BASELINE)}, {OWN_HARNESS}"
