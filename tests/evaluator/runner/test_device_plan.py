"""A call on a GPU finds its inputs only in the order of its stream, and so do its outputs.

The device is played: `asleep` is done while the stream is held back, `later` when it is waited for.
"""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace

import pytest
import torch

from campaigns.evaluator.builds import device_plan
from campaigns.evaluator.builds.call_chain import Unordered
from campaigns.evaluator.builds.device_plan import DevicePlan
from campaigns.evaluator.contract import Timer
from campaigns.evaluator.contract.layout import Plain, lay_out

LAYOUT = lay_out(
    [
        Plain("x", "float32", (4,), output=False),
        Plain("y", "float32", (2, 2), output=True),
        Plain("kept", "int32", (), output=True, update=True),
    ]
)
X, Y, KEPT = LAYOUT.tensors


class FlatMemory:
    """As `campaigns.evaluator.builds.memory.DeviceMemory`, of this process's own."""

    def __init__(self, slots):
        self.bytes = torch.zeros(slots * LAYOUT.stride, dtype=torch.uint8)

    def tensor(self, layout, slot, arg):
        at = slot * layout.stride + arg.offset
        part = self.bytes[at : at + arg.nbytes].view(getattr(torch, arg.dtype))
        return part.view(arg.shape)


@pytest.fixture
def device(monkeypatch):
    """What the device does, and how often it was waited for."""
    played = SimpleNamespace(asleep=[], later=[], waits=0)

    def drain(work):
        while work:
            work.pop(0)()

    def synchronize():
        played.waits += 1
        drain(played.later)

    monkeypatch.setattr(torch.cuda, "synchronize", synchronize)
    monkeypatch.setattr(torch.cuda, "_sleep", lambda cycles: drain(played.asleep))
    return played


def called(call, *, ordered=True):
    """x, y and kept after a call, which is given y of minus ones and kept of 5."""
    memory = FlatMemory(2)
    x, y, kept = (memory.tensor(LAYOUT, 1, arg) for arg in (X, Y, KEPT))
    x.copy_(torch.arange(4.0))
    y.fill_(-1)
    kept.fill_(5)
    plan = DevicePlan([None, lambda: call(x, y, kept)], None, LAYOUT, memory)
    plan.call(1, ordered=ordered)
    return x.tolist(), y.flatten().tolist(), int(kept)


def test_an_honest_call_finds_its_inputs_and_keeps_its_outputs(device):
    def call(x, y, kept):
        y.copy_(2 * x.view(2, 2))
        kept.add_(1)

    assert called(call) == ([0, 1, 2, 3], [0, 2, 4, 6], 6)


def test_work_that_does_not_wait_for_the_stream_finds_zeros(device):
    memory = FlatMemory(1)
    x, y = memory.tensor(LAYOUT, 0, X), memory.tensor(LAYOUT, 0, Y)
    x.copy_(torch.arange(4.0))
    # On a stream of its own it runs while the call's stream is held back.
    device.asleep.append(lambda: y.copy_(2 * x.view(2, 2) + 1))
    DevicePlan([lambda: None], None, LAYOUT, memory).call(0)
    assert y.flatten().tolist() == [1, 1, 1, 1]
    assert x.tolist() == [0, 1, 2, 3]


def test_work_that_the_stream_does_not_wait_for_comes_too_late(device):
    def call(x, y, kept):
        device.later.append(lambda: (y.copy_(2 * x.view(2, 2)), kept.add_(1)))

    assert called(call) == ([0, 1, 2, 3], [-1] * 4, 5)
    assert called(call, ordered=False) == ([0, 1, 2, 3], [0, 2, 4, 6], 6)


class FakeChain:
    """As `CallChain`. fault: what its capture raises."""

    fault = None

    def __init__(self, stream):
        self.order, self.nodes, self.calls = (), [], []

    def capture(self, calls):
        if self.fault:
            raise self.fault
        self.calls = calls
        self.nodes = [1] * len(calls)

    def arrange(self, order):
        self.order = tuple(order)

    def launch(self):
        for slot in self.order:
            self.calls[slot]()


@pytest.fixture
def planned(device, monkeypatch):
    """A plan of three calls that note their slots, and these notes."""
    noted, memory = [], FlatMemory(3)

    def on(slot):
        def call():
            noted.append((slot, device.waits))
            memory.tensor(LAYOUT, slot, Y).fill_(slot)

        return call

    monkeypatch.setattr(device_plan, "CallChain", FakeChain)
    monkeypatch.setattr(FakeChain, "fault", None)
    monkeypatch.setattr(torch.cuda, "MemPool", lambda: None)
    monkeypatch.setattr(torch.cuda, "use_mem_pool", lambda pool: torch.cuda.stream(None))
    monkeypatch.setattr(torch.cuda, "stream", lambda stream: torch.enable_grad())
    stream = SimpleNamespace(cuda_stream=2)
    return DevicePlan([on(slot) for slot in range(3)], stream, LAYOUT, memory), noted


def waits_between(noted):
    """How often the device was waited for between a call and the next."""
    return [later[1] - earlier[1] for earlier, later in pairwise(noted)]


def test_it_chains_the_calls_in_the_order_asked_for_and_tells_their_nodes(planned):
    plan, noted = planned
    assert plan.prepare(3, False) == (Timer.GRAPH, 3)
    plan.order([2, 0, 1])
    noted.clear()
    plan.run(3)
    assert [slot for slot, _ in noted] == [2, 0, 1]
    assert waits_between(noted) == [0, 0]


@pytest.mark.parametrize("asked", [True, False])
def test_in_a_loop_the_whole_device_is_waited_for_after_each_call(planned, monkeypatch, asked):
    plan, noted = planned
    if not asked:
        monkeypatch.setattr(FakeChain, "fault", RuntimeError("not here"))
    assert plan.prepare(3, asked) == (Timer.LOOP, 0)
    plan.order([2, 0, 1])
    noted.clear()
    plan.run(3)
    assert [slot for slot, _ in noted] == [2, 0, 1]
    assert waits_between(noted) == [1, 1]


def test_once_in_a_loop_it_stays_there(planned):
    plan, _ = planned
    assert plan.prepare(2, False) == (Timer.GRAPH, 2)
    assert plan.prepare(2, True) == (Timer.LOOP, 0)
    assert plan.prepare(3, False) == (Timer.LOOP, 0)


def test_captures_that_write_no_output_are_no_burst(planned, monkeypatch, capsys):
    plan, _ = planned
    monkeypatch.setattr(FakeChain, "launch", lambda self: None)
    assert plan.prepare(2, False) == (Timer.LOOP, 0)
    assert "write no output" in capsys.readouterr().err


def test_work_that_is_not_joined_is_no_reason_for_a_loop(planned, monkeypatch):
    plan, _ = planned
    monkeypatch.setattr(FakeChain, "fault", Unordered("left"))
    with pytest.raises(Unordered):
        plan.prepare(2, False)
