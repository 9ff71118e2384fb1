"""One finished sweep as a table: what was tried, what the build said, how it went.

A file is CSV, plain or packed (.csv, .csv.gz): a first line `# ` with the header as JSON, then a
column a knob, a column `fact:NAME` a fact of the build, `outcome` (`measured`, or why there is no
time) and `time_us`.
"""

from __future__ import annotations

import gzip
import io
import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pandas as pd

from campaigns.evaluator.contract import Param
from campaigns.strategies.base import Point, SearchTrial, TrialFailure

MEASURED = "measured"
OUTCOMES = (MEASURED, *TrialFailure)
FACT = "fact:"
OUTCOME, TIME_US = "outcome", "time_us"
ENCODING = "utf-8"


class LandscapeError(ValueError):
    """A file is no landscape; the message names the file, the place, and what is accepted."""


class RecordedKnob(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    values: tuple[Param, ...]


class LandscapeHeader(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What was swept and where. made: how and when, in words; unknown things are empty."""

    kernel: str
    knobs: tuple[RecordedKnob, ...]
    op: str = ""
    backend: str = ""
    device: str = ""
    versions: Mapping[str, str] = {}
    cases: tuple[str, ...] = ()
    made: str = ""

    @property
    def names(self) -> list[str]:
        return [knob.name for knob in self.knobs]


class LandscapeRow(msgspec.Struct, frozen=True):
    """One point: its values in the order of the knobs, facts of its build, how it went."""

    values: tuple[Param, ...]
    trial: SearchTrial
    facts: Mapping[str, float] = {}


@dataclass(frozen=True, slots=True, eq=False)
class Landscape:
    """header, and a frame with a row a point; columns as in the file, values with their types."""

    header: LandscapeHeader
    frame: pd.DataFrame

    @classmethod
    def of(cls, header: LandscapeHeader, rows: Sequence[LandscapeRow]) -> Landscape:
        """From the rows of a sweep."""
        facts = dict.fromkeys(name for row in rows for name in row.facts)
        records = [
            dict(zip(header.names, row.values, strict=True))
            | {FACT + name: row.facts.get(name) for name in facts}
            | {OUTCOME: str(row.trial.failure or MEASURED), TIME_US: row.trial.time_us}
            for row in rows
        ]
        columns = [*header.names, *(FACT + name for name in facts), OUTCOME, TIME_US]
        frame = pd.DataFrame(records, columns=columns, dtype=object)
        numbers = {column: float for column in columns if column.startswith(FACT)}
        return cls(header, frame.astype(numbers | {TIME_US: float}))

    def rows(self) -> list[LandscapeRow]:
        facts = [column for column in self.frame.columns if column.startswith(FACT)]
        found = []
        for record in self.frame.to_dict("records"):
            trial = (
                SearchTrial(time_us=record[TIME_US])
                if record[OUTCOME] == MEASURED
                else SearchTrial(failure=TrialFailure(record[OUTCOME]))
            )
            known = {one.removeprefix(FACT): record[one] for one in facts}
            known = {name: value for name, value in known.items() if not math.isnan(value)}
            values = tuple(record[name] for name in self.header.names)
            found.append(LandscapeRow(values, trial, known))
        return found

    def trials(self) -> list[tuple[Point, SearchTrial]]:
        names = self.header.names
        return [(dict(zip(names, row.values, strict=True)), row.trial) for row in self.rows()]

    @property
    def best_us(self) -> float:
        """The shortest time; inf where nothing was measured."""
        return float(self.frame[TIME_US].min()) if self.frame[TIME_US].notna().any() else math.inf

    def to_csv(self) -> str:
        head = msgspec.json.encode(self.header).decode(ENCODING)
        return f"# {head}\n{self.frame.to_csv(index=False, lineterminator=chr(10))}"

    def save(self, path: Path) -> None:
        """Write CSV, packed where the name ends in .gz."""
        data = self.to_csv().encode(ENCODING)
        path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


def read_text(path: Path) -> str:
    """A text file, unpacked if its name ends in .gz. Raises LandscapeError."""
    try:
        data = path.read_bytes()
        return (gzip.decompress(data) if path.suffix == ".gz" else data).decode(ENCODING)
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise LandscapeError(f"{path}: {error}") from error


def read_landscape(path: Path) -> Landscape:
    """A CSV file of ours. Raises LandscapeError, which names line and field."""
    text = read_text(path)
    first = text.partition("\n")[0]
    if not first.startswith("# {"):
        raise LandscapeError(f"{path}, line 1: '# ' and a header in JSON are accepted")
    try:
        header = msgspec.json.decode(first[2:], type=LandscapeHeader)
    except msgspec.DecodeError as error:
        raise LandscapeError(f"{path}, line 1: {error}") from error
    try:
        cells = pd.read_csv(
            io.StringIO(text),
            skiprows=1,
            dtype=str,
            keep_default_na=False,
            skip_blank_lines=False,  # lines are counted
        )
    except ValueError as error:  # the parser's own errors are among them
        raise LandscapeError(f"{path}: {str(error).strip()}") from error
    needed = [*header.names, OUTCOME, TIME_US]
    if missing := [column for column in needed if column not in cells.columns]:
        raise LandscapeError(f"{path}, line 2: no column {missing[0]}")
    for column in cells.columns:
        if column not in needed and not column.startswith(FACT):
            raise LandscapeError(
                f"{path}, line 2, column {column}: a knob of the header, {FACT}NAME, "
                f"{OUTCOME} and {TIME_US} are accepted"
            )
    known = {knob.name: {str(value): value for value in knob.values} for knob in header.knobs}
    lines: dict[tuple[Param, ...], int] = {}
    rows = []
    for line, record in enumerate(cells.to_dict("records"), 3):
        rows.append(_row(f"{path}, line {line}", record, known))
        first_line = lines.setdefault(rows[-1].values, line)
        if first_line != line:
            raise LandscapeError(f"{path}, line {line}: the point of line {first_line} again")
    return Landscape.of(header, rows)


def _row(
    where: str, record: Mapping[str, str], known: Mapping[str, Mapping[str, Param]]
) -> LandscapeRow:
    """known: the values of each knob by their text."""

    def refused(column: str, accepted: str) -> LandscapeError:
        said = f"{where}, column {column}: '{record[column]}'"
        return LandscapeError(f"{said}; accepted: {accepted}")

    for name, texts in known.items():
        if record[name] not in texts:
            raise refused(name, ", ".join(texts))
    facts = {}
    for column in (one for one in record if one.startswith(FACT) and record[one]):
        try:
            facts[column.removeprefix(FACT)] = float(record[column])
        except ValueError as error:
            raise refused(column, "a number") from error
    outcome, time_us = record[OUTCOME], record[TIME_US]
    if outcome not in OUTCOMES:
        raise refused(OUTCOME, ", ".join(OUTCOMES))
    if outcome == MEASURED:
        try:
            trial = SearchTrial(time_us=float(time_us))
        except ValueError as error:
            raise refused(TIME_US, "a positive number of µs") from error
    elif time_us:
        raise refused(TIME_US, f"nothing beside {outcome}")
    else:
        trial = SearchTrial(failure=TrialFailure(outcome))
    return LandscapeRow(tuple(texts[record[name]] for name, texts in known.items()), trial, facts)
