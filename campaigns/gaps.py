"""What a target lacks, in words: what nobody has approved, and how to obtain it."""

from __future__ import annotations

from dataclasses import dataclass

from campaigns.models import Campaign
from knowledge.lookup import MATMUL, UNITS, how_to_obtain
from knowledge.specs.cited import UNKNOWN

Question = tuple[str, dict[str, str]]  # metric and qualifiers


@dataclass(frozen=True, slots=True)
class Gap:
    """One missing ceiling. question: "bandwidth" or "compute"."""

    question: str
    message: str
    how_to_obtain: str


def gap_of(campaign: Campaign, question: str) -> Gap:
    """Say what nobody has approved of the campaign's platform, and what to do about it."""
    asked = _bandwidth(campaign) if question == "bandwidth" else _compute(campaign)
    platform = campaign.platform
    names = " or ".join(" ".join([m, *(f"{k}={v}" for k, v in q.items())]) for m, q in asked)
    ways = dict.fromkeys(how_to_obtain(platform, metric, **q) for metric, q in asked)
    message = f"{question}: {UNKNOWN}: no approved {names} of {platform.slug}; there is no target."
    return Gap(question, message, "; or ".join(ways))


def _bandwidth(campaign: Campaign) -> list[Question]:
    """A CPU's bandwidth is measured; no document of ours knows how its memory is built."""
    return [("copy_bandwidth" if campaign.platform.kind == "cpu" else "memory_bandwidth", {})]


def _compute(campaign: Campaign) -> list[Question]:
    dtype = campaign.problem.dtype
    units = UNITS.get(dtype, ((MATMUL, ""),))
    if campaign.platform.kind == "cpu" or dtype not in UNITS:
        return [(rate, {"dtype": dtype}) for rate, _ in units]
    return [(peak, {}) for _, peak in units]
