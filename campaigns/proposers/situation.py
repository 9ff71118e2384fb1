"""Between rows and a proposer: the situation it is asked about (R27), its drafts as rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from campaigns.evaluator.contract import Source
from campaigns.models import Campaign, Review, Submission, Verdict
from campaigns.proposers.base import Attempt, Draft, Hypothesis, Pointed, Situation, Variant
from campaigns.proposers.evidence import FINDING, Facts, read_facts
from campaigns.records.cases import classes_by_case
from campaigns.records.explained.advice import advice_record
from campaigns.records.rounds import evidence_of, tried_in
from campaigns.records.stop_history import masked_rounds
from campaigns.records.submissions import waiting_in
from campaigns.records.target.device_limits import device_limits, product_of
from campaigns.rules.verdict.decision import UNJUDGED, Reason, VerdictWord
from campaigns.spaces.find import ELEMENT_BYTES
from campaigns.syntax.language import has_kernel
from knowledge.experience.catalogue.applies import UNDECIDED, is_for
from knowledge.models import Strategy


def situation_of(campaign: Campaign) -> Situation:
    """The input of a proposer, with the stored evidence about the incumbent (R27)."""
    incumbent = campaign.incumbent
    if incumbent is None:
        raise ValueError(f"{campaign}: has no incumbent to start from")
    evidence, review = evidence_of(campaign), Review.objects.filter(campaign=campaign).last()
    # What the last stagnation review named counts until something is accepted (R48).
    named = review.directions if review and incumbent.round.number <= review.after else ()
    facts = read_facts(evidence.facts if evidence else {})
    return Situation(
        problem=campaign.problem.slug,
        op=campaign.problem.op,
        backend=campaign.backend,
        source=incumbent.source,
        incumbent_round=incumbent.round.number,
        device_kind=campaign.platform.kind,
        history=_history(campaign),
        evidence=evidence.facts if evidence else {},
        pointed=_pointed(facts),
        suited=_suited(facts, campaign.backend),
        seed=campaign.seed + campaign.rounds.count(),
        classes=tuple(filter(None, dict.fromkeys(classes_by_case(campaign.case_rows).values()))),
        directions=tuple(way["strategy"] for way in named),
        limits=device_limits(campaign.platform),
        element_bytes=ELEMENT_BYTES[campaign.problem.dtype],
        product=product_of(campaign),
        has_kernel=has_kernel(incumbent.source, campaign.backend),
    )


def facts_about(campaign: Campaign) -> dict[str, str]:
    """Name → what was measured of the present incumbent, in words; a hypothesis rests on it (R27).

    Its cases first, then what limits it, findings and metrics of its profile, and targets that its
    machine code misses. Empty without an incumbent, and while its facts are gathered.
    """
    evidence = evidence_of(campaign) if campaign.incumbent_id else None
    if evidence is None:
        return {}
    facts = read_facts(evidence.facts)
    return {case.case: case.sentence() for case in facts.cases} | facts.seen


def _pointed(facts: Facts) -> tuple[Pointed, ...]:
    """What was seen, by every name of the strategies against it."""
    pointers = facts.pointers
    if not pointers:
        return ()
    wanted = {slug for one in pointers.values() for slug in one.strategies}
    rows = Strategy.objects.filter(slug__in=wanted)
    names = {row.slug: row.names for row in rows}
    seen, trust = facts.seen, advice_record(one.name for one in pointers.values())
    return tuple(
        Pointed(
            cites=cites,
            words=seen[cites],
            names=frozenset(name for slug in one.strategies for name in names.get(slug, (slug,))),
            trust=trust.get(one.name) if cites.startswith(FINDING) else None,
        )
        for cites, one in pointers.items()
    )


def _suited(facts: Facts, backend: str) -> frozenset[str]:
    """Every name of the strategies that are for what limits the incumbent, where that was counted.

    A class that says nothing suits none more than another.
    """
    limits = facts.profile.limits if facts.profile else ()
    told = [limit for limit in limits if limit not in UNDECIDED]
    if not told:
        return frozenset()
    rows = Strategy.objects.filter(backend__in=("", backend)).exclude(limits=[])
    return frozenset(
        name
        for row in rows
        if any(is_for(row.limits, limit) for limit in told)
        for name in row.names
    )


def _history(campaign: Campaign) -> tuple[Attempt, ...]:
    """The attempts that are not masked (R40); a round on a broken host is not one (law 8).

    What waits to be tried counts, so that no idea is proposed while its measurement is to come.
    """
    hidden = masked_rounds(campaign)
    rows = Verdict.objects.filter(round__campaign=campaign).exclude(round__number__in=hidden)
    verdicts = rows.exclude(reason__in=UNJUDGED)
    tried = verdicts.exclude(reason=Reason.BASELINE).select_related("round").order_by("round")
    waiting = (tried_in(one) for one in waiting_in(campaign))
    awaited = (
        Attempt(one.strategy, one.params, VerdictWord.RUNNING, None, 0) for one in waiting if one
    )
    judged = (
        Attempt(
            strategy=idea.strategy,
            params=idea.params,
            verdict=verdict.word,
            gain=None if verdict.gain is None else 1 + verdict.gain,
            round=verdict.round.number,
        )
        for verdict in tried
        if (idea := tried_in(verdict.round))
    )
    return (*judged, *awaited)


def stored_draft(variants: Iterable[Variant]) -> list[dict[str, Any]]:
    """A round's draft as its row keeps it."""
    return [
        {
            "label": variant.label,
            "name": variant.source.name,
            "text": variant.source.text,
            "flags": list(variant.source.flags),
            "params": dict(variant.params),
        }
        for variant in variants
    ]


def drafted_in(stored: Iterable[dict[str, Any]]) -> list[Variant]:
    """The sources of a stored draft."""
    return [
        Variant(one["label"], Source(one["name"], one["text"], tuple(one["flags"])), one["params"])
        for one in stored
    ]


def draft_of(submission: Submission) -> Draft:
    """The round of a candidate that was handed in."""
    hypothesis = msgspec.convert(submission.hypothesis, Hypothesis)
    return Draft(hypothesis, (Variant(f"handed in by {submission.name}", submission.source),))
