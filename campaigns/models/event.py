"""What happened in a campaign, in order: its audit log, append-only, which the live page announces.

Some events say more than a message. Each kind of these has a class of its own over the same table,
and its fields lie in the event's `data` (R40, R48).
"""

from __future__ import annotations

from typing import Any, ClassVar, Generic, TypeVar

from django.db import models
from django.db.models.fields.json import KT

from campaigns.models.campaign import Campaign
from campaigns.models.round import Round
from campaigns.models.transitions import FINISHED, CampaignState
from knowledge.models.guarded import ALWAYS, Guarded, GuardedQuerySet, Immutable, person
from knowledge.models.sight import SeenManager, seen

T = TypeVar("T")


def once_per(field: str, kind: str, name: str) -> models.UniqueConstraint:
    """In a campaign, at most one event of this kind for each value of a field of its data."""
    return models.UniqueConstraint(
        "campaign", KT(f"data__{field}"), condition=models.Q(kind=kind), name=name
    )


E = TypeVar("E", bound="Event")


class EventManager(SeenManager[E]):
    """All events, or those of the kind of their class."""

    def get_queryset(self) -> models.QuerySet[E]:
        rows: models.QuerySet[E] = seen(GuardedQuerySet(self.model, using=self._db))
        return rows.filter(kind=self.model.KIND) if self.model.KIND else rows


class Event(Guarded):
    """One happening. by: the person who caused it, where the kind has one; null in old rows."""

    SEALED = ALWAYS
    HIDDEN_WITH = ("campaign",)
    KIND: ClassVar[str] = ""

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="events")
    round = models.ForeignKey(
        Round, null=True, blank=True, on_delete=models.PROTECT, related_name="events"
    )
    kind = models.CharField(max_length=40)
    message = models.TextField()
    data = models.JSONField(default=dict)
    by = person()
    at = models.DateTimeField(auto_now_add=True)

    objects = EventManager()  # type: ignore[assignment, misc]

    class Meta:
        ordering = ("pk",)
        constraints = (
            models.UniqueConstraint(
                fields=["campaign"], condition=models.Q(kind="restart"), name="one_restart"
            ),
            once_per("after", "reviewed", "one_review_per_round"),
            once_per("number", "unmasked", "one_unmasking_per_round"),
            once_per("question", "placeholder", "one_placeholder_per_question"),
            once_per("standing", "standing_answered", "one_answer_per_standing"),
            once_per("evaluation", "series_sorted", "one_sort_per_measurement"),
            once_per("entry", "series_answered", "one_answer_per_entry"),
        )

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"

    def refuse_late(self) -> None:
        campaigns = Campaign.objects.filter(pk=self.campaign_id)
        if self.kind in WHILE_RUNNING and campaigns.filter(state__in=FINISHED).exists():
            raise Immutable(f"campaign {self.campaign_id} is finished; it takes no {self.kind}")
        if self.kind == Placeholder.KIND and campaigns.exclude(state=CampaignState.DRAFT).exists():
            raise Immutable(f"campaign {self.campaign_id} is confirmed and takes no placeholder")


def record(campaign: Campaign, kind: str, message: str, **more: Any) -> Event:
    """Append one event; `round` and `by` are optional, all other arguments go into its data."""
    round_, by = more.pop("round", None), more.pop("by", None)
    return Event.objects.create(
        campaign=campaign, round=round_, by=by, kind=kind, message=message, data=more
    )


class Datum(Generic[T]):
    """A field of an event's data, under its own name there."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, row: Event, owner: type) -> T:
        found: T = row.data[self._name]
        return found


class Review(Event):
    """A stagnation review after `after` rounds, `streak` of them in a row without a gain.

    failures: reason of a verdict → rounds. directions: the fields of `rules.stop.ladder.Way`, those
    that differ most from the failures first. note: a remark on them, or "".
    """

    KIND = "reviewed"

    after = Datum[int]()
    streak = Datum[int]()
    failures = Datum[dict[str, int]]()
    directions = Datum[list[dict[str, Any]]]()
    note = Datum[str]()

    class Meta:
        proxy = True


class RestartAnswer(models.TextChoices):
    TAKEN = "taken"
    DECLINED = "declined"


class Restart(Event):
    """The one partial restart that a campaign is offered, and the answer.

    masked: the numbers of the rounds hidden from the proposer, drawn by `seed`; empty if declined.
    Beside them the data has the `fraction` of the attempts that is drawn; old rows lack it.
    """

    KIND = "restart"

    after = Datum[int]()
    answer = Datum[str]()
    why = Datum[str]()
    seed = Datum[int]()
    masked = Datum[list[int]]()

    class Meta:
        proxy = True


class Unmasking(Event):
    """A masked round, by its number, that a person made visible to the proposer again."""

    KIND = "unmasked"

    number = Datum[int]()

    class Meta:
        proxy = True


class Placeholder(Event):
    """An assumed ceiling of a draft. Figures based on it are labelled and never a headline.

    question: a key of rules/target/ceilings.py `QUESTIONS`. value: in the canonical `unit`. shown:
    as it was given. by: the person who allowed it. It stands once the campaign is confirmed (R1).
    """

    KIND = "placeholder"

    question = Datum[str]()
    value = Datum[float]()
    unit = Datum[str]()
    shown = Datum[str]()
    reason = Datum[str]()

    class Meta:
        proxy = True


# A finished campaign takes none of these; database triggers refuse them as well.
WHILE_RUNNING = (Review.KIND, Restart.KIND, Unmasking.KIND)
