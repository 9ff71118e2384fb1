"""Citation lines in plain Markdown, as the gpu-wiki users write them, checked against its files.

    - memory_bandwidth: 4.8 TB/s <- <gpu-wiki>/docs/hardware/h200.md:L23

They may stand in lists, tables, quotes and prose, several in a line. Nothing is dropped: each line
of a list has an outcome, and what does not resolve says why.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

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
from knowledge.specs.facts import UNKNOWN_VALUE
from knowledge.specs.hedges import hedged, hedged_number
from knowledge.specs.metrics import MetricDefinition, MetricError, resolve_metric
from knowledge.specs.quantity import Quantity, QuantityError
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


class StatementState(StrEnum):
    """What became of one statement, or of a line without any."""

    OK = "ok"
    UNKNOWN = "unknown"  # it says that nothing was found
    UNRESOLVED = "unresolved"
    TEXT = "text"  # no statement in this line


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement, or one line without any, of `file` at `line` (from 1).

    `ok` has the metric, the value as we write it, the citation and the quoted lines. `unknown` has
    the metric, and in `reason` what the line says of it. `unresolved` has the reason, and a
    citation where the line could be read so far. `text` is the line, without its line ending.
    """

    file: str
    line: int
    text: str
    outcome: StatementState
    reason: str = ""
    metric: str = ""
    shown: str = ""
    citation: CitationLine | None = None
    quote: str = ""


class _Unresolved(Exception):
    """Why a statement does not hold."""

    def __init__(self, reason: str, citation: CitationLine | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.citation = citation


def read_list(file: str, text: str, documents: Mapping[str, str]) -> list[Statement]:
    """Every line of a citation list that is not blank, in order, with its outcome.

    `documents` are the texts of the folder by path, line endings as they are in the files.
    """
    found: list[Statement] = []
    for number, line in enumerate(split_lines(text), start=1):
        if line.strip():
            found += _read_line(file, number, line, documents)
    return found


def _read_line(
    file: str, number: int, line: str, documents: Mapping[str, str]
) -> Iterator[Statement]:
    here = (file, number, line)
    found = list(STATEMENT.finditer(line)) if ARROW in line else []
    for each in found:
        try:
            yield _resolved(here, each, documents)
        except _Unresolved as error:
            unresolved = StatementState.UNRESOLVED
            yield Statement(*here, unresolved, error.reason, citation=error.citation)
    if found:
        left = line.count(ARROW) - len(found)
        if left > 0:
            reason = f"{left} more '{ARROW}' in this line that do not read as {SHAPE}"
            yield Statement(*here, StatementState.UNRESOLVED, reason)
        return
    gap = GAP.search(line) if UNKNOWN_VALUE in line else None
    if gap is not None:
        yield _gap(here, gap)
    elif WIKI in line or (ARROW in line and ":" in line.partition(ARROW)[0]):
        yield Statement(*here, StatementState.UNRESOLVED, f"it does not read as {SHAPE}")
    elif SOURCELESS.fullmatch(line):
        yield Statement(*here, StatementState.UNRESOLVED, "the value has no citation")
    else:
        yield Statement(*here, StatementState.TEXT)


def _gap(here: tuple[str, int, str], gap: re.Match[str]) -> Statement:
    try:
        metric = _metric(gap["metric"])
    except _Unresolved as error:
        return Statement(*here, StatementState.UNRESOLVED, error.reason)
    why = gap["why"].strip(" ().") or "no reason given"
    return Statement(*here, StatementState.UNKNOWN, why, metric.name, UNKNOWN_VALUE)


def _resolved(
    here: tuple[str, int, str], found: re.Match[str], documents: Mapping[str, str]
) -> Statement:
    metric = _metric(found["metric"])
    shown = _shown(metric, found["shown"].strip(" *_"))
    path = found["path"].rstrip(".") if not found["where"] else found["path"]
    citation = _citation(metric, shown, path, found["where"])
    text = documents.get(path)
    if text is None:
        raise _Unresolved(f"there is no {path} in the folder", citation)
    quote = quoted(text, citation.first_line, citation.last_line)
    if quote is None:
        count = len(split_lines(text))
        raise _Unresolved(
            f"{citation.locator} is beyond the end: {path} has {count} lines", citation
        )
    written = found["shown"].strip(" *_")
    if not contains(quote, written):
        number = written.partition(" ")[0] if metric.numeric else written
        raise _Unresolved(f"{number} does not stand in {citation.locator} of {path}", citation)
    hedge = hedged_number(quote, written)
    if hedge:
        raise _Unresolved(f"hedged: {citation.locator} says '{hedge}' of {written}", citation)
    return Statement(*here, StatementState.OK, "", metric.name, shown, citation, quote)


def _metric(written: str) -> MetricDefinition:
    name = re.sub(r"[\s-]+", "_", MARKER.sub("", written).strip().lower())
    try:
        return resolve_metric(name)
    except MetricError as error:
        raise _Unresolved(str(error)) from None


def _shown(metric: MetricDefinition, written: str) -> str:
    """The value in our spelling of its unit."""
    hedge = hedged(written)
    if hedge:
        raise _Unresolved(f"hedged: the value says '{hedge}'")
    if not metric.numeric:
        return written
    number, _, unit = written.partition(" ")
    try:
        shown = f"{number} {our_unit(unit.strip())}" if unit else number
        quantity = Quantity.parse(shown).canonical()
    except QuantityError as error:
        raise _Unresolved(str(error)) from None
    if quantity.unit != metric.unit:
        raise _Unresolved(
            f"{shown} is no {metric.dimension}: {metric.name} is kept in {metric.unit}"
        )
    return shown


def _citation(metric: MetricDefinition, shown: str, path: str, where: str | None) -> CitationLine:
    lines = WHERE.fullmatch(where or "")
    if lines is None:
        named = f"'{where}' is no line" if where else "it names no line"
        raise _Unresolved(f"{named}; accepted after the path: :L23 or :L23-L25")
    first = int(lines["first"])
    try:
        check_path(path)
        return CitationLine(metric.name, shown, path, first, int(lines["last"] or first))
    except CitationError as error:
        raise _Unresolved(str(error)) from None
