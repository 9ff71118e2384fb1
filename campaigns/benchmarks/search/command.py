"""`bench search`: so far by replay."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from campaigns.benchmarks.harness import Benchmark, BenchmarkError, BenchReport, Progress, option
from campaigns.benchmarks.search.replay import BATCH, BUDGET, SEEDS, measure_replay


def _run(options: Namespace, progress: Progress) -> BenchReport:
    if not options.replay:
        raise BenchmarkError("bench search: --replay is accepted, on recorded landscapes")
    return measure_replay(options, progress)


SEARCH = Benchmark(
    "search",
    "how many evaluations does each search strategy need?",
    (
        option(
            "--replay", action="store_true", help="search recorded landscapes, without a device"
        ),
        option(
            "--landscape", type=Path, action="append", help="a landscape; default: shipped ones"
        ),
        option("--seeds", type=int, default=SEEDS, help="searches of each strategy"),
        option("--budget", type=int, default=BUDGET, help="evaluations of one search"),
        option("--batch", type=int, default=BATCH, help="points that ours ask at a time"),
    ),
    _run,
)
