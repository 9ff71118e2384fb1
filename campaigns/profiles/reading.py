"""A profile as what it says: each kernel once, what limits the longest, what shows it.

Files of every profiler are known by their heads.
"""

from __future__ import annotations

import csv
import statistics
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from campaigns.evaluator.contract import Profile
from campaigns.evaluator.contract.programs import NCU, NCU_LAUNCHES, PERF
from campaigns.profiles import ncu, perf, rocprof
from campaigns.profiles.amd import Card
from campaigns.profiles.classify import Classified, classify
from campaigns.profiles.findings import ProfileFinding, findings
from campaigns.profiles.kernel_profile import HotLine, KernelProfile, ProfileError, untyped
from campaigns.profiles.pattern import KernelWork

Found = tuple[KernelProfile, ...]
Lines = Mapping[str, tuple[HotLine, ...]]
# By the name of the tool, as a stored profile has it.
READERS: Mapping[str, Callable[[str, str], Found]] = {
    NCU: ncu.read_raw,
    PERF: perf.read_stat,
}
# A formula of the bytes that a kernel moves is contradicted beyond this (issue of the work model).
CONTRADICTED = 0.1
# Of the time of a call, what its own kernels take where there is little else.
MOST_OF_A_CALL = 0.8


@dataclass(frozen=True, slots=True)
class LaunchSums:
    """Sums over all launches of one kernel in all calls. dram_bytes: None if one has none."""

    launches: int
    time_us: float
    dram_bytes: float | None


@dataclass(frozen=True, slots=True)
class Profiled:
    """kernels: each once, by the medians of its launches of the shape that took longest together;
    the longest first, never empty. sums: of each, in the same order, in so many calls. limit,
    findings: of the longest. call_us: as the caller knows it.
    """

    tool: str
    case: str
    kernels: tuple[KernelProfile, ...]
    sums: tuple[LaunchSums, ...]
    calls: int
    limit: Classified
    findings: tuple[ProfileFinding, ...]
    call_us: float | None = None

    @property
    def main(self) -> KernelProfile:
        return self.kernels[0]

    @property
    def launches(self) -> tuple[int, ...]:
        return tuple(one.launches for one in self.sums)

    @property
    def time_us(self) -> float:
        return sum(one.time_us for one in self.sums)

    @property
    def share(self) -> float | None:
        """Share of the kernels' time that the longest takes; None where one was not timed."""
        timed = all("duration_us" in one.values for one in self.kernels)
        return self.sums[0].time_us / self.time_us if timed and self.time_us else None

    @property
    def is_all(self) -> bool:
        """Whether these kernels are what a call does, and none of a library's is behind it."""
        per_call_us = self.time_us / self.calls
        return self.call_us is not None and per_call_us >= MOST_OF_A_CALL * self.call_us


def read_profile(profile: Profile, work: KernelWork | None = None) -> Profiled:
    """Raises ProfileError where it holds no launch or another tool's text."""
    work = work or KernelWork()
    found = READERS[profile.tool](profile.text, profile.case)
    by_name: dict[str, list[KernelProfile]] = defaultdict(list)
    for one in found:
        by_name[one.kernel].append(one)
    sums = {name: _sums(own) for name, own in by_name.items()}
    order = sorted(sums, key=lambda name: -sums[name].time_us)
    lines = _samples(profile)
    typical = [_typical(by_name[name], lines) for name in order]
    main = typical[0]
    # What the whole call has to move says something of a kernel that is alone in it.
    shown = findings(main, work if len(typical) == 1 else replace(work, least_bytes=None))
    return Profiled(
        profile.tool,
        profile.case,
        tuple(typical),
        tuple(sums[name] for name in order),
        profile.calls,
        classify(main.values),
        shown,
        work.call_us,
    )


def _samples(profile: Profile) -> Lines:
    """Nothing where none were kept, or the candidate wrote others: counters stand without."""
    try:
        return ncu.read_samples(profile.lines, profile.case) if profile.lines else {}
    except ProfileError:
        return {}


def _sums(launches: Sequence[KernelProfile]) -> LaunchSums:
    moved = [one.dram_bytes for one in launches]
    known = [nbytes for nbytes in moved if nbytes is not None]
    time_us = sum(one.values.get("duration_us", 0.0) for one in launches)
    return LaunchSums(len(launches), time_us, sum(known) if len(known) == len(moved) else None)


