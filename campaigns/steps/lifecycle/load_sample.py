"""Load the sample: a campaign recorded on another machine, judged here by the rules of today.

The recording has what was tried, and what was measured of it. That goes in as a worker's reports
do, so no verdict is taken from it. All is one transaction: no worker meets one of its rows.
"""

from __future__ import annotations

import lzma
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import msgspec
from django.conf import settings
from django.db import router, transaction
from django.utils import timezone

from campaigns.evaluator.contract import Source
from campaigns.evaluator.contract.files import load_report
from campaigns.models import (
    Campaign,
    CampaignState,
    Evaluation,
    EvaluationState,
    Phase,
    Round,
)
from campaigns.models.campaign import measured_here
from campaigns.models.transitions import claim
from campaigns.problems.shipped import problem_folder
from campaigns.proposers.base import Draft, Hypothesis, Variant
from campaigns.rules.stop.policy import Stop, StopPolicy, StopReason
from campaigns.steps.lifecycle.advance import advance
from campaigns.steps.lifecycle.control import confirm
from campaigns.steps.lifecycle.create_campaign import Wish, create_campaign, stored_protocol
from campaigns.steps.lifecycle.finish import end_search
from campaigns.steps.lifecycle.set_target import set_target
from campaigns.steps.measuring.results import record_report
from campaigns.steps.rounds.open_round import open_round
from knowledge.models import Platform

RECORDING = settings.BASE_DIR / "campaigns" / "samples" / "softmax-cuda-h200.json.xz"
# A round takes some ten steps; a campaign that waits for somebody takes none.
MOST_STEPS = 200


class SampleRefused(ValueError):
    """A recording that the rules of today lead elsewhere than it goes; what is missing."""


class RecordedEvaluation(msgspec.Struct):
    kind: str
    report: msgspec.Raw
    started: datetime
    finished: datetime


class RecordedCandidate(msgspec.Struct):
    ordinal: int
    label: str
    file_name: str
    text: str
    flags: tuple[str, ...]
    params: dict[str, Any]
    evaluations: list[RecordedEvaluation]


class RecordedRound(msgspec.Struct):
    """chosen: the ordinal of the candidate that was judged; the others are not loaded."""

    hypothesis: dict[str, Any]
    opened: datetime
    closed: datetime
    chosen: int
    candidates: list[RecordedCandidate]

    @property
    def candidate(self) -> RecordedCandidate:
        return next(one for one in self.candidates if one.ordinal == self.chosen)


class Recording(msgspec.Struct):
    """A finished campaign as it was exported. stop: why it ended, the limit of hours.

    target: what each case takes is read from it; the ceilings are those of the wiki of today.
    """

    title: str
    problem: str
    platform: str
    backend: str
    cases: tuple[str, ...]
    seed: int
    stop_policy: StopPolicy
    stop: str
    target: dict[str, Any]
    protocol: dict[str, Any]
    rounds: list[RecordedRound]


def recording() -> Recording:
    """The one that is shipped."""
    return msgspec.json.decode(lzma.decompress(RECORDING.read_bytes()), type=Recording)


def load_sample(by: Any) -> Campaign:
    """The sample, of this person; the one that is there, where it was loaded before.

    Raises CampaignRefused and TargetUnknown where the wiki lacks its platform, and SampleRefused.
    """
    recorded = recording()
    with transaction.atomic():
        # Held until the end, so that two people at once load one.
        list(Platform.objects.select_for_update().filter(slug=recorded.platform))
        if there := Campaign.objects.exclude(measured_here()).first():
            return there
        campaign = create_campaign(
            Wish(
                problem=problem_folder(recorded.problem),
                platform=recorded.platform,
                backend=recorded.backend,
                cases=recorded.cases,
                policy=recorded.stop_policy,
                title=f"Sample: {recorded.title}",
                seed=recorded.seed,
                created_by=by,
            )
        )
        campaign.recorded_at = recorded.rounds[0].opened
        campaign.protocol = stored_protocol(recorded.protocol)
        campaign.save(update_fields=["recorded_at", "protocol"])
        confirm(campaign)
        _replay(campaign, recorded)
    return campaign


def _replay(campaign: Campaign, recorded: Recording) -> None:
    ideas = iter(recorded.rounds[1:])
    for _ in range(MOST_STEPS):
        if campaign.is_finished:
            break
        own = Evaluation.objects.filter(candidate__round__campaign=campaign)
        for evaluation in own.filter(state=EvaluationState.QUEUED):
            _measure(evaluation, recorded)
        if campaign.state == CampaignState.PREPARE and not campaign.target:
            cases = recorded.target["cases"].items()
            set_target(campaign, {name: (one["flops"], one["bytes"]) for name, one in cases})
        elif campaign.state == CampaignState.ANALYZE:
            _try_next(campaign, ideas, recorded.stop)
        else:
            advance(campaign)
        campaign.refresh_from_db()
    if campaign.state != CampaignState.DONE:
        why = campaign.stop_sentence or f"is {campaign.doing} after all that was recorded of it"
        raise SampleRefused(f"the sample: {why}")
    # How long its phases took here says nothing of the campaign.
    campaign.phases.all()._raw_delete(router.db_for_write(Phase))


def _try_next(campaign: Campaign, ideas: Iterator[RecordedRound], stop: str) -> None:
    """Open the next recorded round, or end the search as the recording did."""
    idea = next(ideas, None)
    if idea is None:
        end_search(campaign, Stop(StopReason.WALL_TIME, stop, success=False))
        return
    one = idea.candidate
    source = Source(one.file_name, one.text, one.flags)
    hypothesis = msgspec.convert(idea.hypothesis, Hypothesis)
    draft = Draft(hypothesis, (Variant(one.label, source, one.params),))
    open_round(campaign, draft, campaign.rounds.count())
    # It took as long as it did there.
    opened = Round.objects.filter(campaign=campaign, number=campaign.rounds.count())
    claim(opened, opened_at=timezone.now() - (idea.closed - idea.opened))


def _measure(evaluation: Evaluation, recorded: Recording) -> None:
    """End it with the report that was recorded of the same measurement."""
    number = evaluation.candidate.round.number
    told = recorded.rounds[number - 1].candidate.evaluations
    found = next((one for one in told if one.kind == evaluation.kind), None)
    if found is None or evaluation.attempt > 1:
        raise SampleRefused(
            f"the sample: round {number} needs a {evaluation.kind} that is not recorded"
        )
    claim(
        Evaluation.objects.filter(pk=evaluation.pk),
        state=EvaluationState.RUNNING,
        holder="recorded",
        started_at=found.started,
    )
    evaluation.refresh_from_db()
    record_report(evaluation, load_report(bytes(found.report).decode()), at=found.finished)
