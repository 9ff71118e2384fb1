"""Two attempts of one idea with opposite effects, or an attempt against a lesson: found, decided.

A person decides what follows from both sides.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import Any

from django.db import transaction
from django.db.models import Max, Q
from django.utils import timezone

from knowledge.curation.errors import Conflict, CurationError, Forbidden, require_reason
from knowledge.curation.people import require_reviewer
from knowledge.curation.store import chunks
from knowledge.experience.attempts.merging import mask
from knowledge.experience.lessons.decide import brought_by, retract_lesson
from knowledge.experience.lessons.weigh import FAILED
from knowledge.experience.terms import AttemptLabel
from knowledge.models import ConflictState, Disagreement, EntryStanding, Experience

WORKED = [label for label in AttemptLabel if label.worked]
# One idea in one place: strategy with parameters (R36), operation, backend, product.
PLACE = ("params_key", "track__op", "track__backend", "track__platform")


class Consequence(StrEnum):
    """What follows from a decision."""

    BOTH_STAND = "both_stand"
    RETRACT_LESSON = "retract_lesson"
    MASK_FIRST = "mask_first"
    MASK_SECOND = "mask_second"


WORDS = {
    Consequence.BOTH_STAND: "both stand",
    Consequence.RETRACT_LESSON: "the lesson is retracted",
    Consequence.MASK_FIRST: "the first attempt is masked",
    Consequence.MASK_SECOND: "the second attempt is masked",
}


def find_disagreements(entries: Iterable[Experience]) -> None:
    """Open one question for each idea of these entries that both helped and hurt in one place.

    Where a place is unknown, only attempts of one context are compared. An idea whose two sides
    still count has one question only, open or decided.
    """
    telling = (each for each in entries if each.label in (*WORKED, *FAILED))
    keys = sorted({each.params_key for each in telling if each.standing == EntryStanding.COUNTS})
    for part in chunks(keys):
        # The places of these ideas that have a question already, both of whose sides count.
        asked = Disagreement.objects.filter(
            first__params_key__in=part,
            first__standing=EntryStanding.COUNTS,
            second__standing=EntryStanding.COUNTS,
        )
        known = set(asked.values_list(*(f"first__{name}" for name in PLACE)))
        known |= set(asked.values_list("first__params_key", "first__track"))
        Disagreement.objects.bulk_create(
            (
                Disagreement(first_id=worked, second_id=failed)
                for place, worked, failed in _opposites(part)
                if place not in known
            ),
            ignore_conflicts=True,
        )


def decide_disagreement(
    item: Disagreement, why: str, by: Any, consequence: Consequence = Consequence.BOTH_STAND
) -> Disagreement:
    """Close the question; `why` is the decision in words: under which condition both stand.

    Raises Forbidden (no curator, or the author of the lesson), CurationError for a consequence
    that does not fit, and Conflict where somebody decided before.
    """
    if by is None:
        raise Forbidden("a person decides between two sides")
    require_reviewer(by)
    reason = require_reason(why)
    if item.lesson is not None and brought_by(item.lesson, by):
        raise Forbidden("the lesson is yours, so another curator decides")
    if consequence not in consequences_of(item):
        accepted = ", ".join(consequences_of(item))
        raise CurationError("consequence", f"'{consequence}'; accepted: {accepted}")
    with transaction.atomic():
        decided = {"state": ConflictState.DECIDED, "by": by, "decided_at": timezone.now()}
        rows = Disagreement.objects.filter(pk=item.pk, state=ConflictState.OPEN)
        taken = rows.update(**decided, decision=f"{WORDS[consequence]}: {reason}")
        item.refresh_from_db()
        if not taken:
            raise Conflict(f"{item.who} was first: {item.decision}")
        if consequence == Consequence.RETRACT_LESSON and item.lesson is not None:
            retract_lesson(item.lesson, by, reason)
        elif consequence == Consequence.MASK_FIRST:
            mask(item.first, by, reason)
        elif consequence == Consequence.MASK_SECOND and item.second is not None:
            mask(item.second, by, reason)
    return item


def consequences_of(item: Disagreement) -> list[Consequence]:
    """What may follow: a lesson can be retracted, each attempt that counts can be masked."""
    found = [Consequence.BOTH_STAND]
    if item.lesson is not None and item.lesson.in_use:
        found.append(Consequence.RETRACT_LESSON)
    if item.first.standing == EntryStanding.COUNTS:
        found.append(Consequence.MASK_FIRST)
    if item.second is not None and item.second.standing == EntryStanding.COUNTS:
        found.append(Consequence.MASK_SECOND)
    return found


def _opposites(keys: Sequence[str]) -> Iterator[tuple[tuple[Any, ...], int, int]]:
    """(place, newest that worked, newest that failed) of each of these ideas that has both."""
    counting = Experience.objects.filter(params_key__in=keys, standing=EntryStanding.COUNTS)
    unknown = Q(track__op="") | Q(track__backend="") | Q(track__platform="")
    sure, unsure = counting.order_by().exclude(unknown), counting.order_by().filter(unknown)
    for rows, place in ((sure, PLACE), (unsure, ("params_key", "track"))):
        sides = rows.values_list(*place).annotate(
            worked=Max("pk", filter=Q(label__in=WORKED)),
            failed=Max("pk", filter=Q(label__in=FAILED)),
        )
        for *where, worked, failed in sides.exclude(worked=None).exclude(failed=None):
            yield tuple(where), worked, failed
