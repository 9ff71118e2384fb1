"""PURE: our own JSON and CSV, as `writers` writes them: nothing is lost on the way back.

In the CSV a row is an attempt, and what is nested is JSON.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

from knowledge.exchange.formats import Format
from knowledge.experience.readers.drafts import (
    AttemptDraft,
    GapDraft,
    LessonDraft,
    Read,
    ReadRefused,
)
from knowledge.experience.readers.json_rows import FORMATS, GivenFile, JsonRow, json_root
from knowledge.experience.readers.tips import TEXTS
from knowledge.experience.terms import AttemptLabel, Bottleneck

FORMAT = "kopt-experience-1"
PARTS = ("format", "experience", "lessons", "gaps")
SHORT = {
    "strategy": 120, "strategy_name": 300, "op": 60, "dtype": 20, "backend": 40, "platform": 80,
    "arch": 40, "shape_class": 80, "title": 300, "proposer": 40, "problem": 80, "verdict": 30,
    "reason": 40, "baseline": 200, "borne": 20, "compiler": 200, "driver": 100, "external": 80,
}  # fmt: skip
LONG = ("change", "precondition", "notes")
NUMBERS = ("gain", "gain_low", "gain_high", "expected_gain")
ENTRY_FIELDS = (
    *("uuid", "origin", "label", "standing", "merged_into", "bottleneck"),
    *(*SHORT, *LONG, *NUMBERS, "pairs", "shapes", "params", "evidence", "metrics"),
    *("campaign", "round", "happened_at"),
)
SCOPE = ("op", "dtype", "backend", "platform", "arch", "strategy")
LESSON_FIELDS = ("uuid", *TEXTS, "avoid", "state", *SCOPE, "evidence")
GAP_FIELDS = ("uuid", "question", "query", "state", "why", *SCOPE)
STANDINGS = ("counts", "masked", "merged")
LABELS = tuple(label.value for label in AttemptLabel)
BOTTLENECKS = tuple(each.value for each in Bottleneck)
LESSON_STATES = ("proposed", "active", "anti_pattern", "returned", "retracted")
GAP_STATES = ("open", "answered", "closed")
CSV_FORMAT = "kopt CSV"
NESTED = ("shapes", "params", "evidence", "metrics")
COUNTS = ("pairs", "campaign", "round")


def _read_entry(file: str, row: JsonRow) -> AttemptDraft:
    """One attempt. ReadRefused names the field that is wrong."""
    row.only(*ENTRY_FIELDS)
    short = {name: row.text(name, most) for name, most in SHORT.items()}
    standing = row.one_of("standing", STANDINGS, "counts")
    values: dict[str, Any] = {
        "uuid": row.uuid("uuid"),
        "label": AttemptLabel(row.one_of("label", LABELS)),
        "masked": standing == "masked",
        "named": short.pop("strategy_name"),
        "scope_class": short.pop("shape_class"),
        "arch": short.pop("arch"),
        "external": short.pop("external") or _round_words(row),
        **{name: row.text(name) for name in LONG},
        **{name: row.number(name) for name in NUMBERS},
        "pairs": row.count("pairs") or 0,
        "shapes": _shapes(row),
        "params": row.plain("params", dict),
        "evidence": row.texts("evidence"),
        "metrics": row.plain("metrics", dict),
        "happened_at": row.moment("happened_at"),
    }
    names = {name: short.pop(name) for name in ("op", "dtype", "backend", "platform", "strategy")}
    names["bottleneck"] = row.one_of("bottleneck", BOTTLENECKS, "unknown")
    merged_into = row.uuid("merged_into") if standing == "merged" else ""
    if standing == "merged" and not merged_into:
        row.refuse("merged_into", "is missing; accepted: the UUID that it was merged into")
    return AttemptDraft(file, row.line, names, values | short, ours=True, merged_into=merged_into)


def _read_lesson(file: str, row: JsonRow) -> LessonDraft:
    """One lesson. ReadRefused names the field that is wrong."""
    row.only(*LESSON_FIELDS)
    texts = {name: row.text(name) for name in TEXTS}
    for name, text in texts.items():
        if not text.strip():
            row.refuse(name, "is missing; accepted: all four fields")
    evidence = row.plain("evidence", dict)
    if not all(isinstance(agrees, bool) for agrees in evidence.values()):
        row.refuse("evidence", "accepted: an object, UUID of an attempt → true or false")
    return LessonDraft(
        file,
        row.line,
        {name: row.text(name, 120) for name in SCOPE},
        **texts,
        avoid=row.flag("avoid"),
        uuid=row.uuid("uuid"),
        state=row.one_of("state", LESSON_STATES, "proposed"),
        evidence=evidence,
        ours=True,
    )


def _read_gap(file: str, row: JsonRow) -> GapDraft:
    """One open question. ReadRefused names the field that is wrong."""
    row.only(*GAP_FIELDS)
    question = row.text("question")
    if not question.strip():
        row.refuse("question", "is missing; accepted: a text")
    return GapDraft(
        file,
        row.line,
        {name: row.text(name, 120) for name in SCOPE},
        question,
        uuid=row.uuid("uuid"),
        query=row.text("query", 500),
        state=row.one_of("state", GAP_STATES, "open"),
        why=row.text("why"),
    )


def _shapes(row: JsonRow) -> list[dict[str, Any]]:
    shapes = row.plain("shapes", list)
    if not all(isinstance(shape, dict) for shape in shapes):
        raise ReadRefused(row.line, "shapes", "accepted: a list of objects, name → size")
    return list(shapes)


def _round_words(row: JsonRow) -> str:
    """The round that it was measured in there; its number means another one here."""
    campaign, round_ = row.count("campaign"), row.count("round")
    return f"campaign {campaign} round {round_}" if campaign and round_ else ""


def _is_own_csv(file: GivenFile) -> bool:
    """Whether the first line names our columns."""
    header = next(csv.reader(io.StringIO(file.text.partition("\n")[0])), [])
    return file.name.endswith(".csv") and {"uuid", "label", "strategy"} <= set(header)


def _read_csv(file: GivenFile) -> Iterator[AttemptDraft | ReadRefused]:
    """A row an attempt; in the place of one that cannot be read, why."""
    reader = csv.DictReader(io.StringIO(file.text, newline=""), strict=True)
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
            yield _attempt(file.path, first, cells)
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
    draft = _read_entry(file, JsonRow(node, lines))
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


def _is_own_json(file: GivenFile) -> bool:
    return isinstance(file.value, dict) and file.value.get("format") == FORMAT


def _read_json(file: GivenFile) -> Iterator[Read]:
    node, lines = file.json
    row = JsonRow(node, lines)
    row.only(*PARTS)
    for part, read in (("experience", _read_entry), ("lessons", _read_lesson), ("gaps", _read_gap)):
        yield from file.each([each.node for each in row.rows(part)], read)


FORMATS.append(Format(FORMAT, f"{FORMAT} as .json, .csv or .md", _is_own_json, _read_json))
FORMATS.append(Format(CSV_FORMAT, "", _is_own_csv, _read_csv))
