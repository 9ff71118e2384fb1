"""kernel-opt's performance.md: the baseline and what was kept, and why it stopped."""

from __future__ import annotations

import re
from collections.abc import Mapping

from campaigns.trails.importers.claims import (
    FORMATS,
    ClaimedCampaign,
    ClaimedRound,
    System,
    lacking,
    named,
    refused,
)
from campaigns.trails.importers.markdown_reader import (
    MarkdownRow,
    facts,
    figure,
    sections,
    tables,
    title_of,
    value_of,
)
from knowledge.exchange.formats import Format

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
        if table.has("commit", "status"):
            kept = kept or table
        elif table.has("attempt"):
            lost = lost or table
    if kept is None:
        raise refused(PATH, 1, "no table of kept commits", "columns Commit, Status, us, GPU time")
    rows = [_kept(row, n) for n, row in enumerate(kept.rows, 1)]
    tried = [_attempt(row) for row in lost.rows] if lost else []
    stop = facts(PATH, text)
    best = value_of(stop, "best_commit", "best commit", "best")
    known = {"BEST_COMMIT": best, "Reason": value_of(stop, "reason")}
    titles = [one.title.lower() for one in sections(text)]
    summed_up = any(one.startswith("stop summary") for one in titles)
    known["Stop Summary"] = "there" if summed_up else ""
    # The kept row of the best commit; hashes may be cut short on either side.
    first = best.split()[0] if best else ""
    fits = [r.name for r in rows if r.name.startswith(first) or first.startswith(r.name)]
    return ClaimedCampaign(
        System.KERNEL_OPT,
        (*rows, *tried),
        title=title_of(text),
        incumbent=fits[0] if fits and len(first) >= 4 else "",
        stop_reason=value_of(stop, "reason"),
        claims=tuple(stop.values()),
        missing=(
            *lacking(known.items()),
            *("operator", "platform", "sources", "rounds that were tied or failed"),
        ),
    )


def _kept(row: MarkdownRow, place: int) -> ClaimedRound:
    status, note = row.text("status"), row.text("note")
    word = status.lower().partition(" ")[0].partition("-")[0]
    if word not in STATES:
        raise refused(PATH, row.line, f"Status: {status!r}", ", ".join(STATES))
    row.number("gpu time")
    names = ("date", "commit", "command", "config class", "kernel", "us", "gpu time", "note")
    return ClaimedRound(
        name=row.text("commit") or f"row {place}",
        path=PATH,
        line=row.line,
        title=note,
        hypothesis="" if word == "baseline" else note,
        status=status,
        kept=True,
        figure=row.number("us"),
        unit="us",
        metric=METRIC,
        convention=CONVENTION,
        at=row.text("date"),
        claims=row.claims,
        missing=(*lacking((name, row.text(name)) for name in names), "source", "masked"),
    )


def _attempt(row: MarkdownRow) -> ClaimedRound:
    """A row of the stop summary: one of the last measured regressions."""
    time = ARROW.split(row.text("us "))[-1]
    return ClaimedRound(
        name=row.text("attempt"),
        path=PATH,
        line=row.line,
        title=row.text("hypothesis"),
        hypothesis=row.text("hypothesis"),
        status="regression",
        kept=False,
        figure=figure(PATH, row.line, "us", time)[0],
        unit="us",
        metric=METRIC,
        convention=CONVENTION,
        claims=row.claims,
        missing=(*row.empty, "source", "masked"),
    )


FORMATS.append(Format(System.KERNEL_OPT, PATH, named(re.escape(PATH)), read))
