"""A worker that dies at any moment: the campaign goes on, nothing is lost, doubled or half-written.

The process is "killed" before each single write of a whole campaign, one after the other, by an
exception that nothing catches; open transactions roll back, as the database does for a dead client.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from campaigns.models import (
    Campaign,
    CampaignState,
    Commit,
    Evaluation,
    EvaluationKind,
    EvaluationState,
    Event,
    RoundState,
    Standing,
    StandingWord,
    Verdict,
)
from campaigns.steps.lifecycle.advance import advance
from campaigns.steps.lifecycle.reconcile import reconcile
from campaigns.steps.measuring.evaluate import evaluate
from campaigns.steps.notify import Next
from campaigns.steps.rounds.close_round import rebuild
from campaigns.steps.worker import WorkerContext
from tests.campaigns.steps.cast import Script, assert_legal_course, make_campaign

pytestmark = pytest.mark.django_db(transaction=True)

MOST_TURNS = 40
# Into how many tests the writes are dealt out, in turn; every sixth is tried at each change.
PARTS = 12
TRIED = [
    pytest.param(part, marks=() if part % 6 == 1 else pytest.mark.long)
    for part in range(1, PARTS + 1)
]
WRITES = ("INSERT", "UPDATE", "DELETE")
SCRIPT = (["time 90", "time 30"], ["crash"])


class Killed(BaseException):
    """kill -9: nothing in the program catches this."""


@contextmanager
def killed_before_write(number: int) -> Iterator[list[int]]:
    """Die before the n-th writing statement; yields the count so far."""
    count = [0]

    def watch(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        # A worker's own heartbeat belongs to no step.
        if sql.startswith(WRITES) and "campaigns_worker" not in sql:
            count[0] += 1
            if count[0] == number:
                raise Killed
        return execute(sql, params, many, context)

    with connection.execute_wrapper(watch):
        yield count


def work(bench: WorkerContext) -> None:
    """What worker processes do from their start until nothing is left to do."""
    for _ in range(MOST_TURNS):
        jobs = reconcile()
        if not jobs:
            return
        for campaign, following in jobs:
            follow(campaign, following, bench)
    raise AssertionError("the campaign goes round in circles")


def follow(campaign: Campaign, following: Next, bench: WorkerContext) -> None:
    for key in following.measure:
        evaluate(key, bench)
    for _ in range(MOST_TURNS):
        if not following.again:
            return
        following = advance(Campaign.objects.get(pk=campaign.pk))
        for key in following.measure:
            evaluate(key, bench)


@pytest.fixture
def everyone_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The holder of every claim is the process that was killed."""
    monkeypatch.setattr("campaigns.steps.measuring.claims.is_gone", lambda holder: True)
    monkeypatch.setattr("campaigns.steps.measuring.evaluate.hold", _no_hold)
    monkeypatch.setattr("campaigns.evaluator.contract.intervals.RESAMPLES", 100)


@contextmanager
def _no_hold(*_: Any, **__: Any) -> Iterator[None]:
    yield


def assert_whole(campaign: Campaign) -> None:
    campaign.refresh_from_db()
    rounds = list(campaign.rounds.order_by("number"))
    assert campaign.state == CampaignState.DONE
    assert [r.number for r in rounds] == [1, 2, 3]
    assert {r.state for r in rounds} == {RoundState.CLOSED}
    assert_legal_course(campaign)
    known = [(e.incumbent.round_id, e.after) for e in campaign.evidence.all()]
    assert known == [(rounds[0].pk, 1), (rounds[1].pk, 2)]
    assert [(r.evidence is not None, r.draft) for r in rounds[1:]] == [(True, None)] * 2
    verdicts = Verdict.objects.filter(round__campaign=campaign).order_by("round__number")
    assert [v.word for v in verdicts] == ["accepted", "accepted", "rejected"]
    standings = Standing.objects.filter(round__campaign=campaign)
    assert [(s.round_id, s.word) for s in standings] == [
        (rounds[1].pk, StandingWord.CLAIMED),
        (rounds[1].pk, StandingWord.VERIFIED),
    ]
    assert Event.objects.filter(campaign=campaign, kind="standing").count() == 2
    evaluations = Evaluation.objects.filter(candidate__round__campaign=campaign)
    assert evaluations.filter(kind=EvaluationKind.REMEASURE).count() == 1
    assert {e.state for e in evaluations} == {EvaluationState.DONE}
    assert all(e.outcome and e.report for e in evaluations)
    assert [r.candidates.count() for r in rounds] == [1, 2, 1]
    commits = Commit.objects.filter(round__campaign=campaign).order_by("round__number")
    assert [c.round_id for c in commits] == [rounds[0].pk, rounds[1].pk]
    assert [c.sha for c in rebuild(campaign)] == [c.sha for c in commits]
    assert campaign.incumbent_id == rounds[1].chosen_id
    assert campaign.result["gain"] == pytest.approx(100 / 30 - 1, rel=0.01)
    for kind, number in (("round_opened", 3), ("verdict", 3), ("round_closed", 3), ("finished", 1)):
        assert Event.objects.filter(campaign=campaign, kind=kind).count() == number


@pytest.mark.usefixtures("everyone_is_gone")
@pytest.mark.parametrize("first", TRIED)
def test_it_goes_on_after_a_kill_before_any_write(
    bench: WorkerContext, script: Callable[..., Script], tmp_path: Path, first: int
) -> None:
    """Before every write of its part; all parts together leave none out."""
    script(*SCRIPT)
    number, kills = first, 0
    while True:
        campaign = make_campaign(tmp_path / str(number), max_rounds=3)
        try:
            with killed_before_write(number) as count:
                work(bench)
        except Killed:
            kills += 1
        else:
            break
        work(bench)
        assert_whole(campaign)
        number += PARTS
    # The last run was not killed, for it has fewer writes than that; and there are many.
    assert number - PARTS <= count[0] < number
    assert kills > 50 // PARTS
