"""Specs as plain values: the one shape that commands, the HTTP door and sheets give as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from knowledge.lookup.standing import standings
from knowledge.lookup.value import StaleAnswer, answer_to, how_to_obtain
from knowledge.models import DRIFT, Flag, Platform, Spec
from knowledge.specs.citation import CitationState
from knowledge.specs.facts import ABSENT_VALUE, UNKNOWN_VALUE
from knowledge.specs.metrics import metric_named

UNKNOWN_STATE, STALE_STATE = "unknown", "stale"
COLUMNS = (
    *("metric", "qualifiers", "state", "rank", "value", "unit", "shown", "evidence"),
    *("source", "source_kind", "source_url", "note"),
)


def spec_records(specs: Sequence[Spec]) -> list[dict[str, Any]]:
    """Specs with the state of their citations against the newest texts; two queries more."""
    stands = standings(specs)
    records = [spec_record(spec) for spec in specs]
    for spec, record in zip(specs, records, strict=True):
        if record["citation"] is not None:
            record["citation"]["state"] = stands[spec.pk]
    return records


def spec_record(spec: Spec) -> dict[str, Any]:
    """One spec with its citation. Flags and citations are read from prefetched rows, if any."""
    return {
        "id": spec.pk,
        "url": spec.get_absolute_url(),
        "platform": spec.platform.slug,
        **{name: getattr(spec, name) for name in COLUMNS},
        "replaces": spec.replaces_id,
        "citation": citation_record(spec),
    }


def citation_record(spec: Spec) -> dict[str, Any] | None:
    """The newest citation with its state now, and the open flag that questions it; None without."""
    citation = spec.citation
    if citation is None:
        return None
    line, revision = citation.line, citation.revision
    flags = [flag for flag in spec.flagged if flag.answered_at is None]
    flag = flags[0] if flags else None
    if flag is not None:
        raised_at = flag.raised_at.isoformat(timespec="seconds")
        asked = {"id": flag.pk, "kind": flag.kind, "note": flag.note, "raised_at": raised_at}
    return {
        "text": str(line),
        "path": line.path,
        "lines": [line.first_line, line.last_line],
        "revision": revision.short,
        "quote": citation.quote,
        "href": citation.get_absolute_url(),
        "state": citation_state(flags),
        "flag": asked if flag is not None else None,
    }


def citation_state(open_flags: list[Flag]) -> str:
    """What is known of a spec's newest citation: ok, or the drift that nobody has answered yet."""
    drift = next((flag.kind for flag in open_flags if flag.kind in DRIFT), None)
    return str(drift or CitationState.OK)


def answer_record(
    platform: Platform, metric: str, qualifiers: Mapping[str, str]
) -> tuple[Spec | None, dict[str, Any]]:
    """The approved answer to exactly this question; or state "unknown" and how to obtain it.

    One whose citation no longer holds is no answer: state "stale", with that citation. Raises
    MetricError for a name that is not in the registry.
    """
    citation = None
    try:
        spec = answer_to(platform, metric, **qualifiers)
        if spec is not None:
            return spec, spec_records([spec])[0]
        rows = Spec.objects.preferred().asking(platform, metric, qualifiers)
        absent = rows.filter(shown=ABSENT_VALUE).for_sheet().first()
        how = f"nothing to obtain, the part has none: {absent.citation}" if absent else ""
        how = how or how_to_obtain(platform, metric, **qualifiers)
    except StaleAnswer as stale:
        citation, how = spec_records([stale.spec])[0]["citation"], str(stale)
    return None, {
        "platform": platform.slug,
        "metric": metric,
        "qualifiers": dict(sorted(qualifiers.items())),
        "state": STALE_STATE if citation else UNKNOWN_STATE,
        "value": None,
        "unit": metric_named(metric).unit,
        "shown": UNKNOWN_VALUE,
        "citation": citation,
        "how_to_obtain": how,
    }
