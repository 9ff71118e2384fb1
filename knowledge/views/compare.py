"""Two to four platforms side by side."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import render
from django.views.decorators.http import require_safe

from knowledge.lookup.comparison import FEWEST, MOST, ComparedRow, PlatformComparison, compare
from knowledge.lookup.listing import unknown_platform
from knowledge.lookup.standing import notes_of
from knowledge.lookup.value import SWEPT
from knowledge.models import Platform
from knowledge.specs.citation import CitationState
from knowledge.views import tables
from knowledge.views.tables import csv_answer, qualifier_words

ALL, DIFF = "all", "diff"
COLUMNS = ("group", "metric", "qualifiers", "relation", "reason")
CELL_COLUMNS = ("value", "unit", "shown", "evidence", "citation", "citation_state")


@dataclass(frozen=True, slots=True)
class CompareQuery:
    """The query of the address: slugs as typed, all platforms by slug, and the error."""

    slugs: list[str]
    known: dict[str, Platform]
    error: str
    only: str

    def comparison(self) -> PlatformComparison | None:
        """None while fewer than two platforms are chosen, or something is wrong."""
        if self.error or len(self.slugs) < FEWEST:
            return None
        return compare([self.known[slug] for slug in self.slugs])

    def rows(self, found: PlatformComparison) -> tuple[ComparedRow, ...]:
        """The rows to show: all, or all that are not equal; the steps of sweeps come last."""
        rows = found.rows if self.only == ALL else found.differing
        return tuple(sorted(rows, key=_swept))


@require_safe
def compare_platforms(request: HttpRequest) -> HttpResponse:
    """`?p=<slug>` two to four times, `&only=all` for equal rows too; with fewer it is a form."""
    asked = _query_of(request.GET)
    found = asked.comparison()
    rows = asked.rows(found) if found else ()
    slots = (*asked.slugs, *("",) * MOST)[:MOST]
    context = {
        "platforms": asked.known.values(),
        "slots": slots,
        "error": asked.error,
        "one_more": len(asked.slugs) == 1 and not asked.error,
        "comparison": found,
        "rows": [row for row in rows if not _swept(row)],
        "sweep": [row for row in rows if _swept(row)],
        "only": asked.only,
        "cite_notes": _notes(found) if found else {},
        "query": request.GET.urlencode(),
    }
    return render(request, "knowledge/compare.html", context, status=400 if asked.error else 200)


@require_safe
def compare_json(request: HttpRequest) -> HttpResponse:
    """The rows of the page, in its order, as JSON."""
    asked, found = _read(request)
    if found is None:
        return JsonResponse({"errors": {"p": asked.error}}, status=400)
    rows = [row.record(found.platforms) for row in asked.rows(found)]
    return JsonResponse({"platforms": asked.slugs, "only": asked.only, "rows": rows})


@require_safe
def compare_csv(request: HttpRequest) -> HttpResponse:
    """The rows of the page, in its order, as CSV; values in their canonical unit."""
    asked, found = _read(request)
    if found is None:
        return _refused(asked)
    each = [f"{slug} {column}" for slug in asked.slugs for column in CELL_COLUMNS]
    rows = (_flat(row.record(found.platforms)) for row in asked.rows(found))
    return csv_answer("compare", (*COLUMNS, *each), rows)


@require_safe
def compare_md(request: HttpRequest) -> HttpResponse:
    """The rows of the page, in its order, as Markdown; values as their sources write them."""
    asked, found = _read(request)
    if found is None:
        return _refused(asked)
    names = [tables.plain(platform.name) for platform in found.platforms]
    rows = [row.record(found.platforms) for row in asked.rows(found)]
    cells = [cell for row in rows for cell in row["values"].values() if cell is not None]
    equal = f"{found.equal} equal rows are left out." if asked.only == DIFF else ""
    table = tables.table(("Metric", "Qualifiers", *names, "Result"), map(_line, rows))
    said = tables.citations(cell["citation"] for cell in cells)
    parts = (f"# {', '.join(names)}", equal, table or "No row differs.", said)
    return tables.markdown_answer("compare", parts)


def _line(record: dict[str, Any]) -> tuple[str, ...]:
    """One row of the Markdown table."""
    result = ": ".join(part for part in (record["relation"], record["reason"]) if part)
    return (
        tables.code(record["metric"]),
        tables.code(qualifier_words(record["qualifiers"])),
        *(_cell(cell) for cell in record["values"].values()),
        tables.plain(result),
    )


def _cell(cell: dict[str, Any] | None) -> str:
    if cell is None:
        return "unknown"
    broken = cell["citation_state"] not in (CitationState.OK, CitationState.MOVED)
    state = f", citation {cell['citation_state']}" if broken else ""
    return tables.plain(f"{cell['shown']} ({cell['evidence']}{state})")


def _refused(asked: CompareQuery) -> HttpResponse:
    return HttpResponse(f"p: {asked.error}", content_type="text/plain; charset=utf-8", status=400)


def _notes(found: PlatformComparison) -> dict[int, str]:
    cells = [cell for row in found.rows for cell in row.cells if cell.spec and cell.standing]
    return notes_of({c.spec.pk: CitationState(c.standing) for c in cells if c.spec})


def _swept(row: ComparedRow) -> bool:
    """Whether it is one step of a measured sweep of sizes, of which there are many."""
    return SWEPT in row.qualifiers


def _query_of(given: QueryDict) -> CompareQuery:
    slugs = list(dict.fromkeys(slug for slug in given.getlist("p") if slug))
    known = {platform.slug: platform for platform in Platform.objects.all()}
    only = ALL if given.get("only") == ALL else DIFF
    return CompareQuery(slugs, known, _error(slugs, known), only)


def _read(request: HttpRequest) -> tuple[CompareQuery, PlatformComparison | None]:
    """For files, which have no form to choose more platforms in."""
    asked = _query_of(request.GET)
    if len(asked.slugs) < FEWEST and not asked.error:
        words = f"{len(asked.slugs)} chosen; accepted: {FEWEST} to {MOST} different ones"
        asked = replace(asked, error=words)
    return asked, asked.comparison()


def _flat(record: dict[str, Any]) -> dict[str, Any]:
    """One row of the table: nothing nested."""
    cells = {
        f"{slug} {column}": cell[column]
        for slug, cell in record["values"].items()
        if cell is not None
        for column in CELL_COLUMNS
    }
    return record | cells | {"qualifiers": qualifier_words(record["qualifiers"])}


def _error(asked: list[str], known: dict[str, Platform]) -> str:
    for slug in asked:
        if slug not in known:
            return unknown_platform(slug)
    if len(asked) > MOST:
        return f"{len(asked)} platforms were chosen; accepted: {FEWEST} to {MOST} different ones"
    return ""
