"""What a claimed evaluation came to: stored once, stored late, void, or released.

A result waits on this disk until the database has it: a file a claim, in DATA_DIR/results.
"""

from __future__ import annotations

import json
import logging
import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from campaigns.devices.processes import is_gone, worker_of
from campaigns.evaluator.contract import ContractError, Outcome, Phase, Report
from campaigns.evaluator.contract.files import dump, load_report
from campaigns.models import Campaign, Candidate, Evaluation, EvaluationKind, EvaluationState
from campaigns.models.event import record
from campaigns.models.transitions import claim, move
from campaigns.records.evaluations import BESIDE, next_attempt, rivals_of
from campaigns.records.judged_rounds import undecided_under
from campaigns.records.noise import (
    as_host_failure,
    drift_under,
    may_repeat,
    needs_person,
    sentence_of,
    void_since_resumed,
)
from campaigns.rules.noise.drift import Disturbance
from campaigns.steps.measuring.claims import give_back, is_vanished, renew_connection
from campaigns.steps.measuring.waits import ask_to_pause, end_wait
from campaigns.steps.notify import AGAIN, Next

log = logging.getLogger(__name__)

MOST_ATTEMPTS = 3


def not_measured(evaluation: Evaluation, reason: str) -> Report:
    """The report of an evaluation for which this host could not measure, or nobody has."""
    return Report(f"evaluation-{evaluation.pk}", Outcome.BROKEN_HOST, Phase.START, reason)


def ended_with(report: Report, at: datetime | None = None) -> dict[str, Any]:
    """The columns of an evaluation that ends with this report, now or as recorded."""
    return {
        "outcome": report.outcome.value,
        "reason": report.reason,
        "report": json.loads(dump(report)),
        "phase": report.phase.value,
        "finished_at": at or timezone.now(),
    }


def record_report(
    evaluation: Evaluation, report: Report, *, retry: bool = True, at: datetime | None = None
) -> Campaign | None:
    """End a claimed evaluation with its report, if the claim is still held. at: as `ended_with`.

    A claim that was given up, as its worker had shown no life for too long, counts as held until
    somebody else claims the evaluation.
    A broken host gets a new evaluation, at most three in all; its failure is not the candidate's.
    One that is void, as device or host did not stay the same, is repeated as well.
    """
    campaign = evaluation.campaign
    held = Q(state=EvaluationState.RUNNING, holder=evaluation.holder)
    given_up = Q(state=EvaluationState.QUEUED, holder="", claims=evaluation.claims)
    mine = Evaluation.objects.filter(held | given_up, pk=evaluation.pk)
    renew_connection()
    beside = list(zip(rivals_of(evaluation), report.rivals, strict=False))
    report = _beside(len(beside), report)
    drifted = drift_under(evaluation, report) or undecided_under(evaluation, report)
    if drifted and not may_repeat(evaluation):
        report, drifted = as_host_failure(report, drifted), ()
    # What kopt has written itself does not cheat: then the host was too busy to tell.
    failed = (Outcome.BROKEN_HOST, *([Outcome.CHEATED] if evaluation.traits.is_torch else ()))
    broken, ending = report.outcome in failed, ended_with(report, at)
    with transaction.atomic():
        void = _void_columns(drifted)
        if not claim(mine, state=EvaluationState.DONE, **ending, **void):
            log.warning("%s: taken over by another worker; result dropped", evaluation)
            return None
        if drifted:
            repeat_void(evaluation, void["void"])
        elif broken and retry:
            same = Evaluation.objects.filter(candidate=evaluation.candidate, kind=evaluation.kind)
            if same.filter(outcome__in=failed, void="").count() < MOST_ATTEMPTS:
                evaluation.queue_again()
        for candidate, own in beside:
            _record_rival(evaluation, candidate, _beside(len(beside), own))
        round_ = evaluation.candidate.round
        who = f"round {round_.number}, {evaluation.candidate.label}"
        if evaluation.traits.is_torch:
            who = f"{evaluation.traits.words} beside round {round_.number}"
        elif evaluation.kind == EvaluationKind.SERIES:
            who = f"round {round_.number} {evaluation.traits.words}"
        message = f"{who}: {report.outcome.value}"
        record(campaign, "evaluated", message, round=round_, evaluation=evaluation.pk)
    return campaign


def _void_columns(drifted: tuple[Disturbance, ...]) -> dict[str, Any]:
    """What a row says of that which did not stay the same; nothing for nothing."""
    why = [asdict(one) | {"what": one.what.value} for one in drifted]
    return {"void": sentence_of(drifted) if drifted else "", "void_reasons": why}


def _beside(others: int, report: Report) -> Report:
    """One candidate's own report, with how many others shared its trial."""
    more = {BESIDE: str(others)} if others else {}
    return replace(report, rivals=(), environment={**report.environment, **more})


def _record_rival(trial: Evaluation, candidate: Candidate, report: Report) -> None:
    """Store what a trial has found of another candidate, as an evaluation of its own.

    Its time is that of the trial, and counted there. Inside the caller's transaction.
    """
    drifted, now = drift_under(trial, report) or undecided_under(trial, report), timezone.now()
    kind, round_ = trial.kind, candidate.round
    own = Evaluation.objects.create(
        candidate=candidate,
        against=trial.against,
        kind=kind,
        attempt=next_attempt(candidate, kind),
        worker=trial.worker,
        started_at=now,
    )
    move(own, EvaluationState.DONE, **ended_with(report), **_void_columns(drifted))
    message = f"round {round_.number}, {candidate.label}: {report.outcome.value}"
    record(round_.campaign, "evaluated", message, round=round_, evaluation=own.pk)


