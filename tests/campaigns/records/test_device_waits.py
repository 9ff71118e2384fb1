"""Waits for a device of before they were rows."""

from importlib import import_module

import pytest
from django.apps import apps

from campaigns.models import DeviceWait
from campaigns.models.event import record
from campaigns.records.device_waits import wait_of
from tests.campaigns.steps import cast

pytestmark = pytest.mark.storage

LOOK = {
    "since": "2026-11-22T09:00:00+00:00",
    "cause": "busy",
    "why": "process 4711 computes on it",
    "device": "cpu",
    "worker": "tester",
    "card": "a card",
    "waited_s": 600.0,
    "look_at": "2026-11-22T09:20:00+00:00",
    "pause_at": "2026-11-22T10:00:00+00:00",
    "looks": {"a card": "2026-11-22T09:20:00+00:00"},
}


@pytest.mark.parametrize(
    ("then", "lasts"), [("round_opened", True), ("device_idle", False), ("resumed", False)]
)
def test_it_takes_over_a_wait_that_lasts_and_no_other(db, tmp_path, monkeypatch, then, lasts):
    cast.set_the_scene(monkeypatch)
    campaign = cast.make_campaign(tmp_path)
    record(campaign, "device_busy", "waits", evaluation=1, **LOOK)
    looked = record(campaign, "device_busy", "waits", evaluation=1, **LOOK)
    record(campaign, then, then)
    import_module("campaigns.migrations.0019_device_waits").take_over(apps, None)
    assert DeviceWait.objects.count() == lasts
    if lasts:
        wait = wait_of(campaign)
        assert wait.facts == LOOK
        assert (wait.looked_at, wait.is_over) == (looked.at, False)
