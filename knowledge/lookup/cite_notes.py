"""Why citations stand as they do: what an import noted when it followed or flagged them."""

from __future__ import annotations

from collections.abc import Mapping

from knowledge.models import DRIFT, Action, Flag, SpecChange
from knowledge.specs.citation import CitationState


def notes_of(standings: Mapping[int, CitationState]) -> dict[int, str]:
    """Spec key → the note, for those whose citation moved or drifted. At most two queries."""
    found: dict[int, str] = {}
    moved = [key for key, state in standings.items() if state is CitationState.MOVED]
    followed = SpecChange.objects.filter(spec__in=moved, action=Action.CITED).order_by("pk")
    if moved:
        found |= dict(followed.values_list("spec_id", "why"))
    drifts = {kind.value for kind in DRIFT}
    drifted = [key for key, state in standings.items() if state.value in drifts]
    flags = Flag.objects.open().filter(spec__in=drifted, kind__in=DRIFT).order_by("pk")
    if drifted:
        found |= dict(flags.values_list("spec_id", "note"))
    return {key: note for key, note in found.items() if note}
