"""performance.md: the baseline and what was kept, a row each, and why it ended."""

from __future__ import annotations

from collections.abc import Iterator

from campaigns.rules.wording import change, digits, duration
from campaigns.trails.exporters.judged_rounds import ExportedCampaign, ExportedRound
from campaigns.trails.exporters.markdown import NOTHING, facts, page, said, table

HEAD = (
    *("Date", "Commit", "Status", "Command", "Config class / dispatch", "Kernel", "us", "GPU time"),
    *("Δ% vs previous best", "note"),
)
LOST = ("Attempt", "Hypothesis", "Changed files", "us best → candidate", "Delta", "Notes")


def performance_files(trail: ExportedCampaign) -> Iterator[tuple[str, str]]:
    """(path, text) of the one file."""
    campaign, best, ended = trail.campaign, trail.best, trail.campaign.finished_at
    stop = {
        "Time": f"{ended:%Y-%m-%d %H:%M} UTC" if ended else "",
        "Reason": campaign.stop_sentence or f"not ended: {trail.sheet.phase}",
        "Best": f"round {best.number}: {best.title}" if best else "",
    }
    yield (
        "performance.md",
        page(
            f"# Performance: {said(campaign.title)}",
            table(HEAD, map(_row, trail.kept)),
            "## Stop summary",
            facts(stop.items()),
            table(LOST, [_lost(one) for one in trail.rounds if not one.is_kept]),
        ),
    )


def _row(one: ExportedRound) -> tuple[object, ...]:
    arms = [case.candidate for case in one.report.cases] if one.report else []
    device = [duration(arm.device_us) for arm in arms if arm and arm.device_us]
    return (
        one.closed.partition(" ")[0] or NOTHING,
        one.commit.short if one.commit else "N/A — not committed",
        "baseline" if one.is_baseline else "keep",
        "python quick_test_bench.py",
        "all cases",
        one.file_name or NOTHING,
        digits(one.time_us) if one.time_us else NOTHING,
        ", ".join(device) or NOTHING,
        _change(one),
        one.title,
    )


def _change(one: ExportedRound) -> str:
    """Of the time, so that faster is negative, as the format has it."""
    if one.is_baseline or one.gain is None:
        return "—"
    of_time = one.gain.inverse
    spans = f"{change(of_time.low)} to {change(of_time.high)}"
    return f"{change(of_time.gain)} ({spans}, n={of_time.pairs} pairs)"


def _lost(one: ExportedRound) -> tuple[object, ...]:
    old, new = one.incumbent_us, one.time_us
    return (
        f"round {one.number}",
        one.title,
        one.file_name or NOTHING,
        f"{duration(old)} → {duration(new)}" if old and new else "N/A — not timed",
        _change(one) if one.gain else "not compared",
        one.sentence,
    )
