"""Reads the facts about an incumbent that the flow puts into `Situation.evidence`.

Shape: {"cores": int, "cases": [{"case": str, "time_us": float, "floor_us": float, "bound":
"memory" | "compute", "gb_per_s": float, "gflop_per_s": float, "citation": str}, …],
"profile": the fields of `ProfileFact`, "code": those of `FindingFact` for each target that the
machine code misses}.
Everything is optional; missing facts are reported as missing and never guessed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from campaigns.profiles.classify import Classified
from campaigns.rules.verdict import expectation
from campaigns.rules.wording import duration, share
from knowledge.experience.terms import Bottleneck

NOTHING = "no measurement of the incumbent is available"


@dataclass(frozen=True, slots=True)
class CaseFact:
    """One case of the incumbent; times in microseconds, rates per second."""

    case: str = "?"
    time_us: float | None = None
    floor_us: float | None = None
    bound: str = ""
    gb_per_s: float | None = None
    gflop_per_s: float | None = None
    citation: str = ""

    @property
    def share(self) -> float | None:
        """Floor over time, the share of the physical limit reached; None when either is missing."""
        if not self.time_us or not self.floor_us:
            return None
        return self.floor_us / self.time_us

    def sentence(self) -> str:
        """The case in one line with its numbers, for a hypothesis to cite."""
        parts = []
        if self.time_us is not None:
            parts.append(f"{duration(self.time_us)} by unpaired medians")
        if self.share is not None and self.floor_us is not None:
            parts.append(f"{share(self.share)} of the floor of {duration(self.floor_us)}")
        if self.bound:
            parts.append(f"{self.bound}-bound by the roofline")
        if self.gb_per_s is not None:
            parts.append(f"{self.gb_per_s:,.1f} GB/s")
        if self.gflop_per_s is not None:
            parts.append(f"{self.gflop_per_s:,.1f} GFLOP/s")
        cited = f" [{self.citation}]" if self.citation else ""
        return f"{self.case}: {', '.join(parts) or 'not measured'}{cited}"


@dataclass(frozen=True, slots=True)
class FindingFact:
    """A pattern in the incumbent's counters, or a target that its machine code misses.

    share: of its time, at most; None is not told.
    """

    name: str
    words: str
    strategies: tuple[str, ...] = ()
    share: float | None = None


@dataclass(frozen=True, slots=True)
class ProfileFact:
    """What a profiler counted of the incumbent's longest kernel on one case.

    limit: of `Bottleneck`; first, second: the parts of a mixed one. why: in numbers. counted:
    metric → its value in words. lines: number of the source → what its warps wait for there, and
    how much. contradicts: why the problem's formula of bytes cannot be right.
    """

    case: str
    kernel: str
    limit: Bottleneck
    why: str = ""
    first: Bottleneck | None = None
    second: Bottleneck | None = None
    findings: tuple[FindingFact, ...] = ()
    counted: Mapping[str, str] = field(default_factory=dict)
    contradicts: str = ""
    lines: Mapping[str, str] = field(default_factory=dict)

    @property
    def limits(self) -> tuple[Bottleneck, ...]:
        """Every class that a strategy may be for."""
        return tuple(one for one in (self.limit, self.first, self.second) if one)

    @property
    def sentences(self) -> dict[str, str]:
        """What a hypothesis may cite (R27): by a name, in words with its numbers."""
        limit = Classified(self.limit, self.first, self.second, self.why)
        whose = f"{self.kernel} on {self.case}"
        found = {}
        if self.limit is not Bottleneck.UNKNOWN:
            found[LIMIT] = f"{whose}: limited by {limit.words}: {limit.why}"
        for one in self.findings:
            most = f", at most {share(one.share)} of its time" if one.share is not None else ""
            found[f"{FINDING}{one.name}"] = f"{whose}: {one.words}{most}"
        for number, words in self.lines.items():
            found[f"{LINE}{number}"] = f"{whose}: {words}"
        for name, words in self.counted.items():
            found[f"{METRIC}{name}"] = f"{whose}: {words}"
        return found


# How the names begin by which a hypothesis cites a profile.
LIMIT, FINDING, METRIC, CODE = "limit", expectation.FINDING, "metric:", "code:"
LINE = "line:"


def cites_profile(name: str) -> bool:
    return name == LIMIT or name.startswith((FINDING, LINE, METRIC))


def is_counter(name: str) -> bool:
    """Whether it is one of many: a counter's value, and nothing that was concluded from them."""
    return name.startswith(METRIC)


@dataclass(frozen=True, slots=True)
class Facts:
    """All cases of the incumbent, and the cores of the machine that measures (None: unknown).

    profile: None where nothing counted. code: targets that its machine code misses.
    """

    cases: tuple[CaseFact, ...] = ()
    cores: int | None = None
    profile: ProfileFact | None = None
    code: tuple[FindingFact, ...] = ()

    @property
    def seen(self) -> dict[str, str]:
        """What was seen of the incumbent beside its times, as a hypothesis cites it."""
        code = {f"{CODE}{one.name}": f"machine code: {one.words}" for one in self.code}
        return (self.profile.sentences if self.profile else {}) | code

    @property
    def share(self) -> float | None:
        """Geometric mean of the cases' shares of their floors; None when no case has one."""
        shares = [case.share for case in self.cases if case.share]
        return math.exp(sum(map(math.log, shares)) / len(shares)) if shares else None

    @property
    def bound(self) -> str:
        """The bound that all cases agree on, else an empty string."""
        bounds = {case.bound for case in self.cases}
        return bounds.pop() if len(bounds) == 1 else ""

    def sentences(self) -> tuple[str, ...]:
        """What limits it, where that was counted; then its cases, furthest from its floor first."""
        ranked = sorted(self.cases, key=lambda case: 1.0 if case.share is None else case.share)
        seen = self.profile.sentences if self.profile else {}
        counted = (seen[LIMIT],) if LIMIT in seen else ()
        return (*counted, *(case.sentence() for case in ranked)) or (NOTHING,)

    @property
    def pointers(self) -> dict[str, FindingFact]:
        """What strategies are known against: findings of the profile, and missed targets."""
        findings = self.profile.findings if self.profile else ()
        return {f"{FINDING}{one.name}": one for one in findings} | {
            f"{CODE}{one.name}": one for one in self.code
        }


def read_facts(evidence: Mapping[str, Any]) -> Facts:
    """Take what is known from the mapping; unknown keys are left alone."""
    return msgspec.convert(evidence, Facts, strict=False)


def bottleneck_of(facts: Facts) -> Bottleneck:
    """What limits the incumbent, by its counters; the roofline bounds a kernel and limits none."""
    return facts.profile.limit if facts.profile else Bottleneck.UNKNOWN
