"""Which campaigns rest on a value, and what their targets would be with another one.

`knowledge.lookup.usage` asks this about every page of values; it is registered when the app loads.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from django.urls import reverse

from campaigns.models import Campaign
from campaigns.records.target_drift import (
    ROLES,
    Key,
    case_moves,
    key_of,
    key_of_citation,
    target_words,
)
from campaigns.rules.target.roofline import choose_ceiling
from knowledge.lookup.usage import Replacement, SpecUse
from knowledge.lookup.value import cited
from knowledge.models import Citation, Spec
from knowledge.specs.cited import UNKNOWN, Cited, cited_in

Found = tuple[Campaign, str, Cited]  # a campaign, the role in its target, the value as pinned


def uses_in_campaigns(swaps: Sequence[Replacement]) -> list[list[SpecUse]]:
    """For each swap the campaigns whose target cites its value, newest first; two queries."""
    keys = _keys([swap.spec for swap in swaps])
    pinned: dict[Key, list[Found]] = defaultdict(list)
    platforms = {swap.spec.platform_id for swap in swaps}
    rows = Campaign.objects.filter(platform__in=platforms).exclude(target={}).order_by("-pk")
    for campaign in rows.only("pk", "title", "platform_id", "target"):
        for role in ROLES:
            for found in cited_in(campaign.target, role):
                if (key := key_of(campaign.platform_id, found)) is not None:
                    pinned[key].append((campaign, role, found))
    return [
        [_use(found, swap) for key in sorted(keys[swap.spec.pk]) for found in pinned.get(key, ())]
        for swap in swaps
    ]


def _keys(specs: Sequence[Spec]) -> dict[int, set[Key]]:
    """Every place that each spec was ever cited from: a campaign holds the one of its time."""
    by_spec = {spec.pk: spec for spec in specs}
    found: dict[int, set[Key]] = defaultdict(set)
    cited_places = Citation.objects.filter(spec__in=by_spec).select_related("revision__document")
    for citation in cited_places.defer("revision__text"):
        found[citation.spec_id].add(key_of_citation(by_spec[citation.spec_id], citation))
    return found


def _use(found: Found, swap: Replacement) -> SpecUse:
    campaign, role, pinned = found
    target: Mapping[str, Any] = campaign.target
    now = target_words([case.get("target_us") for case in target["cases"].values()])
    would_be, reason = _would_be(target, role, pinned, swap.replacement)
    return SpecUse(
        title=campaign.title,
        url=reverse("campaign", args=[campaign.pk]),
        purpose=_purpose(target, role, pinned),
        target=now,
        would_be=would_be,
        reason=reason,
    )


def _would_be(
    target: Mapping[str, Any], role: str, pinned: Cited, replacement: Spec | None
) -> tuple[str, str]:
    """The target with the replacement, and why there is none."""
    if replacement is None:
        return "", ""
    if replacement.value is None or replacement.citation is None:
        return "", f"{replacement.shown} is no number with a citation"
    moves = case_moves(target, {pinned: cited(replacement)})
    words = target_words([move.target_would_us for move in moves])
    return ("", "another ceiling of this target is unknown") if words == UNKNOWN else (words, "")


def _purpose(target: Mapping[str, Any], role: str, pinned: Cited) -> str:
    if role == "busy_share":
        return "slack of the physical floor"
    if choose_ceiling(cited_in(target, role)) == pinned:
        return f"{role} of the roof"
    return f"{role} limit of the physical floor"
