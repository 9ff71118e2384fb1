"""What can be seen from outside after a fault: in rows, in logs, and on a page."""

from __future__ import annotations

import re
import threading
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from campaigns.benchmarks.faults.servers import Servers
from campaigns.benchmarks.faults.visitor import Visitor

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
