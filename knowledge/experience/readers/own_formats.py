"""PURE: our own JSON and CSV, as `writers` writes them: nothing is lost on the way back.

In the CSV a row is an attempt, and what is nested is JSON.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

from knowledge.exchange.formats import Format, GivenFile
from knowledge.experience.readers.drafts import (
    FORMATS,
    TEXTS,
    AttemptDraft,
    GapDraft,
    LessonDraft,
    Read,
)
from knowledge.experience.terms import AttemptLabel, Bottleneck
from knowledge.specs.json_text import JsonNumber, Node, RecordError, load_strict

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


def _read_entry(file: str, row: Node) -> AttemptDraft:
    """One attempt. RecordError names the field that is wrong."""
    row.fields(ENTRY_FIELDS)
    short = {name: row[name].text(most) for name, most in SHORT.items()}
    standing = row["standing"].one_of(STANDINGS, "counts")
    # The round that it was measured in there; its number means another one here.
    campaign, number = row["campaign"].count(), row["round"].count()
    round_ = f"campaign {campaign} round {number}" if campaign and number else ""
    values: dict[str, Any] = {
        "uuid": row["uuid"].uuid(),
        "label": AttemptLabel(row["label"].one_of(LABELS)),
        "masked": standing == "masked",
        "named": short.pop("strategy_name"),
        "scope_class": short.pop("shape_class"),
        "arch": short.pop("arch"),
        "external": short.pop("external") or round_,
        **{name: row[name].text() for name in LONG},
        **{name: row[name].number() for name in NUMBERS},
        "pairs": row["pairs"].count() or 0,
        "shapes": row["shapes"].plain(list),
        "params": row["params"].plain(dict),
        "evidence": row["evidence"].texts(),
        "metrics": row["metrics"].plain(dict),
        "happened_at": row["happened_at"].moment(),
    }
    if not all(isinstance(shape, dict) for shape in values["shapes"]):
        raise row["shapes"].error("accepted: a list of objects, name → size")
    names = {name: short.pop(name) for name in ("op", "dtype", "backend", "platform", "strategy")}
    names["bottleneck"] = row["bottleneck"].one_of(BOTTLENECKS, "unknown")
    merged_into = row["merged_into"].uuid() if standing == "merged" else ""
    if standing == "merged" and not merged_into:
        raise row["merged_into"].error("is missing; accepted: the UUID that it was merged into")
    return AttemptDraft(file, row.line, names, values | short, ours=True, merged_into=merged_into)


def _read_lesson(file: str, row: Node) -> LessonDraft:
    """One lesson. RecordError names the field that is wrong."""
    row.fields(LESSON_FIELDS)
    texts = {name: row[name].text() for name in TEXTS}
    for name, text in texts.items():
        if not text.strip():
            raise row[name].error("is missing; accepted: all four fields")
    evidence = row["evidence"].plain(dict)
    if not all(isinstance(agrees, bool) for agrees in evidence.values()):
        raise row["evidence"].error("accepted: an object, UUID of an attempt → true or false")
    return LessonDraft(
        file,
        row.line,
        {name: row[name].text(120) for name in SCOPE},
        **texts,
        avoid=bool(row["avoid"].flag()),
        uuid=row["uuid"].uuid(),
        state=row["state"].one_of(LESSON_STATES, "proposed"),
        evidence=evidence,
        ours=True,
    )


def _read_gap(file: str, row: Node) -> GapDraft:
    """One open question. RecordError names the field that is wrong."""
    row.fields(GAP_FIELDS)
    question = row["question"].text()
    if not question.strip():
        raise row["question"].error("is missing; accepted: a text")
    return GapDraft(
        file,
        row.line,
        {name: row[name].text(120) for name in SCOPE},
        question,
        uuid=row["uuid"].uuid(),
        query=row["query"].text(500),
        state=row["state"].one_of(GAP_STATES, "open"),
        why=row["why"].text(),
    )


def _is_own_csv(file: GivenFile) -> bool:
    """Whether the first line names our columns."""
    header = next(csv.reader(io.StringIO(file.text.partition("\n")[0])), [])
    return file.name.endswith(".csv") and {"uuid", "label", "strategy"} <= set(header)


def _read_csv(file: GivenFile) -> Iterator[AttemptDraft | RecordError]:
    """A row an attempt; in the place of one that cannot be read, why."""
    reader = csv.DictReader(io.StringIO(file.text, newline=""), strict=True)
    for name in reader.fieldnames or ():
        if name not in ENTRY_FIELDS:
            yield RecordError(f"unknown column; accepted: {', '.join(ENTRY_FIELDS)}", key=name)
            return
    first = 2
    while True:
        try:
            cells = next(reader, None)
            if cells is None:
                return
            yield _read_entry(file.path, _row(first, cells))
        except csv.Error as error:
            yield RecordError(f"no CSV: {error}", line=reader.line_num)
            return
        except RecordError as error:
            yield error
        first = reader.line_num + 1


def _row(line: int, cells: dict[Any, Any]) -> Node:
    """The cells of a row as the object that the JSON has."""
    if None in cells or None in cells.values():
        raise RecordError("accepted: as many cells as there are columns", line=line)
    said: dict[str, Any] = {}
    row = Node("$", said, {"$": (line, line)})
    for name, cell in cells.items():
        # The writer sets an apostrophe before what a spreadsheet would run as a formula.
        text = cell.removeprefix("'")
        is_number = name in (*NUMBERS, *COUNTS)
        if not text.strip() and (is_number or name in NESTED):
            continue
        try:
            if is_number:
                said[name] = JsonNumber(float(text))
            else:
                said[name] = load_strict(text, number=JsonNumber) if name in NESTED else text
        except ValueError:
            shown = f"'{text[:40]}'; accepted: a number"
            message = shown if is_number else "no JSON; accepted: a list or an object as JSON"
            raise row[name].error(message) from None
    return row


def _is_own_json(file: GivenFile) -> bool:
    return isinstance(file.value, dict) and file.value.get("format") == FORMAT


def _read_json(file: GivenFile) -> Iterator[Read]:
    root = file.json
    root.fields(PARTS)
    yield from file.each(root["experience"].items(), _read_entry)
    yield from file.each(root["lessons"].items(), _read_lesson)
    yield from file.each(root["gaps"].items(), _read_gap)


FORMATS.append(Format(FORMAT, f"{FORMAT} as .json, .csv or .md", _is_own_json, _read_json))
FORMATS.append(Format(CSV_FORMAT, "", _is_own_csv, _read_csv))
