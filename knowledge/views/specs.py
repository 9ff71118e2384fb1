"""The list of values: by state, by flag, by words, or by a citation line that somebody pasted."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from django.core.paginator import Paginator
from django.db.models import Case, When
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from knowledge.api.specs import SpecSerializer
from knowledge.lookup.columns import SPEC_COLUMNS
from knowledge.lookup.listing import FilterError, Filters, documents_with, specs_matching
from knowledge.lookup.needs import never_reviewed
from knowledge.lookup.spec_json import spec_records
from knowledge.lookup.standing import notes_of, standings
from knowledge.models import Flag, FlagKind, Spec, SpecState
from knowledge.models.spec import SpecQuerySet
from knowledge.specs.citation import CitationError, CitationLine, parse_citation
from knowledge.views.formats import file_asked, file_refusal, list_file
from knowledge.views.list_views import bar_of

PER_PAGE = 50
ANY_FLAG = "any"
NEVER = "never"
HEAD = "metric platform qualifiers shown evidence state citation.text"


@dataclass
class SpecListQuery:
    """What the address asks for, as typed; `error` says which of it nothing can be."""

    q: str
    state: str
    flag: str
    reviewed: str
    error: str = ""
    citation: CitationLine | None = None


@require_safe
def specs(request: HttpRequest) -> HttpResponse:
    """`?q= &state= &flag= &reviewed=never &cols= &page= &format=`; 400 for what they cannot be."""
    bar = bar_of(request, "specs", SPEC_COLUMNS)
    if isinstance(bar, HttpResponse):
        return bar
    # PostgreSQL refuses NUL in any text.
    names = ("q", "state", "flag", "reviewed")
    typed = {name: request.GET.get(name, "").replace("\0", "").strip() for name in names}
    asked = SpecListQuery(typed["q"], typed["state"], typed["flag"], typed["reviewed"])
    with suppress(CitationError):  # else they are plain words to look for
        asked.citation = parse_citation(asked.q)
    try:
        found = _found(asked)
    except FilterError as error:
        if file_asked(request):
            return file_refusal(request, error)
        asked.error = str(error)
        found = Spec.objects.none()
    if file := list_file(request, "specs", lambda: spec_records(list(found)), SpecSerializer, HEAD):
        return file
    words = "" if asked.citation else asked.q
    page = Paginator(found, PER_PAGE).get_page(request.GET.get("page"))
    rows = list(page.object_list)
    states = standings(rows)
    context = {
        "bar": bar,
        "asked": asked,
        "page": page,
        "cite_notes": notes_of(states),
        "rows": [(spec, states.get(spec.pk)) for spec in rows],
        "states": SpecState.choices,
        "flags": FlagKind.choices,
        "in_documents": documents_with(words).count() if words else 0,
    }
    return render(request, "knowledge/specs.html", context, status=400 if asked.error else 200)


def _found(asked: SpecListQuery) -> SpecQuerySet:
    """The specs in the order of the list. FilterError for a word that is no state or flag."""
    line, words = asked.citation, "" if asked.citation else asked.q
    found = specs_matching(Filters(state=asked.state, q=words))
    if line is not None:  # values with exactly this line, now or before; those in use come first
        in_use = Case(When(state=SpecState.APPROVED, then=0), default=1)
        exact = found.filter(
            metric=line.metric,
            shown=line.shown,
            citations__revision__document__path=line.path,
            citations__first_line=line.first_line,
            citations__last_line=line.last_line,
        )
        found = exact.annotate(in_use=in_use).order_by("in_use", "pk").distinct()
    flags = Flag.objects.open()
    if asked.flag not in ("", ANY_FLAG, *FlagKind.values):
        accepted = ", ".join((ANY_FLAG, *FlagKind.values))
        raise FilterError("flag", f"'{asked.flag}'; accepted: {accepted}")
    if asked.flag:
        open_ones = flags if asked.flag == ANY_FLAG else flags.filter(kind=asked.flag)
        found = found.filter(pk__in=open_ones.values("spec"))
    if asked.reviewed not in ("", NEVER):
        raise FilterError("reviewed", f"'{asked.reviewed}'; accepted: {NEVER}")
    return never_reviewed(found) if asked.reviewed else found
