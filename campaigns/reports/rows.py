"""The rounds of a campaign as every table shows them: times of one basis, and their standing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

import msgspec
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery

from campaigns.models import Campaign, Round, RoundState, Standing, StandingAnswer, StandingWord
from campaigns.models.verdict import MEANINGS
from campaigns.records.campaigns import share_of
from campaigns.records.findings import finding_counts
from campaigns.records.rounds import ProposedBy, proposed_by
from campaigns.records.values import picked
from campaigns.records.verdicts import CaseResult, borne_of, gain_of, paired_times_of, results_of
from campaigns.rules.noise.gain import Gain, geomean
from campaigns.rules.target.ceilings import CampaignTarget
from campaigns.rules.verdict.chained import Times
from campaigns.rules.verdict.decision import VerdictWord as Word


def with_standing(rounds: QuerySet[Round]) -> QuerySet[Round]:
    """The same rounds with `standing_word`, without a further query."""
    newest = Standing.objects.filter(round=OuterRef("pk")).order_by("-pk")
    return rounds.annotate(standing_word=Subquery(newest.values("word")[:1]))


def standing_of(round_: Round) -> str:
    """The stored word of a round that came `with_standing`; "" where nothing is claimed."""
    return getattr(round_, "standing_word", None) or ""


def sessions_of(round_: Round) -> list[Standing]:
    """Every step of its standing in order, each with its session and worker; one query."""
    rows = round_.standings.select_related("evaluation__worker")
    return list(rows.defer("evaluation__report"))


def sessions_by_round(campaign: Campaign) -> dict[int, tuple[Standing, ...]]:
    """Round key → its steps in order; one query for all rounds."""
    rows = Standing.objects.filter(round__campaign=campaign).order_by("pk")
    found: dict[int, tuple[Standing, ...]] = {}
    for standing in rows.select_related("evaluation__worker").defer("evaluation__report"):
        found[standing.round_id] = (*found.get(standing.round_id, ()), standing)
    return found


def doubts_of(campaign: Campaign) -> list[Standing]:
    """Gains that another device did not show, with a person's answer where there is one."""
    rows = Standing.objects.filter(round__campaign=campaign, word=StandingWord.NOT_REPRODUCED)
    return list(rows.select_related("round"))


def standing_words(word: str) -> str:
    """A stored word as people read it; "" for none."""
    return StandingWord(word).label if word else ""


def meanings() -> list[tuple[str, str]]:
    """Each word with what it means, in the order in which a gain earns them."""
    return [(word.value, MEANINGS[word]) for word in StandingWord]


class AnswerFacts(msgspec.Struct, frozen=True):
    """What a person said of a gain that another device did not show."""

    answer: str
    why: str
    by: str
    at: str


class StandingFacts(msgspec.Struct, frozen=True):
    """One step of the standing, with what its own session showed."""

    word: str
    sentence: str
    gain: float | None
    gain_low: float | None
    gain_high: float | None
    pairs: int
    evaluation: int
    at: str
    answer: AnswerFacts | None


def standing_facts(standings: Iterable[Standing]) -> list[StandingFacts]:
    """Standings as data."""
    return [
        StandingFacts(
            **picked(standing, "sentence gain gain_low gain_high pairs at"),
            word=standing.words,
            evaluation=standing.evaluation_id,
            answer=_answer_facts(standing.answer),
        )
        for standing in standings
    ]


def _answer_facts(answer: StandingAnswer | None) -> AnswerFacts | None:
    if answer is None:
        return None
    return AnswerFacts(answer.words, answer.why, str(answer.by), answer.at.isoformat())


LOADED = ("verdict", "against__round", "chosen", "submission")


@dataclass(frozen=True, slots=True)
class RoundRow:
    """One round as every table shows it.

    times: of each case in µs, by `reports.rounds.basis`; empty where none is proven. results: hold
    the unpaired medians. masked: a restart hides it from the proposer only (R40).
    """

    round: Round
    word: Word
    reason: str
    sentence: str
    gain: Gain | None
    results: tuple[CaseResult, ...]
    against: int | None
    candidates: int
    duration_s: float | None
    times: Times = field(default_factory=dict)
    share: float | None = None
    masked: bool = False

    @property
    def time_us(self) -> float | None:
        """The geometric mean over its cases."""
        return geomean(self.times.values()) if self.times else None

    @property
    def medians(self) -> dict[str, float]:
        """Case → unpaired median in µs, of its own session alone."""
        return {r.case: r.time.median for r in self.results if r.time}

    @property
    def median_us(self) -> float | None:
        """The geometric mean of its unpaired medians."""
        return geomean(self.medians.values()) if self.results and self.medians else None

    @property
    def standing(self) -> str:
        """How far its gain is confirmed, as stored; "" where nothing is claimed."""
        return standing_of(self.round)

    @property
    def proposed_by(self) -> ProposedBy:
        return proposed_by(self.round)

    @property
    def number(self) -> int:
        return self.round.number

    @property
    def is_closed(self) -> bool:
        return self.round.state == RoundState.CLOSED

    @property
    def borne(self) -> str:
        """What became of its expectation; empty before a verdict and for the baseline."""
        verdict = getattr(self.round, "verdict", None)
        return str(borne_of(self.round, verdict) or "") if verdict else ""

    @property
    def findings(self) -> str:
        """How much of the judged source is refused or flagged; empty where nothing is."""
        chosen = self.round.chosen
        return finding_counts(chosen, self.round.campaign) if chosen else ""


def rows_of(
    campaign: Campaign, rounds: Iterable[Round], target: CampaignTarget
) -> tuple[RoundRow, ...]:
    """Read rounds, ordered by number; times need round 1 and every accepted one among them."""
    rows = [_row(round_) for round_ in rounds]
    verdicts = [row.round.verdict for row in rows if hasattr(row.round, "verdict")]
    known = paired_times_of(campaign, verdicts)
    return tuple(
        replace(row, times=times, share=share_of(times, target))
        for row in rows
        for times in [known.get(row.number, {})]
    )


def some_rows(
    campaign: Campaign, wanted: Iterable[int], target: CampaignTarget
) -> dict[int, RoundRow]:
    """Number → row of the wanted rounds, with what their times rest on; one query."""
    rests_on = Q(number=1) | Q(verdict__word=Word.ACCEPTED)
    rounds = rounds_of(campaign, rests_on | Q(number__in=list(wanted)))
    return {row.number: row for row in rows_of(campaign, rounds, target)}


def rounds_of(campaign: Campaign, which: Q | None = None) -> Sequence[Round]:
    """The rounds with verdict, rival and number of candidates, in one query."""
    found = campaign.rounds.filter(which or Q())
    rounds = with_standing(found.select_related(*LOADED))
    return list(rounds.annotate(candidate_count=Count("candidates")).order_by("number"))


def _row(round_: Round) -> RoundRow:
    """Read one round; its verdict, rival and number of candidates should be loaded already."""
    verdict = getattr(round_, "verdict", None)
    results = results_of(verdict) if verdict else ()
    ended = round_.closed_at
    return RoundRow(
        round=round_,
        word=Word(verdict.word) if verdict else Word.RUNNING,
        reason=verdict.reason.replace("_", " ") if verdict else RoundState(round_.state).words,
        sentence=verdict.sentence if verdict else "",
        gain=gain_of(verdict) if verdict else None,
        results=results,
        against=round_.against.round.number if round_.against else None,
        candidates=getattr(round_, "candidate_count", 0),
        duration_s=(ended - round_.opened_at) / timedelta(seconds=1) if ended else None,
    )
