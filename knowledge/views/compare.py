"""Two to four platforms side by side."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import render
from django.views.decorators.http import require_safe

from knowledge.comparison import FEWEST, MOST, Comparison, Row, compare
from knowledge.models import Platform
from knowledge.views.tables import csv_answer, qualifier_words

ALL, DIFF = "all", "diff"
COLUMNS = ("group", "metric", "qualifiers", "relation", "reason")
CELL_COLUMNS = ("value", "unit", "shown", "evidence", "citation", "citation_state")


@dataclass(frozen=True, slots=True)
class Asked:
    """What the address asks for: slugs as typed, the platforms that there are, what is wrong."""

    slugs: list[str]
    known: dict[str, Platform]
    error: str
    only: str

    def comparison(self) -> Comparison | None:
        """None while fewer than two platforms are chosen, or something is wrong."""
        if self.error or len(self.slugs) < FEWEST:
            return None
        return compare([self.known[slug] for slug in self.slugs])

    def rows(self, found: Comparison) -> tuple[Row, ...]:
        """Those that are shown: all, or all that are not equal."""
        return found.rows if self.only == ALL else found.differing


@require_safe
def compare_platforms(request: HttpRequest) -> HttpResponse:
    """`?p=<slug>` two to four times, `&only=all` for equal rows too; with fewer it is a form."""
    asked = _asked(request.GET)
    found = asked.comparison()
    slots = (*asked.slugs, *("",) * MOST)[:MOST]
    context = {
        "platforms": asked.known.values(),
        "slots": slots,
        "error": asked.error,
        "one_more": len(asked.slugs) == 1 and not asked.error,
        "comparison": found,
        "rows": asked.rows(found) if found else (),
        "only": asked.only,
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
        words = f"p: {asked.error}"
        return HttpResponse(words, content_type="text/plain; charset=utf-8", status=400)
    each = [f"{slug} {column}" for slug in asked.slugs for column in CELL_COLUMNS]
    rows = (_flat(row.record(found.platforms)) for row in asked.rows(found))
    return csv_answer("compare", (*COLUMNS, *each), rows)


def _asked(given: QueryDict) -> Asked:
    slugs = list(dict.fromkeys(slug for slug in given.getlist("p") if slug))
    known = {platform.slug: platform for platform in Platform.objects.all()}
    only = ALL if given.get("only") == ALL else DIFF
    return Asked(slugs, known, _error(slugs, known), only)


def _read(request: HttpRequest) -> tuple[Asked, Comparison | None]:
    """For files, which have no form to choose more platforms in."""
    asked = _asked(request.GET)
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
            accepted = ", ".join(known) or "none yet: run `python manage.py wiki import`"
            return f"unknown platform ‘{slug}’; accepted: {accepted}"
    if len(asked) > MOST:
        return f"{len(asked)} platforms were chosen; accepted: {FEWEST} to {MOST} different ones"
    return ""
