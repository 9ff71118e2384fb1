"""The loop of a sweep: builds run ahead in a pool, and one screen takes what is built.

On a CPU builds and screen take turns, because a compiler would disturb the clock.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import socket
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from django.conf import settings

from campaigns.devices.launch import EvaluatorService
from campaigns.devices.sweep.build_cache import BuildCache
from campaigns.evaluator.contract import Job, Outcome, Phase, Report, Source
from campaigns.evaluator.contract.files import dump_line, load_line, load_report
from campaigns.evaluator.contract.stream import BuildResult, ScreenResult, Stream, VariantOrder

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


# Orders that a screen holds, so that it never waits for the next.
AHEAD = 2
BATCH = 16
# A stream that breaks without a result is opened again so often: the host is to blame then, for a
# variant that breaks its runner has a result.
MOST_BROKEN = 2
LOOK_S = 0.5
BEAT_S = 1.0


class SweepBroken(Exception):
    """The host cannot build or screen; the message says why. host_busy: others keep it busy."""

    def __init__(self, reason: str, *, host_busy: bool = False) -> None:
        super().__init__(reason)
        self.host_busy = host_busy


def require_measured(result: Result) -> None:
    """Raise SweepBroken for a variant that was late on a busy host: that is no failure of its own.

    For whoever learns of results: what is untold is tried again once the host is quiet.
    """
    if result.host_busy:
        raise SweepBroken(f"the host is too busy to search on: {result.reason}", host_busy=True)


class SweepWork(Protocol):
    """What is to be tried, and who learns of it. Numbers are the caller's, each used once."""

    def ask(self, most: int) -> Sequence[tuple[int, Source]]:
        """More variants, at most so many; none when there is nothing to do until more is told."""

    def built(self, result: BuildResult) -> bool:
        """Learn how a build went, also of one that was there; whether to screen it."""

    def screened(self, result: ScreenResult) -> None:
        """Learn what the screen found."""


class SweepLoop:
    """Builds and screens the variants of one job until there are no more."""

    def __init__(
        self,
        service: EvaluatorService,
        job: Job,
        cache: BuildCache,
        folder: Path,
        builders: int = 0,
    ) -> None:
        """job: its candidate is what the variants are variants of; streams are made of it.

        folder: for scratch folders. builders: compilers at once; 0: one a core, but the screen's.
        """
        self._service = service
        self._job = job
        self._cache = cache
        self._on_cpu = job.device == "cpu"
        self._folder = folder
        self._most_builders = builders or max(1, (os.cpu_count() or 2) - (not self._on_cpu))
        self._sources: dict[int, Source] = {}
        self._to_build: deque[int] = deque()
        self._ready: deque[int] = deque()
        self._builders: list[VariantStream] = []
        self._screen: VariantStream | None = None
        self._best_us: dict[str, float] = {}
        self._broken: Counter[Stream] = Counter()
        self._made = 0

    def run(self, work: SweepWork, beat: Callable[[], None] = lambda: None) -> None:
        """Go on until `work` has no more. What `beat` raises, about once a second, ends it.

        Raises SweepBroken, OSError.
        """
        due = 0.0
        window = BATCH if self._on_cpu else 2 * self._most_builders + AHEAD
        try:
            while True:
                # Ask for more where there is room.
                if not (self._on_cpu and self._may_screen):
                    for number, source in work.ask(max(0, window - len(self._sources))):
                        self._sources[number] = source
                        self._to_build.append(number)
                if not self._sources:
                    break
                self._hand_out(work)
                self._receive(work)
                if time.monotonic() >= due:
                    beat()
                    due = time.monotonic() + BEAT_S
        finally:
            for stream in (*self._builders, self._screen):
                if stream is not None:
                    stream.close()
            self._cache.trim()

    def _hand_out(self, work: SweepWork) -> None:
        while self._to_build:
            number = self._to_build[0]
            facts = self._cache.find(self._sources[number])
            if facts is not None:
                self._note_built(work, BuildResult(number, Outcome.PASSED, "", facts))
            else:
                free = [stream for stream in self._builders if not stream.waiting]
                if not free:
                    if len(self._builders) >= self._most_builders:
                        break
                    free = [self._open(Stream.BUILD)]
                    self._builders += free
                free[0].order(self._order(number))
            self._to_build.popleft()
        while self._may_screen and self._ready:
            if self._screen is None:
                self._screen = self._open(Stream.SCREEN)
            if len(self._screen.waiting) >= AHEAD:
                break
            self._screen.order(self._order(self._ready.popleft()))

    @property
    def _may_screen(self) -> bool:
        """Whether there is something to screen, and on a CPU nothing else to do."""
        building = any(stream.waiting for stream in self._builders) or self._to_build
        screening = self._ready or (self._screen and self._screen.waiting)
        return bool(screening) and not (self._on_cpu and building)

    def _order(self, number: int) -> VariantOrder:
        source = self._sources[number]
        place = self._cache.place_of(source).resolve()
        return VariantOrder(number, source, place, dict(self._best_us))

    def _open(self, stream: Stream) -> VariantStream:
        self._made += 1
        scratch = self._folder / f"{stream}-{self._made}"
        job = replace(
            self._job,
            stream=stream.value,
            scratch=scratch,
            incumbent=None,
            builds=self._cache.made(),
        )
        if stream is Stream.BUILD:
            # Nothing is called, so there is no need of a device, nor of much memory.
            job = replace(job, device="cpu", protocol=replace(job.protocol, max_slots=2))
        return VariantStream(self._service, job)

    def _receive(self, work: SweepWork) -> None:
        streams = [*self._builders, *([self._screen] if self._screen else [])]
        ready, _, _ = select.select(streams, [], [], LOOK_S if streams else 0)
        for stream in ready:
            for result in stream.receive():
                self._broken[Stream(stream.job.stream)] = 0
                if isinstance(result, BuildResult):
                    self._note_built(work, result)
                    continue
                if result.outcome is Outcome.PASSED and not result.ended_early:
                    for case, time_us in result.times_us.items():
                        self._best_us[case] = min(time_us, self._best_us.get(case, time_us))
                del self._sources[result.number]
                work.screened(result)
            if stream.report is not None:
                self._replace(stream, stream.report)

    def _note_built(self, work: SweepWork, result: BuildResult) -> None:
        if work.built(result) and result.outcome is Outcome.PASSED:
            self._ready.append(result.number)
        else:
            del self._sources[result.number]

    def _replace(self, stream: VariantStream, report: Report) -> None:
        """A stream has ended: what it had not done yet is for the next one."""
        stream.close()
        kind = Stream(stream.job.stream)
        if stream is self._screen:
            self._screen = None
        else:
            self._builders.remove(stream)
        if not stream.waiting:
            return
        self._broken[kind] += 1
        if self._broken[kind] > MOST_BROKEN:
            raise SweepBroken(report.reason, host_busy=report.host_busy)
        queue = self._to_build if kind is Stream.BUILD else self._ready
        queue.extendleft(order.number for order in reversed(stream.waiting))


def run_sweep(
    service: EvaluatorService, job: Job, folder: Path, work: SweepWork, beat: Callable[[], None]
) -> None:
    """Run a sweep with the builds that this installation keeps. Raises SweepBroken, OSError."""
    SweepLoop(service, job, build_cache_of(job), folder).run(work, beat)


def build_cache_of(job: Job) -> BuildCache:
    """The builds of a job's variants that this installation keeps."""
    return BuildCache(Path(settings.DATA_DIR) / "builds", job)
