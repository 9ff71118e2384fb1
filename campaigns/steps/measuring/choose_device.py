"""Which of several devices alike a worker takes that was not told one: the most idle (R8).

Nobody is pushed aside: what another worker of ours has or another process holds comes last, and a
worker leaves its device only when that one is in use and another is idle.
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
