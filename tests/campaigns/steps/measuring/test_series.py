"""Accepted kernels are measured against v0 again, and what they show is sorted."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.db import IntegrityError
from django.utils import timezone

from campaigns.devices.environment import environment_of, kopt_version
from campaigns.models import (
    Campaign,
    CampaignState,
    Evaluation,
    EvaluationKind,
    EvaluationState,
    ReviewDecision,
    SeriesEntry,
    SeriesWish,
)
from campaigns.records.review_queue import review_queue, rows_of_queue
from campaigns.records.series import alarm_of, newest_entry, series_of
from campaigns.steps.lifecycle.reconcile import reconcile
from campaigns.steps.lifecycle.run_here import run_here
from campaigns.steps.measuring.baselines import RoundWaits
from campaigns.steps.measuring.evaluate import evaluate
from campaigns.steps.measuring.series import (
    NotInSeries,
    continue_series,
    queue_campaigns,
    queue_series,
    sort_measured,
)
from campaigns.steps.review.answer_series import answer_series
from campaigns.steps.review.decide import carry_out_reruns, decide
from campaigns.steps.rounds.submit import submit
from campaigns.steps.worker import WorkerContext
from knowledge.curation.errors import Conflict, CurationError, Forbidden
from knowledge.lookup.waiting import WaitingKind
from knowledge.models import Notification
from tests.campaigns.finished import finished
from tests.campaigns.steps import cast


def person(name: str, role: str = "engineer") -> User:
    user, _ = User.objects.get_or_create(username=name)
    user.groups.add(Group.objects.get(name=role))
    return User.objects.get(pk=user.pk)


@pytest.fixture
def judge() -> cast.Moody:
    return cast.Moody()


@pytest.fixture
def ended(db: None, tmp_path: Path) -> Campaign:
    """A finished campaign: round 2 is twice, round 3 is 2.5 times as fast as v0."""
    return finished(tmp_path, [["time 50"], ["time 40"]])


@pytest.fixture
def alices(
    db: None, tmp_path: Path, script: Callable[..., object], bench: WorkerContext
) -> Campaign:
    """The same, started by alice."""
    script(["time 50"], ["time 40"])
    made = cast.make_campaign(tmp_path, by=person("alice"))
    return run_here(made.pk, bench, lambda message: None)


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What differs from what the campaign was measured with; a test changes it."""
    changed: dict[str, str] = {}
    for step in ("evaluate", "series"):
        at = f"campaigns.steps.measuring.{step}.environment_of"
        monkeypatch.setattr(at, lambda device, backend: environment_of(device, backend) | changed)
    return changed


@pytest.fixture
def idle(judge: cast.Moody, db: None, monkeypatch: pytest.MonkeyPatch) -> WorkerContext:
    """A worker that was idle for a while."""
    monkeypatch.setattr("campaigns.steps.measuring.series.is_quiet", lambda worker, device: True)
    return cast.make_bench(judge)


def measure(bench: WorkerContext) -> int:
    """What this worker measures until nothing is due; how many that were."""
    for count in range(20):
        following = continue_series(bench.worker, bench.device)
        if not following:
            return count
        for _, wanted in following:
            for key in wanted.measure:
                evaluate(key, bench)
    raise AssertionError("it goes round in circles")


def measured() -> list[Evaluation]:
    return list(Evaluation.objects.filter(kind=EvaluationKind.SERIES).order_by("pk"))


def moved(bench: WorkerContext, judge: cast.Moody, now: dict[str, str]) -> SeriesEntry:
    """The incumbent became slower with another compiler."""
    judge.moods = {EvaluationKind.SERIES: "time 60"}
    now["compiler"] = "g++ 99.1"
    assert measure(bench) == 1
    return SeriesEntry.objects.get()


@pytest.mark.usefixtures("ended")
def test_nothing_is_due_while_nothing_changes(idle: WorkerContext, now: dict[str, str]) -> None:
    assert measure(idle) == 0
    now["clock policy"] = "locked"
    assert measure(idle) == 0


