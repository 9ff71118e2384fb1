"""How far gains are confirmed, for tables, pages and data."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db.models import OuterRef, QuerySet, Subquery

from campaigns.models import Campaign, Round, Standing, StandingAnswer, StandingWord
from campaigns.models.standing import MEANINGS
from campaigns.rules.noise.gain import KIND, Gain


def with_standing(rounds: QuerySet[Round]) -> QuerySet[Round]:
    """The same rounds with `standing_word`, without a further query."""
    newest = Standing.objects.filter(round=OuterRef("pk")).order_by("-pk")
    return rounds.annotate(standing_word=Subquery(newest.values("word")[:1]))


def standing_of(round_: Round) -> str:
    """The stored word of a round that came `with_standing`; "" where nothing is claimed."""
    return getattr(round_, "standing_word", None) or ""


def sessions_of(round_: Round) -> list[Standing]:
    """Every step of its standing in order, each with its session and worker; one query."""
    rows = round_.standings.select_related("evaluation__worker", "answer__by")
    return list(rows.defer("evaluation__report"))


def sessions_by_round(campaign: Campaign) -> dict[int, tuple[Standing, ...]]:
    """Round key → its steps in order; one query for all rounds."""
    rows = Standing.objects.filter(round__campaign=campaign).order_by("pk")
    found: dict[int, tuple[Standing, ...]] = {}
    for standing in rows.select_related("evaluation__worker", "answer__by").defer(
        "evaluation__report"
    ):
        found[standing.round_id] = (*found.get(standing.round_id, ()), standing)
    return found


def doubts_of(campaign: Campaign) -> list[Standing]:
    """Gains that another device did not show, with a person's answer where there is one."""
    rows = Standing.objects.filter(round__campaign=campaign, word=StandingWord.NOT_REPRODUCED)
    return list(rows.select_related("round", "answer__by"))


def gain_of(standing: Standing) -> Gain | None:
    """What its session showed by itself; None where it was not timed."""
    low, high = standing.gain_low, standing.gain_high
    if standing.gain is None or low is None or high is None:
        return None
    return Gain(standing.gain, low, high, standing.pairs, standing.interval_kind or KIND)


def standing_words(word: str) -> str:
    """A stored word as people read it; "" for none."""
    return StandingWord(word).label if word else ""


def meanings() -> list[tuple[str, str]]:
    """Each word with what it means, in the order in which a gain earns them."""
    return [(word.value, MEANINGS[word]) for word in StandingWord]


def standing_facts(standings: Iterable[Standing]) -> list[dict[str, Any]]:
    """Standings as the commands print them."""
    return [
        {
            "word": standing.words,
            "sentence": standing.sentence,
            "gain": standing.gain,
            "gain_low": standing.gain_low,
            "gain_high": standing.gain_high,
            "pairs": standing.pairs,
            "evaluation": standing.evaluation_id,
            "at": standing.at.isoformat(),
            "answer": _answer_facts(getattr(standing, "answer", None)),
        }
        for standing in standings
    ]


def _answer_facts(answer: StandingAnswer | None) -> dict[str, Any] | None:
    if answer is None:
        return None
    by, at = answer.by.get_username(), answer.at.isoformat()
    return {"answer": answer.words, "why": answer.why, "by": by, "at": at}
