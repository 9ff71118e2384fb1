"""What weakens the ceilings of a target without taking it away, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from campaigns.evaluator.contract.ceilings import BUSY_LIMIT
from campaigns.models import Campaign, PitfallKind
from campaigns.rules.target.ceilings import Ceilings
from campaigns.rules.target.roofline import LEAST_MEASURED, below_peak
from campaigns.rules.wording import share
from knowledge.lookup.usage import measured_elsewhere
from knowledge.lookup.value import of_whole_module
from knowledge.models import Platform
from knowledge.specs.cited import Cited

TARGET_SET = "target_set"  # the event that the target and its pitfalls are recorded with
MEASURE = "run `.venv/bin/python manage.py wiki ceilings` on this device"


@dataclass(frozen=True, slots=True)
class TargetWarning:
    """One of `PitfallKind`, with the words of its pitfall."""

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
) -> list[TargetWarning]:
    """Every caution about the ceilings that a target rests on."""
    chosen = [cited for cited in (ceilings.bandwidth, ceilings.compute) if cited]
    return [
        *_whole(platform, chosen),
        *_elsewhere(platform, chosen),
        *_below_peak(ceilings),
        *_busy(busy),
    ]


def _whole(platform: Platform, chosen: Iterable[Cited]) -> list[TargetWarning]:
    return [
        TargetWarning(
            PitfallKind.WHOLE_MODULE,
            f"{cited.metric} {cited.display} of {platform.slug} is that of the whole module, and "
            "a kernel runs on one of its dies: as a floor it is safe, as a target out of reach.",
            f"add a sourced line for {cited.metric} with per=GCD to the document of "
            f"{platform.slug}, or {MEASURE}",
        )
        for cited in of_whole_module(platform, chosen)
    ]


def _below_peak(ceilings: Ceilings) -> list[TargetWarning]:
    found = (below_peak(answers) for answers in (ceilings.bandwidths, ceilings.computes))
    return [
        TargetWarning(
            PitfallKind.BELOW_PEAK,
            f"{measured.metric} {measured.display} is {share(measured.value / peak.value)} of the "
            f"documented {peak.metric} {peak.display} (accepted as a ceiling: "
            f"{share(LEAST_MEASURED)}): the method that was measured ends there, not the device, "
            f"so the target rests on the peak: {measured.citation}.",
            f"measure {measured.metric} with a faster method, such as a library with kernels for "
            "this dtype, and import the result",
        )
        for measured, peak in filter(None, found)
    ]


def _elsewhere(platform: Platform, chosen: Iterable[Cited]) -> list[TargetWarning]:
    found = measured_elsewhere(platform, chosen)
    if not found:
        return []
    names = ", ".join(spec.metric for spec in found)
    sources = ", ".join(dict.fromkeys(spec.source for spec in found))
    message = f"{names}: measured on another card of this model ({sources}), not on this."
    return [TargetWarning(PitfallKind.MEASURED_ELSEWHERE, message, MEASURE)]


def _busy(busy: Cited | None) -> list[TargetWarning]:
    if busy is None or busy.value <= BUSY_LIMIT:
        return []
    message = (
        f"Others took {share(busy.value)} of the host's CPU time while the ceilings were measured "
        f"(accepted: {share(BUSY_LIMIT)}), so these may be too low: {busy.citation}."
    )
    return [TargetWarning(PitfallKind.BUSY_HOST, message, f"{MEASURE} when the host is idle")]
