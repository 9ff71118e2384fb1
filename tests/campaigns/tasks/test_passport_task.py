"""A worker's heartbeat rings for its own passport, and only that worker answers the ring (R11)."""

from types import SimpleNamespace

import pytest

from campaigns import tasks
from campaigns.models import Passport, Worker
from campaigns.records import passports
from campaigns.steps.measuring.take_passport import take_passport
from campaigns.steps.worker import note_host
from tests.campaigns.steps import cast


@pytest.fixture
def host(db, monkeypatch, settings, tmp_path):
    """The test device is this host's; it is free, and rings are kept in a list."""
    settings.DATA_DIR = tmp_path
    cast.make_platform()
    rung = []
    monkeypatch.setattr(tasks, "choose_device", lambda worker: cast.DEVICE)
    monkeypatch.setattr(tasks._Process, "device", None)
    monkeypatch.setattr(tasks._Process, "service", cast.Judge())
    monkeypatch.setattr(passports, "is_free", lambda worker, device: True)
    for step in (note_host, take_passport):
        monkeypatch.setattr(f"{step.__module__}.host_facts", lambda device: {"host": "box"})
    monkeypatch.setattr(tasks, "notify_worker", rung.append)
    return rung


def run(hostname, name):
    """The task as a worker of that host name runs it."""
    tasks.passport.run.__func__(SimpleNamespace(request=SimpleNamespace(hostname=hostname)), name)


def test_a_new_worker_takes_a_passport_at_its_ring_and_none_at_the_next(host):
    run("measure@box", "measure@box")
    run("measure@box", "measure@box")
    taken = Passport.objects.get()
    assert (taken.worker.name, taken.why) == ("measure@box", "the worker is new")


def test_it_leaves_the_ring_for_another_worker_alone(host):
    run("measure@box", "measure@elsewhere")
    assert not Passport.objects.exists()
    assert not Worker.objects.exists()


def test_it_takes_none_while_somebody_needs_the_device(host, monkeypatch):
    monkeypatch.setattr(passports, "is_free", lambda worker, device: False)
    run("measure@box", "measure@box")
    assert not Passport.objects.exists()


def test_the_heartbeat_rings_while_a_passport_is_due(host):
    beating = tasks.Heartbeat("measure@box", cast.DEVICE)
    beating.beat()
    assert [worker.name for worker in host] == ["measure@box"]
    # The next look is not due yet, and after the passport nothing is.
    beating.beat()
    run("measure@box", "measure@box")
    beating._look_at = 0.0
    beating.beat()
    assert len(host) == 1


def test_the_heartbeat_of_a_worker_that_only_advances_rings_for_none(host):
    tasks.Heartbeat("flow@box", None).beat()
    assert host == []
