"""How the team does: verdicts and lessons by week, and who does what, counted by pandas."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.contrib.auth.models import User
from django.db.models import Count

from campaigns.models import Campaign, Submission, Verdict
from campaigns.models.campaign import measured_here
from campaigns.rules.verdict.decision import VerdictWord
from knowledge.models import Adoption, Lesson

if TYPE_CHECKING:
    from pandas import DataFrame

WEEKS = 8
# What is counted in a week beside the verdicts: column → its rows' times.
COUNTED = ("handed in by people", "handed in by agents", "lessons proposed", "lessons used")


@dataclass(frozen=True, slots=True)
class Week:
    """One week by its Monday. verdicts: word, its words, count. counts: as `COUNTED`."""

    begins: datetime
    verdicts: list[tuple[str, str, int]]
    counts: list[int]

    @property
    def is_empty(self) -> bool:
        """A phone has no room for a week without anything."""
        return not any(self.counts) and not any(count for *_, count in self.verdicts)


def weeks(now: datetime) -> list[Week]:
    """The last weeks, the newest first, those without anything too; five queries."""
    table = weekly_table(now)
    return [
        Week(
            begin.to_pydatetime(),
            [(word, word.words, int(row[word.value])) for word in VerdictWord],
            [int(row[name]) for name in COUNTED],
        )
        for begin, row in table.iloc[::-1].iterrows()
    ]


def weekly_table(now: datetime) -> DataFrame:
    """A row a week, a column a verdict and one for each of `COUNTED`."""
    import pandas

    monday = (now - timedelta(days=now.weekday())).replace(
        hour=0, minute=0, second=0, microsecond=0
    )
    begins = [monday - timedelta(weeks=ago) for ago in range(WEEKS - 1, -1, -1)]
    since = begins[0]
    submitted = Submission.objects.filter(at__gte=since)
    verdicts = Verdict.objects.filter(measured_here("round__campaign__"), decided_at__gte=since)
    rows: list[tuple[datetime, str]] = list(verdicts.values_list("decided_at", "word"))
    kinds = {"person": COUNTED[0], "agent": COUNTED[1]}
    rows += [(at, kinds[kind]) for at, kind in submitted.values_list("at", "kind")]
    proposed = Lesson.objects.filter(created_at__gte=since)
    rows += [(at, COUNTED[2]) for at in proposed.values_list("created_at", flat=True)]
    used = Adoption.objects.filter(at__gte=since, lesson__isnull=False)
    rows += [(at, COUNTED[3]) for at in used.values_list("at", flat=True)]
    found = pandas.DataFrame(rows, columns=["at", "what"])
    found["at"] = pandas.to_datetime(found["at"], utc=True)
    found["week"] = pandas.cut(
        found["at"], [*begins, monday + timedelta(weeks=1)], right=False, labels=begins
    )
    columns = [*(word.value for word in VerdictWord), *COUNTED]
    counted = pandas.crosstab(found["week"], found["what"])
    return counted.reindex(index=pandas.DatetimeIndex(begins), columns=columns, fill_value=0)


def people() -> list[dict[str, Any]]:
    """Everybody who may log in: roles, last login, campaigns and submissions; four queries."""
    rows = User.objects.filter(is_active=True).prefetch_related("groups").order_by("username")
    handed = Submission.objects.values_list("by").annotate(count=Count("pk")).order_by()
    submitted = dict(handed)
    own = Campaign.objects.measured_here()
    begun = dict(own.values_list("created_by").annotate(Count("pk")).order_by())
    return [
        {
            "person": person,
            "roles": ["admin"] * person.is_superuser
            + [group.name for group in person.groups.all()],
            "campaigns": begun.get(person.pk, 0),
            "submitted": submitted.get(person.pk, 0),
        }
        for person in rows
    ]
