"""The sheet of one platform: every value, unknown ones too, with the line it rests on."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from knowledge.curation.people import may_propose
from knowledge.lookup.listing import platform_named
from knowledge.lookup.sheet import PlatformSheet, SheetFilter, sheet_of
from knowledge.lookup.standing import notes_of
from knowledge.models import SpecState
from knowledge.specs.cited import EvidenceClass
from knowledge.specs.facts import UNKNOWN_VALUE, named_values
from knowledge.views import tables
from knowledge.views.formats import file_asked

HEADS = ("Metric", "Qualifiers", "Value", "Evidence", "State", "Source")
DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
ROOFLINE = "roofline"
CLASSES = [evidence.value for evidence in EvidenceClass]
COLUMNS = (
    *("group", "platform", "metric", "qualifiers", "state", "rank", "value", "unit", "shown"),
    *("evidence", "source_kind", "source", "source_url", "note"),
    *("citation", "citation_state", "flags"),
)


@dataclass
class SheetQuery:
    """What the address asks for, as typed, and what is wrong with it by field."""

    evidence: str = ""
    need: str = ""
    asof: str = ""
    errors: dict[str, str] = field(default_factory=dict)
    choice: SheetFilter = field(default_factory=SheetFilter)


@require_safe
def sheet(request: HttpRequest, slug: str) -> HttpResponse:
    """`?need=roofline &evidence= &asof=YYYY-MM-DD`, all optional; 400 for what they cannot be."""
    if file := file_asked(request):
        return sheet_file(request, slug, file)
    asked, found = _read(request, slug)
    rows = () if asked.asof else (*found.rows, *found.waiting)
    context = {
        "platform": found.platform,
        "sheet": found,
        "asked": asked,
        "classes": CLASSES,
        "may_propose": may_propose(request.user),
        "cite_notes": notes_of({r.spec.pk: r.standing for r in rows if r.spec and r.standing}),
        "query": request.GET.urlencode(),
    }
    return render(request, "knowledge/platform.html", context, status=400 if asked.errors else 200)


@require_safe
def sheet_file(request: HttpRequest, slug: str, ending: str) -> HttpResponse:
    """The rows of the page, in its order, as JSON, CSV or Markdown.

    Values are in their canonical unit, in Markdown as their sources write them.
    """
    asked, found = _read(request, slug)
    if asked.errors:
        return tables.refusal(asked.errors, ending)
    # What is asked for may be any part of a name, which no header takes as it is.
    slug, records = found.platform.slug, list(found.records())
    if ending == "json":
        return JsonResponse({"platform": slug, "asof": asked.asof or None, "rows": records})
    if ending == "csv":
        return tables.csv_answer(slug, COLUMNS, map(_flat, records))
    day = f"As approved at the end of {asked.asof} (UTC)." if asked.choice.asof else ""
    said = [(record["citation"] or {}).get("text", "") for record in records]
    table = tables.table(HEADS, map(_cells, records))
    title = f"# {tables.plain(found.platform.name)}"
    parts = (title, day, table or "No value.", tables.citations(said))
    return tables.markdown_answer(slug, parts)


def _read(request: HttpRequest, slug: str) -> tuple[SheetQuery, PlatformSheet]:
    platform = platform_named(slug)
    evidence, need, day = (request.GET.get(n, "").strip() for n in ("evidence", "need", "asof"))
    asked = SheetQuery(evidence, need, day)
    if asked.evidence not in ("", *CLASSES):
        asked.errors["evidence"] = f"‘{asked.evidence}’; accepted: {', '.join(CLASSES)}"
    if asked.need not in ("", ROOFLINE):
        asked.errors["need"] = f"‘{asked.need}’; accepted: {ROOFLINE}"
    moment = _end_of(asked.asof) if asked.asof else None
    if asked.asof and moment is None:
        asked.errors["asof"] = f"‘{asked.asof}’; accepted: a day up to today as YYYY-MM-DD"
    if not asked.errors:
        asked.choice = SheetFilter(asked.evidence, bool(asked.need), moment)
    return asked, sheet_of(platform, asked.choice)


def _end_of(text: str) -> datetime | None:
    """The last moment of that day in UTC; None for no day, or one that has not begun."""
    try:
        day = date.fromisoformat(text) if DAY.fullmatch(text) else date.max
    except ValueError:
        return None
    return datetime.combine(day, time.max, UTC) if day <= timezone.now().date() else None


def _cells(record: dict[str, Any]) -> tuple[str, ...]:
    """One row of the Markdown table."""
    citation = record["citation"] or {}
    state = record.get("rank", "") if record["state"] == SpecState.APPROVED else record["state"]
    flags = [f"flag: {kind}" for kind in record.get("flags", ())]
    how = record["note"] if record["shown"] == UNKNOWN_VALUE else ""
    place = citation.get("text", "").partition(" <- ")[2]
    return (
        tables.code(record["metric"]),
        tables.code(named_values(record["qualifiers"])),
        tables.plain(f"{record['shown']}: {how}" if how else record["shown"]),
        tables.plain(record.get("evidence", "")),
        tables.plain(", ".join([state, *flags])),
        f"{tables.code(place)} {citation['state']}" if citation else "",
    )


def _flat(record: dict[str, Any]) -> dict[str, Any]:
    """One row of the table: nothing nested."""
    citation = record["citation"] or {}
    return record | {
        "qualifiers": named_values(record["qualifiers"]),
        "citation": citation.get("text", ""),
        "citation_state": citation.get("state", ""),
        "flags": " ".join(record.get("flags", ())),
    }
