"""What people and agents hand in is tried once, in its turn, under the same gates (R27, R51)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction
from django.db.models import QuerySet
from django.test import Client
from django.urls import reverse

from campaigns.evaluator.contract import Source
from campaigns.models import Campaign, CampaignState, Round, Submission
from campaigns.problems.import_.draft import ADDED
from campaigns.proposers.base import Draft, Situation
from campaigns.proposers.handed_in import SubmissionRefused
from campaigns.proposers.situation import situation_of
from campaigns.records.rounds import proposed_by
from campaigns.records.submissions import rounds_used, waiting_in
from campaigns.records.time_spent import Spent
from campaigns.rules.stop.proposers import ProposerKind
from campaigns.steps.lifecycle.control import pause, resume, stop
from campaigns.steps.notify import NOTHING
from campaigns.steps.rounds.submit import measure_again, submit
from campaigns.steps.worker import WorkerContext
from knowledge.curation.errors import Forbidden
from knowledge.models import Experience, Immutable
from tests.campaigns.steps import cast
from tests.campaigns.steps.cast import Script, handed_in
from tests.campaigns.steps.lifecycle.test_crash import Killed, killed_before_write

pytestmark = pytest.mark.django_db(transaction=True)
Put = Callable[..., Script]


@pytest.fixture
def waiting(tmp_path: Path, bench: WorkerContext) -> Campaign:
    """A campaign of people alone whose baseline is judged."""
    campaign = cast.make_campaign(tmp_path, proposers="person")
    reach(campaign, bench, CampaignState.AWAITING)
    return cast.fresh(campaign)


def reach(campaign: Campaign, bench: WorkerContext, state: str) -> None:
    for _ in range(60):
        if cast.fresh(campaign).state == state:
            return
        cast.measure_all(campaign, bench)
    raise AssertionError(f"it is {cast.fresh(campaign).state}, not {state}")


def hand_in(campaign: Campaign, text: str, **said: Any) -> Submission:
    return submit(cast.fresh(campaign), handed_in(text, **said), "person", "alice")


def refusal(campaign: Campaign, text: str = "time 50", **said: Any) -> SubmissionRefused:
    before = Submission.objects.count()
    with pytest.raises(SubmissionRefused) as caught:
        hand_in(campaign, text, **said)
    assert Submission.objects.count() == before
    return caught.value


def test_a_campaign_of_people_waits_and_tries_what_is_handed_in(
    waiting: Campaign, bench: WorkerContext
) -> None:
    assert cast.step(waiting) == NOTHING
    made = hand_in(waiting, "time 50")
    reach(waiting, bench, CampaignState.IMPLEMENT)
    reach(waiting, bench, CampaignState.AWAITING)
    round_ = waiting.rounds.get(number=2)
    assert (round_.submission, round_.verdict.word) == (made, "accepted")
    assert cast.fresh(waiting).incumbent.text == "time 50\n"
    assert proposed_by(round_).words == "alice (person)"
    assert round_.hypothesis["evidence"][0].startswith("one: 100 µs by unpaired medians")
    assert Experience.objects.get().proposer == "person"
    cast.assert_legal_course(waiting)


def test_r51_what_comes_while_a_round_is_open_is_tried_next_in_its_order(
    tmp_path: Path, bench: WorkerContext, script: Put
) -> None:
    script(["time 90"], ["time 80"], ["time 70"], ["time 60"])
    campaign = cast.make_campaign(tmp_path, max_rounds=4, proposers="search,person")
    reach(campaign, bench, CampaignState.VALIDATE)
    first = hand_in(campaign, "time 50")
    second = submit(cast.fresh(campaign), handed_in("time 40"), "person", "bob")
    assert list(waiting_in(campaign)) == [first, second]
    assert campaign.rounds.exclude(state="closed").count() == 1
    reach(campaign, bench, CampaignState.DONE)
    handed = campaign.rounds.order_by("number").values_list("submission", flat=True)
    assert list(handed) == [None, None, first.pk, second.pk]
    assert rounds_used(campaign) == {ProposerKind.SEARCH: 1, ProposerKind.PERSON: 2}


@pytest.mark.parametrize(
    ("field", "said", "told"),
    [
        ("rationale", {"rationale": " "}, "is needed; a hypothesis comes before its code"),
        ("metric", {"metric": ""}, "is needed"),
        ("direction", {"direction": "sideways"}, "accepted: down, up"),
        ("amount", {"amount": "8"}, "accepted: a share such as 8% or 0.08"),
        ("amount", {"amount": "nan"}, "accepted: a share"),
        ("amount", {"amount": "120%"}, "at most 100%"),
        ("evidence", {"evidence": ()}, "accepted: one or more of one, two"),
        ("evidence", {"evidence": ("three",)}, "'three'; accepted: one, two"),
        ("bucket", {"bucket": "W2"}, "accepted: K1, K2, K3, K4"),
        ("title", {"title": "x" * 201}, "201 characters; accepted: text, at most 200"),
        ("change", {"change": 7}, "accepted: text"),
        ("source", {"source": ""}, "is needed"),
        ("source", {"source": "x" * 300_000}, "accepted: text of at most 262,144 bytes"),
        ("source", {"file_name": "kernel.cu"}, "one that ends in .cpp"),
        ("source", {"source": "time 100\r\n\r\n"}, "is the incumbent's, of round 1"),
        ("flags", {"flags": "-O3 -fplugin=x.so"}, "'-fplugin=x.so'; accepted: at most 20 of -O"),
        ("flags", {"flags": " ".join(["-O3"] * 21)}, "accepted: at most 20"),
        ("source", {"source": 'int a = system("ls");'}, "line 1, system"),
        ("searched", {"searched": ("blog | x",)}, "source: 'blog'; accepted: wiki, reference"),
    ],
)
def test_r27_it_names_the_field_that_is_missing_or_wrong(
    waiting: Campaign, field: str, said: dict[str, Any], told: str
) -> None:
    found = refusal(waiting, **said)
    assert found.field == field
    assert told in found.message


def test_it_refuses_what_was_tried_or_waits(waiting: Campaign, bench: WorkerContext) -> None:
    hand_in(waiting, "time 50", change="Unroll  the loop")
    found = refusal(waiting, "time 50  ")
    assert str(found) == "source: waits already, handed in by alice"
    assert refusal(waiting, "time 40", change="unroll the loop").field == "change"
    reach(waiting, bench, CampaignState.IMPLEMENT)
    reach(waiting, bench, CampaignState.AWAITING)
    hand_in(waiting, "time 45")
    reach(waiting, bench, CampaignState.IMPLEMENT)
    reach(waiting, bench, CampaignState.AWAITING)
    found = refusal(waiting, "time 50")
    assert (found.field, found.round, found.message) == ("source", 2, "round 2 had the same one")
    found = refusal(waiting, "time 40", change="unroll the loop")
    assert (found.field, found.round) == ("change", 2)


def test_the_same_source_with_other_flags_is_another_candidate(waiting: Campaign) -> None:
    assert hand_in(waiting, "time 50", flags="-O3  -fopenmp").flags == ["-O3", "-fopenmp"]
    assert hand_in(waiting, "time 50", flags="-O3", change="fewer").flags == ["-O3"]
    assert hand_in(waiting, "time 40").flags == []


def test_a_broken_host_spoils_a_round_and_not_the_idea(
    waiting: Campaign, bench: WorkerContext
) -> None:
    hand_in(waiting, "host")
    reach(waiting, bench, CampaignState.IMPLEMENT)
    reach(waiting, bench, CampaignState.PAUSED)
    resume(cast.fresh(waiting))
    reach(waiting, bench, CampaignState.AWAITING)
    assert rounds_used(waiting)[ProposerKind.PERSON] == 0
    hand_in(waiting, "host")


def test_it_says_in_which_state_a_campaign_takes_a_candidate(
    tmp_path: Path, bench: WorkerContext, script: Put
) -> None:
    script()
    campaign = cast.make_campaign(tmp_path)
    found = refusal(campaign)
    assert found.field == "campaign"
    assert "waiting for a worker; accepted once its baseline, round 1, is judged" in found.message
    reach(campaign, bench, CampaignState.DONE)
    assert refusal(campaign).message == "is done; it takes no candidate any more"


def test_a_stopped_campaign_ends_and_takes_nothing_more(waiting: Campaign) -> None:
    stop(waiting)
    assert refusal(waiting).message == "is done; it takes no candidate any more"
    assert cast.fresh(waiting).stop_reason == "user"


def test_a_waiting_campaign_can_be_paused_and_takes_what_is_handed_in(
    waiting: Campaign,
) -> None:
    pause(waiting)
    cast.step_until(waiting, CampaignState.PAUSED)
    assert hand_in(waiting, "time 50") in waiting_in(waiting)


def test_each_kind_has_rounds_of_its_own(tmp_path: Path, bench: WorkerContext, script: Put) -> None:
    script(["time 90"], ["time 80"], ["time 70"])
    campaign = cast.make_campaign(tmp_path, proposers="search=2,person=1,agent=1")
    reach(campaign, bench, CampaignState.AWAITING)
    assert campaign.events.last().message == ("waiting for people or agents to hand in a candidate")
    hand_in(campaign, "time 50")
    assert refusal(campaign).message == "all 1 rounds for people are used or taken"
    submit(cast.fresh(campaign), handed_in("time 40"), "agent", "tuner")
    reach(campaign, bench, CampaignState.DONE)
    ended = cast.fresh(campaign)
    assert ended.stop_reason == "max_rounds"
    assert ended.stop_sentence == (
        "Every proposer has used its rounds: built-in search 2, person 1, agent 1."
    )
    assert rounds_used(campaign) == {"search": 2, "person": 1, "agent": 1}


def test_it_refuses_who_is_no_proposer_and_beyond_all_rounds(
    tmp_path: Path, bench: WorkerContext, script: Put
) -> None:
    script(["time 90"], ["time 80"])
    campaign = cast.make_campaign(tmp_path, max_rounds=3, proposers="search,person")
    reach(campaign, bench, CampaignState.VALIDATE)
    with pytest.raises(
        SubmissionRefused, match="takes nothing from agents; its proposers: search, person"
    ):
        submit(cast.fresh(campaign), handed_in("time 50"), "agent", "tuner")
    hand_in(campaign, "time 50")
    assert refusal(campaign, "time 40").message == "all 3 rounds are used or taken"


def test_an_account_without_the_role_may_not_hand_in(waiting: Campaign) -> None:
    viewer = User.objects.create(username="bob")
    with pytest.raises(Forbidden, match="engineer or lead"):
        submit(waiting, handed_in("time 50"), "person", "bob", by=viewer)


def test_a_limit_of_hours_ends_the_wait(
    tmp_path: Path, bench: WorkerContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = cast.make_campaign(tmp_path, proposers="person", max_wall_h=1.0)
    reach(campaign, bench, CampaignState.AWAITING)
    spent = Spent(wall_h=1.0, device_h=0.0)
    monkeypatch.setattr("campaigns.records.stop_history.time_spent", lambda *_: spent)
    reach(campaign, bench, CampaignState.DONE)
    assert cast.fresh(campaign).stop_reason == "wall_time"


@pytest.mark.storage
def test_a_crash_at_any_write_loses_no_submission_and_tries_none_twice(
    waiting: Campaign, bench: WorkerContext
) -> None:
    made = [hand_in(waiting, f"time {time}") for time in (60, 50)]
    for number in range(1, 60):
        try:
            with killed_before_write(number):
                cast.measure_all(waiting, bench)
        except Killed:
            pass
        tried = [s for s in waiting.rounds.values_list("submission", flat=True) if s]
        assert len(tried) == len(set(tried))
        assert sorted(tried + [s.pk for s in waiting_in(waiting)]) == [s.pk for s in made]
    reach(waiting, bench, CampaignState.AWAITING)
    assert not waiting_in(waiting)


@pytest.mark.storage
def test_no_second_round_is_opened_for_a_submission(
    waiting: Campaign, bench: WorkerContext
) -> None:
    made = hand_in(waiting, "time 50")
    reach(waiting, bench, CampaignState.IMPLEMENT)
    reach(waiting, bench, CampaignState.AWAITING)
    with pytest.raises(IntegrityError), transaction.atomic():
        Round.objects.create(campaign=waiting, number=9, submission=made)


@pytest.mark.storage
def test_r45_what_was_handed_in_is_never_changed(waiting: Campaign) -> None:
    made = hand_in(waiting, "time 50")
    for change in (
        "UPDATE campaigns_submission SET name = 'bob'",
        "DELETE FROM campaigns_submission",
    ):
        with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"{change} WHERE id = {made.pk}")
    made.name = "bob"
    with pytest.raises(Immutable):
        made.save()


def test_a_search_that_never_had_an_idea_leaves_it_to_people(
    tmp_path: Path, bench: WorkerContext, script: Put
) -> None:
    script()
    campaign = cast.make_campaign(tmp_path, proposers="search,person")
    reach(campaign, bench, CampaignState.AWAITING)
    said = campaign.events.filter(kind="awaiting").get().message
    assert said == (
        "the search has no idea for this kernel; waiting for people to hand in a candidate"
    )
    hand_in(campaign, "time 50")
    reach(campaign, bench, CampaignState.IMPLEMENT)
    reach(campaign, bench, CampaignState.AWAITING)
    assert cast.fresh(campaign).incumbent.text == "time 50\n"


@pytest.fixture
def rejected(waiting: Campaign, bench: WorkerContext) -> Campaign:
    """Its round 2 was slower, its round 3 is the incumbent."""
    for text in ("time 200", "time 50"):
        hand_in(waiting, text)
        reach(waiting, bench, CampaignState.IMPLEMENT)
        reach(waiting, bench, CampaignState.AWAITING)
    return cast.fresh(waiting)


def test_what_was_measured_is_measured_again_and_typed_by_nobody(
    rejected: Campaign, bench: WorkerContext
) -> None:
    made = measure_again(rejected, 2, "agent", "night")
    assert (made.title, made.text) == ("Again: Try time 200", "time 200\n")
    with pytest.raises(SubmissionRefused, match="waits already to be measured again"):
        measure_again(rejected, 2, "person", "alice")
    reach(rejected, bench, CampaignState.IMPLEMENT)
    reach(rejected, bench, CampaignState.AWAITING)
    round_ = rejected.rounds.get(number=4)
    assert (round_.verdict.reason, round_.against.round.number) == ("slower", 3)
    # A round that was measured again keeps its name.
    assert measure_again(rejected, 4, "person", "alice").title == made.title


@pytest.mark.parametrize(
    ("number", "why"),
    [
        (1, "round: 1; accepted: a closed one after the baseline"),
        (9, "round: 9; accepted: a closed one after the baseline"),
        (3, "round: 3 has the incumbent, which each round measures"),
    ],
)
def test_it_measures_no_incumbent_again(rejected: Campaign, number: int, why: str) -> None:
    with pytest.raises(SubmissionRefused, match=why):
        measure_again(rejected, number, "person", "alice")


def test_a_search_proposes_nothing_that_waits_to_be_measured_again(
    tmp_path: Path, bench: WorkerContext, script: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even where somebody asks for it while the search thinks of it."""
    put = script(["time 50 host"])
    campaign = cast.make_campaign(tmp_path, proposers="search,person")
    cast.run_again(campaign, bench)
    resume(cast.fresh(campaign))
    asked = []

    def ask(situation: Situation) -> Draft | None:
        found = real(situation)
        if cast.fresh(campaign).rounds.count() == 2 and not asked:
            asked.append(measure_again(cast.fresh(campaign), 2, "person", "alice"))
        return found

    real = put.propose
    monkeypatch.setattr(put, "propose", ask)
    while cast.fresh(campaign).rounds.count() < 3:
        cast.measure_all(campaign, bench)
    # Its host broke in round 2, so the search thought of it again; it is tried once.
    second, third = campaign.rounds.filter(number__gt=1)
    assert second.verdict.reason == "broken_host"
    assert (third.submission, third.hypothesis["strategy"]) == (asked[0], "idea-0")
    with pytest.raises(SubmissionRefused, match="round: 2: round 3 tries the same now"):
        measure_again(cast.fresh(campaign), 2, "person", "bob")


