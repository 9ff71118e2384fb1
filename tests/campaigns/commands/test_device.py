"""`device list`: devices, who holds them, and workers with the age of their heartbeat."""

import json
import platform
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.utils import timezone

from campaigns.devices import amd, idle
from campaigns.devices.discover import devices, ensure_platform, watched
from campaigns.devices.hold import hold
from campaigns.devices.host_health import examine_devices
from campaigns.models import Worker
from campaigns.rules.noise.device_gate import UNKNOWN_ACTIVITY, Activity, DeviceCheck, DeviceState
from tests.campaigns.steps import cast

COMMAND = "campaigns.management.commands.device"


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
    assert "no workers yet" in said.err


def test_it_names_platform_and_holder(db, cpu, capsys):
    known = ensure_platform(cpu)
    with hold(cpu):
        row = _listed(capsys)["devices"][-1]
    assert row["platform"] == known.slug
    assert row["holder"].startswith("process ")


@pytest.mark.parametrize(
    ("found", "line"),
    [
        (
            DeviceCheck(
                DeviceState.IDLE, "at most 3 % busy in one sample", Activity((), 3.0, None)
            ),
            "idle, at most",
        ),
        (DeviceCheck(DeviceState.BUSY, "97 % busy", Activity((), 97.0, None)), "busy, 97 % busy"),
        (
            DeviceCheck(DeviceState.UNKNOWN, "this host does not tell", UNKNOWN_ACTIVITY),
            "unknown, this host",
        ),
    ],
)
def test_it_says_whether_a_device_is_idle_and_why(db, cpu, capsys, monkeypatch, found, line):
    monkeypatch.setattr(f"{COMMAND}.look_at_all", lambda devices: [found] * len(devices))
    row = _listed(capsys)["devices"][-1]
    assert (row["gate"], row["why"], row["waited_for"]) == (found.gate.value, found.why, False)
    assert row["busy_percent"] == found.newest.busy_percent
    call_command("device", "list")
    assert line in capsys.readouterr().out


@pytest.mark.parametrize(
    ("below", "why"),
    [
        ({7, 8, 9}, "worker measure@box keeps processes ready on it, for at most a minute"),
        ({7}, "processes 7, 8 compute"),
    ],
)
def test_it_does_not_take_a_crew_of_ours_for_others(db, cpu, capsys, monkeypatch, below, why):
    now = timezone.now()
    Worker.objects.create(
        name="measure@box",
        host=platform.node(),
        pid=6,
        device="cpu",
        platform=ensure_platform(cpu),
        started_at=now,
        heartbeat_at=now,
    )
    found = DeviceCheck(DeviceState.BUSY, "processes 7, 8 compute", Activity((7, 8), 0.0, 1))
    monkeypatch.setattr(f"{COMMAND}.look_at_all", lambda devices: [found] * len(devices))
    monkeypatch.setattr(
        f"{COMMAND}.with_descendants", lambda pid: [pid, *(below if pid == 6 else ())]
    )
    row = _listed(capsys)["devices"][-1]
    assert (row["gate"], row["why"]) == ("busy", why)


def test_it_calls_a_held_device_busy(db, cpu, capsys):
    with hold(cpu):
        row = _listed(capsys)["devices"][-1]
    assert row["gate"] == "busy"
    assert row["why"].startswith("held by process ")


def test_it_tells_which_campaigns_wait_for_a_worker(db, tmp_path, monkeypatch, capsys):
    cast.set_the_scene(monkeypatch)
    campaign, worker = cast.waiting_campaign(tmp_path)
    (row,) = _listed(capsys)["workers"]
    (wait,) = row["waits"]
    assert (wait["campaign"], wait["why"]) == (campaign.pk, "process 4711 computes on it")
    assert wait["since"] < wait["look_at"] < wait["pause_at"]
    call_command("device", "list")
    assert f"; campaign {campaign.pk} waits for it" in capsys.readouterr().out
    call_command("campaign", "show", str(campaign.pk), "--json")
    assert json.loads(capsys.readouterr().out)["wait"]["worker"] == worker.name
    call_command("campaign", "show", str(campaign.pk))
    assert "waits for cpu of tester: process 4711 computes on it" in capsys.readouterr().out


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


def test_r8_it_lists_an_amd_card_with_who_uses_it_and_that_none_measures_on_it(
    db, capsys, monkeypatch
):
    found = amd.AmdCard(0, "0000:0c:00.0", "c0ff", "AMD Instinct MI300X", "gfx942", 1 << 37)
    monkeypatch.setattr(amd, "cards", lambda: [found])
    monkeypatch.setattr(amd, "look", lambda bus: Activity((4711,), 97.0, 1 << 30))
    monkeypatch.setattr(idle, "EVERY_S", 0.0)
    (row,) = (row for row in _listed(capsys)["devices"] if row["device"] == "amd:0")
    assert (row["gate"], row["other_processes"], row["measured_on"]) == ("busy", [4711], False)
    call_command("device", "list")
    line = next(s for s in capsys.readouterr().out.splitlines() if s.startswith("amd:0"))
    assert "AMD Instinct MI300X" in line
    assert line.endswith("no backend measures on it yet")
    assert "amd:0" in {
        one.name.removeprefix("device ") for one in examine_devices(devices(), watched())
    }
