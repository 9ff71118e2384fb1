"""What was learned as a page for people; its lessons import again."""

from __future__ import annotations

import re
from collections.abc import Iterable

from knowledge.experience.terms import Bottleneck
from knowledge.experience.writers.selection import Selection
from knowledge.experience.writers.statistics import OpStatistics, Statistics, statistics
from knowledge.models import Gap, GapState, Lesson

MOST_ROWS = 50
HARMLESS = re.compile(r"^(\s*)([#*\-+>]|\d+[.)])", re.MULTILINE)


def markdown_text(selection: Selection) -> str:
    """Totals, a table by operation and backend, the best known of each, lessons, open questions."""
    found = statistics(selection)
    lessons = selection.lessons().order_by("pk")
    gaps = selection.gaps().filter(state=GapState.OPEN).order_by("pk")
    lines = ["# Experience", "", _totals(found), ""]
    if found.by_op:
        lines += ["## By operation and backend", "", *_table(found.by_op), ""]
    if found.bottlenecks:
        lines += ["## By bottleneck", "", *_bottlenecks(found), ""]
    lines += _lessons(lessons)
    lines += _gaps(gaps)
    return "\n".join(lines).rstrip() + "\n"


def _totals(found: Statistics) -> str:
    where = " ".join(f"{name}={value}" for name, value in found.scope.items())
    scope = f" with {where}" if where else ""
    noun = "attempt" if found.tried == 1 else "attempts"
    return f"{found.tried} {noun}{scope}: {found.worked} worked, {found.failed} did not."


def _table(rows: Iterable[OpStatistics]) -> list[str]:
    lines = [
        "| operation | backend | tried | worked | median gain | best known strategy |",
        "|---|---|---|---|---|---|",
    ]
    for row in list(rows)[:MOST_ROWS]:
        counts = (row.tried, row.worked, row.gain.words)
        cells = (row.op or "–", row.backend or "–", *counts, row.best or "–")
        lines.append(f"| {' | '.join(_cell(str(cell)) for cell in cells)} |")
    return lines


def _bottlenecks(found: Statistics) -> list[str]:
    rows = [f"| {Bottleneck(name).words} | {n} |" for name, n in found.bottlenecks.items()]
    return ["| bottleneck | tried |", "|---|---|", *rows]


def _lessons(lessons: Iterable[Lesson]) -> list[str]:
    lines = ["## Lessons", ""]
    for lesson in lessons:
        state = lesson.state.replace("_", "-")
        lines += [f"### lesson {lesson.uuid} — {state}", ""]
        for name in ("context", "signal", "takeaway", "applicability"):
            lines.append(f"- {name.title()}: {_prose(getattr(lesson, name))}")
        if lesson.avoid:
            lines.append("- Avoid: yes")
        scope = " ".join(f"{name}={value}" for name, value in lesson.scope.items())
        lines += [f"- Scope: {scope}"] if scope else []
        said = [
            f"{'agrees' if each.agrees else 'disagrees'} {each.entry.uuid}"
            for each in lesson.evidence.all()
        ]
        lines += [f"- Evidence: {', '.join(said)}"] if said else []
        lines.append("")
    return lines if len(lines) > 2 else []


def _gaps(gaps: Iterable[Gap]) -> list[str]:
    lines = [f"- {_prose(gap.question)}" for gap in gaps]
    return ["## Open questions", "", *lines] if lines else []


def _prose(text: str) -> str:
    """A stored text inside of a list item: no line of it begins an item or a heading of its own."""
    first, *others = text.strip().split("\n")
    return "\n".join([first, *(f"  {HARMLESS.sub(_escaped, line)}" for line in others)])


def _escaped(found: re.Match[str]) -> str:
    return f"{found[1]}\\{found[2]}"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
