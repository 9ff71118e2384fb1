"""The ceilings of a campaign's platform as cited now: known, assumed and missing."""

from __future__ import annotations

from dataclasses import dataclass

from campaigns.models import Campaign, Placeholder
from campaigns.rules.target.ceilings import PLACEHOLDER, Ceilings
from knowledge.lookup.value import (
    MATMUL,
    UNITS,
    StaleAnswer,
    bandwidth_ceilings,
    compute_ceilings,
    find,
    how_to_obtain,
    peak_question,
)
from knowledge.models import Platform, Spec
from knowledge.specs.cited import UNKNOWN, Cited
from knowledge.specs.facts import UNKNOWN_VALUE, Rank


def ceilings_of(campaign: Campaign) -> Ceilings:
    """What is cited of the campaign's platform now, and what was allowed to be assumed."""
    return Ceilings(
        bandwidths=tuple(bandwidth_ceilings(campaign.platform)),
        computes=tuple(
            compute_ceilings(
                campaign.platform, campaign.problem.dtype, accumulate=campaign.problem.accumulate
            )
        ),
        assumed={
            row.question: _assumed(row) for row in Placeholder.objects.filter(campaign=campaign.pk)
        },
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


Question = tuple[str, dict[str, str]]  # metric and qualifiers


@dataclass(frozen=True, slots=True)
class MissingSpec:
    """One missing ceiling. question: "bandwidth" or "compute"."""

    question: str
    message: str
    how_to_obtain: str


def unknown_target(campaign: Campaign) -> str:
    """Why the campaign cannot have a target, in one line; "" where it can (laws 1 and 6).

    Whatever the goal, the floor and the roofline need both ceilings: cited, or assumed by a person.
    """
    ceilings = ceilings_of(campaign)
    if ceilings.state != UNKNOWN:
        return ""
    gaps = [missing_spec_of(campaign, q) for q in ceilings.missing if q not in ceilings.used]
    told = " ".join(f"{gap.message} How to obtain it: {gap.how_to_obtain}." for gap in gaps)
    return f"platform: {told}"


def missing_spec_of(campaign: Campaign, question: str) -> MissingSpec:
    """Name the values of the platform that lack approval, and what to do about each."""
    stale = _stale(campaign, question)
    if stale is not None:
        message = (
            f"{question}: {UNKNOWN_VALUE}: the citation of {stale.spec.metric} of "
            f"{campaign.platform.slug} no longer holds; there is no target."
        )
        return MissingSpec(question, message, str(stale))
    asked = _bandwidth(campaign) if question == "bandwidth" else _compute(campaign)
    platform = campaign.platform
    names = " or ".join(" ".join([m, *(f"{k}={v}" for k, v in q.items())]) for m, q in asked)
    ways = dict.fromkeys(how_to_obtain(platform, metric, **q) for metric, q in asked)
    message = f"{question}: {UNKNOWN}: no approved {names} of {platform.slug}; there is no target."
    slower = _slower(campaign, asked) if question == "compute" else ""
    return MissingSpec(question, message + slower, "; or ".join(ways))


def _stale(campaign: Campaign, question: str) -> StaleAnswer | None:
    """The answer to one of the question's parts whose citation no longer holds."""
    platform, problem = campaign.platform, campaign.problem
    try:
        if question == "bandwidth":
            bandwidth_ceilings(platform, strict=True)
        else:
            accumulate = problem.accumulate
            compute_ceilings(platform, problem.dtype, accumulate=accumulate, strict=True)
    except StaleAnswer as stale:
        return stale
    return None


def _bandwidth(campaign: Campaign) -> list[Question]:
    """A CPU's bandwidth is measured; no document of ours knows how its memory is built."""
    return [("copy_bandwidth" if campaign.platform.kind == "cpu" else "memory_bandwidth", {})]


def _compute(campaign: Campaign) -> list[Question]:
    """What lacks an answer, up to the unit whose rate the wiki calls UNKNOWN: that one blocks."""
    problem, platform = campaign.problem, campaign.platform
    units = UNITS.get(problem.dtype, ((MATMUL, ""),))
    if platform.kind == "cpu" or problem.dtype not in UNITS:
        return [(rate, {"dtype": problem.dtype}) for rate, _ in units]
    missing: list[Question] = []
    for _, peak in units:
        asked = peak_question(platform, problem.dtype, peak, accumulate=problem.accumulate)
        stored = _stored(platform, peak, asked)
        if stored == UNKNOWN_VALUE:
            return [*missing, (peak, asked)]
        if stored is None:
            missing.append((peak, asked))
    return missing or [(units[0][1], {})]


def _slower(campaign: Campaign, asked: list[Question]) -> str:
    """Peaks of slower units, which are known and bound nothing."""
    names = {metric for metric, _ in asked}
    peaks = [peak for _, peak in UNITS.get(campaign.problem.dtype, ()) if peak not in names]
    found = [spec for peak in peaks if (spec := find(campaign.platform, peak))]
    return "".join(
        f" {spec.metric} {spec.shown} is known, but a faster unit may exceed it." for spec in found
    )


def _stored(platform: Platform, metric: str, asked: dict[str, str]) -> str | None:
    """What the wiki has as the answer: a value, NONE, UNKNOWN, or nothing at all."""
    rows = Spec.objects.approved().filter(platform=platform, metric=metric, qualifiers=asked)
    shown = list(rows.exclude(rank=Rank.DEPRECATED).values_list("shown", flat=True))
    return shown[0] if shown else None
