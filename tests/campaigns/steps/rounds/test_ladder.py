"""Rounds without a gain lead up the ladder, to a review and to one restart in part (R40, R48)."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import IntegrityError
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from campaigns.evaluator.contract import Job, KernelLaunch, MachineCode, Report
from campaigns.management.facts import campaign_details, campaign_text
from campaigns.models import (
    Campaign,
    CampaignState,
    IllegalTransition,
    Restart,
    RestartAnswer,
    Review,
)
from campaigns.models.event import record
from campaigns.models.transitions import claim
from campaigns.proposers.handed_in import SubmissionRefused
from campaigns.records.stop_history import masked_rounds
from campaigns.steps.lifecycle.restart import answer_restart, unmask
from campaigns.steps.lifecycle.run_here import run_here
from campaigns.steps.rounds.submit import submit
from campaigns.steps.worker import WorkerContext
from campaigns.trails.exporters.archive import FORMATS
from campaigns.trails.exporters.judged_rounds import trail_of
from campaigns.trails.exporters.kopt import record_files
from knowledge.exchange.importer import ImportOptions, take_files
from tests.campaigns.steps import cast
from tests.campaigns.steps.cast import Script
from tests.campaigns.views.conftest import whole_campaign

pytestmark = pytest.mark.django_db(transaction=True)
Put = Callable[..., Script]
Run = Callable[..., Campaign]
SLOWER, SAME = ["time 200"], ["time 100"]


def told(campaign: Campaign) -> list[str]:
    return [event.data["rung"] for event in campaign.events.filter(kind="ladder").order_by("pk")]


def offered(tmp_path: Path, bench: WorkerContext, proposers: str = "search") -> Campaign:
    """A campaign that waits for a person's answer to its restart."""
    campaign = cast.make_campaign(tmp_path, restart="ask", proposers=proposers)
    for _ in range(60):
        cast.measure_all(campaign, bench)
        if cast.fresh(campaign).state == CampaignState.RESTART:
            return cast.fresh(campaign)
    raise AssertionError("no restart was offered")


def test_r48_five_rounds_without_a_gain_climb_to_a_restart(run: Run, script: Put) -> None:
    script(SLOWER, SAME, ["crash"], SAME, SAME)
    campaign = run()
    assert told(campaign)[:5] == ["diagnose", "review", "machine_code", "compare", "restart"]
    cast.assert_legal_course(campaign)
    states = list(campaign.phases.values_list("state", flat=True))
    assert states.count(CampaignState.STAGNATION) == 1
    assert states.count(CampaignState.RESTART) == 1
    first = campaign.events.filter(kind="ladder").order_by("pk")[0]
    assert first.message.startswith("1 round was not accepted: 1 slower (round 2:")
    # The review asked for the incumbent's evidence anew: two rounds had measured it meanwhile.
    begun, again = campaign.evidence.order_by("pk")
    assert (begun.after, again.after) == (1, 3)
    assert again.sessions == 3


class Tracing(cast.Judge):
    """Also tells how the kernel of each case was launched."""

    def evaluate(self, job: Job, beat: Callable[[str], None] | None = None) -> Report:
        report = super().evaluate(job, beat)
        launch = KernelLaunch(1, (512, 1, 1), (128, 1, 1), 255, 16, 13)
        timed = [
            replace(case, candidate=replace(case.candidate, launch=launch))
            for case in report.cases
            if case.candidate
        ]
        return replace(report, cases=tuple(timed))


@pytest.mark.parametrize(
    ("judge", "known"),
    [
        (
            cast.Judge(),
            "next: solve: 40 instructions: vectors of 256 bits 8, calls 2 (expf)",
        ),
        (
            Tracing(),
            "calls 2 (expf); one: 255 registers a thread, 16 B shared memory a block, 13 % occup",
        ),
        (
            cast.Judge(code=MachineCode("objdump, native", note="objdump is not on this host")),
            "next: its instructions were not read: objdump is not on this host",
        ),
    ],
)
def test_r48_the_third_step_tells_what_is_known_of_the_machine_code(
    db: None, script: Put, tmp_path: Path, judge: cast.Judge, known: str
) -> None:
    script(SAME, SAME, SAME)
    campaign = cast.make_campaign(tmp_path, max_rounds=4 + 1)
    run_here(campaign.pk, cast.make_bench(judge), lambda message: None)
    step = campaign.events.filter(kind="ladder").order_by("pk")[2]
    assert step.data["rung"] == "machine_code"
    assert known in step.message


def test_r48_the_review_is_stored_and_shown_to_the_proposer(run: Run, script: Put) -> None:
    seen = script(SLOWER, SAME, SAME)
    campaign = run()
    (row,) = Review.objects.filter(campaign=campaign)
    assert (row.after, row.streak) == (3, 2)
    assert row.failures == {"slower": 1, "within_noise": 1}
    named = [way["strategy"] for way in row.directions]
    assert named
    assert [situation.directions for situation in seen.seen] == [(), (), tuple(named), tuple(named)]


