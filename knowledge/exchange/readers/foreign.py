"""Values in files that others wrote: JSON records, and citation lines in plain Markdown.

Every one of them has an outcome. What resolves names the lines that hold its number: those that it
cites, or its own lines in the JSON file, which is kept as a document. Nothing is dropped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from knowledge.exchange.readers.exported_specs import ExportedSpec
from knowledge.exchange.readers.plain_lines import Statement, StatementState, read_list
from knowledge.exchange.readers.spec_sheets import SpecRecord, read_records
from knowledge.lookup.platform_names import PlatformNames
from knowledge.specs.citation import CitationError, CitationLine, quoted, split_lines
from knowledge.specs.cited import EvidenceClass
from knowledge.specs.facts import FactsError, SourceKind, SpecFacts
from knowledge.specs.json_text import RecordError, parse_json, printable, records_of, value_lines
from knowledge.specs.metrics import MetricError
from knowledge.specs.quantity import QuantityError, other_unit

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
    kept: ExportedSpec[SpecFacts] | None = None

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


@dataclass(frozen=True, slots=True)
class _JsonFile:
    """One JSON file: its lines, where each of its values stands, and the document that keeps it."""

    path: str
    rows: list[str]
    lines: Mapping[str, tuple[int, int]]
    document: str

    def at(self, place: str) -> tuple[int, int]:
        """First and last line of a JSON path, or of what is nearest around it."""
        while place and place not in self.lines:
            place = place[: max(place.rfind("."), place.rfind("["), 0)]
        return self.lines.get(place, (1, 1))

    def told(self, place: str, fate: LineFate, why: str) -> LineOutcome:
        first, _ = self.at(place)
        return LineOutcome(self.path, first, self.rows[first - 1].strip(), fate, why)


def read_json(
    path: str, text: str, names: PlatformNames, texts: Mapping[str, str]
) -> list[CitedValue | LineOutcome]:
    """Every record of a JSON file. texts: the documents that they may cite, by path."""
    file = _JsonFile(path, split_lines(text), {}, json_document(path, text)[0])
    records = records_of(text)
    if records is None or not records.elements:
        return list(_part(file, _Part("", text, 0), names, texts))
    try:
        root = parse_json(records.around)
        fields = root.fields() if isinstance(root.value, dict) else {}
    except RecordError as error:
        return [LineOutcome(path, _line(error), "", LineFate.UNRESOLVED, str(error))]
    if "schema" in fields:
        return list(_part(file, _Part("", text, 0), names, texts))
    found: list[CitedValue | LineOutcome] = []
    last = above = 0
    for place, start, end in records.elements:
        above += text.count("\n", last, start)
        last = start
        found += _part(file, _Part(place, text[start:end], above), names, texts)
    around = replace(file, lines=value_lines(records.around))
    for name, field in fields.items():
        if name != "records":
            why = f"{field.place}: no record; accepted: records"
            found.append(around.told(field.place, LineFate.LEFT_OUT, why))
    return found


@dataclass(frozen=True, slots=True)
class _Part:
    """A record of a list, its place and the lines above it; or a whole file, "" as its place."""

    place: str
    text: str
    above: int


def _part(
    file: _JsonFile, part: _Part, names: PlatformNames, texts: Mapping[str, str]
) -> Iterator[CitedValue | LineOutcome]:
    text = f"[{part.text}]" if part.place else part.text
    try:
        parse_json(text)
    except RecordError as error:
        line = part.above + _line(error)
        words = str(error).partition(": ")[2]
        if isinstance(error.__cause__, json.JSONDecodeError):
            words = f"no JSON at line {line}: {error.__cause__.msg}"
        row = file.rows[line - 1].strip() if line <= len(file.rows) else ""
        yield LineOutcome(
            file.path, line, row, LineFate.UNRESOLVED, f"{part.place or '$'}: {words}"
        )
        return
    lines = value_lines(text).items()
    own = {_moved(at, part.place): (a + part.above, b + part.above) for at, (a, b) in lines}
    file = replace(file, lines=own)
    try:
        read = read_records(text)
    except RecordError as error:
        place, _, why = _moved(str(error), part.place).partition(": ")
        yield file.told(place, LineFate.UNRESOLVED, f"{place}: {why}")
        return
    for each in read.records:
        yield _record(file, _moved(each.place, part.place), each, names, texts)
    for left in read.left_out:
        yield file.told(_moved(left.place, part.place), LineFate.LEFT_OUT, left.reason)


def _line(error: RecordError) -> int:
    """The line of a text that is no JSON at all; else its first one."""
    cause = error.__cause__
    return cause.lineno if isinstance(cause, json.JSONDecodeError) else 1


def _moved(said: str, at: str) -> str:
    return said.replace("$[0]", at, 1) if at else said


def _record(
    file: _JsonFile, place: str, record: SpecRecord, names: PlatformNames, texts: Mapping[str, str]
) -> CitedValue | LineOutcome:
    facts = record.facts
    first, last = file.at(place)
    try:
        slug = names.slug(record.platform)
        if slug is None:
            raise CitationError(_unknown_platform(record.platform, names))
        cites = CITES.search(f"{facts.source} {facts.source_url}")
        if cites is not None:
            citation, quote = _cited(facts, cites, texts)
        else:
            span = (first + LINES_ABOVE, last + LINES_ABOVE)
            citation = CitationLine(facts.metric, facts.shown, file.document, *span)
            quote = "\n".join(file.rows[first - 1 : last])
        return _resting(file.path, first, slug, facts, (citation, quote))
    except CitationError as error:
        shown = f"{record.platform} {facts.metric}: {facts.shown}"
        return LineOutcome(file.path, first, shown, LineFate.UNRESOLVED, str(error))


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


def _resting(
    file: str, line: int, slug: str, facts: SpecFacts, place: tuple[CitationLine, str]
) -> CitedValue:
    """A value on these lines; CitationError where they lack it."""
    citation, quote = place
    if not citation.proven_by(quote):
        number = facts.shown.partition(" ")[0]
        raise CitationError(f"{number} does not stand in {citation.locator} of {citation.path}")
    other = other_unit(quote, facts.shown)
    if other is not None:
        unit = facts.shown.partition(" ")[2]
        lines = f"{citation.locator} of {citation.path}"
        raise CitationError(f"{lines} gives it in {other}, not {unit}")
    return CitedValue(file, line, slug, facts, citation, quote)


def _unknown_platform(name: str, names: PlatformNames) -> str:
    known = ", ".join(sorted(set(names.platforms.values()))) or "none yet"
    near = ", ".join(names.nearest(name[:SHOWN]))
    nearest = f"nearest: {near}; " if near else ""
    return f"no platform is named '{name}'; {nearest}accepted: {known}"


def read_citations(
    path: str, text: str, names: PlatformNames, texts: Mapping[str, str]
) -> list[CitedValue | LineOutcome]:
    """Every citation line of a plain Markdown file."""
    return [
        _statement(statement, names, texts)
        for statement in read_list(path, text, texts)
        if statement.outcome is not StatementState.TEXT
    ]


def _statement(
    said: Statement, names: PlatformNames, texts: Mapping[str, str]
) -> CitedValue | LineOutcome:
    shown = said.text.strip()[:SHOWN]
    if said.outcome is StatementState.UNKNOWN:
        return LineOutcome(
            said.file, said.line, shown, LineFate.UNKNOWN, f"{said.metric}: {said.reason}"
        )
    cited = said.citation
    if said.outcome is not StatementState.OK or cited is None:
        return LineOutcome(said.file, said.line, shown, LineFate.UNRESOLVED, said.reason)
    slug = names.documents.get(cited.path)
    if slug is None:
        why = f"{cited.path} does not say which platform it is about; accepted: the name of one as "
        return LineOutcome(
            said.file, said.line, shown, LineFate.UNRESOLVED, f"{why}its title or file name"
        )
    try:
        facts = SpecFacts(
            said.metric,
            said.shown,
            EvidenceClass.DOCUMENTED,
            SourceKind.TERTIARY,
            f"{cited.path}, as cited in {said.file}",
        )
        return _resting(said.file, said.line, slug, facts, (cited, said.quote))
    except (CitationError, FactsError, MetricError, QuantityError) as error:
        return LineOutcome(said.file, said.line, shown, LineFate.UNRESOLVED, str(error))
