"""A campaign folder of kernel-optimize: manifest.yaml, rounds/, logs/ that only grow, tips.md."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from campaigns.trails.importers.claims import (
    FORMATS,
    Claim,
    ClaimedCampaign,
    ClaimedRound,
    System,
    lacking,
    named,
    refused,
)
from campaigns.trails.importers.documents import read_yaml
from campaigns.trails.importers.markdown_reader import (
    MarkdownRow,
    MarkdownSection,
    MarkdownTable,
    facts,
    figure,
    said,
    sections,
    tables,
    tips_of,
    title_of,
)
from knowledge.exchange.formats import Format

FOLDER = re.compile(r"rounds/round-(\d{1,6})/(.+)")
TREND = "logs/performance_trend.md"
HISTORY = "logs/optimize.md"
STATES = ("BASELINE", "ACCEPTED", "ROLLBACK", "ROLLED BACK")
# The column that ranks the rounds. A forward-only operator has no step to combine.
STEP = re.compile(r"combined step\s*(?P<unit>.*)", re.IGNORECASE)
FORWARD = (
    re.compile(r"forward\s+(?P<unit>(?!time)[^\s_]+)(\s+(geo)?mean)?", re.IGNORECASE),
    re.compile(r"fwd avg\s*(?P<unit>.*)", re.IGNORECASE),
)
SCORES = "Combined Step <unit>, Forward <unit> or Fwd Avg"
KEYS = (
    *("target_op", "target_backend", "target_lang", "target_gpu", "execution_mode"),
    *("project_skill", "performance_target", "primary_metric", "target_shapes"),
    *("kernel_source", "test_command", "benchmark_command", "quick_command"),
    *("representative_shapes", "git_commit", "git_branch", "max_iterations", "created"),
)
TIMED = "wall clock around 50 calls; higher is better, and a failing shape makes it 0"
STEP_CONVENTION = (
    f"geometric mean over the shapes that pass, of forward and backward together, {TIMED}"
)
FORWARD_CONVENTION = f"geometric mean over the shapes that pass, forward alone, {TIMED}"


class ScoreColumn(NamedTuple):
    """The column of a trend that says how fast each round was."""

    place: int
    name: str
    unit: str
    convention: str


def read(files: Mapping[str, str]) -> ClaimedCampaign:
    """The whole campaign folder. Raises TrailRefused."""
    manifest = read_yaml("manifest.yaml", files.get("manifest.yaml", ""))
    manifest.word("execution_mode", ("repo", "workspace"))
    manifest.number("max_iterations")
    rows: list[ClaimedRound] = []
    lines: dict[int | None, int] = {}
    for one in _rows(files.get(TREND, "")):
        # A log that only grows corrects a row by another one with the same number.
        earlier, lines[one.number] = lines.get(one.number), one.line
        rows.append(replace(one, amends=f"{TREND}:L{earlier}") if earlier else one)
    folders = {int(found[1]) for name in files if (found := FOLDER.fullmatch(name))}
    for number in sorted(folders - lines.keys()):
        path = min(name for name in files if name.startswith(f"rounds/round-{number}/"))
        missing = ("row in the trend", "Status", "speed")
        rows.append(ClaimedRound(f"round-{number}", path, 1, number, missing=missing))
    history = files.get(HISTORY, "")
    stopped, best = _said(sections(history), "termination check"), _best(history)
    ineffective = [t for t in tables(HISTORY, history) if "ineffective" in t.title.lower()]
    lost = [
        Claim(table.title, " · ".join(filter(None, row.cells)), HISTORY, row.line)
        for table in ineffective
        for row in table.rows
    ]
    known = {name: manifest.get(name) for name in KEYS}
    known |= {"current best": best, "termination check": stopped}
    return ClaimedCampaign(
        System.OPTIMIZE,
        tuple(_with_folder(one, files) for one in rows),
        title=title_of(history),
        operator=manifest.text("target_op"),
        platform=manifest.text("target_gpu"),
        backend=manifest.text("target_backend"),
        incumbent=best,
        stop_reason=stopped,
        claims=(*manifest.claims, *lost),
        missing=lacking(known.items()),
        tips=tuple(tips_of("tips.md", files.get("tips.md", ""))),
    )


def _rows(text: str) -> Iterator[ClaimedRound]:
    for table in tables(TREND, text):
        score = _score(table)
        if score is None or not table.has("round", "status"):
            accepted = f"columns Round, Status and one of {SCORES}"
            raise refused(TREND, table.line, f"the head {', '.join(table.head)}", accepted)
        yield from (_row(row, score) for row in table.rows)


def _score(table: MarkdownTable) -> ScoreColumn | None:
    """The combined step where some round has one, else the forward direction."""
    found = [
        ScoreColumn(place, name, match["unit"].strip(" ()"), convention)
        for pattern, convention in (
            (STEP, STEP_CONVENTION),
            *((each, FORWARD_CONVENTION) for each in FORWARD),
        )
        for place, name in enumerate(table.head)
        if (match := pattern.fullmatch(name))
    ]
    filled = (one for one in found if any(said(row.cells[one.place]) for row in table.rows))
    return next(filled, found[0] if found else None)


def _row(row: MarkdownRow, score: ScoreColumn) -> ClaimedRound:
    number = re.search(r"\d{1,6}", row.text("round"))
    if not number:
        raise refused(TREND, row.line, f"Round: {row.text('round')!r}", "a round's number")
    word = row.text("status").upper().strip("*")
    if word not in STATES:
        raise refused(TREND, row.line, f"Status: {row.text('status')!r}", ", ".join(STATES))
    return ClaimedRound(
        name=f"round-{int(number[0])}",
        path=TREND,
        line=row.line,
        number=int(number[0]),
        title=row.text("description"),
        status=word,
        kept=word in ("BASELINE", "ACCEPTED"),
        figure=figure(TREND, row.line, score.name, row.cells[score.place])[0],
        unit=score.unit,
        metric=score.name,
        convention=score.convention,
        claims=row.claims,
        missing=row.empty,
    )


def _with_folder(one: ClaimedRound, files: Mapping[str, str]) -> ClaimedRound:
    folder = f"rounds/round-{one.number}/"
    path = f"{folder}summary.md"
    found = sections(files.get(path, ""))
    kernels = sorted(name for name in files if name.startswith(f"{folder}kernel_snapshot/"))
    told = tuple(
        Claim(section.title, section.text, path, section.line)
        for section in found
        if section.level > 1 and said(section.text)
        if not any(line.lstrip().startswith("|") for _, line in section.body)
    )
    results = tuple(
        claim
        for table in tables(path, files.get(path, ""))
        for row in table.rows
        for claim in row.claims
    )
    hypothesis, change = _said(found, "hypothesis"), _said(found, "single change")
    known = {"summary.md": path if path in files else "", "kernel_snapshot": "".join(kernels[:1])}
    known |= {"hypothesis": hypothesis} if one.number != 1 else {}
    return replace(
        one,
        title=one.title or change,
        hypothesis=hypothesis,
        rationale=_said(found, "attribution"),
        kernel=kernels[0] if kernels else "",
        claims=(*one.claims, *told, *results, *facts(path, files.get(path, "")).values()),
        missing=(*one.missing, *lacking(known.items()), "masked"),
    )


def _said(found: list[MarkdownSection], title: str) -> str:
    return next((said(one.text) for one in found if one.title.lower().startswith(title)), "")


def _best(history: str) -> str:
    """The round that the log calls its best; of several such sections the last, as it grows."""
    found = ""
    for one in sections(history):
        if one.title.lower().startswith("current best"):
            told = " ".join(text for _, text in one.body)
            number = re.search(r"\bround[\s:|*-]*(\d{1,6})\b", told, re.IGNORECASE)
            found = f"round-{int(number[1])}" if number else found
    return found


FORMATS.append(Format(System.OPTIMIZE, "manifest.yaml", named(r"manifest\.ya?ml"), read))