def test_r48_a_review_says_what_needs_a_person_and_names_nothing_that_cannot_fit(
    run: Run, script: Put, client: Client, django_user_model: Any
) -> None:
    head = "| id | for | use when | what to do | check with | typical failure |\n|-|-|-|-|-|-|\n"
    rows = (
        "| `x.tile` | memory, elementwise | it misses | Cut tiles | time | – |\n"
        "| `x.wide` | memory, matmul | it is wide | Widen it | time | – |\n"
        "| `x.card` | cuda | it is a card | Warp it | time | – |\n"
    )
    take_files({"docs/x.md": f"# X\n\n{head}{rows}"}, ImportOptions(origin="x"))
    script(SLOWER, SAME, SAME)
    campaign = run()
    (row,) = Review.objects.filter(campaign=campaign)
    named = {way["catalogue"]: way for way in row.directions}
    assert "x.tile" in named
    assert not named["x.tile"]["by_itself"]
    assert not {"x.wide", "x.card"} & set(named)
    said = campaign.events.get(kind="reviewed").message
    assert "Cut tiles (layout and data movement; needs a person)" in said
    client.force_login(django_user_model.objects.create_user("viewer"))
    body = whole_campaign(client, campaign)
    assert 'href="/x/strategies/x.tile/">x.tile</a>' in body
    assert "needs a person" in body
    assert "needs a person" in campaign_text(campaign)


def test_r40_a_restart_masks_attempts_and_goes_on_with_the_same_numbers(
    run: Run, script: Put
) -> None:
    seen = script(["time 50"], SLOWER, SLOWER, SLOWER, SLOWER, SLOWER, SLOWER, SLOWER)
    campaign = run()
    restart = Restart.objects.get(campaign=campaign)
    assert (restart.answer, restart.after, len(restart.masked)) == ("taken", 7, 3)
    assert restart.data["fraction"] == 0.5
    assert not {1, 2} & set(restart.masked)
    assert campaign.incumbent.round.number == 2
    numbers = list(campaign.rounds.order_by("number").values_list("number", flat=True))
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) > 7
    after = next(s for s in seen.seen if len(s.history) < 6 and s.seed == campaign.seed + 7)
    assert {a.round for a in after.history} == {2, 3, 4, 5, 6, 7} - set(restart.masked)
    # Five regressions were there before; only what came after the restart may end it.
    assert campaign.stop_reason == "failure_budget"


def test_r49_five_regressions_end_a_campaign_whose_restart_is_declined(
    run: Run, script: Put
) -> None:
    script(*[SLOWER] * 9)
    campaign = run(restart="decline")
    restart = Restart.objects.get(campaign=campaign)
    assert (restart.answer, restart.masked) == ("declined", [])
    assert campaign.stop_reason == "consecutive_regressions"
    assert campaign.rounds.count() == 6
    cast.assert_legal_course(campaign)


def test_law_8_a_broken_host_is_no_step_up(run: Run, script: Put, bench: WorkerContext) -> None:
    script(SLOWER, ["host"])
    assert told(cast.past_its_host(run(max_rounds=3), bench)) == ["diagnose"]


def test_r40_a_person_takes_the_restart(bench: WorkerContext, script: Put, tmp_path: Path) -> None:
    script(*[SAME] * 9)
    campaign = offered(tmp_path, bench)
    cast.step(campaign)
    assert cast.fresh(campaign).state == CampaignState.RESTART
    answer_restart(campaign, RestartAnswer.TAKEN)
    assert cast.fresh(campaign).state == CampaignState.PROFILE
    assert len(masked_rounds(campaign)) == 3
    with pytest.raises(IllegalTransition, match="no restart is offered"):
        answer_restart(cast.fresh(campaign), RestartAnswer.TAKEN)


def test_r40_a_masked_round_is_seen_again_when_a_person_says_so(
    bench: WorkerContext, script: Put, tmp_path: Path
) -> None:
    seen = script(*[SAME] * 9)
    campaign = offered(tmp_path, bench)
    answer_restart(campaign, RestartAnswer.TAKEN)
    hidden = sorted(masked_rounds(campaign))
    unmask(campaign, hidden[0])
    assert sorted(masked_rounds(campaign)) == hidden[1:]
    with pytest.raises(IllegalTransition, match="round 1 is not hidden"):
        unmask(campaign, 1)
    cast.step_until(campaign, CampaignState.IMPLEMENT)
    assert hidden[0] in {attempt.round for attempt in seen.seen[-1].history}
    assert not set(hidden[1:]) & {attempt.round for attempt in seen.seen[-1].history}