def _typical(launches: Sequence[KernelProfile], lines: Lines) -> KernelProfile:
    """The median of each counter over the launches of one shape that have it."""
    by_shape: dict[tuple[float | None, ...], list[KernelProfile]] = defaultdict(list)
    for one in launches:
        by_shape[one.values.get("grid"), one.values.get("block")].append(one)
    alike = max(by_shape.values(), key=lambda own: _sums(own).time_us)
    first = alike[0]
    names = dict.fromkeys(name for one in alike for name in one.values)
    values = {
        name: statistics.median(one.values[name] for one in alike if name in one.values)
        for name in names
    }
    own = lines.get(untyped(first.kernel), ())
    return KernelProfile(first.kernel, values, first.odd, first.vendor, own)


@dataclass(frozen=True, slots=True)
class MovedBytes:
    """What DRAM moved for a call beside what the problem's formula says it has to move.

    cache_bytes: of L2, in which written data may stay; None is unknown. is_all: whether what was
    counted is all that a call does.
    """

    measured: float
    formula: float
    cache_bytes: float | None = None
    is_all: bool = False

    @property
    def ratio(self) -> float:
        return self.measured / self.formula

    @property
    def contradicts(self) -> bool:
        """Whether a call moved fewer bytes than the formula says it must, by more than 10 %.

        A kernel may move more, which is its own doing. What L2 may have kept is counted as moved.
        """
        at_most = self.measured + (self.cache_bytes or 0.0)
        is_less = at_most < (1 - CONTRADICTED) * self.formula
        return self.is_all and self.cache_bytes is not None and is_less

    @property
    def words(self) -> str:
        """The two numbers, and what is wrong with the formula where they contradict it."""
        numbers = f"{self.measured / 1e6:,.3g} MB counted, {self.formula / 1e6:,.3g} MB by formula"
        return f"{numbers}: {self.why}" if self.why else numbers

    @property
    def why(self) -> str:
        """Why the two numbers differ; "" of about equal ones."""
        if self.contradicts:
            return "the formula counts bytes that are never moved"
        if self.ratio > 1 + CONTRADICTED:
            return f"{self.ratio:.3g} times what it needs"
        if self.ratio < 1 - CONTRADICTED:
            return "counters see what reached DRAM, and a cache may hold the rest"
        return ""


def moved_bytes(found: Profiled, formula: float, cache_bytes: float | None) -> MovedBytes | None:
    """Bytes of all kernels of one call; None where one was not counted, or a call was cut."""
    cut = sum(found.launches) >= NCU_LAUNCHES or any(n % found.calls for n in found.launches)
    moved = [one.dram_bytes for one in found.sums if one.dram_bytes is not None]
    if formula <= 0 or cut or len(moved) < len(found.sums):
        return None
    return MovedBytes(sum(moved) / found.calls, formula, cache_bytes, found.is_all)


def read_files(texts: Mapping[str, str], card: Card | None = None) -> Found:
    """The launches of one run. texts: name → text; several are passes of rocprofv3's counters.

    card: what AMD's counters do not say of it. Raises ProfileError.
    """
    if all(_is_counters(text) for text in texts.values()):
        return rocprof.read_counters(texts, card)
    if len(texts) > 1:
        other = next(name for name, text in texts.items() if not _is_counters(text))
        words = f"several files are passes of one run; accepted: {rocprof.COUNTERS}"
        raise ProfileError(other, 1, words)
    ((name, text),) = texts.items()
    return _reader_of(text)(text, name)


def _reader_of(text: str) -> Callable[[str, str], Found]:
    """What is no other profiler's is tried as ncu's, whose reader says what is accepted."""
    if {*rocprof.TRACE_COLUMNS} <= _columns(text):
        return rocprof.read_trace
    return READERS[PERF if perf.is_stat(text) else NCU]


def _is_counters(text: str) -> bool:
    return {*rocprof.COUNTER_COLUMNS} <= _columns(text)


def _columns(text: str) -> set[str]:
    """The cells of the first line."""
    try:
        return {*next(csv.reader([text.partition("\n")[0]]), [])}
    except csv.Error:
        return set()
