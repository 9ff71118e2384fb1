"""Is a call's memory touched before its turn? What tells, and what is made of it."""

from __future__ import annotations

import ctypes
import itertools
import mmap
import os
from types import SimpleNamespace

import pytest
import torch

from campaigns.evaluator.contract import Outcome
from campaigns.evaluator.judge import ahead
from campaigns.evaluator.judge.ahead import FIRST, MOST, ODD, Ahead, Found, touched_next
from campaigns.evaluator.layout import Plain, inner_pages, lay_out
from campaigns.evaluator.runner.memory import HostMemory

PAGE = mmap.PAGESIZE
SLOTS = 6


@pytest.mark.parametrize("stride", [3 * PAGE, 8 * PAGE, 8 * PAGE + 256, 9 * PAGE - 256])
def test_inner_pages_are_whole_and_apart(stride):
    parts = [inner_pages(stride, slot, PAGE) for slot in range(20)]
    for slot, part in enumerate(parts):
        assert part.start % PAGE == part.stop % PAGE == 0
        assert slot * stride + PAGE <= part.start < part.stop <= (slot + 1) * stride - PAGE
    for one, other in itertools.pairwise(parts):
        assert other.start - one.stop >= PAGE


def test_a_small_slot_has_none():
    assert not any(inner_pages(2 * PAGE, slot, PAGE) for slot in range(20))


@pytest.fixture
def memory():
    """Slots of eight pages and a bit, all of which were written once."""
    stride = 8 * PAGE + 256
    fd = os.memfd_create("kopt-arena")
    os.ftruncate(fd, SLOTS * stride)
    made = HostMemory(fd, SLOTS * stride)
    os.close(fd)
    made.part(stride, SLOTS)
    base = ctypes.addressof(made._map)
    ctypes.memset(base, 1, SLOTS * stride)
    return SimpleNamespace(base=base, starts=[inner_pages(stride, k, PAGE).start for k in range(6)])


def test_the_system_tells_which_slots_a_process_has_touched(memory):
    ahead.forget(os.getpid())
    before = ahead.touched(os.getpid())
    assert [before[start] for start in memory.starts] == [0] * SLOTS
    ctypes.string_at(memory.base + memory.starts[3] + 100, 1)
    after = ahead.touched(os.getpid())
    assert [after[start] for start in memory.starts] == [0, 0, 0, PAGE >> 10, 0, 0]


ORDER = (4, 3, 7, 2, 9, 5)
STARTS = {slot: 100 * slot for slot in range(10)}


def seen(*slots):
    return {start: 4 * (slot in slots) for slot, start in STARTS.items()}


@pytest.mark.parametrize(
    ("finished", "slots", "early"),
    [
        pytest.param(1, (4, 3), False, id="one under way"),
        pytest.param(1, (4, 3, 7), True, id="the next one"),
        pytest.param(0, (4, 3, 7, 2, 9), None, id="one behind that under way"),
        pytest.param(1, (4, 3, 2, 9), False, id="others, which may be chance"),
        pytest.param(6, ORDER, None, id="all were made"),
        pytest.param(5, ORDER, None, id="the last is under way"),
        pytest.param(4, ORDER, None, id="one behind another that was made"),
    ],
)
def test_it_tells_whether_the_next_call_was_begun(finished, slots, early):
    assert touched_next(ORDER, finished, STARTS, seen(*slots)) is early


class Blamed(Exception):
    pass


def looking(found, monkeypatch):
    """What looks into an arm whose bursts show this, one after the other; and how many it took."""
    layout = lay_out([Plain("y", "float32", (4096,), output=True)])
    told = []
    bench = SimpleNamespace(
        device=torch.device("cpu"), reference=SimpleNamespace(note=told.append), supply=None
    )

    def blame(outcome, words):
        assert outcome is Outcome.CHEATED
        return Blamed(words)

    channel = SimpleNamespace(blame=blame, process=os.getpid())
    slots = SimpleNamespace(layout=layout, count=40)
    made = Ahead(bench, channel, slots, layout.outputs[0])
    looks = iter(found)
    taken = []

    def look(self, calls, usual_s):
        taken.append(calls)
        return next(looks)

    monkeypatch.setattr(Ahead, "_look", look)
    return made, taken, told


def test_an_honest_arm_is_looked_at_a_few_times(monkeypatch):
    made, taken, _ = looking([None] + [Found(3, False)] * MOST, monkeypatch)
    made.look_into(40, 1e-3)
    assert len(taken) == 1 + FIRST


def test_one_odd_look_has_more_follow_and_is_forgiven(monkeypatch):
    made, taken, _ = looking([Found(3, True)] + [Found(3, False)] * MOST, monkeypatch)
    made.look_into(40, 1e-3)
    assert len(taken) == MOST


def test_several_odd_looks_are_blamed(monkeypatch):
    made, taken, _ = looking([Found(3, False)] * 2 + [Found(7, True)] * MOST, monkeypatch)
    with pytest.raises(
        Blamed, match="in 3 of 5 bursts that were stopped halfway, the last one after 7 of 40 calls"
    ):
        made.look_into(40, 1e-3)
    assert len(taken) == 2 + ODD


def test_slots_of_a_page_or_two_are_not_looked_at(monkeypatch):
    made, taken, _ = looking([], monkeypatch)
    small = lay_out([Plain("y", "float32", (100,), output=True)])
    made = Ahead(made._bench, made._channel, SimpleNamespace(layout=small, count=4), None)
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
    made._bench.supply = SimpleNamespace(draw=SimpleNamespace(uniform=lambda low, high: 0.0))

    def burst(bench, channel, slots, calls, look):
        view = torch.zeros(calls, 4096)
        timed = SimpleNamespace(all=lambda arg: view)
        bench.supply.generator = torch.Generator()
        look.ready(
            SimpleNamespace(order=range(calls), timed=timed, calls=calls, bench=bench, truth=None)
        )
        look.during(0.0)

    made._channel.freeze = made._channel.thaw = lambda: None
    monkeypatch.setattr(ahead, "run_burst", burst)
    made.look_into(40, 1e-3)
    assert told == [f"what calls touch ahead of their turn can not be seen here: {words}"]
    made.look_into(40, 1e-3)
    assert len(told) == 1
