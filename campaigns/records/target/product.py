"""What a model of a matrix product asks about a campaign's, from its cases and cited values."""

from __future__ import annotations

from math import prod

from campaigns.models import Campaign
from campaigns.records.target.ceilings import ceilings_of
from campaigns.spaces.find import ELEMENT_BYTES
from campaigns.spaces.matmul_model import MatmulDevice, MatmulShape, MatmulTask
from knowledge.lookup.value import cited_or_none

OP, SIDES = "matmul", ("M", "N", "K")


def product_of(campaign: Campaign) -> MatmulTask | None:
    """The largest product of a campaign; None for another operation or an unknown device."""
    ceilings = ceilings_of(campaign)
    shapes = [[row.params.get(side) for side in SIDES] for row in campaign.case_rows]
    known = [tuple(shape) for shape in shapes if all(isinstance(n, int) for n in shape)]
    count = cited_or_none(campaign.platform, "sm_count")
    if campaign.problem.op != OP or not known or count is None:
        return None
    if not ceilings.bandwidths or not ceilings.computes:
        return None
    shared = cited_or_none(campaign.platform, "max_smem_per_sm")
    device = MatmulDevice(
        multiprocessors=int(count.value),
        bandwidth_bytes_per_s=ceilings.bandwidths[0].value,
        peak_flops=ceilings.computes[0].value,
        shared_bytes_per_multiprocessor=int(shared.value) if shared else None,
    )
    m, n, k = max(known, key=prod)
    return MatmulTask(MatmulShape(m, n, k, ELEMENT_BYTES[campaign.problem.dtype]), device)
