"""One possible round of the built-in search, comparable with others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import IntEnum

from campaigns.evaluator.contract import Param
from campaigns.proposers.base import (
    Category,
    Draft,
    Hypothesis,
    MetricDirection,
    SweepPlan,
    Variant,
)
from campaigns.proposers.evidence import Facts
from campaigns.rules.verdict.buckets import Bucket


class IdeaRank(IntEnum):
    """What experience makes of an idea before any estimate counts."""

    SPENT = 0  # it did not work elsewhere
    OWN = 1
    RECOMMENDED = 2


@dataclass(frozen=True, slots=True)
class Idea:
    """One possible round. expected: the speed-up hoped for (1.2 = 1.2x faster).

    follows: the uuids of the entries of experience that it follows.
    """

    strategy: str
    title: str
    change: str
    rationale: str
    risks: str
    expected: float
    params: Mapping[str, Param]
    candidates: tuple[Variant, ...]
    bucket: Bucket
    category: Category
    rank: IdeaRank = IdeaRank.OWN
    follows: tuple[str, ...] = ()
    sweep: SweepPlan | None = None

    @property
    def key(self) -> tuple[str, tuple[tuple[str, object], ...]]:
        """What makes two ideas the same one."""
        return self.strategy, tuple(sorted(self.params.items()))

    @property
    def order(self) -> tuple[int, float, str]:
        """The largest is tried first."""
        return self.rank, self.expected, self.strategy

    def capped(self, room: float) -> Idea:
        """The idea expecting no more than the physical floor leaves room for."""
        return replace(self, expected=min(self.expected, room))

    def draft(self, facts: Facts) -> Draft:
        """The round to propose, with the numbers it rests on."""
        hypothesis = Hypothesis(
            strategy=self.strategy,
            title=self.title,
            change=self.change,
            rationale=self.rationale,
            evidence=facts.sentences(),
            expected_metric="time per call",
            expected_direction=MetricDirection.DOWN,
            expected_amount=round(1.0 - 1.0 / self.expected, 3),
            risks=self.risks,
            params=self.params,
            bucket=self.bucket,
            follows=self.follows,
        )
        return Draft(hypothesis, self.candidates, self.sweep)
