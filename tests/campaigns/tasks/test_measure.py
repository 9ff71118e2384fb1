"""The task that measures: what a busy device and a host with several make of a ring (R8)."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
from django.db import OperationalError

from campaigns import tasks
from campaigns.devices.hold import DeviceBusy
from campaigns.models import Worker
from tests.campaigns.steps import cast

SECOND = replace(cast.DEVICE, device="cuda:1", uuid="second")


@pytest.fixture
def rung(db, monkeypatch):
    """The campaigns that were rung for; the device is the test's, and there is no other."""
    cast.make_platform()
    calls = []
    monkeypatch.setattr(tasks, "notify", lambda campaign, following: calls.append(campaign))
    monkeypatch.setattr(tasks, "choose_device", lambda worker: cast.DEVICE)
    monkeypatch.setattr(tasks, "change_device", lambda worker, present: None)
    for name, value in (
        ("service", cast.Judge()),
        ("starting", None),
        ("device", None),
        ("heartbeat", None),
    ):
        monkeypatch.setattr(tasks._Process, name, value)
    return calls


def measured_on(monkeypatch, **answers):
    """Let evaluations come to this, by device; the list of the devices that were tried."""
    tried = []

    def measure(key, bench):
        tried.append(bench.device.device)
        answer = answers[bench.device.device.partition(":")[0]]
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(tasks, "measure_row", measure)
    return tried


def run():
    request = SimpleNamespace(request=SimpleNamespace(hostname="measure@box"))
    tasks.measure.run.__func__(request, 7)


@pytest.mark.parametrize("answer", [None, DeviceBusy("cpu is held by process 4711")])
def test_it_rings_for_nothing_while_the_device_is_not_free(rung, monkeypatch, answer):
    tried = measured_on(monkeypatch, cpu=answer)
    run()
    assert (tried, rung) == (["cpu"], [])


def test_it_goes_on_at_once_with_another_device_that_is_idle(rung, monkeypatch):
    tried = measured_on(monkeypatch, cpu=None, cuda="the campaign")
    moves = [SECOND]
    monkeypatch.setattr(tasks, "change_device", lambda worker, present: moves.pop())
    beating = tasks.Heartbeat("measure@box", cast.DEVICE)
    monkeypatch.setattr(tasks._Process, "heartbeat", beating)
    run()
    assert (tried, rung) == (["cpu", "cuda:1"], ["the campaign"])
    assert beating.device is SECOND
    assert Worker.objects.get().device == "cuda:1"


def test_it_keeps_the_device_that_it_has_chosen(rung, monkeypatch):
    tried = measured_on(monkeypatch, cpu="the campaign")
    run()
    monkeypatch.setattr(tasks, "choose_device", None)
    run()
    assert tried == ["cpu", "cpu"]


@pytest.mark.parametrize("reachable", [True, False])
def test_it_chooses_a_device_at_its_start_even_without_a_database(rung, monkeypatch, reachable):
    def choose(worker):
        assert worker == "measure@box"
        if not reachable:
            raise OperationalError("the server is away")
        return SECOND

    started = []
    monkeypatch.setattr(tasks, "choose_device", choose)
    monkeypatch.setattr(tasks, "this_device", lambda: cast.DEVICE)
    monkeypatch.setattr(tasks.Heartbeat, "start", lambda self: started.append(self.device))
    amqp = SimpleNamespace(queues=SimpleNamespace(consume_from={"platform.test-cpu": None}))
    tasks.start_heartbeat(SimpleNamespace(hostname="measure@box", app=SimpleNamespace(amqp=amqp)))
    assert started == [SECOND if reachable else cast.DEVICE]
    assert tasks._service().started


def test_a_worker_of_the_flow_chooses_none(rung, monkeypatch):
    monkeypatch.setattr(tasks, "choose_device", None)
    monkeypatch.setattr(tasks.Heartbeat, "start", lambda self: None)
    amqp = SimpleNamespace(queues=SimpleNamespace(consume_from={"default": None}))
    tasks.start_heartbeat(SimpleNamespace(hostname="flow@box", app=SimpleNamespace(amqp=amqp)))
    assert tasks._Process.heartbeat.device is None
    assert not tasks._service().started
