"""A device that others use: evaluation and campaign wait for it, and nothing is lost (R8)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from campaigns.devices.discover import Device
from campaigns.devices.hold import DeviceBusy, hold
from campaigns.devices.processes import new_holder
from campaigns.models import (
    Campaign,
    CampaignState,
    Cause,
    DeviceWait,
    Evaluation,
    EvaluationKind,
    EvaluationState,
    Verdict,
    Worker,
)
from campaigns.models.transitions import claim, move
from campaigns.records.device_waits import open_waits, shown_wait, wait_for, wait_of, waits_on
from campaigns.rules.noise.device_gate import DeviceCheck, DeviceState
from campaigns.steps.lifecycle import run_here as running
from campaigns.steps.lifecycle.control import pause, resume
from campaigns.steps.lifecycle.reconcile import reconcile
from campaigns.steps.measuring.evaluate import evaluate
from campaigns.steps.worker import WorkerContext
from knowledge.models import Immutable
from tests.campaigns.steps import cast

WHY = "process 4711 computes on it"
BUSY, IDLE = (
    DeviceCheck(DeviceState.BUSY, WHY),
    DeviceCheck(DeviceState.IDLE, "at most 0 % busy in 3 samples"),
)
MINUTE = timedelta(minutes=1)


class Clock:
    """The time of this test, which passes only when it is told to."""

    def __init__(self) -> None:
        self.now = timezone.now().replace(microsecond=0)

    def __call__(self) -> datetime:
        return self.now

    def passes(self, minutes: float) -> None:
        self.now += minutes * MINUTE


class Card:
    """A device as others use it. seen: how often it was looked at."""

    def __init__(self) -> None:
        self.found, self.seen = BUSY, 0

    def __call__(self, device: Device) -> DeviceCheck:
        self.seen += 1
        return self.found


@pytest.fixture(autouse=True)
def no_glance(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody glances at the lock here, so nobody waits for a glance to end."""
    monkeypatch.setattr("campaigns.devices.hold.GLANCE_S", 0.0)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(timezone, "now", made)
    return made


@pytest.fixture
def card(settings: Any) -> Card:
    settings.KOPT_GATE = "ALL"
    return Card()


@pytest.fixture
def bench(db: None, clock: Clock, judge: cast.Judge, card: Card) -> WorkerContext:
    return replace(cast.make_bench(judge), look=card, patience_s=0.0)


@pytest.fixture
def campaign(bench: WorkerContext, tmp_path: Path, script: Callable[..., cast.Script]) -> Campaign:
    script(["time 50"])
    made = cast.make_campaign(tmp_path)
    cast.step_until(made, CampaignState.BASELINE)
    return made


@pytest.fixture
def queued(campaign: Campaign) -> Evaluation:
    return Evaluation.objects.get(candidate__round__campaign=campaign)


def alive(bench: WorkerContext) -> None:
    """What the heartbeat of a worker writes all the time."""
    Worker.objects.filter(pk=bench.worker.pk).update(heartbeat_at=timezone.now())


def rung(bench: WorkerContext) -> list[int]:
    """The evaluations that reconcile rings for."""
    alive(bench)
    return [key for _, following in reconcile() for key in following.measure]


def wait_out(clock: Clock, bench: WorkerContext, queued: Evaluation) -> list[Campaign | None]:
    """Six more looks, ten minutes from each other; what each of them answered."""
    answers = []
    for _ in range(6):
        clock.passes(10)
        answers += [evaluate(key, bench) for key in rung(bench)]
    return answers


