"""Ask the campaign's proposer for the next round. Nothing is written here."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from campaigns.models import Campaign, Candidate, Verdict
from campaigns.proposers.base import Attempt, Draft, Situation, proposer
from campaigns.rules.decision import Reason
from campaigns.rules.gates import decisive_samples
from campaigns.steps.judge import deciding_report


def propose(campaign: Campaign) -> Draft | None:
    """Return the next hypothesis with its candidates, or None when no idea is left.

    The same campaign at the same round gets the same answer, so that a repeat after a crash
    changes nothing.
    """
    incumbent = campaign.incumbent
    if incumbent is None:
        raise ValueError(f"{campaign}: has no incumbent to start from")
    return proposer(campaign.proposer).propose(
        Situation(
            problem=campaign.problem.slug,
            op=campaign.problem.op,
            backend=campaign.backend,
            source=incumbent.source,
            incumbent_round=incumbent.round.number,
            device_kind=campaign.platform.kind,
            history=_history(campaign),
            evidence=_evidence(campaign, incumbent),
            seed=campaign.seed + campaign.rounds.count(),
        )
    )


def _history(campaign: Campaign) -> tuple[Attempt, ...]:
    """What was tried; a round that only broke the host is no attempt (law 8)."""
    verdicts = Verdict.objects.filter(round__campaign=campaign).exclude(reason=Reason.BROKEN_HOST)
    tried = verdicts.exclude(reason=Reason.BASELINE).select_related("round").order_by("round")
    return tuple(
        Attempt(
            strategy=verdict.round.hypothesis["strategy"],
            params=verdict.round.hypothesis["params"],
            verdict=verdict.word,
            gain=None if verdict.gain is None else 1 + verdict.gain,
            round=verdict.round.number,
        )
        for verdict in tried
    )


def _evidence(campaign: Campaign, incumbent: Candidate) -> dict[str, Any]:
    """The incumbent's own numbers, in the shape that `proposers.evidence` documents."""
    report = deciding_report(incumbent)
    if report is None:
        return {}
    placed = campaign.target.get("cases", {})
    cases = [
        _fact(case.case, decisive_samples(case, case.candidate), placed.get(case.case, {}))
        for case in report.cases
        if case.candidate
    ]
    cores = report.environment.get("cores")
    return {"cases": cases} | ({"cores": int(cores)} if cores else {})


def _fact(name: str, samples_us: Sequence[float], placed: dict[str, Any]) -> dict[str, Any]:
    time_us = statistics.median(samples_us)
    fact: dict[str, Any] = {"case": name, "time_us": time_us}
    if placed:
        fact["gb_per_s"] = placed["bytes"] / time_us / 1e3
        fact["gflop_per_s"] = placed["flops"] / time_us / 1e3
    if "floor_us" in placed:
        limit = "bandwidth" if placed["bound"] == "memory" else "compute"
        fact |= {"floor_us": placed["floor_us"], "bound": placed["bound"]}
        fact["citation"] = placed[limit]["citation"]
    return fact
