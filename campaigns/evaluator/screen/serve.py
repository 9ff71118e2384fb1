"""The judge of a stream: one variant after the other, each with a result of its own."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from campaigns.evaluator.builds import memory_files
from campaigns.evaluator.contract import Outcome, Phase, backends
from campaigns.evaluator.contract.errors import CandidateError, EvaluationError, HostError, one_line
from campaigns.evaluator.contract.files import dump_line, keep_whole, load_line
from campaigns.evaluator.contract.stream import (
    FACTS_FILE,
    BuildFacts,
    BuildResult,
    ScreenResult,
    Stream,
    VariantOrder,
)
from campaigns.evaluator.judge.progress import JudgeDone, JudgeTask
from campaigns.evaluator.screen.bench import ScreenBench
from campaigns.evaluator.screen.stream_runner import StreamRunner
from campaigns.evaluator.wire import Ask

MOST_BYTES = 64 << 20  # of one artefact
SAID_BYTES = 1 << 16
Result = BuildResult | ScreenResult
# With the words of the stream a line stays shorter than what a pipe takes whole (4096 bytes).
WORDS = {Stream.BUILD: "built", Stream.SCREEN: "screened"}
# How busy others keep the host is seen over no longer than this and one variant.
SEEN_S = 5.0
# After a variant that has broken its runner the stream ends, and whoever ordered it goes on anew.
Taker = Callable[[VariantOrder], tuple[Result, EvaluationError | None]]


def run(task: JudgeTask) -> JudgeDone:
    """Take what is ordered until `end`. Raises what a broken runner is blamed for."""
    stream, progress = Stream(task.job.stream), task.progress
    bench = (BuildBench if stream is Stream.BUILD else ScreenBench)(task)
    progress.enter(Phase.BUILD if stream is Stream.BUILD else Phase.BURST)
    progress.tell("open")
    seen_at = time.monotonic()
    for line in task.orders:
        word, _, path = line.strip().partition(" ")
        if word != "order":
            break
        order = load_line(VariantOrder, Path(path).read_text())
        begun = time.monotonic()
        if begun - seen_at > SEEN_S:
            bench.runner.watch.begin()
            seen_at = begun
        result, broken = bench.take(order)
        late = result.outcome is Outcome.TIMED_OUT and progress.is_crowded()
        told = dump_line(result.lasting(time.monotonic() - begun, host_busy=late))
        progress.tell(f"{WORDS[stream]} {told}")
        if broken is not None:
            raise broken
    bench.stop()
    return JudgeDone("every variant was taken")


class BuildBench:
    """Builds variants: one locked-down runner compiles one after the other, and runs none."""

    def __init__(self, task: JudgeTask) -> None:
        self._limits = task.job.protocol.limits
        self.runner = StreamRunner(task)
        self._names = backends.get(task.job.backend).artefacts
        self.runner.channel.phase = Phase.BUILD

    def take(self, order: VariantOrder) -> tuple[BuildResult, EvaluationError | None]:
        """Build one variant into its folder, which appears with all of it or not at all."""
        files = [memory_files.empty() for _ in (*self._names, "said")]
        *built, said = files
        try:
            body = (order.source, tuple(self.runner.layouts.values()))
            limit_s = self._limits.build_s + self._limits.call_s
            self.runner.channel.ask(Ask.BUILD_VARIANT, body, limit_s, files)
            facts = _facts(memory_files.held(said, SAID_BYTES))
            kept = [memory_files.held(fd, MOST_BYTES) for fd in built]
            artefacts = dict(zip(self._names, kept, strict=True))
            artefacts[FACTS_FILE] = json.dumps(asdict(facts)).encode()
            keep_whole(order.artefact, artefacts)
            return BuildResult(order.number, Outcome.PASSED, facts=facts), None
        except CandidateError as error:
            words = one_line(memory_files.held(said, SAID_BYTES).decode("utf-8", "replace"))
            broken = error if error.outcome is not Outcome.BUILD_FAILED else None
            reason = (words or error.reason)[:500]
            return BuildResult(order.number, error.outcome, reason), broken
        except OSError as error:
            raise HostError(f"{error.strerror}: {error.filename or order.artefact}") from None
        finally:
            for fd in files:
                os.close(fd)

    def stop(self) -> None:
        self.runner.stop()


def _facts(said: bytes) -> BuildFacts:
    """The numbers that the runner wrote; the compiler ran on hostile text, so they inform."""
    try:
        found: Any = json.loads(said or b"{}")
    except ValueError:
        return BuildFacts()
    known = BuildFacts.__dataclass_fields__
    right = {k: v for k, v in found.items() if k in known and isinstance(v, int)}
    return BuildFacts(**right)
