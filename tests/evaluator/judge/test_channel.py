"""What the judge makes of a runner that keeps to the messages, but not to their sense."""

from __future__ import annotations

import mmap
import os
import socket
import time
from collections.abc import Iterator
from threading import Thread

import pytest

from campaigns.evaluator import wire
from campaigns.evaluator.contract import Outcome, Phase
from campaigns.evaluator.contract.errors import CandidateError, HostBusy, HostError
from campaigns.evaluator.judge.integrity import channel as channel_module
from campaigns.evaluator.judge.integrity import time_budget
from campaigns.evaluator.judge.integrity.channel import BurstGate, RunnerChannel
from campaigns.evaluator.judge.integrity.process_hold import StopRefused
from campaigns.evaluator.judge.integrity.time_budget import TimeBudget
from campaigns.evaluator.wire import Ask, Reply, ReplyStatus


class Awake:
    """In place of a hold: nobody is stopped. thawed: whom somebody let go on."""

    def __init__(self) -> None:
        self.thawed: list[set[int]] = []

    def know(self, name: str, runner: int) -> None:
        return

    def with_children(self, runner: int) -> set[int]:
        return {runner}

    def thaw(self, runner: int, family: set[int] | None = None) -> None:
        self.thawed.append(family or {runner})


@pytest.fixture
def ends() -> Iterator[tuple[RunnerChannel, socket.socket]]:
    """A channel, and the runner's end of it."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        yield RunnerChannel("candidate", ours, Awake(), spins=False), theirs


def asked(channel: RunnerChannel, theirs: socket.socket, ask: Ask, answer: ReplyStatus) -> None:
    """Ask; a runner in a thread says `answer`."""

    def run() -> None:
        taken = wire.receive_ask(theirs)
        assert taken is not None
        wire.send_reply(theirs, Reply(answer, taken[1], 0, 0.0, 0.0))

    runner = Thread(target=run)
    runner.start()
    try:
        channel.ask(ask, None, 10.0)
    finally:
        runner.join()


def ask_for_bursts(channel: RunnerChannel) -> None:
    for _ in range(10_000):
        channel.start_burst(1)


def test_it_waits_for_nobody_who_leaves_questions_unread(ends):
    channel, _ = ends
    with pytest.raises(CandidateError, match="without reading them") as error:
        ask_for_bursts(channel)
    assert error.value.outcome is Outcome.CHEATED


def test_it_has_bursts_made_again_only_so_often(ends):
    channel, _ = ends
    restless = CandidateError(Outcome.CHEATED, Phase.BURST, "the process ran while it was stopped")
    for _ in range(channel_module.MOST_FORGIVEN):
        channel.forgive(restless)
    with pytest.raises(CandidateError, match="ran while it was stopped"):
        channel.forgive(restless)


@pytest.mark.parametrize(("others", "is_load"), [(0.3, True), (0.2, False)])
def test_it_has_bursts_made_again_only_for_so_long_and_blames_the_host(ends, others, is_load):
    total = TimeBudget(lost_s=20.0, others=lambda: others)
    channel = RunnerChannel("candidate", ends[1], Awake(), spins=False, total=total)
    for _ in range(2):
        channel.again(10.0)
    with pytest.raises(HostError, match="too busy to measure on: 21 s went into bursts") as error:
        channel.again(1.0)
    assert isinstance(error.value, HostBusy) is is_load


@pytest.mark.parametrize(
    ("passed_s", "starved_s", "others", "is_too_busy"),
    [
        pytest.param(30.0, 21.0, 0.9, True, id="most of its time"),
        pytest.param(30.0, 19.0, 0.9, False, id="not long enough to say"),
        pytest.param(200.0, 60.0, 0.9, False, id="a small share"),
        pytest.param(200.0, 90.0, 0.9, True, id="a large share of a long time"),
        pytest.param(30.0, 21.0, 0.1, False, id="it was the candidate's threads"),
    ],
)
def test_it_blames_a_host_that_gives_the_judge_no_cpu(
    monkeypatch, passed_s, starved_s, others, is_too_busy
):
    # This process may have waited before; that is not counted.
    waited = [7.0]
    monkeypatch.setattr(time_budget, "waited_for_cpu_s", lambda: waited[0])
    total, now = TimeBudget(lost_s=20.0, others=lambda: others), time.monotonic()
    waited[0] += starved_s
    monkeypatch.setattr(channel_module.time, "monotonic", lambda: now + passed_s)
    if not is_too_busy:
        total.require_cpu()
        return
    words = f"of {passed_s:.0f} s the judge waited {starved_s:.0f} s for a CPU, and others used 90%"
    with pytest.raises(HostBusy, match=words):
        total.require_cpu()


def test_it_sees_that_an_answer_has_come_without_taking_it(ends):
    channel, theirs = ends
    channel.begin(Ask.BUILD, None)
    assert not channel.has_answered()
    taken = wire.receive_ask(theirs)
    assert taken is not None
    wire.send_reply(theirs, Reply(ReplyStatus.OK, taken[1], 0, 0.0, 0.0))
    assert channel.has_answered()
    assert channel.finish(1.0).answer is ReplyStatus.OK


def test_it_sees_that_no_answer_will_come_from_a_runner_that_has_gone(ends):
    channel, theirs = ends
    theirs.close()
    assert channel.has_answered()


def test_it_believes_code_of_ours_that_the_host_is_to_blame(ends):
    channel, theirs = ends
    with pytest.raises(HostError, match="this host cannot run it"):
        asked(channel, theirs, Ask.SEAL, ReplyStatus.UNSUPPORTED)


@pytest.mark.parametrize(
    "answer", [ReplyStatus.UNSUPPORTED, ReplyStatus.BUILD_FAILED, ReplyStatus.CALL_FAILED]
)
def test_it_believes_no_loaded_candidate_why_it_failed(ends, answer):
    channel, theirs = ends
    channel.phase = Phase.LOAD
    with pytest.raises(CandidateError) as error:
        asked(channel, theirs, Ask.LOAD, answer)
    assert error.value.outcome is Outcome.BUILD_FAILED
    channel.phase = Phase.CHECK
    with pytest.raises(CandidateError) as error:
        asked(channel, theirs, Ask.CALL, answer)
    assert error.value.outcome is Outcome.CRASHED


def test_it_believes_a_runner_that_its_work_is_in_no_order(ends):
    channel, theirs = ends
    asked(channel, theirs, Ask.LOAD, ReplyStatus.OK)
    channel.phase = Phase.PREPARE
    with pytest.raises(CandidateError, match="does not wait for it") as error:
        asked(channel, theirs, Ask.PREPARE, ReplyStatus.UNORDERED)
    assert error.value.outcome is Outcome.WRONG_RESULT


def test_it_lets_a_spinning_runner_go_on_only_when_it_says_go():
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    hold = Awake()
    with ours, theirs:
        channel = RunnerChannel("candidate", ours, hold, spins=True)
        assert channel.gate is not None
        asked(channel, theirs, Ask.CALL, ReplyStatus.OK)
        runner = Thread(target=_spin, args=(theirs, channel.gate.fd))
        runner.start()
        channel.pose(3, 10.0)
        hold.thawed.clear()
        channel.start_burst(3)
        # Its question was taken before the inputs were there; nothing else tells it to begin.
        assert not hold.thawed
        assert channel.gate.answer() == BurstGate.IDLE
        channel.go()
        channel.done(10.0)
        runner.join()
        # With it whatever other tests have started in this process.
        assert [os.getpid() in family for family in hold.thawed] == [True]


def _spin(theirs: socket.socket, gate: int) -> None:
    taken = wire.receive_ask(theirs)
    assert taken is not None
    wire.send_reply(theirs, Reply(ReplyStatus.OK, taken[1], 0, 0.0, 0.0))
    with mmap.mmap(gate, mmap.PAGESIZE) as word:
        while word[0] != BurstGate.GO:
            pass
        word[0] = BurstGate.DONE


@pytest.mark.parametrize(
    ("slow", "error"), [("candidate", CandidateError), ("incumbent", HostError)]
)
def test_it_blames_who_spent_the_time_and_not_who_was_asked_last(monkeypatch, slow, error):
    total = TimeBudget(10.0)
    now = [0.0]
    monkeypatch.setattr(channel_module.time, "monotonic", lambda: now[0])
    total.deadline = 10.0
    for name in ("candidate", "incumbent"):
        with total.waiting_for(name):
            now[0] += 9.0 if name == slow else 2.0
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        for name in ("candidate", "incumbent"):
            last = RunnerChannel(name, ours, Awake(), spins=False, total=total)
            with pytest.raises(error, match="the limit in total"):
                last.ask(Ask.CALL, None, 10.0)


def test_it_blames_no_candidate_for_a_slow_reference(ends):
    """What `ref.py` took before the limit began to run is not counted."""

    class Stopped(Awake):
        def freeze(self) -> None:
            pass

    spent_s = [5.0]
    total = TimeBudget(0.02, lambda: spent_s[0])
    channel = RunnerChannel("candidate", ends[1], Stopped(), spins=False, total=total)
    with total.waiting_for("candidate"):
        time.sleep(0.03)
    with pytest.raises(CandidateError, match="the limit in total"):
        channel.freeze()
    spent_s[0] += 0.5
    with pytest.raises(HostError, match=r"ref\.py took most of the time"):
        channel.freeze()


def test_it_counts_the_time_that_stopping_takes(ends, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(channel_module.time, "monotonic", lambda: now[0])

    class Slow(Awake):
        def freeze(self) -> None:
            now[0] += 0.02

    _, theirs = ends
    total = TimeBudget(0.03)
    channel = RunnerChannel("candidate", theirs, Slow(), spins=False, total=total)
    channel.freeze()
    with pytest.raises(CandidateError, match="the limit in total") as error:
        channel.freeze()
    assert error.value.outcome is Outcome.TIMED_OUT
    assert total.spent_by() == "candidate"


def test_where_another_candidate_is_at_fault_that_one_leaves_and_this_arm_goes_on(ends):
    class Woken(Awake):
        def __init__(self) -> None:
            super().__init__()
            self.left: list[str] = []

        def freeze(self) -> None:
            if not self.left:
                raise StopRefused("it ran on", 7)

        def whose(self, pid: int) -> str:
            return "rival 2"

    hold = Woken()
    channel = RunnerChannel("rival 1", ends[1], hold, spins=False)
    channel.leave = lambda error: hold.left.append(error.arm)
    with channel.turn():
        channel.freeze()
        channel.forgive(CandidateError(Outcome.CHEATED, Phase.BURST, "woke", arm="rival 2"))
    assert hold.left == ["rival 2"]
    with channel.turn():
        raise channel.blame(Outcome.CRASHED, "died")
    assert hold.left == ["rival 2", "rival 1"]
    with pytest.raises(HostError), channel.turn():
        raise channel.blame(Outcome.CHEATED, "it ran on", "incumbent")


def test_each_of_several_candidates_has_its_own_limit_in_total(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(channel_module.time, "monotonic", lambda: now[0])
    total = TimeBudget(10.0, contenders=3)
    for name, took_s in (("candidate", 9.0), ("rival 1", 11.0), ("incumbent", 3.0)):
        with total.waiting_for(name):
            now[0] += took_s
    assert [total.left_s(name) for name in ("candidate", "rival 1", "rival 2")] == [1.0, -1.0, 7.0]
