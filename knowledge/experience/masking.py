"""Hide entries from machines, with a reason; people go on seeing them (R40)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db import transaction

from knowledge.curation.errors import CurationError
from knowledge.experience.standing import StandingChange, change_standing, listed, permitted
from knowledge.models import EntryStanding, Experience, ExperienceAction

MASK = StandingChange(ExperienceAction.MASKED, EntryStanding.COUNTS, EntryStanding.MASKED)
UNMASK = StandingChange(ExperienceAction.UNMASKED, EntryStanding.MASKED, EntryStanding.COUNTS)


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
