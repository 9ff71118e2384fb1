"""PURE: our own JSON, as `writers.json_text` writes it: nothing is lost on the way back."""

from __future__ import annotations

from typing import Any

from knowledge.experience.readers.drafts import AttemptDraft, GapDraft, LessonDraft, ReadRefused
from knowledge.experience.readers.json_rows import JsonRow
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


def read_entry(file: str, row: JsonRow) -> AttemptDraft:
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


def read_lesson(file: str, row: JsonRow) -> LessonDraft:
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


def read_gap(file: str, row: JsonRow) -> GapDraft:
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
