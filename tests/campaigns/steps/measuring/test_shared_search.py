"""Several devices of one model at one search: every point once, whatever happens to a helper."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection
from django.utils import timezone

from campaigns.devices.processes import new_holder
from campaigns.devices.sweep.loop import SweepBroken, SweepWork
from campaigns.devices.sweep.shared_work import SweepOrders
from campaigns.evaluator.contract import Job, Outcome, Source
from campaigns.evaluator.contract.files import dump_line
from campaigns.evaluator.contract.stream import BuildResult, ScreenResult
from campaigns.models import (
    CampaignState,
    Evaluation,
    EvaluationKind,
    EvaluationState,
    SweepOrder,
    SweepPoint,
)
from campaigns.models.transitions import claim, move
from campaigns.steps.lifecycle.reconcile import reconcile
from campaigns.steps.measuring.evaluate import evaluate
from campaigns.steps.measuring.sweep import MOST_BROKEN, ask_for_help
from campaigns.steps.notify import Next
from tests.campaigns.steps import cast
from tests.campaigns.steps.rounds.test_sweep import KnobJudge, screen

pytestmark = pytest.mark.storage

LIMIT_S = 60.0
LONG = timedelta(minutes=5)
TRIED = BuildResult(0, Outcome.PASSED)
TIMED = ScreenResult(0, Outcome.PASSED, times_us={"one": 7.0, "two": 7.0})


def wait(until: Callable[[], object], beat: Callable[[], None] = lambda: None) -> None:
    deadline = time.monotonic() + LIMIT_S
    while not until():
        assert time.monotonic() < deadline
        beat()
        time.sleep(0.02)


def shares() -> list[Evaluation]:
    return list(Evaluation.objects.filter(kind=EvaluationKind.SHARE).order_by("attempt"))


def tried_by() -> set[str]:
    return set(SweepPoint.objects.values_list("evaluation__worker__name", flat=True))


def until_shared(by: Callable[[], object]) -> Callable[..., None]:
    """The screen of the worker that searches: it tries one variant, then waits for `by`."""

    def go(
        service: object, job: Job, folder: Path, work: SweepWork, beat: Callable[[], None]
    ) -> None:
        for number, _ in work.ask(1):
            work.built(replace(TRIED, number=number))
            work.screened(replace(TIMED, number=number))
        wait(by, beat)
        screen(service, job, folder, work, beat)

    return go


def assert_each_point_once() -> None:
    points = list(SweepPoint.objects.all())
    assert len(points) > 4
    assert len({str(point.params) for point in points}) == len(points)
    assert not SweepOrder.objects.exists()


def test_two_devices_share_a_search(search: Evaluation) -> None:
    def help_once() -> None:
        try:
            helper = replace(cast.make_bench(KnobJudge(), "helper", cast.TWIN), sweep=screen)
            wait(shares)
            evaluate(shares()[0].pk, helper)
        finally:
            connection.close()

    cast.make_bench(KnobJudge(), "helper", cast.TWIN)  # it shows life before it is asked
    thread = threading.Thread(target=help_once)
    thread.start()
    how = until_shared(lambda: "helper" in tried_by())
    evaluate(search.pk, replace(cast.make_bench(KnobJudge()), sweep=how))
    thread.join()
    assert tried_by() == {"tester", "helper"}
    assert_each_point_once()
    assert {share.outcome for share in shares() if share.worker} == {"passed"}
    assert {share.state for share in shares()} == {EvaluationState.DONE}
    search.refresh_from_db()
    assert (search.outcome, search.reason) == ("passed", "Every point was tried.")


def test_what_a_killed_helper_had_claimed_is_tried_again(search: Evaluation) -> None:
    helper = cast.make_bench(KnobJudge(), "helper", cast.TWIN)
    process = subprocess.Popen(["sleep", "600"])
    lost: set[int] = set()

    def claimed_and_killed() -> bool:
        """Once it is asked, a process claims a share and variants, and ends by kill -9."""
        for share in shares():
            if move_to(share, process.pid):
                Evaluation.objects.filter(pk=share.pk).update(worker=helper.worker)
        held = [share for share in shares() if share.state == EvaluationState.RUNNING]
        for share in held:
            orders = SweepOrders(search.candidate.round.sweep).claim(3, share)
            lost.update(order.number for order in orders)
        if lost:
            process.send_signal(signal.SIGKILL)
            process.wait()
        return bool(lost)

    how = until_shared(claimed_and_killed)
    evaluate(search.pk, replace(cast.make_bench(KnobJudge()), sweep=how))
    assert_each_point_once()
    again = SweepPoint.objects.filter(number__in=lost)
    assert {point.evaluation_id for point in again} == {search.pk}
    assert again.count() == len(lost) == 3
    first = shares()[0]
    assert (first.state, first.outcome) == (EvaluationState.DONE, Outcome.BROKEN_HOST)
    assert first.reason == "worker helper vanished"


def move_to(share: Evaluation, process: int) -> bool:
    """Claim a queued share in the name of another process of this host."""
    if share.state != EvaluationState.QUEUED:
        return False
    name, host, _, token = new_holder("helper").rsplit(" ", 3)
    holder = f"{name} {host} {process} {token}"
    return move(share, EvaluationState.RUNNING, holder=holder, heartbeat_at=timezone.now())


def test_what_was_found_for_a_killed_search_is_not_tried_again(search: Evaluation) -> None:
    """The worker that searches ends by kill -9 while a helper has results for it and more."""
    helper = cast.make_bench(KnobJudge(), "helper", cast.TWIN).worker

    class Killed(BaseException):
        """Nothing in the program catches this."""

    def die() -> bool:
        board = orders(search)
        if shares():
            share = shares()[0]
            move_to(share, os.getpid())
            Evaluation.objects.filter(pk=share.pk).update(worker=helper)
            share.refresh_from_db()
            for first in board.claim(2, share)[:1]:
                assert board.finish(first.pk, share.holder, TRIED, TIMED)
                raise Killed
        return False

    bench = cast.make_bench(KnobJudge())
    with pytest.raises(Killed):
        evaluate(search.pk, replace(bench, sweep=until_shared(die)))
    found = SweepOrder.objects.exclude(built="").get()
    search.refresh_from_db()
    move(search, EvaluationState.QUEUED, holder="", heartbeat_at=None)
    evaluate(search.pk, replace(bench, sweep=screen))
    assert_each_point_once()
    point = SweepPoint.objects.get(number=found.number)
    assert (point.params, point.time_us) == (found.params, pytest.approx(7.0))
    assert point.evaluation.worker == helper


@pytest.fixture
def running(search: Evaluation) -> Evaluation:
    """The search, held by a process that lives, with six variants handed out."""
    tester = cast.make_bench(KnobJudge()).worker
    holder = new_holder("tester")
    now = timezone.now()
    move(search, EvaluationState.RUNNING, holder=holder, heartbeat_at=now, worker=tester)
    line = dump_line(Source("v.cpp", "text"))
    six = [SweepOrder(number=number, params={}, source=line) for number in range(1, 7)]
    orders(search).put(six)
    return search


def orders(search: Evaluation) -> SweepOrders:
    return SweepOrders(search.candidate.round.sweep)


def share_of(search: Evaluation, worker: str = "helper") -> Evaluation:
    """A share of it, claimed by a worker of this process."""
    share = Evaluation.objects.create(
        candidate=search.candidate, kind=EvaluationKind.SHARE, attempt=len(shares()) + 1
    )
    row = cast.make_bench(KnobJudge(), worker, replace(cast.TWIN, uuid=worker)).worker
    holder = new_holder(worker)
    move(share, EvaluationState.RUNNING, holder=holder, heartbeat_at=timezone.now(), worker=row)
    return share


def test_a_helper_that_was_taken_for_dead_writes_nothing(running: Evaluation) -> None:
    """It was silent for longer than the lease, and comes back with results."""
    first, board = share_of(running), orders(running)
    held = board.claim(2, first)
    assert board.take_back() == 0
    Evaluation.objects.filter(pk=first.pk).update(heartbeat_at=timezone.now() - LONG)
    ask_for_help(running)
    assert board.take_back() == 2
    assert not board.finish(held[0].pk, first.holder, TRIED, TIMED)
    second = share_of(running, "second")
    again = board.claim(1, second)
    assert [order.number for order in again] == [held[0].number]
    assert not board.finish(held[0].pk, first.holder, TRIED, TIMED)
    assert board.finish(held[0].pk, second.holder, TRIED, TIMED)
    assert not board.finish(held[0].pk, second.holder, TRIED, TIMED)
    assert [order.number for order in board.collect()] == [held[0].number]
    assert board.collect() == []


def test_of_two_helpers_each_variant_goes_to_one(running: Evaluation) -> None:
    """Both have seen the same free rows before either has claimed one."""
    first, second = share_of(running, "first"), share_of(running, "second")
    board = orders(running)
    seen = list(SweepOrder.objects.all())
    taken = board.claim(4, first)
    free = SweepOrder.objects.filter(holder="", built="")
    late = [claim(free.filter(pk=one.pk), evaluation=second, holder=second.holder) for one in seen]
    assert (len(taken), late) == (4, [False] * 4 + [True] * 2)
    assert board.take(6) == []


def test_help_is_asked_of_each_free_device_once(running: Evaluation) -> None:
    assert (ask_for_help(running), shares()) == (0, [])
    for name in ("one", "two"):
        cast.make_bench(KnobJudge(), name, replace(cast.TWIN, uuid=name))
    cast.make_bench(KnobJudge(), "beside the search, on its device")
    for _ in range(2):
        assert ask_for_help(running) == 0
        assert [share.state for share in shares()] == [EvaluationState.QUEUED] * 2
    keys = tuple(share.pk for share in shares())
    assert [following for _, following in reconcile()] == [Next(measure=keys)]
    move_to(shares()[0], os.getpid())
    assert ask_for_help(running) == 1


def test_other_measurements_come_first(running: Evaluation, tmp_path: Path) -> None:
    helper = cast.make_bench(KnobJudge(), "helper", cast.TWIN)
    other = cast.make_campaign(tmp_path / "other", "time 100")
    cast.step_until(other, CampaignState.BASELINE)
    ask_for_help(running)
    assert shares() == []
    share = Evaluation.objects.create(candidate=running.candidate, kind=EvaluationKind.SHARE)
    evaluate(share.pk, replace(helper, sweep=screen))
    share.refresh_from_db()
    assert (share.outcome, share.reason) == ("passed", "0 variants tried.")
    assert orders(running).free() == 6


def test_help_that_keeps_breaking_is_asked_for_no_more(running: Evaluation) -> None:
    def fail(service: object, job: Job, folder: Path, work: SweepWork, beat: object) -> None:
        assert len(work.ask(2)) == 2
        raise SweepBroken("no compiler")

    helper = replace(cast.make_bench(KnobJudge(), "helper", cast.TWIN), sweep=fail)
    for _ in range(MOST_BROKEN + 2):
        ask_for_help(running)
        for share in shares():
            evaluate(share.pk, helper)
        assert orders(running).take_back() in (0, 2)
    assert [share.reason for share in shares()] == ["no compiler"] * MOST_BROKEN
    assert orders(running).free() == 6


def test_what_no_helper_has_begun_is_tried_here(search: Evaluation) -> None:
    """A worker that shows life but never comes."""
    cast.make_bench(KnobJudge(), "absent", cast.TWIN)
    evaluate(search.pk, replace(cast.make_bench(KnobJudge()), sweep=until_shared(shares)))
    assert_each_point_once()
    assert tried_by() == {"tester"}
    assert [share.came_to for share in shares()] == ["not run"]
