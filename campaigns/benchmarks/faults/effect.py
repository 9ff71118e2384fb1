"""What a fault did: one row, beside the row of an earlier run."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from campaigns.benchmarks.faults.servers import Servers
from campaigns.benchmarks.faults.watch import FINISHED, Seen
from campaigns.benchmarks.harness import BenchmarkError, Row

NONE_YET = "–"
# Outcomes that say nothing bad about a candidate.
NOBODYS = ("passed", "broken_host", "not_judged")
OF_CAMPAIGN = """FROM campaigns_evaluation e JOIN campaigns_candidate c ON c.id = e.candidate_id
JOIN campaigns_round r ON r.id = c.round_id WHERE r.campaign_id = {campaign}"""
# Rounds without an end, and results without one.
LOST = (
    "SELECT count(*) FROM campaigns_round WHERE campaign_id = {campaign} AND state <> 'closed'",
    f"SELECT count(*) {OF_CAMPAIGN} AND e.state <> 'done'",
)
DOUBLED = (
    f"SELECT 1 {OF_CAMPAIGN} GROUP BY e.candidate_id, e.kind, e.attempt HAVING count(*) > 1",
    "SELECT 1 FROM campaigns_round WHERE campaign_id = {campaign} "
    "GROUP BY number HAVING count(*) > 1",
    "SELECT 1 FROM campaigns_verdict v JOIN campaigns_round r ON r.id = v.round_id "
    "WHERE r.campaign_id = {campaign} GROUP BY v.round_id HAVING count(*) > 1",
)
HELD = f"SELECT count(*) {OF_CAMPAIGN} AND e.state = 'running'"
ABORTED = "SELECT stop_sentence FROM campaigns_campaign WHERE id = {campaign} AND state = 'aborted'"


@dataclass(frozen=True, slots=True)
class Effect:
    """lost: rounds and results without an end. held: devices of which somebody still has hold.
    blamed: results that say a failure of the host of a candidate, each of which is right.

    unmet: something other than the campaign did not end well, as `said` says. skipped: why the
    fault did not happen; the rest says nothing then.
    """

    fault: str
    seen: Seen
    said: str = ""
    lost: int = 0
    doubled: int = 0
    held: int = 0
    unmet: bool = False
    skipped: str = ""

    @property
    def blamed(self) -> int:
        return sum(n for outcome, n in self.seen.outcomes.items() if outcome not in NOBODYS)

    @property
    def is_whole(self) -> bool:
        """Whether nothing was lost, doubled, kept or answered by a 500, and work went on."""
        harm = (
            self.blamed or self.lost or self.doubled or self.held or self.unmet or self.seen.broken
        )
        return bool(self.skipped) or (not harm and self.seen.state == "done")

    def as_row(self, before: Mapping[str, Any] | None) -> Row:
        """before: the same fault in the table of an earlier run."""
        seen, skipped = self.seen, bool(self.skipped)
        return {
            "fault": self.fault,
            "noticed after s": NONE_YET if skipped else _seconds(seen.noticed_s),
            "next result after s": NONE_YET if skipped else _seconds(seen.result_s),
            "lost": NONE_YET if skipped else self.lost,
            "doubled": NONE_YET if skipped else self.doubled,
            "blamed": NONE_YET if skipped else self.blamed,
            "held": NONE_YET if skipped else self.held,
            "500s": NONE_YET if skipped else seen.broken,
            "seen": self.skipped or self._words(),
            **({"before": _brief(before)} if before is not None else {}),
        }

    def _words(self) -> str:
        seen = self.seen
        ended = seen.state if seen.state in FINISHED else f"still {seen.state} at the limit"
        counted = ", ".join(f"{n} {name}" for name, n in sorted(seen.outcomes.items()))
        raised = ", ".join(f"{name} ×{n}" for name, n in seen.raised.most_common(4))
        silent = f"{seen.unanswered} pages unanswered" if seen.unanswered else ""
        words = [
            self.said,
            f"campaign {ended}",
            f"results after it: {counted or 'none'}",
            f"first sign: {_plain(seen.by)}" if seen.by else "",
            f"in logs: {raised}" if raised else "",
            silent,
            f"slowest page {seen.slowest_s:.1f} s",
        ]
        return "; ".join(filter(None, words))


def effect_of(servers: Servers, fault: str, campaign: int, seen: Seen, said: str) -> Effect:
    """Count what is in the rows and which locks are still taken, once the watch has ended."""

    def count(statement: str) -> int:
        return int(servers.select(statement.format(campaign=campaign))[0][0])

    if aborted := servers.select(ABORTED.format(campaign=campaign)):
        said = "; ".join(filter(None, (said, f"aborted: {aborted[0][0]}")))
    doubled = sum(len(servers.select(each.format(campaign=campaign))) for each in DOUBLED)
    held = 0
    if seen.state in FINISHED:
        held = count(HELD) + sum(map(_is_locked, servers.folder.glob("**/devices/*.lock")))
    return Effect(fault, seen, said, sum(map(count, LOST)), doubled, held)


def read_before(files: Sequence[Path]) -> dict[str, dict[str, Mapping[str, Any]]]:
    """Title of a table → fault → row, of earlier runs. Raises BenchmarkError."""
    found: dict[str, dict[str, Mapping[str, Any]]] = {}
    for file in files:
        try:
            for title, rows in json.loads(file.read_text())["tables"].items():
                found.setdefault(title, {}).update({row["fault"]: row for row in rows})
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise BenchmarkError(
                f"--against {file}: {error}; accepted is the JSON of an earlier `bench faults`"
            ) from error
    return found


def _brief(row: Mapping[str, Any]) -> str:
    """An earlier row in one cell."""
    names = ("noticed after s", "next result after s", "lost", "doubled", "blamed", "held", "500s")
    numbers = ", ".join(f"{name} {row[name]}" for name in names if name in row)
    return f"{numbers}; {row['seen']}" if row else NONE_YET


def _seconds(found: float | None) -> str:
    return "never" if found is None else f"{found:.1f}"


def _plain(text: str) -> str:
    """A line of a log inside a table."""
    return text.replace("|", "/").replace("`", "'")


def _is_locked(path: Path) -> bool:
    with suppress(OSError), path.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