def repeat_void(evaluation: Evaluation, sentence: str) -> None:
    """Record by this sentence why it is void, and queue the next attempt, which waits for a quiet
    host; after too many the campaign waits for a person, not where it gives way to rounds anyway.

    Inside the caller's transaction.
    """
    campaign, round_ = evaluation.campaign, evaluation.candidate.round
    evaluation.queue_again()
    message = f"round {round_.number}: measurement void and repeated: {sentence}"
    record(campaign, "measurement_void", message, round=round_, evaluation=evaluation.pk)
    if evaluation.traits.gives_way:
        return
    void = void_since_resumed(evaluation)
    if needs_person(void):
        words = f"{len(void)} measurements in a row are void; the campaign waits. Resume it when "
        ask_to_pause(campaign, f"{words}the device is steady again. {sentence}")


@dataclass(frozen=True, slots=True)
class SavedResult:
    """What one claim has measured. claims: how often the evaluation had been claimed by then."""

    path: Path
    evaluation: int
    holder: str
    claims: int
    report: Report

    def forget(self) -> None:
        """Remove the file: the result is stored, or of no use."""
        self.path.unlink(missing_ok=True)


def save_result(evaluation: int, holder: str, claims: int, report: Report) -> SavedResult | None:
    """Write a result down, whole or not at all; None where this disk cannot take it."""
    claim = {"evaluation": evaluation, "holder": holder, "claims": claims}
    text = json.dumps({**claim, "report": dump(report)})
    folder = _results()
    path = folder / f"evaluation-{evaluation}-{claims}.json"
    part = ""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, part = tempfile.mkstemp(prefix=".", dir=folder)
        with os.fdopen(handle, "w") as file:
            file.write(text)
            file.flush()
            os.fsync(handle)
        os.replace(part, path)
    except OSError as error:
        log.warning("evaluation %s: its result is not kept in %s: %s", evaluation, folder, error)
        Path(part or path).unlink(missing_ok=True)
        return None
    return SavedResult(path, evaluation, holder, claims, report)


def saved_results() -> Iterator[SavedResult]:
    """What an earlier try could not store. A file that says nothing to this version is removed."""
    for path in sorted(_results().glob("evaluation-*.json")):
        try:
            said = json.loads(path.read_text())
            claimed = (said["evaluation"], said["holder"], said["claims"])
            found = SavedResult(path, *claimed, load_report(said["report"]))
        except FileNotFoundError:
            continue  # another process has just stored it
        except (ValueError, KeyError, TypeError, ContractError) as error:
            log.warning("%s: no result of this version, removed: %s", path, error)
            path.unlink(missing_ok=True)
            continue
        yield found


def _results() -> Path:
    return Path(settings.DATA_DIR) / "results"


# By then whoever has measured it has stored it, or has failed to.
LEFT_S = 10.0


def store_saved() -> list[tuple[Campaign, Next]]:
    """Store each result that was left, unless it was measured again; whom to notify.

    Run with every heartbeat. Raises DatabaseError, and what is not stored stays kept.
    """
    campaigns = (_store_late(kept) for kept in saved_results())
    return [(campaign, AGAIN) for campaign in campaigns if campaign]


def _store_late(kept: SavedResult) -> Campaign | None:
    try:
        left_s = time.time() - kept.path.stat().st_mtime
    except FileNotFoundError:
        left_s = 0.0
    if left_s <= LEFT_S and not is_gone(kept.holder):
        return None
    rows = Evaluation.objects.select_related("candidate__round__campaign", "worker")
    evaluation, campaign = rows.filter(pk=kept.evaluation).first(), None
    if evaluation is not None:
        # As it was when it was measured; record_report looks at what has become of it.
        evaluation.holder, evaluation.claims = kept.holder, kept.claims
        with transaction.atomic():
            campaign = record_report(evaluation, kept.report)
            if campaign and evaluation.worker:
                end_wait(evaluation, evaluation.worker)
        log.warning("%s: %s", evaluation, "stored late" if campaign else "measured again, dropped")
    kept.forget()
    return campaign


# After so many lost workers a candidate is not measured again.
MOST_CLAIMS = 5


def release_vanished(among: QuerySet[Evaluation]) -> None:
    """Release those of these evaluations whose worker has ended or sends no heartbeat."""
    running = among.filter(state=EvaluationState.RUNNING)
    for evaluation in running.select_related("candidate__round__campaign"):
        if is_vanished(evaluation):
            _release(evaluation)


def _release(evaluation: Evaluation) -> None:
    """Queue the evaluation again, or end it when it has lost too many workers."""
    worker = worker_of(evaluation.holder)
    message = f"worker {worker} vanished while it held {evaluation}"
    with transaction.atomic():
        if evaluation.claims >= MOST_CLAIMS:
            reason = f"{evaluation.claims} workers vanished while they measured this candidate"
            report = not_measured(evaluation, reason)
            released = record_report(evaluation, report, retry=False) is not None
        else:
            released = give_back(evaluation)
        if released:
            round_ = evaluation.candidate.round
            record(evaluation.campaign, "worker_vanished", message, round=round_, worker=worker)
