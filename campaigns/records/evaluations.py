"""Evaluations in the records: their reports, which of them decide, and what a worker may take."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from campaigns.evaluator.contract import ContractError, Outcome, Report
from campaigns.models import (
    Campaign,
    CampaignState,
    Candidate,
    Evaluation,
    EvaluationKind,
    EvaluationState,
    Round,
    RoundState,
    Standing,
    StandingWord,
    Worker,
)
from campaigns.models.kinds import APART, CODE_IS_READ, DECIDING
from campaigns.models.transitions import WORKING
from campaigns.rules.verdict.decide import merged
from campaigns.rules.verdict.decision import Decision


def report_of(evaluation: Evaluation) -> Report | None:
    """The stored report; None while there is none, or where another version wrote it."""
    try:
        return evaluation.facts
    except ContractError:
        return None


def copies_in(evaluation: Evaluation) -> bool:
    """Whether a timed call copied anything for the judge's sake; cheaper than `report_of`."""
    cases = evaluation.report.get("cases", ())
    return any((case.get("candidate") or {}).get("copied") for case in cases)


def explaining(candidate: Candidate) -> QuerySet[Evaluation]:
    """Its evaluations in which machine code and counters are read, the newest first."""
    return candidate.evaluations.filter(kind__in=CODE_IS_READ).order_by("-pk")


COMPILER, DRIVER = "compiler", "driver"
# The compiler in a stored evaluation, for a query that should not read every sample.
COMPILER_PATH = f"report__environment__{COMPILER}"
UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class MeasuredOn:
    """Versions as they call themselves; "" where nothing says."""

    compiler: str = ""
    driver: str = ""


def measured_on(evaluation: Evaluation) -> MeasuredOn:
    """By the report's environment; else the driver that the worker runs under."""
    told = evaluation.report.get("environment") or {}
    driver = str(told.get(DRIVER) or "")
    worker = evaluation.worker
    if driver in ("", UNKNOWN) and worker is not None:
        driver = str(worker.versions.get(DRIVER) or "")
    return MeasuredOn(str(told.get(COMPILER) or ""), driver)


# What two measurements must share to be compared, by its key in a report's environment.
LEGS = {
    "part": "device",
    "device": "card",
    "host": "host",
    "driver": DRIVER,
    "compiler": COMPILER,
    "CUDA": "cuda",
    "torch": "torch",
}
# Clocks this far apart, as shares of the higher, are not alike.
CLOCKS_APART = 0.03


def legs_of(keys: Iterable[int]) -> dict[int, dict[str, str]]:
    """Evaluation → what a comparison with it has to share: name → words. One query.

    method: how its calls were timed. clock: the median while it was measured, in MHz; left out
    where all of them are close together.
    """
    rows = (
        Evaluation.objects.filter(pk__in=list(keys))
        .order_by("pk")
        .values_list(
            "pk",
            "report__environment",
            "report__cases__0__candidate__timer",
            "report__surroundings",
        )
    )
    found: dict[int, dict[str, str]] = {}
    clocks: dict[int, float] = {}
    for key, environment, timer, moments in rows:
        told = environment or {}
        found[key] = {name: str(told.get(stored) or "") for name, stored in LEGS.items()}
        found[key]["method"] = str(timer or "")
        if seen := [one["clock_mhz"] for one in moments or () if one.get("clock_mhz")]:
            clocks[key] = statistics.median(seen)
    if clocks and min(clocks.values()) < max(clocks.values()) * (1 - CLOCKS_APART):
        for key in found:
            found[key]["clock"] = f"{clocks[key]:,.0f} MHz" if key in clocks else ""
    return found


def second_session(candidate: Candidate) -> Evaluation | None:
    """The last attempt at the candidate's second session; None before it is done."""
    again = candidate.evaluations.filter(kind=EvaluationKind.REMEASURE, state=EvaluationState.DONE)
    return again.order_by("attempt").last()


def is_elsewhere(card: str, claim: Evaluation) -> bool:
    """Whether this is another device than the claim's; False where either is unknown."""
    return bool(card and claim.card) and card != claim.card


def judged_candidate(round_: Round) -> Candidate:
    """The candidate that the round's verdict is about: the chosen one, or the only one."""
    return round_.chosen or round_.candidates.get(ordinal=1)


def deciding_evaluation(candidate: Candidate) -> Evaluation:
    """The evaluation that a verdict on this candidate rests on.

    It is a screening only where nothing passed that.
    """
    done = candidate.evaluations.filter(state=EvaluationState.DONE, kind__in=DECIDING)
    return max(done, key=lambda e: (e.traits.weight, e.attempt))


def deciding_report(candidate: Candidate) -> Report | None:
    """What is known of an accepted candidate's times: from every session that decided about it."""
    report, again = deciding_evaluation(candidate).facts, second_session(candidate)
    found = again.facts if again else None
    return merged(report, found) if report and found else report


