"""The series of accepted kernels: which belong to it, which is due, what each showed (R11)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from django.conf import settings
from django.db.models import BigIntegerField, Exists, Max, OuterRef, Q, QuerySet, Subquery
from django.db.models.fields.json import KT
from django.db.models.functions import Cast
from django.utils import timezone

from campaigns.evaluator.contract import Outcome
from campaigns.models import (
    Campaign,
    CampaignState,
    Candidate,
    DecisionWord,
    Evaluation,
    EvaluationKind,
    EvaluationState,
    Event,
    ReviewDecision,
    Round,
    SeriesAnswer,
    SeriesAnswerWord,
    SeriesEntry,
    SeriesWish,
)
from campaigns.models.campaign import at_work
from campaigns.models.transitions import WORKING
from campaigns.records.evaluations import REPRODUCED_IN, UNKNOWN
from campaigns.rules.noise.series import (
    DUE,
    NAMES,
    Changed,
    Environment,
    SeriesSession,
    SeriesSort,
    changed_words,
    changes,
)
from campaigns.rules.verdict.decision import VerdictWord

# What a kernel's own measurements against v0 are, beside its rounds.
AGAINST_V0 = (EvaluationKind.REPORT, EvaluationKind.SERIES)
# What failed or met load is not tried again at once.
RETRY_AFTER = timedelta(hours=6)


def in_series() -> QuerySet[Candidate]:
    """The kernels that are measured again: a few queries for all campaigns.

    The incumbents of finished campaigns, what people approved in running ones, and what was asked
    for before; nothing that people marked invalid.
    """
    said = ReviewDecision.objects.counting()
    approved = {row.round_id for row in said if row.word == DecisionWord.APPROVED}
    invalid = [row for row in said if row.word == DecisionWord.INVALID]
    best = Campaign.objects.filter(incumbent__isnull=False)
    wanted = Q(pk__in=best.filter(state=CampaignState.DONE).values("incumbent"))
    wanted |= Q(pk__in=Evaluation.objects.filter(kind=EvaluationKind.SERIES).values("candidate"))
    wanted |= Q(round__in=approved - {None}, round__campaign__state__in=WORKING)
    results = best.filter(pk__in=[row.campaign_id for row in invalid if row.round_id is None])
    not_wanted = Q(pk__in=results.values("incumbent"))
    not_wanted |= Q(round__in=[row.round_id for row in invalid if row.round_id])
    return accepted().filter(wanted).exclude(not_wanted)


def accepted() -> QuerySet[Candidate]:
    """What was accepted after the baseline, in campaigns that may still be measured."""
    rounds = Round.objects.filter(
        at_work("campaign__"),
        number__gt=1,
        verdict__word=VerdictWord.ACCEPTED,
        campaign__state__in=REPRODUCED_IN,
    )
    return Candidate.objects.filter(pk__in=rounds.values("chosen"))


def may_be_in_series(round_: Round) -> bool:
    """Whether a round's kernel may be measured against v0 again."""
    return round_.chosen_id is not None and accepted().filter(pk=round_.chosen_id).exists()


def due_on(platform: int, environment_for: Callable[[str], Environment]) -> tuple[int, str] | None:
    """The key of the kernel of this platform that has waited longest, and why it is due.

    environment_for: backend → what this worker would measure with now. A kernel that was ever
    measured so is not due for a change: workers of two hosts would else take turns for ever.
    """
    taken = Evaluation.objects.filter(kind=EvaluationKind.SERIES).exclude(
        state=EvaluationState.DONE
    )
    rows = in_series().filter(round__campaign__platform=platform)
    rows = rows.exclude(pk__in=taken.values("candidate"))
    columns = ("pk", "round__campaign__backend", "round__campaign__protocol__digest")
    found = {key: rest for key, *rest in rows.values_list(*columns)}
    known = _measured(found)
    for key in sorted(found, key=lambda key: known[key][-1].at if known[key] else LONG_AGO):
        backend, protocol = found[key]
        now = {**environment_for(backend), "protocol": protocol}
        if why := why_due(known[key], now):
            return key, why
    return None


LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class _Telling:
    """One measurement against v0 by what a look for due ones needs, without its samples."""

    at: datetime
    kind: str
    environment: Environment
    tells: bool


def _measured(candidates: Iterable[int]) -> Mapping[int, list[_Telling]]:
    """Measurements of each candidate, the oldest first."""
    found: dict[int, list[_Telling]] = defaultdict(list)
    done = Evaluation.objects.filter(
        candidate__in=candidates, kind__in=AGAINST_V0, state=EvaluationState.DONE
    )
    columns = ("candidate", "finished_at", "kind", "report__environment", "outcome", "void")
    for key, at, kind, told, outcome, void in done.order_by("finished_at").values_list(*columns):
        tells = not void and outcome != "" and not Outcome(outcome).tells_nothing
        found[key].append(_Telling(at or LONG_AGO, kind, told or {}, tells))
    return found


def why_due(known: list[_Telling], now: Environment) -> str:
    """Why a kernel with these measurements should be measured again; "" where it need not."""
    time, telling = timezone.now(), [one for one in known if one.tells]
    if known and known[-1].kind == EvaluationKind.SERIES and time - known[-1].at < RETRY_AFTER:
        return ""
    if not telling:
        return "it was never compared with v0"
    last = telling[-1]
    days = settings.KOPT_SERIES_DAYS
    if days and time - last.at >= timedelta(days=days):
        return f"{days:g} day{'s' * (days != 1)} are over"
    if any(not changes(one.environment, now, DUE) for one in telling):
        return ""
    return changed_words(changes(last.environment, now, DUE))


