"""Which strategy finds a fast variant in the fewest evaluations? Answered on recorded landscapes.

Every strategy searches every landscape with many seeds; nothing is measured. Beside ours stand the
strategies of Kernel Tuner where it is installed, on the same landscapes with the same budget.
"""

from __future__ import annotations

import math
import os
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from statistics import geometric_mean
from tempfile import TemporaryDirectory

from campaigns.benchmarks.harness import (
    BenchmarkError,
    BenchReport,
    Progress,
    ReportTable,
    Row,
    require,
)
from campaigns.benchmarks.landscapes.landscape import TIME_US, Landscape, LandscapeError
from campaigns.benchmarks.landscapes.replay import read_any
from campaigns.benchmarks.search.peer import (
    MARGINS,
    OURS,
    PACKAGE,
    PEERS,
    limit_threads,
    peer_strategies,
    replayed,
)
from campaigns.strategies.registry import DEFAULT, STRATEGIES

SHIPPED = Path(__file__).parent / "landscapes"
BATCH, BUDGET, SEEDS = 8, 100, 30


@dataclass(frozen=True, slots=True)
class EvaluationsNeeded:
    """A strategy on one landscape. needed: a row a seed, as `replayed` gives it."""

    side: str
    strategy: str
    budget: int
    needed: Sequence[Sequence[float]]

    def at(self, margin: float, share: float) -> float:
        """So many evaluations were enough for this share of the seeds."""
        counts = sorted(run[MARGINS.index(margin)] for run in self.needed)
        return counts[math.ceil(share * len(counts)) - 1]

    def shown(self, margin: float, share: float) -> int | str:
        found = self.at(margin, share)
        return f">{self.budget}" if math.isinf(found) else int(found)

    def median(self) -> float:
        """To within the first margin; the budget where it is more."""
        return min(self.at(MARGINS[0], 0.5), self.budget)


def measure_replay(options: Namespace, progress: Progress) -> BenchReport:
    """Raises BenchmarkError."""
    require(options, seeds=(1, None), budget=(1, None), batch=(1, None))
    paths = options.landscape or sorted(SHIPPED.glob("*.csv.gz"))
    try:
        landscapes = {path: read_any(path) for path in paths}
    except LandscapeError as error:
        raise BenchmarkError(str(error)) from error
    empty = [path.name for path, one in landscapes.items() if math.isinf(one.best_us)]
    if empty:
        raise BenchmarkError(f"{', '.join(empty)}: not one time in it")
    sides = [(OURS, name) for name in STRATEGIES]
    sides += [(PEERS, name) for name in peer_strategies()]
    limits = (options.budget, options.batch)
    standings: dict[Path, list[EvaluationsNeeded]] = {}
    workers = ProcessPoolExecutor(os.cpu_count(), get_context("spawn"), limit_threads)
    with workers, TemporaryDirectory(prefix="kopt-bench-") as folder:
        for path, landscape in landscapes.items():
            progress(f"{path.name}: {len(landscape.frame)} points, {len(sides)} strategies")
            standings[path] = []
            for side, name in sides:
                run = partial(replayed, (side, name), path, limits, Path(folder))
                needed = tuple(workers.map(run, range(options.seeds), chunksize=5))
                standings[path].append(EvaluationsNeeded(side, name, options.budget, needed))
    return _report(landscapes, standings, options)


def _report(
    landscapes: Mapping[Path, Landscape],
    standings: Mapping[Path, Sequence[EvaluationsNeeded]],
    options: Namespace,
) -> BenchReport:
    means = sorted(_means(list(standings.values())), key=lambda one: one[1])
    note = (
        f"Medians to within {MARGINS[0]:.0%}, a landscape each, in the order of the tables below; "
        "a median beyond the budget counts as the budget in the mean."
    )
    overall: list[Row] = [
        {"strategy": of.strategy, "of": of.side, "geometric mean": mean, "medians": medians}
        for of, mean, medians in means
    ]
    tables = [ReportTable("All landscapes", overall, [note])]
    for path, landscape in landscapes.items():
        rows: list[Row] = []
        for one in sorted(standings[path], key=lambda one: (one.median(), one.at(MARGINS[0], 0.9))):
            row: dict[str, object] = {"strategy": one.strategy, "of": one.side}
            for margin in MARGINS:
                row[f"median to {margin:.0%}"] = one.shown(margin, 0.5)
                row[f"p90 to {margin:.0%}"] = one.shown(margin, 0.9)
            rows.append(row)
        title = f"{path.name}: {landscape.header.kernel}, {len(landscape.frame)} points"
        tables.append(ReportTable(title, rows, [_about(landscape)]))
    verdict, held = _verdict(list(standings.values()))
    return BenchReport(
        title="Search strategies by replay",
        question="Which strategy finds a fast variant in the fewest evaluations?",
        device=None,
        verdict=verdict,
        held=held,
        notes=[
            f"Evaluations until within a margin of the best recorded time: median and 90th "
            f"percentile of {options.seeds} seeds, at most {options.budget} evaluations each. "
            f"A failure is an evaluation; a point counts once. Ours ask {options.batch} points at "
            f"a time, and start from no seeds."
        ],
        tables=tables,
        packages=("scikit-learn", PACKAGE),
    )


def _means(
    standings: Sequence[Sequence[EvaluationsNeeded]],
) -> Iterator[tuple[EvaluationsNeeded, float, list[int | str]]]:
    for of_all in zip(*standings, strict=True):
        mean = geometric_mean([one.median() for one in of_all])
        yield of_all[0], mean, [one.shown(MARGINS[0], 0.5) for one in of_all]


def _about(landscape: Landscape) -> str:
    frame, header = landscape.frame, landscape.header
    timed = frame[TIME_US].dropna()
    near = ", ".join(
        f"{int((timed <= landscape.best_us * (1 + margin)).sum())} within {margin:.0%}"
        for margin in MARGINS
    )
    return (
        f"{header.device or 'device not recorded'}. {len(timed)} of {len(frame)} points were "
        f"measured, {near} of the best, {landscape.best_us:.4g} µs; the median is "
        f"{timed.median() / landscape.best_us:.2f}× that."
    )


def _verdict(standings: Sequence[Sequence[EvaluationsNeeded]]) -> tuple[str, bool]:
    """The default against the best of the other side on all landscapes, and on each."""
    means = {(of.side, of.strategy): mean for of, mean, _ in _means(standings)}
    ours = means[OURS, DEFAULT]
    lead = f"The default, {DEFAULT}, is within {MARGINS[0]:.0%} after {ours:.0f} evaluations"
    theirs = {name: mean for (side, name), mean in means.items() if side == PEERS}
    if not theirs:
        return f"{lead} (geometric mean of medians). {PEERS} is not installed.", True
    best = min(theirs, key=lambda name: theirs[name])
    least = [min(one.median() for one in each if one.side == PEERS) for each in standings]
    mine = [one.median() for each in standings for one in each if one.strategy == DEFAULT]
    won = sum(own <= other for own, other in zip(mine, least, strict=True))
    verdict = (
        f"{lead}, the best of {PEERS}, {best}, after {theirs[best]:.0f} (geometric means of "
        f"medians). On {won} of {len(standings)} landscapes the default needs at most what the "
        f"best there of {PEERS}'s {len(theirs)} strategies needs."
    )
    return verdict, ours <= theirs[best]
