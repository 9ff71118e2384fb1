"""Choose a device for a worker that has none set: the most idle of its kind (R8).

A device that another worker or process holds comes last. A worker leaves its device only when other
programs use it and another device is idle.
"""

from __future__ import annotations

from django.conf import settings

from campaigns.devices.discover import Device, alike, this_device
from campaigns.workers.ranking import ranked


def choose_device(worker: str) -> Device:
    """The device for the worker of this name, which has none yet."""
    first = this_device()
    candidates = [first] if settings.KOPT_DEVICE else alike(first)
    if len(candidates) == 1:
        return first
    return ranked(candidates, worker)[0][0]
