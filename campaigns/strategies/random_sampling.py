"""Points drawn at random: what every other strategy has to beat."""

from __future__ import annotations

from collections.abc import Iterable

from campaigns.strategies.base import Point, SearchStrategy


class RandomSampling(SearchStrategy):
    def _propose(self, n: int) -> Iterable[Point]:
        return ()
