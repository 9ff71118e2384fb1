"""Of several devices alike a worker takes the most idle, and pushes nobody aside (R8)."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from campaigns.devices.discover import Device
from campaigns.devices.hold import hold
from campaigns.models import Campaign, CampaignState, Evaluation, Worker
from campaigns.models.worker import Cause
from campaigns.rules.noise.device_gate import UNKNOWN_ACTIVITY, Activity, DeviceCheck, DeviceState
from campaigns.steps import worker
from campaigns.steps.measuring.waits import wait_for_device
from campaigns.steps.worker import change_device, choose_device
from tests.campaigns.steps import cast

CARDS = [
    Device("gpu", f"cuda:{n}", "NVIDIA H200", "nvidia-h200", "sm_90a", 1, f"GPU-{n}")
    for n in range(3)
]
OTHER = replace(CARDS[0], device="cuda:3", name="NVIDIA H100 80GB HBM3", uuid="GPU-h100")
IDLE = DeviceCheck(DeviceState.IDLE, "idle", Activity((), 0.0, 0))
BUSY = DeviceCheck(DeviceState.BUSY, "process 7 computes on it", Activity((7,), 50.0, 0))
BUSIER = DeviceCheck(DeviceState.BUSY, "process 8 computes on it", Activity((8,), 90.0, 0))
HIDDEN = DeviceCheck(DeviceState.UNKNOWN, "this host does not tell", UNKNOWN_ACTIVITY)


@pytest.fixture(autouse=True)
def host(db, monkeypatch, settings):
    """Three H200 and an H100; what is seen of them is in the dictionary, by uuid."""
    settings.KOPT_DEVICE = ""
    seen = {card.uuid: IDLE for card in [*CARDS, OTHER]}
    monkeypatch.setattr("campaigns.devices.discover.devices", lambda: [*CARDS, OTHER, cast.DEVICE])
    monkeypatch.setattr("campaigns.devices.discover.torch_has_cuda", lambda: True)
    monkeypatch.setattr(worker, "look_at_all", lambda found: [seen[d.uuid] for d in found])
    return seen


def other_worker(device, name="other"):
    now = timezone.now()
    return Worker.objects.create(
        name=name,
        host="box",
        pid=7,
        device=device.device,
        card=device.uuid,
        platform=cast.make_platform(),
        started_at=now,
        heartbeat_at=now,
    )


@pytest.mark.parametrize(
    ("seen", "chosen"),
    [
        ([IDLE, IDLE, IDLE], "cuda:0"),
        ([BUSY, IDLE, IDLE], "cuda:1"),
        ([BUSY, HIDDEN, BUSIER], "cuda:1"),
        ([HIDDEN, BUSY, IDLE], "cuda:2"),
        ([BUSIER, BUSY, BUSIER], "cuda:1"),
    ],
)
def test_r8_it_takes_the_most_idle(host, seen, chosen):
    host |= {card.uuid: found for card, found in zip(CARDS, seen, strict=True)}
    assert choose_device("mine").device == chosen


def test_it_takes_no_device_of_another_model_than_the_first(host):
    host |= {card.uuid: BUSY for card in CARDS}
    assert choose_device("mine").name == "NVIDIA H200"


def test_it_takes_what_it_is_told_without_a_look(host, settings, monkeypatch):
    settings.KOPT_DEVICE = "cuda:1"
    monkeypatch.setattr(worker, "look_at_all", None)
    assert choose_device("mine").device == "cuda:1"
    settings.KOPT_DEVICE = "cpu"
    assert choose_device("mine") == cast.DEVICE


def test_it_leaves_another_workers_device_to_it(host):
    other_worker(CARDS[0])
    assert choose_device("mine").device == "cuda:1"
    # Its own row of before the start is not another's.
    assert choose_device("other").device == "cuda:0"
    long_ago = timezone.now() - timedelta(hours=1)
    Worker.objects.update(heartbeat_at=long_ago)
    assert choose_device("mine").device == "cuda:0"


def test_it_leaves_a_held_device_alone(host):
    with hold(CARDS[0]):
        assert choose_device("mine").device == "cuda:1"


def test_it_takes_a_busy_device_before_one_that_a_worker_has(host):
    for number, card in enumerate(CARDS[:2]):
        other_worker(card, f"other {number}")
    host[CARDS[2].uuid] = BUSY
    assert choose_device("mine").device == "cuda:2"


@pytest.fixture
def waiting(tmp_path, monkeypatch) -> Campaign:
    """A campaign that waits for the first card."""
    cast.set_the_scene(monkeypatch)
    made = cast.make_campaign(tmp_path)
    cast.step_until(made, CampaignState.BASELINE)
    queued = Evaluation.objects.get(candidate__round__campaign=made)
    mine = other_worker(CARDS[0], "mine")
    wait_for_device(queued, mine, Cause.BUSY, "process 7 computes on it")
    return made


def test_it_goes_elsewhere_when_others_use_its_device(host, waiting):
    host[CARDS[1].uuid] = BUSY
    assert change_device("mine", CARDS[0]).device == "cuda:2"


def test_it_stays_while_nothing_waits_for_its_device(host, waiting):
    assert change_device("mine", CARDS[1]) is None


def test_it_stays_where_no_other_is_idle_and_nobodys(host, waiting):
    other_worker(CARDS[1])
    host[CARDS[2].uuid] = BUSY
    assert change_device("mine", CARDS[0]) is None


def test_it_stays_where_it_was_told_to(host, waiting, settings):
    settings.KOPT_DEVICE = "cuda:0"
    assert change_device("mine", CARDS[0]) is None
    settings.KOPT_DEVICE = ""
    settings.KOPT_GATE = "OFF"
    assert change_device("mine", CARDS[0]) is None


def test_there_is_nowhere_else_for_a_cpu(host, settings):
    settings.KOPT_GATE = "ALL"
    assert change_device("mine", cast.DEVICE) is None
