"""A stored profile as what it says: each kernel once, what limits the longest, what shows it."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from campaigns.evaluator.contract import Profile
from campaigns.profiles.classify import Classified, classify
from campaigns.profiles.files import READERS
from campaigns.profiles.findings import ProfileFinding, findings
from campaigns.profiles.kernel_profile import KernelProfile
from campaigns.profiles.ncu import read_samples
from campaigns.profiles.pattern import KernelWork

# A formula of the bytes that a kernel moves is contradicted beyond this (issue of the work model).
CONTRADICTED = 0.1


@dataclass(frozen=True, slots=True)
class Profiled:
    """kernels: each once by the medians of its launches, the longest first; never empty.

    launches: of each kernel, in the same order, in so many calls. limit, findings: of the longest.
    """

    tool: str
    case: str
    kernels: tuple[KernelProfile, ...]
    launches: tuple[int, ...]
    calls: int
    limit: Classified
    findings: tuple[ProfileFinding, ...]

    @property
    def main(self) -> KernelProfile:
        return self.kernels[0]

    @property
    def share(self) -> float | None:
        """Of the kernels' time, what the longest takes; None where one was not timed."""
        times = [one.values.get("duration_us") for one in self.kernels]
        known = [
            time_us * launches
            for time_us, launches in zip(times, self.launches, strict=True)
            if time_us
        ]
        return known[0] / sum(known) if known and None not in times else None


def read_profile(profile: Profile, work: KernelWork | None = None) -> Profiled:
    """Raises ProfileError where it holds no launch or another tool's text."""
    work = work or KernelWork()
    found = READERS[profile.tool](profile.text, profile.case)
    by_name: dict[str, list[KernelProfile]] = defaultdict(list)
    for one in found:
        by_name[one.kernel].append(one)
    total_us = {
        name: sum(one.values.get("duration_us", 0.0) for one in own)
        for name, own in by_name.items()
    }
    lines = read_samples(profile.lines, profile.case) if profile.lines else {}
    typical = [
        replace(_typical(by_name[name]), lines=lines.get(name, ()))
        for name in sorted(total_us, key=lambda n: -total_us[n])
    ]
    main = typical[0]
    # What the whole call has to move says something of a kernel that is alone in it.
    shown = findings(main, work if len(typical) == 1 else replace(work, least_bytes=None))
    launches = tuple(len(by_name[one.kernel]) for one in typical)
    limit = classify(main.values)
    return Profiled(
        profile.tool, profile.case, tuple(typical), launches, profile.calls, limit, shown
    )


def _typical(launches: Sequence[KernelProfile]) -> KernelProfile:
    """The median of each counter over the launches that have it."""
    first = launches[0]
    names = dict.fromkeys(name for one in launches for name in one.values)
    values = {
        name: statistics.median(one.values[name] for one in launches if name in one.values)
        for name in names
    }
    return KernelProfile(first.kernel, values, first.odd, first.vendor)


@dataclass(frozen=True, slots=True)
class MovedBytes:
    """What DRAM moved for a call beside what the problem's formula says it has to move.

    cache_bytes: of L2, in which written data may stay; None is unknown.
    """

    measured: float
    formula: float
    cache_bytes: float | None = None

    @property
    def ratio(self) -> float:
        return self.measured / self.formula

    @property
    def contradicts(self) -> bool:
        """Whether a call moved fewer bytes than the formula says it must, by more than 10 %.

        A kernel may move more, which is its own doing. What L2 may have kept is counted as moved.
        """
        at_most = self.measured + (self.cache_bytes or 0.0)
        return self.cache_bytes is not None and at_most < (1 - CONTRADICTED) * self.formula

    @property
    def words(self) -> str:
        """The two numbers, and what is wrong with the formula where they contradict it."""
        numbers = f"{self.measured / 1e6:,.3g} MB counted, {self.formula / 1e6:,.3g} MB by formula"
        return f"{numbers}: it counts bytes that are never moved" if self.contradicts else numbers

    @property
    def is_more(self) -> bool:
        return self.ratio > 1 + CONTRADICTED


def moved_bytes(found: Profiled, formula: float, cache_bytes: float | None) -> MovedBytes | None:
    """Of all kernels of one call; None where the bytes of one were not counted, or a call cut."""
    if formula <= 0 or any(launches % found.calls for launches in found.launches):
        return None
    total = 0.0
    for one, launches in zip(found.kernels, found.launches, strict=True):
        if one.dram_bytes is None:
            return None
        total += one.dram_bytes * launches / found.calls
    return MovedBytes(total, formula, cache_bytes)
