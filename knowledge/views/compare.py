"""Two to six platforms side by side."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from knowledge.lookup.comparison import FEWEST, MOST, ComparedRow, PlatformComparison, compare
from knowledge.lookup.listing import NotKnown, platform_named
from knowledge.lookup.standing import notes_of
from knowledge.lookup.value import SWEPT
from knowledge.models import Platform
from knowledge.specs.citation import CitationState
from knowledge.specs.facts import named_values
from knowledge.views import tables
from knowledge.views.formats import file_asked

ALL, DIFF = "all", "diff"
COLUMNS = ("group", "metric", "qualifiers", "relation", "reason")
CELL_COLUMNS = ("value", "unit", "shown", "evidence", "citation", "citation_state")


class CompareQuery:
    """The query of the address: slugs as typed, all platforms by slug, and the error.

    found: None while fewer than two platforms are chosen, or something is wrong.
    """

    def __init__(self, request: HttpRequest) -> None:
        given = request.GET
        self.slugs = list(dict.fromkeys(slug for slug in given.getlist("p") if slug))
        self.known = {platform.slug: platform for platform in Platform.objects.all()}
        self.only = ALL if given.get("only") == ALL else DIFF
        self.error = ""
        try:
            named = (
                slug if slug in self.known else platform_named(slug).slug for slug in self.slugs
            )
            self.slugs = list(dict.fromkeys(named))
        except NotKnown as error:
            self.error = str(error)
        if not self.error and len(self.slugs) > MOST:
            self.error = f"{len(self.slugs)} platforms were chosen; accepted: {FEWEST} to {MOST}"
            self.error += " different ones"
        self.found: PlatformComparison | None = None
        if not self.error and len(self.slugs) >= FEWEST:
            self.found = compare([self.known[slug] for slug in self.slugs])

    @property
    def rows(self) -> list[ComparedRow]:
        """The rows to show: all, or all that are not equal; the steps of sweeps come last."""
        if self.found is None:
            return []
        rows = self.found.rows if self.only == ALL else self.found.differing
        return sorted(rows, key=_swept)


@require_safe
def compare_platforms(request: HttpRequest) -> HttpResponse:
    """`?p=<slug>` two to six times, `&only=all` for equal rows too; with fewer it is a form."""
    if file := file_asked(request):
        return compare_file(request, file)
    asked = CompareQuery(request)
    rows = asked.rows
    cells = [cell for row in asked.found.rows for cell in row.cells] if asked.found else []
    states = {c.spec.pk: CitationState(c.standing) for c in cells if c.spec and c.standing}
    context = {
        "platforms": asked.known.values(),
        "slots": (*asked.slugs, *("",) * MOST)[:MOST],
        "error": asked.error,
        "one_more": len(asked.slugs) == 1 and not asked.error,
        "comparison": asked.found,
        "rows": [row for row in rows if not _swept(row)],
        "sweep": [row for row in rows if _swept(row)],
        "only": asked.only,
        "cite_notes": notes_of(states),
        "query": request.GET.urlencode(),
    }
    return render(request, "knowledge/compare.html", context, status=400 if asked.error else 200)


@require_safe
def compare_file(request: HttpRequest, ending: str) -> HttpResponse:
    """The rows of the page, in its order, as JSON, CSV or Markdown.

    Values are in their canonical unit, in Markdown as their sources write them.
    """
    asked = CompareQuery(request)
    if asked.found is None:  # a file has no form to choose more platforms in
        few = f"{len(asked.slugs)} chosen; accepted: {FEWEST} to {MOST} different ones"
        return tables.refusal({"p": asked.error or few}, ending)
    rows = [row.record(asked.found.platforms) for row in asked.rows]
    if ending == "json":
        return JsonResponse({"platforms": asked.slugs, "only": asked.only, "rows": rows})
    if ending == "csv":
        each = [f"{slug} {column}" for slug in asked.slugs for column in CELL_COLUMNS]
        return tables.csv_answer("compare", (*COLUMNS, *each), map(_flat, rows))
    names = [tables.plain(platform.name) for platform in asked.found.platforms]
    cells = [cell for row in rows for cell in row["values"].values() if cell is not None]
    equal = f"{asked.found.equal} equal rows are left out." if asked.only == DIFF else ""
    table = tables.table(("Metric", "Qualifiers", *names, "Result"), map(_line, rows))
    said = tables.citations(cell["citation"] for cell in cells)
    parts = (f"# {', '.join(names)}", equal, table or "No row differs.", said)
    return tables.markdown_answer("compare", parts)


def _line(record: dict[str, Any]) -> tuple[str, ...]:
    """One row of the Markdown table."""
    shown = []
    for cell in record["values"].values():
        if cell is None:
            shown.append("unknown")
            continue
        holds = CitationState(cell["citation_state"] or "lost").holds
        state = "" if holds else f", citation {cell['citation_state']}"
        shown.append(tables.plain(f"{cell['shown']} ({cell['evidence']}{state})"))
    result = ": ".join(part for part in (record["relation"], record["reason"]) if part)
    qualifiers = tables.code(named_values(record["qualifiers"]))
    return tables.code(record["metric"]), qualifiers, *shown, tables.plain(result)


def _flat(record: dict[str, Any]) -> dict[str, Any]:
    """One row of the table: nothing nested."""
    cells = {
        f"{slug} {column}": cell[column]
        for slug, cell in record["values"].items()
        if cell is not None
        for column in CELL_COLUMNS
    }
    return record | cells | {"qualifiers": named_values(record["qualifiers"])}


def _swept(row: ComparedRow) -> bool:
    """Whether it is one step of a measured sweep of sizes, of which there are many."""
    return SWEPT in row.qualifiers
