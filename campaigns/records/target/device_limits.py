"""What a chip limits a kernel to, from approved values; the unknown limits nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from campaigns.evaluator.contract import Source
from campaigns.models import Campaign
from campaigns.profiles.amd import Card
from campaigns.profiles.occupancy import SmLimits
from campaigns.records.target.ceilings import ceilings_of
from campaigns.spaces.constraints import DeviceLimits
from campaigns.spaces.find import ELEMENT_BYTES, space_of
from campaigns.spaces.matmul_model import MatmulDevice, MatmulShape, MatmulTask
from campaigns.spaces.space import Space
from knowledge.lookup.value import bandwidth_ceilings, cited_by_metric, cited_or_none, unit_count
from knowledge.models import Platform
from knowledge.specs.cited import Cited

METRICS = {
    "shared_bytes_per_block": "max_smem_per_block",
    "registers_per_block": "registers_per_sm",
    "registers_per_thread": "max_registers_per_thread",
    "threads_per_block": "max_threads_per_block",
    "threads_per_multiprocessor": "max_threads_per_sm",
    "threads_per_warp": "warp_size",
}
# Of one SM; a compute unit of AMD's has its own names for the same.
SM_METRICS = {
    "warps": "max_warps_per_sm",
    "blocks": "max_blocks_per_sm",
    "registers": "registers_per_sm",
    "shared_bytes": "max_smem_per_sm",
    "threads_per_warp": "warp_size",
    "partitions": "sub_partitions_per_sm",
    "register_unit": "register_allocation_unit",
    "shared_unit": "smem_allocation_unit",
    "shared_reserved": "smem_reserved_per_block",
}
CU_METRICS = {
    "warps": "max_waves_per_cu",
    "blocks": "max_workgroups_per_cu",
    "registers": "vgpr_file_per_cu",
    "shared_bytes": "lds_per_cu",
    "threads_per_warp": "wavefront_size",
    "partitions": "simds_per_cu",
    "register_unit": "vgpr_allocation_unit",
    "shared_unit": "lds_allocation_unit",
}
REGISTER_BYTES = 4


@dataclass(frozen=True, slots=True)
class CitedLimits:
    """What one SM, or one compute unit, of a platform holds. unknown: metrics without a value."""

    platform: Platform
    holds: SmLimits
    cited: tuple[Cited, ...]
    unknown: tuple[str, ...]


def cited_limits(platform: Platform) -> CitedLimits:
    """What one SM, or one compute unit, holds, with the lines of the wiki that say so."""
    metrics = CU_METRICS if _is_amd(platform) else SM_METRICS
    found = cited_by_metric(platform, metrics.values())
    known = {field: found[metric] for field, metric in metrics.items() if metric in found}
    unknown = tuple(metrics[field] for field in metrics if field not in known)
    return CitedLimits(platform, _limits(platform, known), tuple(known.values()), unknown)


def card_of(platform: Platform) -> tuple[Card, tuple[Cited, ...]] | None:
    """What counters do not say of a card of AMD's, with the lines of the wiki that do.

    None of others, and where their number of units or the peak of their memory is not known.
    """
    units, limits = unit_count(platform), cited_limits(platform)
    rates = bandwidth_ceilings(platform)
    peak = next((one for one in rates if one.metric == "memory_bandwidth"), None)
    if not _is_amd(platform) or units is None or peak is None:
        return None
    return Card(int(units.value), peak.value, limits.holds), (units, peak, *limits.cited)


def _is_amd(platform: Platform) -> bool:
    return platform.target.startswith("gfx")


def _limits(platform: Platform, cited: Mapping[str, Cited]) -> SmLimits:
    known: dict[str, Any] = {field: int(one.value) for field, one in cited.items()}
    if _is_amd(platform):
        # AMD's documents count registers in bytes of the file, and in steps of one lane.
        known |= {"registers": known["registers"] // REGISTER_BYTES} if "registers" in known else {}
        lanes, unit = known.get("threads_per_warp"), known.pop("register_unit", None)
        known |= {"register_unit": unit * lanes} if unit and lanes else {}
        known["shared_reserved"] = 0
    return SmLimits(**known)


def device_limits(platform: Platform) -> DeviceLimits:
    """The limits of one chip, in bytes, registers and threads."""
    answers = cited_by_metric(platform, METRICS.values())
    known: dict[str, Any] = {
        field: int(answers[metric].value) for field, metric in METRICS.items() if metric in answers
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


OP, SIDES = "matmul", ("M", "N", "K")


def product_of(campaign: Campaign) -> MatmulTask | None:
    """The largest product of a campaign; None for another operation or an unknown device."""
    ceilings = ceilings_of(campaign)
    shapes = [[row.params.get(side) for side in SIDES] for row in campaign.case_rows]
    known = [tuple(shape) for shape in shapes if all(isinstance(n, int) for n in shape)]
    device = matmul_device(campaign.platform, ceilings.bandwidths, ceilings.computes)
    if campaign.problem.op != OP or not known or device is None:
        return None
    m, n, k = max(known, key=prod)
    return MatmulTask(MatmulShape(m, n, k, ELEMENT_BYTES[campaign.problem.dtype]), device)


def matmul_device(
    platform: Platform, bandwidths: Sequence[Cited], computes: Sequence[Cited]
) -> MatmulDevice | None:
    """What a model of products asks of a chip, with its ceilings, the one that counts first."""
    count = cited_or_none(platform, "sm_count")
    if count is None or not bandwidths or not computes:
        return None
    shared = cited_or_none(platform, "max_smem_per_sm")
    return MatmulDevice(
        multiprocessors=int(count.value),
        bandwidth_bytes_per_s=bandwidths[0].value,
        peak_flops=computes[0].value,
        shared_bytes_per_multiprocessor=int(shared.value) if shared else None,
    )