def test_r40_what_a_masked_round_tried_may_be_handed_in_again(
    bench: WorkerContext, script: Put, tmp_path: Path
) -> None:
    script(*[[f"time {200 + n}"] for n in range(9)])
    campaign = offered(tmp_path, bench, proposers="search,person")
    answer_restart(campaign, RestartAnswer.TAKEN)
    campaign = cast.fresh(campaign)
    tried = campaign.rounds.filter(number__gt=1)
    texts = {one.number: one.candidates.get().text for one in tried}
    hidden, *_ = sorted(masked_rounds(campaign))
    seen, *_ = sorted(texts.keys() - masked_rounds(campaign))
    with pytest.raises(SubmissionRefused, match=f"round {seen} had the same one"):
        submit(campaign, cast.handed_in(texts[seen]), "person", "alice")
    assert submit(campaign, cast.handed_in(texts[hidden]), "person", "alice").pk


def test_r40_an_offer_that_nobody_answers_is_declined(
    bench: WorkerContext, script: Put, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(*[SAME] * 9)
    campaign = offered(tmp_path, bench)
    late = timezone.now() + timedelta(minutes=61)
    monkeypatch.setattr("campaigns.steps.lifecycle.advance.timezone.now", lambda: late)
    cast.step(campaign)
    row = Restart.objects.get(campaign=campaign)
    assert (row.answer, row.why) == ("declined", "no answer within an hour")


def test_r45_a_restart_is_kept_and_a_finished_campaign_takes_no_review(
    run: Run, script: Put
) -> None:
    script(*[SAME] * 5)
    campaign = run()
    row = Restart.objects.get(campaign=campaign)
    row.data["masked"] = []
    with pytest.raises(IntegrityError):
        row.save()
    with pytest.raises(IntegrityError):
        claim(Restart.objects.filter(pk=row.pk), data={})
    with pytest.raises(IntegrityError):
        record(campaign, Review.KIND, "late", after=99, streak=2)


def test_r48_what_runs_here_waits_for_an_answer(
    bench: WorkerContext, script: Put, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(*[SAME] * 5)
    campaign = cast.make_campaign(tmp_path, restart="ask")

    def answer(*_: object) -> str:
        answer_restart(cast.fresh(campaign), RestartAnswer.DECLINED)
        return ""

    monkeypatch.setattr("campaigns.steps.lifecycle.run_here._wait_for_another", answer)
    ended = run_here(campaign.pk, bench, lambda message: None)
    assert (ended.state, ended.stop_reason) == (CampaignState.DONE, "no_ideas_left")


def test_r40_page_command_and_trail_tell_what_is_masked(
    run: Run, script: Put, client: Client, django_user_model: Any
) -> None:
    script(*[SAME] * 9)
    campaign = run()
    hidden = sorted(masked_rounds(campaign))
    client.force_login(django_user_model.objects.create_user("viewer"))
    body = client.get(reverse("rounds", args=[campaign.pk])).content.decode()
    assert body.count("data-masked") == len(hidden) == 3
    body = whole_campaign(client, campaign)
    assert 'data-restart="taken"' in body
    assert 'data-review="3"' in body
    facts = campaign_details(campaign)
    assert facts["masked"] == hidden
    assert facts["restart"]["answer"] == "taken"
    assert len(facts["reviews"]) == 1
    assert "restart after round 6: taken" in campaign_text(campaign)
    files = dict(FORMATS["atrex"].files(trail_of(campaign)))
    masked = [n for n in range(1, 10) if json.loads(files[f"memory/v{n - 1}.json"])["masked"]]
    assert masked == hidden
    ((_, record),) = record_files(trail_of(campaign))
    assert [one["number"] for one in json.loads(record)["rounds"] if one["masked"]] == hidden
    log = dict(FORMATS["kernel-optimize"].files(trail_of(campaign)))["logs/optimize.md"]
    assert "partial restart taken by the campaign" in log


def test_r40_only_who_may_change_campaigns_answers_on_the_page(
    bench: WorkerContext, script: Put, tmp_path: Path, client: Client, django_user_model: Any
) -> None:
    script(*[SAME] * 9)
    campaign = offered(tmp_path, bench)
    address = reverse("campaign_restart", args=[campaign.pk])
    client.force_login(django_user_model.objects.create_user("viewer"))
    assert client.post(address).status_code == 403
    assert "do-restart" not in client.get(reverse("campaign", args=[campaign.pk])).content.decode()
    client.force_login(django_user_model.objects.create_superuser("lead"))
    assert "do-decline" in client.get(reverse("campaign", args=[campaign.pk])).content.decode()
    assert client.post(address).status_code == 302
    assert Restart.objects.get(campaign=campaign).answer == "taken"
