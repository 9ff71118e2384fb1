"""PURE: the format of each file, and all of them read: drafts, and every fault with its line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from knowledge.exchange.formats import load_all
from knowledge.experience import readers
from knowledge.experience.readers.drafts import (
    AttemptDraft,
    GapDraft,
    LessonDraft,
    Read,
    ReadFault,
    ReadFiles,
    ReadRefused,
    SkippedRow,
)
from knowledge.experience.readers.json_rows import FORMATS, GivenFile
from knowledge.experience.readers.optimisation_log import twice

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
            _take(found, path, _rows(found, GivenFile(path, files[path])))
        except ReadRefused as refused:
            found.faults.append(ReadFault(path, refused.line, refused.field, refused.message))
    kept, left_out = twice(found.attempts)
    found.attempts = kept
    found.left_out += left_out
    if found.rows > MOST_ROWS:
        said = f"{found.rows:,} rows; accepted: {MOST_ROWS:,} in one import"
        found.faults.append(ReadFault(next(iter(files), ""), 1, "rows", said))
    del found.faults[MOST_FAULTS:]
    return found


def _take(found: ReadFiles, path: str, rows: Iterable[Read]) -> None:
    for row in rows:
        match row:
            case AttemptDraft():
                found.attempts.append(row)
            case LessonDraft():
                found.lessons.append(row)
            case GapDraft():
                found.gaps.append(row)
            case SkippedRow():
                found.left_out.append(row)
            case ReadRefused():
                found.faults.append(ReadFault(path, row.line, row.field, row.message))


def _rows(found: ReadFiles, file: GivenFile) -> Iterable[Read]:
    if "\0" in file.text:
        line = file.text.count("\n", 0, file.text.index("\0")) + 1
        raise ReadRefused(line, "", "a NUL character; accepted: text without")
    known = next((each for each in FORMATS if each.detect(file)), None)
    if known is not None:
        if known.name not in found.formats:
            found.formats.append(known.name)
        return known.read(file)
    why = _why_left_out(file)
    if why:
        return [SkippedRow(file.path, 1, file.name, why)]
    raise ReadRefused(1, "", f"not recognised; accepted: {ACCEPTED}")


def _why_left_out(file: GivenFile) -> str:
    """What another import takes; "" for what none does."""
    if file.name.endswith(".md"):
        return "holds no lesson; `wiki import` takes documents"
    if isinstance(file.value, dict) and str(file.value.get("schema", "")).startswith("hw-"):
        return "hardware values; `wiki import` takes them"
    if isinstance(file.value, dict) and MEMORY.fullmatch(file.name):
        return "a campaign's memory; `campaign import` takes it"
    return ""
