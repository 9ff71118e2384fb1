"""What can be seen from outside after a fault: in rows, in logs, and on a page."""

from __future__ import annotations

import fcntl
import json
import re
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from campaigns.benchmarks.faults.servers import Servers
from campaigns.benchmarks.faults.traffic import Visitor
from campaigns.benchmarks.harness import BenchmarkError, Row

LOOK_S, VISIT_S, ANSWER_S = 0.2, 0.5, 30.0
PAGE = "/c/"
# Kinds of events that say that something is wrong.
TROUBLE = ("worker_vanished", "step_failed", "phase_idle", "no_free_device", "measurement_void")
FINISHED = ("done", "aborted")
RAISED = re.compile(r"(?:\w+\.)*(\w+(?:Error|Exception|Lost|Busy|Timeout))(?::|$)")
EVALUATIONS = """SELECT e.id, e.outcome FROM campaigns_evaluation e
JOIN campaigns_candidate c ON c.id = e.candidate_id JOIN campaigns_round r ON r.id = c.round_id
WHERE r.campaign_id = {campaign}"""


@dataclass(slots=True)
class Seen:
    """Seconds count from the fault; None: never. by: what said so first. outcomes: of results
    after the fault. raised: errors in the logs, by their class. broken: answers of 500 and more."""

    noticed_s: float | None = None
    by: str = ""
    result_s: float | None = None
    outcomes: Counter[str] = field(default_factory=Counter)
    raised: Counter[str] = field(default_factory=Counter)
    broken: int = 0
    unanswered: int = 0
    slowest_s: float = 0.0
    state: str = ""


class Watch:
    """Looks at one campaign from its beginning until `end`. Use as a context manager."""

    def __init__(self, servers: Servers, campaign: int, visitor: Visitor) -> None:
        self.seen = Seen()
        self._servers, self._campaign, self._visitor = servers, campaign, visitor
        self._ended = threading.Event()
        self._begun = time.monotonic()
        self._before = {key for key, outcome in self._results() if outcome}
        self._read = {path: path.stat().st_size for path in servers.logs}
        self._last_event = servers.select("SELECT coalesce(max(id), 0) FROM campaigns_event")[0][0]
        self._threads = [
            threading.Thread(target=work, daemon=True) for work in (self._look, self._visit)
        ]

    def __enter__(self) -> Watch:
        self._begun = time.monotonic()
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join(ANSWER_S + 5)

    @property
    def finished(self) -> bool:
        return self.seen.state in FINISHED

    def _look(self) -> None:
        while not self._ended.wait(LOOK_S):
            self._servers.revive()
            self._read_logs()
            # A database that is locked or down tells nothing now.
            with suppress(OSError):
                self._read_rows()

    def _read_rows(self) -> None:
        for key, outcome in self._results():
            if not outcome or key in self._before:
                continue
            self._before.add(key)
            self.seen.outcomes[outcome] += 1
            if outcome != "passed":
                self._notice(f"a result of {outcome}")
            elif self.seen.result_s is None:
                self.seen.result_s = self._now()
        kinds = ", ".join(f"'{kind}'" for kind in TROUBLE)
        events = self._servers.select(
            f"SELECT kind FROM campaigns_event WHERE kind IN ({kinds}) AND "
            f"campaign_id = {self._campaign} AND id > {self._last_event}"
        )
        for (kind,) in events:
            self._notice(f"the event {kind}")
        state = f"SELECT state FROM campaigns_campaign WHERE id = {self._campaign}"
        self.seen.state = self._servers.select(state)[0][0]

    def _results(self) -> list[tuple[int, str]]:
        found = self._servers.select(EVALUATIONS.format(campaign=self._campaign))
        return [(key, outcome) for key, outcome in found]

    def _read_logs(self) -> None:
        for path in self._servers.logs:
            text = _from(path, self._read.get(path, 0))
            self._read[path] = self._read.get(path, 0) + len(text)
            for line in filter(str.strip, text.decode("utf-8", "replace").splitlines()):
                self._notice(f"{path.stem}.log: {line.strip()[:100]}")
                if found := RAISED.match(line):
                    self.seen.raised[found[1]] += 1

    def _visit(self) -> None:
        while not self._ended.wait(VISIT_S):
            answer = self._visitor.get(PAGE, ANSWER_S)
            self.seen.slowest_s = max(self.seen.slowest_s, answer.seconds)
            if answer.status >= 500:
                self.seen.broken += 1
                self._notice(f"{PAGE} answered {answer.status}")
            elif not answer.status:
                self.seen.unanswered += 1
                self._notice(f"{PAGE} did not answer")

    def _notice(self, by: str) -> None:
        if self.seen.noticed_s is None:
            self.seen.noticed_s, self.seen.by = self._now(), by

    def _now(self) -> float:
        return time.monotonic() - self._begun


def _from(path: Path, offset: int) -> bytes:
    with path.open("rb") as file:
        file.seek(offset)
        return file.read()


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
    """What a fault did. lost: rounds and results without an end. held: devices still held.

    blamed: results that call one of the candidates faulty, which all are right. unmet: something
    besides the campaign ended badly; `note` says what. skipped: why the fault was not tried.
    """

    fault: str
    seen: Seen
    note: str = ""
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
        seen = self.seen
        values: dict[str, object] = {
            "noticed after s": _seconds(seen.noticed_s),
            "next result after s": _seconds(seen.result_s),
            "lost": self.lost,
            "doubled": self.doubled,
            "blamed": self.blamed,
            "held": self.held,
            "500s": seen.broken,
        }
        if self.skipped:
            values = dict.fromkeys(values, NONE_YET)
        earlier = {"before": _brief(before)} if before is not None else {}
        return {"fault": self.fault, **values, "seen": self.skipped or self._words(), **earlier}

    def _words(self) -> str:
        seen = self.seen
        ended = seen.state if seen.state in FINISHED else f"still {seen.state} at the limit"
        counted = ", ".join(f"{n} {name}" for name, n in sorted(seen.outcomes.items()))
        raised = ", ".join(f"{name} ×{n}" for name, n in seen.raised.most_common(4))
        silent = f"{seen.unanswered} pages unanswered" if seen.unanswered else ""
        words = [
            self.note,
            f"campaign {ended}",
            f"results after it: {counted or 'none'}",
            f"first sign: {_plain(seen.by)}" if seen.by else "",
            f"in logs: {raised}" if raised else "",
            silent,
            f"slowest page {seen.slowest_s:.1f} s",
        ]
        return "; ".join(filter(None, words))


def effect_of(servers: Servers, fault: str, campaign: int, seen: Seen, note: str) -> Effect:
    """Count what is in the rows and which locks are still taken, once the watch has ended."""

    def count(statement: str) -> int:
        return int(servers.select(statement.format(campaign=campaign))[0][0])

    if aborted := servers.select(ABORTED.format(campaign=campaign)):
        note = "; ".join(filter(None, (note, f"aborted: {aborted[0][0]}")))
    doubled = sum(len(servers.select(each.format(campaign=campaign))) for each in DOUBLED)
    held = 0
    if seen.state in FINISHED:
        held = count(HELD) + sum(map(_is_locked, servers.folder.glob("**/devices/*.lock")))
    return Effect(fault, seen, note, sum(map(count, LOST)), doubled, held)


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
