"""One finished sweep as a table: what was tried, what the build said, how it went.

A file is CSV, plain or packed (.csv, .csv.gz): a first line `# ` with the header as JSON, then a
column a knob, a column `fact:NAME` a fact of the build, `outcome` (`measured`, or why there is no
time) and `time_us`.
"""

from __future__ import annotations

import gzip
import math
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
        names = [knob.name for knob in header.knobs]
        facts = dict.fromkeys(name for row in rows for name in row.facts)
        records = [
            dict(zip(names, row.values, strict=True))
            | {FACT + name: row.facts.get(name) for name in facts}
            | {OUTCOME: str(row.trial.failure or MEASURED), TIME_US: row.trial.time_us}
            for row in rows
        ]
        columns = [*names, *(FACT + name for name in facts), OUTCOME, TIME_US]
        frame = pd.DataFrame(records, columns=columns, dtype=object)
        numbers = {column: float for column in columns if column.startswith(FACT)}
        return cls(header, frame.astype(numbers | {TIME_US: float}))

    def rows(self) -> list[LandscapeRow]:
        names = [knob.name for knob in self.header.knobs]
        facts = [column for column in self.frame.columns if column.startswith(FACT)]
        return [
            LandscapeRow(
                tuple(record[name] for name in names),
                _trial(record[OUTCOME], record[TIME_US]),
                {
                    column.removeprefix(FACT): record[column]
                    for column in facts
                    if not math.isnan(record[column])
                },
            )
            for record in self.frame.to_dict("records")
        ]

    def trials(self) -> list[tuple[Point, SearchTrial]]:
        names = [knob.name for knob in self.header.knobs]
        return [(dict(zip(names, row.values, strict=True)), row.trial) for row in self.rows()]

    @property
    def best_us(self) -> float:
        """The shortest time; inf where nothing was measured."""
        return float(self.frame[TIME_US].min()) if self.frame[TIME_US].notna().any() else math.inf

    def to_csv(self) -> str:
        head = msgspec.json.encode(self.header).decode(ENCODING)
        return f"# {head}\n{self.frame.to_csv(index=False, lineterminator=chr(10))}"

    def save(self, path: Path) -> None:
        """By the ending: .csv, .csv.gz, or .parquet, which needs pyarrow. Raises LandscapeError."""
        if path.suffix == ".parquet":
            self._save_parquet(path)
            return
        data = self.to_csv().encode(ENCODING)
        path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)

    def _save_parquet(self, path: Path) -> None:
        try:
            frame = self.frame.infer_objects()
            frame.attrs["kopt"] = msgspec.to_builtins(self.header)
            frame.to_parquet(path, engine="pyarrow")
        except ImportError as error:
            raise LandscapeError(f"{path}: Parquet needs pyarrow; .csv.gz needs nothing") from error


def _trial(outcome: str, time_us: float) -> SearchTrial:
    if outcome == MEASURED:
        return SearchTrial(time_us=time_us)
    return SearchTrial(failure=TrialFailure(outcome))