def test_r8_it_leaves_the_evaluation_queued_and_says_why(
    queued: Evaluation, bench: WorkerContext, judge: cast.Judge, clock: Clock
) -> None:
    assert evaluate(queued.pk, bench) is None
    queued.refresh_from_db()
    assert (queued.state, queued.claims, queued.holder) == (EvaluationState.QUEUED, 0, "")
    assert judge.jobs == []
    wait = wait_of(queued.campaign)
    assert (wait.since, wait.looked_at, wait.why, wait.cause) == (
        clock.now,
        clock.now,
        WHY,
        Cause.BUSY,
    )
    assert (wait.look_at, wait.pause_at) == (clock.now + 10 * MINUTE, clock.now + 60 * MINUTE)
    assert (wait.device, wait.worker) == ("cpu", "tester")
    event = queued.campaign.events.get(kind="device_busy")
    looks, pauses = (clock.now + n * MINUTE for n in (10, 60))
    assert event.message == (
        f"waits for cpu of tester: {WHY}; "
        f"looks again at {looks:%H:%M} UTC, pauses at {pauses:%H:%M} UTC"
    )


def test_r8_it_looks_again_after_ten_minutes_and_not_before(
    queued: Evaluation, bench: WorkerContext, card: Card, clock: Clock
) -> None:
    evaluate(queued.pk, bench)
    clock.passes(9.9)
    assert rung(bench) == []
    assert evaluate(queued.pk, bench) is None
    assert card.seen == 1
    clock.passes(0.1)
    assert rung(bench) == [queued.pk]
    since = wait_of(queued.campaign).since
    evaluate(queued.pk, bench)
    assert card.seen == 2
    wait = wait_of(queued.campaign)
    assert (wait.since, wait.waited_s) == (since, 600.0)


def test_it_measures_when_the_device_is_idle_and_notes_what_it_saw(
    queued: Evaluation, bench: WorkerContext, card: Card, clock: Clock
) -> None:
    evaluate(queued.pk, bench)
    clock.passes(10)
    card.found = IDLE
    assert evaluate(queued.pk, bench) == queued.campaign
    queued.refresh_from_db()
    assert (queued.state, queued.outcome) == (EvaluationState.DONE, "passed")
    seen = queued.report["environment"]["device before"]
    assert seen == "idle: at most 0 % busy in 3 samples"
    assert wait_of(queued.campaign) is None
    assert queued.campaign.events.get(kind="device_idle").message == "cpu of tester is free"


def test_r45_an_ended_wait_stays_as_it_is(
    queued: Evaluation, bench: WorkerContext, card: Card, clock: Clock
) -> None:
    evaluate(queued.pk, bench)
    clock.passes(10)
    card.found = IDLE
    evaluate(queued.pk, bench)
    wait = DeviceWait.objects.get()
    assert (wait.campaign, wait.ended_at - wait.since) == (queued.campaign, 10 * MINUTE)
    with pytest.raises(Immutable):
        DeviceWait.objects.update(why="forged")
    with pytest.raises(IntegrityError, match="never changed"), transaction.atomic():
        claim(DeviceWait.objects.all(), why="forged")
    with pytest.raises(IntegrityError, match="never deleted"), transaction.atomic():
        DeviceWait.objects.all()._raw_delete("default")


def test_r8_a_campaign_has_one_open_wait_however_often_it_is_looked_for(
    queued: Evaluation, bench: WorkerContext, clock: Clock
) -> None:
    evaluate(queued.pk, bench)
    wait_out(clock, bench, queued)
    assert DeviceWait.objects.get().waited_s == 3600.0
    assert queued.campaign.events.filter(kind="device_busy").count() == 1
    again = DeviceWait.objects.get()
    again.pk, again._state.adding = None, True
    with pytest.raises(IntegrityError), transaction.atomic():
        again.save()


