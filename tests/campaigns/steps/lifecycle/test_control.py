"""Confirm, pause, resume, stop: what a person may do to a campaign at any moment."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from campaigns.evaluator.contract import Job
from campaigns.models import (
    Campaign,
    CampaignState,
    Evaluation,
    EvaluationKind,
    EvaluationState,
    IllegalTransition,
    Worker,
)
from campaigns.models.transitions import move
from campaigns.steps.lifecycle.control import pause, resume, stop
from campaigns.steps.lifecycle.create_campaign import Wish, create_campaign
from campaigns.steps.lifecycle.reconcile import reconcile
from campaigns.steps.lifecycle.run_here import run_here
from campaigns.steps.measuring.evaluate import evaluate
from campaigns.steps.notify import NOTHING
from campaigns.steps.worker import WorkerContext
from knowledge.models import Experience
from tests.campaigns.steps import cast


def quiet(message: str) -> None:
    return None


@pytest.fixture
def campaign(db: None, tmp_path: Path, script: Callable[..., cast.Script]) -> Campaign:
    script(["time 50"], ["time 40"])
    return cast.make_campaign(tmp_path)


def test_it_pauses_after_the_running_evaluation_and_goes_on(
    campaign: Campaign, bench: WorkerContext, judge: cast.Judge
) -> None:
    def pause_now(job: Job) -> None:
        judge.during = lambda job: None
        pause(cast.fresh(campaign))

    judge.during = pause_now
    held = run_here(campaign.pk, bench, quiet)
    assert (held.state, held.paused_from) == (CampaignState.PAUSED, CampaignState.BASELINE)
    assert len(judge.jobs) == 1
    assert cast.step(campaign).again is False
    assert resume(held).again
    assert run_here(campaign.pk, bench, quiet).state == CampaignState.DONE


def test_it_takes_back_a_pause_that_has_not_come_yet(campaign: Campaign) -> None:
    pause(campaign)
    resume(campaign)
    assert not cast.fresh(campaign).pause_requested
    with pytest.raises(IllegalTransition, match="not paused"):
        resume(cast.fresh(campaign))


def test_it_reports_when_a_person_stops_it(
    campaign: Campaign, bench: WorkerContext, judge: cast.Judge
) -> None:
    def stop_in_round_two(job: Job) -> None:
        if job.candidate.text == "time 50":
            judge.during = lambda job: None
            stop(cast.fresh(campaign))

    judge.during = stop_in_round_two
    ended = run_here(campaign.pk, bench, quiet)
    assert (ended.state, ended.stop_reason) == (CampaignState.DONE, "user")
    assert ended.rounds.count() == 2
    assert ended.result["gain"] == pytest.approx(1.0, rel=0.01)


def test_it_aborts_when_it_is_stopped_before_the_baseline(
    campaign: Campaign, bench: WorkerContext
) -> None:
    stop(campaign)
    ended = run_here(campaign.pk, bench, quiet)
    assert (ended.state, ended.stop_reason) == (CampaignState.ABORTED, "user")
    with pytest.raises(IllegalTransition, match="already aborted"):
        stop(ended)


def test_it_ends_a_paused_campaign_that_is_stopped(
    campaign: Campaign, bench: WorkerContext
) -> None:
    cast.step_until(campaign, CampaignState.BASELINE)
    pause(cast.fresh(campaign))
    cast.step(campaign)
    assert cast.fresh(campaign).state == CampaignState.PAUSED
    stop(cast.fresh(campaign))
    ended = cast.fresh(campaign)
    assert (ended.state, ended.stop_reason) == (CampaignState.ABORTED, "user")


@pytest.mark.parametrize("state", [CampaignState.CONFIRMED, CampaignState.BASELINE])
def test_it_ends_at_once_what_no_worker_ever_took(campaign: Campaign, state: str) -> None:
    if state != campaign.state:
        cast.step_until(campaign, state)
    assert stop(campaign) == NOTHING
    ended = cast.fresh(campaign)
    assert (ended.state, ended.stop_reason) == (CampaignState.ABORTED, "user")
    assert ended.stop_sentence == "Stopped by a person before the baseline was measured."
    assert ended.finished_at
    assert not Evaluation.objects.exclude(state=EvaluationState.DONE).exists()
    assert cast.step(campaign) == NOTHING


def waiting(campaign: Campaign, bench: WorkerContext, text: str, kind: str) -> Evaluation:
    """Measure all that comes before this measurement of this kernel, which waits in the queue."""
    while True:
        following = cast.step(campaign)
        for row in Evaluation.objects.filter(state=EvaluationState.QUEUED, kind=kind):
            if row.candidate.text == text:
                return row
        for key in following.measure:
            evaluate(key, bench)


def silence() -> None:
    """The last heartbeat of every worker is an hour ago."""
    Worker.objects.update(heartbeat_at=timezone.now() - timedelta(hours=1))


def test_it_reports_at_once_where_no_worker_is_alive(
    campaign: Campaign, bench: WorkerContext
) -> None:
    queued = waiting(campaign, bench, "time 50", EvaluationKind.DECIDE)
    silence()
    stop(cast.fresh(campaign))
    ended = cast.fresh(campaign)
    assert (ended.state, ended.stop_reason) == (CampaignState.DONE, "user")
    assert ended.incumbent.text == "time 100"
    assert (ended.result["gain"], ended.result["pairs"]) == (0.0, 0)
    verdict = ended.rounds.get(number=2).verdict
    assert verdict.reason == "broken_host"
    assert "a person stopped the campaign before a worker took this" in verdict.sentence
    assert ended.events.get(kind="called_off").data["evaluation"] == queued.pk
    assert not Experience.objects.exists()


def test_it_leaves_a_gain_uncompared_where_no_worker_is_alive(
    campaign: Campaign, bench: WorkerContext
) -> None:
    waiting(campaign, bench, "time 40", EvaluationKind.DECIDE)
    silence()
    stop(cast.fresh(campaign))
    ended = cast.fresh(campaign)
    assert (ended.state, ended.incumbent.text) == (CampaignState.DONE, "time 50")
    assert ended.result["gain"] is None
    assert "before a worker took this" in ended.result["why"]


def test_a_claimed_gain_whose_second_session_is_called_off_is_not_accepted(
    campaign: Campaign, bench: WorkerContext
) -> None:
    waiting(campaign, bench, "time 50", EvaluationKind.REMEASURE)
    stop(cast.fresh(campaign))
    assert cast.fresh(campaign).state == CampaignState.DONE
    verdict = campaign.rounds.get(number=2).verdict
    assert (verdict.word, verdict.reason, verdict.gain) == ("invalid", "broken_host", None)


def test_a_living_worker_compares_and_a_second_stop_leaves_that_out(
    campaign: Campaign, bench: WorkerContext
) -> None:
    waiting(campaign, bench, "time 40", EvaluationKind.DECIDE)
    following = stop(cast.fresh(campaign))
    assert cast.fresh(campaign).state == CampaignState.REPORT
    assert len(following.measure) == 1
    stop(cast.fresh(campaign))
    ended = cast.fresh(campaign)
    assert (ended.state, ended.result["gain"]) == (CampaignState.DONE, None)


def test_what_a_dead_worker_held_is_held_by_nobody(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    cast.step_until(campaign, CampaignState.BASELINE)
    held = Evaluation.objects.get()
    move(held, EvaluationState.RUNNING, holder="gpu-7 abc 1 d", heartbeat_at=timezone.now())
    assert stop(cast.fresh(campaign)).again
    assert cast.fresh(campaign).state == CampaignState.BASELINE
    monkeypatch.setattr("campaigns.steps.measuring.claims.is_gone", lambda holder: True)
    ((found, following),) = reconcile()
    assert (found.pk, following.again) == (campaign.pk, True)
    cast.step(campaign)
    ended = cast.fresh(campaign)
    assert (ended.state, ended.stop_reason) == (CampaignState.ABORTED, "user")


def test_a_stopped_campaign_waits_for_no_device_that_others_use(tmp_path: Path, db: None) -> None:
    campaign, _ = cast.waiting_campaign(tmp_path)
    stop(cast.fresh(campaign))
    assert cast.fresh(campaign).state == CampaignState.ABORTED


def test_it_pauses_at_once_what_no_worker_holds(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    cast.step_until(campaign, CampaignState.BASELINE)
    held = Evaluation.objects.get()
    move(held, EvaluationState.RUNNING, holder="gpu-7 abc 1 d", heartbeat_at=timezone.now())
    pause(cast.fresh(campaign))
    assert cast.fresh(campaign).pause_requested
    monkeypatch.setattr("campaigns.steps.measuring.claims.is_gone", lambda holder: True)
    pause(cast.fresh(campaign))
    assert cast.fresh(campaign).state == CampaignState.PAUSED
    resume(cast.fresh(campaign))
    pause(cast.fresh(campaign))
    assert cast.fresh(campaign).paused_from == CampaignState.BASELINE


def test_it_ends_a_draft_at_once(campaign: Campaign, tmp_path: Path) -> None:
    draft = create_campaign(Wish(tmp_path / "tiny", "test-cpu", "cpp"))
    stop(draft)
    assert cast.fresh(draft).state == CampaignState.ABORTED
    with pytest.raises(IllegalTransition):
        pause(cast.fresh(draft))
