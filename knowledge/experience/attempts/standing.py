"""The standing of entries, and the record of the context that they count in.

A change of standing writes the row, its history, its context's record and the index.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Count, Max, Q

from knowledge.curation.errors import Conflict, CurationError, require_reason
from knowledge.curation.people import require_reviewer
from knowledge.experience.attempts.index import index_entries
from knowledge.experience.catalogue.names import load_names
from knowledge.experience.lessons.weigh import index_lessons, reweigh
from knowledge.experience.terms import AttemptLabel, idea_key
from knowledge.experience.wording import ranks
from knowledge.models import (
    EntryStanding,
    Experience,
    ExperienceAction,
    ExperienceChange,
    Kind,
    Lesson,
    LessonSource,
    TrackRecord,
)
from knowledge.search.index import remove

RECENT = 5
CONTEXT = ("op", "dtype", "backend", "platform", "arch", "shape_class", "bottleneck", "project")
DERIVED = ("family", "vendor", "size_log2")
AT_ONCE = 500
COLUMNS = {
    AttemptLabel.SUCCESS: "successes",
    AttemptLabel.SMALL: "smalls",
    AttemptLabel.MICRO: "micros",
    AttemptLabel.TIE: "ties",
    AttemptLabel.REGRESSION: "regressions",
    AttemptLabel.INCORRECT: "incorrects",
}


def refresh(keys: Iterable[int]) -> None:
    """Count these contexts anew from the entries that count."""
    labels = {column: Count("pk", filter=Q(label=label.value)) for label, column in COLUMNS.items()}
    totals = {"tried": Count("pk"), "gains": Count("gain"), "last_at": Max("happened_at")}
    for key in sorted(set(keys)):
        entries = Experience.objects.filter(track=key, standing=EntryStanding.COUNTS)
        found: dict[str, Any] = entries.aggregate(**totals, **labels)
        newest = entries.order_by("-happened_at").values_list("label", flat=True)[:RECENT]
        found["recent_failures"] = sum(not AttemptLabel(label).worked for label in newest)
        # The spread of `spread_of`, sorted by the database.
        n, names = found["gains"], ("gain_median", "gain_low", "gain_high")
        ranked = entries.exclude(gain=None).order_by("gain").values_list("gain", flat=True)
        if n > 1:
            spread = [ranked[rank] for rank in ranks(n)]
        else:
            alone = entries.exclude(gain=None).values_list("gain", "gain_low", "gain_high")
            spread = list(alone.first() or ())
        found |= itertools.zip_longest(names, spread)
        TrackRecord.objects.filter(pk=key).update(**found)


@dataclass(frozen=True, slots=True)
class StandingChange:
    """From which standing to which, and how the history calls it. into: of a merge."""

    action: ExperienceAction
    before: EntryStanding
    after: EntryStanding
    into: Experience | None = None


def permitted(by: Any, why: str) -> str:
    """The reason without outer blanks. by: None for a command or the flow itself.

    Raises Forbidden for who may not decide, CurationError without a reason.
    """
    require_reviewer(by)
    return require_reason(why)


def listed(entries: Experience | Iterable[Experience]) -> list[Experience]:
    """The entries, each once, as they stand now and locked until the transaction ends.

    Raises CurationError where there is none.
    """
    given = [entries] if isinstance(entries, Experience) else list(entries)
    if not given:
        raise CurationError("entries", "none is given; accepted: at least one entry")
    keys = {entry.pk for entry in given}
    return list(Experience.objects.select_for_update().filter(pk__in=keys).order_by("pk"))


def change_standing(
    entries: Sequence[Experience], change: StandingChange, by: Any, why: str
) -> list[Experience]:
    """Give all of them the new standing, or none; the entries as they stand then.

    Raises Conflict where another standing was there first.
    """
    keys = [entry.pk for entry in entries]
    with transaction.atomic():
        waiting = Experience.objects.filter(pk__in=keys, standing=change.before)
        done = waiting.update(standing=change.after, merged_into=change.into)
        if done != len(keys):
            raise Conflict("an entry has changed meanwhile; look again before you decide")
        for entry in entries:
            # What it was merged into is told for both directions.
            other = change.into or entry.merged_into
            ExperienceChange.objects.create(
                entry=entry, action=change.action, other=other, by=by, why=why
            )
        refresh(entry.track_id for entry in entries)
        found = list(Experience.objects.filter(pk__in=keys).select_related("track"))
        index_entries(found)
        reweigh(found)
    return found


def resolve_names() -> int:
    """Move entries to the record of the strategy that their name means now; how many moved.

    The record under the old name is gone then, as nothing is left in it. All or nothing.
    """
    names = load_names()
    moved = 0
    with transaction.atomic():
        for track in TrackRecord.objects.exclude(strategy__in=names.slugs).order_by("pk"):
            slug = names.slug(track.strategy, track.backend)
            if slug == track.strategy:
                continue
            entries = list(track.entries.all())
            move_entries(track, entries, strategy=slug)
            moved += len(entries)
    return moved


def take_into_project(campaign: int, project: int) -> None:
    """Let what was learnt in a campaign belong to this project; 0: to the team. All or nothing.

    Raises Conflict where an entry stands for one of another campaign, or another one for it.
    """
    entries = Experience.objects.filter(campaign=campaign).select_related("track", "merged_into")
    others = ~Q(campaign=campaign) | Q(campaign=None)
    with transaction.atomic():
        of_track: dict[TrackRecord, list[Experience]] = {}
        for entry in entries:
            into = entry.merged_into
            if (into and into.campaign != campaign) or entry.merged.filter(others).exists():
                raise Conflict(f"attempt {entry.uuid} is merged with another campaign's")
            of_track.setdefault(entry.track, []).append(entry)
        for track, some in of_track.items():
            move_entries(track, some, project=project)
        for lesson in Lesson.objects.filter(campaign=campaign):
            trick = {"source": LessonSource.REFUSED_TRICK, "project": project}
            scope = {name: getattr(lesson, name) for name in lesson.SCOPE}
            if lesson.source == trick["source"] and Lesson.objects.filter(**trick, **scope):
                lesson.source = LessonSource.CAMPAIGN  # one a trick, and there is one already
            lesson.project = project
            lesson.save(update_fields=["project", "source"])
            index_lessons([lesson])
        reweigh(entries.all())


def move_entries(track: TrackRecord, entries: Sequence[Experience], **other: Any) -> None:
    """Move entries to the context that differs by `other`; a record without any is gone then."""
    context = {name: getattr(track, name) for name in ("strategy", *CONTEXT)} | other
    derived = {name: getattr(track, name) for name in DERIVED}
    target, _ = TrackRecord.objects.get_or_create(**context, defaults=derived)
    for entry in entries:
        entry.track = target
        entry.params_key = idea_key(target.strategy, entry.params)
    Experience.objects.bulk_update(entries, ["track", "params_key"], batch_size=AT_ONCE)
    refresh([track.pk, target.pk])
    if track.entries.exists():
        index_entries(track.entries.select_related("track")[:1])
    else:
        remove([(Kind.TRACK, str(track.pk))])
        track.delete()
    target.refresh_from_db()
    index_entries(entries)
