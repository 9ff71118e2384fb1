"""Another device of the model confirms what was accepted, beside the campaigns."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.utils import timezone

from campaigns.models import (
    Campaign,
    CampaignState,
    Evaluation,
    EvaluationKind,
    EvaluationState,
    Standing,
    Worker,
)
from campaigns.models.transitions import claim
from campaigns.records.noise import MOST_VOIDS, NoiseFloor
from campaigns.rules.noise.drift import Disturbance, What
from campaigns.steps.lifecycle.control import pause
from campaigns.steps.lifecycle.reconcile import reconcile
from campaigns.steps.lifecycle.run_here import run_here
from campaigns.steps.measuring.evaluate import evaluate
from campaigns.steps.measuring.reproduce import reproduce
from campaigns.steps.worker import WorkerContext
from campaigns.tasks import Heartbeat
from tests.campaigns.finished import finished
from tests.campaigns.steps import cast

Put = Callable[..., cast.Script]


@pytest.fixture
def judge() -> cast.Moody:
    return cast.Moody()


@pytest.fixture
def ended(db: None, tmp_path: Path, judge: cast.Moody) -> Campaign:
    """A finished campaign with two accepted rounds, whose worker is alive."""
    done = finished(tmp_path, [["time 50"], ["time 40"]])
    cast.make_bench(judge)
    return done


@pytest.fixture
def twin(judge: cast.Moody, ended: Campaign) -> WorkerContext:
    """A worker that appears afterwards, on another device of the model."""
    return cast.make_bench(judge, "twin", cast.TWIN)


def reproductions() -> list[Evaluation]:
    return list(Evaluation.objects.filter(kind=EvaluationKind.REPRODUCE).order_by("pk"))


def words(campaign: Campaign, number: int) -> list[str]:
    return [s.word for s in campaign.rounds.get(number=number).standings.all()]


def test_it_waits_for_another_device(ended: Campaign, judge: cast.Moody) -> None:
    cast.make_bench(judge, "second process")
    assert reproduce() == []
    assert reproductions() == []
    assert words(ended, 3) == ["claimed", "verified"]


def test_it_confirms_what_was_accepted_once_another_device_appears(
    ended: Campaign, twin: WorkerContext
) -> None:
    cast.reproduce_all(twin)
    assert [words(ended, number) for number in (1, 2, 3)] == [
        [],
        ["claimed", "verified", "reproduced"],
        ["claimed", "verified", "reproduced"],
    ]
    # The newest first, one after the other, each against the incumbent of its round.
    found = reproductions()
    assert [e.candidate.round.number for e in found] == [3, 2]
    assert [(e.worker.name, e.against.text) for e in found] == [
        ("twin", "time 50"),
        ("twin", "time 100"),
    ]
    assert "On twin: Accepted: 1.25× faster" in ended.rounds.get(number=3).standings.last().sentence
    assert ended.events.filter(kind="standing").count() == 6


def test_it_says_what_another_device_does_not_show_and_keeps_the_incumbent(
    ended: Campaign, twin: WorkerContext, judge: cast.Moody
) -> None:
    before = cast.fresh(ended)
    judge.moods = {EvaluationKind.REPRODUCE: "time 50"}
    cast.reproduce_all(twin)
    standing = ended.rounds.get(number=3).standings.last()
    assert (standing.word, standing.needs_answer) == ("not_reproduced", True)
    assert "No change shown" in standing.sentence
    assert "Accepted was: Accepted: 1.25× faster" in standing.sentence
    after = cast.fresh(ended)
    assert (after.incumbent_id, after.result, after.state) == (
        before.incumbent_id,
        before.result,
        before.state,
    )
    assert ended.rounds.get(number=3).verdict.word == "accepted"


@pytest.mark.parametrize("mood", ["wrong", "crash", "build"])
def test_it_does_not_reproduce_what_fails_elsewhere(
    ended: Campaign, twin: WorkerContext, judge: cast.Moody, mood: str
) -> None:
    judge.moods = {EvaluationKind.REPRODUCE: mood}
    cast.reproduce_all(twin)
    assert words(ended, 3)[-1] == "not_reproduced"


def test_it_is_measured_on_another_device_only(
    ended: Campaign, twin: WorkerContext, bench: WorkerContext
) -> None:
    ((_, following),) = reproduce()
    assert evaluate(*following.measure, bench) is None
    assert reproductions()[0].state == EvaluationState.QUEUED
    assert evaluate(*following.measure, twin) == ended


def test_it_tells_devices_apart_by_what_measured_and_not_by_the_workers_name(
    ended: Campaign, judge: cast.Moody
) -> None:
    # The worker of the campaign has moved to the twin; its old device has a new worker.
    claim(Worker.objects.filter(name="tester"), pid=0)
    moved = cast.make_bench(judge, "tester", cast.TWIN)
    old = cast.make_bench(judge, "newcomer")
    ((_, following),) = reproduce()
    assert evaluate(*following.measure, old) is None
    assert evaluate(*following.measure, moved) == ended


def test_it_never_holds_a_campaign_up(
    tmp_path: Path,
    bench: WorkerContext,
    script: Put,
    judge: cast.Moody,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def wait(seconds: float) -> None:
        raise AssertionError("the campaign waits for a reproduction")

    # Not the sleep of everything else, such as of who waits for git.
    monkeypatch.setattr("campaigns.steps.lifecycle.run_here.time", SimpleNamespace(sleep=wait))
    twin = cast.make_bench(judge, "twin", cast.TWIN)
    script(["time 50"], ["time 40"])
    campaign = cast.make_campaign(tmp_path)

    def look(job: object) -> None:
        reproduce()

    judge.during = look
    ended = run_here(campaign.pk, bench, lambda message: None)
    assert ended.state == CampaignState.DONE
    waiting = reproductions()
    assert [(e.candidate.round.number, e.state) for e in waiting] == [(2, EvaluationState.QUEUED)]
    cast.reproduce_all(twin)
    assert words(campaign, 2)[-1] == words(campaign, 3)[-1] == "reproduced"


def test_it_asks_reconcile_for_nothing(ended: Campaign, twin: WorkerContext) -> None:
    reproduce()
    assert reproductions()
    assert reconcile() == []


def test_it_gives_up_on_a_host_that_stays_broken_without_a_word_about_the_candidate(
    ended: Campaign, twin: WorkerContext, judge: cast.Moody
) -> None:
    judge.moods = {EvaluationKind.REPRODUCE: "host"}
    cast.reproduce_all(twin)
    assert [e.attempt for e in reproductions()] == [1, 2, 3, 1, 2, 3]
    assert words(ended, 3) == words(ended, 2) == ["claimed", "verified"]


def test_it_repeats_what_an_unsteady_device_measured_and_holds_no_campaign_for_it(
    tmp_path: Path,
    bench: WorkerContext,
    script: Put,
    judge: cast.Moody,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    script(["time 50"], ["time 40"])
    campaign = cast.make_campaign(tmp_path)
    for _ in range(60):
        cast.measure_all(campaign, bench)
        if words_or_none(campaign, 2)[-1:] == ["verified"]:
            break
    drift = Disturbance(What.CLOCK, "one", "fell by 40 %", "5 %")
    monkeypatch.setattr(
        "campaigns.steps.measuring.results.drift_under",
        lambda evaluation, report: (drift,) if evaluation.kind == "reproduce" else (),
    )
    cast.reproduce_all(cast.make_bench(judge, "twin", cast.TWIN))
    assert cast.voids().count() == MOST_VOIDS - 1
    assert reproductions()[-1].outcome == "broken_host"
    assert words_or_none(campaign, 2) == ["claimed", "verified"]
    assert not cast.fresh(campaign).pause_requested


def test_it_judges_after_a_crash_what_was_measured_before(
    ended: Campaign, twin: WorkerContext
) -> None:
    ((_, following),) = reproduce()
    evaluate(*following.measure, twin)
    assert words(ended, 3) == ["claimed", "verified"]
    reproduce()
    reproduce()
    assert words(ended, 3) == ["claimed", "verified", "reproduced"]
    assert ended.events.filter(kind="standing", round__number=3).count() == 3


def test_it_takes_back_what_a_dead_worker_held(
    ended: Campaign, twin: WorkerContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    ((_, following),) = reproduce()
    rows = Evaluation.objects.filter(pk__in=following.measure)
    claim(rows, state=EvaluationState.RUNNING, holder="gone host 1 a", claims=1)
    assert reproduce() == []
    monkeypatch.setattr("campaigns.steps.measuring.claims.is_gone", lambda holder: True)
    reconcile()
    cast.reproduce_all(twin)
    assert words(ended, 3)[-1] == "reproduced"


def test_it_writes_one_word_when_two_workers_judge_at_once(
    ended: Campaign, twin: WorkerContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    from campaigns.steps.measuring import reproduce as step

    ((_, following),) = reproduce()
    evaluate(*following.measure, twin)
    late = Evaluation.objects.get(pk__in=following.measure)
    step._judge(late)
    step._judge(late)
    assert words(ended, 3) == ["claimed", "verified", "reproduced"]
    assert ended.events.filter(kind="standing", round__number=3).count() == 3


def test_it_leaves_a_paused_campaign_alone(
    tmp_path: Path, bench: WorkerContext, script: Put, judge: cast.Moody
) -> None:
    script(["time 50"], ["time 40"])
    campaign = cast.make_campaign(tmp_path)
    for _ in range(60):
        cast.measure_all(campaign, bench)
        if words_or_none(campaign, 2)[-1:] == ["verified"]:
            break
    twin = cast.make_bench(judge, "twin", cast.TWIN)
    ((_, following),) = reproduce()
    pause(cast.fresh(campaign))
    assert evaluate(*following.measure, twin) is None
    assert reproduce() == []


def words_or_none(campaign: Campaign, number: int) -> list[str]:
    rows = Standing.objects.filter(round__campaign=campaign, round__number=number)
    return [standing.word for standing in rows]


def test_it_forgets_a_device_whose_workers_are_gone(ended: Campaign, twin: WorkerContext) -> None:
    long_ago = timezone.now() - timedelta(hours=1)
    claim(Worker.objects.filter(name="twin"), heartbeat_at=long_ago)
    assert reproduce() == []
    assert reproductions() == []


def test_it_asks_more_of_a_noisier_device_and_blames_nobody_for_what_it_can_not_tell(
    ended: Campaign, twin: WorkerContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Round 2 gained 100 %, round 3 25 %, and this device tells nothing below 60 %."""
    noisy = NoiseFloor(0.6, "its passport")
    monkeypatch.setattr("campaigns.steps.measuring.reproduce.floor_for", lambda campaign, of: noisy)
    cast.reproduce_all(twin)
    assert words(ended, 3)[-1] == "untold"
    assert words(ended, 2)[-1] == "reproduced"
    standing = ended.rounds.get(number=3).standings.last()
    assert "the noise floor is 60 %" in standing.sentence
    assert not standing.needs_answer
    # It is settled all the same: nothing is measured or written again and again.
    cast.reproduce_all(twin)
    assert len(reproductions()) == 2


@pytest.mark.parametrize("mood", ["time 65", "wrong"])
def test_a_noisy_device_still_speaks_against_what_is_slower_or_wrong_there(
    ended: Campaign,
    twin: WorkerContext,
    judge: cast.Moody,
    monkeypatch: pytest.MonkeyPatch,
    mood: str,
) -> None:
    noisy = NoiseFloor(0.2, "its passport")
    monkeypatch.setattr("campaigns.steps.measuring.reproduce.floor_for", lambda campaign, of: noisy)
    judge.moods = {EvaluationKind.REPRODUCE: mood}
    cast.reproduce_all(twin)
    assert words(ended, 3)[-1] == "not_reproduced"


def test_it_is_looked_for_with_every_heartbeat(
    ended: Campaign, twin: WorkerContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    rung: list[tuple[Campaign, object]] = []
    monkeypatch.setattr("campaigns.tasks.notify", lambda *ringing: rung.append(ringing))
    Heartbeat("twin", cast.TWIN).beat()
    assert [campaign for campaign, _ in rung] == [ended]
