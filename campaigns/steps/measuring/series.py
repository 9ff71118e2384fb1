"""Measure accepted kernels against v0 again, after a change of what measures or on a schedule.

No campaign waits for it and none is held up: a worker that nobody needs takes one at a time, and a
round that comes meanwhile ends it; then it waits again. No verdict, incumbent or result changes.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from functools import cache, partial
from typing import Any

import msgspec
from django.db import IntegrityError, transaction
from django.urls import reverse

from campaigns.devices.discover import Device
from campaigns.devices.environment import environment_of
from campaigns.evaluator.contract import Report
from campaigns.models import (
    Campaign,
    Candidate,
    Evaluation,
    EvaluationKind,
    EvaluationState,
    SeriesEntry,
    SeriesWish,
    Worker,
)
from campaigns.models.event import record
from campaigns.records.baselines import may_be_measured
from campaigns.records.campaigns import stored_result
from campaigns.records.evaluations import next_attempt, report_of
from campaigns.records.judged_rounds import standard_of
from campaigns.records.noise import floor_for
from campaigns.records.passports import is_needed, is_quiet
from campaigns.records.series import (
    accepted,
    anchor_of,
    due_on,
    environment_in,
    in_series,
    owners_of_entry,
    unsorted,
    why_queued,
)
from campaigns.rules.noise.gain import both_arms, geomean
from campaigns.rules.noise.passport import typical_us
from campaigns.rules.noise.series import SeriesSession, sort_session
from campaigns.rules.verdict.one_session import decide_session
from campaigns.steps.notify import Next
from knowledge.models import NoticeKind, Notification


class NotInSeries(ValueError):
    """What cannot be measured again; the message says what is accepted."""


def continue_series(worker: Worker, device: Device) -> list[tuple[Campaign, Next]]:
    """Sort what was measured; where nobody needs this worker's device, name what it measures next.

    Run with every look of a heartbeat; running it more often does no harm. What people asked for
    goes first, and does not wait until the worker was idle for a while.
    """
    for evaluation in unsorted().select_related("candidate__round__campaign__protocol", "worker"):
        sort_measured(evaluation)
    if is_needed(worker, device):
        return []
    found = _queued_on(worker)
    if found is None and is_quiet(worker, device):
        due = due_on(worker.platform_id, cache(partial(environment_of, device)))
        if due is not None:
            key, why = due
            found = queue_series(Candidate.objects.get(pk=key), why)
    return [(found.campaign, Next(measure=(found.pk,)))] if found else []


def _queued_on(worker: Worker) -> Evaluation | None:
    """The oldest that waits for a device of this worker's platform."""
    rows = Evaluation.objects.filter(
        kind=EvaluationKind.SERIES,
        state=EvaluationState.QUEUED,
        candidate__round__campaign__platform=worker.platform_id,
    )
    found = rows.select_related("candidate__round__campaign__platform").order_by("pk")
    return next((one for one in found if may_be_measured(one)), None)


def queue_series(candidate: Candidate, why: str, by: Any = None) -> Evaluation:
    """Queue one measurement of an accepted kernel against v0, or find the one that waits.

    why: without a full stop. Raises NotInSeries.
    """
    campaign, round_ = candidate.round.campaign, candidate.round
    if not accepted().filter(pk=candidate.pk).exists():
        raise NotInSeries(
            f"round {round_.number} of campaign {campaign.pk}: accepted: an accepted round after "
            "the baseline, of a campaign that was not aborted"
        )
    with transaction.atomic():
        Campaign.objects.select_for_update().get(pk=campaign.pk)
        same = candidate.evaluations.filter(kind=EvaluationKind.SERIES)
        if waiting := same.exclude(state=EvaluationState.DONE).first():
            return waiting
        made: Evaluation = Evaluation.objects.create(
            candidate=candidate,
            against=Candidate.objects.get(round__campaign=campaign, round__number=1),
            kind=EvaluationKind.SERIES,
            attempt=next_attempt(candidate, EvaluationKind.SERIES),
        )
        words = f"round {round_.number} is to be measured against v0 again: {why}"
        said = {"evaluation": made.pk, "why": why}
        record(campaign, SeriesWish.KIND, words, round=round_, by=by, **said)
    return made


