"""The ceilings of a campaign's platform as cited now, and what is assumed of them."""

from __future__ import annotations

from campaigns.models import (
    Campaign,
    Placeholder,
)
from campaigns.rules.target.ceilings import PLACEHOLDER, Ceilings
from knowledge.lookup.value import bandwidth_ceilings, compute_ceilings
from knowledge.specs.cited import Cited


def ceilings_of(campaign: Campaign) -> Ceilings:
    """What is cited of the campaign's platform now, and what was allowed to be assumed."""
    return Ceilings(
        bandwidths=tuple(bandwidth_ceilings(campaign.platform)),
        computes=tuple(
            compute_ceilings(
                campaign.platform,
                campaign.problem.dtype,
                accumulate=campaign.problem.accumulate,
            )
        ),
        assumed={row.question: _assumed(row) for row in campaign.placeholders.all()},
    )


def _assumed(placeholder: Placeholder) -> Cited:
    """In the form of a ceiling, so that the same arithmetic runs on it; it cites nothing."""
    return Cited(
        metric=placeholder.question,
        value=placeholder.value,
        unit=placeholder.unit,
        evidence=PLACEHOLDER,
        citation="",
        href="",
        display=placeholder.shown,
    )
