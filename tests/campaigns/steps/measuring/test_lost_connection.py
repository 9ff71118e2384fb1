"""A measurement whose connection to the database dies; what it found is stored once."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import OperationalError, connection

from campaigns.evaluator.contract import Job, Outcome, Report
from campaigns.models import CampaignState, DeviceWait, Evaluation, EvaluationState
from campaigns.models.transitions import claim, move
from campaigns.steps.measuring import evaluate as measuring
from campaigns.steps.measuring import results as storing
from campaigns.steps.measuring.evaluate import evaluate
from campaigns.steps.measuring.results import release_vanished, store_saved
from campaigns.steps.worker import WorkerContext
from tests.campaigns.steps import cast

pytestmark = [pytest.mark.storage, pytest.mark.django_db(transaction=True)]
on_a_server = pytest.mark.skipif(
    connection.vendor != "postgresql", reason="SQLite has no server that could end a connection"
)


@pytest.fixture
def queued(transactional_db: None, tmp_path: Path) -> Evaluation:
    made = cast.make_campaign(tmp_path)
    cast.step_until(made, CampaignState.BASELINE)
    return Evaluation.objects.get(candidate__round__campaign=made)


@pytest.fixture
def results(settings: Any) -> Path:
    return Path(settings.DATA_DIR) / "results"


@pytest.fixture
def unreachable(monkeypatch: pytest.MonkeyPatch) -> Any:
    """No result can be stored until `undo`."""

    def refuse(*_: Any, **__: Any) -> None:
        raise OperationalError("connection refused")

    with monkeypatch.context() as patch:
        patch.setattr(measuring, "record_report", refuse)
        yield patch


def terminate(*_: Any) -> None:
    """End this thread's connection at the server, and every other one that is idle there."""
    said = connection.settings_dict
    where = {"host": said["HOST"], "port": said["PORT"] or None, "user": said["USER"]}
    where |= {"password": said["PASSWORD"] or None, "dbname": said["NAME"]}
    with psycopg.connect(**where) as database:
        database.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def events(evaluation: Evaluation, kind: str) -> int:
    return evaluation.campaign.events.filter(kind=kind).count()


@on_a_server
def test_it_goes_on_over_another_connection_when_one_is_ended_in_the_middle(
    queued: Evaluation, bench: WorkerContext, judge: cast.Judge
) -> None:
    judge.during = terminate
    assert evaluate(queued.pk, bench) == queued.campaign
    queued.refresh_from_db()
    assert (queued.state, queued.outcome) == (EvaluationState.DONE, Outcome.PASSED)
    assert (queued.claims, events(queued, "evaluated"), len(judge.jobs)) == (1, 1, 1)


@on_a_server
def test_it_stores_its_result_when_the_connection_is_ended_after_the_last_heartbeat(
    queued: Evaluation, bench: WorkerContext, monkeypatch: pytest.MonkeyPatch, results: Path
) -> None:
    found = cast.report_on

    def late(job: Job) -> Report:
        terminate()
        return found(job)

    monkeypatch.setattr(cast, "report_on", late)
    assert evaluate(queued.pk, bench) == queued.campaign
    queued.refresh_from_db()
    assert queued.state == EvaluationState.DONE
    assert list(results.iterdir()) == []


@on_a_server
def test_it_stores_its_result_when_the_connection_is_ended_while_it_stores(
    queued: Evaluation, bench: WorkerContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = measuring.record_report.__globals__["drift_under"]
    cuts: list[int] = []

    def cut_once(*arguments: Any) -> Any:
        if not cuts:
            cuts.append(1)
            terminate()
        return real(*arguments)

    monkeypatch.setitem(measuring.record_report.__globals__, "drift_under", cut_once)
    assert evaluate(queued.pk, bench) == queued.campaign
    queued.refresh_from_db()
    assert (queued.state, events(queued, "evaluated")) == (EvaluationState.DONE, 1)


@on_a_server
def test_the_pool_hands_out_no_connection_that_was_ended() -> None:
    """Six requests in a row met one of these, each with a 500."""
    others = [connection.copy() for _ in range(12)]
    for one in others:
        one.ensure_connection()
    for one in (*others, connection):
        one.close()  # back into the pool
    terminate()
    begun = time.monotonic()
    for _ in range(6):
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        connection.close()
    # The pool's own look would wait for longer after each of the dead.
    assert time.monotonic() - begun < 5


def test_it_keeps_its_result_on_disk_until_the_database_is_back(
    queued: Evaluation,
    bench: WorkerContext,
    unreachable: pytest.MonkeyPatch,
    results: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert evaluate(queued.pk, bench) is None
    queued.refresh_from_db()
    assert queued.state == EvaluationState.RUNNING
    (kept,) = results.iterdir()
    assert store_saved() == []  # who has measured it may be about to store it
    assert kept.exists()
    unreachable.undo()
    # The worker was killed, or some time has passed.
    monkeypatch.setattr(storing, "is_gone", lambda holder: True)
    (told,) = store_saved()
    assert (told[0], told[1].again) == (queued.campaign, True)
    queued.refresh_from_db()
    assert (queued.state, queued.outcome) == (EvaluationState.DONE, Outcome.PASSED)
    assert len(queued.facts.cases[0].candidate.samples_us) == 10
    assert list(results.iterdir()) == []
    assert store_saved() == []
    assert events(queued, "evaluated") == 1


def test_it_still_takes_a_result_whose_claim_was_given_up_and_taken_by_nobody(
    queued: Evaluation,
    bench: WorkerContext,
    unreachable: pytest.MonkeyPatch,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    evaluate(queued.pk, bench)
    unreachable.undo()
    monkeypatch.setattr("campaigns.steps.measuring.claims.is_gone", lambda holder: True)
    release_vanished(Evaluation.objects.all())
    queued.refresh_from_db()
    assert queued.state == EvaluationState.QUEUED
    monkeypatch.setattr(storing, "LEFT_S", -1.0)
    assert len(store_saved()) == 1
    queued.refresh_from_db()
    assert (queued.state, queued.claims) == (EvaluationState.DONE, 1)
    assert not DeviceWait.objects.filter(ended_at=None).exists()


@pytest.mark.parametrize("after", ["measured", "running"])
def test_it_drops_a_result_that_somebody_else_measures(
    queued: Evaluation,
    bench: WorkerContext,
    unreachable: pytest.MonkeyPatch,
    monkeypatch: pytest.MonkeyPatch,
    results: Path,
    after: str,
) -> None:
    evaluate(queued.pk, bench)
    unreachable.undo()
    claim(Evaluation.objects.filter(pk=queued.pk), state="queued", holder="")
    queued.refresh_from_db()
    if after == "measured":
        evaluate(queued.pk, bench)
    else:
        move(queued, EvaluationState.RUNNING, holder="somebody else", claims=2)
    before = Evaluation.objects.values().get(pk=queued.pk)
    monkeypatch.setattr(storing, "LEFT_S", -1.0)
    assert store_saved() == []
    assert Evaluation.objects.values().get(pk=queued.pk) == before
    assert list(results.iterdir()) == []
    assert events(queued, "evaluated") == (after == "measured")


def test_it_removes_what_no_version_can_read(results: Path, db: None) -> None:
    results.mkdir()
    (results / "evaluation-7-1.json").write_text("half a res")
    assert store_saved() == []
    assert list(results.iterdir()) == []
