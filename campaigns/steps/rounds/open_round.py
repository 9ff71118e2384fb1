"""A round begins: its hypothesis, its candidates as sources, and what is to be measured of them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from django.db import transaction
from django.db.models import Exists, Q
from django.utils import timezone

from campaigns.evaluator.contract import Param, Source
from campaigns.models import (
    Campaign,
    CampaignState,
    Candidate,
    Evaluation,
    EvaluationKind,
    EvaluationState,
    Round,
    RoundKind,
    Submission,
    Sweep,
)
from campaigns.models.event import record
from campaigns.models.transitions import claim, move
from campaigns.proposers.base import Draft
from campaigns.proposers.situation import drafted_in, stored_draft
from campaigns.records.findings import examined, stored_findings
from campaigns.records.rounds import declared_of, evidence_of, proposed_by
from campaigns.rules.verdict.buckets import transfer
from campaigns.rules.verdict.source_gates import static_findings
from campaigns.steps.notify import AGAIN, NOTHING, Next
from campaigns.syntax.findings.find import findings_of
from knowledge.models import Adoption, Experience


def open_round(
    campaign: Campaign,
    draft: Draft,
    after: int,
    split: dict[str, Any] | None = None,
    submission: Submission | None = None,
) -> Next:
    """Open round n+1 with its hypothesis, what that rests on, and what the proposer answered.

    Nothing is asked twice after a crash: what was answered is in the row. after: how many rounds
    there were when the draft was asked for; it is dropped when another worker has tried one since,
    so that nothing is compared with an incumbent that was. So is a draft of the search when
    something was handed in since, which may be the same. split: what `Round.split` keeps of a
    dispatch split. submission: what the draft was handed in as; no second round is ever opened for
    it.
    """
    kind, plan = RoundKind.ATTEMPT if split is None else RoundKind.SPLIT, draft.sweep
    if len(draft.candidates) > 1 or plan is not None:
        kind = RoundKind.SWEEP
    with transaction.atomic():
        later = Round.objects.filter(campaign=campaign.pk, number__gt=after)
        fresh = ~Q(Exists(later))
        if submission is None and split is None:
            fresh &= ~Q(Exists(Submission.objects.filter(campaign=campaign.pk, rounds=None)))
        if not move(campaign, CampaignState.IMPLEMENT, fresh):
            return NOTHING
        round_ = Round.objects.create(
            campaign=campaign,
            number=after + 1,
            kind=kind,
            split=split,
            submission=submission,
            hypothesis=asdict(draft.hypothesis),
            evidence=evidence_of(campaign),
            draft=stored_draft(draft.candidates),
            against=campaign.incumbent,
        )
        if plan is not None:
            Sweep.objects.create(
                round=round_,
                knobs=[{"name": n, "values": list(v), "default": d} for n, v, d in plan.knobs],
                size=str(plan.size),
                strategy=plan.strategy,
                seed=plan.seed,
                seeds=[dict(point) for point in plan.seeds],
                most_points=plan.most_points,
                most_s=plan.most_s,
            )
        _adopt(round_, draft.hypothesis.follows)
        record(
            campaign,
            "round_opened",
            f"round {round_.number}, {proposed_by(round_).words}: {draft.hypothesis.title}",
            round=round_,
        )
    return AGAIN


def _adopt(round_: Round, uuids: Iterable[str]) -> None:
    """Write down which entries the round follows: "used in round 7"."""
    entries = Experience.objects.filter(uuid__in=list(uuids)).select_related("track")
    Adoption.objects.bulk_create(
        Adoption(
            campaign=round_.campaign_id,
            round=round_.number,
            strategy=entry.track.strategy,
            entry=entry,
        )
        for entry in entries.order_by("pk")
    )


def open_baseline(campaign: Campaign) -> Next:
    """Open round 1 with v0 as its candidate and queue its evaluation."""
    with transaction.atomic():
        if not move(campaign, CampaignState.BASELINE):
            return NOTHING
        round_ = Round.objects.create(campaign=campaign, number=1, kind=RoundKind.BASELINE)
        candidate = add_candidate(round_, 1, "v0", v0_source(campaign))
        request_evaluation(candidate, candidate, EvaluationKind.BASELINE)
        record(campaign, "round_opened", "round 1: the baseline, v0", round=round_)
    return AGAIN


def v0_source(campaign: Campaign) -> Source:
    """The problem's file for the campaign's backend, with the flags that problem.toml names."""
    problem, name = campaign.problem, campaign.problem.backends[campaign.backend]
    return Source(name, problem.files[name], problem.flags_of(campaign.backend))


def sweep_of(round_: Round) -> Sweep | None:
    """The search of the round's candidates; None where the proposer gave them."""
    return Sweep.objects.filter(round=round_).first()


def implement(round_: Round) -> Next:
    """Store each source of the draft. One is measured in full at once, several are screened first.

    What the campaign's findings policy refuses is stored, and never built or run.
    """
    campaign, kind = round_.campaign, round_.traits.evaluated_as
    if sweep_of(round_):
        kind = EvaluationKind.SWEEP
    drafted = drafted_in(round_.draft or [])
    with transaction.atomic():
        if not move(campaign, CampaignState.VALIDATE):
            return NOTHING
        for ordinal, variant in enumerate(drafted, 1):
            told = (variant.label, variant.source, variant.params)
            request_evaluation(add_candidate(round_, ordinal, *told), round_.against, kind)
        claim(Round.objects.filter(pk=round_.pk), draft=None)
        count = f"{len(drafted)} candidate{'s' * (len(drafted) != 1)}"
        record(campaign, "implemented", f"round {round_.number}: {count}", round=round_)
    return AGAIN


def add_candidate(
    round_: Round,
    ordinal: int,
    label: str,
    source: Source,
    params: Mapping[str, Param] | None = None,
) -> Candidate:
    """Store one source under a round, with what static reading finds in it.

    The digest is over name, text and flags.
    """
    digest = hashlib.sha256("\0".join((source.name, source.text, *source.flags)).encode())
    return Candidate.objects.create(
        round=round_,
        ordinal=ordinal,
        label=label,
        file_name=source.name,
        text=source.text,
        flags=list(source.flags),
        params=dict(params or {}),
        digest=digest.hexdigest(),
        findings=stored_findings(findings_of(source)),
    )


def request_evaluation(
    candidate: Candidate, against: Candidate | None, kind: EvaluationKind
) -> Evaluation:
    """Queue the evaluation of a new candidate, in the caller's transaction.

    A refused candidate is never built or run: its evaluation is done at once, without a report,
    and its reason is the sentence of the gate.
    """
    round_ = candidate.round
    evaluation = Evaluation.objects.create(candidate=candidate, against=against, kind=kind)
    found = static_findings(examined(candidate, round_.campaign))
    if found.reason is None:
        found = transfer(declared_of(round_))
    if found.reason is not None:
        move(evaluation, EvaluationState.DONE, reason=found.sentence, finished_at=timezone.now())
        message = f"round {round_.number}, {candidate.label}: not run: {found.gate.found}"
        record(round_.campaign, "refused", message, round=round_, candidate=candidate.ordinal)
    return evaluation
