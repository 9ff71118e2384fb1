"""A wiki document → its title, platform and spec lines. A line it cannot read is an error.

Under `## Platform` stand `- key: value` lines, or `- platform: slug` alone to speak of a platform
that another document introduces. Under `## Specs` every list item is one fact:

    - memory_bandwidth: 4.8 TB/s | evidence=documented | kind=secondary | rank=preferred | source=…
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from knowledge.specs.citation import CitationLine, split_lines
from knowledge.specs.cited import EvidenceClass
from knowledge.specs.facts import (
    UNKNOWN_VALUE,
    FactsError,
    PlatformFacts,
    PlatformKind,
    Rank,
    SourceKind,
    SpecFacts,
)
from knowledge.specs.html_lines import Comments
from knowledge.specs.metrics import MetricError
from knowledge.specs.quantity import QuantityError

PLATFORM_KEYS = ("platform", "name", "vendor", "arch", "kind", "target", "aliases")
ITEM = re.compile(r"- ([a-z][a-z0-9_]*): (\S.*)")
SOURCE = re.compile(r"(?P<title>.+?)(?: <(?P<url>https?://[^\s<>]+)>)?")
Word = TypeVar("Word", bound=StrEnum)


class ReaderError(ValueError):
    """A document that cannot be read; the message starts with path:Lline."""


@dataclass(frozen=True, slots=True)
class SpecLine:
    """One spec line: its facts, where it stands (from 1) and its exact text."""

    facts: SpecFacts
    line: int
    quote: str

    def citation(self, path: str) -> CitationLine:
        """The citation of this line in the document at `path`."""
        return CitationLine(self.facts.metric, self.facts.shown, path, self.line, self.line)


@dataclass(frozen=True, slots=True)
class Page:
    """A document as read. `platform` is None where only `platform_slug` is given, or neither."""

    path: str
    title: str
    platform_slug: str | None
    platform: PlatformFacts | None
    specs: tuple[SpecLine, ...]


def read_page(path: str, text: str) -> Page:
    """Read one document; ReaderError names the first line that is not accepted."""
    sections = _sections(text)
    title = next((t.removeprefix("# ") for _, t in sections[""] if t.startswith("# ")), None)
    if not title:
        raise ReaderError(f"{path}:L1: no title; accepted: a first heading such as '# NVIDIA H200'")
    slug, platform = _platform(path, sections["Platform"])
    specs = tuple(_spec(path, *row) for row in sections["Specs"] if row[1].startswith("- "))
    if specs and slug is None:
        raise ReaderError(f"{path}:L{specs[0].line}: specs without a '## Platform' section")
    questions: dict[object, list[SpecLine]] = defaultdict(list)
    for spec in specs:
        questions[spec.facts.question].append(spec)
    for answers in questions.values():
        place = f"{path}:L{answers[-1].line}: {answers[0].facts.metric}"
        unknown = [spec for spec in answers if spec.facts.shown == UNKNOWN_VALUE]
        preferred = [spec for spec in answers if spec.facts.rank == Rank.PREFERRED]
        if unknown and len(answers) > 1:
            raise ReaderError(f"{place}: UNKNOWN stands beside another answer")
        if len(preferred) > 1:
            raise ReaderError(
                f"{place}: {len(preferred)} values are rank=preferred; exactly one is accepted"
            )
        if len({spec.quote for spec in answers}) < len(answers):
            raise ReaderError(f"{place}: the same line stands twice")
    return Page(path, title.strip(), slug, platform, specs)


def platform_named_in(text: str) -> str | None:
    """The slug that the `## Platform` section of any document gives, or None."""
    items = (ITEM.fullmatch(line) for _, line in _sections(text)["Platform"])
    return next((item[2] for item in items if item and item[1] == "platform"), None)


def section_lines(text: str, heading: str) -> frozenset[int]:
    """The lines, from 1, of the second-level sections of this heading."""
    return frozenset(number for number, _ in _sections(text)[heading])


def _sections(text: str) -> dict[str, list[tuple[int, str]]]:
    """Numbered lines by second-level heading; '' is what stands before the first.

    Lines in HTML comments are left out: no page shows them.
    """
    found: dict[str, list[tuple[int, str]]] = defaultdict(list)
    heading = ""
    lines = split_lines(text)
    comments = Comments(lines)
    for number, line in enumerate(lines, start=1):
        if comments.hide(number - 1, line):
            continue
        if line.startswith("## "):
            heading = line[3:].strip()
        else:
            found[heading].append((number, line))
    return found


def _platform(path: str, rows: list[tuple[int, str]]) -> tuple[str | None, PlatformFacts | None]:
    fields: dict[str, str] = {}
    items = [row for row in rows if row[1].startswith("- ")]
    for number, line in items:
        item = ITEM.fullmatch(line)
        if item is None or item[1] not in PLATFORM_KEYS or item[1] in fields:
            accepted = ", ".join(PLATFORM_KEYS)
            raise ReaderError(f"{path}:L{number}: '{line}'; accepted once each: {accepted}")
        fields[item[1]] = item[2]
    if not fields:
        return None, None
    first = f"{path}:L{items[0][0]}"
    missing = [key for key in PLATFORM_KEYS[:-1] if key not in fields]
    if "platform" in fields and len(fields) == 1:
        return fields["platform"], None
    if missing:
        raise ReaderError(f"{first}: the platform lacks {', '.join(missing)}")
    aliases = tuple(
        alias.strip() for alias in fields.get("aliases", "").split(";") if alias.strip()
    )
    try:
        kind = PlatformKind(fields["kind"])
        names = (fields["platform"], fields["name"], fields["vendor"], fields["arch"])
        facts = PlatformFacts(*names, kind=kind, target=fields["target"], aliases=aliases)
    except ValueError as error:
        raise ReaderError(f"{first}: {error}") from error
    return facts.slug, facts


def _spec(path: str, number: int, line: str) -> SpecLine:
    try:
        head, *parts = line.split(" | ")
        item = ITEM.fullmatch(head)
        if item is None:
            raise FactsError(f"'{head}' does not read as '- metric: value unit | key=value …'")
        fields: dict[str, str] = {}
        for part in parts:
            key, equals, value = part.partition("=")
            if not equals or not value or key in fields:
                raise FactsError(f"'{part}' does not read as key=value, once each")
            fields[key] = value
        shown = item[2]
        evidence = _word(EvidenceClass, "evidence", fields.pop("evidence", ""))
        kind = _word(SourceKind, "kind", fields.pop("kind", ""))
        rank = _word(Rank, "rank", fields.pop("rank", Rank.NORMAL))
        source = SOURCE.fullmatch(fields.pop("source", ""))
        if source is None:
            raise FactsError("no source; accepted: source=title <https://address>")
        note = fields.pop("how" if shown == UNKNOWN_VALUE else "note", "")
        given = (source["title"], source["url"] or "", rank, fields, note)
        return SpecLine(SpecFacts(item[1], shown, evidence, kind, *given), number, line)
    except (FactsError, MetricError, QuantityError) as error:
        raise ReaderError(f"{path}:L{number}: {error}") from error


def _word(words: type[Word], key: str, text: str) -> Word:
    try:
        return words(text)
    except ValueError:
        raise FactsError(f"{key}='{text}'; accepted: {', '.join(words)}") from None
