"""One stream of variants on the evaluator service, from the client's side."""

from __future__ import annotations

import contextlib
import shutil
import socket
from collections import deque

from campaigns.devices.launch import EvaluatorService
from campaigns.evaluator.contract import Job, Outcome, Phase, Report
from campaigns.evaluator.contract.files import dump_line, load_line, load_report
from campaigns.evaluator.contract.stream import BuildResult, ScreenResult, VariantOrder

Result = BuildResult | ScreenResult
KINDS: dict[str, type[BuildResult] | type[ScreenResult]] = {
    "built": BuildResult,
    "screened": ScreenResult,
}
CHUNK = 1 << 16
END_LIMIT_S = 15.0


class VariantStream:
    """Orders go in, results come out in their order. `report` is set when the stream has ended."""

    def __init__(self, service: EvaluatorService, job: Job) -> None:
        """Raises OSError where the service cannot be had."""
        self.job = job
        self.report: Report | None = None
        self.waiting: deque[VariantOrder] = deque()
        self._data, self._unsent = b"", b""
        self._is_open = False
        self._due = -1  # bytes of the report
        self._socket = service.begin(job)

    def fileno(self) -> int:
        return self._socket.fileno()

    def order(self, order: VariantOrder) -> None:
        """Send one more variant. Raises OSError where it cannot be written down."""
        path = self.job.scratch.resolve() / f"order-{order.number}.json"
        path.write_text(dump_line(order))
        self.waiting.append(order)
        self._unsent += f"order {path}\n".encode()
        self._send()

    def _send(self) -> None:
        """Nothing is sent before the stream is open: who reads the job would take it."""
        if not self._is_open:
            return
        lines, self._unsent = self._unsent, b""
        try:
            self._socket.sendall(lines)
        except ConnectionError:
            self._end("the evaluator service died")

    def receive(self) -> list[Result]:
        """Results that have come; to be called when the socket can be read."""
        try:
            data = self._socket.recv(CHUNK)
        except ConnectionError:
            data = b""
        if not data:
            self._end("the evaluator service died")
            return []
        self._data += data
        found: list[Result] = []
        while self._due < 0 and b"\n" in self._data:
            line, _, self._data = self._data.partition(b"\n")
            word, _, rest = line.decode().partition(" ")
            if word == "report":
                self._due = int(rest)
            elif word == "open":
                self._is_open = True
                self._send()
            elif word in KINDS:
                found.append(load_line(KINDS[word], rest))
                self.waiting.popleft()
        if 0 <= self._due <= len(self._data):
            self.report = load_report(self._data[: self._due].decode())
        return found

    def _end(self, reason: str) -> None:
        broken = Report(self.job.job_id, Outcome.BROKEN_HOST, Phase.START, reason)
        self.report = self.report or broken

    def close(self) -> None:
        """Hang up, which ends what is left of the stream, and wait until it has ended."""
        with contextlib.suppress(OSError):
            self._socket.settimeout(END_LIMIT_S)
            self._socket.shutdown(socket.SHUT_WR)
            while self._socket.recv(CHUNK):
                pass
        self._socket.close()
        shutil.rmtree(self.job.scratch, ignore_errors=True)
