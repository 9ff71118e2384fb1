"""What one spec line and one platform block of a wiki document say, and how they are written."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from knowledge.specs.cited import Evidence
from knowledge.specs.metrics import TEXT, MetricError, metric_named
from knowledge.specs.quantity import Quantity

UNKNOWN_VALUE = "UNKNOWN"  # nothing found yet; the note says how to obtain it
ABSENT_VALUE = "NONE"  # the source says that the part does not have it

QUALIFIERS = (
    *("dtype", "sparsity", "accumulate", "per", "portable"),
    *("clock", "cache", "array_bytes"),
)
QUALIFIER_VALUE = re.compile(r"[A-Za-z0-9_.:+-]+")
SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


class SourceKind(StrEnum):
    """How far a source stands from the maker of the part."""

    VENDOR = "vendor"
    VENDOR_DOCS = "vendor-docs"
    SECONDARY = "secondary"
    TERTIARY = "tertiary"
    MEASURED = "measured"


class Rank(StrEnum):
    """Which of several values for one question is used: exactly one is preferred."""

    PREFERRED = "preferred"
    NORMAL = "normal"
    DEPRECATED = "deprecated"


class PlatformKind(StrEnum):
    """What executes the kernels."""

    GPU = "gpu"
    CPU = "cpu"


class FactsError(ValueError):
    """A fact that its line may not state; the message names the field and what is accepted."""


@dataclass(frozen=True, slots=True)
class SpecFacts:
    """One value of one metric, as a document line states it.

    `shown` is "4.8 TB/s", a name such as "HBM3e" for text metrics, UNKNOWN or NONE. Of an UNKNOWN
    the note says how to obtain it, of a deprecated value why it is not used.
    """

    metric: str
    shown: str
    evidence: Evidence
    source_kind: SourceKind
    source: str
    source_url: str = ""
    rank: Rank = Rank.NORMAL
    qualifiers: Mapping[str, str] = field(default_factory=dict)
    note: str = ""

    def __post_init__(self) -> None:
        metric = metric_named(self.metric)
        self._check_qualifiers()
        for name in ("shown", "source", "note"):
            text = getattr(self, name)
            if "|" in text or "\n" in text or text != text.strip():
                raise FactsError(f"{name} '{text}': no '|', line feed or outer blank is accepted")
        if not self.shown or not self.source:
            raise FactsError(f"{self.metric}: a value and a source are needed")
        if not self.known:
            if self.shown == UNKNOWN_VALUE and not self.note:
                raise FactsError(f"{self.metric}: UNKNOWN needs how=, the way to obtain it")
            return
        if metric.numeric and Quantity.parse(self.shown).canonical().unit != metric.unit:
            raise MetricError(f"{self.metric} is kept in {metric.unit}, not in '{self.shown}'")
        if self.rank == Rank.DEPRECATED and not self.note:
            raise FactsError(f"{self.metric}: rank=deprecated needs note=, the reason")

    def _check_qualifiers(self) -> None:
        for key, value in self.qualifiers.items():
            if key not in QUALIFIERS:
                raise FactsError(f"unknown field '{key}'; accepted: {', '.join(QUALIFIERS)}")
            if not QUALIFIER_VALUE.fullmatch(value):
                raise FactsError(
                    f"{key}='{value}': one word of letters, digits and _.:+- is accepted"
                )

    @property
    def known(self) -> bool:
        """Whether there is a value at all."""
        return self.shown not in (UNKNOWN_VALUE, ABSENT_VALUE)

    @property
    def unit(self) -> str:
        """The canonical unit of the metric, "text" for names."""
        return metric_named(self.metric).unit

    @property
    def value(self) -> float | None:
        """The value in the canonical unit; None for names and where there is no value."""
        if not self.known or self.unit == TEXT:
            return None
        return Quantity.parse(self.shown).canonical().value

    @property
    def question(self) -> tuple[str, tuple[tuple[str, str], ...]]:
        """What the value answers: metric and qualifiers. One answer is preferred."""
        return self.metric, tuple(sorted(self.qualifiers.items()))

    def __str__(self) -> str:
        """The document line; `reader.read_page` reads it back to equal facts."""
        source = f"{self.source} <{self.source_url}>" if self.source_url else self.source
        parts = [f"- {self.metric}: {self.shown}"]
        parts += [f"{key}={value}" for key, value in sorted(self.qualifiers.items())]
        parts += [f"evidence={self.evidence}", f"kind={self.source_kind}", f"rank={self.rank}"]
        parts.append(f"source={source}")
        if self.note:
            parts.append(f"{'how' if self.shown == UNKNOWN_VALUE else 'note'}={self.note}")
        return " | ".join(parts)


@dataclass(frozen=True, slots=True)
class PlatformFacts:
    """One exact product. `target` is the compiler's name for it (sm_90a, gfx942, native)."""

    slug: str
    name: str
    vendor: str
    arch: str
    kind: PlatformKind
    target: str
    aliases: tuple[str, ...] = ()  # the names that drivers report

    def __post_init__(self) -> None:
        if not SLUG.fullmatch(self.slug):
            raise FactsError(f"platform '{self.slug}': accepted are a-z, 0-9 and single dashes")
        for name in ("name", "vendor", "arch", "target"):
            text = getattr(self, name)
            if not text or "\n" in text or text != text.strip():
                raise FactsError(f"platform {self.slug}: {name} must be one line, not empty")

    def __str__(self) -> str:
        """The lines of a document's `## Platform` section."""
        rows = {
            "platform": self.slug,
            "name": self.name,
            "vendor": self.vendor,
            "arch": self.arch,
            "kind": self.kind,
            "target": self.target,
            "aliases": "; ".join(self.aliases),
        }
        return "\n".join(f"- {key}: {value}" for key, value in rows.items() if value)


def cpu_platform(cpuinfo: str, machine: str) -> PlatformFacts:
    """This CPU, from the text of /proc/cpuinfo and the machine name (`platform.machine()`).

    The slug hashes the model name, so equal CPUs in two hosts are one platform.
    """
    pairs = (line.partition(":") for line in cpuinfo.splitlines() if ":" in line)
    fields = {key.strip(): value.strip() for key, _, value in pairs}
    vendor = fields.get("vendor_id") or fields.get("CPU implementer") or "unknown vendor"
    name = fields.get("model name") or f"{machine} CPU part {fields.get('CPU part', 'unknown')}"
    slug = f"cpu-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
    return PlatformFacts(slug, name, vendor, machine, PlatformKind.CPU, "native", (name,))
