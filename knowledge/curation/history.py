"""Writes the history of a spec."""

from __future__ import annotations

from typing import Any

from knowledge.models import Action, Spec, SpecChange


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
