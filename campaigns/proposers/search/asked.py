"""What the built-in search has asked before it proposes, in its order and in words (R35)."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

from campaigns.proposers.base import Situation
from campaigns.proposers.evidence import LIMIT, read_facts
from campaigns.rules.search_log import LONGEST_PARTS, NOTHING_FOUND, SearchSource, SearchStep


def search_log(situation: Situation, open_strategies: Iterable[str]) -> tuple[SearchStep, ...]:
    """open_strategies: of every idea that fits the incumbent and was not tried."""
    steps = _steps(situation, list(dict.fromkeys(open_strategies)))
    return tuple(
        SearchStep(source, _clipped(query, "query"), _clipped(found, "found") or NOTHING_FOUND)
        for source, query, found in steps
    )


def _steps(situation: Situation, fitting: list[str]) -> Iterator[tuple[SearchSource, str, str]]:
    where = f"{situation.op} in {situation.backend}"
    profile = read_facts(situation.evidence).profile
    counted = [profile.sentences[LIMIT]] if profile else []
    counted += [one.words for one in situation.pointed]
    yield (
        SearchSource.PROFILE,
        f"what limits the incumbent, round {situation.incumbent_round}, and its findings",
        "; ".join(counted) or f"{NOTHING_FOUND}: it was not profiled",
    )
    yield SearchSource.LESSONS, f"lessons on {where}, before the first attempt", situation.lessons
    advised = (f"{one.strategy} ({one.words})" for one in situation.learned)
    yield SearchSource.EXPERIENCE, f"what worked for {where}", _counted(advised, "recommended")
    spent = (f"{one.strategy} ({one.words})" for one in situation.spent)
    yield SearchSource.EXPERIENCE, f"what did not work for {where}", _counted(spent, "known")
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
