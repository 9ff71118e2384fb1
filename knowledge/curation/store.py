"""Store new values, each with its citation and the first line of its history."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from knowledge.models import Action, Citation, Platform, Revision, Spec, SpecChange, SpecState
from knowledge.search.index import index_specs
from knowledge.specs.facts import Rank, SpecFacts

ROWS_AT_ONCE = 500  # keys that one query names
FACTS = (
    *("metric", "value", "unit", "shown", "evidence"),
    *("source_kind", "source", "source_url", "note"),
)


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


Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class NewSpec:
    """A value that is not stored yet, and the lines that it rests on, counted from 1.

    rank: None for the one of the facts. replaces: the value in use whose place it is to take.
    """

    facts: SpecFacts
    platform: Platform
    revision: Revision
    first_line: int
    last_line: int
    quote: str
    state: SpecState
    why: str
    rank: Rank | None = None
    replaces: Spec | None = None


def store_specs(rows: Iterable[NewSpec], by: Any) -> list[Spec]:
    """The stored specs, in the order of `rows`. by: the user, or None. Run it in a turn."""
    new = list(rows)
    specs = Spec.objects.bulk_create(
        Spec(
            **fields_of(each.facts),
            platform=each.platform,
            rank=each.facts.rank if each.rank is None else each.rank,
            state=each.state,
            proposed_by=by,
            replaces=each.replaces,
        )
        for each in new
    )
    Citation.objects.bulk_create(
        Citation(
            spec=spec,
            revision=each.revision,
            first_line=each.first_line,
            last_line=each.last_line,
            quote=each.quote,
        )
        for spec, each in zip(specs, new, strict=True)
    )
    SpecChange.objects.bulk_create(
        entry_of(
            spec,
            Action.APPROVED if each.state == SpecState.APPROVED else Action.PROPOSED,
            by,
            each.why,
            before=each.replaces.shown if each.replaces is not None else "",
            after=spec.shown,
        )
        for spec, each in zip(specs, new, strict=True)
    )
    index_specs(specs)
    return specs


def fields_of(facts: SpecFacts) -> dict[str, Any]:
    """The columns of a spec that a line states, all but its rank."""
    # One order of keys, as in Spec.save: SQLite compares JSON as text.
    own = {name: getattr(facts, name) for name in FACTS}
    return own | {"qualifiers": dict(sorted(facts.qualifiers.items()))}


def chunks(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    """The rows in parts that one query may name."""
    for first in range(0, len(rows), ROWS_AT_ONCE):
        yield rows[first : first + ROWS_AT_ONCE]