def environment_in(evaluation: Evaluation) -> dict[str, str]:
    """What a stored measurement ran with, by the names of the series; "" is unknown."""
    told = evaluation.report.get("environment") or {}
    known = {name: str(told.get(name) or "") for name in NAMES}
    return {name: "" if text == UNKNOWN else text for name, text in known.items()}


def anchor_of(evaluation: Evaluation) -> Evaluation | None:
    """What a measurement is compared with: the newest number that people know.

    That is the last one that somebody accepted, else the campaign's own at its end, else the first
    of the series; never the last as such, or many small steps would each be called noise.
    """
    campaign = evaluation.campaign
    answers = SeriesAnswer.objects.filter(campaign=campaign, data__answer=SeriesAnswerWord.KNOWN)
    entries = SeriesEntry.objects.filter(campaign=campaign)
    taken = entries.filter(pk__in=[row.entry for row in answers])
    first = entries.filter(data__sort=SeriesSort.FIRST)
    earlier = Evaluation.objects.filter(candidate=evaluation.candidate_id, pk__lt=evaluation.pk)
    for wanted in (
        Q(pk__in=[row.evaluation for row in taken]),
        Q(kind=EvaluationKind.REPORT, outcome=Outcome.PASSED, void=""),
        Q(pk__in=[row.evaluation for row in first]),
    ):
        if found := earlier.filter(wanted).order_by("-pk").first():
            return found
    return None


def why_queued(evaluation: Evaluation) -> str:
    """Why it was asked for, without a full stop. A repeated one has the reason of the first."""
    wishes = SeriesWish.objects.filter(round=evaluation.candidate.round_id)
    found = wishes.filter(data__evaluation__lte=evaluation.pk).last()
    return found.why if found else ""


@dataclass(frozen=True, slots=True)
class SeriesShown:
    """An entry with its answer. newest: whether no later one of the same round stands."""

    entry: SeriesEntry
    answer: SeriesAnswer | None
    newest: bool

    @property
    def sort(self) -> SeriesSort:
        return SeriesSort(self.entry.sort)

    @property
    def waits(self) -> bool:
        """Whether a person still has to say what follows."""
        return self.sort.asks and self.newest and self.answer is None

    @property
    def now(self) -> SeriesSession:
        return msgspec.convert(self.entry.now, SeriesSession)

    @property
    def was(self) -> SeriesSession | None:
        return msgspec.convert(self.entry.was, SeriesSession) if self.entry.was else None

    @property
    def changed(self) -> str:
        """What differs from before, in words."""
        return changed_words(Changed(**one) for one in self.entry.changed)


def series_of(campaign: Campaign) -> list[SeriesShown]:
    """What was measured again of a campaign, the newest first; two queries."""
    return _shown(SeriesEntry.objects.filter(campaign=campaign))


def series_shown(campaign: Campaign, key: int) -> SeriesShown | None:
    """One entry of it; None where it has none of this key."""
    return next((one for one in series_of(campaign) if one.entry.pk == key), None)


def waiting_series() -> list[SeriesShown]:
    """What waits for an answer in all campaigns, the oldest first; two queries."""
    newest = SeriesEntry.objects.order_by().values("round").annotate(last=Max("pk"))
    asking = [sort for sort in SeriesSort if sort.asks]
    rows = SeriesEntry.objects.filter(
        at_work("campaign__"), pk__in=newest.values("last"), data__sort__in=asking
    )
    return [one for one in reversed(_shown(rows)) if one.waits]


def _shown(rows: Any) -> list[SeriesShown]:
    entries = list(rows.select_related("round__submission", "campaign__created_by").order_by("-pk"))
    said = SeriesAnswer.objects.filter(campaign__in={one.campaign_id for one in entries})
    answers = {row.entry: row for row in said.select_related("by")} if entries else {}
    seen: set[int | None] = set()
    found = []
    for entry in entries:
        found.append(SeriesShown(entry, answers.get(entry.pk), entry.round_id not in seen))
        seen.add(entry.round_id)
    return found


def owners_of_entry(entry: SeriesEntry) -> frozenset[int]:
    """Names of who started the campaign and of who submitted the round."""
    handed = entry.round.submission if entry.round else None
    keys = (entry.campaign.created_by_id, handed.by_id if handed else None)
    return frozenset(key for key in keys if key is not None)


def newest_entry() -> dict[str, Subquery]:
    """What a query of campaigns adds so that `alarm_of` needs none of its own."""
    rows = Event.objects.filter(campaign=OuterRef("pk"), kind=SeriesEntry.KIND).order_by("-pk")
    columns = {"series_key": "pk", "series_data": "data"}
    return {name: Subquery(rows.values(column)[:1]) for name, column in columns.items()}


def alarm_of(campaign: Campaign) -> dict[str, Any] | None:
    """Key and sentence of the newest entry, where it says that the kernel changed."""
    key, data = getattr(campaign, "series_key", None), getattr(campaign, "series_data", None)
    if data is None or data["sort"] != SeriesSort.REAL:
        return None
    return {"key": key, "sentence": data["sentence"]}


def unsorted() -> QuerySet[Evaluation]:
    """Measurements of the series that tell something and have no entry yet."""
    named = Cast(KT("data__evaluation"), BigIntegerField())
    entries = SeriesEntry.objects.filter(round=OuterRef("candidate__round")).annotate(of=named)
    telling = [one for one in Outcome if not one.tells_nothing]
    return Evaluation.objects.filter(
        ~Exists(entries.filter(of=OuterRef("pk"))),
        kind=EvaluationKind.SERIES,
        state=EvaluationState.DONE,
        void="",
        outcome__in=telling,
    )
