"""Times of a campaign's rounds on one basis: v0's times over the paired gains since."""

from __future__ import annotations

from collections.abc import Iterable

from campaigns.models import Campaign, Verdict
from campaigns.records.round.verdicts import gain_of, result_of, results_of
from campaigns.rules.noise.paired_times import PairedStep, Times, paired_times
from campaigns.rules.verdict.decision import VerdictWord


def paired_times_of(campaign: Campaign, verdicts: Iterable[Verdict]) -> dict[int, Times]:
    """Round → case → µs; empty where v0 was not timed, and without rounds that prove no time.

    verdicts: ordered by round, that of round 1 and of every accepted one among them.
    """
    known = {verdict.round.number: verdict for verdict in verdicts}
    if 1 not in known:
        return {}
    v0 = {result.case: result.time.median for result in results_of(known.pop(1)) if result.time}
    if not v0:
        return {}
    steps = [
        PairedStep(
            number=number,
            against=verdict.round.against.round.number,
            word=VerdictWord(verdict.word),
            ratio=1 + gain.gain,
            cases={r.case: 1 + r.gain.gain for r in results_of(verdict) if r.gain},
        )
        for number, verdict in known.items()
        if verdict.round.against and (gain := gain_of(verdict))
    ]
    total = result_of(campaign)
    return paired_times(v0, steps, 1 + total.gain if total else None)
