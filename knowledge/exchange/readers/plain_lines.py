"""Citation lines in plain Markdown, as the gpu-wiki users write them, checked against its files.

    - memory_bandwidth: 4.8 TB/s <- <gpu-wiki>/docs/hardware/h200.md:L23

They may stand in lists, tables, quotes and prose, several in a line. Nothing is dropped: each
statement is a value or has an outcome that says why it is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from knowledge.exchange.readers.foreign import SHOWN, CitedValue, LineFate, LineOutcome, resting
from knowledge.lookup.platform_names import PlatformNames
from knowledge.specs.citation import (
    SHAPE,
    WIKI,
    CitationError,
    CitationLine,
    check_path,
    contains,
    quoted,
    split_lines,
)
from knowledge.specs.cited import EvidenceClass
from knowledge.specs.facts import UNKNOWN_VALUE, SourceKind, SpecFacts
from knowledge.specs.hedges import hedged, hedged_number
from knowledge.specs.metrics import MetricDefinition, MetricError, resolve_metric
from knowledge.specs.quantity import Quantity
from knowledge.specs.spellings import our_unit

ARROW = "<-"
# Bounded, so that a line of a megabyte is read in one go.
STATEMENT = re.compile(
    r"(?P<metric>[^:|<>`]{0,80}[^\s:|<>`*_])[*_]{0,3}: *(?P<shown>[^<|`]{0,80}[^<|`\s])"
    rf" *<- *{re.escape(WIKI)}(?P<path>[^\s:|`,;)]+)(?::(?P<where>[^\s|`,;)]+))?"
)
GAP = re.compile(r"(?P<metric>[^:|<>`]{0,80}[^\s:|<>`*_])[*_]{0,3}: *UNKNOWN\b(?P<why>[^|`]*)")
WHERE = re.compile(r"L?(?P<first>[1-9]\d*)(?:-L?(?P<last>[1-9]\d*))?\.?")
MARKER = re.compile(r"^\s*(?:[-*+>]|\d+[.)])?\s*[*_]*")
# A value without a source: "sm_count: 132 SM", and no address or time of day.
SOURCELESS = re.compile(r"\s*(?:[-*+]\s+)?[A-Za-z][\w ()-]*: [~≈]?\d[\d.,]* ?[A-Za-z/%]*\s*")


def read_citations(
    path: str, text: str, names: PlatformNames, texts: Mapping[str, str]
) -> Iterator[CitedValue | LineOutcome]:
    """Every citation line of a plain Markdown file, in order; several in one line are several.

    texts: the documents that they may cite, by path, line endings as they are in the files.
    """
    for number, line in enumerate(split_lines(text), start=1):
        found = list(STATEMENT.finditer(line)) if ARROW in line else []
        for each in found:
            try:
                citation, quote = _resolved(each, texts)
                slug = names.documents.get(citation.path)
                if slug is None:
                    raise CitationError(
                        f"{citation.path} does not say which platform it is about; accepted: the "
                        "name of one as its title or file name"
                    )
                source = f"{citation.path}, as cited in {path}"
                own = (EvidenceClass.DOCUMENTED, SourceKind.TERTIARY, source)
                facts = SpecFacts(citation.metric, citation.shown, *own)
                yield resting(path, number, slug, facts, (citation, quote))
            except ValueError as error:
                yield _told(path, number, line, LineFate.UNRESOLVED, str(error))
        left = line.count(ARROW) - len(found)
        if found and left > 0:
            reason = f"{left} more '{ARROW}' in this line that do not read as {SHAPE}"
            yield _told(path, number, line, LineFate.UNRESOLVED, reason)
        elif not found:
            yield from _without(path, number, line)


def _told(path: str, number: int, line: str, fate: LineFate, why: str) -> LineOutcome:
    return LineOutcome(path, number, line.strip()[:SHOWN], fate, why)


def _without(path: str, number: int, line: str) -> Iterator[LineOutcome]:
    """A line without a statement: what it says to be unknown, or lacks; nothing of other text."""
    here = (path, number, line)
    gap = GAP.search(line) if UNKNOWN_VALUE in line else None
    if gap is not None:
        try:
            said = gap["why"].strip(" ().") or "no reason given"
            yield _told(*here, LineFate.UNKNOWN, f"{_metric(gap['metric']).name}: {said}")
        except MetricError as error:
            yield _told(*here, LineFate.UNRESOLVED, str(error))
    elif WIKI in line or (ARROW in line and ":" in line.partition(ARROW)[0]):
        yield _told(*here, LineFate.UNRESOLVED, f"it does not read as {SHAPE}")
    elif SOURCELESS.fullmatch(line):
        yield _told(*here, LineFate.UNRESOLVED, "the value has no citation")


def _resolved(found: re.Match[str], texts: Mapping[str, str]) -> tuple[CitationLine, str]:
    """The lines that a statement cites, with their text. A ValueError says why they do not hold."""
    metric = _metric(found["metric"])
    written = found["shown"].strip(" *_")
    shown = _shown(metric, written)
    path = found["path"].rstrip(".") if not found["where"] else found["path"]
    lines = WHERE.fullmatch(found["where"] or "")
    if lines is None:
        named = f"'{found['where']}' is no line" if found["where"] else "it names no line"
        raise CitationError(f"{named}; accepted after the path: :L23 or :L23-L25")
    first = int(lines["first"])
    check_path(path)
    citation = CitationLine(metric.name, shown, path, first, int(lines["last"] or first))
    text = texts.get(path)
    if text is None:
        raise CitationError(f"there is no {path} in the folder")
    quote = quoted(text, citation.first_line, citation.last_line)
    if quote is None:
        count = len(split_lines(text))
        raise CitationError(f"{citation.locator} is beyond the end: {path} has {count} lines")
    if not contains(quote, written):
        number = written.partition(" ")[0] if metric.numeric else written
        raise CitationError(f"{number} does not stand in {citation.locator} of {path}")
    hedge = hedged_number(quote, written)
    if hedge:
        raise CitationError(f"hedged: {citation.locator} says '{hedge}' of {written}")
    return citation, quote


def _metric(written: str) -> MetricDefinition:
    return resolve_metric(re.sub(r"[\s-]+", "_", MARKER.sub("", written).strip().lower()))


def _shown(metric: MetricDefinition, written: str) -> str:
    """The value in our spelling of its unit."""
    hedge = hedged(written)
    if hedge:
        raise CitationError(f"hedged: the value says '{hedge}'")
    if not metric.numeric:
        return written
    number, _, unit = written.partition(" ")
    shown = f"{number} {our_unit(unit.strip())}" if unit else number
    if Quantity.parse(shown).canonical().unit != metric.unit:
        kept = f"{metric.name} is kept in {metric.unit}"
        raise CitationError(f"{shown} is no {metric.dimension}: {kept}")
    return shown
