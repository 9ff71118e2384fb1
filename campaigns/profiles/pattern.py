"""What a pattern of counters is: a check, what helps each vendor's cards, how sure it is (R26).

A check says nothing where its counters are missing. A pattern without a strategy for a vendor is
none of that vendor's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from campaigns.profiles.kernel_profile import KernelProfile, Vendor
from campaigns.profiles.metrics import metric_of


class Confidence(StrEnum):
    """How surely the pattern costs time here."""

    SURE = "sure"
    LIKELY = "likely"


@dataclass(frozen=True, slots=True)
class KernelWork:
    """What counters do not say of a launch. Raises ValueError for bytes below 1.

    multiplies: it multiplies matrices. least_bytes: what it has to move of memory at least.
    call_us: what a call takes, with all that is not the candidate's own kernels.
    """

    multiplies: bool = False
    least_bytes: float | None = None
    call_us: float | None = None

    def __post_init__(self) -> None:
        least = self.least_bytes
        if least is not None and not (math.isfinite(least) and least >= 1):
            raise ValueError(f"least_bytes {least}: a number from 1 is accepted")


@dataclass(frozen=True, slots=True)
class CounterSign:
    """A pattern that holds. shown: metrics that show it. share: of the time it may take at most."""

    words: str
    shown: tuple[str, ...]
    share: float | None = None


Check = Callable[[KernelProfile, KernelWork], CounterSign | None]


@dataclass(frozen=True, slots=True)
class CounterPattern:
    """helps: vendor → strategies of the catalogue."""

    name: str
    check: Check
    helps: Mapping[Vendor, tuple[str, ...]]
    confidence: Confidence = Confidence.SURE


def helps(nvidia: str = "", amd: str = "") -> dict[Vendor, tuple[str, ...]]:
    """Strategies by vendor, of words; a vendor without any is left out."""
    told = {Vendor.NVIDIA: tuple(nvidia.split()), Vendor.AMD: tuple(amd.split())}
    return {vendor: ids for vendor, ids in told.items() if ids}


def beyond(metric: str, words: str, *, full: float = 0.0) -> Check:
    """The metric is at its bad bound. words: with the value as {0}.

    full: the value that takes all of the time or, where less is worse, none; 0 tells no share.
    """

    def check(profile: KernelProfile, work: KernelWork) -> CounterSign | None:
        value = profile.values.get(metric)
        if value is None or not (known := metric_of(metric, profile.vendor)).is_bad(value):
            return None
        part = min(1.0, value / full) if full else None
        if part is not None and known.less_is_worse:
            part = 1 - part
        return CounterSign(words.format(value), (metric,), part)

    return check
