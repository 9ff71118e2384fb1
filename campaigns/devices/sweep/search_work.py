"""A search strategy as the work of a sweep: points become sources, results become what is told."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from campaigns.devices.sweep.loop import require_measured
from campaigns.evaluator.contract import Outcome, Source
from campaigns.evaluator.contract.stream import BuildFacts, BuildResult, ScreenResult
from campaigns.spaces.render import render
from campaigns.spaces.space import Point, Space
from campaigns.strategies.base import SearchStrategy, SearchTrial, StopRule, TrialFailure

PRUNED = "pruned"
FAILURES = {
    Outcome.BUILD_FAILED: TrialFailure.BUILD_FAILED,
    Outcome.WRONG_RESULT: TrialFailure.WRONG,
    Outcome.TIMED_OUT: TrialFailure.TIMED_OUT,
}


@dataclass(slots=True)
class TriedPoint:
    """What became of one point. outcome: an `Outcome`, or `PRUNED`.

    time_us: the geometric mean over the cases; of one that ended early, what its first cases show.
    """

    number: int
    point: Point
    outcome: str = ""
    reason: str = ""
    times_us: Mapping[str, float] = field(default_factory=dict)
    time_us: float | None = None
    ended_early: bool = False
    facts: BuildFacts | None = None
    build_s: float = 0.0
    screen_s: float = 0.0


def _too_large(facts: BuildFacts, most_shared_bytes: int | None) -> str:
    """Why a build cannot be launched on a device with so much shared memory; "" if it can."""
    shared, most = facts.shared_bytes, most_shared_bytes
    if shared and most and shared > most:
        return f"it needs {shared:,} bytes of shared memory a block; {most:,} are there"
    return ""


class SearchWork:
    """Asks a strategy and tells it. `ended` says why nothing more is asked for, once that is so."""

    def __init__(
        self,
        base: Source,
        space: Space,
        strategy: SearchStrategy,
        stop: StopRule,
        tried: Callable[[TriedPoint], None],
    ) -> None:
        """tried: called with each point once, when it is known what became of it."""
        self.ended = ""
        self.most_shared_bytes: int | None = None
        self._base, self._space, self._strategy = base, space, strategy
        self._stop, self._tried = stop, tried
        self._points: dict[int, TriedPoint] = {}
        self._number = 0
        self._best_us: dict[str, float] = {}
        self._begun = time.monotonic()

    def known(self, done: TriedPoint) -> None:
        """Learn of a point that was tried before, which is not tried again."""
        self._number = max(self._number, done.number)
        self._teach(done)

    def ask(self, most: int) -> Sequence[tuple[int, Source]]:
        asked = len(self._strategy.told) + len(self._points)
        most = min(most, self._stop.most_trials - asked)
        spent_s = time.monotonic() - self._begun
        self.ended = self.ended or self._stop.reason(self._strategy, spent_s)
        if self.ended or most <= 0:
            return ()
        found = []
        for point in self._strategy.ask(most):
            self._number += 1
            self._points[self._number] = TriedPoint(self._number, point)
            found.append((self._number, render(self._base, self._space, point)))
        if not found and not self._points:
            self.ended = "Every point was tried."
        return found

    def built(self, result: BuildResult) -> bool:
        require_measured(result)
        point = self._points[result.number]
        point.facts, point.build_s = result.facts, result.wall_s
        if result.outcome is not Outcome.PASSED:
            self._done(point, result.outcome, result.reason)
            return False
        if why := _too_large(result.facts, self.most_shared_bytes):
            self._done(point, PRUNED, why)
            return False
        return True

    def screened(self, result: ScreenResult) -> None:
        require_measured(result)
        point = self._points[result.number]
        point.times_us, point.ended_early = result.times_us, result.ended_early
        point.screen_s = result.wall_s
        if result.outcome is Outcome.PASSED and result.times_us:
            times = dict(result.times_us)
            if result.ended_early:
                # Of other cases nothing is known: they are taken to be as far behind as the worst.
                ratio = max(times[case] / self._best_us.get(case, times[case]) for case in times)
                times = {c: times.get(c, us * ratio) for c, us in self._best_us.items()} or times
            point.time_us = math.exp(sum(map(math.log, times.values())) / len(times))
        self._done(point, result.outcome, result.reason)

    def _done(self, point: TriedPoint, outcome: str, reason: str) -> None:
        del self._points[point.number]
        point.outcome, point.reason = str(outcome), reason
        self._teach(point)
        self._tried(point)

    def _teach(self, point: TriedPoint) -> None:
        if point.time_us is not None:
            if not point.ended_early:
                for case, time_us in point.times_us.items():
                    self._best_us[case] = min(time_us, self._best_us.get(case, time_us))
            trial = SearchTrial(point.time_us)
        elif point.outcome == PRUNED:
            trial = SearchTrial(failure=TrialFailure.PRUNED)
        else:
            failure = FAILURES.get(Outcome(point.outcome), TrialFailure.CRASHED)
            trial = SearchTrial(failure=failure)
        self._strategy.tell(point.point, trial)
