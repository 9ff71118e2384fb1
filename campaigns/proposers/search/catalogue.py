"""Everything that the catalogue still offers for a situation, by category (R48)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from campaigns.proposers.base import Category, Situation
from campaigns.proposers.evidence import read_facts
from campaigns.proposers.recipes.base import Recipe, recipes
from campaigns.proposers.search.ideas import TUNED
from campaigns.proposers.search.proposer import open_ideas
from campaigns.rules.stop.ladder import Way
from knowledge.experience.catalogue.applies import applies, is_for
from knowledge.experience.catalogue.names import StrategyNames, names_in
from knowledge.experience.catalogue.read import TECHNIQUE, StrategyFacts
from knowledge.experience.names import Place
from knowledge.experience.terms import Bottleneck

# What a roofline tells apart; the other limits show only in a profile.
BY_ROOFLINE = {Bottleneck.MEMORY, Bottleneck.COMPUTE}
CATEGORIES = {
    Bottleneck.MEMORY: Category.MOVEMENT,
    Bottleneck.COMPUTE: Category.INSTRUCTIONS,
    Bottleneck.LATENCY: Category.PIPELINE,
    Bottleneck.SYNC: Category.PIPELINE,
    Bottleneck.OCCUPANCY: Category.REGISTERS,
    Bottleneck.LAUNCH: Category.LAUNCH,
    Bottleneck.TAIL: Category.LAUNCH,
}
# Nobody has estimated these: only to have what suits the bound before the rest.
SUITED, UNSUITED = 1.02, 1.01


def untried(
    situation: Situation, strategies: Sequence[StrategyFacts] = (), place: Place | None = None
) -> tuple[Way, ...]:
    """What the search can do next by itself, recipes that do not know this source, and strategies
    that no recipe rewrites, which need a person.

    strategies: the whole catalogue. place: what the campaign runs on.
    """
    names = names_in((each.slug, each.backend, each.aliases) for each in strategies)
    ours = [_with_id(way, names, situation) for way in (*_open(situation), *_by_hand(situation))]
    offered = {way.catalogue for way in ours}
    by_people = _by_people(situation, strategies, names, place or Place())
    return (*ours, *(way for way in by_people if way.catalogue not in offered))


def category_of(strategy: str, strategies: Sequence[StrategyFacts] = ()) -> Category | None:
    """The category of a strategy of the search or the catalogue; None for any other."""
    found = recipes().get(strategy)
    if found is not None:
        return found.about.category
    if strategy.startswith("flags."):
        return Category.INSTRUCTIONS
    name = strategy.removeprefix("tune.")
    if name != strategy:
        return TUNED.get(name, Category.LAUNCH)
    return next((_category(each) for each in strategies if each.slug == strategy), None)


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


def _by_people(
    situation: Situation, strategies: Sequence[StrategyFacts], names: StrategyNames, place: Place
) -> Iterator[Way]:
    """Techniques that no recipe rewrites and that can fit here."""
    tried = {names.slug(each.strategy, situation.backend) for each in situation.history}
    bound = read_facts(situation.evidence).bound
    for each in strategies:
        if each.kind != TECHNIQUE or each.recipes or each.slug in tried:
            continue
        suits = is_for(each.limits, bound)
        fit = applies(
            each,
            backend=situation.backend,
            op=situation.op,
            vendor=place.vendor,
            arch=place.arch,
        )
        if fit and (suits or not {*each.limits} <= BY_ROOFLINE):
            yield Way(
                each.slug,
                _category(each),
                each.title,
                f"Use when: {each.use_when}.",
                SUITED if suits else UNSUITED,
                by_itself=False,
                catalogue=each.slug,
            )


def _category(strategy: StrategyFacts) -> Category:
    first = strategy.limits[0].partition("_")[0] if strategy.limits else ""
    return CATEGORIES[Bottleneck(first)] if first else Category.ALGORITHM


def _with_id(way: Way, names: StrategyNames, situation: Situation) -> Way:
    slug = names.slug(way.strategy, situation.backend)
    return replace(way, catalogue=slug) if slug in names.slugs else way


def _is_meant(found: Recipe, situation: Situation) -> bool:
    about = found.about
    return about.backend == situation.backend and (not about.ops or situation.op in about.ops)
