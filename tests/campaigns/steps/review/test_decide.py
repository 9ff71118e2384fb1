"""People decide about rounds of others, take it back in time, and what follows holds both ways."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from django.contrib.auth.models import Group, User
from django.db import DatabaseError, connection
from django.utils import timezone

from campaigns.models import Campaign, CampaignState, Event, ReviewDecision, Round
from campaigns.records.decisions import reviewed_result, reviewed_round
from campaigns.steps.lifecycle.control import stop
from campaigns.steps.review.decide import carry_out_reruns, decide, undo
from campaigns.steps.rounds.submit import submit
from campaigns.steps.worker import WorkerContext
from knowledge.curation.errors import Conflict, CurationError, Forbidden
from knowledge.models import Experience, Immutable, Notification
from tests.campaigns.steps import cast
from tests.knowledge.racing import at_once, several_connections  # noqa: F401

pytestmark = pytest.mark.django_db


def person(name: str, role: str = "engineer") -> User:
    user, _ = User.objects.get_or_create(username=name)
    user.groups.add(Group.objects.get(name=role))
    return User.objects.get(pk=user.pk)


@pytest.fixture
def campaign(tmp_path: Path, bench: WorkerContext) -> Campaign:
    """Of people alone: round 2 of alice is accepted and 1.67 times as fast, round 3 the best."""
    made = cast.make_campaign(tmp_path, proposers="person", max_rounds=6)
    for text in ("time 60", "time 58"):
        reach(made, bench)
        submit(cast.fresh(made), cast.handed_in(text), "person", "alice", person("alice"))
        cast.measure_all(made, bench)
        cast.step(made)
    reach(made, bench)
    return cast.fresh(made)


def reach(campaign: Campaign, bench: WorkerContext) -> None:
    for _ in range(60):
        cast.measure_all(campaign, bench)
        if not cast.step(campaign).again and cast.fresh(campaign).state == CampaignState.AWAITING:
            return
    raise AssertionError(cast.fresh(campaign).state)


def second(campaign: Campaign) -> Round:
    return campaign.rounds.get(number=2)


def stands(round_: Round) -> str:
    found = reviewed_round(Round.objects.get(pk=round_.pk))
    assert found is not None
    return found.standing.words


def later(seconds: float) -> Any:
    return patch("django.utils.timezone.now", lambda: NOW() + timedelta(seconds=seconds))


NOW = timezone.now


@pytest.mark.storage
def test_another_person_approves_and_its_author_reads_it(campaign):
    round_ = second(campaign)
    assert stands(round_) == "waits for a decision, 0 of 1 approval"
    made = decide(round_, "approved", "", person("bob"))
    assert stands(round_) == "approved, 1 of 1 approval"
    event = Event.objects.get(kind="decided")
    assert (event.by, event.round, event.data["decision"]) == (made.by, round_, made.pk)
    told = Notification.objects.get()
    assert (told.person.username, told.kind) == ("alice", "approved")


@pytest.mark.parametrize("name", ["alice", "vera"])
def test_nobody_decides_on_their_own_nor_without_the_role(campaign, name):
    role = "viewer" if name == "vera" else "engineer"
    with pytest.raises(Forbidden):
        decide(second(campaign), "approved", "", person(name, role))
    assert not ReviewDecision.objects.exists()


@pytest.mark.parametrize(
    ("word", "reason", "field"),
    [("returned", " ", "reason"), ("invalid", "", "reason"), ("undone", "", "word"),
     ("x" * 500, "", "word"), ("approved", "x" * 2001, "reason"), ("approved", "\0", "reason")],
)  # fmt: skip
def test_it_names_the_field_that_is_wrong(campaign, word, reason, field):
    with pytest.raises(CurationError) as refused:
        decide(second(campaign), word, reason, person("bob"))
    assert refused.value.field == field
    assert not Event.objects.filter(kind="decided").exists()


def test_a_baseline_and_a_running_campaign_have_nothing_to_decide(campaign):
    for about in (campaign, campaign.rounds.get(number=1)):
        with pytest.raises(Conflict):
            decide(about, "approved", "", person("bob"))


@pytest.mark.storage
def test_a_decision_is_never_rewritten(campaign):
    made = decide(second(campaign), "approved", "", person("bob"))
    with pytest.raises(Immutable):
        made.save()
    for words in ("UPDATE campaigns_reviewdecision SET reason = 'x'",
                  "DELETE FROM campaigns_reviewdecision"):  # fmt: skip
        with pytest.raises(DatabaseError), connection.cursor() as cursor:
            cursor.execute(words)


def test_what_counts_is_the_newest_of_each_person(campaign):
    round_ = second(campaign)
    decide(round_, "returned", "why?", person("bob"))
    decide(round_, "approved", "", person("carl", "curator"))
    assert stands(round_) == "returned to its author"
    decide(round_, "approved", "now it is clear", person("bob"))
    assert stands(round_) == "approved, 2 of 1 approval"
    assert [row.by.username for row in ReviewDecision.objects.counting()] == ["carl", "bob"]


def test_who_comes_second_is_told_who_was_first(campaign):
    round_, bob = second(campaign), person("bob")
    decide(round_, "approved", "", person("carl", "curator"), seen=0)
    with pytest.raises(Conflict, match="carl was first: approved"):
        decide(round_, "returned", "no", bob, seen=0)
    decide(round_, "approved", "", bob)
    with pytest.raises(Conflict, match="you have said so already"):
        decide(round_, "approved", "", bob)


@pytest.mark.storage
def test_an_invalid_round_teaches_nothing_until_that_is_taken_back(campaign):
    round_, bob = second(campaign), person("bob")
    made = decide(round_, "invalid", "the input was constant", bob)
    entry = Experience.objects.get(round=2)
    assert (entry.standing, stands(round_)) == ("masked", "marked invalid")
    assert "the input was constant" in entry.changes.first().why
    assert cast.fresh(campaign).pause_requested is False
    undo(made, bob)
    entry.refresh_from_db()
    assert (entry.standing, stands(round_)) == ("counts", "waits for a decision, 0 of 1 approval")
    assert not Notification.objects.exists()
    assert Event.objects.filter(kind="decided").count() == 2


def test_an_invalid_incumbent_pauses_the_campaign_until_that_is_taken_back(campaign):
    bob, best = person("bob"), campaign.rounds.get(number=3)
    made = decide(best, "invalid", "measured on a busy device", bob)
    cast.step(campaign)
    assert cast.fresh(campaign).state == CampaignState.PAUSED
    undo(made, bob)
    assert cast.fresh(campaign).state != CampaignState.PAUSED


def test_only_its_person_takes_a_decision_back_and_only_in_time(campaign):
    bob = person("bob")
    made = decide(second(campaign), "approved", "", bob)
    with pytest.raises(Forbidden):
        undo(made, person("carl", "curator"))
    with later(16), pytest.raises(Conflict, match="too late"):
        undo(made, bob)
    undo(made, bob)
    with pytest.raises(Conflict, match="no longer counts"):
        undo(made, bob)


def test_a_rerun_waits_until_it_can_no_longer_be_taken_back(campaign):
    bob = person("bob")
    made = decide(second(campaign), "rerun", "", bob)
    assert carry_out_reruns() == []
    undo(made, bob)
    with later(60):
        assert carry_out_reruns() == []
    decide(second(campaign), "rerun", "", bob)
    with later(60):
        assert [row for row, _ in carry_out_reruns()] == [campaign]
        assert carry_out_reruns() == []
    handed = campaign.submissions.get(rounds=None)
    assert (handed.title, handed.by) == ("Again: Try time 60", bob)


def test_a_rerun_that_is_refused_later_is_told_to_who_asked(campaign):
    bob = person("bob")
    decide(second(campaign), "rerun", "", bob)
    stop(cast.fresh(campaign))
    Campaign.objects.filter(pk=campaign.pk).update(stop_requested=True)
    with later(60):
        assert carry_out_reruns() == []
    told = Notification.objects.get(person=bob)
    assert "is not measured again" in told.text


@pytest.mark.parametrize(("number", "why"), [(3, "which each round measures"), (2, "role")])
def test_a_rerun_that_cannot_be_is_refused_at_once(campaign, number, why):
    who = person("carl", "curator") if number == 2 else person("bob")
    with pytest.raises((Conflict, Forbidden), match=why):
        decide(campaign.rounds.get(number=number), "rerun", "", who)


def test_a_result_needs_what_its_rounds_need_and_takes_no_rerun(campaign, bench):
    stop(cast.fresh(campaign))
    for _ in range(20):
        cast.measure_all(campaign, bench)
        cast.step(campaign)
    done = cast.fresh(campaign)
    assert done.state == CampaignState.DONE
    with pytest.raises(CurationError, match="accepted for the result"):
        decide(done, "rerun", "", person("bob"))
    decide(done, "approved", "", person("bob"))
    found = reviewed_result(done)
    assert found is not None
    assert (found.needed, found.standing.words) == (1, "approved, 1 of 1 approval")


@pytest.mark.storage
@pytest.mark.django_db(transaction=True)
def test_of_two_at_once_one_is_told_who_was_first(campaign, several_connections):  # noqa: F811
    round_, people = second(campaign), [person("bob"), person("carl", "curator")]
    found = at_once(*(lambda by=by: decide(round_, "approved", "", by, seen=0) for by in people))
    assert sorted(type(each).__name__ for each in found) == ["Conflict", "ReviewDecision"]
    assert ReviewDecision.objects.count() == 1
