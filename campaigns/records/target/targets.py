"""A campaign's target, as set_target stored it."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from campaigns.models import Campaign
from campaigns.records.campaigns import target_fraction
from campaigns.rules.target.ceilings import CampaignTarget
from campaigns.rules.target.roofline import share_of_floor
from campaigns.rules.verdict.chained import Times


def target_of(campaign: Campaign) -> CampaignTarget:
    """Read `campaign.target`; one without cases before step 0. Raises msgspec.ValidationError."""
    if not campaign.target:
        return CampaignTarget(fraction=target_fraction(campaign))
    found = msgspec.convert(campaign.target, CampaignTarget)
    cases = {name: replace(case, case=name) for name, case in found.cases.items()}
    return replace(found, cases=cases)


def share_of(times_us: Times, target: CampaignTarget) -> float | None:
    """The share of the floor reached over all cases; None where a time or a floor is unknown."""
    pairs = [
        (floor, time)
        for case, time in times_us.items()
        if (known := target.cases.get(case)) and (floor := known.floor_us)
    ]
    return share_of_floor(pairs) if pairs and len(pairs) == len(times_us) else None
