"""Everything that the catalogue still offers for a situation, by category (R48)."""

from __future__ import annotations

from collections.abc import Iterator

from campaigns.proposers.base import Category, Situation
from campaigns.proposers.evidence import read_facts
from campaigns.proposers.recipes.base import Recipe, recipes
from campaigns.proposers.search.ideas import TUNED
from campaigns.proposers.search.proposer import open_ideas
from campaigns.rules.stop.ladder import Way


def untried(situation: Situation) -> tuple[Way, ...]:
    """What the search can do next by itself, then recipes that do not know this source."""
    return (*_open(situation), *_by_hand(situation))


def category_of(strategy: str) -> Category | None:
    """The category of a strategy of the search; None for what others propose."""
    found = recipes().get(strategy)
    if found is not None:
        return found.about.category
    if strategy.startswith("flags."):
        return Category.INSTRUCTIONS
    name = strategy.removeprefix("tune.")
    return TUNED.get(name, Category.LAUNCH) if name != strategy else None


def _open(situation: Situation) -> Iterator[Way]:
    for idea in open_ideas(situation):
        yield Way(idea.strategy, idea.category, idea.title, idea.rationale, idea.expected)


def _by_hand(situation: Situation) -> Iterator[Way]:
    """Recipes for this backend and operation whose pattern the source has not."""
    tried = {attempt.strategy for attempt in situation.history}
    facts = read_facts(situation.evidence)
    for name, found in recipes().items():
        about = found.about
        if name in tried or not _is_meant(found, situation) or found.variants(situation):
            continue
        expected = about.expected(facts)
        yield Way(name, about.category, about.title, about.rationale, expected, by_itself=False)


def _is_meant(found: Recipe, situation: Situation) -> bool:
    about = found.about
    return about.backend == situation.backend and (not about.ops or situation.op in about.ops)
