"""Other tuners' files, packed or not: their text, and the entries of their JSON."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from campaigns.evaluator.contract import Param
from campaigns.landscapes.landscape import ENCODING, LandscapeError, RecordedKnob
from campaigns.strategies.base import SearchTrial


def read_text(path: Path) -> str:
    """A text file, unpacked if its name ends in .gz. Raises LandscapeError."""
    try:
        data = path.read_bytes()
        return (gzip.decompress(data) if path.suffix == ".gz" else data).decode(ENCODING)
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise LandscapeError(f"{path}: {error}") from error


@dataclass(frozen=True, slots=True)
class TunerEntry:
    """One tried point. where: the file and the entry, for errors."""

    where: str
    fields: Mapping[str, Any]

    def values(self, knobs: Iterable[RecordedKnob]) -> tuple[Param, ...]:
        """In the order of the knobs. Raises LandscapeError."""
        for knob in knobs:
            if self.fields.get(knob.name) not in knob.values:
                accepted = ", ".join(map(str, knob.values))
                raise self.error(knob.name, self.fields.get(knob.name), accepted)
        return tuple(self.fields[knob.name] for knob in knobs)

    def timed(self, field: str, time: object, in_us: float) -> SearchTrial:
        """in_us: how many µs its unit has. Raises LandscapeError."""
        try:
            return SearchTrial(time_us=float(time) * in_us)  # type: ignore[arg-type]
        except (TypeError, ValueError) as error:
            raise self.error(field, time, "a positive number") from error

    def error(self, field: str, found: object, accepted: str) -> LandscapeError:
        return LandscapeError(f"{self.where}, field {field}: {found!r}; accepted: {accepted}")


def read_json(path: Path, text: str) -> dict[str, Any]:
    """The object that the text is. Raises LandscapeError."""
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise LandscapeError(f"{path}, line {error.lineno}: {error.msg}") from error
    if not isinstance(data, dict):
        raise LandscapeError(f"{path}: a JSON object is accepted")
    return data


def objects_in(
    path: Path, word: str, found: Iterable[tuple[object, object]]
) -> Iterator[TunerEntry]:
    """Entries by name or number. Raises LandscapeError."""
    for name, fields in found:
        where = f"{path}, {word} {name}"
        if not isinstance(fields, dict):
            raise LandscapeError(f"{where}: an object is accepted")
        yield TunerEntry(where, fields)
