"""Values in files that others wrote: JSON records, and citation lines in plain Markdown.

Every one of them has an outcome. What resolves names the lines that hold its number: those that it
cites, or its own lines in the JSON file, which is kept as a document. Nothing is dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from knowledge.specs.citation import CitationError, CitationLine, contains, quoted, split_lines
from knowledge.specs.cited import Evidence
from knowledge.specs.facts import FactsError, SourceKind, SpecFacts
from knowledge.specs.json_lines import value_lines, value_spans
from knowledge.specs.json_text import RecordError, parse_json
from knowledge.specs.kept import KeptWaiver
from knowledge.specs.metrics import MetricError
from knowledge.specs.plain import Outcome, Statement, read_list
from knowledge.specs.quantity import QuantityError
from knowledge.specs.records import SpecRecord, read_records

CITES = re.compile(r"<gpu-wiki>/(?P<path>[^\s:|`,;)]+)(?::L(?P<first>\d+)(?:-L(?P<last>\d+))?)?")
RECORD = re.compile(r"\$(?:\.records)?\[(?P<number>\d+)\]")
SHOWN = 160  # characters of a line that an outcome repeats


class Fate(StrEnum):
    """What becomes of a line."""

    RESOLVED = "resolved"
    STANDS = "stands already"
    UNKNOWN = "unknown"
    LEFT_OUT = "left out"
    UNRESOLVED = "unresolved"


@dataclass(frozen=True, slots=True)
class Told:
    """One line of a file, and what becomes of it."""

    file: str
    line: int
    text: str
    fate: Fate
    why: str = ""


@dataclass(frozen=True, slots=True)
class Value:
    """A value that does not come from a document's own spec lines, and the lines it rests on.

    revision: the hash of an earlier text of that document, "" for the newest. The rank of its
    facts counts only where `ranked`; otherwise the value is preferred if nothing else is.
    """

    file: str
    line: int
    platform: str
    facts: SpecFacts
    citation: CitationLine
    quote: str
    state: str = "proposed"
    ranked: bool = False
    revision: str = ""
    waivers: tuple[KeptWaiver, ...] = ()

    def told(self, fate: Fate, why: str = "") -> Told:
        """The outcome of this value."""
        return Told(self.file, self.line, str(self.citation), fate, why)


@dataclass(frozen=True, slots=True)
class Names:
    """What is needed to resolve: platform names in small letters → slug, and document → slug."""

    platforms: Mapping[str, str]
    documents: Mapping[str, str]

    def slug(self, name: str) -> str | None:
        """The platform of exactly this slug, name or alias; blanks and case do not count."""
        plain = " ".join(name.split()).casefold()
        return self.platforms.get(plain) or self.platforms.get(plain.replace(" ", "-"))


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

    def told(self, place: str, fate: Fate, why: str) -> Told:
        first, _ = self.at(place)
        return Told(self.path, first, self.rows[first - 1].strip()[:SHOWN], fate, why)


def read_json(path: str, text: str, names: Names, texts: Mapping[str, str]) -> list[Value | Told]:
    """Every record of a JSON file. texts: the documents that they may cite, by path."""
    try:
        parse_json(text)
    except RecordError as error:
        return [Told(path, 1, "", Fate.UNRESOLVED, str(error))]
    file = _JsonFile(path, split_lines(text), value_lines(text), json_document(path, text)[0])
    found: list[Value | Told] = []
    for at, part in _parts(text):
        try:
            read = read_records(part)
        except RecordError as error:
            place, _, why = _moved(str(error), at).partition(": ")
            found.append(file.told(place, Fate.UNRESOLVED, f"{place}: {why}"))
            continue
        found += [
            _record(file, _moved(each.place, at), each, names, texts) for each in read.records
        ]
        for left in read.left_out:
            found.append(file.told(_moved(left.place, at), Fate.LEFT_OUT, left.reason))
    return found


def _parts(text: str) -> Iterator[tuple[str, str]]:
    """Where each record of a list stands and a list of it alone; or the whole text, "" as place."""
    spans = value_spans(text)
    records = [place for place in spans if RECORD.fullmatch(place)]
    if not records or "$.schema" in spans:
        yield "", text
        return
    for place in sorted(records, key=lambda place: spans[place]):
        start, end = spans[place]
        yield place, f"[{text[start:end]}]"


def _moved(said: str, at: str) -> str:
    return said.replace("$[0]", at, 1) if at else said


def _record(
    file: _JsonFile, place: str, record: SpecRecord, names: Names, texts: Mapping[str, str]
) -> Value | Told:
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
        return Told(file.path, first, shown, Fate.UNRESOLVED, str(error))


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
) -> Value:
    """A value on these lines; CitationError where they lack it."""
    citation, quote = place
    if facts.known and not contains(quote, facts.shown):
        number = facts.shown.partition(" ")[0]
        raise CitationError(f"{number} does not stand in {citation.locator} of {citation.path}")
    return Value(file, line, slug, facts, citation, quote)


def _unknown_platform(name: str, names: Names) -> str:
    known = ", ".join(sorted(set(names.platforms.values()))) or "none yet"
    return f"no platform is named '{name}'; accepted: {known}"


def read_citations(
    path: str, text: str, names: Names, texts: Mapping[str, str]
) -> list[Value | Told]:
    """Every citation line of a plain Markdown file."""
    return [
        _statement(statement, names, texts)
        for statement in read_list(path, text, texts)
        if statement.outcome is not Outcome.TEXT
    ]


def _statement(said: Statement, names: Names, texts: Mapping[str, str]) -> Value | Told:
    shown = said.text.strip()[:SHOWN]
    if said.outcome is Outcome.UNKNOWN:
        return Told(said.file, said.line, shown, Fate.UNKNOWN, f"{said.metric}: {said.reason}")
    cited = said.citation
    if said.outcome is not Outcome.OK or cited is None:
        return Told(said.file, said.line, shown, Fate.UNRESOLVED, said.reason)
    slug = names.documents.get(cited.path)
    if slug is None:
        why = f"{cited.path} does not say which platform it is about; accepted: the name of one as "
        return Told(said.file, said.line, shown, Fate.UNRESOLVED, f"{why}its title or file name")
    try:
        facts = SpecFacts(
            said.metric,
            said.shown,
            Evidence.DOCUMENTED,
            SourceKind.TERTIARY,
            f"{cited.path}, as cited in {said.file}",
        )
        return _resting(said.file, said.line, slug, facts, (cited, said.quote))
    except (CitationError, FactsError, MetricError, QuantityError) as error:
        return Told(said.file, said.line, shown, Fate.UNRESOLVED, str(error))
