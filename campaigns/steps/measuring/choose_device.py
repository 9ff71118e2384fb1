"""Which of several devices alike a worker takes that was not told one: the most idle (R8).

Nobody is pushed aside: what another worker of ours has or another process holds comes last, and a
worker leaves its device only when that one is in use and another is idle.
"""

from __future__ import annotations

from django.conf import settings

from campaigns.devices.discover import Device, alike, this_device
from campaigns.devices.hold import holder
from campaigns.devices.idle import is_gated, look_at_all
from campaigns.models import Worker
from campaigns.records.device_waits import open_waits, waits_on
from campaigns.rules.noise.device_gate import Found, Gate
from campaigns.workers.context import card_of


def choose_device(worker: str) -> Device:
    """The device for the worker of this name, which has none yet."""
    first = this_device()
    candidates = [first] if settings.KOPT_DEVICE else alike(first)
    if len(candidates) == 1:
        return first
    return _ranked(candidates, worker)[0][0]


def elsewhere(worker: str, present: Device) -> Device | None:
    """Another device that is idle now, while a campaign waits for the present one; None if none.

    A device is kept as long as it can be: what is known of its noise does not hold for another.
    """
    if settings.KOPT_DEVICE or not is_gated(present):
        return None
    others = [device for device in alike(present) if device.uuid != present.uuid]
    if not others or not waits_on(card_of(present), open_waits()):
        return None
    device, found, is_taken = _ranked(others, worker)[0]
    return device if found.gate is not Gate.BUSY and not is_taken else None


def _ranked(candidates: list[Device], worker: str) -> list[tuple[Device, Found, bool]]:
    """The most idle first, each with what was seen and whether somebody of ours has it."""
    living = Worker.objects.alive().exclude(name=worker).values_list("card", flat=True)
    cards = set(living)
    taken = [card_of(device) in cards or holder(device) is not None for device in candidates]
    rows = list(zip(candidates, look_at_all(candidates), taken, strict=True))
    # Equal ones keep their order, which is CUDA's.
    return sorted(rows, key=lambda row: (row[2], row[1].rank))
