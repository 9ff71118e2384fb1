"""Change from a device that other programs use to an idle one of the same kind (R8)."""

from __future__ import annotations

from django.conf import settings

from campaigns.devices.discover import Device, alike
from campaigns.devices.idle import is_gated
from campaigns.records.device_waits import open_waits, waits_on
from campaigns.rules.noise.device_gate import DeviceState
from campaigns.workers.context import card_of
from campaigns.workers.ranking import ranked


def change_device(worker: str, present: Device) -> Device | None:
    """Another device that is idle now, while a campaign waits for the present one; None if none.

    A device is kept as long as it can be: what is known of its noise does not hold for another.
    """
    if settings.KOPT_DEVICE or not is_gated(present):
        return None
    others = [device for device in alike(present) if device.uuid != present.uuid]
    if not others or not waits_on(card_of(present), open_waits()):
        return None
    device, found, is_taken = ranked(others, worker)[0]
    return device if found.gate is not DeviceState.BUSY and not is_taken else None
