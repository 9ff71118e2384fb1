"""PURE: the format of each file, and all of them read: drafts, and every fault with its line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from knowledge.exchange.formats import GivenFile, load_all
from knowledge.experience import readers
from knowledge.experience.readers.drafts import (
    FORMATS,
    AttemptDraft,
    GapDraft,
    LessonDraft,
    Read,
    ReadFault,
    ReadFiles,
    SkippedRow,
)
from knowledge.experience.readers.optimisation_log import twice
from knowledge.specs.json_text import RecordError

load_all(readers.__name__, readers.__path__)

TAKEN = (".json", ".jsonl", ".md", ".csv")
ACCEPTED = ", ".join(sorted(each.sign for each in FORMATS if each.sign))
MOST_ROWS = 20_000
MOST_FAULTS = 200
MEMORY = re.compile(r"v\d+\.json")  # of the first system: one iteration of a campaign


def read_files(files: Mapping[str, str]) -> ReadFiles:
    """All that the files hold. Nothing is raised: what cannot be read is among the faults."""
    found = ReadFiles()
    for path in sorted(files):
        try:
            for row in _rows(found, GivenFile(path, files[path])):
                _take(found, path, row)
        except RecordError as error:
            found.faults.append(ReadFault(path, error.line, error.key, error.message, False))
    found.attempts, again = twice(found.attempts)
    found.left_out += again
    if found.rows > MOST_ROWS:
        said = f"{found.rows:,} rows; accepted: {MOST_ROWS:,} in one import"
        found.faults.append(ReadFault(next(iter(files), ""), 1, "rows", said, False))
    del found.faults[MOST_FAULTS:]
    return found


def _take(found: ReadFiles, path: str, row: Read) -> None:
    match row:
        case AttemptDraft():
            found.attempts.append(row)
        case LessonDraft():
            found.lessons.append(row)
        case GapDraft():
            found.gaps.append(row)
        case SkippedRow():
            found.left_out.append(row)
        case RecordError():
            found.faults.append(ReadFault(path, row.line, row.key, row.message))


def _rows(found: ReadFiles, file: GivenFile) -> Iterable[Read]:
    if "\0" in file.text:
        line = file.text.count("\n", 0, file.text.index("\0")) + 1
        raise RecordError("a NUL character; accepted: text without", line=line)
    known = next((each for each in FORMATS if each.detect(file)), None)
    if known is not None:
        if known.name not in found.formats:
            found.formats.append(known.name)
        return known.read(file)
    if file.name.endswith(".md"):
        why = "holds no lesson; `wiki import` takes documents"
    elif isinstance(file.value, dict) and str(file.value.get("schema", "")).startswith("hw-"):
        why = "hardware values; `wiki import` takes them"
    elif isinstance(file.value, dict) and MEMORY.fullmatch(file.name):
        why = "a campaign's memory; `campaign import` takes it"
    else:
        raise RecordError(f"not recognised; accepted: {ACCEPTED}")
    return [SkippedRow(file.path, 1, file.name, why)]
