"""The built-in search: recipes, tunables and compiler flags, most promising first, no model.

The same situation always gets the same answer; no (strategy, params) is proposed twice.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from campaigns.proposers.base import Attempt, Draft, Failure, Situation, Variant, register
from campaigns.proposers.evidence import read_facts
from campaigns.proposers.search.advised import advised
from campaigns.proposers.search.idea import Idea
from campaigns.proposers.search.ideas import flag_ideas, recipe_ideas, told_ideas
from campaigns.proposers.search.repairs import repairs
from campaigns.proposers.search.space_idea import space_ideas

LEAST_EXPECTED = 1.005


@register
class Search:
    """Proposes the untried idea with the largest expected gain, until none is left.

    After a stagnation review the directions that it named come first, in its order; then what the
    team's experience recommends. What did not work in this context elsewhere comes last, and what
    would be the same experiment again is left out (R36, R38).
    """

    name = "search"

    def propose(self, situation: Situation, /) -> Draft | None:
        """Draft the next round, or None when every idea was tried or cannot pay any more."""
        left = open_ideas(situation)
        if not left:
            return None
        named = [idea for idea in left if idea.strategy in situation.directions]
        best = (
            min(named, key=lambda idea: situation.directions.index(idea.strategy))
            if named
            else max(left, key=lambda idea: idea.order)
        )
        return best.draft(read_facts(situation.evidence))

    def repair(self, situation: Situation, failure: Failure, /) -> Variant | None:
        """The first repair that the round has not tried, and that is not the incumbent (R17)."""
        known = (situation.source, *failure.tried)
        return next((v for v in repairs(situation, failure) if v.source not in known), None)


def open_ideas(situation: Situation) -> list[Idea]:
    """The ideas that apply to the incumbent and were not tried."""
    tried = {_key(attempt) for attempt in situation.history}
    return [idea for idea in _ideas(situation) if idea.key not in tried]


def _ideas(situation: Situation) -> Iterator[Idea]:
    """All ideas that apply, with what each may still gain above the physical floor."""
    share = read_facts(situation.evidence).share
    room = 1.0 / share if share else math.inf
    for finder in (recipe_ideas, told_ideas, space_ideas, flag_ideas):
        for idea in finder(situation):
            known = advised(idea, situation)
            capped = known.capped(room) if known else None
            if capped and capped.expected >= LEAST_EXPECTED:
                yield capped


def _key(attempt: Attempt) -> tuple[str, tuple[tuple[str, object], ...]]:
    return attempt.strategy, tuple(sorted(attempt.params.items()))