# How many other candidates shared the trial, in a report's environment.
BESIDE = "candidates beside it"
# Among others a crash or a limit may be their doing: they share memory and CPUs of the host, and on
# a GPU its memory and its time.
DOUBTFUL = (Outcome.CRASHED, Outcome.TIMED_OUT)
MOST_BROKEN = 3


def untried(round_: Round) -> list[Candidate]:
    """The finalists of a round's search that still need a trial, in their order."""
    found = []
    for candidate in round_.candidates.filter(ordinal__gt=1).order_by("ordinal"):
        tries = list(_trials(round_).filter(candidate=candidate, void="").order_by("attempt"))
        broken = [one for one in tries if one.outcome == Outcome.BROKEN_HOST]
        last = tries[-1] if tries else None
        if len(broken) < MOST_BROKEN and (last is None or last in broken or _is_doubtful(last)):
            found.append(candidate)
    return found


def _is_doubtful(trial: Evaluation) -> bool:
    return trial.outcome in DOUBTFUL and BESIDE in trial.report.get("environment", {})


def rivals_of(evaluation: Evaluation) -> list[Candidate]:
    """The finalists that share the trial of an evaluation.

    None once a trial of the round was broken off: then each is tried by itself, so that one that
    disturbs the others does so no more.
    """
    round_ = evaluation.candidate.round
    if evaluation.kind != EvaluationKind.DECIDE or not round_.traits.is_screened:
        return []
    before = _trials(round_).filter(pk__lt=evaluation.pk, void="")
    if not hasattr(round_, "sweep") or before.filter(outcome=Outcome.BROKEN_HOST).exists():
        return []
    left = untried(round_)
    told = before.filter(candidate__in=left).exists()
    return [] if told else [one for one in left if one.pk != evaluation.candidate_id]


def next_attempt(candidate: Candidate, kind: str) -> int:
    """The number of the next measurement of this kind, from 1."""
    return 1 + candidate.evaluations.filter(kind=kind).count()


def _trials(round_: Round) -> QuerySet[Evaluation]:
    return Evaluation.objects.filter(candidate__round=round_, kind=EvaluationKind.DECIDE)


def outcomes_of_trials(round_: Round) -> dict[int, str]:
    """Outcomes of candidates that were tried in full, by ordinal; the last attempt counts."""
    done = _trials(round_).filter(state=EvaluationState.DONE).order_by("attempt")
    return dict(done.values_list("candidate__ordinal", "outcome"))


def tried_candidates(round_: Round) -> list[Candidate]:
    """Candidates that a verdict may be about: the finalists of a search that were tried, or one."""
    if round_.state != RoundState.SCREENED or not hasattr(round_, "sweep"):
        return [judged_candidate(round_)]
    done = _trials(round_).filter(state=EvaluationState.DONE)
    return list(round_.candidates.filter(pk__in=done.values("candidate")).order_by("ordinal"))


@dataclass(frozen=True, slots=True)
class Session:
    """One session about a candidate. alone: what it shows by itself."""

    evaluation: Evaluation
    alone: Decision


# An aborted campaign has no result to confirm, and a held one holds its device free.
REPRODUCED_IN = WORKING | {CampaignState.DONE}


def may_reproduce(evaluation: Evaluation, card: str) -> bool:
    """Whether a worker with this device may take this reproduction now."""
    campaign = evaluation.campaign
    held = campaign.state not in REPRODUCED_IN or campaign.pause_requested
    claims = Standing.objects.filter(word=StandingWord.CLAIMED, round=evaluation.candidate.round_id)
    claim = claims.select_related("evaluation").first()
    return not held and claim is not None and is_elsewhere(card, claim.evaluation)


def may_rely(campaign: Campaign, person: Any) -> bool:
    """Whether this person may rely on a gain in doubt; nobody may in a campaign of their own."""
    return campaign.created_by_id is None or campaign.created_by_id != person.pk


# In these a campaign waits for people, not for a device.
WAITS_FOR_PEOPLE = frozenset({CampaignState.AWAITING, CampaignState.RESTART})


def has_device_to_spare(platform: int) -> bool:
    """Whether more of its devices are served than campaigns are at work, each of which uses one."""
    at_work = Campaign.objects.filter(
        platform=platform, state__in=WORKING - WAITS_FOR_PEOPLE, pause_requested=False
    )
    cards = Worker.objects.alive().filter(platform=platform).values("card").distinct()
    return at_work.count() < cards.count()


def rounds_waiting(platform: int) -> QuerySet[Evaluation]:
    """What campaigns at work wait for and no worker of this platform has taken."""
    waiting = Evaluation.objects.filter(
        state=EvaluationState.QUEUED,
        candidate__round__campaign__platform=platform,
        candidate__round__campaign__state__in=WORKING,
        candidate__round__campaign__pause_requested=False,
    )
    return waiting.exclude(kind__in=APART)
