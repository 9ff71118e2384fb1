"""`device list`: devices, who holds them, and workers with the age of their heartbeat."""

import json
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.utils import timezone

from campaigns.devices.discover import devices, ensure_platform
from campaigns.devices.hold import hold
from campaigns.models import Worker


@pytest.fixture
def cpu():
    return devices()[-1]


def _listed(capsys):
    call_command("device", "list", "--json")
    return json.loads(capsys.readouterr().out)


def test_it_lists_a_device_that_the_wiki_does_not_know_yet(db, cpu, capsys):
    row = _listed(capsys)["devices"][-1]
    assert (row["device"], row["platform"], row["holder"]) == ("cpu", None, None)
    call_command("device", "list")
    said = capsys.readouterr()
    assert "platform not in the wiki yet" in said.out
    assert "no worker has ever reported" in said.err


def test_it_names_platform_and_holder(db, cpu, capsys):
    platform = ensure_platform(cpu)
    with hold(cpu):
        row = _listed(capsys)["devices"][-1]
    assert row["platform"] == platform.slug
    assert row["holder"].startswith("process ")


def test_it_tells_how_old_a_workers_heartbeat_is(db, cpu, capsys):
    now = timezone.now()
    Worker.objects.create(
        name="box-cpu",
        host="box",
        pid=7,
        device="cpu",
        platform=ensure_platform(cpu),
        started_at=now,
        heartbeat_at=now - timedelta(seconds=90),
    )
    (row,) = _listed(capsys)["workers"]
    assert row["worker"] == "box-cpu"
    assert 90 <= row["heartbeat_age_s"] < 120