def test_r8_it_pauses_the_campaign_after_sixty_minutes(
    queued: Evaluation, bench: WorkerContext, card: Card, clock: Clock, judge: cast.Judge
) -> None:
    campaign = queued.campaign
    evaluate(queued.pk, bench)
    assert wait_out(clock, bench, queued) == [None] * 5 + [campaign]
    cast.step(campaign)
    held = cast.fresh(campaign)
    assert (held.state, held.paused_from) == (CampaignState.PAUSED, CampaignState.BASELINE)
    asked = held.events.get(kind="pause_requested")
    assert (asked.data["reason"], asked.data["cause"]) == ("no_free_device", "busy")
    assert asked.message == (
        "No free device for 60 min; the campaign is paused. Resume it when there is one. "
        f"Last seen: {WHY}"
    )
    assert shown_wait(held).is_over
    queued.refresh_from_db()
    assert (queued.state, queued.claims) == (EvaluationState.QUEUED, 0)
    clock.passes(60)
    assert rung(bench) == []
    assert card.seen == 7
    assert judge.jobs == []


def test_r8_it_waits_anew_when_it_is_resumed(
    queued: Evaluation, bench: WorkerContext, card: Card, clock: Clock
) -> None:
    evaluate(queued.pk, bench)
    wait_out(clock, bench, queued)
    cast.step(queued.campaign)
    clock.passes(90)
    resume(cast.fresh(queued.campaign))
    assert wait_of(queued.campaign) is None
    assert rung(bench) == [queued.pk]
    evaluate(queued.pk, bench)
    wait = wait_of(queued.campaign)
    assert (wait.since, wait.waited_s) == (clock.now, 0.0)
    card.found = IDLE
    clock.passes(10)
    ended = cast.run_again(queued.campaign, bench)
    assert (ended.state, ended.stop_reason) == (CampaignState.DONE, "no_ideas_left")


def test_law_8_a_wait_costs_the_campaign_nothing(
    campaign: Campaign,
    queued: Evaluation,
    bench: WorkerContext,
    card: Card,
    clock: Clock,
    tmp_path: Path,
) -> None:
    """No attempt, no claim, no failure and no round of its budget; what it learns is the same."""
    card.found = IDLE
    twin = cast.make_campaign(tmp_path / "twin")
    cast.run_again(twin, bench)
    card.found = BUSY
    for _ in range(3):
        (key,) = open_evaluations(campaign)
        evaluate(key, bench)
        wait_out(clock, bench, queued)
        cast.step(campaign)
        assert cast.fresh(campaign).state == CampaignState.PAUSED
        assert open_evaluations(campaign) == [key]
        resume(cast.fresh(campaign))
        card.found = IDLE
        evaluate(key, bench)
        card.found = BUSY
        while cast.step(campaign).again:
            pass
    card.found = IDLE
    assert cast.run_again(campaign, bench).state == CampaignState.DONE
    assert facts(campaign) == facts(twin)


def open_evaluations(campaign: Campaign) -> list[int]:
    rows = Evaluation.objects.filter(
        candidate__round__campaign=campaign, state=EvaluationState.QUEUED
    )
    return list(rows.values_list("pk", flat=True))


def facts(campaign: Campaign) -> Any:
    """What is left of a campaign besides its events."""
    rows = Evaluation.objects.filter(candidate__round__campaign=campaign).order_by("pk")
    verdicts = Verdict.objects.filter(round__campaign=campaign).order_by("round__number")
    fresh = cast.fresh(campaign)
    return (
        list(rows.values_list("kind", "state", "attempt", "claims", "outcome")),
        [(v.word, v.reason) for v in verdicts],
        (fresh.state, fresh.stop_reason, fresh.rounds.count(), fresh.result["pairs"]),
    )


def test_it_goes_on_waiting_after_a_crash(
    queued: Evaluation, bench: WorkerContext, card: Card, clock: Clock, judge: cast.Judge
) -> None:
    """Nothing but the rows knows of the wait; time in which nobody looked does not count."""
    evaluate(queued.pk, bench)
    clock.passes(5)
    again = replace(cast.make_bench(judge, "after the crash"), look=card, patience_s=0.0)
    assert rung(again) == []
    evaluate(queued.pk, again)
    assert card.seen == 1
    clock.passes(24 * 60)
    assert rung(again) == [queued.pk]
    assert evaluate(queued.pk, again) is None
    wait = wait_of(queued.campaign)
    assert (wait.waited_s, wait.pause_at) == (600.0, clock.now + 50 * MINUTE)
    assert not cast.fresh(queued.campaign).pause_requested


