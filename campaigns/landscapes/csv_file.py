"""A landscape from its CSV file."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pandas as pd

from campaigns.evaluator.contract import Param
from campaigns.landscapes.entries import read_text
from campaigns.landscapes.landscape import (
    FACT,
    MEASURED,
    OUTCOME,
    OUTCOMES,
    TIME_US,
    Landscape,
    LandscapeError,
    LandscapeHeader,
    LandscapeRow,
)
from campaigns.strategies.base import SearchTrial, TrialFailure


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
        table = pd.read_csv(
            io.StringIO(text),
            skiprows=1,
            dtype=str,
            keep_default_na=False,
            skip_blank_lines=False,  # lines are counted
        )
    except ValueError as error:  # the parser's own errors are among them
        raise LandscapeError(f"{path}: {str(error).strip()}") from error
    return Landscape.of(header, _CsvRows(path, header, table).rows())


@dataclass(frozen=True, slots=True)
class _CsvRows:
    """Cells as text, which become values, or an error that says where."""

    path: Path
    header: LandscapeHeader
    cells: pd.DataFrame

    def rows(self) -> list[LandscapeRow]:
        names = [knob.name for knob in self.header.knobs]
        for column in (*names, OUTCOME, TIME_US):
            if column not in self.cells.columns:
                raise LandscapeError(f"{self.path}, line 2: no column {column}")
        for column in self.cells.columns:
            if column not in (*names, OUTCOME, TIME_US) and not column.startswith(FACT):
                raise LandscapeError(
                    f"{self.path}, line 2, column {column}: a knob of the header, {FACT}NAME, "
                    f"{OUTCOME} and {TIME_US} are accepted"
                )
        known = [{str(value): value for value in knob.values} for knob in self.header.knobs]
        lines: dict[tuple[Param, ...], int] = {}
        rows = []
        for line, record in enumerate(self.cells.to_dict("records"), 3):
            rows.append(self._row(line, record, known))
            first = lines.setdefault(rows[-1].values, line)
            if first != line:
                raise LandscapeError(f"{self.path}, line {line}: the point of line {first} again")
        return rows

    def _row(
        self, line: int, record: Mapping[str, str], known: Sequence[Mapping[str, Param]]
    ) -> LandscapeRow:
        values = []
        for knob, texts in zip(self.header.knobs, known, strict=True):
            if record[knob.name] not in texts:
                raise self._error(line, knob.name, record, ", ".join(texts))
            values.append(texts[record[knob.name]])
        facts = {
            column.removeprefix(FACT): self._number(line, column, record)
            for column in record
            if column.startswith(FACT) and record[column]
        }
        return LandscapeRow(tuple(values), self._trial(line, record), facts)

    def _trial(self, line: int, record: Mapping[str, str]) -> SearchTrial:
        outcome, time_us = record[OUTCOME], record[TIME_US]
        if outcome not in OUTCOMES:
            raise self._error(line, OUTCOME, record, ", ".join(OUTCOMES))
        if outcome != MEASURED:
            if time_us:
                raise self._error(line, TIME_US, record, f"nothing beside {outcome}")
            return SearchTrial(failure=TrialFailure(outcome))
        try:
            return SearchTrial(time_us=self._number(line, TIME_US, record))
        except ValueError as error:
            raise self._error(line, TIME_US, record, "a positive number of µs") from error

    def _number(self, line: int, column: str, record: Mapping[str, str]) -> float:
        try:
            return float(record[column])
        except ValueError as error:
            raise self._error(line, column, record, "a number") from error

    def _error(
        self, line: int, column: str, record: Mapping[str, str], accepted: str
    ) -> LandscapeError:
        where = f"{self.path}, line {line}, column {column}"
        return LandscapeError(f"{where}: '{record[column]}'; accepted: {accepted}")