def test_what_waits_is_no_new_idea(rejected: Campaign) -> None:
    made = measure_again(rejected, 2, "person", "alice")
    last = situation_of(cast.fresh(rejected)).history[-1]
    assert (last.strategy, last.verdict) == (made.hypothesis["strategy"], "running")


def test_one_button_command_or_post_measures_a_round_again(
    rejected: Campaign, client: Client
) -> None:
    client.force_login(User.objects.create_superuser("alice"))
    for number, shown in ((1, False), (2, True), (3, False)):
        page = client.get(reverse("round", args=[rejected.pk, number])).content.decode()
        assert ('id="measure-again"' in page) is shown
    made = client.post(reverse("round_again", args=[rejected.pk, 2]))
    assert made.headers["Location"] == rejected.submissions.last().get_absolute_url()
    api = f"/api/v1/campaigns/{rejected.pk}/again/"
    for sent, code in (({"round": "2"}, 422), ({"round": 2}, 409), ({"round": 3}, 409)):
        assert client.post(api, sent, "application/json").status_code == code
    QuerySet.update(Campaign.objects.filter(pk=rejected.pk), stop_requested=True)
    with pytest.raises(CommandError, match="it takes no candidate any more"):
        call_command("round", "again", str(rejected.pk), "2")


def test_a_candidate_in_the_form_of_the_brought_kernel_gets_what_that_got(
    waiting: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = "void scale(float* x, int n) {{ x[0] = {}; }}\n"
    solve = 'extern "C" void solve(float* x, int n) {\n  scale(x, n);\n}\n'
    v0 = Source("v0.cpp", f"{body.format(1)}\n// {ADDED}\n{solve}")
    monkeypatch.setattr("campaigns.steps.rounds.submit.v0_source", lambda campaign: v0)
    # No file of this host is put into what somebody sends.
    include = '#include "settings.h"\n'
    made = hand_in(waiting, include + body.format(2))
    assert made.text == f"{include}{body.format(2)}\n// {ADDED}\n{solve}"
    whole = hand_in(waiting, solve.replace("scale(x, n)", "x[0] = 3"), change="all of it")
    assert ADDED not in whole.text
