"""The judge of a stream: one variant after the other, each with a result of its own."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from campaigns.evaluator.contract import Phase
from campaigns.evaluator.contract.errors import EvaluationError
from campaigns.evaluator.contract.files import dump_line, load_line
from campaigns.evaluator.contract.stream import BuildResult, ScreenResult, Stream, VariantOrder
from campaigns.evaluator.judge.progress import JudgeDone, JudgeTask
from campaigns.evaluator.screen.bench import ScreenBench
from campaigns.evaluator.screen.build import BuildBench

Result = BuildResult | ScreenResult
# With the words of the stream a line stays shorter than what a pipe takes whole (4096 bytes).
WORDS = {Stream.BUILD: "built", Stream.SCREEN: "screened"}
# After a variant that has broken its runner the stream ends, and whoever ordered it goes on anew.
Taker = Callable[[VariantOrder], tuple[Result, EvaluationError | None]]


def run(task: JudgeTask) -> JudgeDone:
    """Take what is ordered until `end`. Raises what a broken runner is blamed for."""
    stream, progress = Stream(task.job.stream), task.progress
    bench = (BuildBench if stream is Stream.BUILD else ScreenBench)(task)
    progress.enter(Phase.BUILD if stream is Stream.BUILD else Phase.BURST)
    progress.tell("open")
    for line in task.orders:
        word, _, path = line.strip().partition(" ")
        if word != "order":
            break
        order = load_line(VariantOrder, Path(path).read_text())
        begun = time.monotonic()
        result, broken = bench.take(order)
        told = dump_line(result.lasting(time.monotonic() - begun))
        progress.tell(f"{WORDS[stream]} {told}")
        if broken is not None:
            raise broken
    bench.stop()
    return JudgeDone("every variant was taken")
