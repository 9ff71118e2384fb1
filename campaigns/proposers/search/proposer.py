"""The built-in search: the best of what the catalogue offers, and what it asked for it (R35)."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import replace

from campaigns.proposers.base import Draft, Failure, Situation, Variant, register
from campaigns.proposers.evidence import LIMIT, read_facts
from campaigns.proposers.search.catalogue import open_ideas
from campaigns.proposers.search.repairs import repairs
from campaigns.rules.search_log import LONGEST_PARTS, NOTHING_FOUND, SearchSource, SearchStep


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
        best = max(left, key=lambda idea: idea.order)
        if named:
            best = min(named, key=lambda idea: situation.directions.index(idea.strategy))
        draft = best.draft(read_facts(situation.evidence))
        searched = search_log(situation, [idea.strategy for idea in left])
        return replace(draft, hypothesis=replace(draft.hypothesis, searched=searched))

    def repair(self, situation: Situation, failure: Failure, /) -> Variant | None:
        """The first repair that the round has not tried, and that is not the incumbent (R17)."""
        known = (situation.source, *failure.tried)
        return next((v for v in repairs(situation, failure) if v.source not in known), None)


def search_log(situation: Situation, open_strategies: Iterable[str]) -> tuple[SearchStep, ...]:
    """What was asked, in its order. open_strategies: of every idea that is left to try."""
    steps = _steps(situation, list(dict.fromkeys(open_strategies)))
    return tuple(
        SearchStep(source, _clipped(query, "query"), _clipped(found, "found") or NOTHING_FOUND)
        for source, query, found in steps
    )


def _steps(situation: Situation, fitting: list[str]) -> Iterator[tuple[SearchSource, str, str]]:
    where = f"{situation.op} in {situation.backend}"
    profile = read_facts(situation.evidence).profile
    seen = profile.sentences if profile else {}
    counted = [seen[LIMIT]] if LIMIT in seen else []
    counted += [
        f"{one.words} ({one.trust.words})" if one.trust else one.words for one in situation.pointed
    ]
    yield (
        SearchSource.PROFILE,
        f"what limits the incumbent, round {situation.incumbent_round}, and its findings",
        "; ".join(counted) or f"{NOTHING_FOUND}: it was not profiled",
    )
    yield SearchSource.LESSONS, f"lessons on {where}, before the first attempt", situation.lessons
    advised = (f"{one.strategy} ({one.words})" for one in situation.learned)
    yield SearchSource.EXPERIENCE, f"what worked for {where}", _counted(advised, "recommended")
    spent = (f"{one.strategy} ({one.words})" for one in situation.spent)
    yield SearchSource.EXPERIENCE, f"what showed no gain for {where}", _counted(spent, "known")
    yield (
        SearchSource.CATALOGUE,
        f"strategies that fit the source of round {situation.incumbent_round} and were not tried",
        _counted(fitting, "fit"),
    )


def _counted(found: Iterable[str], what: str) -> str:
    listed = list(found)
    return f"{len(listed)} {what}: {', '.join(listed)}" if listed else ""


def _clipped(text: str, part: str) -> str:
    return textwrap.shorten(text, LONGEST_PARTS[part], placeholder=" …")
