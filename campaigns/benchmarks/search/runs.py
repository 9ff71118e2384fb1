"""One search of one landscape, ours or a peer's; run in processes that have no web framework."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from campaigns.benchmarks.search.peer import SimulatedTuning
from campaigns.landscapes.read import read_any
from campaigns.landscapes.recorded import RecordedSpace
from campaigns.landscapes.replay import ReplayLimits, replay
from campaigns.strategies.registry import strategy_named

MARGINS = (0.05, 0.02)
OURS, PEERS = "kopt", "Kernel Tuner"


@dataclass(frozen=True, slots=True)
class SearchRun:
    """One search to replay. side: whose strategy it is."""

    path: Path
    side: str
    strategy: str
    seed: int
    budget: int
    batch: int
    folder: Path


def limit_threads() -> None:
    """One thread of linear algebra in a worker: there is a worker for each core."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)


def replayed(run: SearchRun) -> tuple[float, ...]:
    """Evaluations to within each margin."""
    if run.side == OURS:
        maker = strategy_named(run.strategy)
        limits = ReplayLimits(run.budget, run.batch, min(MARGINS))
        found = replay(_space(run.path), maker, run.seed, limits)
    else:
        found = _tuning(run.path, run.folder).run(run.strategy, run.seed, run.budget)
    return tuple(found.evaluations_to(margin) or math.inf for margin in MARGINS)


@cache
def _space(path: Path) -> RecordedSpace:
    return RecordedSpace(read_any(path))


@cache
def _tuning(path: Path, folder: Path) -> SimulatedTuning:
    return SimulatedTuning(read_any(path), folder / f"{path.name}-{os.getpid()}.json")
