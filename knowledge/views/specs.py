"""The list of values: by state, by flag, by words, or by a citation line that somebody pasted."""

from __future__ import annotations

from dataclasses import dataclass, field

from django.core.paginator import Paginator
from django.db.models import Case, IntegerField, Value, When
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.views.decorators.http import require_safe

from knowledge.lookup.listing import FilterError, Filters, documents_with, specs_matching
from knowledge.lookup.needs import never_reviewed
from knowledge.lookup.standing import notes_of, standings
from knowledge.models import Flag, FlagKind, Spec, SpecState
from knowledge.models.spec import FlagQuerySet, SpecQuerySet
from knowledge.specs.citation import CitationError, CitationLine, parse_citation

PER_PAGE = 50
ANY_FLAG = "any"
NEVER = "never"


@dataclass
class SpecListQuery:
    """What the address asks for, as typed; `error` says which of it nothing can be."""

    q: str = ""
    state: str = ""
    flag: str = ""
    reviewed: str = ""
    error: str = ""
    citation: CitationLine | None = field(default=None)


@require_safe
def specs(request: HttpRequest) -> HttpResponse:
    """`?q= &state= &flag= &reviewed=never &page=`, all optional; 400 for what they cannot be."""
    asked = _query_of(request.GET)
    try:
        found = _found(asked)
    except FilterError as error:
        asked.error = str(error)
        found = Spec.objects.none()
    page = Paginator(found, PER_PAGE).get_page(request.GET.get("page"))
    rows = list(page.object_list)
    states = standings(rows)
    context = {
        "asked": asked,
        "page": page,
        "cite_notes": notes_of(states),
        "rows": [(spec, states.get(spec.pk)) for spec in rows],
        "states": SpecState.choices,
        "flags": FlagKind.choices,
        "in_documents": 0 if asked.citation else _in_documents(asked.q),
    }
    return render(request, "knowledge/specs.html", context, status=400 if asked.error else 200)


def _in_documents(words: str) -> int:
    """The number of documents that hold the words; 0 without words."""
    return documents_with(words).count() if words else 0


def _query_of(given: QueryDict) -> SpecListQuery:
    # PostgreSQL refuses NUL in any text.
    names = ("q", "state", "flag", "reviewed")
    typed = {name: given.get(name, "").replace("\0", "").strip() for name in names}
    asked = SpecListQuery(typed["q"], typed["state"], typed["flag"], typed["reviewed"])
    try:
        asked.citation = parse_citation(asked.q)
    except CitationError:
        asked.citation = None  # plain words to look for
    return asked


def _found(asked: SpecListQuery) -> SpecQuerySet:
    """The specs in the order of the list. FilterError for a word that is no state or flag."""
    words = "" if asked.citation else asked.q
    found = specs_matching(Filters(state=asked.state, q=words))
    if asked.citation:
        found = _cited(found, asked.citation)
    if asked.flag:
        found = found.filter(pk__in=_flagged(asked.flag).values("spec"))
    if asked.reviewed not in ("", NEVER):
        raise FilterError("reviewed", f"'{asked.reviewed}'; accepted: {NEVER}")
    return never_reviewed(found) if asked.reviewed else found


def _flagged(kind: str) -> FlagQuerySet:
    open_flags = Flag.objects.open()
    if kind == ANY_FLAG:
        return open_flags
    if kind not in FlagKind.values:
        accepted = ", ".join((ANY_FLAG, *FlagKind.values))
        raise FilterError("flag", f"'{kind}'; accepted: {accepted}")
    return open_flags.filter(kind=kind)


def _cited(found: SpecQuerySet, line: CitationLine) -> SpecQuerySet:
    """Specs with exactly this citation line, now or before; those in use come first."""
    exact = found.filter(
        metric=line.metric,
        shown=line.shown,
        citations__revision__document__path=line.path,
        citations__first_line=line.first_line,
        citations__last_line=line.last_line,
    )
    in_use = Case(
        When(state=SpecState.APPROVED, then=Value(0)),
        default=Value(1),
        output_field=IntegerField(),
    )
    return exact.annotate(in_use=in_use).order_by("in_use", "pk").distinct()