def test_a_crash_between_look_and_pause_loses_neither(
    queued: Evaluation, bench: WorkerContext, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluate(queued.pk, bench)
    for _ in range(5):
        clock.passes(10)
        evaluate(queued.pk, bench)
    clock.passes(10)
    with monkeypatch.context() as killed:
        killed.setattr("campaigns.steps.measuring.waits.ask_to_pause", interrupted)
        with pytest.raises(KeyboardInterrupt):
            evaluate(queued.pk, bench)
    assert wait_of(queued.campaign).waited_s == 3000.0
    assert rung(bench) == [queued.pk]
    assert evaluate(queued.pk, bench) == queued.campaign
    assert cast.fresh(queued.campaign).pause_requested


def interrupted(*_: Any, **__: Any) -> bool:
    raise KeyboardInterrupt


def test_the_worker_of_another_device_does_not_wait(
    queued: Evaluation, bench: WorkerContext, judge: cast.Judge, clock: Clock
) -> None:
    evaluate(queued.pk, bench)
    clock.passes(1)
    assert rung(bench) == []
    other = cast.make_bench(judge, "other", cast.TWIN)
    Worker.objects.filter(pk=other.worker.pk).update(card="another card")
    other.worker.refresh_from_db()
    other = replace(other, look=lambda device: IDLE)
    assert rung(other) == [queued.pk]
    assert evaluate(queued.pk, other) == queued.campaign
    assert queued.campaign.events.get(kind="device_idle").message == "cpu of other is free"


def test_each_device_has_its_own_next_look(
    queued: Evaluation, bench: WorkerContext, judge: cast.Judge, clock: Clock, card: Card
) -> None:
    evaluate(queued.pk, bench)
    clock.passes(4)
    other = cast.make_bench(judge, "other")
    Worker.objects.filter(pk=other.worker.pk).update(card="another card")
    other.worker.refresh_from_db()
    other = replace(other, look=card)
    evaluate(queued.pk, other)
    wait = wait_of(queued.campaign)
    assert wait.waited_s == 240.0
    assert wait.seen == {bench.worker.card, "another card"}
    clock.passes(6)
    evaluate(queued.pk, other)
    assert card.seen == 2
    evaluate(queued.pk, bench)
    assert card.seen == 3
    assert wait_of(queued.campaign).waited_s == 600.0
    assert [one.campaign for one in waits_on("another card", open_waits())] == [queued.campaign]
    assert waits_on("a third", open_waits()) == []


def test_it_tries_a_held_device_at_every_ring_and_tells_of_it_once(
    queued: Evaluation, bench: WorkerContext, card: Card, clock: Clock
) -> None:
    with hold(bench.device):
        for _ in range(3):
            with pytest.raises(DeviceBusy):
                evaluate(queued.pk, bench)
            clock.passes(0.5)
            assert rung(bench) == [queued.pk]
    wait = wait_of(queued.campaign)
    assert wait.cause == Cause.HELD
    assert "is held by process" in wait.why
    assert queued.campaign.events.filter(kind="device_busy").count() == 1
    assert card.seen == 0
    card.found = IDLE
    assert evaluate(queued.pk, bench) == queued.campaign


def test_it_pauses_for_a_device_that_stays_held(
    queued: Evaluation, bench: WorkerContext, clock: Clock
) -> None:
    with hold(bench.device):
        for _ in range(125):
            with pytest.raises(DeviceBusy):
                evaluate(queued.pk, bench)
            if cast.fresh(queued.campaign).pause_requested:
                break
            clock.passes(0.5)
    assert queued.campaign.events.filter(kind="device_busy").count() == 1
    assert clock.now - wait_of(queued.campaign).since == 60 * MINUTE
    assert cast.fresh(queued.campaign).pause_requested


def test_of_a_held_device_that_others_use_too_it_tells_both(
    queued: Evaluation, bench: WorkerContext, clock: Clock
) -> None:
    with hold(bench.device), pytest.raises(DeviceBusy):
        evaluate(queued.pk, bench)
    clock.passes(1)
    evaluate(queued.pk, bench)
    wait = wait_of(queued.campaign)
    assert (wait.cause, wait.why, wait.waited_s) == (Cause.BUSY, WHY, 60.0)


@pytest.mark.parametrize("holder", ["far abc 1 d", ""])
def test_two_workers_of_one_device_measure_one_at_a_time(
    queued: Evaluation,
    bench: WorkerContext,
    card: Card,
    judge: cast.Judge,
    tmp_path: Path,
    holder: str,
) -> None:
    """As in two containers, or on two hosts, that do not see each other's lock."""
    card.found = IDLE
    other = cast.make_bench(judge, "far")
    second = cast.make_campaign(tmp_path / "second")
    cast.step_until(second, CampaignState.BASELINE)
    running = Evaluation.objects.get(candidate__round__campaign=second)
    now = timezone.now()
    holder = holder or new_holder("gone with this process' last measurement")
    move(running, EvaluationState.RUNNING, holder=holder, worker=other.worker, heartbeat_at=now)
    if "far" in holder:
        with pytest.raises(DeviceBusy, match="is held by worker far, which measures on it"):
            evaluate(queued.pk, bench)
        assert judge.jobs == []
        assert wait_of(queued.campaign).cause == Cause.HELD
        long_ago = now - timedelta(hours=1)
        claim(Evaluation.objects.filter(pk=running.pk), heartbeat_at=long_ago)
    assert evaluate(queued.pk, bench) == queued.campaign


def test_a_campaign_that_writes_its_report_waits_and_pauses_too(
    campaign: Campaign, bench: WorkerContext, card: Card, clock: Clock
) -> None:
    card.found = IDLE
    cast.measure_all(campaign, bench)
    while cast.fresh(campaign).state != CampaignState.REPORT:
        for key in cast.step(campaign).measure:
            evaluate(key, bench)
    card.found = BUSY
    (key,) = cast.step(campaign).measure
    evaluate(key, bench)
    wait_out(clock, bench, Evaluation.objects.get(pk=key))
    cast.step(campaign)
    held = cast.fresh(campaign)
    assert (held.state, held.paused_from) == (CampaignState.PAUSED, CampaignState.REPORT)
    resume(held)
    card.found = IDLE
    assert cast.run_again(campaign, bench).result["gain"] == pytest.approx(1.0, rel=0.01)


def test_a_reproduction_waits_apart_and_pauses_nothing(
    campaign: Campaign, queued: Evaluation, bench: WorkerContext, clock: Clock, monkeypatch: Any
) -> None:
    monkeypatch.setattr(
        "campaigns.steps.measuring.evaluate.may_reproduce", lambda evaluation, card: True
    )
    beside = Evaluation.objects.create(candidate=queued.candidate, kind=EvaluationKind.REPRODUCE)
    looks = set()
    for _ in range(200):
        evaluate(beside.pk, bench)
        looks.add(wait_for(beside).looked_at)
        clock.passes(10)
    assert wait_of(campaign) is None
    wait = wait_for(beside)
    assert wait.pause_at is None
    assert not wait.is_over
    assert not cast.fresh(campaign).pause_requested
    # Looked at ever more rarely: a busy weekend costs a few looks, not hundreds.
    assert len(looks) < 10
    assert campaign.events.filter(kind="reproduction_waits").count() == 1


@pytest.mark.parametrize(
    ("gate", "found", "noted"),
    [
        (
            "ALL",
            DeviceCheck(DeviceState.UNKNOWN, "this host does not tell"),
            "unknown: this host does not tell",
        ),
        ("GPU", BUSY, f"busy: {WHY}; measured anyway"),
        ("OFF", BUSY, f"busy: {WHY}; measured anyway"),
    ],
)
def test_what_is_not_known_or_not_waited_for_is_noted_and_passes(
    queued: Evaluation,
    bench: WorkerContext,
    card: Card,
    settings: Any,
    gate: str,
    found: DeviceCheck,
    noted: str,
) -> None:
    settings.KOPT_GATE, card.found = gate, found
    assert evaluate(queued.pk, bench) == queued.campaign
    queued.refresh_from_db()
    assert queued.report["environment"]["device before"] == noted
    assert not queued.campaign.events.filter(kind__startswith="device_").exists()


@pytest.mark.parametrize(("kind", "rests"), [("gpu", 1), ("cpu", 0)])
def test_on_a_gpu_no_crew_of_ours_is_in_reserve_while_it_looks(
    queued: Evaluation, bench: WorkerContext, judge: cast.Judge, kind: Any, rests: int
) -> None:
    seen = []

    def look(device: Device) -> DeviceCheck:
        seen.append(judge.rests)
        return BUSY

    device = replace(bench.device, kind=kind)
    evaluate(queued.pk, replace(bench, device=device, look=look))
    assert seen == [rests]


def test_it_does_not_tell_of_a_wait_for_what_another_worker_has_begun(
    queued: Evaluation, bench: WorkerContext, card: Card
) -> None:
    def begun_meanwhile(device: Device) -> DeviceCheck:
        move(Evaluation.objects.get(pk=queued.pk), EvaluationState.RUNNING, holder="far abc 1 d")
        return BUSY

    assert evaluate(queued.pk, replace(bench, look=begun_meanwhile)) is None
    assert wait_of(queued.campaign) is None


def test_a_campaign_that_another_worker_measures_for_does_not_wait(
    bench: WorkerContext,
    card: Card,
    judge: cast.Judge,
    tmp_path: Path,
    script: Callable[..., cast.Script],
) -> None:
    """Two workers of one device take turns at a sweep: neither keeps the campaign waiting."""
    script(["time 90", "time 50"])
    campaign, card.found = cast.make_campaign(tmp_path), IDLE
    cast.step_until(campaign, CampaignState.BASELINE)
    cast.measure_all(campaign, bench)
    cast.step_until(campaign, CampaignState.VALIDATE)
    first, second = cast.step(campaign).measure
    now = timezone.now()
    other = cast.make_bench(judge, "far").worker
    row = Evaluation.objects.get(pk=first)
    move(row, EvaluationState.RUNNING, holder="far abc 1 d", worker=other, heartbeat_at=now)
    with pytest.raises(DeviceBusy):
        evaluate(second, bench)
    card.found = BUSY
    claim(Evaluation.objects.filter(pk=first), heartbeat_at=now - timedelta(hours=1))
    assert evaluate(second, bench) is None
    assert wait_of(campaign) is None


def test_a_person_may_pause_it_meanwhile_and_then_no_wait_is_shown(
    queued: Evaluation, bench: WorkerContext
) -> None:
    evaluate(queued.pk, bench)
    assert shown_wait(cast.fresh(queued.campaign)).why == WHY
    pause(cast.fresh(queued.campaign))
    cast.step(queued.campaign)
    assert shown_wait(cast.fresh(queued.campaign)) is None


def test_a_campaign_in_one_terminal_tells_of_its_wait_and_ends_paused(
    campaign: Campaign, bench: WorkerContext, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running.time, "sleep", lambda seconds: clock.passes(1))
    said: list[str] = []
    ended = running.run_here(campaign.pk, bench, said.append)
    assert ended.state == CampaignState.PAUSED
    assert sum(line.startswith("waits for cpu of tester") for line in said) == 1
    assert any(line.startswith("No free device for 60 min") for line in said)
