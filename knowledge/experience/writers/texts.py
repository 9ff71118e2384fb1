"""Experience as a file: CSV, JSON or Markdown."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from knowledge.experience.readers.drafts import TEXTS
from knowledge.experience.readers.own_formats import ENTRY_FIELDS, FORMAT, NESTED
from knowledge.experience.terms import Bottleneck
from knowledge.experience.writers.selection import (
    Selection,
    entry_record,
    gap_record,
    lesson_record,
)
from knowledge.experience.writers.statistics import statistics
from knowledge.models import Experience, GapState, Lesson
from knowledge.specs.facts import named_values

MOST_ROWS = 50
HARMLESS = re.compile(r"^(\s*)([#*\-+>]|\d+[.)])", re.MULTILINE)
# A spreadsheet takes a text that begins with one of these for a formula; with the apostrophe
# itself, so that the reader can take one away from every text.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "'")


def markdown_text(selection: Selection) -> str:
    """Totals, a table by operation and backend, the best known of each, lessons, open questions."""
    found = statistics(selection)
    lessons = selection.lessons().order_by("pk")
    gaps = selection.gaps().filter(state=GapState.OPEN).order_by("pk")
    where = named_values(found.scope)
    scope = f" with {where}" if where else ""
    noun = "attempt" if found.tried == 1 else "attempts"
    totals = f"{found.tried} {noun}{scope}: {found.worked} worked, {found.failed} showed no gain."
    lines = ["# Experience", "", totals, ""]
    if found.by_op:
        head = "| operation | backend | tried | worked | median gain | best known strategy |"
        lines += ["## By operation and backend", "", head, "|---|---|---|---|---|---|"]
        for row in found.by_op[:MOST_ROWS]:
            counts = (row.tried, row.worked, row.gain.words)
            cells = (row.op or "–", row.backend or "–", *counts, row.best or "–")
            plain = (" ".join(str(cell).split()).replace("|", "\\|") for cell in cells)
            lines.append(f"| {' | '.join(plain)} |")
        lines.append("")
    if found.bottlenecks:
        rows = [f"| {Bottleneck(name).words} | {n} |" for name, n in found.bottlenecks.items()]
        lines += ["## By bottleneck", "", "| bottleneck | tried |", "|---|---|", *rows, ""]
    lines += _lessons(lessons)
    asked = [f"- {_prose(gap.question)}" for gap in gaps]
    lines += ["## Open questions", "", *asked] if asked else []
    return "\n".join(lines).rstrip() + "\n"


def _lessons(lessons: Iterable[Lesson]) -> list[str]:
    lines = ["## Lessons", ""]
    for lesson in lessons:
        state = lesson.state.replace("_", "-")
        lines += [f"### lesson {lesson.uuid} — {state}", ""]
        for name in TEXTS:
            lines.append(f"- {name.title()}: {_prose(getattr(lesson, name))}")
        if lesson.avoid:
            lines.append("- Avoid: yes")
        scope = named_values(lesson.scope)
        lines += [f"- Scope: {scope}"] if scope else []
        said = [
            f"{'agrees' if each.agrees else 'disagrees'} {each.entry.uuid}"
            for each in lesson.evidence.all()
        ]
        lines += [f"- Evidence: {', '.join(said)}"] if said else []
        lines.append("")
    return lines if len(lines) > 2 else []


def _prose(text: str) -> str:
    """A stored text inside of a list item: no line of it begins an item or a heading of its own."""
    first, *others = text.strip().split("\n")
    escaped = (HARMLESS.sub(r"\1\\\2", line) for line in others)
    return "\n".join([first, *(f"  {line}" for line in escaped)])


def json_text(selection: Selection) -> str:
    """The oldest first, so that what is exported again differs at the end alone."""
    everything = {
        "format": FORMAT,
        "experience": [entry_record(each) for each in selection.entries().order_by("pk")],
        "lessons": [lesson_record(each) for each in selection.lessons().order_by("pk")],
        "gaps": [gap_record(each) for each in selection.gaps().order_by("pk")],
    }
    return json.dumps(everything, indent=1, allow_nan=False, ensure_ascii=False) + "\n"


def csv_text(entries: Iterable[Experience]) -> str:
    """A row an attempt; lists and objects as JSON, nothing for what is not known."""
    # Only here: pandas takes a second to load, which no other page waits for.
    from pandas import DataFrame

    rows = [{name: _cell(name, said) for name, said in entry_record(e).items()} for e in entries]
    # As objects: numbers keep all their digits, and whole ones stay whole beside empty cells.
    table = DataFrame(rows, columns=list(ENTRY_FIELDS), dtype=object)
    text: str = table.to_csv(index=False, lineterminator="\n")
    return text


def _cell(name: str, said: Any) -> Any:
    if name in NESTED:
        return json.dumps(said, ensure_ascii=False) if said else None
    if isinstance(said, str):
        return f"'{said}" if said.startswith(FORMULA) else said
    return said
