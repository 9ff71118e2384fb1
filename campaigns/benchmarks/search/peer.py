"""Kernel Tuner's own strategies on a landscape of ours, in its simulation mode.

It is no dependency: without it the replay has one side. It is told which points exist, and a
failure costs it an evaluation as it costs us one; a point that it asks for again costs nothing.
"""

from __future__ import annotations

import math
import os
import random
import warnings
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import msgspec
import numpy as np

from campaigns.benchmarks.landscapes.landscape import Landscape, RecordedKnob
from campaigns.benchmarks.landscapes.replay import (
    RecordedSpace,
    ReplayedSearch,
    ReplayLimits,
    read_any,
    replay,
)
from campaigns.benchmarks.landscapes.tuner_files import write_cache
from campaigns.evaluator.contract import Param
from campaigns.strategies.registry import strategy_named

PACKAGE = "kernel_tuner"
# Not a search, not installed with it, or for several objectives.
LEFT_OUT = {"brute_force", "skopt", "nsga2", "nsga3", "pyatf_strategies"}


def peer_strategies() -> tuple[str, ...]:
    """Their names; none where Kernel Tuner is not installed."""
    if find_spec(PACKAGE) is None:
        return ()
    from kernel_tuner.interface import strategy_map

    return tuple(name for name in strategy_map if name not in LEFT_OUT)


class SimulatedTuning:
    """One landscape, ready for Kernel Tuner. cache: the .json file that it is written to."""

    def __init__(self, landscape: Landscape, cache: Path) -> None:
        # With the places of texts instead of them: most of its strategies compute with values.
        header = landscape.header
        codes: list[dict[Param, Param]] = []
        for knob in header.knobs:
            texts = any(isinstance(value, str) for value in knob.values)
            codes.append({value: at if texts else value for at, value in enumerate(knob.values)})
        named = zip(header.knobs, codes, strict=True)
        knobs = tuple(RecordedKnob(knob.name, tuple(code.values())) for knob, code in named)
        rows = []
        for row in landscape.rows():
            values = tuple(code[value] for code, value in zip(codes, row.values, strict=True))
            rows.append(msgspec.structs.replace(row, values=values))
        self._landscape = Landscape.of(msgspec.structs.replace(header, knobs=knobs), rows)
        self._path = cache
        cache.write_text(write_cache(self._landscape))
        self._rows = {row.values: row.trial.time_us for row in self._landscape.rows()}

    def run(self, strategy: str, seed: int, budget: int) -> ReplayedSearch:
        """Its search with the default options, each point counted once."""
        from constraint import FunctionConstraint
        from kernel_tuner import tune_kernel

        random.seed(seed)
        np.random.seed(seed)
        header = self._landscape.header
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results, _ = tune_kernel(
                header.kernel,
                "",
                (1,),
                [],
                {knob.name: list(knob.values) for knob in header.knobs},
                restrictions=[FunctionConstraint(lambda *values: values in self._rows)],
                strategy=strategy,
                strategy_options={"max_fevals": budget},
                cache=str(self._path),
                simulation_mode=True,
                quiet=True,
            )
        names = [knob.name for knob in header.knobs]
        tried = dict.fromkeys(tuple(result[name] for name in names) for result in results)
        times = (self._rows[values] for values in tried)
        return ReplayedSearch.of(
            (math.inf if time is None else time for time in times), self._landscape.best_us
        )


MARGINS = (0.05, 0.02)
OURS, PEERS = "kopt", "Kernel Tuner"


def limit_threads() -> None:
    """One thread of linear algebra in a worker: there is a worker for each core."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)


def replayed(
    of: tuple[str, str], path: Path, limits: tuple[int, int], folder: Path, seed: int
) -> tuple[float, ...]:
    """Evaluations to within each margin, by the strategy `of` a side on the landscape at `path`.

    limits: how many evaluations a search may take, and how many points ours ask at a time.
    """
    (side, strategy), (budget, batch) = of, limits
    if side == OURS:
        ours = ReplayLimits(budget, batch, min(MARGINS))
        found = replay(_space(path), strategy_named(strategy), seed, ours)
    else:
        found = _tuning(path, folder).run(strategy, seed, budget)
    return tuple(found.evaluations_to(margin) or math.inf for margin in MARGINS)


@cache
def _space(path: Path) -> RecordedSpace:
    return RecordedSpace(read_any(path))


@cache
def _tuning(path: Path, folder: Path) -> SimulatedTuning:
    return SimulatedTuning(read_any(path), folder / f"{path.name}-{os.getpid()}.json")