@pytest.mark.storage
@pytest.mark.parametrize("name", ["compiler", "torch", "kopt"])
def test_a_change_makes_the_incumbent_due_once(
    idle: WorkerContext, ended: Campaign, now: dict[str, str], name: str
) -> None:
    now[name] = "99.1"
    assert measure(idle) == 1
    (found,) = measured()
    assert (found.candidate_id, found.against.round.number) == (ended.incumbent_id, 1)
    entry = SeriesEntry.objects.get()
    assert (entry.sort, entry.round.number) == ("noise", 3)
    assert "99.1" in entry.why
    assert entry.sentence.startswith("The gain holds after ")
    assert measure(idle) == 0


def test_it_records_what_it_ran_with(
    idle: WorkerContext, ended: Campaign, now: dict[str, str]
) -> None:
    now["compiler"] = "g++ 99.1"
    measure(idle)
    environment = SeriesEntry.objects.get().now["environment"]
    assert environment["compiler"] == "g++ 99.1"
    assert environment["kopt"] == kopt_version()
    assert environment["protocol"] == ended.protocol.digest
    assert environment["card"] == idle.worker.card
    assert environment["torch"]


def test_another_compiler_that_costs_the_gain_is_real_and_somebody_is_told(
    idle: WorkerContext, alices: Campaign, judge: cast.Moody, now: dict[str, str]
) -> None:
    alice, ended = person("alice"), alices
    before = cast.fresh(ended)
    entry = moved(idle, judge, now)
    assert entry.sort == "real"
    assert "it was 2.50× faster" in entry.sentence
    assert "is 1.67× faster" in entry.sentence
    assert "→ 99.1" in entry.sentence
    notice = Notification.objects.get(person=alice)
    assert (notice.kind, notice.url) == ("series", f"/c/{ended.pk}/series/{entry.pk}/")
    after = cast.fresh(ended)
    assert (after.result, after.incumbent_id) == (before.result, before.incumbent_id)
    found = Campaign.objects.annotate(**newest_entry()).get(pk=ended.pk)
    assert alarm_of(found) == {"key": entry.pk, "sentence": entry.sentence}


@pytest.mark.usefixtures("ended")
def test_what_no_longer_builds_is_real_and_is_not_tried_for_ever(
    idle: WorkerContext, judge: cast.Moody, now: dict[str, str]
) -> None:
    judge.moods = {EvaluationKind.SERIES: "build"}
    now["compiler"] = "g++ 99.1"
    assert measure(idle) == 1
    entry = SeriesEntry.objects.get()
    assert entry.sort == "real"
    assert entry.sentence.startswith("It no longer passes after ")


