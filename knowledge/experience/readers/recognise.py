"""PURE: the format of each file, and all of them read: drafts, and every fault with its line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any

from knowledge.experience.readers import (
    ineffective,
    optimisation_log,
    own_csv,
    own_json,
    tips,
    wiki_records,
)
from knowledge.experience.readers.drafts import (
    AttemptDraft,
    GapDraft,
    LessonDraft,
    ReadFault,
    ReadFiles,
    ReadRefused,
    SkippedRow,
)
from knowledge.experience.readers.json_rows import JsonRow, Lines, json_root, rows_of
from knowledge.specs.json_text import Node

TAKEN = (".json", ".jsonl", ".md", ".csv")
ACCEPTED = (
    "experiences.json, tips.md, verified_ineffective.jsonl, knowledge records (clean-1), "
    f"and {own_json.FORMAT} as .json, .csv or .md"
)
MOST_ROWS = 20_000
MOST_FAULTS = 200
MEMORY = re.compile(r"v\d+\.json")  # of the first system: one iteration of a campaign
Read = AttemptDraft | LessonDraft | GapDraft | SkippedRow | ReadRefused
Reader = Callable[[str, JsonRow], Any]


def read_files(files: Mapping[str, str]) -> ReadFiles:
    """All that the files hold. Nothing is raised: what cannot be read is among the faults."""
    found = ReadFiles()
    for path in sorted(files):
        try:
            _take(found, path, _rows(found, path, files[path]))
        except ReadRefused as refused:
            found.faults.append(ReadFault(path, refused.line, refused.field, refused.message))
    kept, left_out = optimisation_log.twice(found.attempts)
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


def _rows(found: ReadFiles, path: str, text: str) -> Iterable[Read]:
    name = PurePosixPath(path).name
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise ReadRefused(line, "", "a NUL character; accepted: text without")
    if name.endswith(".jsonl") and name == ineffective.NAME:
        return _named(found, ineffective.FORMAT, ineffective.read_ineffective(path, text))
    if name.endswith(".md") and tips.is_tips(path, text):
        form = tips.FORMAT if name == tips.NAME else tips.OWN_FORMAT
        return _named(found, form, tips.read_tips(path, text))
    if name.endswith(".csv") and own_csv.is_own_csv(text):
        return _named(found, own_csv.FORMAT, own_csv.read_csv(path, text))
    if name.endswith(".json"):
        return _json(found, path, name, text)
    if name.endswith(".md"):
        return [SkippedRow(path, 1, name, "holds no lesson; `wiki import` takes documents")]
    raise ReadRefused(1, "", f"not recognised; accepted: {ACCEPTED}")


def _json(found: ReadFiles, path: str, name: str, text: str) -> Iterable[Read]:
    node, lines = json_root(text)
    value = node.value
    if isinstance(value, dict):
        schema = str(value.get("schema", ""))
        if value.get("format") == own_json.FORMAT:
            return _named(found, own_json.FORMAT, _own(path, JsonRow(node, lines)))
        if schema.startswith(wiki_records.SCHEMA):
            return _named(found, wiki_records.FORMAT, _each(path, [node], lines, _record))
        if schema.startswith("hw-"):
            return [SkippedRow(path, 1, name, "hardware values; `wiki import` takes them")]
        if MEMORY.fullmatch(name):
            return [SkippedRow(path, 1, name, "a campaign's memory; `campaign import` takes it")]
    if isinstance(value, list):
        return _array(found, path, node, lines)
    raise ReadRefused(1, "", f"not recognised; accepted: {ACCEPTED}")


def _array(found: ReadFiles, path: str, node: Node, lines: Lines) -> Iterable[Read]:
    objects = [each for each in node.value if isinstance(each, dict)]
    if objects and all(str(e.get("schema", "")).startswith(wiki_records.SCHEMA) for e in objects):
        return _named(found, wiki_records.FORMAT, _each(path, node.items(), lines, _record))
    named = PurePosixPath(path).name == optimisation_log.FORMAT
    if named or any(e.keys() >= optimisation_log.MARKS for e in objects):
        rows = _each(path, node.items(), lines, optimisation_log.read_log_row)
        return _named(found, optimisation_log.FORMAT, rows)
    raise ReadRefused(1, "", f"not recognised; accepted: {ACCEPTED}")


def _own(path: str, row: JsonRow) -> Iterable[Read]:
    row.only(*own_json.PARTS)
    parts: tuple[tuple[str, Reader], ...] = (
        ("experience", own_json.read_entry),
        ("lessons", own_json.read_lesson),
        ("gaps", own_json.read_gap),
    )
    for part, read in parts:
        yield from _each(path, [each.node for each in row.rows(part)], row.lines, read)


def _each(path: str, nodes: list[Node], lines: Lines, read: Reader) -> Iterable[Read]:
    for row in rows_of(nodes, lines):
        if isinstance(row, ReadRefused):
            yield row
            continue
        try:
            yield read(path, row)
        except ReadRefused as refused:
            yield refused


def _record(path: str, row: JsonRow) -> Read:
    return wiki_records.read_record(path, row)


def _named(found: ReadFiles, form: str, rows: Iterable[Read]) -> Iterable[Read]:
    if form not in found.formats:
        found.formats.append(form)
    return rows
