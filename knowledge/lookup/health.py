"""How the wiki stands: what waits for a person, what is in doubt, and what happened last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from django.db.models import Count, Exists, OuterRef

from knowledge.models import Action, Flag, FlagKind, Spec, SpecChange, SpecState
from knowledge.models.spec import SpecQuerySet

CHANGES_READ = 400  # an import writes many lines at once; they become one entry


@dataclass(frozen=True, slots=True)
class Health:
    """Counts of specs, and of specs with an open flag by kind.

    never_reviewed: approved, but only ever by a command of this installation.
    """

    approved: int
    in_review: int
    returned: int
    never_reviewed: int
    flags: dict[FlagKind, int]


@dataclass(frozen=True, slots=True)
class Happening:
    """Changes that one person made in one go for one reason; the newest first.

    open_end: it may reach further back than was read.
    """

    changes: Sequence[SpecChange]
    open_end: bool = False

    @property
    def first(self) -> SpecChange:
        return self.changes[0]

    @property
    def platforms(self) -> list[str]:
        """The names of the platforms concerned, each once."""
        return list(dict.fromkeys(change.spec.platform.name for change in self.changes))


def never_reviewed(specs: SpecQuerySet) -> SpecQuerySet:
    """Approved values that no person has ever approved."""
    by_a_person = SpecChange.objects.filter(
        spec=OuterRef("pk"), action=Action.APPROVED, by__isnull=False
    )
    return specs.approved().filter(~Exists(by_a_person))


def health() -> Health:
    """The counts of now; three queries."""
    states = dict(
        Spec.objects.order_by()
        .values_list("state")
        .annotate(count=Count("pk"))
        .values_list("state", "count")
    )
    flagged = dict(
        Flag.objects.open()
        .order_by()
        .values("kind")
        .annotate(count=Count("spec", distinct=True))
        .values_list("kind", "count")
    )
    return Health(
        approved=states.get(SpecState.APPROVED, 0),
        in_review=states.get(SpecState.PROPOSED, 0),
        returned=states.get(SpecState.RETURNED, 0),
        never_reviewed=never_reviewed(Spec.objects.all()).count(),
        flags={kind: flagged.get(kind, 0) for kind in FlagKind},
    )


def happenings(most: int) -> list[Happening]:
    """What changed here last, newest first; what one person did in a row is one entry."""
    here = SpecChange.objects.filter(elsewhere__isnull=True)
    rows = here.select_related("spec__platform", "by").order_by("-pk")
    recent = list(rows[:CHANGES_READ])
    found: list[Happening] = []
    read = 0
    for _, group in groupby(recent, key=lambda c: (c.action, c.by_id, c.why)):
        changes = tuple(group)
        read += len(changes)
        found.append(Happening(changes, open_end=read == CHANGES_READ))
    return found[:most]
