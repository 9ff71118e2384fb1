"""Merging attempts that are the same one (R39), and masking attempts from recommendations (R40)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Count, Q

from knowledge.curation.errors import CurationError, require_storable
from knowledge.experience.attempts.standing import (
    StandingChange,
    change_standing,
    listed,
    permitted,
)
from knowledge.experience.terms import AttemptLabel
from knowledge.models import EntryStanding, Experience, ExperienceAction, TrackRecord

MOST_GROUPS = 50
MOST_OF_GROUP = 20
UNMERGE = StandingChange(ExperienceAction.UNMERGED, EntryStanding.MERGED, EntryStanding.COUNTS)
HARMFUL = (AttemptLabel.REGRESSION, AttemptLabel.INCORRECT)
MASK = StandingChange(ExperienceAction.MASKED, EntryStanding.COUNTS, EntryStanding.MASKED)
UNMASK = StandingChange(ExperienceAction.UNMASKED, EntryStanding.MASKED, EntryStanding.COUNTS)


@dataclass(frozen=True, slots=True)
class MergeGroup:
    """Entries of one idea in one context, the oldest first; the first of `MOST_OF_GROUP`."""

    track: TrackRecord
    entries: tuple[Experience, ...]
    count: int

    @property
    def needs_decision(self) -> bool:
        """Whether some worked where others did harm."""
        return any(are_opposite(self.entries[0], entry) for entry in self.entries[1:])


@transaction.atomic
def merge(
    entries: Iterable[Experience], into: Experience, by: Any, why: str, decision: str = ""
) -> list[Experience]:
    """Let `into` stand for the entries, which no longer count; the merged entries.

    by: None for a command. decision: why they are one although their outcomes are opposite.
    Raises Forbidden, or CurationError naming the entry that cannot be merged.
    """
    reason = permitted(by, why)
    given = list(entries)
    if any(entry.pk == into.pk for entry in given):
        raise CurationError("into", f"{into.uuid} cannot be merged into itself")
    if not given:
        raise CurationError("entries", "none is given; accepted: at least one entry")
    # All of them in one query, so that two merges cannot wait for each other.
    rows = {row.pk: row for row in listed([*given, into])}
    target, found = rows.pop(into.pk), list(rows.values())
    _require_counting(target, "into")
    for entry in found:
        _require_counting(entry, "entries")
        if entry.track.project != target.track.project:
            raise CurationError("entries", f"{entry.uuid} is of another project")
        # A pointer leads to its end in one step.
        if entry.merged.exists():
            message = f"others are merged into {entry.uuid}; take them out first"
            raise CurationError("entries", message)
    opposite = [entry for entry in found if are_opposite(entry, target)]
    said = require_storable("decision", decision.strip())
    if opposite and not said:
        raise CurationError(
            "decision",
            f"{opposite[0].uuid} is {opposite[0].label} and {target.uuid} is {target.label};"
            " say why they are one attempt",
        )
    told = f"{reason}\n{said}" if said else reason
    change = StandingChange(
        ExperienceAction.MERGED, EntryStanding.COUNTS, EntryStanding.MERGED, target
    )
    return change_standing(found, change, by, told)


@transaction.atomic
def unmerge(entry: Experience, by: Any, why: str) -> Experience:
    """Take one entry out of its merge; it counts again as before. Raises as `merge` does."""
    reason = permitted(by, why)
    (found,) = listed(entry)
    if found.standing != EntryStanding.MERGED:
        raise CurationError(
            "entry", f"{found.uuid} is {found.get_standing_display()}; accepted: a merged entry"
        )
    return change_standing([found], UNMERGE, by, reason)[0]


def candidates() -> list[MergeGroup]:
    """Groups that could be one: the same idea in the same context; the largest first."""
    counting = Experience.objects.filter(standing=EntryStanding.COUNTS).exclude(params_key="")
    groups = counting.order_by().values_list("track", "params_key").annotate(n=Count("pk"))
    largest = groups.filter(n__gt=1).order_by("-n", "track", "params_key")[:MOST_GROUPS]
    found = []
    for key, idea, count in largest:
        same = Q(track=key, params_key=idea, standing=EntryStanding.COUNTS)
        rows = Experience.objects.filter(same).select_related("track").order_by("pk")
        entries = tuple(rows[:MOST_OF_GROUP])
        found.append(MergeGroup(entries[0].track, entries, count))
    return found


def are_opposite(first: Experience, second: Experience) -> bool:
    """Whether one worked and the other did harm; a tie is opposite to nothing."""
    labels = [AttemptLabel(entry.label) for entry in (first, second)]
    return any(label.worked for label in labels) and any(label in HARMFUL for label in labels)


def _require_counting(entry: Experience, field: str) -> None:
    if entry.standing == EntryStanding.MERGED and entry.merged_into is not None:
        raise CurationError(field, f"{entry.uuid} is merged into {entry.merged_into.uuid} already")
    if entry.standing != EntryStanding.COUNTS:
        said = entry.get_standing_display()
        raise CurationError(field, f"{entry.uuid} is {said}; accepted: an entry that counts")


def mask(entry: Experience | Iterable[Experience], by: Any, why: str) -> list[Experience]:
    """Hide one entry, or all of several: records, recommendations and dedup no longer see them.

    by: None for the flow itself. Raises CurationError naming the entry that does not count now.
    """
    return _change(entry, MASK, by, why)


def unmask(entry: Experience | Iterable[Experience], by: Any, why: str) -> list[Experience]:
    """Let one masked entry, or all of several, count again. Raises as `mask` does."""
    return _change(entry, UNMASK, by, why)


@transaction.atomic
def _change(
    entry: Experience | Iterable[Experience], change: StandingChange, by: Any, why: str
) -> list[Experience]:
    reason = permitted(by, why)
    entries = listed(entry)
    for each in entries:
        if each.standing != change.before:
            accepted = EntryStanding(change.before).label
            raise CurationError(
                "entry", f"{each.uuid} is {each.get_standing_display()}; accepted: {accepted}"
            )
    return change_standing(entries, change, by, reason)
