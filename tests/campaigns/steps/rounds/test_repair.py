"""A failed candidate is mended within its round, up to three times, and counts once (R17)."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import IntegrityError
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from campaigns.management.facts import campaign_text, round_facts, round_text
from campaigns.models import Campaign, CampaignState, Evaluation, Repair, Round
from campaigns.proposers.handed_in import HandedIn, SubmissionRefused
from campaigns.records.submissions import awaited_repair
from campaigns.rules.stop.policy import count_streaks
from campaigns.rules.verdict.decision import Reason, VerdictWord
from campaigns.steps.lifecycle.control import stop
from campaigns.steps.lifecycle.reconcile import tell_idle
from campaigns.steps.lifecycle.run_here import run_here
from campaigns.steps.notify import NOTHING
from campaigns.steps.rounds.submit import mend, submit
from campaigns.steps.worker import WorkerContext
from campaigns.trails.exporters.archive import FORMATS
from campaigns.trails.exporters.judged_rounds import trail_of
from tests.campaigns.steps import cast
from tests.campaigns.steps.cast import Mender
from tests.campaigns.steps.rounds.test_submit import reach

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


def test_r17_a_broken_host_is_not_mended(go: Go, bench: WorkerContext) -> None:
    campaign = cast.past_its_host(go([["host"]], ["time 50"], max_rounds=2), bench)
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
    body = viewer.get(reverse("round_tab", args=[campaign.pk, 2, "log"])).content.decode()
    assert 'data-repair="1"' in body
    assert "repair 2, after repair 1: wrong result" in body
    known = round_facts(round_)["repairs"]
    assert [(k["of"], k["outcome"], k["candidate"]) for k in known] == [
        *((1, "crashed", 2), (2, "wrong_result", 3)),
    ]
    assert "repair 1: repair 1 (after variant 1: crashed)" in round_text(round_)
    files = dict(FORMATS["atrex"].files(trail_of(campaign)))
    pitfalls = json.loads(files["memory/v1.json"])["pitfalls_and_fixes"]
    assert [(p["error_type"], p["fix_applied"]) for p in pitfalls] == [
        *(("runtime", "repair 1"), ("accuracy", "repair 2")),
    ]
    summary = dict(FORMATS["kernel-optimize"].files(trail_of(campaign)))[
        "rounds/round-2/summary.md"
    ]
    assert "## Repairs" in summary
    assert "it says crash" in summary


def test_r17_the_page_says_that_there_was_no_repair(go: Go, viewer: Client) -> None:
    campaign = go([["crash 1"]], [])
    body = viewer.get(reverse("round_tab", args=[campaign.pk, 2, "log"])).content.decode()
    assert 'data-repair="none"' in body
    assert "No repair: the proposer search has none." in body


@pytest.fixture
def wrong(bench: WorkerContext, tmp_path: Path) -> Campaign:
    """A campaign of people and agents whose open round waits for alice to mend its candidate."""
    campaign = cast.make_campaign(tmp_path, proposers="person,agent")
    reach(campaign, bench, CampaignState.AWAITING)
    submit(cast.fresh(campaign), cast.handed_in("wrong 1"), "person", "alice")
    reach(campaign, bench, CampaignState.REPAIR)
    return cast.fresh(campaign)


def mended(campaign: Campaign, text: str, kind: str = "person", name: str = "alice") -> Repair:
    return mend(cast.fresh(campaign), HandedIn(source=text), kind, name)


def test_r17_what_was_handed_in_has_three_repairs_in_its_round(
    wrong: Campaign, bench: WorkerContext
) -> None:
    for left, text in ((3, "crash 2"), (2, "build 3"), (1, "time 50")):
        assert cast.step(wrong) == NOTHING
        awaited = awaited_repair(cast.fresh(wrong))
        assert awaited is not None
        assert (awaited.round.number, awaited.left) == (2, left)
        assert mended(wrong, text).why.endswith("mended by alice (person)")
        reach(wrong, bench, CampaignState.REPAIR if left > 1 else CampaignState.AWAITING)
    round_ = wrong.rounds.get(number=2)
    texts = [candidate.text for candidate in round_.candidates.all()]
    assert texts == ["wrong 1\n", "crash 2\n", "build 3\n", "time 50\n"]
    assert [row.failed.outcome for row in round_.repairs.all()] == [
        *("wrong_result", "crashed", "build_failed")
    ]
    assert (round_.verdict.word, round_.hypothesis["title"]) == ("accepted", "Try wrong 1")
    assert wrong.submissions.count() == 1
    cast.assert_legal_course(wrong)


def test_r17_after_three_repairs_what_was_handed_in_is_judged(
    wrong: Campaign, bench: WorkerContext
) -> None:
    for number in (2, 3, 4):
        mended(wrong, f"crash {number}")
        reach(wrong, bench, CampaignState.AWAITING if number == 4 else CampaignState.REPAIR)
    assert wrong.rounds.get(number=2).verdict.reason == "crashed"
    with pytest.raises(SubmissionRefused, match="no round waits for a repair"):
        mended(wrong, "time 50")


@pytest.mark.parametrize(
    ("text", "kind", "name", "why"),
    [
        ("wrong 1", "person", "alice", "source: is the same as what failed, of round 2"),
        ("time 100", "person", "alice", "source: round 1 had the same one"),
        (" ", "person", "alice", "source: is needed, as text"),
        ("time 50", "agent", "other", "campaign: waits for alice to mend what it handed in"),
    ],
)
def test_r17_it_refuses_what_is_no_repair(wrong: Campaign, text, kind, name, why) -> None:
    with pytest.raises(SubmissionRefused, match=why):
        mended(wrong, text, kind, name)
    assert not Repair.objects.exists()


def test_r17_whoever_has_no_repair_is_not_waited_for(wrong: Campaign, bench: WorkerContext) -> None:
    mend(wrong, None, "person", "alice")
    reach(wrong, bench, CampaignState.AWAITING)
    assert wrong.rounds.get(number=2).verdict.reason == "wrong_result"
    assert wrong.events.get(kind="not_repaired").message.endswith("alice (person) has none")


@pytest.mark.parametrize("way", ["another", "an hour", "a stop"])
def test_r17_a_repair_that_never_comes_holds_nothing_up(
    wrong: Campaign, bench: WorkerContext, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not tell_idle(wrong)
    if way == "another":
        submit(wrong, cast.handed_in("time 50"), "person", "alice")
    elif way == "an hour":
        now = timezone.now() + timedelta(hours=1)
        monkeypatch.setattr("campaigns.steps.rounds.repair.timezone.now", lambda: now)
    else:
        stop(wrong)
    reach(wrong, bench, CampaignState.DONE if way == "a stop" else CampaignState.AWAITING)
    assert wrong.rounds.get(number=2).verdict.reason == "wrong_result"


def test_r17_page_and_rest_say_what_was_wrong_and_take_a_repair(
    wrong: Campaign, bench: WorkerContext, client: Client, django_user_model: Any
) -> None:
    alice = django_user_model.objects.create_user("alice", is_superuser=True)
    client.force_login(alice)
    body = client.get(reverse("round", args=[wrong.pk, 2])).content.decode()
    assert 'data-awaits-repair="3"' in body
    assert "Round 2 waits for a repair: wrong result: it says wrong; 3 repairs are left." in body
    body = client.get(reverse("campaign", args=[wrong.pk])).content.decode()
    assert 'data-wait="repair"' in body
    assert "waiting for a repair of round 2" in body
    address = reverse("repair_round", args=[wrong.pk, 2])
    refused = client.post(address, {"source": "time 100", "flags": ""})
    assert refused.status_code == 422
    assert "round 1 had the same one" in refused.content.decode()
    assert ">time 100</textarea>" in refused.content.decode()
    assert client.post(address, {"source": "crash 2", "flags": ""}).status_code == 302
    reach(wrong, bench, CampaignState.REPAIR)
    one = client.get(f"/api/v1/submissions/{wrong.submissions.get().pk}/").json()
    assert one["repair"] == {
        "round": 2,
        "outcome": "crashed",
        "reason": "it says crash",
        "left": 2,
        "words": "round 2 waits for a repair: crashed: it says crash; 2 repairs are left",
    }
    api = f"/api/v1/campaigns/{wrong.pk}/repair/"
    for sent, code in (({}, 422), ({"source": 7}, 409), ({"source": "time 50"}, 201)):
        assert client.post(api, sent, "application/json").status_code == code
    reach(wrong, bench, CampaignState.AWAITING)
    assert wrong.rounds.get(number=2).verdict.word == "accepted"


def test_r17_a_command_mends_too(
    wrong: Campaign, bench: WorkerContext, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.cpp"
    file.write_text("time 50")
    for text in (round_text(wrong.rounds.get(number=2)), campaign_text(wrong)):
        assert "round 2 waits for a repair: wrong result: it says wrong; 3 repairs are left" in text
    assert round_facts(wrong.rounds.get(number=2))["awaits_repair"]["left"] == 3
    call_command("round", "repair", str(wrong.pk), str(file))
    said = "round 2: repair 1: repair 1 (after handed in by alice: wrong result; mended by "
    assert f"{said}command line (person))" in capsys.readouterr().out
    reach(wrong, bench, CampaignState.AWAITING)
    assert wrong.rounds.get(number=2).verdict.word == "accepted"
