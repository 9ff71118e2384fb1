"""One possible round of the built-in search, and what the team's experience makes of it.

Experience decides which idea comes first, and never whether one exists: an idea that it does not
know keeps the place that its own estimate gives it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum

from campaigns.evaluator.contract import Param
from campaigns.proposers.base import (
    Advice,
    Category,
    Draft,
    Hypothesis,
    MetricDirection,
    Situation,
    SweepPlan,
    TriedElsewhere,
    Values,
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
            bucket=Bucket.K1,
            follows=self.follows,
        )
        return Draft(hypothesis, self.candidates, self.sweep)


# What experience promises is not believed beyond this: it was measured on other sources (R38).
MOST_PROMISED = 2.0


def advised(idea: Idea, situation: Situation) -> Idea | None:
    """The idea as experience has it; None where trying it would be the same experiment again."""
    known = [spent for spent in situation.spent if _is_spent(idea, spent)]
    if any(spent.is_same for spent in known):
        return None
    if known and len(idea.candidates) == 1:
        return _put_last(idea, known[0])
    advice = advice_on(idea.strategy, situation)
    return _followed(idea, advice) if advice else idea


def advice_on(strategy: str, situation: Situation) -> Advice | None:
    """What experience recommends of a strategy that this campaign has not tried yet."""
    if any(attempt.strategy == strategy for attempt in situation.history):
        return None
    return next((one for one in situation.learned if one.is_about(strategy)), None)


def told_values(situation: Situation, strategy: str, name: str) -> Iterator[Param]:
    """The values of one parameter that worked best elsewhere, best first."""
    advice = advice_on(strategy, situation)
    for values in advice.params if advice else ():
        found = dict(values).get(name)
        if found is not None:
            yield found


def _is_spent(idea: Idea, spent: TriedElsewhere) -> bool:
    """A sweep's entry is about its best candidate, so the others were no better."""
    tried = (_values(variant) for variant in idea.candidates)
    return spent.strategy == idea.strategy and spent.params in tried


def _put_last(idea: Idea, spent: TriedElsewhere) -> Idea:
    """A retry needs a new reason, and says it (R36)."""
    why = f"It did not work in {spent.words}; tried again because {spent.news}."
    return replace(idea, rank=IdeaRank.SPENT, rationale=f"{idea.rationale} {why}")


def _followed(idea: Idea, advice: Advice) -> Idea:
    """In its order, by its values; the idea as it is where none of those can be tried on it."""
    best = [v for values in advice.params for v in idea.candidates if _values(v) == values]
    if advice.params and not best:
        return idea
    rest = [variant for variant in idea.candidates if variant not in best]
    alone = bool(best) and advice.is_here and len(idea.candidates) > 1
    promised = min(1 + advice.gain, MOST_PROMISED) if advice.gain else idea.expected
    change = f"{best[0].label}: it worked best in this context before." if alone else idea.change
    return replace(
        idea,
        change=change,
        rank=IdeaRank.RECOMMENDED,
        expected=promised,
        candidates=tuple(best[:1] if alone else best + rest),
        params=dict(best[0].params) if alone else idea.params,
        rationale=f"{idea.rationale} Followed: {advice.strategy}, {advice.words}.",
        follows=advice.entries,
    )


def _values(variant: Variant) -> Values:
    return tuple(sorted(variant.params.items()))
