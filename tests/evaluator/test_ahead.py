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
from campaigns.evaluator.judge.ahead import (
    FIRST,
    MORE,
    ODD,
    TRIES,
    Ahead,
    Found,
    reached,
    touched_next,
)
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
APART = (4, 9, 2, 7, 3, 5)
PARTS = {slot: range(32768 * slot, 32768 * slot + PAGE) for slot in range(10)}
WIDE = {slot: range(32768 * slot, 32768 * slot + 6 * PAGE) for slot in range(10)}


def seen(*slots, kib=4):
    return {part.start: kib * (slot in slots) for slot, part in PARTS.items()}


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
    assert touched_next(ORDER, finished, PARTS, seen(*slots)) is early


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


def test_where_nothing_was_begun_the_runner_may_sleep():
    assert touched_next(APART, 0, PARTS, seen()) is None
    assert touched_next(APART, 0, PARTS, seen(4)) is False
    assert touched_next(APART, 0, PARTS, seen(4, 9)) is True


@pytest.mark.parametrize(("kib", "early"), [(0, False), (12, False), (16, True), (24, True)])
def test_beside_one_that_was_begun_almost_all_of_it_tells(kib, early):
    assert touched_next(ORDER, 4, WIDE, seen(*ORDER[:5]) | seen(5, kib=kib)) is early


# Slots of which three are within reach.
FAR = {slot: range(32768 * slot, 32768 * slot + 2 * PAGE) for slot in range(40)}


def far_seen(*slots):
    return {part.start: 4 * (slot in slots) for slot, part in FAR.items()}


BEGUN = (4, 12, 20, 30, 36)
BEHIND = (6, 14, 22, 32, 38)


def test_a_loop_that_reads_on_behind_every_slot_is_excused_where_it_does():
    seen = far_seen(*BEGUN, *(slot - 1 for slot in BEHIND), *BEHIND)
    assert reached(set(BEGUN), FAR.keys() - BEGUN, FAR, seen) == set(BEHIND)
    assert touched_next((*BEGUN, 22, 8, *BEHIND), 4, FAR, seen) is None
    assert touched_next((*BEGUN, 9, 8, *BEHIND), 4, FAR, seen) is False
    assert touched_next((*BEGUN, 9, 8, *BEHIND), 4, FAR, seen | {FAR[9].start: 4}) is True


def test_what_was_touched_once_is_no_way_to_read_on():
    seen = far_seen(*BEGUN, 22)
    assert reached(set(BEGUN), FAR.keys() - BEGUN, FAR, seen) == set()
    assert touched_next((*BEGUN, 22, *BEHIND), 4, FAR, seen) is True


def test_of_a_few_no_way_to_read_on_can_be_told():
    assert reached({4, 12}, FAR.keys() - {4, 12}, FAR, far_seen(4, 12, 6, 14)) == set()


HONEST, ODD_ONE = Found(3, False), Found(7, True)


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
        Blamed, match="in 3 of 5 bursts that were stopped halfway, the last one after 7 of 40 calls"
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
    made, taken, told = looking([None] * TRIES + [HONEST] * 100, monkeypatch)
    made.look_into(40, 1e-3)
    assert len(taken) == TRIES
    made.look_into(40, 1e-3, 1)
    assert len(taken) == TRIES + FIRST + 1
    made.tell()
    assert told == []


def test_too_few_looks_are_told(monkeypatch):
    made, _, told = looking([HONEST, *[None] * 100], monkeypatch)
    made.tell()
    assert told == []
    made.look_into(40, 1e-3)
    made.tell()
    assert len(told) == 1
    assert "ahead of their turn was seen in 1 bursts only" in told[0]


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
