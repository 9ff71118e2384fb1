"""Is a call's memory touched before its turn? What tells, and what is made of it."""

from __future__ import annotations

import ctypes
import mmap
import os
import random
import threading
from types import SimpleNamespace

import pytest
import torch

from campaigns.evaluator.contract import Outcome
from campaigns.evaluator.judge import ahead
from campaigns.evaluator.judge.ahead import BARREN, FIRST, MORE, ODD, TRIES, Ahead, Halt
from campaigns.evaluator.layout import Layout, Plain, lay_out
from campaigns.evaluator.runner.memory import HostMemory

PAGE = mmap.PAGESIZE
SLOTS = 6


LAID_OUT = lay_out([Plain("y", "float32", (4096,), output=True)], page=PAGE)


@pytest.fixture
def memory():
    """Slots of five pages and their edges, all of which were written once."""
    size = SLOTS * LAID_OUT.stride
    fd = os.memfd_create("kopt-arena")
    os.ftruncate(fd, size)
    made = HostMemory(fd, size)
    os.close(fd)
    made.part(LAID_OUT, SLOTS)
    base = ctypes.addressof(made._map)
    ctypes.memset(base, 1, size)
    return SimpleNamespace(base=base, starts=[LAID_OUT.used(k).start for k in range(SLOTS)])


def test_the_system_tells_which_slots_a_process_has_touched(memory):
    ahead.forget(os.getpid())
    before = ahead.touched(os.getpid())
    assert [before[start] for start in memory.starts] == [0] * SLOTS
    ctypes.string_at(memory.base + memory.starts[3] + 100, 1)
    after = ahead.touched(os.getpid())
    assert [after[start] for start in memory.starts] == [0, 0, 0, PAGE >> 10, 0, 0]


ORDER = (4, 3, 7, 2, 9, 5)
APART = (4, 9, 2, 7, 3, 5)


