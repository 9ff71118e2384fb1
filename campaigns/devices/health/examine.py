"""What `doctor` checks on a host, in the order in which it is shown."""

from __future__ import annotations

from campaigns.devices.discover import devices
from campaigns.devices.health.finding import HealthFinding
from campaigns.devices.health.permissions import examine_permissions
from campaigns.devices.health.sandbox import examine_sandbox
from campaigns.devices.health.sanitizers import examine_sanitizers
from campaigns.devices.health.services import examine_services
from campaigns.devices.health.tools import examine_tools


def examine() -> list[HealthFinding]:
    """Check this host; changes nothing and takes a few seconds."""
    found = devices()
    has_gpu = any(device.kind == "gpu" for device in found)
    tools = examine_tools(has_gpu=has_gpu)
    return [
        *tools,
        *examine_services(found),
        *examine_permissions(found),
        *examine_sandbox(found),
        *examine_sanitizers(has_gpu=has_gpu),
    ]
