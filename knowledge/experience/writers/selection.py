"""Which experience is written, and the record of one entry that every format holds."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from django.db.models import Q, QuerySet

from knowledge.experience.readers.drafts import TEXTS as TEXTS
from knowledge.experience.readers.own_formats import SCOPE as SCOPE
from knowledge.experience.terms import AttemptLabel, Bottleneck
from knowledge.lookup.listing import FilterError, slug_meant
from knowledge.models import EntryStanding, Experience, Gap, Lesson

OUTCOMES = {
    "worked": [label.value for label in AttemptLabel if label.worked],
    "failed": [label.value for label in AttemptLabel if not label.worked],
} | {label.value: [label.value] for label in AttemptLabel}


@dataclass(frozen=True, slots=True)
class Selection:
    """What an export or a list holds; "" is any. outcome: a label, worked or failed.

    standing: only entries of that standing; "" all but the withdrawn. FilterError names a value
    that nothing can have.
    """

    op: str = ""
    backend: str = ""
    platform: str = ""
    dtype: str = ""
    strategy: str = ""
    bottleneck: str = ""
    outcome: str = ""
    standing: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "platform", slug_meant(self.platform))
        choices = {
            "bottleneck": [each.value for each in Bottleneck],
            "outcome": list(OUTCOMES),
            "standing": list(EntryStanding.values),
        }
        for name in self.names():
            value = getattr(self, name)
            if "\0" in value:
                raise FilterError(name, "accepted: text without NUL characters")
            if value and name in choices and value not in choices[name]:
                raise FilterError(name, f"'{value[:60]}'; accepted: {', '.join(choices[name])}")

    @classmethod
    def names(cls) -> tuple[str, ...]:
        return tuple(field.name for field in fields(cls))

    @property
    def scope(self) -> dict[str, str]:
        """The fields that say where it holds, as far as they are set."""
        named = ("op", "backend", "platform", "dtype", "strategy")
        return {name: getattr(self, name) for name in named if getattr(self, name)}

    def entries(self) -> QuerySet[Experience]:
        """The attempts, the newest first."""
        wanted = {f"track__{name}": value for name, value in self.scope.items()}
        found = Experience.objects.filter(**wanted).select_related("track", "merged_into")
        if self.bottleneck:
            found = found.filter(
                Q(track__bottleneck=self.bottleneck)
                | Q(track__bottleneck__startswith=f"{self.bottleneck}_")
            )
        if self.outcome:
            found = found.filter(label__in=OUTCOMES[self.outcome])
        if self.standing:
            return found.filter(standing=self.standing)
        return found.exclude(standing=EntryStanding.WITHDRAWN)

    def lessons(self) -> QuerySet[Lesson]:
        """The lessons in this scope; those about anything are in every scope."""
        return self._in_scope(Lesson.objects.prefetch_related("evidence__entry"))

    def gaps(self) -> QuerySet[Gap]:
        return self._in_scope(Gap.objects.all())

    def _in_scope(self, found: QuerySet[Any]) -> QuerySet[Any]:
        for name, value in self.scope.items():
            found = found.filter(Q(**{name: value}) | Q(**{name: ""}))
        return found


# The fields of a record in their order: those of its context, and its own columns around them.
OF_CONTEXT = ("op", "dtype", "backend", "platform", "arch", "bottleneck", "shape_class")
OWN = (
    *("shapes", "params", "title", "change", "evidence", "precondition", "problem", "proposer"),
    *("verdict", "reason", "gain", "gain_low", "gain_high", "pairs", "baseline", "expected_gain"),
    *("borne", "compiler", "driver", "metrics", "notes", "external", "campaign", "round"),
)


def entry_record(entry: Experience) -> dict[str, Any]:
    """One attempt, all of it; select `track` and `merged_into` with it."""
    track = entry.track
    merged = entry.merged_into if entry.standing == EntryStanding.MERGED else None
    return {
        "uuid": str(entry.uuid),
        "standing": entry.standing,
        "merged_into": str(merged.uuid) if merged else None,
        "origin": entry.origin,
        "label": entry.label,
        "strategy": track.strategy,
        "strategy_name": entry.strategy_name,
        **{name: getattr(track, name) for name in OF_CONTEXT},
        **{name: getattr(entry, name) for name in OWN},
        "happened_at": entry.happened_at.isoformat(),
    }


def lesson_record(lesson: Lesson) -> dict[str, Any]:
    """One lesson; prefetch `evidence__entry` with it."""
    return {
        "uuid": str(lesson.uuid),
        "state": lesson.state,
        "avoid": lesson.avoid,
        **{name: getattr(lesson, name) for name in SCOPE},
        **{name: getattr(lesson, name) for name in TEXTS},
        "evidence": {str(each.entry.uuid): each.agrees for each in lesson.evidence.all()},
    }


def gap_record(gap: Gap) -> dict[str, Any]:
    """One open question."""
    return {
        "uuid": str(gap.uuid),
        "state": gap.state,
        "question": gap.question,
        "query": gap.query,
        "why": gap.why,
        **{name: getattr(gap, name) for name in SCOPE},
    }
