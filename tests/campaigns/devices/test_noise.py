"""The noise passports that doctor shows."""

import platform

from django.db import OperationalError
from django.utils import timezone

from campaigns.devices.discover import devices, ensure_platform
from campaigns.devices.health import noise
from campaigns.devices.health.finding import State
from campaigns.models import Worker

PASSPORT = {"sigma": 0.0125, "pairs": 30, "at": "2026-05-04T03:02:01+00:00"}


def _worker(name, host, **passports):
    now = timezone.now()
    Worker.objects.create(
        name=name,
        host=host,
        pid=7,
        device="cpu",
        platform=ensure_platform(devices()[-1]),
        noise=passports,
        started_at=now,
        heartbeat_at=now,
    )


def test_it_shows_what_each_worker_of_this_host_can_tell(db):
    _worker("here", platform.node(), cpp=PASSPORT)
    _worker("elsewhere", "another-host", cpp=PASSPORT)
    (found,) = noise.examine_noise()
    assert (found.name, found.state) == ("noise of here, cpp", State.NOTE)
    assert found.found == (
        "σ 1.25%, so changes from 2.5% can be told; 30 pairs, 2026-05-04T03:02:01+00:00"
    )


def test_it_says_so_when_no_worker_has_measured_its_noise(db):
    _worker("new", platform.node())
    (found,) = noise.examine_noise()
    assert found.name == "noise"
    assert found.found.startswith("none recorded yet; the baseline")


def test_it_leaves_an_unready_database_to_the_finding_about_it(monkeypatch):
    def refuse(**fields):
        raise OperationalError("no such table")

    monkeypatch.setattr(noise.Worker.objects, "filter", refuse)
    assert [one.name for one in noise.examine_noise()] == ["noise"]
