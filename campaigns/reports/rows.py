"""The rounds of a campaign as every table shows them: what each measured, and its standing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import (
    Count,
    OuterRef,
    Prefetch,
    Q,
    QuerySet,
    Subquery,
    prefetch_related_objects,
)

from campaigns.models import Campaign, Round, RoundState, Standing, StandingWord, Verdict
from campaigns.models.verdict import MEANINGS
from campaigns.records.campaigns import target_of
from campaigns.records.findings import finding_counts
from campaigns.records.rounds import (
    ProposedBy,
    StoredHypothesis,
    hypothesis_of,
    proposed_by,
    read_rounds,
)
from campaigns.records.verdicts import (
    CaseResult,
    SessionTimes,
    borne_of,
    gain_of,
    measured_of,
    noise_of,
    results_of,
)
from campaigns.rules.noise.gain import Gain
from campaigns.rules.target.ceilings import CampaignTarget
from campaigns.rules.verdict.decision import VerdictWord as Word
from campaigns.rules.wording import NamedNumber


def with_standing(rounds: QuerySet[Round]) -> QuerySet[Round]:
    """The same rounds with `standing_word`, without a further query."""
    newest = Standing.objects.filter(round=OuterRef("pk")).order_by("-pk")
    return rounds.annotate(standing_word=Subquery(newest.values("word")[:1]))


def standing_of(round_: Round) -> str:
    """The stored word of a round that came `with_standing`; "" where nothing is claimed."""
    return getattr(round_, "standing_word", None) or ""


def sessions_of(round_: Round) -> list[Standing]:
    """Every step of its standing in order, each with its session and worker; one query."""
    rows = Standing.objects.select_related("evaluation__worker").defer("evaluation__report")
    prefetch_related_objects([round_], Prefetch("standings", rows))
    return list(round_.standings.all())


def sessions_by_round(
    campaign: Campaign, which: Q | None = None
) -> dict[int, tuple[Standing, ...]]:
    """Round key → its steps in order; one query for all rounds. which: of the standings."""
    rows = Standing.objects.filter(which or Q(), round__campaign=campaign).order_by("pk")
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


@dataclass(frozen=True, slots=True)
class RoundRow:
    """One round as every table shows it.

    measured: in its own deciding session. noise: the floor that its verdict stands on. masked: a
    restart hides it from the proposer only (R40).
    """

    round: Round
    word: Word
    reason: str
    sentence: str
    gain: Gain | None
    against: int | None
    candidates: int
    duration_s: float | None
    target: CampaignTarget
    measured: SessionTimes
    noise: NamedNumber | None = None
    masked: bool = False

    @property
    def results(self) -> tuple[CaseResult, ...]:
        """Its cases, also where they prove no time."""
        return results_of(self.verdict) if self.verdict else ()

    @property
    def times(self) -> dict[str, float]:
        """Case → its time in µs, in its own session; empty where none is proven."""
        return self.measured.times

    @property
    def time_us(self) -> float | None:
        """The geometric mean over its cases."""
        return self.measured.time_us

    @property
    def incumbent_us(self) -> float | None:
        """The same of the kernel that was measured beside it."""
        return self.measured.incumbent_us

    @property
    def share(self) -> float | None:
        """The share of the target's ceilings that it reaches, over all cases."""
        return self.measured.share(self.target)

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
    def title(self) -> str:
        return self.round.title

    @property
    def verdict(self) -> Verdict | None:
        return getattr(self.round, "verdict", None)

    @property
    def hypothesis(self) -> StoredHypothesis | None:
        """What it tried; None of the baseline."""
        return hypothesis_of(self.round)

    @property
    def is_baseline(self) -> bool:
        return self.number == 1

    @property
    def is_kept(self) -> bool:
        return self.word is Word.ACCEPTED

    @property
    def is_closed(self) -> bool:
        return self.round.state == RoundState.CLOSED

    @property
    def borne(self) -> str:
        """What became of its expectation; empty before a verdict and for the baseline."""
        return str(borne_of(self.round, self.verdict) or "") if self.verdict else ""

    @property
    def findings(self) -> str:
        """How much of the judged source is refused or flagged; empty where nothing is."""
        chosen = self.round.chosen
        return finding_counts(chosen, self.round.campaign) if chosen else ""


