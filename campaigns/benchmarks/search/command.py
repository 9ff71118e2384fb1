"""`bench search`: what a minute tries, and how few trials a strategy needs."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from campaigns.benchmarks.harness import DEVICE, Benchmark, BenchReport, Progress, option
from campaigns.benchmarks.search.replay import BATCH, BUDGET, SEEDS, measure_replay
from campaigns.benchmarks.search.screened import POINTS, measure_screens


def _run(options: Namespace, progress: Progress) -> BenchReport:
    return (measure_replay if options.replay else measure_screens)(options, progress)


SEARCH = Benchmark(
    "search",
    "how many variants are tried a minute, how many does a search need?",
    (
        DEVICE,
        option("--space", action="append", help="problem:backend:case; default: some shipped ones"),
        option("--points", type=int, default=POINTS, help=f"of each space; default: {POINTS}"),
        option("--keep", type=Path, help="a folder for what was screened, as landscapes"),
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
