"""PURE: our own CSV, as `writers.csv_text` writes it: a row an attempt, what is nested as JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

from knowledge.experience.readers.drafts import AttemptDraft, ReadRefused
from knowledge.experience.readers.json_rows import JsonRow, json_root
from knowledge.experience.readers.own_json import ENTRY_FIELDS, NUMBERS, read_entry

FORMAT = "kopt CSV"
NESTED = ("shapes", "params", "evidence", "metrics")
COUNTS = ("pairs", "campaign", "round")


def is_own_csv(text: str) -> bool:
    """Whether the first line names our columns."""
    header = next(csv.reader(io.StringIO(text.partition("\n")[0])), [])
    return {"uuid", "label", "strategy"} <= set(header)


def read_csv(file: str, text: str) -> Iterator[AttemptDraft | ReadRefused]:
    """A row an attempt; in the place of one that cannot be read, why."""
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    unknown = [name for name in reader.fieldnames or () if name not in ENTRY_FIELDS]
    if unknown:
        said = f"unknown column; accepted: {', '.join(ENTRY_FIELDS)}"
        yield ReadRefused(1, unknown[0], said)
        return
    first = 2
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as error:
            yield ReadRefused(reader.line_num, "", f"no CSV: {error}")
            return
        if cells is None:
            return
        try:
            yield _attempt(file, first, cells)
        except ReadRefused as refused:
            yield ReadRefused(first, refused.field, refused.message)
        first = reader.line_num + 1


def _attempt(file: str, line: int, cells: dict[Any, Any]) -> AttemptDraft:
    if None in cells or None in cells.values():
        raise ReadRefused(line, "", "accepted: as many cells as there are columns")
    said: dict[str, Any] = {}
    for name, cell in cells.items():
        # The writer sets an apostrophe before what a spreadsheet would run as a formula.
        text = cell.removeprefix("'")
        if name in NESTED:
            said[name] = _nested(line, name, text)
        elif name in (*NUMBERS, *COUNTS):
            said[name] = _number(line, name, text)
        else:
            said[name] = text
    node, lines = json_root(json.dumps(said))
    draft = read_entry(file, JsonRow(node, lines))
    return AttemptDraft(
        file, line, draft.names, draft.values, ours=True, merged_into=draft.merged_into
    )


def _nested(line: int, name: str, text: str) -> Any:
    if not text.strip():
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise ReadRefused(line, name, "no JSON; accepted: a list or an object as JSON") from None


def _number(line: int, name: str, text: str) -> float | int | None:
    if not text.strip():
        return None
    try:
        return float(text) if name in NUMBERS else int(float(text))
    except (ValueError, OverflowError):
        raise ReadRefused(line, name, f"'{text[:40]}'; accepted: a number") from None
