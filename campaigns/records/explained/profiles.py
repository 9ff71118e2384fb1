"""Stored profiles as what they say, with what the problem knows of the work beside the counters."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.db.models import QuerySet

from campaigns.evaluator.contract import MachineCode, Profile, Report
from campaigns.models import Candidate, Evaluation, EvaluationState, Evidence, Problem, Round
from campaigns.models.campaign import Campaign
from campaigns.models.kinds import CODE_IS_READ
from campaigns.profiles.isa import IsaTarget, isa_targets
from campaigns.profiles.kernel_profile import ProfileError
from campaigns.profiles.pattern import KernelWork
from campaigns.profiles.reading import MovedBytes, Profiled, moved_bytes, read_profile
from campaigns.records.campaigns import target_of
from campaigns.records.evaluations import explaining, report_of
from knowledge.experience.terms import family_of
from knowledge.lookup.value import cited_by_metric

PRODUCTS = ("matmul", "attention", "convolution")


def counted_bytes(campaign: Campaign, case: str) -> float | None:
    """What DRAM moved for one call of the incumbent on this case; None where nobody counted it."""
    found = explained_of(campaign.incumbent, campaign).profiled if campaign.incumbent else None
    moved = moved_in(found, campaign) if found and found.case == case else None
    return moved.measured if moved else None


def doubts_of_formula(problem: Problem) -> str:
    """Why counters contradict the problem's formula of bytes; "" where the newest do not."""
    rows = Evidence.objects.filter(campaign__problem=problem.pk or 0, facts__has_key="profile")
    told = rows.order_by("pk").last()
    return str(told.facts["profile"].get("contradicts", "")) if told else ""


def looked_at(campaign: Campaign) -> QuerySet[Round]:
    """Rounds with a candidate whose machine code and counters were read, in their order."""
    rows = Evaluation.objects.filter(kind__in=CODE_IS_READ, state=EvaluationState.DONE)
    read = rows.filter(candidate__round__campaign=campaign).values("candidate__round")
    return campaign.rounds.filter(pk__in=read).order_by("number")


def profiled_in(
    stored: Profile | None, campaign: Campaign, call_us: float | None = None
) -> Profiled | None:
    """None where nothing was counted, or what was stored is no profile. call_us: of its trial."""
    if stored is None or not stored.text:
        return None
    placed = target_of(campaign).cases.get(stored.case)
    least = placed.bytes if placed and placed.bytes >= 1 else None
    try:
        return read_profile(stored, KernelWork(is_product(campaign.problem.op), least, call_us))
    except ProfileError:
        return None


def is_product(op: str) -> bool:
    """Whether this operation multiplies matrices, for which a device may have special units."""
    return family_of(op) in PRODUCTS


def targets_in(code: MachineCode | None, campaign: Campaign) -> tuple[IsaTarget, ...]:
    """What a candidate's machine code should be like, and is (R31); empty where none was read."""
    product = is_product(campaign.problem.op)
    return isa_targets(code.functions if code else (), campaign.backend, multiplies=product)


@dataclass(frozen=True, slots=True)
class Explained:
    """What was read of a candidate beside its trial, the last time; None where nothing was."""

    stored: Profile | None = None
    profiled: Profiled | None = None
    code: MachineCode | None = None

    @property
    def note(self) -> str:
        """Why there is no profile."""
        return self.stored.note if self.stored else ""


def explained_by(evaluations: Iterable[Evaluation], campaign: Campaign) -> Explained:
    """evaluations: of one candidate of the campaign's, the newest first."""
    read = [report for one in evaluations if one.traits.reads_code and (report := report_of(one))]
    counted = next((report for report in read if report.profile), None)
    stored = counted.profile if counted else None
    call_us = _call_us(counted, stored.case) if counted and stored else None
    code = next((report.machine_code for report in read if report.machine_code), None)
    return Explained(stored, profiled_in(stored, campaign, call_us), code)


def _call_us(report: Report, name: str) -> float | None:
    timings = (case.candidate for case in report.cases if case.case == name and case.candidate)
    return next((statistics.median(one.samples_us) for one in timings if one.samples_us), None)


def explained_of(candidate: Candidate, campaign: Campaign | None = None) -> Explained:
    """campaign: its own, where the caller has it."""
    return explained_by(explaining(candidate), campaign or candidate.round.campaign)


def explained(campaign: Campaign, candidates: Iterable[int]) -> dict[int, Explained]:
    """Candidate key → what was read of it; one query for all of them."""
    rows = Evaluation.objects.filter(kind__in=CODE_IS_READ, candidate__in={*candidates})
    own: dict[int, list[Evaluation]] = defaultdict(list)
    for row in rows.order_by("-pk"):
        own[row.candidate_id].append(row)
    return {key: explained_by(evaluations, campaign) for key, evaluations in own.items()}


@dataclass(frozen=True, slots=True)
class ProfileValue:
    """What was counted of a candidate, as data; note: why nothing was.

    limit: the class in words, why: in numbers; findings: name → words. counters: by the names that
    a hypothesis cites, in their units (docs/profiles.md).
    """

    tool: str
    case: str
    kernel: str
    limit: str
    why: str
    findings: Mapping[str, str]
    counters: Mapping[str, float]
    note: str


def profile_value(candidate: Candidate) -> ProfileValue | None:
    """None where nobody tried to count."""
    read = explained_of(candidate)
    stored, found = read.stored, read.profiled
    if stored is None:
        return None
    if found is None:
        note = stored.note or "what was stored is no profile"
        return ProfileValue(stored.tool, stored.case, "", "", "", {}, {}, note)
    told = {one.name: one.words for one in found.findings}
    limit, main = found.limit, found.main
    return ProfileValue(
        found.tool, found.case, main.kernel, limit.words, limit.why, told, main.values, ""
    )


def moved_in(found: Profiled, campaign: Campaign) -> MovedBytes | None:
    """Counted bytes beside those of the problem's formula; None where one is not known."""
    placed = target_of(campaign).cases.get(found.case)
    cache = cited_by_metric(campaign.platform, ["l2_size"]).get("l2_size")
    return moved_bytes(found, placed.bytes, cache.value if cache else None) if placed else None
