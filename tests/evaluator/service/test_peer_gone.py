"""A peer that is gone, also one that left a message unread, is an outcome and no traceback.

A socket that is closed with a message unread resets its peer instead of ending it.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest

from campaigns.devices.launch import EvaluatorService
from campaigns.evaluator import wire
from campaigns.evaluator.contract import Outcome
from campaigns.evaluator.service import supervisor
from campaigns.evaluator.wire import Ask, Reply, ReplyStatus
from tests.evaluator import small

REPLY = Reply(ReplyStatus.OK, 1, 0, 0.0, 0.0)
Pair = tuple[socket.socket, socket.socket]


@pytest.fixture
def pair() -> Iterator[Pair]:
    """The judge's end and the runner's."""
    judge, runner = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with judge, runner:
        yield judge, runner


def test_it_tells_a_runner_that_the_judge_has_gone_with_its_answer_unread(pair: Pair) -> None:
    judge, runner = pair
    wire.send_reply(runner, REPLY)
    judge.close()
    assert wire.receive_ask(runner) is None


def test_it_lets_a_runner_answer_a_judge_that_has_gone(pair: Pair) -> None:
    judge, runner = pair
    judge.close()
    wire.send_reply(runner, REPLY)
    assert wire.receive_ask(runner) is None


def test_it_tells_the_judge_that_a_runner_has_gone_with_its_question_unread(pair: Pair) -> None:
    judge, runner = pair
    wire.send_ask(judge, Ask.CALL, 1, 0, [])
    runner.close()
    assert wire.receive_reply(judge, 1) is None


def test_it_cancels_for_a_worker_that_has_gone_with_its_progress_unread() -> None:
    ours, worker = socket.socketpair()
    with ours:
        ours.sendall(b"phase build\n")
        worker.close()
        assert supervisor._has_gone(ours)


@pytest.mark.parametrize("reads", [False, True], ids=["job unread", "job read"])
def test_it_reports_a_service_that_dies_with_a_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reads: bool
) -> None:
    service = EvaluatorService()
    address = tmp_path / "service"
    monkeypatch.setattr(service, "_ready", lambda: address)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(address))
        server.listen()
        dying = Thread(target=_take_and_die, args=(server, reads))
        dying.start()
        report = service.evaluate(small.job(tmp_path, tmp_path, small.source()))
        dying.join()
    assert report.outcome is Outcome.BROKEN_HOST
    assert report.reason == "the evaluator service died during the evaluation"


def test_it_reports_a_service_that_has_died_before_the_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = EvaluatorService()
    address = tmp_path / "service"
    monkeypatch.setattr(service, "_ready", lambda: address)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(address))
    report = service.evaluate(small.job(tmp_path, tmp_path, small.source()))
    assert report.reason == "the evaluator service died during the evaluation"


def test_what_goes_wrong_with_a_start_ahead_is_said_by_the_first_job(tmp_path, monkeypatch):
    def broken(*told: object) -> None:
        raise OSError(None, "the evaluator service did not start", "here")

    monkeypatch.setattr("campaigns.devices.launch._start", broken)
    with EvaluatorService() as service:
        service.start()
        report = service.evaluate(small.job(tmp_path, tmp_path, small.source()))
    assert report.outcome is Outcome.BROKEN_HOST
    assert report.reason == "the evaluator service did not start: here"


@pytest.mark.judged
def test_it_asks_a_service_that_is_lent_and_starts_its_own_after_that_has_ended(tmp_path):
    folder = small.write_problem(tmp_path)

    def passes(service: EvaluatorService) -> bool:
        job = small.job(folder, tmp_path, small.source(), timed=False)
        return service.evaluate(job).outcome is Outcome.PASSED

    with EvaluatorService(borrows=True) as borrower:
        with EvaluatorService(lends=True) as lender:
            lender.start()
            killed = lender.process_id
            assert killed is not None
            assert passes(borrower)
            assert borrower.process_id is None
            assert passes(lender)
            assert lender.process_id == killed
        assert passes(borrower)
        assert borrower.process_id not in (None, killed)


def _take_and_die(server: socket.socket, reads: bool) -> None:
    client, _ = server.accept()
    with client:
        client.recv(4096 if reads else 1)
