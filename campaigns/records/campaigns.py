"""The stored JSON of a campaign as typed values."""

from __future__ import annotations

import msgspec

from campaigns.models import Campaign
from campaigns.rules.stop.policy import StopPolicy


def stop_policy_of(campaign: Campaign) -> StopPolicy:
    """The limits that a confirmation froze. Raises msgspec.ValidationError for wrong types."""
    return msgspec.convert(campaign.stop_policy, StopPolicy)
