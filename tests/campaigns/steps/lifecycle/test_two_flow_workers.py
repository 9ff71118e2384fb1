"""Two flow workers take the same step of one campaign: one of them wins, and nothing fails."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from campaigns.models import Campaign, CampaignState, Evaluation, EvaluationKind, Round, Verdict
from campaigns.models.transitions import claim
from campaigns.proposers.situation import situation_of
from campaigns.steps.lifecycle.advance import advance
from campaigns.steps.notify import AGAIN, NOTHING
from campaigns.steps.rounds import judge as judging
from campaigns.steps.rounds.learn import learn
from campaigns.steps.rounds.open_round import open_round
from campaigns.steps.worker import WorkerContext
from knowledge.experience.attempts import record as recording
from knowledge.models import Experience
from tests.campaigns.steps import cast
from tests.knowledge.racing import at_once, several_connections, slow

pytestmark = [
    pytest.mark.storage,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("several_connections"),
]

__all__ = ["several_connections"]


@pytest.fixture
def mender(monkeypatch: pytest.MonkeyPatch) -> cast.Mender:
    made = cast.Mender([], repairs=["time 90"])
    for step in ("propose", "repair"):
        monkeypatch.setattr(f"campaigns.steps.rounds.{step}.proposer", lambda name: made)
    return made


@pytest.fixture
def campaign(mender: cast.Mender, bench: WorkerContext, tmp_path: Path) -> Campaign:
    """A campaign with its baseline measured."""
    made = cast.make_campaign(tmp_path)
    cast.step_until(made, CampaignState.BASELINE)
    cast.measure_all(made, bench)
    return made


def wait_for_each_other(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> None:
    """Whoever comes out of this function waits for the other one, if that can come there at all."""
    both, real = threading.Barrier(2), getattr(owner, name)

    def waiting(*args: Any, **kwargs: Any) -> Any:
        found = real(*args, **kwargs)
        try:
            both.wait(1.0)
        except threading.BrokenBarrierError:
            return found
        return found

    monkeypatch.setattr(owner, name, waiting)


def to_the_verdict(campaign: Campaign, bench: WorkerContext) -> None:
    """On until the round is about to be judged."""
    cast.step_until(campaign, CampaignState.VALIDATE)
    cast.measure_all(campaign, bench)
    cast.step_until(campaign, CampaignState.DECIDE)


@pytest.mark.parametrize(
    ("text", "within"),
    [
        ("time 50", "campaigns.steps.measuring.standings.stand"),
        ("time 100", "campaigns.steps.rounds.judge._store"),
    ],
)
def test_one_of_two_judges(
    campaign: Campaign,
    mender: cast.Mender,
    bench: WorkerContext,
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    within: str,
) -> None:
    mender.rounds.append([text])
    to_the_verdict(campaign, bench)
    rows = [cast.fresh(campaign) for _ in range(2)]
    # Both have read that the round is open, and the second one's UPDATE meets the first one's.
    wait_for_each_other(monkeypatch, judging, "decide")
    with slow(monkeypatch, within):
        found = at_once(*(lambda row=row: advance(row) for row in rows))
    assert sorted(map(repr, found)) == sorted(map(repr, [AGAIN, NOTHING]))
    again = Evaluation.objects.filter(kind=EvaluationKind.REMEASURE).count()
    judged = Verdict.objects.filter(round__number=2).count()
    assert (again, judged) == ((1, 0) if text == "time 50" else (0, 1))


def test_a_condition_that_joins_is_no_claim(campaign: Campaign) -> None:
    rows = Round.objects.filter(campaign__state=CampaignState.DECIDE)
    with pytest.raises(ValueError, match="a claim of Round joins"):
        claim(rows, draft=None)


@pytest.mark.parametrize("state", [CampaignState.IMPLEMENT, CampaignState.REPAIR])
def test_a_late_one_does_nothing(
    campaign: Campaign, mender: cast.Mender, bench: WorkerContext, state: str
) -> None:
    mender.rounds.append(["crash"])
    if state == CampaignState.REPAIR:
        to_the_verdict(campaign, bench)
    cast.step_until(campaign, state)
    stale = cast.fresh(campaign)
    assert cast.step(campaign) == AGAIN
    assert advance(stale) == NOTHING


def test_an_idea_about_an_earlier_incumbent_opens_no_round(
    campaign: Campaign, mender: cast.Mender, bench: WorkerContext
) -> None:
    mender.rounds += [["time 50"], ["time 40"]]
    cast.step_until(campaign, CampaignState.ANALYZE)
    stale = cast.fresh(campaign)
    draft = mender.propose(situation_of(stale))
    to_the_verdict(campaign, bench)
    cast.step(campaign)
    cast.measure_all(campaign, bench)
    cast.step_until(campaign, CampaignState.ANALYZE)
    assert cast.fresh(campaign).incumbent != stale.incumbent
    assert draft is not None
    assert open_round(stale, draft, 1) == NOTHING
    assert campaign.rounds.count() == 2


def test_a_round_is_learned_once_by_two_at_once(
    campaign: Campaign, mender: cast.Mender, bench: WorkerContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    mender.rounds.append(["time 100"])
    monkeypatch.setattr("campaigns.steps.rounds.close_round.AFTER_CLOSING", ())
    to_the_verdict(campaign, bench)
    cast.step_until(campaign, CampaignState.PROFILE)
    round_ = campaign.rounds.get(number=2)
    wait_for_each_other(monkeypatch, recording, "_track")
    entry = Experience.objects
    found = at_once(lambda: learn(round_), lambda: learn(round_))
    assert found == [entry.get(), entry.get()]
