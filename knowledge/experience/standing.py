"""One change of an entry's standing: the row, its history, its context's record and the index."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from knowledge.curation.errors import Conflict, CurationError
from knowledge.curation.people import require_reviewer
from knowledge.curation.wording import require_reason
from knowledge.experience.indexed.entries import index_entries
from knowledge.experience.lessons.weigh import reweigh
from knowledge.experience.track import refresh
from knowledge.models import EntryStanding, Experience, ExperienceAction, ExperienceChange


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
