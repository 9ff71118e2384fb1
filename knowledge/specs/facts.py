"""What one spec line and one platform block of a wiki document say, and how they are written."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from knowledge.specs import metrics
from knowledge.specs.cited import ABSENT_VALUE as ABSENT_VALUE
from knowledge.specs.cited import UNKNOWN_VALUE as UNKNOWN_VALUE
from knowledge.specs.cited import EvidenceClass, is_known
from knowledge.specs.hedges import hedged
from knowledge.specs.metrics import TEXT, MetricDefinition, MetricError, metric_named
from knowledge.specs.quantity import Quantity

QUALIFIERS = tuple(metrics.QUALIFIERS)
QUALIFIER_VALUE = re.compile(r"[A-Za-z0-9_.:+-]+")
SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
ADDRESS = re.compile(r"https?://[^\W_](?:[\w.-]*[^\W_])?(?::\d{1,5})?(?:[/?#][^\s<>|]*)?", re.I)
# Most characters of each text, as its column has it: what one database stores both accept.
MOST: Mapping[str, int] = {"shown": 80, "source": 300, "source_url": 500}
MOST_OF_PLATFORM = {"slug": 80, "name": 200, "vendor": 80, "arch": 80, "kind": 8, "target": 40}
# What is no value has to say why.
NEEDED_NOTES = {
    UNKNOWN_VALUE: "UNKNOWN needs how=, the way to obtain it",
    ABSENT_VALUE: "NONE needs note=, how the source says that there is none",
}


def named_values(values: Mapping[str, Any], between: str = " ") -> str:
    """Names and values in one text: "cache=cold dtype=float32"."""
    return between.join(f"{name}={value}" for name, value in values.items())


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
    """A fact that its line may not state; the message names the field and what is accepted.

    `field` is its name where it is one field alone, as a proposal calls it, else "".
    """

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True, slots=True)
class SpecFacts:
    """One value of one metric, as a document line states it.

    `shown` is "4.8 TB/s", a name such as "HBM3e" for text metrics, UNKNOWN or NONE. Of an UNKNOWN
    the note says how to obtain it, of a NONE how the source states the absence, of a deprecated
    value why it is not used. A question has only qualifiers that its metric takes.
    """

    metric: str
    shown: str
    evidence: EvidenceClass
    source_kind: SourceKind
    source: str
    source_url: str = ""
    rank: Rank = Rank.NORMAL
    qualifiers: Mapping[str, str] = field(default_factory=dict)
    note: str = ""

    def __post_init__(self) -> None:
        metric = metric_named(self.metric)
        self._check_qualifiers(metric)
        for name in ("shown", "source", "source_url", "note"):
            text, label = getattr(self, name), "value" if name == "shown" else name
            check_text(label, text, MOST.get(name))
            if "|" in text or "\n" in text or text != text.strip():
                message = f"{label} '{text}': no '|', line feed or outer blank is accepted"
                raise FactsError(message, label)
        if not self.shown or not self.source:
            raise FactsError(f"{self.metric}: a value and a source are needed")
        check_address(self.source_url)
        needed = NEEDED_NOTES.get(self.shown, "")
        if not needed and self.rank == Rank.DEPRECATED:
            needed = "rank=deprecated needs note=, the reason"
        if needed and not self.note:
            raise FactsError(f"{self.metric}: {needed}", "note")
        if self.known:
            _check_value(metric, self.shown)

    def _check_qualifiers(self, metric: MetricDefinition) -> None:
        for key, value in self.qualifiers.items():
            if key not in QUALIFIERS:
                message = f"unknown field '{key}'; accepted: {', '.join(QUALIFIERS)}"
                raise FactsError(message, "qualifiers")
            if not QUALIFIER_VALUE.fullmatch(value):
                message = f"{key}='{value}': one word of letters, digits and _.:+- is accepted"
                raise FactsError(message, "qualifiers")
            refusal = metric.refusal(key, value, self.qualifiers)
            if refusal:
                raise FactsError(refusal, "qualifiers")

    @property
    def known(self) -> bool:
        """Whether there is a value at all."""
        return is_known(self.shown)

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


def check_text(name: str, text: str, most: int | None = None) -> None:
    """FactsError for text that not every database stores: longer than `most`, or no Unicode."""
    if "\0" in text:
        raise FactsError(f"{name}: it holds a NUL character; accepted: text without", name)
    if any("\ud800" <= sign <= "\udfff" for sign in text):
        raise FactsError(f"{name}: it is not Unicode text; accepted: UTF-8", name)
    if most is not None and len(text) > most:
        raise FactsError(f"{name}: {len(text)} characters; accepted: at most {most}", name)


def check_address(text: str) -> None:
    """FactsError for anything but "" and the address of a web page."""
    if text and not ADDRESS.fullmatch(text):
        message = f"source_url: '{text}' is no valid URL; accepted: http:// or https:// and a host"
        raise FactsError(message, "source_url")


def _check_value(metric: MetricDefinition, shown: str) -> None:
    """MetricError or QuantityError for what is no plain value of this metric."""
    if not metric.numeric:
        hedge = hedged(shown)
        if hedge:
            raise MetricError(f"{metric.name}: '{hedge}' makes it a guess; accepted: a plain value")
        return
    quantity = Quantity.parse(shown).canonical()
    if quantity.unit != metric.unit:
        raise MetricError(f"{metric.name} is kept in {metric.unit}, not in '{shown}'")
    if quantity.value < 0:
        raise MetricError(f"{metric.name}: '{shown}' is negative; accepted: no sign")
    if quantity.value == 0 and metric.low:
        raise MetricError(
            f"{metric.name}: '{shown}' is no value of it; accepted: a number above 0, or "
            f"{ABSENT_VALUE} where the source says that the part has none"
        )


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
        for name, most in MOST_OF_PLATFORM.items():
            check_text(name, getattr(self, name), most)
        for alias in self.aliases:
            check_text("aliases", alias)
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
