"""Devices of the same kind, the most idle first (R8)."""

from __future__ import annotations

from campaigns.devices.discover import Device
from campaigns.devices.hold import holder
from campaigns.devices.idle import look_at_all
from campaigns.models import Worker
from campaigns.rules.noise.device_gate import DeviceCheck
from campaigns.workers.context import card_of


def ranked(candidates: list[Device], worker: str) -> list[tuple[Device, DeviceCheck, bool]]:
    """The most idle first, each with what was seen and whether a worker of kopt uses it."""
    living = Worker.objects.alive().exclude(name=worker).values_list("card", flat=True)
    cards = set(living)
    taken = [card_of(device) in cards or holder(device) is not None for device in candidates]
    rows = list(zip(candidates, look_at_all(candidates), taken, strict=True))
    # The sort is stable: equal devices keep the order of CUDA.
    return sorted(rows, key=lambda row: (row[2], row[1].rank))
