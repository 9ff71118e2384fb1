"""Values in files that others wrote: what becomes of each, and the records of JSON files.

Every one of them has an outcome. What resolves names the lines that hold its number: those that it
cites, or its own lines in the JSON file, which is kept as a document. Nothing is dropped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from knowledge.exchange.readers.exported_specs import ExportedSpec
from knowledge.exchange.readers.spec_sheets import SpecRecord, read_record, read_records
from knowledge.lookup.platform_names import PlatformNames
from knowledge.specs.citation import CitationError, CitationLine, quoted, split_lines
from knowledge.specs.facts import SpecFacts
from knowledge.specs.json_text import Node, RecordError, Records, parse_json, printable, records_of
from knowledge.specs.quantity import other_unit

CITES = re.compile(r"<gpu-wiki>/(?P<path>[^\s:|`,;)]+)(?::L(?P<first>\d+)(?:-L(?P<last>\d+))?)?")
SHOWN = 160  # characters of a line that an outcome repeats


class LineFate(StrEnum):
    """What becomes of a line."""

    RESOLVED = "resolved"
    STANDS = "stands already"
    UNKNOWN = "unknown"
    LEFT_OUT = "left out"
    UNRESOLVED = "unresolved"


@dataclass(frozen=True, slots=True)
class LineOutcome:
    """One line of a file, and what becomes of it."""

    file: str
    line: int
    text: str
    fate: LineFate
    why: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", printable(self.text[:SHOWN]))
        object.__setattr__(self, "why", printable(self.why))


@dataclass(frozen=True, slots=True)
class CitedValue:
    """A value that does not come from a document's own spec lines, and the lines it rests on.

    kept: all that an export says of it. The rank of its facts counts only then; otherwise the value
    is preferred if nothing else is.
    """

    file: str
    line: int
    platform: str
    facts: SpecFacts
    citation: CitationLine
    quote: str
    kept: ExportedSpec | None = None

    @property
    def revision(self) -> str:
        """The hash of an earlier text of that document, "" for the newest."""
        return self.kept.revision if self.kept is not None else ""

    def told(self, fate: LineFate, why: str = "") -> LineOutcome:
        """The outcome of this value."""
        return LineOutcome(self.file, self.line, str(self.citation), fate, why)


def json_document(path: str, text: str) -> tuple[str, str]:
    """Path and text of the document that keeps a JSON file, byte for byte in a fenced block."""
    ticks = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, ticks + 1)
    end = "" if text.endswith("\n") else "\n"
    return f"{path}.md", f"# Records of {path}\n\n{fence}json\n{text}{end}{fence}\n"


LINES_ABOVE = 3  # of the JSON text in that document


def read_json(
    path: str, text: str, names: PlatformNames, texts: Mapping[str, str]
) -> Iterator[CitedValue | LineOutcome]:
    """Every record of a JSON file. texts: the documents that they may cite, by path."""
    rows = split_lines(text)

    def told(line: int, fate: LineFate, why: str) -> LineOutcome:
        row = rows[line - 1].strip() if line <= len(rows) else ""
        return LineOutcome(path, line, row, fate, why)

    listed = records_of(text)
    try:
        root = parse_json(listed.around) if listed is not None and listed.elements else None
        fields = root.fields() if root is not None and isinstance(root.value, dict) else {}
    except RecordError as error:
        yield told(error.line, LineFate.UNRESOLVED, str(error))
        return
    whole = listed is None or not listed.elements or "schema" in fields
    for place, part, above in _parts(text, listed) if listed and not whole else [("$", text, 0)]:
        try:
            node = _parsed(part, place, above)
            found = read_records(node) if whole else read_record(node)
        except RecordError as error:
            yield told(error.line, LineFate.UNRESOLVED, str(error))
            continue
        for each in found:
            if isinstance(each, SpecRecord):
                yield _record(path, rows, each, names, texts)
            else:
                yield told(each.node.line, LineFate.LEFT_OUT, each.reason)
    for name, field in fields.items():
        if not whole and name != "records":
            why = f"{field.place}: no record; accepted: records"
            yield told(field.line, LineFate.LEFT_OUT, why)


def _parts(text: str, listed: Records) -> Iterator[tuple[str, str, int]]:
    """The elements of a list, each with its place and the lines above it."""
    above = last = 0
    for place, start, end in listed.elements:
        above += text.count("\n", last, start)
        last = start
        yield place, text[start:end], above


def _parsed(text: str, place: str, above: int) -> Node:
    """A part of a file, by its place in it. above: the lines of the file before it."""
    try:
        return parse_json(text, place, above)
    except RecordError as error:
        cause, line = error.__cause__, above + error.line
        words = error.message
        if isinstance(cause, json.JSONDecodeError):
            words = f"no JSON at line {line}: {cause.msg}"
        raise RecordError(words, place, error.key, line) from cause


def _record(
    path: str,
    rows: Sequence[str],
    record: SpecRecord,
    names: PlatformNames,
    texts: Mapping[str, str],
) -> CitedValue | LineOutcome:
    facts = record.facts
    first, last = record.node.span
    try:
        slug = names.slug(record.platform)
        if slug is None:
            known = ", ".join(sorted(set(names.platforms.values()))) or "none yet"
            near = ", ".join(names.nearest(record.platform[:SHOWN]))
            nearest = f"nearest: {near}; " if near else ""
            named = f"no platform is named '{record.platform}'"
            raise CitationError(f"{named}; {nearest}accepted: {known}")
        cites = CITES.search(f"{facts.source} {facts.source_url}")
        if cites is not None:
            citation, quote = _cited(facts, cites, texts)
        else:
            own = (json_document(path, "")[0], first + LINES_ABOVE, last + LINES_ABOVE)
            citation = CitationLine(facts.metric, facts.shown, *own)
            quote = "\n".join(rows[first - 1 : last])
        return resting(path, first, slug, facts, (citation, quote))
    except CitationError as error:
        shown = f"{record.platform} {facts.metric}: {facts.shown}"
        return LineOutcome(path, first, shown, LineFate.UNRESOLVED, str(error))


def _cited(
    facts: SpecFacts, cites: re.Match[str], texts: Mapping[str, str]
) -> tuple[CitationLine, str]:
    """The lines that the source of a record names, and their text."""
    path = cites["path"]
    if cites["first"] is None:
        raise CitationError(f"{path}: no line; accepted after the path: :L23")
    if path not in texts:
        raise CitationError(f"there is no {path} in the folder or the wiki")
    first, last = int(cites["first"]), int(cites["last"] or cites["first"])
    citation = CitationLine(facts.metric, facts.shown, path, first, last)
    quote = quoted(texts[path], first, last)
    if quote is None:
        raise CitationError(f"{citation.locator} is beyond the end of {path}")
    return citation, quote


def resting(
    file: str, line: int, slug: str, facts: SpecFacts, place: tuple[CitationLine, str]
) -> CitedValue:
    """A value on these lines; CitationError where they lack it."""
    citation, quote = place
    number, _, unit = facts.shown.partition(" ")
    lines = f"{citation.locator} of {citation.path}"
    if not citation.proven_by(quote):
        raise CitationError(f"{number} does not stand in {lines}")
    other = other_unit(quote, facts.shown)
    if other is not None:
        raise CitationError(f"{lines} gives it in {other}, not {unit}")
    return CitedValue(file, line, slug, facts, citation, quote)
