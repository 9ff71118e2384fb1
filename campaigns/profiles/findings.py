"""Patterns in a kernel's counters that are known to cost time, each with its numbers (R26).

Several may hold; which one limits the kernel is `classify`'s answer. A pattern without its counters
says nothing. Bounds are of ncu's own rules and of public guidance where a table says so; the others
are ours, held by kernels whose cause is known (docs/benchmarks/bottlenecks.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from campaigns.profiles.kernel_profile import KernelProfile, Vendor
from campaigns.profiles.pattern import Confidence, CounterPattern, CounterSign, KernelWork
from campaigns.profiles.rules_launch import LAUNCH_PATTERNS
from campaigns.profiles.rules_memory import MEMORY_PATTERNS
from campaigns.profiles.rules_stalls import STALL_PATTERNS
from campaigns.profiles.rules_work import WORK_PATTERNS

PATTERNS: tuple[CounterPattern, ...] = (
    *MEMORY_PATTERNS,
    *LAUNCH_PATTERNS,
    *WORK_PATTERNS,
    *STALL_PATTERNS,
)


@dataclass(frozen=True, slots=True)
class ProfileFinding:
    """evidence: metric → value. strategies: of the catalogue. share: of the time that it may take,
    at most and by its own counters; None where they do not tell."""

    name: str
    words: str
    confidence: Confidence
    evidence: Mapping[str, float]
    strategies: tuple[str, ...]
    share: float | None = None


def patterns_of(vendor: Vendor) -> tuple[CounterPattern, ...]:
    """Patterns that this vendor's cards have counters and strategies for."""
    return tuple(one for one in PATTERNS if vendor in one.helps)


def findings(profile: KernelProfile, work: KernelWork | None = None) -> tuple[ProfileFinding, ...]:
    """All that hold: the sure ones first, and then the largest share of the time."""
    work = work or KernelWork()
    found = [
        _told(profile, one, sign)
        for one in patterns_of(profile.vendor)
        if (sign := one.check(profile, work))
    ]
    likely = Confidence.LIKELY
    return tuple(sorted(found, key=lambda one: (one.confidence is likely, -(one.share or 0.0))))


def _told(profile: KernelProfile, one: CounterPattern, sign: CounterSign) -> ProfileFinding:
    shown = {name: profile.values[name] for name in sign.shown if name in profile.values}
    helps = one.helps[profile.vendor]
    return ProfileFinding(one.name, sign.words, one.confidence, shown, helps, sign.share)
