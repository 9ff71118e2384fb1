"""A failed candidate is mended within its round, up to three times, and counts once (R17)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import IntegrityError
from django.test import Client
from django.urls import reverse

from campaigns.management.facts import round_facts, round_text
from campaigns.models import Campaign, CampaignState, Evaluation, Repair, Round
from campaigns.rules.stop.policy import count_streaks
from campaigns.rules.verdict.decision import Reason, VerdictWord
from campaigns.steps.lifecycle.run_here import run_here
from campaigns.steps.worker import WorkerContext
from campaigns.trails.exporters.atrex import memory_files
from campaigns.trails.exporters.judged_rounds import trail_of
from campaigns.trails.exporters.kernel_optimize import round_files
from tests.campaigns.steps import cast
from tests.campaigns.steps.cast import Mender

pytestmark = pytest.mark.django_db
Go = Callable[..., Campaign]


@pytest.fixture
def go(bench: WorkerContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Go:
    """Run a campaign whose proposer has these rounds and these repairs."""

    def run(rounds: list[list[str]], repairs: list[str], **policy: object) -> Campaign:
        mender = Mender(rounds, repairs=repairs)
        monkeypatch.setattr("campaigns.steps.rounds.propose.proposer", lambda name: mender)
        monkeypatch.setattr("campaigns.steps.rounds.repair.proposer", lambda name: mender)
        campaign = cast.make_campaign(tmp_path, **policy)
        done = run_here(campaign.pk, bench, lambda message: None)
        cast.assert_legal_course(done)
        return done

    return run


@pytest.fixture
def viewer(client: Client, django_user_model: Any) -> Client:
    client.force_login(django_user_model.objects.create_user("viewer"))
    return client


def repaired(campaign: Campaign) -> list[tuple[int, str]]:
    rows = Repair.objects.filter(round__campaign=campaign)
    return [(row.number, row.candidate.text if row.candidate else "") for row in rows]


def test_r17_a_repair_that_passes_is_judged_in_the_same_round(go: Go) -> None:
    campaign = go([["crash 1"]], ["wrong", "time 50"])
    round_ = campaign.rounds.get(number=2)
    assert repaired(campaign) == [(1, "wrong"), (2, "time 50")]
    assert [c.text for c in round_.candidates.all()] == ["crash 1", "wrong", "time 50"]
    assert (round_.chosen.text, round_.verdict.word) == ("time 50", "accepted")
    assert campaign.incumbent_id == round_.chosen_id
    # Each has an evaluation of its own, and what failed stays as it failed.
    failed = [row.failed.outcome for row in round_.repairs.all()]
    assert failed == ["crashed", "wrong_result"]
    assert round_.hypothesis["strategy"] == "idea-0"
    kinds = Evaluation.objects.filter(candidate__round=round_).values_list("kind", flat=True)
    assert sorted(kinds) == ["decide", "decide", "decide", "remeasure", "report"]


def test_r17_after_three_repairs_the_round_has_failed_and_counts_once(go: Go) -> None:
    campaign = go([["crash 1"]], ["build 2", "wrong 3", "crash 4", "time 10"])
    round_ = campaign.rounds.get(number=2)
    assert [text for _, text in repaired(campaign)] == ["build 2", "wrong 3", "crash 4"]
    assert (round_.verdict.word, round_.verdict.reason) == ("rejected", "crashed")
    assert round_.chosen.text == "crash 4"
    assert campaign.incumbent.round.number == 1
    decisions = [(r.verdict.word, r.verdict.reason) for r in campaign.rounds.order_by("number")]
    assert len(decisions) == 2
    streaks = count_streaks((VerdictWord(word), Reason(reason)) for word, reason in decisions)
    assert streaks.consecutive_non_accepts == 1


def test_r17_a_sweep_of_which_nothing_passed_is_mended_too(go: Go) -> None:
    campaign = go([["crash 1", "wrong 2"]], ["time 60"])
    round_ = campaign.rounds.get(number=2)
    assert [c.text for c in round_.candidates.all()] == ["crash 1", "wrong 2", "time 60"]
    assert round_.verdict.word == "accepted"


def test_r17_who_has_no_repair_is_asked_once(go: Go) -> None:
    campaign = go([["crash 1"]], [])
    assert repaired(campaign) == [(1, "")]
    (event,) = campaign.events.filter(kind="not_repaired")
    assert "no repair; the proposer search has none" in event.message
    assert campaign.rounds.get(number=2).verdict.reason == "crashed"


def test_r17_a_slower_repair_is_rolled_back(go: Go) -> None:
    campaign = go([["crash 1"]], ["time 200"])
    round_ = campaign.rounds.get(number=2)
    assert round_.verdict.reason == "slower"
    assert campaign.incumbent.round.number == 1


def test_r17_the_proposer_sees_what_failed_and_what_was_tried(
    bench: WorkerContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mender = Mender([["crash 1"]], repairs=["wrong 2"])
    monkeypatch.setattr("campaigns.steps.rounds.propose.proposer", lambda name: mender)
    monkeypatch.setattr("campaigns.steps.rounds.repair.proposer", lambda name: mender)
    run_here(cast.make_campaign(tmp_path).pk, bench, lambda message: None)
    first, second = mender.failures
    assert (first.outcome, first.reason, first.source.text) == (
        "crashed",
        "it says crash",
        "crash 1",
    )
    assert [source.text for source in second.tried] == ["crash 1", "wrong 2"]
    assert (second.outcome, second.strategy) == ("wrong_result", "idea-0")


def test_r17_a_broken_host_is_not_mended(go: Go) -> None:
    campaign = go([["host"]], ["time 50"], max_rounds=2)
    assert repaired(campaign) == []
    assert campaign.rounds.get(number=2).verdict.reason == "broken_host"


def test_r45_a_repair_stays_and_a_closed_round_takes_none(go: Go) -> None:
    campaign = go([["crash 1"]], [])
    row = Repair.objects.get(round__campaign=campaign)
    row.why = "forged"
    with pytest.raises(IntegrityError):
        row.save()
    closed = Round.objects.get(campaign=campaign, number=1)
    other = Evaluation.objects.filter(candidate__round=closed).first()
    with pytest.raises(IntegrityError):
        Repair.objects.create(round=closed, number=1, failed=other, why="late")
    assert campaign.state == CampaignState.DONE


def test_r17_page_command_and_trail_tell_of_each_repair(go: Go, viewer: Client) -> None:
    campaign = go([["crash 1"]], ["wrong", "time 50"])
    round_ = campaign.rounds.get(number=2)
    body = viewer.get(reverse("round", args=[campaign.pk, 2])).content.decode()
    assert 'data-repair="1"' in body
    assert "repair 2, after repair 1: wrong result" in body
    known = round_facts(round_)["repairs"]
    assert [(k["of"], k["outcome"], k["candidate"]) for k in known] == [
        *((1, "crashed", 2), (2, "wrong_result", 3)),
    ]
    assert "repair 1: repair 1 (after variant 1: crashed)" in round_text(round_)
    files = dict(memory_files(trail_of(campaign)))
    pitfalls = json.loads(files["memory/v1.json"])["pitfalls_and_fixes"]
    assert [(p["error_type"], p["fix_applied"]) for p in pitfalls] == [
        *(("runtime", "repair 1"), ("accuracy", "repair 2")),
    ]
    summary = dict(round_files(trail_of(campaign)))["rounds/round-2/summary.md"]
    assert "## Repairs" in summary
    assert "it says crash" in summary


def test_r17_the_page_says_that_there_was_no_repair(go: Go, viewer: Client) -> None:
    campaign = go([["crash 1"]], [])
    body = viewer.get(reverse("round", args=[campaign.pk, 2])).content.decode()
    assert 'data-repair="none"' in body
    assert "No repair: the proposer search has none." in body
