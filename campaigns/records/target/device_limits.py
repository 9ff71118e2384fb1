"""What a chip limits a kernel to, from approved values; the unknown limits nothing."""

from __future__ import annotations

from typing import Any

from campaigns.evaluator.contract import Source
from campaigns.models import Campaign
from campaigns.spaces.constraints import DeviceLimits
from campaigns.spaces.find import ELEMENT_BYTES, space_of
from campaigns.spaces.space import Space
from knowledge.lookup.value import cited_or_none
from knowledge.models import Platform

METRICS = {
    "shared_bytes_per_block": "max_smem_per_block",
    "registers_per_block": "registers_per_sm",
    "registers_per_thread": "max_registers_per_thread",
    "threads_per_block": "max_threads_per_block",
    "threads_per_multiprocessor": "max_threads_per_sm",
    "threads_per_warp": "warp_size",
}


def device_limits(platform: Platform) -> DeviceLimits:
    """The limits of one chip, in bytes, registers and threads."""
    found = {field: cited_or_none(platform, metric) for field, metric in METRICS.items()}
    known: dict[str, Any] = {
        field: int(cited.value) for field, cited in found.items() if cited is not None
    }
    return DeviceLimits(**known)


def campaign_space(campaign: Campaign, source: Source) -> Space:
    """The space of a source that a campaign searches."""
    return space_of(
        source,
        campaign.backend,
        device_limits(campaign.platform),
        element_bytes=ELEMENT_BYTES[campaign.problem.dtype],
    )
