"""The stagnation review: what failed, and at least three other directions (R48)."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict

from django.db import transaction

from campaigns.models import Campaign, CampaignState, Review
from campaigns.models.event import record
from campaigns.models.transitions import move
from campaigns.proposers.search.catalogue import category_of, untried
from campaigns.proposers.situation import situation_of
from campaigns.records.round.decisions import streak_of, verdicts_of
from campaigns.records.round.hypotheses import tried_in
from campaigns.rules.stop.ladder import directions
from campaigns.workers.notify import AGAIN, NOTHING, Next
from knowledge.experience.catalogue.names import Place
from knowledge.experience.catalogue.store import stored_catalogue


def review(campaign: Campaign) -> Next:
    """Store the review, and gather the evidence anew; the proposer is shown its directions."""
    streak = streak_of(verdicts_of(campaign))
    strategies, platform = stored_catalogue(), campaign.platform
    tried = [idea.strategy for v in streak if (idea := tried_in(v.round))]
    recent = {category_of(name, strategies) for name in tried}
    place = Place(platform.slug, platform.target, platform.vendor)
    ways = untried(situation_of(campaign), strategies, place)
    found = directions(ways, {one.value for one in recent if one})
    with transaction.atomic():
        if not move(campaign, CampaignState.PROFILE):
            return NOTHING
        Review.objects.create(
            campaign=campaign,
            after=campaign.rounds.count(),
            streak=len(streak),
            failures=dict(Counter(v.reason for v in streak)),
            directions=[asdict(way) for way in found.ways],
            note=found.note,
        )
        named = "; ".join(way.named for way in found.ways) or "none"
        note = f" ({found.note})" if found.note else ""
        record(campaign, "reviewed", f"directions not tried yet: {named}{note}")
    return AGAIN
