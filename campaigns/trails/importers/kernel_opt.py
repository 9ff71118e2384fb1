"""kernel-opt's performance.md: the baseline and what was kept, and why it stopped."""

from __future__ import annotations

import re
from collections.abc import Mapping

from campaigns.trails.importers.claims import (
    ClaimedCampaign,
    ClaimedRound,
    System,
    lacking,
    refused,
)
from campaigns.trails.importers.markdown_reader import (
    MarkdownTable,
    facts,
    figure,
    row_claims,
    said,
    sections,
    tables,
    title_of,
    value_of,
)

PATH = "performance.md"
STATES = ("baseline", "keep", "split")
ARROW = re.compile(r"→|->")
METRIC = "us"
CONVENTION = (
    "mean over the rows of its test, wall clock in µs; lower is better. What decides is the mean "
    "kernel time of its tracer, in the column GPU time"
)


def read(files: Mapping[str, str]) -> ClaimedCampaign:
    """The one file. Raises TrailRefused."""
    text = files.get(PATH, "")
    kept, lost = None, None
    for table in tables(PATH, text):
        if table.place("commit") is not None and table.place("status") is not None:
            kept = kept or table
        elif table.place("attempt") is not None:
            lost = lost or table
    if kept is None:
        raise refused(PATH, 1, "no table of kept commits", "columns Commit, Status, us, GPU time")
    rows = [_row(kept, n, line, row) for n, (line, row) in enumerate(kept.rows)]
    tried = [_attempt(lost, line, row) for line, row in lost.rows] if lost else []
    stop = facts(PATH, text)
    best = value_of(stop, "best_commit", "best commit", "best")
    known = {"BEST_COMMIT": best, "Reason": value_of(stop, "reason")}
    known |= {"Stop Summary": "there" if _has_summary(text) else ""}
    return ClaimedCampaign(
        System.KERNEL_OPT,
        (*rows, *tried),
        title=title_of(text),
        incumbent=_named(rows, best),
        stop_reason=value_of(stop, "reason"),
        claims=tuple(stop.values()),
        missing=(
            *lacking(known.items()),
            *("operator", "platform", "sources", "rounds that were tied or failed"),
        ),
    )


def _row(table: MarkdownTable, index: int, line: int, row: tuple[str, ...]) -> ClaimedRound:
    status = _cell(table, row, "status")
    word = status.lower().partition(" ")[0].partition("-")[0]
    if word not in STATES:
        raise refused(PATH, line, f"Status: {status!r}", ", ".join(STATES))
    value, _ = _number(table, line, row, "us")
    _number(table, line, row, "gpu time")
    note = _cell(table, row, "note")
    names = ("date", "commit", "command", "config class", "kernel", "us", "gpu time", "note")
    known = {name: _cell(table, row, name) for name in names}
    return ClaimedRound(
        name=_cell(table, row, "commit") or f"row {index + 1}",
        path=PATH,
        line=line,
        title=note,
        hypothesis="" if word == "baseline" else note,
        status=status,
        kept=True,
        figure=value,
        unit="us",
        metric=METRIC,
        convention=CONVENTION,
        at=_cell(table, row, "date"),
        claims=row_claims(PATH, table, line, row),
        missing=(*lacking(known.items()), "source", "masked"),
    )


def _attempt(table: MarkdownTable, line: int, row: tuple[str, ...]) -> ClaimedRound:
    """A row of the stop summary: one of the last measured regressions."""
    place = table.place("us ")
    told = row[place] if place is not None else ""
    value = figure(PATH, line, "us", ARROW.split(told)[-1])[0]
    return ClaimedRound(
        name=_cell(table, row, "attempt"),
        path=PATH,
        line=line,
        title=_cell(table, row, "hypothesis"),
        hypothesis=_cell(table, row, "hypothesis"),
        status="regression",
        kept=False,
        figure=value,
        unit="us",
        metric=METRIC,
        convention=CONVENTION,
        claims=row_claims(PATH, table, line, row),
        missing=(*(name for name, cell in zip(table.head, row, strict=True) if not said(cell)),
                 "source", "masked"),
    )  # fmt: skip


def _cell(table: MarkdownTable, row: tuple[str, ...], name: str) -> str:
    place = table.place(name)
    return said(row[place]) if place is not None else ""


def _number(
    table: MarkdownTable, line: int, row: tuple[str, ...], name: str
) -> tuple[float | None, str]:
    place = table.place(name)
    return (None, "") if place is None else figure(PATH, line, name, row[place])


def _has_summary(text: str) -> bool:
    return any(one.title.lower().startswith("stop summary") for one in sections(text))


def _named(rows: list[ClaimedRound], best: str) -> str:
    """The kept row of the best commit; hashes may be cut short on either side."""
    first = best.split()[0] if best else ""
    if len(first) < 4:
        return ""
    return next((r.name for r in rows if r.name.startswith(first) or first.startswith(r.name)), "")