def halt(order, finished, *slots, kib=4, pages=1, stride=8 * PAGE, more=()):
    """A burst that was stopped, of slots of so many pages; `slots` were touched, and `more`."""
    layout = Layout((), stride, (stride - pages * PAGE) // 2)
    every = {layout.used(slot).start: kib * (slot in slots) for slot in range(40)}
    every |= {layout.used(slot).start: kib for slot, kib in more}
    return Halt(layout, order, finished, every)


@pytest.mark.parametrize(
    ("finished", "slots", "early"),
    [
        pytest.param(1, (4, 3), False, id="one under way"),
        pytest.param(1, (4, 3, 7), True, id="the next one"),
        pytest.param(0, (4, 3, 7, 2, 9), None, id="one behind that under way"),
        pytest.param(1, (4, 3, 2, 9), False, id="others, which may be chance"),
        pytest.param(1, (4,), False, id="between two calls"),
        pytest.param(6, ORDER, None, id="all were made"),
        pytest.param(5, ORDER, None, id="the last is under way"),
        pytest.param(4, ORDER, None, id="one behind another that was made"),
    ],
)
def test_it_tells_whether_the_next_call_was_begun(finished, slots, early):
    assert halt(ORDER, finished, *slots).next_touched() is early


class Blamed(Exception):
    pass


def looking(found, monkeypatch):
    """What looks into an arm whose bursts show this, one after the other; and how many it took."""
    told = []
    bench = SimpleNamespace(
        device=torch.device("cpu"), reference=SimpleNamespace(note=told.append), supply=None
    )

    def blame(outcome, words):
        assert outcome is Outcome.CHEATED
        return Blamed(words)

    channel = SimpleNamespace(blame=blame, process=os.getpid())
    made = Ahead(bench, channel, SimpleNamespace(layout=LAID_OUT), LAID_OUT.outputs[0])
    looks = iter(found)
    taken = []

    def look(self, calls, usual_s):
        taken.append(calls)
        return next(looks)

    monkeypatch.setattr(Ahead, "_look", look)
    return made, taken, told


def test_where_nothing_was_begun_the_runner_may_sleep():
    assert halt(APART, 0).next_touched() is None
    assert halt(APART, 0, 4).next_touched() is False
    assert halt(APART, 0, 4, 9).next_touched() is True


def test_beside_slots_that_were_begun_it_tells_what_others_beside_them_do_not_show():
    odds = range(1, 20, 2)
    order = (*range(0, 20, 2), *odds)
    assert halt(order, 9, *order[:10]).next_touched() is False
    assert halt(order, 9, *order[:11]).next_touched() is True
    assert halt(order, 9, *order[:14]).next_touched() is True
    # Most are touched: it reads on behind its slot, and nothing can be said.
    assert halt(order, 9, *order[:17]).next_touched() is None


@pytest.mark.parametrize(("kib", "early"), [(4, False), (60, False), (64, True), (2048, True)])
def test_of_a_slot_of_many_pages_one_or_two_are_chance(kib, early):
    stopped = halt(APART, 1, 4, 9, kib=2048, pages=512, stride=514 * PAGE, more=[(2, kib)])
    assert stopped.next_touched() is early


BEGUN = (4, 12, 20, 30, 36)
BEHIND = (6, 14, 22, 32, 38)


def test_a_loop_that_reads_on_behind_every_slot_is_excused_where_it_does():
    seen = (*BEGUN, *(slot - 1 for slot in BEHIND), *BEHIND)
    stopped = halt((*BEGUN, 22, 8, *BEHIND), 4, *seen)
    assert stopped.reached() == set(BEHIND)
    assert stopped.next_touched() is None
    assert halt((*BEGUN, 9, 8, *BEHIND), 4, *seen).next_touched() is False
    assert halt((*BEGUN, 9, 8, *BEHIND), 4, *seen, 9).next_touched() is True


def test_what_was_touched_once_is_no_way_to_read_on():
    stopped = halt((*BEGUN, 22, *BEHIND), 4, *BEGUN, 22)
    assert stopped.reached() == set()
    assert stopped.next_touched() is True


def test_of_a_few_no_way_to_read_on_can_be_told():
    assert halt((4, 12, 20, 6, 14), 1, 4, 12, 6, 14).reached() == set()


HONEST, ODD_ONE = halt(APART, 1, 4, 9), halt(APART, 1, 4, 9, 2)


def test_an_honest_arm_is_looked_at_a_few_times(monkeypatch):
    made, taken, _ = looking([None, *[HONEST] * 100], monkeypatch)
    made.look_into(40, 1e-3)
    assert len(taken) == 1 + FIRST
    made.look_into(40, 1e-3, 1)
    assert len(taken) == 1 + FIRST + 1


def test_one_odd_look_has_more_follow_and_is_forgiven(monkeypatch):
    made, taken, _ = looking([ODD_ONE, *[HONEST] * 100], monkeypatch)
    made.look_into(40, 1e-3)
    assert len(taken) == FIRST + MORE


def test_several_odd_looks_are_blamed(monkeypatch):
    made, taken, _ = looking([HONEST] * 2 + [ODD_ONE] * 8, monkeypatch)
    with pytest.raises(
        Blamed, match="in 3 of 5 bursts that were stopped halfway, the last one after 1 of 40 calls"
    ):
        made.look_into(40, 1e-3)
    assert len(taken) == 2 + ODD


def test_odd_looks_count_wherever_they_were_seen(monkeypatch):
    rarely = [*[HONEST] * 12, ODD_ONE]
    made, _, _ = looking(rarely * ODD, monkeypatch)
    made.look_into(40, 1e-3, 10)
    with pytest.raises(Blamed, match="in 3 of 39 bursts"):
        made.look_into(40, 1e-3, 20)


def test_looks_that_say_nothing_are_made_up_for(monkeypatch):
    made, taken, told = looking([None] * BARREN + [HONEST] * 100, monkeypatch)
    made.look_into(40, 1e-3)
    assert len(taken) == BARREN
    made.look_into(40, 1e-3, 1)
    assert len(taken) == BARREN + FIRST + 1
    made.tell()
    assert told == []


def test_it_gives_up_where_nearly_all_looks_say_nothing(monkeypatch):
    made, taken, _ = looking([*[None] * (BARREN - 1), HONEST] * 10, monkeypatch)
    made.look_into(40, 1e-3)
    assert len(taken) == TRIES


def test_too_few_looks_are_told(monkeypatch):
    made, _, told = looking([HONEST, *[None] * 100], monkeypatch)
    made.tell()
    assert told == []
    made.look_into(40, 1e-3)
    made.tell()
    assert len(told) == 1
    assert "ahead of their turn was seen in 1 bursts only" in told[0]


def test_slots_without_pages_of_their_own_are_not_looked_at(monkeypatch):
    made, taken, _ = looking([], monkeypatch)
    close = SimpleNamespace(layout=lay_out([Plain("y", "float32", (4096,), output=True)]))
    made = Ahead(made._bench, made._channel, close, close.layout.outputs[0])
    made.look_into(40, 1e-3)
    assert taken == []


@pytest.mark.parametrize(
    ("which", "words"),
    [
        ("forget", "/proc/PID/clear_refs: Permission denied"),
        ("touched", "/proc/PID/smaps: Permission denied"),
        ("parted", "slots are no maps of their own"),
    ],
)
def test_what_can_not_be_seen_is_noted_once(monkeypatch, which, words):
    made, _, told = looking([], monkeypatch)
    monkeypatch.undo()

    def refused(pid):
        raise PermissionError(13, "Permission denied", "/proc/…")

    if which == "parted":
        monkeypatch.setattr(ahead, "touched", lambda pid: {})
    else:
        monkeypatch.setattr(ahead, which, refused)

    def burst(bench, channel, slots, calls, look):
        look.ready(stage(torch.zeros(calls, 4096)))
        look.during(0.0)

    made._bench.supply = SimpleNamespace(draw=random.Random(1))
    made._channel.halt = made._channel.thaw = lambda: None
    monkeypatch.setattr(ahead, "run_burst", burst)
    made.look_into(40, 1e-3)
    assert told == [f"what calls touch ahead of their turn can not be seen here: {words}"]
    made.look_into(40, 1e-3)
    assert len(told) == 1


def stage(view):
    """A burst whose slots are the rows of `view`, made ready."""
    bench = SimpleNamespace(
        device=torch.device("cpu"), supply=SimpleNamespace(generator=torch.Generator())
    )
    timed = SimpleNamespace(all=lambda arg: view)
    return SimpleNamespace(
        order=range(len(view)), timed=timed, calls=len(view), bench=bench, truth=None
    )


@pytest.mark.parametrize(("number", "most_s"), [(2, 30.0), (5, 0.0), (None, 0.0)])
def test_a_burst_is_stopped_when_a_call_begins_to_write_or_in_time(number, most_s):
    view = torch.zeros(SLOTS, 4096)
    seen = []

    def halt():
        seen.append(bool(view[2, 0]))
        view[:3] = 1

    channel = SimpleNamespace(process=os.getpid(), halt=halt, thaw=lambda: None)
    stop = ahead._Stop(LAID_OUT.outputs[0], channel, most_s, number)
    stop.ready(stage(view))
    writer = threading.Timer(0.05, view[2].fill_, (1,))
    if number == 2:
        writer.start()
    stop.during(0.0)
    assert seen == [number == 2]
    assert stop.finished == 3
