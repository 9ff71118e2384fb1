"""Gather what is known of the incumbent, for the next hypothesis to rest on."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from django.db import transaction

from campaigns.evaluator.contract import Outcome
from campaigns.models import (
    Campaign,
    CampaignState,
    Candidate,
    Evaluation,
    EvaluationState,
    Evidence,
    Review,
)
from campaigns.models.event import record
from campaigns.models.transitions import move
from campaigns.profiles.kernel_profile import KernelProfile
from campaigns.profiles.metrics import metric_words, waits_for
from campaigns.profiles.reading import MovedBytes, Profiled
from campaigns.proposers.evidence import read_facts
from campaigns.proposers.learned import advice_for, spent_for
from campaigns.records.campaigns import target_of
from campaigns.records.evaluations import deciding_report
from campaigns.records.explained.profiles import explained_of, moved_in, targets_in
from campaigns.records.rounds import evidence_of
from campaigns.records.values import picked
from campaigns.rules.target.ceilings import CaseTarget
from campaigns.rules.verdict.gates import decisive_samples
from campaigns.steps.notify import AGAIN, NOTHING, Next
from knowledge.experience.lessons.ask import lessons_for
from knowledge.models.project import eyes_of_campaign
from knowledge.models.sight import seeing

# Lines of the source that a hypothesis may cite.
MOST_LINES, LINE_CHARACTERS = 5, 100


def profile(campaign: Campaign) -> Next:
    """Store the facts about a new incumbent, then let the proposer be asked.

    After a stagnation review they are gathered again: every round since has measured it as well.
    """
    incumbent = campaign.incumbent
    if incumbent is None:
        raise ValueError(f"{campaign}: has no incumbent to gather facts about")
    known, review = evidence_of(campaign), Review.objects.filter(campaign=campaign).last()
    stale = known is not None and review is not None and review.after > known.after
    made = None if known and not stale else _gathered(campaign, incumbent)
    with transaction.atomic():
        if not move(campaign, CampaignState.ANALYZE):
            return NOTHING
        if made is not None:
            made.save()
            count = f"{made.sessions} measurement{'s' * (made.sessions != 1)}"
            words = f"evidence about round {incumbent.round.number}, from {count}; furthest off: "
            words += read_facts(made.facts).sentences()[0]
            record(campaign, "profiled", words, evidence=made.pk)
            if not campaign.is_sample:
                tell_learned(campaign)
    return AGAIN


def _gathered(campaign: Campaign, incumbent: Candidate) -> Evidence:
    """By the sessions that decided about it, and by those that measured it as the other arm."""
    after, own = campaign.rounds.count(), deciding_report(incumbent)
    rows = Evaluation.objects.filter(against=incumbent, state=EvaluationState.DONE)
    passed = rows.filter(outcome=Outcome.PASSED, void="").exclude(candidate=incumbent)
    rivals = [report for evaluation in passed.order_by("pk") if (report := evaluation.facts)]
    times: dict[str, list[float]] = {}
    sessions = [(case, case.candidate) for case in own.cases] if own else []
    sessions += [(case, case.incumbent) for report in rivals for case in report.cases]
    for case, timing in sessions:
        if timing is not None:
            median_us = statistics.median(decisive_samples(case, timing))
            times.setdefault(case.case, []).append(median_us)
    placed = target_of(campaign).cases
    facts: dict[str, Any] = {
        "cases": [_fact(name, found, placed.get(name)) for name, found in times.items()]
    }
    read = explained_of(incumbent, campaign)
    if code := read.code:
        facts["code"] = [
            {"name": one.name, "words": one.sentence, "strategies": list(one.strategies)}
            for one in targets_in(code, campaign)
            if not one.is_met
        ]
    if counted := read.profiled:
        lines = {"lines": _hot_lines(counted.main, incumbent.text.splitlines())}
        facts["profile"] = _counted(counted, moved_in(counted, campaign)) | lines
    if own and (cores := own.environment.get("cores")):
        facts["cores"] = int(cores)
    return Evidence(
        campaign=campaign,
        incumbent=incumbent,
        after=after,
        sessions=bool(own) + len(rivals),
        facts=facts,
    )


def _fact(name: str, times_us: Sequence[float], placed: CaseTarget | None) -> dict[str, Any]:
    """times_us: the median of each session."""
    time_us = statistics.median(times_us)
    fact: dict[str, Any] = {"case": name, "time_us": time_us}
    if placed is None:
        return fact
    fact["gb_per_s"] = placed.bytes / time_us / 1e3
    fact["gflop_per_s"] = placed.flops / time_us / 1e3
    if placed.floor_us is not None and placed.limit is not None:
        fact |= {"floor_us": placed.floor_us, "bound": placed.bound}
        fact["citation"] = placed.limit.citation
    return fact


def _counted(found: Profiled, moved: MovedBytes | None) -> dict[str, Any]:
    """What was counted, as `campaigns.proposers.evidence` documents it."""
    return {
        "case": found.case,
        "kernel": found.main.kernel,
        "limit": found.limit.kind,
        **picked(found.limit, "first second why"),
        "findings": [picked(one, "name words strategies share") for one in found.findings],
        "contradicts": moved.words if moved and moved.contradicts else "",
        "counted": {
            name: metric_words(name, value, found.main.vendor)
            for name, value in found.main.values.items()
        },
    }


def _hot_lines(main: KernelProfile, source: Sequence[str]) -> dict[str, str]:
    """Where warps wait most, of the incumbent's own lines: number → words."""
    own = [one for one in main.lines if 0 < one.line <= len(source)]
    return {
        str(one.line): f"{100 * one.share:.0f} % of its waits are at line {one.line}, "
        f"`{one.text_in(source)[:LINE_CHARACTERS]}`, {waits_for(one.stall, main.vendor)}"
        for one in own[:MOST_LINES]
    }


LEARNED, LESSONS_READ = "learned", "lessons"
MOST_LESSONS = 5
MOST_TOLD = 5


def tell_learned(campaign: Campaign) -> None:
    """The lessons, once and before the first attempt; then what is recommended and what is left
    out, for each new incumbent. Nothing where nothing is known. Inside the caller's transaction.
    """
    with seeing(eyes_of_campaign(campaign.pk)):
        if not campaign.events.filter(kind=LESSONS_READ).exists():
            _tell_lessons(campaign)
        same = [one for one in spent_for(campaign) if one.is_same]
        advice = advice_for(campaign)
    told: dict[str, Sequence[Any]] = {
        "recommended by experience": advice,
        "not tried again on this source, since it would be the same experiment": same,
    }
    parts = []
    for what, found in told.items():
        listed = ", ".join(f"{one.strategy} ({one.words})" for one in found[:MOST_TOLD])
        more = f" and {len(found) - MOST_TOLD} more" if len(found) > MOST_TOLD else ""
        parts += [f"{what}: {listed}{more}"] if found else []
    if parts:
        record(campaign, LEARNED, "; ".join(parts), entries=[one.entry for one in same])


def _tell_lessons(campaign: Campaign) -> None:
    found = lessons_for(
        op=campaign.problem.op,
        backend=campaign.backend,
        platform=campaign.platform.slug,
        arch=campaign.platform.target,
        dtype=campaign.problem.dtype,
        limit=MOST_LESSONS,
    )
    if not found:
        return
    count = f"{len(found)} lesson{'s' * (len(found) != 1)}"
    told = "; ".join(str(lesson).rstrip(".") for lesson in found)
    uuids = [str(lesson.uuid) for lesson in found]
    record(campaign, LESSONS_READ, f"read {count}: {told}", lessons=uuids)
