"""Whether a candidate is faster on inputs that it has seen, and so fitted to the benchmark (R20).

The time of a burst on new contents is compared with one in which something repeats. The judge
rewrites all memory before both, so a kernel that caches nothing takes equally long. The incumbent
shows the remaining difference in the same session, and only what the candidate gains beyond that
counts.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from campaigns.evaluator.contract import Report
from campaigns.rules.noise.gain import LEAST_PAIRS, interval
from campaigns.rules.verdict.buckets import Bucket
from campaigns.rules.verdict.decision import Gate, GateOutcome, Reason, stopped
from campaigns.rules.verdict.gates import Standard
from campaigns.rules.wording import share

NAME = "repeats"
# The least advantage on seen inputs that fails, unless twice this worker's noise is more.
LEAST = 0.05
Times = Sequence[float]
SAME, KEPT, AGAIN = "the same addresses", "kept weights", "all inputs kept"


@dataclass(frozen=True, slots=True)
class Pattern:
    """One way to come again on one case.

    ratio: fresh over repeated of the candidate; beside: the incumbent's. low, high: 95 % interval
    of the candidate's over the incumbent's. own_low: of the candidate's by itself. hits: rounds in
    which it beat fresh inputs by more than the limit, beyond the incumbent; of all rounds.
    """

    case: str
    name: str
    ratio: float
    beside: float
    low: float
    high: float
    own_low: float
    hits: int
    rounds: int

    @property
    def words(self) -> str:
        """Such as "4096: all inputs kept, 3.02 × as fast as fresh ones (the incumbent 1.00 ×)"."""
        return (
            f"{self.case}: {self.name}, {self.ratio:.2f} × as fast as fresh ones (the incumbent "
            f"{self.beside:.2f} ×; {self.low:.2f} to {self.high:.2f} × beside it, "
            f"n={self.rounds} rounds), a hit in {self.hits} of {self.rounds}"
        )


def patterns(report: Report, standard: Standard, limit: float) -> tuple[Pattern, ...]:
    """Everything that was tried again, by case; empty where nothing was.

    A weight cache that says so (W1) may gain where weights come again, but no more than that where
    all inputs do.
    """
    found = []
    by_weights = standard.declared is not None and standard.declared.bucket is Bucket.W1
    for case in report.cases:
        arms = [arm.repeats for arm in (case.candidate, case.incumbent) if arm and arm.repeats]
        if len(arms) < 2:
            continue
        kept = by_weights and all(arm.kept_us for arm in arms)
        compared = {SAME: [(arm.fresh_us, arm.same_us) for arm in arms]}
        if not kept:
            compared[KEPT] = [(arm.fresh_us, arm.kept_us) for arm in arms]
        compared[AGAIN] = [(arm.kept_us if kept else arm.fresh_us, arm.again_us) for arm in arms]
        for name, (ours, theirs) in compared.items():
            if ours[1] and theirs[1]:
                place = (case.case, name)
                found.append(
                    _pattern(place, _ratios(*ours), _ratios(*theirs), limit, standard.seed)
                )
    return tuple(found)


def repeats(report: Report, standard: Standard) -> GateOutcome:
    """Is it faster where something comes again, and more so than the incumbent?"""
    least = max(LEAST, 2 * standard.noise)
    limit = f"no more than {share(least)} faster on what it has seen, beyond the incumbent"
    found = patterns(report, standard, least)
    if not found:
        return GateOutcome(Gate(NAME, None, "not measured", limit))
    enough = (each for each in found if each.rounds >= LEAST_PAIRS)
    fitted = [each for each in enough if min(each.low, each.own_low) > 1 + least]
    worst = max(fitted or found, key=lambda each: each.ratio / each.beside)
    if not fitted:
        return GateOutcome(Gate(NAME, True, worst.words, limit))
    sentence = (
        f"Rejected by Rule 11: fitted to the benchmark. {worst.words}. Real use brings new inputs, "
        "so remembering old ones gains nothing there."
    )
    return stopped(NAME, worst.words, limit, Reason.FITTED, sentence)


def _ratios(fresh_us: Times, repeated_us: Times) -> list[float]:
    return [fresh / again for fresh, again in zip(fresh_us, repeated_us, strict=True)]


def _pattern(at: tuple[str, str], ours: Times, theirs: Times, limit: float, seed: int) -> Pattern:
    case, name = at
    beside = interval({case: list(zip(ours, theirs, strict=True))}, seed)
    alone = interval({case: [(ratio, 1.0) for ratio in ours]}, seed)
    usual = max(1.0, statistics.median(theirs))
    return Pattern(
        case=case,
        name=name,
        ratio=statistics.median(ours),
        beside=statistics.median(theirs),
        low=1 + beside.low,
        high=1 + beside.high,
        own_low=1 + alone.low,
        hits=sum(ratio > (1 + limit) * usual for ratio in ours),
        rounds=len(ours),
    )
