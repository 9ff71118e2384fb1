"""Everything that the catalogue still offers for a situation, by category (R48)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from campaigns.proposers.base import Category, Situation
from campaigns.proposers.evidence import read_facts
from campaigns.proposers.recipes.base import recipes
from campaigns.proposers.search.ideas import (
    FIRST,
    TUNED,
    Idea,
    advised,
    first_ideas,
    flag_ideas,
    pointed_at,
    recipe_ideas,
    space_ideas,
    told_ideas,
)
from campaigns.rules.stop.ladder import Way
from knowledge.experience.catalogue.applies import applies, is_for
from knowledge.experience.catalogue.names import Place, StrategyNames, names_in
from knowledge.experience.catalogue.read import TECHNIQUE, StrategyFacts
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
LEAST_EXPECTED = 1.005


def untried(
    situation: Situation, strategies: Sequence[StrategyFacts] = (), place: Place | None = None
) -> tuple[Way, ...]:
    """What the search can do next by itself, recipes that do not know this source, and strategies
    that no recipe rewrites, which need a person.

    strategies: the whole catalogue. place: what the campaign runs on.
    """
    names = names_in((each.slug, each.backend, each.aliases) for each in strategies)
    tried, facts = (
        {attempt.strategy for attempt in situation.history},
        read_facts(situation.evidence),
    )
    ways = [
        Way(idea.strategy, idea.category, idea.title, idea.rationale, idea.expected)
        for idea in open_ideas(situation)
    ]
    # Recipes for this backend and operation whose pattern the source has not.
    ways += [
        Way(name, one.category, one.title, one.rationale, one.expected(facts), by_itself=False)
        for name, one in recipes().items()
        if name not in tried and one.is_meant(situation) and not one.variants(situation)
    ]
    ours = []
    for way in ways:
        slug = names.slug(way.strategy, situation.backend)
        ours.append(replace(way, catalogue=slug) if slug in names.slugs else way)
    offered = {way.catalogue for way in ours}
    by_people = _by_people(situation, strategies, names, place or Place())
    return (*ours, *(way for way in by_people if way.catalogue not in offered))


def category_of(strategy: str, strategies: Sequence[StrategyFacts] = ()) -> Category | None:
    """The category of a strategy of the search or the catalogue; None for any other."""
    found = recipes().get(strategy)
    if found is not None:
        return found.category
    if strategy == FIRST:
        return Category.ALGORITHM
    if strategy.startswith("flags."):
        return Category.INSTRUCTIONS
    name = strategy.removeprefix("tune.")
    if name != strategy:
        return TUNED.get(name, Category.LAUNCH)
    return next((_category(each) for each in strategies if each.slug == strategy), None)


def _by_people(
    situation: Situation, strategies: Sequence[StrategyFacts], names: StrategyNames, place: Place
) -> Iterator[Way]:
    """Techniques that no recipe rewrites and that can fit here."""
    tried = {names.slug(each.strategy, situation.backend) for each in situation.history}
    facts = read_facts(situation.evidence)
    bounds = facts.profile.limits if facts.profile else (facts.bound,)
    shown = {name for one in situation.pointed for name in one.names}
    for each in strategies:
        if each.kind != TECHNIQUE or each.recipes or each.slug in tried:
            continue
        suits = each.slug in shown or any(is_for(each.limits, bound) for bound in bounds)
        backend, op = situation.backend, situation.op
        fit = applies(each, backend=backend, op=op, vendor=place.vendor, arch=place.arch)
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


def open_ideas(situation: Situation) -> list[Idea]:
    """The ideas that apply to the incumbent and were not tried.

    Each expects no more than the physical floor leaves room for.
    """
    tried = [(attempt.strategy, dict(attempt.params)) for attempt in situation.history]
    share = read_facts(situation.evidence).share
    room = 1.0 / share if share else math.inf
    found = []
    finders = (recipe_ideas, told_ideas, space_ideas, flag_ideas)
    for finder in finders if situation.has_kernel else (first_ideas,):
        for idea in finder(situation):
            known = advised(idea, situation)
            if known is None or (known.strategy, dict(known.params)) in tried:
                continue
            capped = replace(pointed_at(known, situation), expected=min(known.expected, room))
            if capped.expected >= LEAST_EXPECTED:
                found.append(capped)
    return found
