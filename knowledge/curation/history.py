"""Writes the history of a spec, and reads what was so at a given time."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db.models import OuterRef, QuerySet, Subquery

from knowledge.models import Action, Spec, SpecChange, SpecState
from knowledge.models.spec import SpecQuerySet


def record(
    spec: Spec, action: Action, by: Any, why: str = "", *, before: str = "", after: str = ""
) -> SpecChange:
    """Write one line of history with the state and rank that the spec has now."""
    entry = entry_of(spec, action, by, why, before=before, after=after)
    entry.save(force_insert=True)
    return entry


def entry_of(
    spec: Spec, action: Action, by: Any, why: str = "", *, before: str = "", after: str = ""
) -> SpecChange:
    """The same line, not stored yet, for many at once."""
    return SpecChange(
        spec=spec,
        action=action,
        by=by,
        why=why,
        state=spec.state,
        rank=spec.rank,
        before=before[:300],
        after=after[:300],
    )


def approved_at(specs: SpecQuerySet, when: datetime) -> QuerySet[Spec]:
    """Those that were approved at that time, annotated with `rank_then`.

    A spec without a history (stored before there was one) counts as it is now, from its creation.
    """
    last = SpecChange.objects.filter(spec=OuterRef("pk"), at__lte=when).order_by("-pk")
    then = specs.filter(created_at__lte=when).annotate(
        state_then=Subquery(last.values("state")[:1]), rank_then=Subquery(last.values("rank")[:1])
    )
    known = then.filter(state_then=SpecState.APPROVED)
    unwritten = then.filter(state_then=None, state=SpecState.APPROVED)
    return known | unwritten