@pytest.mark.usefixtures("ended")
def test_a_broken_host_says_nothing_of_the_kernel_and_is_tried_again_later(
    idle: WorkerContext, judge: cast.Moody, now: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    judge.moods = {EvaluationKind.SERIES: "host"}
    now["compiler"] = "g++ 99.1"
    assert measure(idle) == 3
    assert not SeriesEntry.objects.exists()
    judge.moods = {}
    real, later = timezone.now, timedelta(hours=7)
    monkeypatch.setattr("campaigns.records.series.timezone.now", lambda: real() + later)
    assert measure(idle) == 1
    assert SeriesEntry.objects.get().sort == "noise"


@pytest.mark.usefixtures("ended")
def test_workers_of_two_hosts_do_not_take_turns(
    idle: WorkerContext, now: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("campaigns.records.series.RETRY_AFTER", timedelta(0))
    now["compiler"] = "g++ 99.1"
    assert measure(idle) == 1
    now.clear()
    assert measure(idle) == 0


@pytest.mark.usefixtures("ended")
def test_a_schedule_makes_it_due_without_a_change(
    idle: WorkerContext, now: dict[str, str], settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.KOPT_SERIES_DAYS = 2.0
    assert measure(idle) == 0
    real = timezone.now
    monkeypatch.setattr(
        "campaigns.records.series.timezone.now", lambda: real() + timedelta(days=2, hours=1)
    )
    ((_, following),) = continue_series(idle.worker, idle.device)
    evaluate(*following.measure, idle)
    continue_series(idle.worker, idle.device)
    entry = SeriesEntry.objects.first()
    assert (entry.why, entry.sort) == ("2 days are over", "noise")


@pytest.mark.usefixtures("ended")
def test_it_waits_while_a_campaign_waits(
    idle: WorkerContext, now: dict[str, str], tmp_path: Path
) -> None:
    now["compiler"] = "g++ 99.1"
    cast.waiting_campaign(tmp_path / "other")
    assert measure(idle) == 0
    assert measured() == []


def test_a_round_that_comes_meanwhile_ends_it_and_it_waits_again(
    idle: WorkerContext, ended: Campaign, judge: cast.Moody, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue_campaigns([ended.pk], "asked for")
    ((_, following),) = continue_series(idle.worker, idle.device)

    def interrupt(job: object) -> None:
        raise RoundWaits

    judge.during = interrupt
    assert evaluate(*following.measure, idle) is None
    (waiting,) = measured()
    assert (waiting.state, waiting.claims) == (EvaluationState.QUEUED, 0)


def test_it_asks_reconcile_for_nothing_and_counts_for_no_campaign(
    idle: WorkerContext, ended: Campaign
) -> None:
    queue_campaigns([], "asked for")
    assert reconcile() == []
    assert not measured()[0].traits.counts


def test_what_is_asked_for_does_not_wait_until_a_worker_was_idle_for_long(
    ended: Campaign, judge: cast.Moody, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("campaigns.steps.measuring.series.is_quiet", lambda worker, device: False)
    bench = cast.make_bench(judge)
    assert measure(bench) == 0
    (made,) = queue_campaigns([ended.pk], "asked for by a command")
    assert queue_series(made.candidate, "twice") == made
    assert measure(bench) == 1
    assert SeriesEntry.objects.get().why == "asked for by a command"
    assert SeriesWish.objects.count() == 1


def test_only_accepted_rounds_are_measured_again(ended: Campaign) -> None:
    v0 = ended.rounds.get(number=1).candidates.get()
    with pytest.raises(NotInSeries, match="accepted: an accepted round after the baseline"):
        queue_series(v0, "asked for")
    with pytest.raises(NotInSeries, match=r"campaign 99: accepted: a finished one"):
        queue_campaigns([ended.pk, 99], "asked for")


@pytest.mark.storage
@pytest.mark.usefixtures("ended")
def test_two_workers_that_sort_at_once_write_one_entry(
    idle: WorkerContext, now: dict[str, str], judge: cast.Moody
) -> None:
    entry = moved(idle, judge, now)
    found = Evaluation.objects.get(pk=entry.evaluation)
    sort_measured(found)
    assert SeriesEntry.objects.count() == 1
    with pytest.raises(IntegrityError):
        SeriesEntry.objects.create(campaign=entry.campaign, kind=entry.kind, data=entry.data)


@pytest.mark.usefixtures("ended")
def test_small_steps_are_compared_with_what_people_know(
    idle: WorkerContext, judge: cast.Moody, now: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("campaigns.records.series.RETRY_AFTER", timedelta(0))
    moved(idle, judge, now)
    now["compiler"] = "g++ 100.1"
    assert measure(idle) == 1
    newest, first = series_of(SeriesEntry.objects.first().campaign)
    assert newest.entry.before == first.entry.before
    # One question for one kernel: the newest.
    assert (newest.waits, first.waits) == (True, False)


def test_it_waits_in_the_queue_until_another_person_accepts_the_number(
    idle: WorkerContext,
    alices: Campaign,
    judge: cast.Moody,
    now: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("campaigns.records.series.RETRY_AFTER", timedelta(0))
    alice, bob, ended = person("alice"), person("bob"), alices
    entry = moved(idle, judge, now)
    waiting = review_queue(bob).of(WaitingKind.SERIES, mine=True)
    assert [one.key for one in waiting] == [entry.pk]
    assert review_queue(alice).of(WaitingKind.SERIES, mine=True) == []
    (row,) = rows_of_queue(waiting)
    assert (row.url, row.author) == (f"/c/{ended.pk}/series/{entry.pk}/", "alice")
    assert "1.67× faster" in row.affects
    with pytest.raises(Forbidden, match="another person decides"):
        answer_series(ended, entry.pk, "known", "fine", alice)
    with pytest.raises(CurationError, match="answer: 'maybe'; accepted: known, reopened, invalid"):
        answer_series(ended, entry.pk, "maybe", "", bob)
    with pytest.raises(CurationError, match="why: is needed"):
        answer_series(ended, entry.pk, "known", " ", bob)
    made = answer_series(ended, entry.pk, "known", "the new compiler is here to stay", bob)
    assert (made.by, made.answer) == (bob, "known")
    assert review_queue(bob).of(WaitingKind.SERIES, mine=False) == []
    with pytest.raises(Conflict, match="bob has answered already"):
        answer_series(ended, entry.pk, "reopened", "", person("carol"))
    # From now on it is what later measurements are compared with.
    now["compiler"] = "g++ 100.1"
    assert measure(idle) == 1
    newest = series_of(ended)[0]
    assert (newest.entry.before, newest.sort) == (entry.evaluation, "noise")


def test_a_result_that_is_marked_invalid_leaves_the_series(
    idle: WorkerContext, ended: Campaign, judge: cast.Moody, now: dict[str, str]
) -> None:
    entry = moved(idle, judge, now)
    bob = person("bob")
    answer_series(ended, entry.pk, "invalid", "it rested on a bug of the compiler", bob)
    said = ReviewDecision.objects.get()
    assert (said.word, said.campaign, said.round) == ("invalid", ended, None)
    with pytest.raises(NotInSeries):
        queue_campaigns([ended.pk], "asked for")


def test_a_rerun_of_a_finished_campaigns_round_is_measured_in_the_series(
    idle: WorkerContext, ended: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    bob = person("bob")
    decide(ended.rounds.get(number=2), "rerun", "", bob)
    real = timezone.now
    monkeypatch.setattr("django.utils.timezone.now", lambda: real() + timedelta(seconds=60))
    assert carry_out_reruns() == []
    (waiting,) = measured()
    assert (waiting.candidate.round.number, waiting.against.round.number) == (2, 1)
    assert carry_out_reruns() == []
    assert len(measured()) == 1
    words = ended.events.filter(kind="rerun").get().message
    assert words == "round 2 is measured again in the series, as bob asked"


def test_a_finished_campaign_measures_only_accepted_rounds_again(db: None, tmp_path: Path) -> None:
    done = finished(tmp_path, [["time 50"], ["time 60"]])
    with pytest.raises(Conflict, match="takes no round; accepted: an accepted round"):
        decide(done.rounds.get(number=3), "rerun", "", person("bob"))


@pytest.mark.storage
def test_a_report_that_another_kopt_wrote_still_has_its_gain(
    idle: WorkerContext,
    ended: Campaign,
    judge: cast.Moody,
    now: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (made,) = queue_campaigns([ended.pk], "asked for")
    evaluate(made.pk, idle)

    def report_of(evaluation: Evaluation) -> object:
        return None if evaluation.kind == EvaluationKind.REPORT else evaluation.facts

    monkeypatch.setattr("campaigns.steps.measuring.series.report_of", report_of)
    sort_measured(Evaluation.objects.get(pk=made.pk))
    entry = SeriesEntry.objects.get()
    assert (entry.sort, entry.was["gain"]["gain"]) == ("noise", pytest.approx(1.5, abs=0.01))


def test_an_approved_round_of_a_campaign_that_waits_for_people_is_measured_too(
    idle: WorkerContext, tmp_path: Path, now: dict[str, str]
) -> None:
    made = cast.make_campaign(tmp_path, proposers="person", max_rounds=6)
    for text in ("", "time 60"):
        if text:
            submit(cast.fresh(made), cast.handed_in(text), "person", "alice", person("alice"))
        for _ in range(60):
            cast.measure_all(made, idle)
            if not cast.step(made).again and cast.fresh(made).state == CampaignState.AWAITING:
                break
    assert measure(idle) == 0
    decide(made.rounds.get(number=2), "approved", "", person("bob"))
    assert measure(idle) == 1
    entry = SeriesEntry.objects.get()
    assert (entry.sort, entry.round.number, entry.before) == ("first", 2, None)
    assert entry.why == "it was never compared with v0"
