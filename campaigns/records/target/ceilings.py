"""The ceilings of a campaign's platform as cited now: known, assumed, missing, and weak."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from campaigns.evaluator.contract.ceilings import BUSY_LIMIT
from campaigns.models import Campaign, PitfallKind, Placeholder
from campaigns.rules.target.ceilings import PLACEHOLDER, Ceilings
from campaigns.rules.target.roofline import LEAST_MEASURED, below_peak
from campaigns.rules.wording import share
from knowledge.lookup.usage import measured_elsewhere
from knowledge.lookup.value import (
    MATMUL,
    UNITS,
    StaleAnswer,
    bandwidth_ceilings,
    compute_ceilings,
    find,
    how_to_obtain,
    of_whole_module,
    peak_question,
)
from knowledge.models import Platform, Spec
from knowledge.specs.cited import UNKNOWN, Cited
from knowledge.specs.facts import UNKNOWN_VALUE, Rank, named_values


def ceilings_of(campaign: Campaign) -> Ceilings:
    """What is cited of the campaign's platform now, and what was allowed to be assumed.

    That is in the form of a ceiling, so that the same arithmetic runs on it; it cites nothing.
    """
    platform, problem = campaign.platform, campaign.problem
    computes = compute_ceilings(platform, problem.dtype, accumulate=problem.accumulate)
    assumed = {
        row.question: Cited(
            metric=row.question,
            value=row.value,
            unit=row.unit,
            evidence=PLACEHOLDER,
            citation="",
            href="",
            display=row.shown,
        )
        for row in Placeholder.objects.filter(campaign=campaign.pk)
    }
    return Ceilings(tuple(bandwidth_ceilings(platform)), tuple(computes), assumed)


Question = tuple[str, dict[str, str]]  # metric and qualifiers


@dataclass(frozen=True, slots=True)
class MissingSpec:
    """One missing ceiling. question: "bandwidth" or "compute". shown: in place of its value."""

    question: str
    message: str
    how_to_obtain: str
    shown: str = UNKNOWN


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
    """Name the values that the campaign's target lacks, and what to do about each."""
    problem = campaign.problem
    lacking = "there is no target"
    return missing_spec(campaign.platform, question, problem.dtype, problem.accumulate, lacking)


def missing_spec(
    platform: Platform, question: str, dtype: str, accumulate: str, lacking: str
) -> MissingSpec:
    """Name the values of a platform that lack approval. lacking: what there is not without them."""
    try:
        if question == "bandwidth":
            bandwidth_ceilings(platform, strict=True)
        else:
            compute_ceilings(platform, dtype, accumulate=accumulate, strict=True)
    except StaleAnswer as stale:
        # The citation of one of the question's parts no longer holds.
        message = (
            f"{question}: {UNKNOWN_VALUE}: the citation of {stale.spec.metric} of "
            f"{platform.slug} no longer holds; {lacking}."
        )
        return MissingSpec(question, message, str(stale), stale.shown)
    # A CPU's bandwidth is measured; no document of ours knows how its memory is built.
    asked: list[Question] = [
        ("copy_bandwidth" if platform.kind == "cpu" else "memory_bandwidth", {})
    ]
    slower = ""
    if question == "compute":
        asked = _compute(platform, dtype, accumulate)
        names = {metric for metric, _ in asked}
        peaks = [peak for _, peak in UNITS.get(dtype, ()) if peak not in names]
        # Peaks of slower units, which are known and bound nothing.
        slower = "".join(
            f" {spec.metric} {spec.shown} is known, but a faster unit may exceed it."
            for spec in (find(platform, peak) for peak in peaks)
            if spec
        )
    told = " or ".join(f"{metric} {named_values(q)}".strip() for metric, q in asked)
    ways = dict.fromkeys(how_to_obtain(platform, metric, **q) for metric, q in asked)
    message = f"{question}: {UNKNOWN}: no approved {told} of {platform.slug}; {lacking}."
    return MissingSpec(question, message + slower, "; or ".join(ways))


