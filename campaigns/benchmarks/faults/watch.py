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
NONE_YET = "–"
# Outcomes that say nothing bad about a candidate.
NOBODYS = ("passed", "broken_host", "not_judged")
COLUMNS = ("noticed after s", "next result after s", "lost", "doubled", "blamed", "held", "500s")


@dataclass(slots=True)
class Effect:
    """What a fault did, and how it looked. Seconds count from the fault; None: never.

    by: what said so first. outcomes: of results after the fault. raised: errors in the logs, by
    their class. broken: answers of 500 and more. lost: rounds and results without an end. held:
    devices still held. unmet: something besides the campaign ended badly; `note` says what.
    skipped: why the fault was not tried.
    """

    fault: str
    note: str = ""
    noticed_s: float | None = None
    by: str = ""
    result_s: float | None = None
    outcomes: Counter[str] = field(default_factory=Counter)
    raised: Counter[str] = field(default_factory=Counter)
    broken: int = 0
    unanswered: int = 0
    slowest_s: float = 0.0
    state: str = ""
    lost: int = 0
    doubled: int = 0
    held: int = 0
    unmet: bool = False
    skipped: str = ""

    @property
    def finished(self) -> bool:
        return self.state in FINISHED

    @property
    def blamed(self) -> int:
        """Results that call one of the candidates faulty, which all are right."""
        return sum(n for outcome, n in self.outcomes.items() if outcome not in NOBODYS)

    @property
    def is_whole(self) -> bool:
        """Whether nothing was lost, doubled, kept or answered by a 500, and work went on."""
        harm = self.blamed or self.lost or self.doubled or self.held or self.unmet or self.broken
        return bool(self.skipped) or (not harm and self.state == "done")

    def as_row(self, before: Mapping[str, Any] | None) -> Row:
        """before: the same fault in the table of an earlier run."""
        seconds = ("never" if s is None else f"{s:.1f}" for s in (self.noticed_s, self.result_s))
        counts = (self.lost, self.doubled, self.blamed, self.held, self.broken)
        row: dict[str, object] = dict(zip(COLUMNS, (*seconds, *counts), strict=True))
        if self.skipped:
            row = dict.fromkeys(COLUMNS, NONE_YET)
        row = {"fault": self.fault, **row, "seen": self.skipped or self._words()}
        if before is not None:
            numbers = ", ".join(f"{name} {before[name]}" for name in COLUMNS if name in before)
            row["before"] = f"{numbers}; {before['seen']}" if before else NONE_YET
        return row

    def _words(self) -> str:
        counted = ", ".join(f"{n} {name}" for name, n in sorted(self.outcomes.items()))
        raised = ", ".join(f"{name} ×{n}" for name, n in self.raised.most_common(4))
        by = self.by.replace("|", "/").replace("`", "'")
        words = [
            self.note,
            f"campaign {self.state if self.finished else f'still {self.state} at the limit'}",
            f"results after it: {counted or 'none'}",
            f"first sign: {by}" if by else "",
            f"in logs: {raised}" if raised else "",
            f"{self.unanswered} pages unanswered" if self.unanswered else "",
            f"slowest page {self.slowest_s:.1f} s",
        ]
        return "; ".join(filter(None, words))

    def count(self, servers: Servers, campaign: int) -> None:
        """Count what is in the rows and which locks are still taken, once the watch has ended."""

        def rows(statement: str) -> list[tuple[Any, ...]]:
            return servers.select(statement.format(campaign=campaign))

        if aborted := rows(ABORTED):
            self.note = "; ".join(filter(None, (self.note, f"aborted: {aborted[0][0]}")))
        self.lost = sum(int(rows(each)[0][0]) for each in LOST)
        self.doubled = sum(len(rows(each)) for each in DOUBLED)
        if self.finished:
            locks = servers.folder.glob("**/devices/*.lock")
            self.held = int(rows(HELD)[0][0]) + sum(map(_is_locked, locks))


class Watch:
    """Looks at one campaign from its beginning until the end, and writes down what it sees.

    Use as a context manager.
    """

    def __init__(self, seen: Effect, servers: Servers, campaign: int, visitor: Visitor) -> None:
        self._seen = seen
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
            self._seen.outcomes[outcome] += 1
            if outcome != "passed":
                self._notice(f"a result of {outcome}")
            elif self._seen.result_s is None:
                self._seen.result_s = time.monotonic() - self._begun
        kinds = ", ".join(f"'{kind}'" for kind in TROUBLE)
        events = self._servers.select(
            f"SELECT kind FROM campaigns_event WHERE kind IN ({kinds}) AND "
            f"campaign_id = {self._campaign} AND id > {self._last_event}"
        )
        for (kind,) in events:
            self._notice(f"the event {kind}")
        state = f"SELECT state FROM campaigns_campaign WHERE id = {self._campaign}"
        self._seen.state = self._servers.select(state)[0][0]

    def _results(self) -> list[tuple[Any, ...]]:
        """Keys and outcomes of the campaign's evaluations."""
        found = f"SELECT e.id, e.outcome {OF_CAMPAIGN}".format(campaign=self._campaign)
        return self._servers.select(found)

    def _read_logs(self) -> None:
        for path in self._servers.logs:
            with path.open("rb") as file:
                file.seek(self._read.get(path, 0))
                text = file.read()
                self._read[path] = file.tell()
            for line in filter(str.strip, text.decode("utf-8", "replace").splitlines()):
                self._notice(f"{path.stem}.log: {line.strip()[:100]}")
                if found := RAISED.match(line):
                    self._seen.raised[found[1]] += 1

    def _visit(self) -> None:
        while not self._ended.wait(VISIT_S):
            answer = self._visitor.get(PAGE, ANSWER_S)
            self._seen.slowest_s = max(self._seen.slowest_s, answer.seconds)
            if answer.status >= 500:
                self._seen.broken += 1
                self._notice(f"{PAGE} answered {answer.status}")
            elif not answer.status:
                self._seen.unanswered += 1
                self._notice(f"{PAGE} did not answer")

    def _notice(self, by: str) -> None:
        if self._seen.noticed_s is None:
            self._seen.noticed_s, self._seen.by = time.monotonic() - self._begun, by


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


def _is_locked(path: Path) -> bool:
    with suppress(OSError), path.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