@dataclass(frozen=True, slots=True)
class Headline:
    """What a campaign came to. best: the incumbent's row.

    final: the session of v0 and the best side by side; None before it, and where v0 is the best.
    """

    target: CampaignTarget
    best: RoundRow | None
    final: SessionTimes | None

    @property
    def total(self) -> Gain | None:
        """The best kernel over v0, side by side."""
        return self.final.gain if self.final else None

    @property
    def against(self) -> int:
        """The round whose kernel `shown` has beside the best."""
        return 1 if self.final or not self.best else self.best.against or 1

    @property
    def is_faster(self) -> bool:
        """Whether there is a gain to tell of: the best is not v0."""
        return bool(self.best and not self.best.is_baseline and self.shown.gain)

    @property
    def shown(self) -> SessionTimes:
        """The final session; before it, what the best measured when it was accepted."""
        return self.final or (self.best.measured if self.best else SessionTimes())

    @property
    def share(self) -> float | None:
        """The share of the target's ceilings that the best reaches there."""
        return self.shown.share(self.target)


def rows_of(rounds: Iterable[Round], target: CampaignTarget) -> tuple[RoundRow, ...]:
    """Read rounds: their verdicts, rivals and numbers of candidates should be loaded already."""
    rows = []
    for round_ in rounds:
        verdict: Verdict | None = getattr(round_, "verdict", None)
        reason = verdict.reason.replace("_", " ") if verdict else RoundState(round_.state).words
        ended = round_.closed_at
        rows.append(
            RoundRow(
                round=round_,
                word=Word(verdict.word) if verdict else Word.RUNNING,
                reason=reason,
                sentence=verdict.sentence if verdict else "",
                gain=gain_of(verdict) if verdict else None,
                against=round_.against.round.number if round_.against else None,
                candidates=getattr(round_, "candidate_count", 0),
                duration_s=(ended - round_.opened_at) / timedelta(seconds=1) if ended else None,
                target=target,
                measured=measured_of(verdict),
                noise=noise_of(verdict) if verdict else None,
            )
        )
    return tuple(rows)


def some_rows(
    campaign: Campaign, wanted: Iterable[int], target: CampaignTarget
) -> dict[int, RoundRow]:
    """Number → row of the wanted rounds; two queries."""
    rounds = rounds_of(campaign, Q(number__in=list(wanted)))
    return {row.number: row for row in rows_of(rounds, target)}


def kept_rows(campaigns: Sequence[Campaign]) -> dict[int, tuple[RoundRow, ...]]:
    """Campaign key → the rows of round 1 and of what was accepted, the incumbent's last.

    Two queries. Campaigns without an incumbent are left out.
    """
    is_kept = Q(number=1) | Q(verdict__word=Word.ACCEPTED)
    rounds = Round.objects.filter(is_kept, campaign__in=campaigns)
    kept: dict[int, list[Round]] = {}
    for row in read_rounds(rounds):
        kept.setdefault(row.campaign_id, []).append(row)
    return {
        campaign.pk: rows_of(kept.get(campaign.pk, []), target_of(campaign))
        for campaign in campaigns
        if campaign.incumbent
    }


def best_rows(campaigns: Sequence[Campaign]) -> dict[int, RoundRow]:
    """Campaign key → the row of its incumbent, where it has one; two queries."""
    keys = {c.pk: c.incumbent.round_id for c in campaigns if c.incumbent}
    rows = kept_rows(campaigns)
    found = ((key, [r for r in rows[key] if r.round.pk == own]) for key, own in keys.items())
    return {key: own[0] for key, own in found if own}


def rounds_of(campaign: Campaign, which: Q | None = None) -> Sequence[Round]:
    """The rounds with verdict, rival and number of candidates; at most two queries."""
    found = with_standing(campaign.rounds.filter(which or Q()))
    counted = found.annotate(candidate_count=Count("candidates"))
    rounds = read_rounds(counted, "standing_word", "candidate_count")
    for round_ in rounds:
        round_.campaign = campaign
    return rounds