def _compute(platform: Platform, dtype: str, accumulate: str) -> list[Question]:
    """What lacks an answer, up to the unit whose rate the wiki calls UNKNOWN: that one blocks."""
    units = UNITS.get(dtype, ((MATMUL, ""),))
    if platform.kind == "cpu" or dtype not in UNITS:
        return [(rate, {"dtype": dtype}) for rate, _ in units]
    missing: list[Question] = []
    for _, peak in units:
        asked = peak_question(platform, dtype, peak, accumulate=accumulate)
        # What the wiki has as the answer: a value, NONE, UNKNOWN, or nothing at all.
        rows = Spec.objects.approved().filter(platform=platform, metric=peak, qualifiers=asked)
        shown = list(rows.exclude(rank=Rank.DEPRECATED).values_list("shown", flat=True))
        if shown and shown[0] == UNKNOWN_VALUE:
            return [*missing, (peak, asked)]
        if not shown:
            missing.append((peak, asked))
    return missing or [(units[0][1], {})]


TARGET_SET = "target_set"  # the event that the target and its pitfalls are recorded with
MEASURE = "run `.venv/bin/python manage.py wiki ceilings` on this device"


@dataclass(frozen=True, slots=True)
class TargetWarning:
    """What weakens a target without taking it away: a kind, with the words of its pitfall."""

    kind: PitfallKind
    message: str
    how_to_obtain: str


@dataclass(frozen=True, slots=True)
class Pitfall:
    """One gap or caveat of a campaign's target, as it was recorded with the target.

    kind: mostly of `PitfallKind`; old rows may have others.
    """

    kind: str
    message: str
    how_to_obtain: str
    at: datetime

    def __str__(self) -> str:
        return f"{self.words}: {self.message}"

    @property
    def words(self) -> str:
        """The kind as pages write it."""
        known = {kind.value: str(kind.label) for kind in PitfallKind}
        return known.get(self.kind, self.kind)


def pitfalls_of(campaign: Campaign) -> list[Pitfall]:
    """What was recorded with the campaign's target, in order. One query."""
    recorded = campaign.events.filter(kind=TARGET_SET).order_by("pk").last()
    if recorded is None:
        return []
    return [Pitfall(**found, at=recorded.at) for found in recorded.data.get("pitfalls", ())]


def target_warnings_of(
    platform: Platform, ceilings: Ceilings, busy: Cited | None
) -> Iterator[TargetWarning]:
    """Every caution about the ceilings that a target rests on, and what to do about it."""
    chosen = [cited for cited in (ceilings.bandwidth, ceilings.compute) if cited]
    for cited in of_whole_module(platform, chosen):
        yield TargetWarning(
            PitfallKind.WHOLE_MODULE,
            f"{cited.metric} {cited.display} of {platform.slug} is that of the whole module, and "
            "a kernel runs on one of its dies: as a floor it is safe, as a target out of reach.",
            f"add a sourced line for {cited.metric} with per=GCD to the document of "
            f"{platform.slug}, or {MEASURE}",
        )
    if elsewhere := measured_elsewhere(platform, chosen):
        names = ", ".join(spec.metric for spec in elsewhere)
        sources = ", ".join(dict.fromkeys(spec.source for spec in elsewhere))
        message = f"{names}: measured on another card of this model ({sources}), not on this."
        yield TargetWarning(PitfallKind.MEASURED_ELSEWHERE, message, MEASURE)
    below = map(below_peak, (ceilings.bandwidths, ceilings.computes))
    for measured, peak in filter(None, below):
        yield TargetWarning(
            PitfallKind.BELOW_PEAK,
            f"{measured.metric} {measured.display} is {share(measured.value / peak.value)} of the "
            f"documented {peak.metric} {peak.display} (accepted as a ceiling: "
            f"{share(LEAST_MEASURED)}): the method that was measured ends there, not the device, "
            f"so the target rests on the peak: {measured.citation}.",
            f"measure {measured.metric} with a faster method, such as a library with kernels for "
            "this dtype, and import the result",
        )
    if busy is not None and busy.value > BUSY_LIMIT:
        message = (
            f"Others took {share(busy.value)} of the host's CPU time while the ceilings were "
            f"measured (accepted: {share(BUSY_LIMIT)}), so these may be too low: {busy.citation}."
        )
        yield TargetWarning(PitfallKind.BUSY_HOST, message, f"{MEASURE} when the host is idle")
