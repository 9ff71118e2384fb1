"""Confirm, pause, resume, stop: what a person may do to a campaign at any moment."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from campaigns.evaluator.contract import Job
from campaigns.models import Campaign, CampaignState, IllegalTransition
from campaigns.steps.lifecycle.create_campaign import Wish, create_campaign
from campaigns.steps.lifecycle.pause import pause
from campaigns.steps.lifecycle.resume import resume
from campaigns.steps.lifecycle.run_here import run_here
from campaigns.steps.lifecycle.stop import stop
from campaigns.workers.context import WorkerContext
from tests.campaigns.steps import cast

pytestmark = pytest.mark.storage


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
    ended = run_here(campaign.pk, bench, quiet)
    assert (ended.state, ended.stop_reason) == (CampaignState.DONE, "user")


def test_it_ends_a_draft_at_once(campaign: Campaign, tmp_path: Path) -> None:
    draft = create_campaign(Wish(tmp_path / "tiny", "test-cpu", "cpp"))
    stop(draft)
    assert cast.fresh(draft).state == CampaignState.ABORTED
    with pytest.raises(IllegalTransition):
        pause(cast.fresh(draft))