def queue_campaigns(keys: list[int], why: str, by: Any = None) -> list[Evaluation]:
    """Queue what is in the series of these campaigns, or of all for none. Raises NotInSeries."""
    rows = in_series().select_related("round__campaign__platform").order_by("pk")
    found = [one for one in rows if not keys or one.round.campaign_id in keys]
    lacking = set(keys) - {one.round.campaign_id for one in found}
    if lacking:
        named = ", ".join(map(str, sorted(lacking)))
        raise NotInSeries(
            f"campaign {named}: accepted: a finished one with an accepted round, which nobody "
            "marked invalid, or one with an approved round"
        )
    return [queue_series(candidate, why, by) for candidate in found]


def sort_measured(evaluation: Evaluation) -> None:
    """Store what one measurement says beside what people know, and tell where that moved.

    Of two workers that do so at once the second one's row is refused.
    """
    campaign, round_ = evaluation.campaign, evaluation.candidate.round
    anchor = anchor_of(evaluation)
    was, now = (_known(anchor) if anchor else None), _session(evaluation)
    found = sort_session(was, now)
    words = f"round {round_.number} measured again, {found.sort.words}: {found.sentence}"
    try:
        with transaction.atomic():
            entry = record(
                campaign,
                SeriesEntry.KIND,
                words,
                round=round_,
                evaluation=evaluation.pk,
                before=anchor.pk if anchor and was and was.gain else None,
                why=why_queued(evaluation),
                sort=found.sort.value,
                sentence=found.sentence,
                changed=[asdict(one) for one in found.changed],
                was=asdict(was) if was and was.gain else None,
                now=asdict(now),
            )
            if found.sort.asks:
                _tell(SeriesEntry.objects.get(pk=entry.pk))
    except IntegrityError:
        if not SeriesEntry.objects.filter(
            campaign=campaign, data__evaluation=evaluation.pk
        ).exists():
            raise


def _tell(entry: SeriesEntry) -> None:
    """Notify whose result it is."""
    url = reverse("series_entry", args=[entry.campaign_id, entry.pk])
    text = f"{entry.campaign.title}: {entry.message}"
    people = owners_of_entry(entry)
    Notification.objects.tell(people, NoticeKind.SERIES, text, url, entry.campaign_id)


def _known(anchor: Evaluation) -> SeriesSession:
    """What is compared with, as it was concluded then, also where another kopt wrote the report."""
    entry = SeriesEntry.objects.filter(campaign=anchor.campaign, data__evaluation=anchor.pk).first()
    if entry is not None:
        return msgspec.convert(entry.now, SeriesSession)
    found, result = _session(anchor), stored_result(anchor.campaign)
    is_result = found.gain is None and result.evaluation == anchor.pk
    return replace(found, gain=result.as_gain) if is_result else found


def _session(evaluation: Evaluation) -> SeriesSession:
    """One measurement against v0 as the rules compare it."""
    campaign, environment = evaluation.campaign, environment_in(evaluation)
    report = report_of(evaluation)
    if report is None:
        said = "its report is of another version of kopt"
        return SeriesSession(None, None, None, 0.0, "", environment, said)
    floor = floor_for(campaign, evaluation)
    standard = standard_of(campaign, has_incumbent=True)
    decision = decide_session(
        report, replace(standard, noise=floor.value, noise_source=floor.words)
    )
    v0_us, kernel_us = _times(report) if decision.gain else (None, None)
    return SeriesSession(
        decision.gain, v0_us, kernel_us, floor.value, floor.words, environment, decision.sentence
    )


def _times(report: Report) -> tuple[float, float]:
    """Geometric means over the cases of the median times of v0 and of the kernel, in µs."""
    arms = [both_arms(case) for case in report.cases]
    v0, kernel = zip(*arms, strict=True)
    return geomean(map(typical_us, v0)), geomean(map(typical_us, kernel))
