"""Two workers at one campaign: what a late one still believes is checked by its own UPDATE."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.utils import timezone

from campaigns.models import Campaign, CampaignState, Evaluation, EvaluationState, RoundState
from campaigns.models.transitions import claim, move
from campaigns.steps.lifecycle import advance as advancing
from campaigns.steps.lifecycle.advance import advance
from campaigns.steps.lifecycle.run_here import run_here
from campaigns.steps.measuring.evaluate import evaluate
from campaigns.steps.notify import NOTHING
from campaigns.steps.rounds.screen import screen
from campaigns.steps.worker import WorkerContext
from tests.campaigns.steps import cast

pytestmark = pytest.mark.storage


@pytest.fixture
def campaign(db: None, tmp_path: Path, script: Callable[..., cast.Script]) -> Campaign:
    script(["time 90", "time 50"], ["time 40"])
    return cast.make_campaign(tmp_path)


@pytest.fixture
def screening(campaign: Campaign, bench: WorkerContext) -> Campaign:
    """The campaign with a sweep just opened."""
    cast.step_until(campaign, CampaignState.BASELINE)
    cast.measure_all(campaign, bench)
    cast.step_until(campaign, CampaignState.VALIDATE)
    return cast.fresh(campaign)


def look_past_what_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first look at the evaluations finds none, as before another worker queued them."""
    real = advancing.awaited_by
    looks = iter([Evaluation.objects.none()])
    monkeypatch.setattr(advancing, "awaited_by", lambda of: next(looks, real(of)))


def test_it_does_not_decide_while_an_evaluation_waits(
    campaign: Campaign, bench: WorkerContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    cast.step_until(campaign, CampaignState.BASELINE)
    look_past_what_waits(monkeypatch)
    assert cast.step(campaign) == NOTHING
    assert cast.fresh(campaign).state == CampaignState.BASELINE
    cast.measure_all(campaign, bench)
    cast.step(campaign)
    assert cast.fresh(campaign).state == CampaignState.DECIDE


def test_it_does_not_choose_from_a_sweep_that_is_not_screened(
    screening: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    look_past_what_waits(monkeypatch)
    assert advance(screening) == NOTHING
    sweep = screening.rounds.get(number=2)
    assert (sweep.state, sweep.chosen) == (RoundState.OPEN, None)


def test_it_asks_for_what_waits_where_it_should_judge(
    campaign: Campaign, bench: WorkerContext
) -> None:
    cast.step_until(campaign, CampaignState.BASELINE)
    claim(Campaign.objects.filter(pk=campaign.pk), state=CampaignState.DECIDE)
    (key,) = cast.step(campaign).measure
    evaluate(key, bench)
    assert cast.step(campaign).again
    assert campaign.rounds.get().verdict.reason == "baseline"


def test_it_does_not_judge_a_round_that_is_only_screened_yet(
    screening: Campaign, bench: WorkerContext
) -> None:
    stale = cast.fresh(screening)
    stale.state = CampaignState.DECIDE
    for key in advance(screening).measure:
        evaluate(key, bench)
    assert advance(stale) == NOTHING
    sweep = screening.rounds.get(number=2)
    assert sweep.state == RoundState.OPEN
    assert screen(sweep).again
    assert screening.rounds.get(number=2).chosen.text == "time 50"


@pytest.fixture
def claimed(campaign: Campaign) -> Evaluation:
    """The baseline's evaluation, in the hands of another worker that is alive."""
    cast.step_until(campaign, CampaignState.BASELINE)
    evaluation = Evaluation.objects.get()
    now = timezone.now()
    assert move(evaluation, EvaluationState.RUNNING, holder="up host 1 a", heartbeat_at=now)
    return evaluation


def at_the_second_wait(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> list[float]:
    """Waiting takes no time here; `act` is what happens meanwhile."""
    waits: list[float] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        assert len(waits) < 20, "it waits for ever"
        if len(waits) == 2:
            act()

    # Not the sleep of everything else, such as of who waits for git.
    monkeypatch.setattr("campaigns.steps.lifecycle.run_here.time", SimpleNamespace(sleep=wait))
    return waits


def test_it_waits_for_a_living_worker_and_goes_on_to_the_end(
    campaign: Campaign, claimed: Evaluation, bench: WorkerContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hand_back() -> None:
        other = cast.make_bench(cast.Judge(), "other")
        move(claimed, EvaluationState.QUEUED, holder="")
        evaluate(claimed.pk, other)

    waits = at_the_second_wait(monkeypatch, hand_back)
    messages: list[str] = []
    ended = run_here(campaign.pk, bench, messages.append)
    assert (ended.state, len(waits)) == (CampaignState.DONE, 2)
    assert Evaluation.objects.get(pk=claimed.pk).worker.name == "other"
    assert messages.count("waiting for worker up, which measures this campaign") == 1
    assert ended.stop_sentence in messages
    assert messages[-1].startswith("Finished: ")


def test_it_takes_over_from_a_worker_that_falls_silent(
    campaign: Campaign, claimed: Evaluation, bench: WorkerContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = Evaluation.objects.filter(pk=claimed.pk)
    at_the_second_wait(monkeypatch, lambda: claim(rows, heartbeat_at=None))
    assert run_here(campaign.pk, bench, lambda message: None).state == CampaignState.DONE
    assert Evaluation.objects.get(pk=claimed.pk).worker == bench.worker
