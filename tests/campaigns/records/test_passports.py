"""What `doctor` says of this host's noise passports."""

from __future__ import annotations

import platform

from django.db import OperationalError

from campaigns.devices.host_software import State
from campaigns.models import Worker
from campaigns.records import passports
from campaigns.records.passports import examine_passports
from tests.campaigns.views import test_workers

worker = test_workers.worker


def here(worker, name=None):
    """The worker, or a copy of it under another name, on this host."""
    if name is not None:
        fields = {f.attname: getattr(worker, f.attname) for f in worker._meta.fields}
        return Worker.objects.create(**{**fields, "id": None, "name": name})
    Worker.objects.filter(pk=worker.pk).update(host=platform.node())
    worker.refresh_from_db()
    return worker


def test_it_says_nothing_of_other_hosts_but_that_this_one_has_none(worker):
    (none,) = examine_passports()
    assert (none.name, none.state) == ("noise passport", State.NOTE)
    assert none.found.startswith("none yet: no worker of this host")


def test_it_leaves_an_unready_database_to_the_finding_about_it(monkeypatch):
    def refuse(**fields):
        raise OperationalError("no such table")

    monkeypatch.setattr(passports.Worker.objects, "filter", refuse)
    assert examine_passports() == []


def test_it_says_what_a_missing_or_stale_one_costs_and_how_to_get_it(worker):
    here(worker)
    (none,) = examine_passports()
    assert (none.state, none.name) == (State.MISSING, "noise passport of cuda:0")
    assert none.found == "no noise passport yet"
    assert "own baseline" in none.costs
    assert "device passport" in none.remedy
    test_workers.passport(worker, host={"driver": "old"})
    (stale,) = examine_passports()
    assert stale.state is State.MISSING
    assert "is stale: driver was old and is 580.1" in stale.found


def test_it_says_what_a_noisy_one_costs(worker):
    here(worker)
    test_workers.passport(worker, lengths=[{**test_workers.LENGTH, "sigma": 0.3}])
    (noisy,) = examine_passports()
    assert noisy.state is State.MISSING
    assert "is noisy: for kernels of about 34.3 µs the noise floor is 60 %" in noisy.found
    assert "no smaller gain is accepted" in noisy.costs


def test_it_tells_the_floors_of_a_good_one_once_for_each_device(worker):
    here(worker)
    here(worker, "another worker of the same device")
    test_workers.passport(worker)
    (good,) = examine_passports()
    assert good.state is State.OK
    assert good.found.endswith("holds: 34.3 µs: 1.4 %, 1.20 ms: 1 %")
