"""/api/v1/search: everything that can be found, as the page of the search shows it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from knowledge.api.parameters import number_at
from knowledge.api.view import ApiView
from knowledge.lookup.listing import FilterError
from knowledge.search.aliases import FACETS
from knowledge.search.find import KindHits, SearchResults, ask, search
from knowledge.search.query import SearchQuery

USUAL, MOST = 10, 100  # hits of each section


class SearchView(ApiView):
    """GET what is found by words and facets, `n` hits of each section."""

    @extend_schema(
        parameters=[
            OpenApiParameter("q"),
            OpenApiParameter("n", OpenApiTypes.INT),
            *map(OpenApiParameter, FACETS),
        ],
        responses=OpenApiTypes.OBJECT,
    )
    def get(self, request: Request) -> Response:
        asked = self.asked("q", "n", *FACETS)
        most = number_at(request, "n", USUAL)
        if not 1 <= most <= MOST:
            raise FilterError("n", f"{most}; accepted: 1 to {MOST}")
        facets = {name: asked[name] for name in FACETS if name in asked}
        return Response(results_record(search(ask(asked.get("q", ""), facets), most)))


def results_record(found: SearchResults) -> dict[str, Any]:
    """Everything that a search found, in the order of the page."""
    return {
        "query": query_record(found.query),
        "sections": {name: _section(name, hits) for name, hits in found.sections.items()},
        "excluded": [
            {"facet": each.facet.name, "value": each.facet.value, "count": each.count,
             "more": each.more, "values": dict(each.values)}
            for each in found.excluded
        ],
        "facets": {name: dict(values) for name, values in found.facets.items()},
        "near": {each.word: list(each.instead) for each in found.near},
    }  # fmt: skip


def query_record(query: SearchQuery) -> dict[str, Any]:
    """What was understood. said: the words that a facet was read from; "" if it was given."""
    return {
        "text": query.text,
        "words": list(query.words),
        "scope": [asdict(each) for each in query.facets],
        "notes": list(query.notes),
    }


def _section(name: str, hits: KindHits) -> dict[str, Any]:
    return {
        "count": hits.count,
        "more": hits.more,
        "partial": hits.partial,
        "hits": [hit.record(name) | {"facets": dict(hit.facets)} for hit in hits],
    }
