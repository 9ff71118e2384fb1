"""One box over everything that can be found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from knowledge.experience.wording import gain_words
from knowledge.lookup.listing import FilterError
from knowledge.models import Kind
from knowledge.search.find import KindHits, SearchResults, ask
from knowledge.search.find import search as find
from knowledge.search.query import SearchQuery, parse_query
from knowledge.search.tokens import FACETS
from knowledge.views import tables
from knowledge.views.formats import FILES, file_asked, file_refusal
from knowledge.views.tables import csv_answer

EXAMPLES = ("softmax triton bank conflicts", "matmul memory bound", "h200 memory bandwidth")
MOST_OPTIONS = 40  # values of one facet that can be chosen
LABELS = {
    "op": "Operation",
    "dtype": "Type",
    "backend": "Backend",
    "platform": "Platform",
    "arch": "Architecture",
    "symptom": "Symptom",
    "outcome": "Outcome",
    "kind": "Kind",
}
FEW, MANY = 10, 100  # hits of each section
OPEN = 3  # of them stand on the page before it is asked for more


def search_page(found: SearchResults, many: str = "") -> dict[str, Any]:
    """The context of the template. many: how many hits a section has, if not the usual few."""
    query = found.query
    state = _state(query) | ({"n": many} if many else {})
    shown = {name: _section(name, hits) for name, hits in found.sections.items() if hits.rows}
    best = shown.pop("best", None)
    sides = [shown.pop(name) for name in ("worked", "did_not") if name in shown]
    for name, section in shown.items():
        section["above"] = len(found.kinds[name]) - len(section["hits"])

    def narrowed(name: str, values: Iterable[tuple[str, int]]) -> list[tuple[str, int, str]]:
        """(value, rows with it, the address of the search with it in place of another)."""
        rest = _without(query, name) if name in query.scope else _state(query)
        return [(value, rows, _address(rest | {name: value})) for value, rows in values]

    return {
        "found": found,
        "query": query,
        "chips": [(LABELS[f.name], f, _address(_without(query, f.name))) for f in query.facets],
        "choices": list(_choices(found)),
        "chosen": any(not facet.said for facet in query.facets),
        "best": best,
        "counts": [
            (name, _title(name), hits, name if found.sections[name].rows else "best")
            for name, hits in found.counts.items()
        ],
        "sides": sides,
        "sections": list(shown.values()),
        "excluded": [
            (each, LABELS[each.facet.name], _address(_without(query, each.facet.name)),
             narrowed(each.facet.name, each.values))
            for each in found.excluded
            if each.count or not found.found
        ],
        "near": [
            (each.word, [(w, _address(_instead(query, each.word, w))) for w in each.instead])
            for each in found.near
        ],
        "inside": [(LABELS[name], narrowed(name, each)) for name, each in found.inside.items()],
        "examples": [(text, _address({"q": text})) for text in EXAMPLES],
        "files": [(name, _address(state | {"format": name})) for name in FILES],
        "all": "" if many else _address(state | {"n": "100"}),
        "many": many,
        "gap": f"{reverse('experience:gaps')}?{urlencode({'q': query.text} | query.scope)}",
    }  # fmt: skip


def _section(name: str, hits: KindHits) -> dict[str, Any]:
    """One list of the page; `partly`: those that do not hold all words."""
    whole = [hit for hit in hits if not hit.missing]
    return {
        "name": name,
        "title": _title(name),
        "hits": hits,
        "whole": whole,
        "first": whole[:OPEN],
        "rest": whole[OPEN:],
        "partly": [hit for hit in hits if hit.missing],
    }


def _title(name: str) -> str:
    titles = {"best": "Best answers", "worked": "Worked", "did_not": "Did not"}
    return titles.get(name) or Kind(name).label.capitalize()


def _state(query: SearchQuery) -> dict[str, str]:
    """The parameters that ask for the same again."""
    chosen = {each.name: each.value for each in query.facets if not each.said}
    return ({"q": query.text} if query.text else {}) | chosen


def _without(query: SearchQuery, name: str) -> dict[str, str]:
    facet = next(each for each in query.facets if each.name == name)
    state = _state(query) | {"q": query.text_without(facet)}
    state.pop(name, None)
    return {key: value for key, value in state.items() if value}


def _instead(query: SearchQuery, word: str, other: str) -> dict[str, str]:
    words = [other if each.casefold() == word else each for each in query.text.split()]
    if other not in words:
        words = [*(each for each in query.words if each != word), other]
        words += [facet.said for facet in query.facets if facet.said]
    return _state(query) | {"q": " ".join(words)}


def _address(state: Mapping[str, str]) -> str:
    return f"{reverse('search')}?{urlencode(state)}" if state else reverse("search")


def _choices(found: SearchResults) -> Iterator[tuple[str, str, str, list[Any]]]:
    """Each facet with the values that would leave something to see.

    (name, label, the chosen value, (value, rows with it or None) with the chosen one first).
    """
    chosen = {each.name: each.value for each in found.query.facets}
    outside = {each.facet.name: each.values for each in found.excluded}
    for name in FACETS:
        value = chosen.get(name, "")
        counted = dict(found.facets.get(name, ())) or dict(found.inside.get(name, ()))
        others = dict(outside.get(name, ())) if value else counted
        values: dict[str, int | None] = {value: counted.get(value)} if value else {}
        values |= {each: n for each, n in others.items() if each not in values}
        if values:
            yield name, LABELS[name], value, list(values.items())[:MOST_OPTIONS]


@require_safe
def search(request: HttpRequest) -> HttpResponse:
    """`?q=` and the facets; `&format=json|csv|md` gives the same rows; 400 names what is wrong.

    `&n=100` asks for as many hits of each section in place of 10.
    """
    given = {name: _plain(request, name) for name in FACETS}
    text, asked = _plain(request, "q"), _plain(request, "n")
    file = file_asked(request)
    try:
        if asked not in ("", str(FEW), str(MANY)):
            raise FilterError("n", f"'{asked[:80]}'; accepted: {FEW}, {MANY}")
        found = find(ask(text, given), int(asked or FEW))
    except FilterError as error:
        return file_refusal(request, error) if file else _refused(request, text, error)
    if file:
        return _file(found, file)
    context = search_page(found, asked if asked != str(FEW) else "")
    return render(request, "knowledge/experience/search.html", context)


def _plain(request: HttpRequest, name: str) -> str:
    # PostgreSQL refuses NUL in any text.
    return request.GET.get(name, "").replace("\0", "").strip()


def _refused(request: HttpRequest, text: str, error: FilterError) -> HttpResponse:
    context = search_page(SearchResults(parse_query(text, {}, {}))) | {"error": error}
    return render(request, "knowledge/experience/search.html", context, status=400)


def _file(found: SearchResults, file: str) -> HttpResponse:
    rows = found.records()
    if file == "csv":
        return csv_answer("search", tuple(rows[0]) if rows else (), rows)
    if file == "json":
        scope = {each.name: each.value for each in found.query.facets}
        return JsonResponse({"text": found.query.text, "scope": scope, "rows": rows})
    columns = ("Section", "Title", "Effect", "Tried", "Worked", "Text", "Link")
    table = tables.table(columns, map(_line, rows))
    parts = (f"# Search: {tables.plain(found.query.text)}", table or "Nothing was found.")
    return tables.markdown_answer("search", parts)


def _line(row: dict[str, Any]) -> tuple[str, ...]:
    gain = row["gain"]
    ends = (row["gain_low"], row["gain_high"])
    return (
        row["section"].replace("_", " "),
        tables.plain(row["title"] + (f" ({row['mark']})" if row["mark"] else "")),
        gain_words(gain, *ends) if gain is not None else "",
        "" if row["tried"] is None else str(row["tried"]),
        "" if row["worked"] is None else str(row["worked"]),
        tables.plain(row["text"]),
        tables.code(row["url"]),
    )
