"""When a worker takes its noise passport, what is kept of it, and what gives way to what (R11)."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from campaigns.devices.hold import DeviceBusy, hold
from campaigns.evaluator.contract import Outcome, Phase, Report
from campaigns.models import Passport, Worker
from campaigns.records import passports
from campaigns.records.passports import is_free, of_device, passport_wanted, state_of
from campaigns.rules.noise.device_gate import Activity
from campaigns.steps.measuring.take_passport import ask_for_passport, take_passport
from campaigns.steps.worker import WorkerContext, note_host
from knowledge.models import Immutable
from tests.campaigns.steps import cast

HOST = {"host": "box", "kernel": "6.1", "clock policy": "governor performance"}


def due(bench: WorkerContext) -> str:
    """Why a passport is due, by what the worker runs under now."""
    note_host(bench.worker, bench.device)
    return passports.due(bench.worker)


@pytest.fixture(autouse=True)
def host(monkeypatch):
    """The facts of the host, which a test may change; nothing else runs on it."""
    facts = dict(HOST)
    for step in (note_host, take_passport):
        monkeypatch.setattr(f"{step.__module__}.host_facts", lambda device: facts)
    monkeypatch.setattr(passports, "look", lambda device: Activity((), 3.0, None))
    return facts


@pytest.fixture
def bench(db, judge, settings, tmp_path):
    settings.DATA_DIR = tmp_path
    settings.KOPT_PASSPORT_QUIET_S = 0.0
    made = cast.make_bench(judge)
    Worker.objects.filter(pk=made.worker.pk).update(started_at=timezone.now() - timedelta(hours=1))
    made.worker.refresh_from_db()
    return made


def take(bench):
    return take_passport(due(bench) or "because", bench)


def test_it_is_due_when_the_worker_is_new_and_then_no_more(bench):
    assert due(bench) == "the worker is new"
    assert passport_wanted(bench.worker, bench.device)
    taken = take(bench)
    assert taken.why == "the worker is new"
    assert due(bench) == ""
    assert not passport_wanted(bench.worker, bench.device)


def test_it_keeps_lengths_host_and_every_sample(bench, judge):
    taken = take(bench)
    assert (taken.backend, taken.device, taken.card) == ("cpp", "cpu", bench.worker.card)
    assert taken.host == HOST
    assert [length["kernel"] for length in taken.lengths] == [
        f"vector_add {2**power}" for power in (14, 17, 20)
    ]
    assert len(taken.reports) == len(judge.jobs) == 4
    assert taken.reports[0]["cases"][0]["incumbent"]["samples_us"]
    for job in judge.jobs:
        assert job.candidate == job.incumbent
    assert state_of(bench.worker).word == "good"


def test_it_is_due_again_when_the_driver_or_the_clock_policy_changed(bench, host):
    take(bench)
    host["clock policy"] = "governor powersave"
    why = "clock policy was governor performance and is governor powersave"
    assert due(bench) == f"the last one is stale: {why}"
    bench.worker.refresh_from_db()
    state = state_of(bench.worker)
    assert (state.word, state.stale) == ("stale", (why,))
    assert state.words.endswith(f"is stale: {why}")


def test_it_is_due_again_after_a_week(bench, monkeypatch, settings):
    take(bench)
    later = timezone.now() + timedelta(days=8)
    monkeypatch.setattr("campaigns.records.passports.timezone.now", lambda: later)
    why = "the last one is stale: it is 8 days old; at most 7 are allowed"
    assert due(bench) == why
    settings.KOPT_PASSPORT_DAYS = 0.0
    assert due(bench) == ""
    assert state_of(bench.worker, later).word == "stale"


def test_it_is_due_when_a_person_asks_and_until_one_is_taken(bench, settings):
    take(bench)
    settings.KOPT_PASSPORT_DAYS = 0.0
    ask_for_passport(bench.worker, User.objects.create(username="alice"))
    assert due(bench) == "asked for by alice"
    assert take(bench).why == "asked for by alice"
    assert due(bench) == ""
    assert not Worker.objects.filter(asked_at__isnull=False).exists()


@pytest.mark.parametrize("hours", [-3, 3])
def test_it_answers_the_wish_that_it_was_taken_for_whatever_the_clocks_say(
    bench, monkeypatch, settings, hours
):
    """The wish is dated by the web server and the passport by the worker."""
    settings.KOPT_PASSPORT_DAYS = 0.0
    ask_for_passport(bench.worker, None)
    with monkeypatch.context() as patch:
        elsewhere = timezone.now() + timedelta(hours=hours)
        patch.setattr(timezone, "now", lambda: elsewhere)
        take(bench)
    assert due(bench) == ""
    ask_for_passport(bench.worker, None)
    assert due(bench) == "asked for by a command"


def test_it_counts_for_every_worker_of_the_same_device(bench, judge):
    taken = take(bench)
    other = cast.make_bench(judge, "another")
    assert state_of(other.worker).passport == taken
    Worker.objects.filter(pk=other.worker.pk).update(card="another card")
    other.worker.refresh_from_db()
    assert state_of(other.worker).passport is None


def test_it_keeps_a_try_that_failed_and_does_not_try_again_at_once(bench, judge, monkeypatch):
    judge.evaluate = lambda job, beat=None: Report(
        job.job_id, Outcome.BUILD_FAILED, Phase.BUILD, "no compiler"
    )
    taken = take(bench)
    assert taken.error == "vector_add, cpp: build_failed: no compiler"
    assert due(bench) == ""
    state = state_of(bench.worker)
    assert (state.word, state.failed) == ("none", taken)
    assert "the last try failed" in state.words
    later = timezone.now() + timedelta(hours=7)
    monkeypatch.setattr(passports.timezone, "now", lambda: later)
    assert due(bench) == "the worker is new"


@pytest.mark.parametrize(("bad", "word"), [(1, "good"), (2, "good"), (3, "none")])
def test_it_tries_again_where_the_host_was_too_busy_to_be_a_clock_and_says_so(
    bench, judge, bad, word
):
    """Else the task would fail, and be rung again and again."""
    real, tries = cast.Judge(), []

    def crowded(job, beat=None):
        report = real.evaluate(job, beat)
        tries.append(job)
        if len(tries) > bad:
            return report
        return replace(report, cases=tuple(map(negative, report.cases)))

    def negative(case):
        samples = (-77.54, *case.candidate.samples_us[1:])
        return replace(case, candidate=replace(case.candidate, samples_us=samples))

    judge.evaluate = crowded
    ask_for_passport(bench.worker, None)
    taken = take(bench)
    where = "vector_add, cpp, vector_add 16384: a time of -77.5 µs"
    failed = f"{where}; the host is too busy to measure on"
    assert taken.error == ("" if word == "good" else failed)
    assert state_of(bench.worker).word == word
    assert due(bench) == ""


def test_a_failing_passport_says_why(bench, judge):
    real = cast.Judge()

    def favoured(job, beat=None):
        report = real.evaluate(job, beat)
        return replace(report, cases=tuple(map(ahead, report.cases)))

    def ahead(case):
        faster = tuple(us / 1.05 for us in case.candidate.samples_us)
        return replace(case, candidate=replace(case.candidate, samples_us=faster))

    judge.evaluate = favoured
    take(bench)
    state = state_of(bench.worker)
    assert state.word == "failing"
    assert "one arm is favoured" in state.words


@pytest.mark.parametrize(
    ("sigma", "failed", "why"),
    [
        (0.3, [], "the last one is noisy: for kernels of about 100 µs the noise floor is 60 %"),
        (0.001, ["an arm is favoured"], "the last one is failing: an arm is favoured"),
        (0.001, [], ""),
    ],
)
def test_it_tries_again_after_hours_where_the_last_one_tells_little(
    bench, monkeypatch, sigma, failed, why
):
    taken = take(bench)
    values = {f.attname: getattr(taken, f.attname) for f in taken._meta.fields if not f.primary_key}
    lengths = [{**taken.lengths[0], "sigma": sigma}]
    Passport.objects.create(**{**values, "lengths": lengths, "failures": failed})
    assert due(bench) == ""
    later = timezone.now() + timedelta(hours=7)
    monkeypatch.setattr(passports.timezone, "now", lambda: later)
    assert due(bench) == why


@pytest.mark.parametrize("busy", ["waits", "runs", "held", "load", "recent", "young"])
def test_it_waits_while_somebody_needs_the_device(bench, busy, tmp_path, monkeypatch, settings):
    if busy in ("waits", "runs"):
        campaign = cast.make_campaign(tmp_path / "p")
        cast.step_until(campaign, "baseline")
        cast.step(campaign)
    if busy == "load":
        monkeypatch.setattr(passports, "look", lambda device: Activity((), 80.0, None))
    if busy == "young":
        settings.KOPT_PASSPORT_QUIET_S = 2 * 3600.0
    if busy == "recent":
        settings.KOPT_PASSPORT_QUIET_S = 600.0
        campaign = cast.make_campaign(tmp_path / "p")
        cast.step_until(campaign, "baseline")
        cast.measure_all(campaign, bench)
    if busy == "held":
        with hold(bench.device):
            assert not is_free(bench.worker, bench.device)
    else:
        assert not is_free(bench.worker, bench.device)


def test_it_does_not_wait_for_quiet_where_a_person_asked(bench, monkeypatch, tmp_path):
    monkeypatch.setattr(passports, "look", lambda device: Activity((), 80.0, None))
    assert not passport_wanted(bench.worker, bench.device)
    ask_for_passport(bench.worker, None)
    assert due(bench) == "asked for by a command"
    assert passport_wanted(bench.worker, bench.device)
    campaign = cast.make_campaign(tmp_path / "p")
    cast.step_until(campaign, "baseline")
    cast.step(campaign)
    assert not passport_wanted(bench.worker, bench.device)


def test_it_gives_way_to_a_campaign_that_comes(bench, judge, tmp_path, settings):
    settings.KOPT_HEARTBEAT_S = 0.0

    def start(job):
        if len(judge.jobs) == 2:
            campaign = cast.make_campaign(tmp_path / "p")
            cast.step_until(campaign, "baseline")
            cast.step(campaign)

    judge.during = start
    assert take(bench) is None
    assert len(judge.jobs) == 2
    assert not of_device(bench.worker).exists()


def test_it_takes_nothing_while_another_process_holds_the_device(bench):
    with hold(bench.device), pytest.raises(DeviceBusy):
        take_passport("why", replace(bench, patience_s=0.0))
    assert not Passport.objects.exists()


def test_it_is_never_rewritten(bench):
    taken = take(bench)
    taken.failures = ["forged"]
    with pytest.raises(Immutable):
        taken.save()
    for sql in ("UPDATE campaigns_passport SET error = 'x'", "DELETE FROM campaigns_passport"):
        refused = pytest.raises(IntegrityError, match="a recorded row is never")
        with refused, transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(sql)
